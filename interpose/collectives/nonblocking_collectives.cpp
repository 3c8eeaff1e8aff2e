// Non-blocking collectives: MPI's own, on what each rank stages; what arrives goes to the device when the request
// completes.
#include "interpose/collectives/vector_collectives.hpp"

using namespace plumb::interpose;

extern "C" {

int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  if (!is_device(data)) [[likely]]
    return PMPI_Ibcast(data, count, type, root, comm, request);
  return start_call("MPI_Ibcast", request, [&](Call& call, MPI_Request* inner) {
    void* staged = stage_bcast(call, data, count, type, root, comm);
    return PMPI_Ibcast(staged, count, type, root, comm, inner);
  });
}

int MPI_Igather(const void* from, int send_count, MPI_Datatype send_type, void* to, int receive_count,
                MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request* request) {
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Igather(from, send_count, send_type, to, receive_count, receive_type, root, comm, request);
  return start_call("MPI_Igather", request, [&](Call& call, MPI_Request* inner) {
    const Operands staged = stage_gather(call, {from, send_count, send_type}, to, root, comm,
                                         [&] { return equal_parts(comm, receive_count, receive_type); });
    return PMPI_Igather(staged.from, send_count, send_type, staged.to, receive_count, receive_type, root, comm, inner);
  });
}

int MPI_Igatherv(const void* from, int send_count, MPI_Datatype send_type, void* to, const int* receive_counts,
                 const int* offsets, MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request* request) {
  return gatherv_by<PMPI_Igatherv>("MPI_Igatherv", from, send_count, send_type, to, receive_counts, offsets,
                                   receive_type, root, comm, request);
}

int MPI_Iscatter(const void* from, int send_count, MPI_Datatype send_type, void* to, int receive_count,
                 MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request* request) {
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Iscatter(from, send_count, send_type, to, receive_count, receive_type, root, comm, request);
  return start_call("MPI_Iscatter", request, [&](Call& call, MPI_Request* inner) {
    const Operands staged = stage_scatter(call, from, {to, receive_count, receive_type}, root, comm,
                                          [&] { return equal_parts(comm, send_count, send_type); });
    return PMPI_Iscatter(staged.from, send_count, send_type, staged.to, receive_count, receive_type, root, comm, inner);
  });
}

int MPI_Iscatterv(const void* from, const int* send_counts, const int* offsets, MPI_Datatype send_type, void* to,
                  int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request* request) {
  return scatterv_by<PMPI_Iscatterv>("MPI_Iscatterv", from, send_counts, offsets, send_type, to, receive_count,
                                     receive_type, root, comm, request);
}

int MPI_Iallgather(const void* from, int send_count, MPI_Datatype send_type, void* to, int receive_count,
                   MPI_Datatype receive_type, MPI_Comm comm, MPI_Request* request) {
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Iallgather(from, send_count, send_type, to, receive_count, receive_type, comm, request);
  return start_call("MPI_Iallgather", request, [&](Call& call, MPI_Request* inner) {
    const Operands staged =
        stage_allgather(call, {from, send_count, send_type}, to, comm, equal_parts(comm, receive_count, receive_type));
    return PMPI_Iallgather(staged.from, send_count, send_type, staged.to, receive_count, receive_type, comm, inner);
  });
}

int MPI_Iallgatherv(const void* from, int send_count, MPI_Datatype send_type, void* to, const int* receive_counts,
                    const int* offsets, MPI_Datatype receive_type, MPI_Comm comm, MPI_Request* request) {
  return allgatherv_by<PMPI_Iallgatherv>("MPI_Iallgatherv", from, send_count, send_type, to, receive_counts, offsets,
                                         receive_type, comm, request);
}

