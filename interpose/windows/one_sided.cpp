#include "interpose/windows/one_sided.hpp"

using namespace plumb::interpose;

extern "C" {

int MPI_Put(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint at, int target_count,
            MPI_Datatype target_type, MPI_Win window) {
  return put_by<PMPI_Put>("MPI_Put", origin, count, type, rank, at, target_count, target_type, window);
}

int MPI_Get(void* origin, int count, MPI_Datatype type, int rank, MPI_Aint at, int target_count,
            MPI_Datatype target_type, MPI_Win window) {
  return get_by<PMPI_Get>("MPI_Get", origin, count, type, rank, at, target_count, target_type, window);
}

int MPI_Accumulate(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint at, int target_count,
                   MPI_Datatype target_type, MPI_Op op, MPI_Win window) {
  return accumulate_by<PMPI_Accumulate>("MPI_Accumulate", origin, count, type, rank, at, target_count, target_type, op,
                                        window);
}

int MPI_Get_accumulate(const void* origin, int count, MPI_Datatype type, void* result, int result_count,
                       MPI_Datatype result_type, int rank, MPI_Aint at, int target_count, MPI_Datatype target_type,
                       MPI_Op op, MPI_Win window) {
  return get_accumulate_by<PMPI_Get_accumulate>("MPI_Get_accumulate", origin, count, type, result, result_count,
                                                result_type, rank, at, target_count, target_type, op, window);
}

int MPI_Fetch_and_op(const void* origin, void* result, MPI_Datatype type, int rank, MPI_Aint at, MPI_Op op,
                     MPI_Win window) {
  if (!is_device(origin) && !is_device(result)) [[likely]]
    return PMPI_Fetch_and_op(origin, result, type, rank, at, op, window);
  return start_on_window("MPI_Fetch_and_op", rank, window, [&](Call& call) {
    const void* staged = stage_origin(call, origin, 1, type, op);
    return PMPI_Fetch_and_op(staged, call.out(result, 1, type), type, rank, at, op, window);
  });
}

int MPI_Compare_and_swap(const void* origin, const void* compared, void* result, MPI_Datatype type, int rank,
                         MPI_Aint at, MPI_Win window) {
  if (!is_device(origin) && !is_device(compared) && !is_device(result)) [[likely]]
    return PMPI_Compare_and_swap(origin, compared, result, type, rank, at, window);
  return start_on_window("MPI_Compare_and_swap", rank, window, [&](Call& call) {
    const void* staged = call.in(origin, 1, type);
    const void* staged_compared = call.in(compared, 1, type);
    return PMPI_Compare_and_swap(staged, staged_compared, call.out(result, 1, type), type, rank, at, window);
  });
}

int MPI_Rput(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint at, int target_count,
             MPI_Datatype target_type, MPI_Win window, MPI_Request* request) {
  return request_put_by<PMPI_Rput>("MPI_Rput", origin, count, type, rank, at, target_count, target_type, window,
                                   request);
}

int MPI_Rget(void* origin, int count, MPI_Datatype type, int rank, MPI_Aint at, int target_count,
             MPI_Datatype target_type, MPI_Win window, MPI_Request* request) {
  return request_get_by<PMPI_Rget>("MPI_Rget", origin, count, type, rank, at, target_count, target_type, window,
                                   request);
}

int MPI_Raccumulate(const void* origin, int count, MPI_Datatype type, int rank, MPI_Aint at, int target_count,
                    MPI_Datatype target_type, MPI_Op op, MPI_Win window, MPI_Request* request) {
  return request_accumulate_by<PMPI_Raccumulate>("MPI_Raccumulate", origin, count, type, rank, at, target_count,
                                                 target_type, op, window, request);
}

int MPI_Rget_accumulate(const void* origin, int count, MPI_Datatype type, void* result, int result_count,
                        MPI_Datatype result_type, int rank, MPI_Aint at, int target_count, MPI_Datatype target_type,
                        MPI_Op op, MPI_Win window, MPI_Request* request) {
  return request_get_accumulate_by<PMPI_Rget_accumulate>("MPI_Rget_accumulate", origin, count, type, result,
                                                         result_count, result_type, rank, at, target_count, target_type,
                                                         op, window, request);
}

}  // extern "C"
