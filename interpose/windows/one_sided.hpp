// Puts, gets and accumulates whose operands may lie on a device. What they bring goes there when the call completes at
// its origin: by the window's synchronisation, or by its request. What they do at the target is MPI's, on the host's
// copy there.
#pragma once

#include "interpose/windows/window.hpp"

namespace plumb::interpose {

// work(call) stages the operands and returns what PMPI's function did. A call to MPI_PROC_NULL does nothing.
template <class Work>
int start_on_window(const char* name, int rank, MPI_Win handle, Work&& work) {
  return or_abort(name, [&] {
    auto call = std::make_shared<Call>(name);
    const int code = work(*call);
    if (code == MPI_SUCCESS && rank != MPI_PROC_NULL) any_window(handle)->start(rank, std::move(call));
    return code;
  });
}

// The same with a request: work(call, inner).
template <class Work>
int request_on_window(const char* name, int rank, MPI_Win handle, MPI_Request* handle_of_request, Work&& work) {
  return or_abort(name, [&] {
    Request request;
    request.call = std::make_shared<Call>(name);
    request.under_way = true;
    const int code = work(*request.call, &request.inner);
    if (code != MPI_SUCCESS) return code;
    if (rank == MPI_PROC_NULL) {
      *handle_of_request = request.inner;
      return code;
    }
    any_window(handle)->start(rank, request.call);
    *handle_of_request = publish(std::move(request));
    return code;
  });
}

// MPI_NO_OP takes nothing from its origin, which may be no buffer at all.
inline const void* stage_origin(Call& call, const void* origin, MPI_Aint count, MPI_Datatype type, MPI_Op op) {
  return call.in(origin, op == MPI_NO_OP ? 0 : count, type);
}

// Count: int, or MPI_Count (MPI 4).
template <auto put, class Count>
int put_by(const char* name, const void* origin, Count count, MPI_Datatype type, int rank, MPI_Aint at,
           Count target_count, MPI_Datatype target_type, MPI_Win window) {
  if (!is_device(origin)) [[likely]]
    return put(origin, count, type, rank, at, target_count, target_type, window);
  return start_on_window(name, rank, window, [&](Call& call) {
    return put(call.in(origin, count, type), count, type, rank, at, target_count, target_type, window);
  });
}

template <auto get, class Count>
int get_by(const char* name, void* origin, Count count, MPI_Datatype type, int rank, MPI_Aint at, Count target_count,
           MPI_Datatype target_type, MPI_Win window) {
  if (!is_device(origin)) [[likely]]
    return get(origin, count, type, rank, at, target_count, target_type, window);
  return start_on_window(name, rank, window, [&](Call& call) {
    return get(call.out(origin, count, type), count, type, rank, at, target_count, target_type, window);
  });
}

template <auto accumulate, class Count>
int accumulate_by(const char* name, const void* origin, Count count, MPI_Datatype type, int rank, MPI_Aint at,
                  Count target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win window) {
  if (!is_device(origin)) [[likely]]
    return accumulate(origin, count, type, rank, at, target_count, target_type, op, window);
  return start_on_window(name, rank, window, [&](Call& call) {
    const void* staged = stage_origin(call, origin, count, type, op);
    return accumulate(staged, count, type, rank, at, target_count, target_type, op, window);
  });
}

template <auto get_accumulate, class Count>
int get_accumulate_by(const char* name, const void* origin, Count count, MPI_Datatype type, void* result,
                      Count result_count, MPI_Datatype result_type, int rank, MPI_Aint at, Count target_count,
                      MPI_Datatype target_type, MPI_Op op, MPI_Win window) {
  if (!is_device(origin) && !is_device(result)) [[likely]]
    return get_accumulate(origin, count, type, result, result_count, result_type, rank, at, target_count, target_type,
                          op, window);
  return start_on_window(name, rank, window, [&](Call& call) {
    const void* staged = stage_origin(call, origin, count, type, op);
    return get_accumulate(staged, count, type, call.out(result, result_count, result_type), result_count, result_type,
                          rank, at, target_count, target_type, op, window);
  });
}

template <auto put, class Count>
int request_put_by(const char* name, const void* origin, Count count, MPI_Datatype type, int rank, MPI_Aint at,
                   Count target_count, MPI_Datatype target_type, MPI_Win window, MPI_Request* request) {
  if (!is_device(origin)) [[likely]]
    return put(origin, count, type, rank, at, target_count, target_type, window, request);
  return request_on_window(name, rank, window, request, [&](Call& call, MPI_Request* inner) {
    return put(call.in(origin, count, type), count, type, rank, at, target_count, target_type, window, inner);
  });
}

template <auto get, class Count>
int request_get_by(const char* name, void* origin, Count count, MPI_Datatype type, int rank, MPI_Aint at,
                   Count target_count, MPI_Datatype target_type, MPI_Win window, MPI_Request* request) {
  if (!is_device(origin)) [[likely]]
    return get(origin, count, type, rank, at, target_count, target_type, window, request);
  return request_on_window(name, rank, window, request, [&](Call& call, MPI_Request* inner) {
    return get(call.out(origin, count, type), count, type, rank, at, target_count, target_type, window, inner);
  });
}

template <auto accumulate, class Count>
int request_accumulate_by(const char* name, const void* origin, Count count, MPI_Datatype type, int rank, MPI_Aint at,
                          Count target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win window,
                          MPI_Request* request) {
  if (!is_device(origin)) [[likely]]
    return accumulate(origin, count, type, rank, at, target_count, target_type, op, window, request);
  return request_on_window(name, rank, window, request, [&](Call& call, MPI_Request* inner) {
    const void* staged = stage_origin(call, origin, count, type, op);
    return accumulate(staged, count, type, rank, at, target_count, target_type, op, window, inner);
  });
}

template <auto get_accumulate, class Count>
int request_get_accumulate_by(const char* name, const void* origin, Count count, MPI_Datatype type, void* result,
                              Count result_count, MPI_Datatype result_type, int rank, MPI_Aint at, Count target_count,
                              MPI_Datatype target_type, MPI_Op op, MPI_Win window, MPI_Request* request) {
  if (!is_device(origin) && !is_device(result)) [[likely]]
    return get_accumulate(origin, count, type, result, result_count, result_type, rank, at, target_count, target_type,
                          op, window, request);
  return request_on_window(name, rank, window, request, [&](Call& call, MPI_Request* inner) {
    const void* staged = stage_origin(call, origin, count, type, op);
    return get_accumulate(staged, count, type, call.out(result, result_count, result_type), result_count, result_type,
                          rank, at, target_count, target_type, op, window, inner);
  });
}

}  // namespace plumb::interpose
