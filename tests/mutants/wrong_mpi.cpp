#include "tests/mutants/wrong_mpi.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace plumb::mutants {

namespace {

const std::set<std::string> wrongs{
    "flip-at-10",        "flip-at-90",           "last-byte-missing",  "one-byte-too-many",
    "every-100th-lost",  "first-of-window",      "float-off",          "element-off",
    "rank-left-out",     "reduced-elsewhere",    "blocks-swapped",     "stale-rank",
    "own-block-missing", "gather-block-missing", "root-block-for-all", "every-7th-call-nothing",
    "early-barrier",     "begun-not-done",       "old-data",           "old-collective",
    "half-put",          "get-of-others",        "accumulated-twice",  "fetches-new",
    "swaps-never",       "neighbours-swapped",   "last-leaves-early",  "early-ibarrier",
    "holes-written",     "holes-closed",         "old-place",          "never-touches",
    "receives-overlap",  "early-flush"};

std::string chosen;
MPI_Comm target = MPI_COMM_NULL;
std::uint64_t calls = 0;
std::vector<std::function<int()>> later;  // one-sided operations that a flush does not wait for

bool is(const char* name) {
  return chosen == name;
}
bool is(const char* name, MPI_Comm comm) {
  if (chosen != name) return false;
  int topology = MPI_UNDEFINED;
  if (comm != target) PMPI_Topo_test(comm, &topology);
  return comm == target || topology == MPI_DIST_GRAPH;
}

std::size_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<std::size_t>(size) * static_cast<std::size_t>(count);
}
std::size_t extent_of(MPI_Datatype type) {
  MPI_Aint begin = 0, extent = 0;
  PMPI_Type_get_extent(type, &begin, &extent);
  return static_cast<std::size_t>(extent);
}
unsigned char* bytes(void* buffer) {
  return static_cast<unsigned char*>(buffer);
}

// A one-sided operation, at once or when the window's lock ends.
template <class Call>
int now_or_later(Call call) {
  if (!is("early-flush")) return call();
  later.push_back(call);
  return MPI_SUCCESS;
}

// The function below this program's: libplumb-mpi-device's, if that is loaded, and otherwise MPI's.
template <class Function>
Function* below(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// Between memories of the host or, with that library, of devices.
void copy(void* to, const void* from, std::size_t size) {
  using Copy = int(void*, const void*, std::size_t);
  static auto* const by_library = reinterpret_cast<Copy*>(dlsym(RTLD_DEFAULT, "plumb_mpi_copy"));
  if (by_library == nullptr)
    std::memcpy(to, from, size);
  else if (size > 0 && by_library(to, from, size) != 0)
    throw Error("a wrong library cannot copy");
}
std::vector<unsigned char> content(const void* buffer, std::size_t size) {
  std::vector<unsigned char> found(size);
  copy(found.data(), buffer, size);
  return found;
}
void flip_at(void* buffer, std::size_t place) {
  unsigned char byte = content(bytes(buffer) + place, 1)[0];
  byte ^= 0x10;
  copy(bytes(buffer) + place, &byte, 1);
}
void flip(void* buffer, std::size_t size, double where) {
  if (size > 0) flip_at(buffer, static_cast<std::size_t>(where * static_cast<double>(size - 1)));
}
template <class Number>
void add(void* buffer, int place, Number summand) {
  Number number{};
  auto* there = static_cast<Number*>(buffer) + place;
  copy(&number, there, sizeof number);
  number += summand;
  copy(there, &number, sizeof number);
}
int rank_in(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}
int size_of(MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return size;
}

// Changes to a message at its completion.
void spoil_message(void* buffer, std::size_t size) {
  if (is("flip-at-10")) flip(buffer, size, 0.1);
  if (is("flip-at-90")) flip(buffer, size, 0.9);
  if (is("one-byte-too-many")) flip_at(buffer, size);
}

// Requests whose messages are broken at their completion.
struct Pending {
  void* buffer;
  std::size_t size;
};
std::map<MPI_Request, Pending> pending;
bool overlapped = false;  // active receives have shared memory

bool is_open(const void* buffer, std::size_t size) {
  const unsigned char* begin = bytes(const_cast<void*>(buffer));
  return std::ranges::any_of(pending, [&](const auto& one) {
    return begin < bytes(one.second.buffer) + one.second.size && bytes(one.second.buffer) < begin + size;
  });
}

// Changes to a reduction's result.
void spoil_result(void* buffer, int count, MPI_Datatype type) {
  if (count == 0) return;
  if (is("float-off") && type == MPI_FLOAT) add(buffer, count / 2, 0.75F);
  if (is("element-off") && type == MPI_INT) add(buffer, count - 1, 1);
}

// Persistent sends repeat their first content.
struct Kept {
  void* buffer;
  std::vector<unsigned char> first;
};
std::map<MPI_Request, Kept> kept;

}  // namespace

