// Neighbourhood collectives: MPI's own, on what each rank stages for its neighbours in the communicator's topology. One
// body for the blocking form and the non-blocking one (with a request), of counts of type int and of MPI_Count (MPI 4,
// section 8.6).
#pragma once

#include "interpose/collectives/collective_operands.hpp"
#include "interpose/staging/requests.hpp"

namespace plumb::interpose {

// Whether there is a neighbour in each place: beyond the edge of a grid there is none.
using Places = std::vector<bool>;

struct Neighbours {
  Places from, to;
};

Neighbours neighbours_of(MPI_Comm comm);

inline int count_of(const Places& places) {
  return static_cast<int>(places.size());
}

// Beyond the edge of a grid nothing is sent, but MPI may look at what would be.
Operands stage_neighbours(Call& call, const void* from, void* to, const Parts& sent, const Parts& received,
                          const Neighbours& at);

template <auto allgather, class Count, class... Handle>
int neighbor_allgather_by(const char* name, const void* from, Count send_count, MPI_Datatype send_type, void* to,
                          Count receive_count, MPI_Datatype receive_type, MPI_Comm comm, Handle... request) {
  if (!is_device(from) && !is_device(to)) [[likely]]
    return allgather(from, send_count, send_type, to, receive_count, receive_type, comm, request...);
  return carry_out(
      name,
      [&](Call& call, auto... inner) {
        const Neighbours at = neighbours_of(comm);
        const Operands staged = stage_neighbours(call, from, to, {{0, send_count, send_type}},
                                                 equal_parts_of(count_of(at.from), receive_count, receive_type), at);
        return allgather(staged.from, send_count, send_type, staged.to, receive_count, receive_type, comm, inner...);
      },
      request...);
}

template <auto allgatherv, class Count, class Offset, class... Handle>
int neighbor_allgatherv_by(const char* name, const void* from, Count send_count, MPI_Datatype send_type, void* to,
                           const Count* receive_counts, const Offset* offsets, MPI_Datatype receive_type, MPI_Comm comm,
                           Handle... request) {
  if (!is_device(from) && !is_device(to)) [[likely]]
    return allgatherv(from, send_count, send_type, to, receive_counts, offsets, receive_type, comm, request...);
  return carry_out(
      name,
      [&](Call& call, auto... inner) {
        const Neighbours at = neighbours_of(comm);
        const Operands staged =
            stage_neighbours(call, from, to, {{0, send_count, send_type}},
                             varied_parts_of(count_of(at.from), receive_counts, offsets, receive_type), at);
        return allgatherv(staged.from, send_count, send_type, staged.to, receive_counts, offsets, receive_type, comm,
                          inner...);
      },
      request...);
}

template <auto alltoall, class Count, class... Handle>
int neighbor_alltoall_by(const char* name, const void* from, Count send_count, MPI_Datatype send_type, void* to,
                         Count receive_count, MPI_Datatype receive_type, MPI_Comm comm, Handle... request) {
  if (!is_device(from) && !is_device(to)) [[likely]]
    return alltoall(from, send_count, send_type, to, receive_count, receive_type, comm, request...);
  return carry_out(
      name,
      [&](Call& call, auto... inner) {
        const Neighbours at = neighbours_of(comm);
        const Operands staged = stage_neighbours(call, from, to, equal_parts_of(count_of(at.to), send_count, send_type),
                                                 equal_parts_of(count_of(at.from), receive_count, receive_type), at);
        return alltoall(staged.from, send_count, send_type, staged.to, receive_count, receive_type, comm, inner...);
      },
      request...);
}

template <auto alltoallv, class Count, class Offset, class... Handle>
int neighbor_alltoallv_by(const char* name, const void* from, const Count* send_counts, const Offset* send_offsets,
                          MPI_Datatype send_type, void* to, const Count* receive_counts, const Offset* receive_offsets,
                          MPI_Datatype receive_type, MPI_Comm comm, Handle... request) {
  if (!is_device(from) && !is_device(to)) [[likely]]
    return alltoallv(from, send_counts, send_offsets, send_type, to, receive_counts, receive_offsets, receive_type,
                     comm, request...);
  return carry_out(
      name,
      [&](Call& call, auto... inner) {
        const Neighbours at = neighbours_of(comm);
        const Operands staged =
            stage_neighbours(call, from, to, varied_parts_of(count_of(at.to), send_counts, send_offsets, send_type),
                             varied_parts_of(count_of(at.from), receive_counts, receive_offsets, receive_type), at);
        return alltoallv(staged.from, send_counts, send_offsets, send_type, staged.to, receive_counts, receive_offsets,
                         receive_type, comm, inner...);
      },
      request...);
}

template <auto alltoallw, class Count, class... Handle>
int neighbor_alltoallw_by(const char* name, const void* from, const Count* send_counts, const MPI_Aint* send_offsets,
                          const MPI_Datatype* send_types, void* to, const Count* receive_counts,
                          const MPI_Aint* receive_offsets, const MPI_Datatype* receive_types, MPI_Comm comm,
                          Handle... request) {
  if (!is_device(from) && !is_device(to)) [[likely]]
    return alltoallw(from, send_counts, send_offsets, send_types, to, receive_counts, receive_offsets, receive_types,
                     comm, request...);
  return carry_out(
      name,
      [&](Call& call, auto... inner) {
        const Neighbours at = neighbours_of(comm);
        const Operands staged =
            stage_neighbours(call, from, to, typed_parts_of(count_of(at.to), send_counts, send_offsets, send_types),
                             typed_parts_of(count_of(at.from), receive_counts, receive_offsets, receive_types), at);
        return alltoallw(staged.from, send_counts, send_offsets, send_types, staged.to, receive_counts, receive_offsets,
                         receive_types, comm, inner...);
      },
      request...);
}

}  // namespace plumb::interpose
