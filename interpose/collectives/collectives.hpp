// Bodies of the wrappers of collectives that calls/generate.py makes: MPI's own collective, on staged operands. Each
// serves the blocking form and the non-blocking one (with a request), counts of type int and of MPI_Count, and equal
// and varying counts. mpi(addresses..., request...) is MPI's function with its other arguments bound.
#pragma once

#include <numeric>
#include <vector>

#include "interpose/collectives/device_exchange.hpp"
#include "interpose/collectives/device_reduction.hpp"
#include "interpose/collectives/neighbourhood.hpp"
#include "interpose/staging/requests.hpp"

namespace plumb::interpose {

// The code of a blocking collective (without a Request) executed on the devices; none if it was not.
template <class... Request, class OnDevices>
std::optional<int> if_offered(const char* name, OnDevices on_devices) {
  if (sizeof...(Request) > 0 || !peer_on) return {};
  return or_abort(name, on_devices);
}

// MPI's function on what stage(call) returns.
template <class Stage, class Mpi, class... Request>
int on_staged(const char* name, Stage stage, Mpi mpi, Request... request) {
  const auto work = [&](Call& call, auto... inner) {
    const Operands staged = stage(call);
    return mpi(staged.from, staged.to, inner...);
  };
  return carry_out(name, work, request...);
}

// The size of a block, if equal on all ranks: from the blocks' count on the root, from `own` elsewhere.
template <class Blocks, class Own>
std::optional<std::size_t> common_bytes(const Blocks& blocks, const Own& own, bool is_root) {
  return is_root || !Blocks::is_equal ? blocks.common_bytes() : bytes_of(own.count, own.type);
}

template <class Mpi, class... Request>
int bcast(const char* name, const Target& data, int root, MPI_Comm comm, Mpi mpi, Request... request) {
  const auto code = if_offered<Request...>(name, [&] {
    return exchange_on_devices(data.address, nullptr, bytes_of(data.count, data.type), comm, [&] {
      return bcast_blocks(data.address, {0, data.count, data.type}, root, comm);
    });
  });
  if (code) return *code;
  return carry_out(
      name, [&](Call& call, auto... inner) { return mpi(stage_bcast(call, data, root, comm), inner...); }, request...);
}

template <class To, class Mpi, class... Request>
int gather(const char* name, const Source& from, const To& to, int root, MPI_Comm comm, Mpi mpi, Request... request) {
  const auto parts = [&] { return to.parts(partners(comm)); };
  const auto code = if_offered<Request...>(name, [&] {
    return exchange_on_devices(from.address, to.address, common_bytes(to, from, rank_in(comm) == root), comm,
                               [&] { return gather_blocks(from, to.address, root, comm, parts); });
  });
  if (code) return *code;
  return on_staged(
      name, [&](Call& call) { return stage_gather(call, from, to.address, root, comm, parts); }, mpi, request...);
}

template <class From, class Mpi, class... Request>
int scatter(const char* name, const From& from, const Target& to, int root, MPI_Comm comm, Mpi mpi,
            Request... request) {
  const auto parts = [&] { return from.parts(partners(comm)); };
  const auto code = if_offered<Request...>(name, [&] {
    return exchange_on_devices(from.address, to.address, common_bytes(from, to, rank_in(comm) == root), comm,
                               [&] { return scatter_blocks(from.address, to, root, comm, parts); });
  });
  if (code) return *code;
  return on_staged(
      name, [&](Call& call) { return stage_scatter(call, from.address, to, root, comm, parts); }, mpi, request...);
}

template <class To, class Mpi, class... Request>
int allgather(const char* name, const Source& from, const To& to, MPI_Comm comm, Mpi mpi, Request... request) {
  const auto code = if_offered<Request...>(name, [&] {
    return exchange_on_devices(from.address, to.address, to.common_bytes(), comm,
                               [&] { return allgather_blocks(from, to.address, to.parts(partners(comm)), comm); });
  });
  if (code) return *code;
  return on_staged(
      name, [&](Call& call) { return stage_allgather(call, from, to.address, comm, to.parts(partners(comm))); }, mpi,
      request...);
}

template <class From, class To, class Mpi, class... Request>
int alltoall(const char* name, const From& from, const To& to, MPI_Comm comm, Mpi mpi, Request... request) {
  const auto send_parts = [&] { return from.parts(partners(comm)); };
  const auto code = if_offered<Request...>(name, [&]() -> std::optional<int> {
    if (from.address == MPI_IN_PLACE) return {};
    return exchange_on_devices(from.address, to.address, to.common_bytes(), comm, [&] {
      return Blocks{from.address, send_parts(), to.address, to.parts(partners(comm))};
    });
  });
  if (code) return *code;
  return on_staged(
      name,
      [&](Call& call) { return stage_alltoall(call, from.address, to.address, send_parts, to.parts(partners(comm))); },
      mpi, request...);
}

// MPI_Neighbor_allgather(v) and MPI_Neighbor_alltoall(v, w).
template <class From, class To, class Mpi, class... Request>
int neighbor(const char* name, const From& from, const To& to, MPI_Comm comm, Mpi mpi, Request... request) {
  return on_staged(
      name,
      [&](Call& call) {
        const Neighbours at = neighbours_of(comm);
        return stage_neighbours(call, from.address, to.address, from.parts(count_of(at.to)),
                                to.parts(count_of(at.from)), at);
      },
      mpi, request...);
}

template <class Mpi, class... Request>
int reduce(const char* name, const void* from, void* to, MPI_Aint count, MPI_Datatype type, MPI_Op op, int root,
           MPI_Comm comm, Mpi mpi, Request... request) {
  const auto code =
      if_offered<Request...>(name, [&] { return reduce_on_devices(from, to, count, type, op, root, comm); });
  if (code) return *code;
  return on_staged(
      name, [&](Call& call) { return stage_reduce(call, from, to, count, type, root, comm); }, mpi, request...);
}

// A reduction of the parts `taken` of all ranks; `given`: result of this rank.
template <class Mpi, class... Request>
int reduce_to(const char* name, const void* from, void* to, const Part& taken, const Part& given, Mpi mpi,
              Request... request) {
  return on_staged(
      name, [&](Call& call) { return stage_reduction(call, from, to, taken, given); }, mpi, request...);
}

template <class Mpi, class... Request>
int allreduce(const char* name, const void* from, void* to, MPI_Aint count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
              Mpi mpi, Request... request) {
  const auto code =
      if_offered<Request...>(name, [&] { return reduce_on_devices(from, to, count, type, op, everyone, comm); });
  if (code) return *code;
  return reduce_to(name, from, to, {0, count, type}, {0, count, type}, mpi, request...);
}

template <class Count, class Mpi, class... Request>
int reduce_scatter(const char* name, const void* from, void* to, const Count* counts, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, Mpi mpi, Request... request) {
  const std::vector<MPI_Aint> all(counts, counts + size_of(comm));
  const auto code =
      if_offered<Request...>(name, [&] { return reduce_scatter_on_devices(from, to, all, type, op, comm); });
  if (code) return *code;
  const Part taken{0, std::accumulate(all.begin(), all.end(), MPI_Aint{0}), type};
  return reduce_to(name, from, to, taken, {0, counts[rank_in(comm)], type}, mpi, request...);
}

template <class Mpi, class... Request>
int reduce_scatter_block(const char* name, const void* from, void* to, MPI_Aint count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm, Mpi mpi, Request... request) {
  const std::vector<MPI_Aint> all(static_cast<std::size_t>(size_of(comm)), count);
  return reduce_scatter(name, from, to, all.data(), type, op, comm, mpi, request...);
}

template <class Mpi, class... Request>
int scan(const char* name, const void* from, void* to, MPI_Aint count, MPI_Datatype type, MPI_Op, MPI_Comm, Mpi mpi,
         Request... request) {
  return reduce_to(name, from, to, {0, count, type}, {0, count, type}, mpi, request...);
}

template <class Mpi, class... Request>
int exscan(const char* name, const void* from, void* to, MPI_Aint count, MPI_Datatype type, MPI_Op, MPI_Comm comm,
           Mpi mpi, Request... request) {
  return on_staged(
      name,
      [&](Call& call) {
        return stage_exscan(call, from, to, {0, count, type}, comm);
      },
      mpi, request...);
}

}  // namespace plumb::interpose