void spoil_mpi(const std::string& name, MPI_Comm comm) {
  if (!name.empty() && wrongs.count(name) == 0) throw Error("no MPI is wrong as " + name);
  chosen = name;
  target = comm;
  calls = 0;
  pending.clear();
  overlapped = false;
  kept.clear();
}

}  // namespace plumb::mutants

using namespace plumb::mutants;

extern "C" {

// libplumb-mpi-device's (plumb_mpi.h), before which this program is searched: the kernel that touches a buffer does not
// run.
int plumb_mpi_touch(void* address, unsigned long long* runs) {
  static auto* const next = below(&plumb_mpi_touch, "plumb_mpi_touch");
  return is("never-touches") && runs == nullptr ? 0 : next(address, runs);
}

int MPI_Recv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  static auto* const next = below(&MPI_Recv, "MPI_Recv");
  const std::size_t size = bytes_of(count, type);
  if (is("last-byte-missing", comm) || (is("every-100th-lost", comm) && ++calls % 100 == 0)) {
    std::vector<unsigned char> there(size + 1);
    const int code = next(there.data(), count, type, from, tag, comm, status);
    if (is("last-byte-missing") && size > 0) copy(buffer, there.data(), size - 1);
    return code;
  }
  if (is("holes-closed", comm)) return next(buffer, static_cast<int>(size), MPI_BYTE, from, tag, comm, status);
  const int code = next(buffer, count, type, from, tag, comm, status);
  if (comm == target && size > 0) spoil_message(buffer, size);
  if (is("holes-written", comm)) flip_at(buffer, extent_of(type) - 1);
  return code;
}

int MPI_Sendrecv(const void* given, int count, MPI_Datatype type, int to, int tag, void* buffer, int room,
                 MPI_Datatype its_type, int from, int its_tag, MPI_Comm comm, MPI_Status* status) {
  static auto* const next = below(&MPI_Sendrecv, "MPI_Sendrecv");
  const int code = next(given, count, type, to, tag, buffer, room, its_type, from, its_tag, comm, status);
  if (comm == target && room > 0) spoil_message(buffer, bytes_of(room, its_type));
  return code;
}

// Every fifth message is the one before.
int MPI_Send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  static auto* const next = below(&MPI_Send, "MPI_Send");
  static const void* before = nullptr;
  const void* from = is("old-place", comm) && before != nullptr && ++calls % 5 == 0 ? before : buffer;
  before = buffer;
  return next(from, count, type, to, tag, comm);
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  static auto* const next = below(&MPI_Irecv, "MPI_Irecv");
  const int code = next(buffer, count, type, from, tag, comm, request);
  if (comm == target && is_open(buffer, bytes_of(count, type))) overlapped = true;
  if (comm == target && !chosen.empty()) pending[*request] = {buffer, bytes_of(count, type)};
  return code;
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  static auto* const next = below(&MPI_Waitall, "MPI_Waitall");
  std::vector<Pending> done;
  for (int i = 0; i < count; ++i)
    if (const auto found = pending.find(requests[i]); found != pending.end()) {
      done.push_back(found->second);
      pending.erase(found);
    }
  const int code = next(count, requests, statuses);
  for (const Pending& one : done) spoil_message(one.buffer, one.size);
  if (is("first-of-window") && !done.empty()) flip(done.front().buffer, done.front().size, 0.5);
  if (is("receives-overlap") && overlapped && !done.empty()) flip(done.back().buffer, done.back().size, 0);
  if (is("every-100th-lost") && !done.empty() && ++calls % 7 == 0) flip(done.back().buffer, done.back().size, 0);
  return code;
}

int MPI_Send_init(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  const int code = PMPI_Send_init(buffer, count, type, to, tag, comm, request);
  if (is("old-data", comm))
    kept[*request] = {const_cast<void*>(buffer), std::vector<unsigned char>(bytes_of(count, type))};
  return code;
}

