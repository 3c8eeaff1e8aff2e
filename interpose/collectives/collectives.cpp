// Blocking collectives: MPI's own, on what each rank stages.
#include "interpose/collectives/vector_collectives.hpp"

using namespace plumb::interpose;

extern "C" {

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  if (offers_on) {
    const auto code = or_abort("MPI_Bcast", [&]() -> std::optional<int> {
      return exchange_on_devices(data, nullptr, bytes_of(count, type), comm, [&] {
        return bcast_blocks(data, {0, count, type}, root, comm);
      });
    });
    if (code) return *code;
  }
  if (!is_device(data)) [[likely]]
    return PMPI_Bcast(data, count, type, root, comm);
  return run_call("MPI_Bcast", [&](Call& call) {
    void* staged = stage_bcast(call, data, count, type, root, comm);
    return PMPI_Bcast(staged, count, type, root, comm);
  });
}

int MPI_Gather(const void* from, int send_count, MPI_Datatype send_type, void* to, int receive_count,
               MPI_Datatype receive_type, int root, MPI_Comm comm) {
  if (offers_on) {
    const auto code = or_abort("MPI_Gather", [&]() -> std::optional<int> {
      const bool is_root = rank_in(comm) == root;
      const std::size_t bytes = is_root ? bytes_of(receive_count, receive_type) : bytes_of(send_count, send_type);
      return exchange_on_devices(from, to, bytes, comm, [&] {
        return gather_blocks({from, send_count, send_type}, to, root, comm,
                             [&] { return equal_parts(comm, receive_count, receive_type); });
      });
    });
    if (code) return *code;
  }
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Gather(from, send_count, send_type, to, receive_count, receive_type, root, comm);
  return run_call("MPI_Gather", [&](Call& call) {
    const Operands staged = stage_gather(call, {from, send_count, send_type}, to, root, comm,
                                         [&] { return equal_parts(comm, receive_count, receive_type); });
    return PMPI_Gather(staged.from, send_count, send_type, staged.to, receive_count, receive_type, root, comm);
  });
}

int MPI_Gatherv(const void* from, int send_count, MPI_Datatype send_type, void* to, const int* receive_counts,
                const int* offsets, MPI_Datatype receive_type, int root, MPI_Comm comm) {
  return gatherv_by<PMPI_Gatherv>("MPI_Gatherv", from, send_count, send_type, to, receive_counts, offsets, receive_type,
                                  root, comm);
}

int MPI_Scatter(const void* from, int send_count, MPI_Datatype send_type, void* to, int receive_count,
                MPI_Datatype receive_type, int root, MPI_Comm comm) {
  if (offers_on) {
    const auto code = or_abort("MPI_Scatter", [&]() -> std::optional<int> {
      const bool is_root = rank_in(comm) == root;
      const std::size_t bytes = is_root ? bytes_of(send_count, send_type) : bytes_of(receive_count, receive_type);
      return exchange_on_devices(from, to, bytes, comm, [&] {
        return scatter_blocks(from, {to, receive_count, receive_type}, root, comm,
                              [&] { return equal_parts(comm, send_count, send_type); });
      });
    });
    if (code) return *code;
  }
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Scatter(from, send_count, send_type, to, receive_count, receive_type, root, comm);
  return run_call("MPI_Scatter", [&](Call& call) {
    const Operands staged = stage_scatter(call, from, {to, receive_count, receive_type}, root, comm,
                                          [&] { return equal_parts(comm, send_count, send_type); });
    return PMPI_Scatter(staged.from, send_count, send_type, staged.to, receive_count, receive_type, root, comm);
  });
}

int MPI_Scatterv(const void* from, const int* send_counts, const int* offsets, MPI_Datatype send_type, void* to,
                 int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm) {
  return scatterv_by<PMPI_Scatterv>("MPI_Scatterv", from, send_counts, offsets, send_type, to, receive_count,
                                    receive_type, root, comm);
}

int MPI_Allgather(const void* from, int send_count, MPI_Datatype send_type, void* to, int receive_count,
                  MPI_Datatype receive_type, MPI_Comm comm) {
  if (offers_on) {
    const auto code = or_abort("MPI_Allgather", [&]() -> std::optional<int> {
      return exchange_on_devices(from, to, bytes_of(receive_count, receive_type), comm, [&] {
        return allgather_blocks({from, send_count, send_type}, to, equal_parts(comm, receive_count, receive_type),
                                comm);
      });
    });
    if (code) return *code;
  }
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Allgather(from, send_count, send_type, to, receive_count, receive_type, comm);
  return run_call("MPI_Allgather", [&](Call& call) {
    const Operands staged =
        stage_allgather(call, {from, send_count, send_type}, to, comm, equal_parts(comm, receive_count, receive_type));
    return PMPI_Allgather(staged.from, send_count, send_type, staged.to, receive_count, receive_type, comm);
  });
}

