// Windows: each rank's memory `to` lies in one, `from` has operands and results. A window has a part for each rank,
// where that rank alone reads and writes, one where all accumulate, and one where its owner writes.
#include <algorithm>
#include <array>
#include <string>

#include "operations.hpp"
#include "parts.hpp"
#include "plumb_mpi.h"

namespace plumb::stress {

namespace {

constexpr int most_calls = 6;

std::ptrdiff_t aligned(std::ptrdiff_t bytes) {
  return bytes / 8 * 8;
}

// What one call works on, and no other in its epoch.
struct Piece {
  std::byte *origin, *result;  // `bytes` each
  int target;
  std::ptrdiff_t target_at, bytes;
  int unit;
  MPI_Win window;
};

class Exposed {
 public:
  Exposed(Random& random, MPI_Comm comm, const Memory& memory) : comm_(comm), memory_(memory) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
    for (int i = 0; i < size_; ++i) units_.push_back(1 << random.between(0, 3));
    const auto whole = static_cast<std::ptrdiff_t>(memory.size);
    // MPICH 4.0.2 (ch4:ucx) takes a window to begin at the multiple of 16 bytes before its address.
    const std::ptrdiff_t begin = random.between(0, static_cast<int>(whole / 4)) / 16 * 16;
    part_ = aligned((whole - begin) / (size_ + 2));
    base_ = memory.to + begin;
    MPI_Win_create(base_, bytes(), unit(rank_), MPI_INFO_NULL, comm, &window_);
  }
  ~Exposed() { MPI_Win_free(&window_); }
  Exposed(const Exposed&) = delete;
  Exposed& operator=(const Exposed&) = delete;

  MPI_Win window() const { return window_; }
  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  int unit(int rank) const { return units_[static_cast<std::size_t>(rank)]; }
  // Between the words written by others.
  std::ptrdiff_t owners_at() const { return size_ * part_; }
  std::ptrdiff_t common_at() const { return owners_at() + part_; }
  std::ptrdiff_t part() const { return part_; }
  const Memory& memory() const { return memory_; }

  // Of this rank's call number `call`.
  Piece piece(int call, int target) const {
    const std::ptrdiff_t own = aligned(static_cast<std::ptrdiff_t>(memory_.size) / (2 * most_calls));
    const std::ptrdiff_t others = aligned(part_ / most_calls);
    std::byte* origin = memory_.from + 2 * call * own;
    return {origin, origin + own, target, rank_ * part_ + call * others, std::min(own, others), unit(target), window_};
  }
  // The owner's own bytes change.
  void store(Random& own) const {
    std::vector<std::byte> fresh(static_cast<std::size_t>(own.between(0, static_cast<int>(part_))));
    for (std::byte& byte : fresh) byte = static_cast<std::byte>(own.next());
    plumb_mpi_copy(base_ + owners_at(), fresh.data(), fresh.size());
  }
  // What the owner has before it.
  int seen() const {
    std::vector<std::byte> now(static_cast<std::size_t>(bytes()));
    plumb_mpi_copy(now.data(), base_, now.size());
    std::uint32_t hash = 2166136261;  // FNV-1a
    for (const std::byte byte : now) hash = (hash ^ static_cast<std::uint32_t>(byte)) * 16777619;
    return static_cast<int>(hash >> 1);
  }

 private:
  std::ptrdiff_t bytes() const { return (size_ + 2) * part_; }