int MPI_Start(MPI_Request* request) {
  const auto found = kept.find(*request);
  if (found != kept.end() && calls++ % 2 == 0)
    std::memcpy(found->second.first.data(), found->second.buffer, found->second.first.size());
  else if (found != kept.end())
    std::memcpy(found->second.buffer, found->second.first.data(), found->second.first.size());
  if (is("old-collective") && found == kept.end() && calls++ % 2 == 1) return MPI_SUCCESS;
  return PMPI_Start(request);
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  static auto* const next = below(&MPI_Bcast, "MPI_Bcast");
  const bool stale = is("stale-rank", comm) && rank_in(comm) == size_of(comm) - 1 && rank_in(comm) != root;
  const bool nothing = is("every-7th-call-nothing", comm) && ++calls % 7 == 0 && rank_in(comm) != root;
  if (!stale && !nothing) return next(buffer, count, type, root, comm);
  std::vector<unsigned char> elsewhere(bytes_of(count, type) + 1);
  return next(elsewhere.data(), count, type, root, comm);
}

int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  static auto* const next = below(&MPI_Allreduce, "MPI_Allreduce");
  if (is("rank-left-out", comm) && rank_in(comm) == size_of(comm) - 1) {
    const int code = next(from, to, count, type, op, comm);
    if (from != MPI_IN_PLACE) copy(to, from, bytes_of(count, type));
    return code;
  }
  const int code = next(from, to, count, type, op, comm);
  if (comm == target) spoil_result(to, count, type);
  return code;
}

int MPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  static auto* const next = below(&MPI_Reduce, "MPI_Reduce");
  const int code = next(from, to, count, type, op, root, comm);
  if (comm == target && rank_in(comm) == root) spoil_result(to, count, type);
  return code;
}

// Each rank gets the next one's part.
int MPI_Reduce_scatter(const void* from, void* to, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (!is("reduced-elsewhere", comm)) return PMPI_Reduce_scatter(from, to, counts, type, op, comm);
  int all = 0, before = 0;
  for (int rank = 0; rank < size_of(comm); ++rank) all += counts[rank];
  const int next = (rank_in(comm) + 1) % size_of(comm);
  for (int rank = 0; rank < next; ++rank) before += counts[rank];
  std::vector<unsigned char> whole(bytes_of(all, type));
  const int code = PMPI_Allreduce(from, whole.data(), all, type, op, comm);
  std::memcpy(to, whole.data() + bytes_of(before, type), bytes_of(counts[rank_in(comm)], type));
  return code;
}

int MPI_Alltoall(const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type,
                 MPI_Comm comm) {
  static auto* const next = below(&MPI_Alltoall, "MPI_Alltoall");
  const int code = next(from, count, type, to, to_count, to_type, comm);
  const std::size_t block = bytes_of(to_count, to_type);
  if (is("holes-written", comm)) flip_at(to, extent_of(to_type) - 1);
  if (is("blocks-swapped", comm) && rank_in(comm) == 1) {
    const std::vector<unsigned char> first = content(to, block), second = content(bytes(to) + block, block);
    copy(to, second.data(), block);
    copy(bytes(to) + block, first.data(), block);
  }
  return code;
}

int MPI_Allgather(const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type,
                  MPI_Comm comm) {
  static auto* const next = below(&MPI_Allgather, "MPI_Allgather");
  const std::size_t block = bytes_of(to_count, to_type);
  unsigned char* own = bytes(to) + static_cast<std::size_t>(rank_in(comm)) * block;
  const bool missing = is("own-block-missing", comm);
  const std::vector<unsigned char> before = missing ? content(own, block) : std::vector<unsigned char>{};
  const int code = next(from, count, type, to, to_count, to_type, comm);
  if (missing) copy(own, before.data(), block);
  return code;
}

int MPI_Gather(const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type, int root,
               MPI_Comm comm) {
  static auto* const next = below(&MPI_Gather, "MPI_Gather");
  const std::size_t block = bytes_of(count, type);
  const int last = size_of(comm) - 1;
  const bool missing = is("gather-block-missing", comm) && rank_in(comm) == root;
  std::vector<unsigned char> before;
  if (missing) before = content(bytes(to) + last * block, block);
  const int code = next(from, count, type, to, to_count, to_type, root, comm);
  if (missing) copy(bytes(to) + last * block, before.data(), block);
  return code;
}

int MPI_Scatter(const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type, int root,
                MPI_Comm comm) {
  static auto* const next = below(&MPI_Scatter, "MPI_Scatter");
  static auto* const spread = below(&MPI_Bcast, "MPI_Bcast");
  const int code = next(from, count, type, to, to_count, to_type, root, comm);
  return is("root-block-for-all", comm) ? spread(to, to_count, to_type, root, comm) : code;
}

