// Fortran's calls with arrays of requests, statuses or datatypes, and its MPI_Init and MPI_Finalize. See
// fortran_calls.cmake for the rest.
#include <algorithm>
#include <array>
#include <vector>

#include "interpose/collectives/collective_operands.hpp"
#include "interpose/fortran/fortran.hpp"

namespace plumb::interpose::fortran {

namespace {

bool any_own(Address count, Address requests) {
  const auto* first = static_cast<const MPI_Fint*>(requests);
  return std::any_of(first, first + integer(count), [](MPI_Fint request) { return is_own_integer(request); });
}

// As C has them while this lives.
class Requests {
 public:
  Requests(Address count, Address integers) : integers_(static_cast<MPI_Fint*>(integers)) {
    for (int i = 0; i < integer(count); ++i) now_.push_back(MPI_Request_f2c(integers_[i]));
    before_ = now_;
  }
  ~Requests() {
    for (std::size_t i = 0; i < now_.size(); ++i)
      if (now_[i] != before_[i]) integers_[i] = MPI_Request_c2f(now_[i]);
  }
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;
  int count() const { return static_cast<int>(now_.size()); }
  MPI_Request* data() { return now_.data(); }

 private:
  MPI_Fint* integers_;
  std::vector<MPI_Request> now_, before_;
};

class Statuses {
 public:
  Statuses(int count, Address integers) : integers_(static_cast<MPI_Fint*>(integers)) {
    if (integers == &mpi_fortran_statuses_ignore_) return;
    statuses_.resize(static_cast<std::size_t>(std::max(count, 1)));
    for (int i = 0; i < count; ++i) PMPI_Status_f2c(integers_ + i * status_integers, &statuses_[i]);
    count_ = count;
  }
  ~Statuses() {
    for (int i = 0; i < count_; ++i) PMPI_Status_c2f(&statuses_[i], integers_ + i * status_integers);
  }
  Statuses(const Statuses&) = delete;
  Statuses& operator=(const Statuses&) = delete;
  MPI_Status* data() { return statuses_.empty() ? MPI_STATUSES_IGNORE : statuses_.data(); }

 private:
  MPI_Fint* integers_;
  int count_ = 0;
  std::vector<MPI_Status> statuses_;
};

void give_index(Address address, int index) {
  integer(address) = index == MPI_UNDEFINED ? index : index + 1;
}

// Positions among `count` requests, of which `completed` are complete.
void give_indices(Address address, const std::vector<int>& indices, int completed) {
  auto* first = static_cast<MPI_Fint*>(address);
  for (int i = 0; completed != MPI_UNDEFINED && i < completed; ++i) give_index(&first[i], indices[i]);
}

// `count` datatypes; none where they have no meaning.
std::vector<MPI_Datatype> types_of(int count, Address integers) {
  std::vector<MPI_Datatype> types;
  for (int i = 0; i < count; ++i) types.push_back(PMPI_Type_f2c(static_cast<MPI_Fint*>(integers)[i]));
  return types;
}

// Send and receive: neighbours of a communicator with a topology.
std::pair<int, int> neighbours(MPI_Comm comm) {
  int kind = MPI_UNDEFINED, in = 0, out = 0, weighted = 0;
  PMPI_Topo_test(comm, &kind);
  if (kind == MPI_DIST_GRAPH) {
    PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  } else if (kind == MPI_CART) {
    PMPI_Cartdim_get(comm, &in);
    in = out = 2 * in;
  } else if (kind == MPI_GRAPH) {
    PMPI_Graph_neighbors_count(comm, rank_in(comm), &in);
    out = in;
  }
  return {out, in};
}

int exchanged_with(MPI_Comm comm) {
  int size = 0;
  if (between_groups(comm))
    PMPI_Comm_remote_size(comm, &size);
  else
    PMPI_Comm_size(comm, &size);
  return size;
}

// The four calls with a datatype for each rank; request: of a non-blocking call.
template <class Offset, class... Request>
void exchange(int (*function)(const void*, const int*, const Offset*, const MPI_Datatype*, void*, const int*,
                              const Offset*, const MPI_Datatype*, MPI_Comm, Request*...),
              std::pair<int, int> ranks, const std::array<Address, 9>& given, Address error,
              Argument<Request*>... requests) {
  const void* from = Buffer(given[0]).in_c();
  const auto send_types = types_of(from == MPI_IN_PLACE ? 0 : ranks.first, given[3]);
  const auto receive_types = types_of(ranks.second, given[7]);
  const int code = function(from, static_cast<int*>(given[1]), static_cast<Offset*>(given[2]), send_types.data(),
                            Buffer(given[4]).in_c(), static_cast<int*>(given[5]), static_cast<Offset*>(given[6]),
                            receive_types.data(), PMPI_Comm_f2c(integer(given[8])), requests.in_c()...);
  (requests.give_back(), ...);
  give_code(error, code);
}

std::pair<int, int> all_of(Address comm) {
  const int ranks = exchanged_with(PMPI_Comm_f2c(integer(comm)));
  return {ranks, ranks};
}

std::pair<int, int> near(Address comm) {
  return neighbours(PMPI_Comm_f2c(integer(comm)));
}

// Open MPI's own function does it.
template <class Original>
bool passes(Original* original, Address from, Address to) {
  return original != nullptr && !is_device(from) && !is_device(to);
}

}  // namespace

}  // namespace plumb::interpose::fortran