int MPI_Ialltoall(const void* from, int send_count, MPI_Datatype send_type, void* to, int receive_count,
                  MPI_Datatype receive_type, MPI_Comm comm, MPI_Request* request) {
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Ialltoall(from, send_count, send_type, to, receive_count, receive_type, comm, request);
  return start_call("MPI_Ialltoall", request, [&](Call& call, MPI_Request* inner) {
    const Operands staged = stage_alltoall(
        call, from, to, [&] { return equal_parts(comm, send_count, send_type); },
        equal_parts(comm, receive_count, receive_type));
    return PMPI_Ialltoall(staged.from, send_count, send_type, staged.to, receive_count, receive_type, comm, inner);
  });
}

int MPI_Ialltoallv(const void* from, const int* send_counts, const int* send_offsets, MPI_Datatype send_type, void* to,
                   const int* receive_counts, const int* receive_offsets, MPI_Datatype receive_type, MPI_Comm comm,
                   MPI_Request* request) {
  return alltoallv_by<PMPI_Ialltoallv>("MPI_Ialltoallv", from, send_counts, send_offsets, send_type, to, receive_counts,
                                       receive_offsets, receive_type, comm, request);
}

int MPI_Ialltoallw(const void* from, const int* send_counts, const int* send_offsets, const MPI_Datatype* send_types,
                   void* to, const int* receive_counts, const int* receive_offsets, const MPI_Datatype* receive_types,
                   MPI_Comm comm, MPI_Request* request) {
  return alltoallw_by<PMPI_Ialltoallw>("MPI_Ialltoallw", from, send_counts, send_offsets, send_types, to,
                                       receive_counts, receive_offsets, receive_types, comm, request);
}

int MPI_Ireduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                MPI_Request* request) {
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Ireduce(from, to, count, type, op, root, comm, request);
  return start_call("MPI_Ireduce", request, [&](Call& call, MPI_Request* inner) {
    const Operands staged = stage_reduce(call, from, to, count, type, root, comm);
    return PMPI_Ireduce(staged.from, staged.to, count, type, op, root, comm, inner);
  });
}

int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Iallreduce(from, to, count, type, op, comm, request);
  return start_call("MPI_Iallreduce", request, [&](Call& call, MPI_Request* inner) {
    const Operands staged = stage_reduction(call, from, to, {0, count, type}, {0, count, type});
    return PMPI_Iallreduce(staged.from, staged.to, count, type, op, comm, inner);
  });
}

int MPI_Ireduce_scatter(const void* from, void* to, const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                        MPI_Request* request) {
  return reduce_scatter_by<PMPI_Ireduce_scatter>("MPI_Ireduce_scatter", from, to, counts, type, op, comm, request);
}

int MPI_Ireduce_scatter_block(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                              MPI_Request* request) {
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Ireduce_scatter_block(from, to, count, type, op, comm, request);
  return start_call("MPI_Ireduce_scatter_block", request, [&](Call& call, MPI_Request* inner) {
    const Operands staged =
        stage_reduction(call, from, to, {0, MPI_Aint{count} * size_of(comm), type}, {0, count, type});
    return PMPI_Ireduce_scatter_block(staged.from, staged.to, count, type, op, comm, inner);
  });
}

int MPI_Iscan(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
              MPI_Request* request) {
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Iscan(from, to, count, type, op, comm, request);
  return start_call("MPI_Iscan", request, [&](Call& call, MPI_Request* inner) {
    const Operands staged = stage_reduction(call, from, to, {0, count, type}, {0, count, type});
    return PMPI_Iscan(staged.from, staged.to, count, type, op, comm, inner);
  });
}

int MPI_Iexscan(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                MPI_Request* request) {
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Iexscan(from, to, count, type, op, comm, request);
  return start_call("MPI_Iexscan", request, [&](Call& call, MPI_Request* inner) {
    const Operands staged = stage_exscan(call, from, to, {0, count, type}, comm);
    return PMPI_Iexscan(staged.from, staged.to, count, type, op, comm, inner);
  });
}

}  // extern "C"