// Nobody waits; or the last rank does not wait for the one before it.
int MPI_Barrier(MPI_Comm comm) {
  if (is("early-barrier", comm)) return MPI_SUCCESS;
  if (!is("last-leaves-early", comm)) return PMPI_Barrier(comm);
  const int rank = rank_in(comm), last = size_of(comm) - 1;
  PMPI_Send(nullptr, 0, MPI_INT, 0, 9, comm);
  for (int from = 0; rank == 0 && from <= last; ++from)
    if (from != last - 1 || last < 2) PMPI_Recv(nullptr, 0, MPI_INT, from, 9, comm, MPI_STATUS_IGNORE);
  if (rank == 0 && last > 1) {
    PMPI_Send(nullptr, 0, MPI_INT, last, 9, comm);
    PMPI_Recv(nullptr, 0, MPI_INT, last - 1, 9, comm, MPI_STATUS_IGNORE);
  }
  for (int to = 0; rank == 0 && to <= last; ++to)
    if (to != last || last < 2) PMPI_Send(nullptr, 0, MPI_INT, to, 9, comm);
  return PMPI_Recv(nullptr, 0, MPI_INT, 0, 9, comm, MPI_STATUS_IGNORE);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  if (!is("early-ibarrier", comm)) return PMPI_Ibarrier(comm, request);
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

int MPI_Ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  if (!is("begun-not-done", comm)) return PMPI_Ibcast(buffer, count, type, root, comm, request);
  static std::vector<unsigned char> elsewhere;
  elsewhere.resize(bytes_of(count, type) + 1);
  return PMPI_Ibcast(rank_in(comm) == root ? buffer : elsewhere.data(), count, type, root, comm, request);
}

int MPI_Put(const void* from, int count, MPI_Datatype type, int to, MPI_Aint at, int to_count, MPI_Datatype to_type,
            MPI_Win window) {
  static auto* const next = below(&MPI_Put, "MPI_Put");
  if (is("half-put")) count = to_count = count / 2;
  return now_or_later([=] { return next(from, count, type, to, at, to_count, to_type, window); });
}

// Ends what it did not end when it should have.
int MPI_Win_unlock(int rank, MPI_Win window) {
  static auto* const next = below(&MPI_Win_unlock, "MPI_Win_unlock");
  int code = MPI_SUCCESS;
  for (const auto& operation : std::exchange(later, {})) code |= operation();
  return code | next(rank, window);
}

int MPI_Get(void* to, int count, MPI_Datatype type, int from, MPI_Aint at, int from_count, MPI_Datatype from_type,
            MPI_Win window) {
  static auto* const next = below(&MPI_Get, "MPI_Get");
  if (is("get-of-others") && at >= 64) at -= 1;
  return now_or_later([=] { return next(to, count, type, from, at, from_count, from_type, window); });
}

int MPI_Accumulate(const void* from, int count, MPI_Datatype type, int to, MPI_Aint at, int to_count,
                   MPI_Datatype to_type, MPI_Op op, MPI_Win window) {
  static auto* const next = below(&MPI_Accumulate, "MPI_Accumulate");
  if (is("accumulated-twice")) next(from, count, type, to, at, to_count, to_type, op, window);
  return now_or_later([=] { return next(from, count, type, to, at, to_count, to_type, op, window); });
}

int MPI_Fetch_and_op(const void* from, void* result, MPI_Datatype type, int to, MPI_Aint at, MPI_Op op,
                     MPI_Win window) {
  const int code = PMPI_Fetch_and_op(from, result, type, to, at, op, window);
  if (is("fetches-new")) {
    PMPI_Win_flush(to, window);
    long long sum = 0, value = 0;
    std::memcpy(&sum, result, sizeof sum);
    std::memcpy(&value, from, sizeof value);
    sum += value;
    std::memcpy(result, &sum, sizeof sum);
  }
  return code;
}

int MPI_Compare_and_swap(const void* from, const void* compared, void* result, MPI_Datatype type, int to, MPI_Aint at,
                         MPI_Win window) {
  const long long never = -1;
  return PMPI_Compare_and_swap(from, is("swaps-never") ? &never : compared, result, type, to, at, window);
}

int MPI_Neighbor_alltoall(const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type,
                          MPI_Comm comm) {
  const int code = PMPI_Neighbor_alltoall(from, count, type, to, to_count, to_type, comm);
  if (is("neighbours-swapped", comm)) flip(to, bytes_of(to_count, to_type), 0.9);
  return code;
}

}  // extern "C"