using namespace plumb::interpose::fortran;

extern "C" {

void mpi_init_(Address error) {
  give_code(error, MPI_Init(nullptr, nullptr));
}
[[gnu::alias("mpi_init_")]] void ompi_init_f(Address error);

void mpi_finalize_(Address error) {
  give_code(error, MPI_Finalize());
}
[[gnu::alias("mpi_finalize_")]] void ompi_finalize_f(Address error);

void mpi_init_thread_(Address required, Address provided, Address error) {
  give_code(error, MPI_Init_thread(nullptr, nullptr, integer(required), &integer(provided)));
}
[[gnu::alias("mpi_init_thread_")]] void ompi_init_thread_f(Address required, Address provided, Address error);

[[gnu::weak]] void pmpi_startall_(Address count, Address requests, Address error);
void mpi_startall_(Address count, Address requests, Address error) {
  if (pmpi_startall_ != nullptr && !any_own(count, requests)) return pmpi_startall_(count, requests, error);
  Requests all(count, requests);
  give_code(error, MPI_Startall(all.count(), all.data()));
}
[[gnu::alias("mpi_startall_")]] void ompi_startall_f(Address count, Address requests, Address error);

[[gnu::weak]] void pmpi_waitall_(Address count, Address requests, Address statuses, Address error);
void mpi_waitall_(Address count, Address requests, Address statuses, Address error) {
  if (pmpi_waitall_ != nullptr && !any_own(count, requests)) return pmpi_waitall_(count, requests, statuses, error);
  Requests all(count, requests);
  Statuses filled(all.count(), statuses);
  give_code(error, MPI_Waitall(all.count(), all.data(), filled.data()));
}
[[gnu::alias("mpi_waitall_")]] void ompi_waitall_f(Address count, Address requests, Address statuses, Address error);

[[gnu::weak]] void ompi_testall_f(Address count, Address requests, Address flag, Address statuses, Address error);
void mpi_testall_(Address count, Address requests, Address flag, Address statuses, Address error) {
  if (ompi_testall_f != nullptr && !any_own(count, requests))
    return ompi_testall_f(count, requests, flag, statuses, error);
  Requests all(count, requests);
  Statuses filled(all.count(), statuses);
  give_code(error, MPI_Testall(all.count(), all.data(), &integer(flag), filled.data()));
}
[[gnu::alias("mpi_testall_")]] void pmpi_testall_(Address count, Address requests, Address flag, Address statuses,
                                                  Address error);

[[gnu::weak]] void pmpi_waitany_(Address count, Address requests, Address index, Address status, Address error);
void mpi_waitany_(Address count, Address requests, Address index, Address status, Address error) {
  if (pmpi_waitany_ != nullptr && !any_own(count, requests))
    return pmpi_waitany_(count, requests, index, status, error);
  Requests all(count, requests);
  Argument<MPI_Status*> filled(status);
  int which = MPI_UNDEFINED;
  give_code(error, MPI_Waitany(all.count(), all.data(), &which, filled.in_c()));
  give_index(index, which);
  filled.give_back();
}
[[gnu::alias("mpi_waitany_")]] void ompi_waitany_f(Address count, Address requests, Address index, Address status,
                                                   Address error);

[[gnu::weak]] void ompi_testany_f(Address count, Address requests, Address index, Address flag, Address status,
                                  Address error);
void mpi_testany_(Address count, Address requests, Address index, Address flag, Address status, Address error) {
  if (ompi_testany_f != nullptr && !any_own(count, requests))
    return ompi_testany_f(count, requests, index, flag, status, error);
  Requests all(count, requests);
  Argument<MPI_Status*> filled(status);
  int which = MPI_UNDEFINED;
  give_code(error, MPI_Testany(all.count(), all.data(), &which, &integer(flag), filled.in_c()));
  give_index(index, which);
  filled.give_back();
}
[[gnu::alias("mpi_testany_")]] void pmpi_testany_(Address count, Address requests, Address index, Address flag,
                                                  Address status, Address error);

[[gnu::weak]] void pmpi_waitsome_(Address count, Address requests, Address completed, Address indices, Address statuses,
                                  Address error);
void mpi_waitsome_(Address count, Address requests, Address completed, Address indices, Address statuses,
                   Address error) {
  if (pmpi_waitsome_ != nullptr && !any_own(count, requests))
    return pmpi_waitsome_(count, requests, completed, indices, statuses, error);
  Requests all(count, requests);
  Statuses filled(all.count(), statuses);
  std::vector<int> which(all.count());
  give_code(error, MPI_Waitsome(all.count(), all.data(), &integer(completed), which.data(), filled.data()));
  give_indices(indices, which, integer(completed));
}
[[gnu::alias("mpi_waitsome_")]] void ompi_waitsome_f(Address count, Address requests, Address completed,
                                                     Address indices, Address statuses, Address error);

[[gnu::weak]] void ompi_testsome_f(Address count, Address requests, Address completed, Address indices,
                                   Address statuses, Address error);
void mpi_testsome_(Address count, Address requests, Address completed, Address indices, Address statuses,
                   Address error) {
  if (ompi_testsome_f != nullptr && !any_own(count, requests))
    return ompi_testsome_f(count, requests, completed, indices, statuses, error);
  Requests all(count, requests);
  Statuses filled(all.count(), statuses);
  std::vector<int> which(all.count());
  give_code(error, MPI_Testsome(all.count(), all.data(), &integer(completed), which.data(), filled.data()));
  give_indices(indices, which, integer(completed));
}
[[gnu::alias("mpi_testsome_")]] void pmpi_testsome_(Address count, Address requests, Address completed, Address indices,
                                                    Address statuses, Address error);

[[gnu::weak]] void pmpi_alltoallw_(Address from, Address counts, Address offsets, Address types, Address to,
                                   Address to_counts, Address to_offsets, Address to_types, Address comm,
                                   Address error);
void mpi_alltoallw_(Address from, Address counts, Address offsets, Address types, Address to, Address to_counts,
                    Address to_offsets, Address to_types, Address comm, Address error) {
  if (passes(pmpi_alltoallw_, from, to))
    return pmpi_alltoallw_(from, counts, offsets, types, to, to_counts, to_offsets, to_types, comm, error);
  exchange(MPI_Alltoallw, all_of(comm), {from, counts, offsets, types, to, to_counts, to_offsets, to_types, comm},
           error);
}
[[gnu::alias("mpi_alltoallw_")]] void ompi_alltoallw_f(Address from, Address counts, Address offsets, Address types,
                                                       Address to, Address to_counts, Address to_offsets,
                                                       Address to_types, Address comm, Address error);

[[gnu::weak]] void pmpi_ialltoallw_(Address from, Address counts, Address offsets, Address types, Address to,
                                    Address to_counts, Address to_offsets, Address to_types, Address comm,
                                    Address request, Address error);
void mpi_ialltoallw_(Address from, Address counts, Address offsets, Address types, Address to, Address to_counts,
                     Address to_offsets, Address to_types, Address comm, Address request, Address error) {
  if (passes(pmpi_ialltoallw_, from, to))
    return pmpi_ialltoallw_(from, counts, offsets, types, to, to_counts, to_offsets, to_types, comm, request, error);
  exchange(MPI_Ialltoallw, all_of(comm), {from, counts, offsets, types, to, to_counts, to_offsets, to_types, comm},
           error, Argument<MPI_Request*>(request));
}
[[gnu::alias("mpi_ialltoallw_")]] void ompi_ialltoallw_f(Address from, Address counts, Address offsets, Address types,
                                                         Address to, Address to_counts, Address to_offsets,
                                                         Address to_types, Address comm, Address request,
                                                         Address error);

[[gnu::weak]] void pmpi_neighbor_alltoallw_(Address from, Address counts, Address offsets, Address types, Address to,
                                            Address to_counts, Address to_offsets, Address to_types, Address comm,
                                            Address error);
void mpi_neighbor_alltoallw_(Address from, Address counts, Address offsets, Address types, Address to,
                             Address to_counts, Address to_offsets, Address to_types, Address comm, Address error) {
  if (passes(pmpi_neighbor_alltoallw_, from, to))
    return pmpi_neighbor_alltoallw_(from, counts, offsets, types, to, to_counts, to_offsets, to_types, comm, error);
  exchange(MPI_Neighbor_alltoallw, near(comm),
           {from, counts, offsets, types, to, to_counts, to_offsets, to_types, comm}, error);
}
[[gnu::alias("mpi_neighbor_alltoallw_")]] void ompi_neighbor_alltoallw_f(Address from, Address counts, Address offsets,
                                                                         Address types, Address to, Address to_counts,
                                                                         Address to_offsets, Address to_types,
                                                                         Address comm, Address error);

[[gnu::weak]] void pmpi_ineighbor_alltoallw_(Address from, Address counts, Address offsets, Address types, Address to,
                                             Address to_counts, Address to_offsets, Address to_types, Address comm,
                                             Address request, Address error);
void mpi_ineighbor_alltoallw_(Address from, Address counts, Address offsets, Address types, Address to,
                              Address to_counts, Address to_offsets, Address to_types, Address comm, Address request,
                              Address error) {
  if (passes(pmpi_ineighbor_alltoallw_, from, to))
    return pmpi_ineighbor_alltoallw_(from, counts, offsets, types, to, to_counts, to_offsets, to_types, comm, request,
                                     error);
  exchange(MPI_Ineighbor_alltoallw, near(comm),
           {from, counts, offsets, types, to, to_counts, to_offsets, to_types, comm}, error,
           Argument<MPI_Request*>(request));
}
[[gnu::alias("mpi_ineighbor_alltoallw_")]] void ompi_ineighbor_alltoallw_f(Address from, Address counts,
                                                                           Address offsets, Address types, Address to,
                                                                           Address to_counts, Address to_offsets,
                                                                           Address to_types, Address comm,
                                                                           Address request, Address error);

}  // extern "C"
