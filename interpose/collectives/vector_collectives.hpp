// Collectives whose counts differ by rank: MPI's own, on what each rank stages. One body for the blocking form and the
// non-blocking one (with a request), of counts of type int with offsets of type int, and of MPI_Count with MPI_Aint
// (MPI 4, section 6). Counts and offsets go to MPI as they are.
#pragma once

#include <limits>
#include <numeric>
#include <vector>

#include "interpose/collectives/device_exchange.hpp"
#include "interpose/collectives/device_reduction.hpp"
#include "interpose/staging/requests.hpp"

namespace plumb::interpose {

// The collective by messages from device to device; null where it is to go another way.
template <class MakeBlocks>
std::optional<int> exchange_if_offered(const char* name, const void* from, const void* to, MPI_Comm comm,
                                       MakeBlocks blocks) {
  if (!offers_on) return {};
  return or_abort(name, [&] { return exchange_on_devices(from, to, {}, comm, blocks); });
}

template <auto gatherv, class Count, class Offset, class... Handle>
int gatherv_by(const char* name, const void* from, Count send_count, MPI_Datatype send_type, void* to,
               const Count* receive_counts, const Offset* offsets, MPI_Datatype receive_type, int root, MPI_Comm comm,
               Handle... request) {
  if constexpr (sizeof...(Handle) == 0) {
    const auto blocks = [&] {
      return gather_blocks({from, send_count, send_type}, to, root, comm,
                           [&] { return varied_parts(comm, receive_counts, offsets, receive_type); });
    };
    if (const auto code = exchange_if_offered(name, from, to, comm, blocks)) return *code;
  }
  if (!is_device(from) && !is_device(to)) [[likely]]
    return gatherv(from, send_count, send_type, to, receive_counts, offsets, receive_type, root, comm, request...);
  return carry_out(
      name,
      [&](Call& call, auto... inner) {
        const Operands staged = stage_gather(call, {from, send_count, send_type}, to, root, comm,
                                             [&] { return varied_parts(comm, receive_counts, offsets, receive_type); });
        return gatherv(staged.from, send_count, send_type, staged.to, receive_counts, offsets, receive_type, root, comm,
                       inner...);
      },
      request...);
}

template <auto scatterv, class Count, class Offset, class... Handle>
int scatterv_by(const char* name, const void* from, const Count* send_counts, const Offset* offsets,
                MPI_Datatype send_type, void* to, Count receive_count, MPI_Datatype receive_type, int root,
                MPI_Comm comm, Handle... request) {
  if constexpr (sizeof...(Handle) == 0) {
    const auto blocks = [&] {
      return scatter_blocks(from, {to, receive_count, receive_type}, root, comm,
                            [&] { return varied_parts(comm, send_counts, offsets, send_type); });
    };
    if (const auto code = exchange_if_offered(name, from, to, comm, blocks)) return *code;
  }
  if (!is_device(from) && !is_device(to)) [[likely]]
    return scatterv(from, send_counts, offsets, send_type, to, receive_count, receive_type, root, comm, request...);
  return carry_out(
      name,
      [&](Call& call, auto... inner) {
        const Operands staged = stage_scatter(call, from, {to, receive_count, receive_type}, root, comm,
                                              [&] { return varied_parts(comm, send_counts, offsets, send_type); });
        return scatterv(staged.from, send_counts, offsets, send_type, staged.to, receive_count, receive_type, root,
                        comm, inner...);
      },
      request...);
}

template <auto allgatherv, class Count, class Offset, class... Handle>
int allgatherv_by(const char* name, const void* from, Count send_count, MPI_Datatype send_type, void* to,
                  const Count* receive_counts, const Offset* offsets, MPI_Datatype receive_type, MPI_Comm comm,
                  Handle... request) {
  if constexpr (sizeof...(Handle) == 0) {
    const auto blocks = [&] {
      return allgather_blocks({from, send_count, send_type}, to,
                              varied_parts(comm, receive_counts, offsets, receive_type), comm);
    };
    if (const auto code = exchange_if_offered(name, from, to, comm, blocks)) return *code;
  }
  if (!is_device(from) && !is_device(to)) [[likely]]
    return allgatherv(from, send_count, send_type, to, receive_counts, offsets, receive_type, comm, request...);
  return carry_out(
      name,
      [&](Call& call, auto... inner) {
        const Operands staged = stage_allgather(call, {from, send_count, send_type}, to, comm,
                                                varied_parts(comm, receive_counts, offsets, receive_type));
        return allgatherv(staged.from, send_count, send_type, staged.to, receive_counts, offsets, receive_type, comm,
                          inner...);
      },
      request...);
}

template <auto alltoallv, class Count, class Offset, class... Handle>
int alltoallv_by(const char* name, const void* from, const Count* send_counts, const Offset* send_offsets,
                 MPI_Datatype send_type, void* to, const Count* receive_counts, const Offset* receive_offsets,
                 MPI_Datatype receive_type, MPI_Comm comm, Handle... request) {
  if constexpr (sizeof...(Handle) == 0) {
    const auto blocks = [&] {
      return Blocks{from, varied_parts(comm, send_counts, send_offsets, send_type), to,
                    varied_parts(comm, receive_counts, receive_offsets, receive_type)};
    };
    const auto code = from == MPI_IN_PLACE ? std::nullopt : exchange_if_offered(name, from, to, comm, blocks);
    if (code) return *code;
  }
  if (!is_device(from) && !is_device(to)) [[likely]]
    return alltoallv(from, send_counts, send_offsets, send_type, to, receive_counts, receive_offsets, receive_type,
                     comm, request...);
  return carry_out(
      name,
      [&](Call& call, auto... inner) {
        const Operands staged = stage_alltoall(
            call, from, to, [&] { return varied_parts(comm, send_counts, send_offsets, send_type); },
            varied_parts(comm, receive_counts, receive_offsets, receive_type));
        return alltoallv(staged.from, send_counts, send_offsets, send_type, staged.to, receive_counts, receive_offsets,
                         receive_type, comm, inner...);
      },
      request...);
}

template <auto alltoallw, class Count, class Offset, class... Handle>
int alltoallw_by(const char* name, const void* from, const Count* send_counts, const Offset* send_offsets,
                 const MPI_Datatype* send_types, void* to, const Count* receive_counts, const Offset* receive_offsets,
                 const MPI_Datatype* receive_types, MPI_Comm comm, Handle... request) {
  if constexpr (sizeof...(Handle) == 0) {
    const auto blocks = [&] {
      return Blocks{from, typed_parts(comm, send_counts, send_offsets, send_types), to,
                    typed_parts(comm, receive_counts, receive_offsets, receive_types)};
    };
    const auto code = from == MPI_IN_PLACE ? std::nullopt : exchange_if_offered(name, from, to, comm, blocks);
    if (code) return *code;
  }
  if (!is_device(from) && !is_device(to)) [[likely]]
    return alltoallw(from, send_counts, send_offsets, send_types, to, receive_counts, receive_offsets, receive_types,
                     comm, request...);
  return carry_out(
      name,
      [&](Call& call, auto... inner) {
        const Operands staged = stage_alltoall(
            call, from, to, [&] { return typed_parts(comm, send_counts, send_offsets, send_types); },
            typed_parts(comm, receive_counts, receive_offsets, receive_types));
        return alltoallw(staged.from, send_counts, send_offsets, send_types, staged.to, receive_counts, receive_offsets,
                         receive_types, comm, inner...);
      },
      request...);
}

// MPI_Reduce_scatter on the devices. Null where it is to go another way, as where a count is none of type int: the
// counts of all ranks are the same.
template <class Count>
std::optional<int> reduce_scatter_if_on_devices(const char* name, const void* from, void* to, const Count* counts,
                                                MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (!offers_on) return {};
  std::vector<int> ints;
  for (int i = 0; i < size_of(comm); ++i) {
    if (counts[i] > std::numeric_limits<int>::max()) return {};
    ints.push_back(static_cast<int>(counts[i]));
  }
  return or_abort(name, [&] { return reduce_scatter_on_devices(from, to, ints, type, op, comm); });
}

template <auto reduce_scatter, class Count, class... Handle>
int reduce_scatter_by(const char* name, const void* from, void* to, const Count* counts, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm, Handle... request) {
  if constexpr (sizeof...(Handle) == 0)
    if (const auto code = reduce_scatter_if_on_devices(name, from, to, counts, type, op, comm)) return *code;
  if (!is_device(from) && !is_device(to)) [[likely]]
    return reduce_scatter(from, to, counts, type, op, comm, request...);
  return carry_out(
      name,
      [&](Call& call, auto... inner) {
        const Part all{0, std::accumulate(counts, counts + size_of(comm), MPI_Aint{0}), type};
        const Operands staged = stage_reduction(call, from, to, all, {0, counts[rank_in(comm)], type});
        return reduce_scatter(staged.from, staged.to, counts, type, op, comm, inner...);
      },
      request...);
}

}  // namespace plumb::interpose
