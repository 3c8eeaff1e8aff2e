// Non-blocking collectives: MPI's own, on what each rank stages; what arrives goes to the device when the request
// completes.
#include <numeric>

#include "interpose/collective_operands.hpp"
#include "interpose/requests.hpp"

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
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Igatherv(from, send_count, send_type, to, receive_counts, offsets, receive_type, root, comm, request);
  return start_call("MPI_Igatherv", request, [&](Call& call, MPI_Request* inner) {
    const Operands staged = stage_gather(call, {from, send_count, send_type}, to, root, comm,
                                         [&] { return varied_parts(comm, receive_counts, offsets, receive_type); });
    return PMPI_Igatherv(staged.from, send_count, send_type, staged.to, receive_counts, offsets, receive_type, root,
                         comm, inner);
  });
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
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Iscatterv(from, send_counts, offsets, send_type, to, receive_count, receive_type, root, comm, request);
  return start_call("MPI_Iscatterv", request, [&](Call& call, MPI_Request* inner) {
    const Operands staged = stage_scatter(call, from, {to, receive_count, receive_type}, root, comm,
                                          [&] { return varied_parts(comm, send_counts, offsets, send_type); });
    return PMPI_Iscatterv(staged.from, send_counts, offsets, send_type, staged.to, receive_count, receive_type, root,
                          comm, inner);
  });
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
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Iallgatherv(from, send_count, send_type, to, receive_counts, offsets, receive_type, comm, request);
  return start_call("MPI_Iallgatherv", request, [&](Call& call, MPI_Request* inner) {
    const Operands staged = stage_allgather(call, {from, send_count, send_type}, to, comm,
                                            varied_parts(comm, receive_counts, offsets, receive_type));
    return PMPI_Iallgatherv(staged.from, send_count, send_type, staged.to, receive_counts, offsets, receive_type, comm,
                            inner);
  });
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
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Ialltoallv(from, send_counts, send_offsets, send_type, to, receive_counts, receive_offsets,
                           receive_type, comm, request);
  return start_call("MPI_Ialltoallv", request, [&](Call& call, MPI_Request* inner) {
    const Operands staged = stage_alltoall(
        call, from, to, [&] { return varied_parts(comm, send_counts, send_offsets, send_type); },
        varied_parts(comm, receive_counts, receive_offsets, receive_type));
    return PMPI_Ialltoallv(staged.from, send_counts, send_offsets, send_type, staged.to, receive_counts,
                           receive_offsets, receive_type, comm, inner);
  });
}

int MPI_Ialltoallw(const void* from, const int* send_counts, const int* send_offsets, const MPI_Datatype* send_types,
                   void* to, const int* receive_counts, const int* receive_offsets, const MPI_Datatype* receive_types,
                   MPI_Comm comm, MPI_Request* request) {
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Ialltoallw(from, send_counts, send_offsets, send_types, to, receive_counts, receive_offsets,
                           receive_types, comm, request);
  return start_call("MPI_Ialltoallw", request, [&](Call& call, MPI_Request* inner) {
    const Operands staged = stage_alltoall(
        call, from, to, [&] { return typed_parts(comm, send_counts, send_offsets, send_types); },
        typed_parts(comm, receive_counts, receive_offsets, receive_types));
    return PMPI_Ialltoallw(staged.from, send_counts, send_offsets, send_types, staged.to, receive_counts,
                           receive_offsets, receive_types, comm, inner);
  });
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
  if (!is_device(from) && !is_device(to)) [[likely]]
    return PMPI_Ireduce_scatter(from, to, counts, type, op, comm, request);
  return start_call("MPI_Ireduce_scatter", request, [&](Call& call, MPI_Request* inner) {
    const Operands staged =
        stage_reduction(call, from, to, {0, std::accumulate(counts, counts + size_of(comm), MPI_Aint{0}), type},
                        {0, counts[rank_in(comm)], type});
    return PMPI_Ireduce_scatter(staged.from, staged.to, counts, type, op, comm, inner);
  });
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