int MPI_Allgatherv(const void* from, int send_count, MPI_Datatype send_type, void* to, const int* receive_counts,
                   const int* offsets, MPI_Datatype receive_type, MPI_Comm comm) {
  return allgatherv_by<PMPI_Allgatherv>("MPI_Allgatherv", from, send_count, send_type, to, receive_counts, offsets,
                                        receive_type, comm);
}

int MPI_Alltoall(const void* from, int send_count, MPI_Datatype send_type, void* to, int receive_count,
                 MPI_Datatype receive_type, MPI_Comm comm) {
  if (offers_on) {
    const auto code = or_abort("MPI_Alltoall", [&]() -> std::optional<int> {
      if (from == MPI_IN_PLACE) return {};
      return exchange_on_devices(from, to, bytes_of(receive_count, receive_type), comm, [&] {
        return Blocks{from, equal_parts(comm, send_count, send_type), to,
                      equal_parts(comm, receive_count, receive_type)};
      });
    });
    if (code) return *code;
  }
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Alltoall(from, send_count, send_type, to, receive_count, receive_type, comm);
  return run_call("MPI_Alltoall", [&](Call& call) {
    const Operands staged = stage_alltoall(
        call, from, to, [&] { return equal_parts(comm, send_count, send_type); },
        equal_parts(comm, receive_count, receive_type));
    return PMPI_Alltoall(staged.from, send_count, send_type, staged.to, receive_count, receive_type, comm);
  });
}

int MPI_Alltoallv(const void* from, const int* send_counts, const int* send_offsets, MPI_Datatype send_type, void* to,
                  const int* receive_counts, const int* receive_offsets, MPI_Datatype receive_type, MPI_Comm comm) {
  return alltoallv_by<PMPI_Alltoallv>("MPI_Alltoallv", from, send_counts, send_offsets, send_type, to, receive_counts,
                                      receive_offsets, receive_type, comm);
}

int MPI_Alltoallw(const void* from, const int* send_counts, const int* send_offsets, const MPI_Datatype* send_types,
                  void* to, const int* receive_counts, const int* receive_offsets, const MPI_Datatype* receive_types,
                  MPI_Comm comm) {
  return alltoallw_by<PMPI_Alltoallw>("MPI_Alltoallw", from, send_counts, send_offsets, send_types, to, receive_counts,
                                      receive_offsets, receive_types, comm);
}

int MPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  if (offers_on) {
    const auto code = or_abort("MPI_Reduce", [&] { return reduce_on_devices(from, to, count, type, op, root, comm); });
    if (code) return *code;
  }
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Reduce(from, to, count, type, op, root, comm);
  return run_call("MPI_Reduce", [&](Call& call) {
    const Operands staged = stage_reduce(call, from, to, count, type, root, comm);
    return PMPI_Reduce(staged.from, staged.to, count, type, op, root, comm);
  });
}

int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (offers_on) {
    const auto code =
        or_abort("MPI_Allreduce", [&] { return reduce_on_devices(from, to, count, type, op, everyone, comm); });
    if (code) return *code;
  }
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Allreduce(from, to, count, type, op, comm);
  return run_call("MPI_Allreduce", [&](Call& call) {
    const Operands staged = stage_reduction(call, from, to, {0, count, type}, {0, count, type});
    return PMPI_Allreduce(staged.from, staged.to, count, type, op, comm);
  });
}

int MPI_Reduce_scatter(const void* from, void* to, const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return reduce_scatter_by<PMPI_Reduce_scatter>("MPI_Reduce_scatter", from, to, counts, type, op, comm);
}

int MPI_Reduce_scatter_block(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (offers_on) {
    const auto code = or_abort("MPI_Reduce_scatter_block", [&] {
      return reduce_scatter_on_devices(from, to, std::vector<int>(static_cast<std::size_t>(size_of(comm)), count), type,
                                       op, comm);
    });
    if (code) return *code;
  }
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Reduce_scatter_block(from, to, count, type, op, comm);
  return run_call("MPI_Reduce_scatter_block", [&](Call& call) {
    const Operands staged =
        stage_reduction(call, from, to, {0, MPI_Aint{count} * size_of(comm), type}, {0, count, type});
    return PMPI_Reduce_scatter_block(staged.from, staged.to, count, type, op, comm);
  });
}

int MPI_Scan(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Scan(from, to, count, type, op, comm);
  return run_call("MPI_Scan", [&](Call& call) {
    const Operands staged = stage_reduction(call, from, to, {0, count, type}, {0, count, type});
    return PMPI_Scan(staged.from, staged.to, count, type, op, comm);
  });
}

int MPI_Exscan(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Exscan(from, to, count, type, op, comm);
  return run_call("MPI_Exscan", [&](Call& call) {
    const Operands staged = stage_exscan(call, from, to, {0, count, type}, comm);
    return PMPI_Exscan(staged.from, staged.to, count, type, op, comm);
  });
}

}  // extern "C"