  MPI_Comm comm_;
  Memory memory_;
  int rank_ = 0, size_ = 1;
  std::vector<int> units_;
  std::ptrdiff_t part_ = 0;
  std::byte* base_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

// Elements at a target: its displacement in units, in a place that starts at a multiple of `alignment` bytes.
struct Place {
  MPI_Aint at = 0;
  int count = 0;
};

Place place_at_target(Random& own, const Type& type, int count, const Piece& piece, int alignment) {
  if (count == 0) return {};
  const std::ptrdiff_t first = piece.target_at - type.low(count);
  const std::ptrdiff_t last = piece.target_at + piece.bytes - type.high(count);
  const std::ptrdiff_t step = std::max(alignment, piece.unit);
  const std::ptrdiff_t lowest = std::max<std::ptrdiff_t>((first + step - 1) / step, 0), highest = last / step;
  if (last < 0 || first < 0 || lowest > highest) return {};
  const auto at = lowest + static_cast<std::ptrdiff_t>(own.next() % static_cast<std::uint64_t>(highest - lowest + 1));
  return {at * step / piece.unit, count};
}

void put_or_get(Random& own, const Piece& piece, bool puts, MPI_Request* request) {
  Type type = random_type(own);
  // MPICH 4.0.2 says of MPI_Rget with a derived datatype that it is complete before what it gets is there.
  if (!puts && request != nullptr && over_mpich()) type = Type(MPI_INT, MPI_INT, false);
  const Place target = place_at_target(own, type, fitting(own, type, piece.bytes), piece, 1);
  const int count = target.count;
  const std::ptrdiff_t at = place(own, type, count, piece.bytes);
  const bool as_basics = type.basic() != MPI_DATATYPE_NULL && own.chance(30);
  const MPI_Datatype handle = type.handle(), its = as_basics ? type.basic() : handle;
  const int its_count = as_basics ? count * type.basics() : count;
  const MPI_Aint its_at = as_basics ? piece.target_at / piece.unit : target.at;
  if (puts && request != nullptr)
    MPI_Rput(piece.origin + at, count, handle, piece.target, its_at, its_count, its, piece.window, request);
  else if (puts)
    MPI_Put(piece.origin + at, count, handle, piece.target, its_at, its_count, its, piece.window);
  else if (request != nullptr)
    MPI_Rget(piece.result + at, count, handle, piece.target, its_at, its_count, its, piece.window, request);
  else
    MPI_Get(piece.result + at, count, handle, piece.target, its_at, its_count, its, piece.window);
}

// Numbers, or a vector of them.
Type accumulated_type(Random& own, MPI_Datatype number) {
  if (own.chance(50)) return {number, number, false};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const int length = own.between(1, 4);
  MPI_Type_vector(own.between(1, 5), length, length + own.between(0, 4), number, &type);
  MPI_Type_commit(&type);
  return {type, number, true};
}

MPI_Datatype random_integer(Random& own) {
  return std::array{MPI_INT32_T, MPI_UINT64_T, MPI_UINT16_T}[static_cast<std::size_t>(own.between(0, 2))];
}

void accumulate(Random& own, const Piece& piece, bool fetches, MPI_Request* request) {
  const std::array ops{MPI_SUM, MPI_BXOR, MPI_MAX, MPI_REPLACE, MPI_NO_OP};
  const MPI_Op op = ops[static_cast<std::size_t>(own.between(0, fetches ? 4 : 3))];
  const Type type = accumulated_type(own, random_integer(own));
  const Place target = place_at_target(own, type, fitting(own, type, piece.bytes), piece, 8);
  const int count = target.count;
  const MPI_Datatype handle = type.handle();
  const void* origin = op == MPI_NO_OP ? nullptr : piece.origin + aligned(place(own, type, count, piece.bytes));
  std::byte* result = piece.result + aligned(place(own, type, count, piece.bytes));
  if (fetches && request != nullptr)
    MPI_Rget_accumulate(origin, count, handle, result, count, handle, piece.target, target.at, count, handle, op,
                        piece.window, request);
  else if (fetches)
    MPI_Get_accumulate(origin, count, handle, result, count, handle, piece.target, target.at, count, handle, op,
                       piece.window);
  else if (request != nullptr)
    MPI_Raccumulate(origin, count, handle, piece.target, target.at, count, handle, op, piece.window, request);
  else
    MPI_Accumulate(origin, count, handle, piece.target, target.at, count, handle, op, piece.window);
}

// passive: the target is locked, so that what a get brings can be compared with what is there.
void one_element(Random& own, const Piece& piece, bool passive) {
  if (piece.bytes < 24) return;
  const MPI_Datatype type = random_integer(own);
  const MPI_Aint at = piece.target_at / piece.unit;
  if (own.chance(50)) {
    const std::array ops{MPI_SUM, MPI_REPLACE, MPI_NO_OP};
    MPI_Fetch_and_op(piece.origin, piece.result, type, piece.target, at,
                     ops[static_cast<std::size_t>(own.between(0, 2))], piece.window);
    return;
  }
  if (passive) {
    MPI_Get(piece.origin + 8, 1, type, piece.target, at, 1, type, piece.window);
    MPI_Win_flush(piece.target, piece.window);
  }
  MPI_Compare_and_swap(piece.origin, piece.origin + 8, piece.result, type, piece.target, at, piece.window);
}

// Properties of an epoch common to all ranks.
struct Epoch {
  explicit Epoch(Random& random)
      : gets_only(random.chance(20)), stores(random.chance(70)), late(random.chance(30)), reads_owners(!late) {}
  bool gets_only;     // no rank writes to another's memory
  bool stores, late;  // owners write to theirs: before others come, or while they are there
  bool reads_owners;
};

void call(Random& own, const Exposed& exposed, const Piece& piece, const Epoch& epoch, MPI_Request* request,
          bool passive) {
  const MPI_Win window = exposed.window();
  if (epoch.gets_only) return put_or_get(own, piece, false, request);
  switch (own.between(0, 6)) {
    case 0:
    case 1:
      return put_or_get(own, piece, true, request);
    case 2:
      return put_or_get(own, piece, false, request);
    case 3:
      return accumulate(own, piece, false, request);
    case 4:
      return accumulate(own, piece, true, request);
    case 5:
      return one_element(own, piece, passive);
    default: {
      const auto words = static_cast<int>(std::min(piece.bytes, exposed.part()) / 4);
      MPI_Accumulate(piece.origin, words, MPI_UINT32_T, piece.target, exposed.common_at() / piece.unit, words,
                     MPI_UINT32_T, MPI_SUM, window);
      MPI_Put(piece.origin, words, MPI_INT, MPI_PROC_NULL, 0, words, MPI_INT, window);
      MPI_Get(piece.result, words, MPI_INT, MPI_PROC_NULL, 0, words, MPI_INT, window);
    }
  }
}

// This rank's calls of an epoch, to those targets.
void calls(Random& own, const Exposed& exposed, const std::vector<int>& targets, const Epoch& epoch) {
  for (int i = own.between(0, most_calls); i-- > 0;) {
    const Piece piece = exposed.piece(i, targets[own.next() % targets.size()]);
    if (epoch.reads_owners && own.chance(20)) {
      const auto bytes = static_cast<int>(std::min(piece.bytes, exposed.part()));
      MPI_Get(piece.result, bytes, MPI_BYTE, piece.target, exposed.owners_at() / piece.unit, bytes, MPI_BYTE,
              exposed.window());
    } else {
      call(own, exposed, piece, epoch, nullptr, false);
    }
  }
}

std::vector<int> all_of(const Exposed& exposed) {
  std::vector<int> ranks;
  for (int i = 0; i < exposed.size(); ++i) ranks.push_back(i);
  return ranks;
}

void fenced(Random& random, Random& own, const Exposed& exposed, const Epoch& epoch) {
  const bool stores = epoch.stores && !epoch.late;
  if (stores) exposed.store(own);
  const bool says = random.chance(50);
  int before = 0, after = 0;
  if (says && !epoch.stores) before |= MPI_MODE_NOSTORE;
  if (says && epoch.gets_only) before |= MPI_MODE_NOPUT;
  if (says && !(epoch.stores && epoch.late)) after |= MPI_MODE_NOSTORE;
  if (random.chance(50)) before |= MPI_MODE_NOPRECEDE;
  if (random.chance(50)) after |= MPI_MODE_NOSUCCEED;
  MPI_Win_fence(before, exposed.window());
  calls(own, exposed, all_of(exposed), epoch);
  if (epoch.stores && epoch.late) exposed.store(own);
  MPI_Win_fence(after, exposed.window());
}

MPI_Group group_of(const Exposed& exposed, std::vector<int> ranks) {
  MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
  MPI_Comm_group(exposed.comm(), &all);
  MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
  MPI_Group_free(&all);
  return some;
}

void posted(Random& random, Random& own, const Exposed& exposed, const Epoch& epoch) {
  const int shift = random.between(0, exposed.size() - 1);
  const bool everyone = random.chance(50), says = random.chance(50);
  const std::vector<int> targets = everyone ? all_of(exposed) : std::vector{(exposed.rank() + shift) % exposed.size()};
  const std::vector<int> origins =
      everyone ? targets : std::vector{(exposed.rank() + exposed.size() - shift) % exposed.size()};
  MPI_Group to = group_of(exposed, targets), from = group_of(exposed, origins);
  if (epoch.stores && !epoch.late) exposed.store(own);
  int assertion = says && epoch.gets_only ? MPI_MODE_NOPUT : 0;
  if (says && !epoch.stores) assertion |= MPI_MODE_NOSTORE;
  MPI_Win_post(from, assertion, exposed.window());
  MPI_Win_start(to, 0, exposed.window());
  calls(own, exposed, targets, epoch);
  if (epoch.stores && epoch.late) exposed.store(own);
  MPI_Win_complete(exposed.window());
  int flag = 0;
  if (random.chance(50))
    MPI_Win_wait(exposed.window());
  else
    while (flag == 0) MPI_Win_test(exposed.window(), &flag);
  MPI_Group_free(&to);
  MPI_Group_free(&from);
}

// Calls to one target that is locked, some with requests, and the ways to complete them before it is unlocked. `local`:
// also at the origin only. MPICH 4.0.2 (ch4:ucx) returns from that, after a request-based put, before what a get brings
// is there; Open MPI 4.1.4 (osc/pt2pt), where all ranks are locked, sometimes never.
void passive_calls(Random& own, const Exposed& exposed, int target, const Epoch& epoch, int first, bool local) {
  std::vector<MPI_Request> requests;
  for (int i = first; i < first + 2; ++i) {
    const bool requested = own.chance(50);
    if (requested) requests.push_back(MPI_REQUEST_NULL);
    call(own, exposed, exposed.piece(i, target), epoch, requested ? &requests.back() : nullptr, true);
    if (requested && own.chance(30)) MPI_Wait(&requests.back(), MPI_STATUS_IGNORE);
  }
  switch (own.between(0, local ? 4 : 2)) {
    case 0:
      MPI_Win_flush(target, exposed.window());
      break;
    case 1:
      MPI_Win_flush_all(exposed.window());
      break;
    case 3:
      MPI_Win_flush_local(target, exposed.window());
      break;
    case 4:
      MPI_Win_flush_local_all(exposed.window());
      break;
    default:;
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void locked(Random& random, Random& own, const Exposed& exposed, const Epoch& epoch) {
  const MPI_Win window = exposed.window();
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, exposed.rank(), 0, window);
  if (epoch.stores) exposed.store(own);
  MPI_Win_unlock(exposed.rank(), window);
  MPI_Barrier(exposed.comm());
  const int kind = random.chance(50) ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
  for (int i = 0; i < most_calls; i += 2) {
    const int target = own.between(0, exposed.size() - 1);
    MPI_Win_lock(kind, target, 0, window);
    passive_calls(own, exposed, target, epoch, i, !over_mpich());
    MPI_Win_unlock(target, window);
  }
  MPI_Barrier(exposed.comm());
  MPI_Win_lock(MPI_LOCK_SHARED, exposed.rank(), 0, window);
  MPI_Win_unlock(exposed.rank(), window);
}

void all_locked(Random& own, const Exposed& exposed, const Epoch& epoch) {
  const MPI_Win window = exposed.window();
  MPI_Win_lock_all(0, window);
  if (epoch.stores && !epoch.late) exposed.store(own);
  MPI_Win_sync(window);
  MPI_Barrier(exposed.comm());
  for (int i = 0; i < most_calls; i += 2)
    passive_calls(own, exposed, own.between(0, exposed.size() - 1), epoch, i, false);
  if (epoch.stores && epoch.late) exposed.store(own);
  MPI_Win_flush_all(window);
  MPI_Barrier(exposed.comm());
  MPI_Win_sync(window);
  MPI_Win_unlock_all(window);
}

}  // namespace

std::vector<int> one_sided(Random& random, MPI_Comm comm, const Memory& memory) {
  const Exposed exposed(random, comm, memory);
  std::vector<int> seen;
  for (int round = random.between(1, 4); round > 0; --round) {
    const Epoch epoch(random);
    Random own(random.next() + static_cast<std::uint64_t>(exposed.rank()));
    switch (random.between(0, 3)) {
      case 0:
        fenced(random, own, exposed, epoch);
        break;
      case 1:
        posted(random, own, exposed, epoch);
        break;
      case 2:
        locked(random, own, exposed, epoch);
        break;
      default:
        all_locked(own, exposed, epoch);
    }
    seen.push_back(exposed.seen());
    MPI_Barrier(comm);
  }
  return seen;
}

}  // namespace plumb::stress
