// Puts, gets and accumulates with operands on a device. Their results go to the device when the call completes at its
// origin: by the synchronisation of the window, or by its request. At the target they are MPI's own, on the host's
// copy.
#pragma once

#include "interpose/windows/window.hpp"

namespace plumb::interpose {

// work(call) stages the operands and returns the code of MPI's function. A call to MPI_PROC_NULL does nothing.
template <class Work>
int on_window(const char* name, int rank, MPI_Win handle, Work&& work) {
  return or_abort(name, [&] {
    auto call = std::make_shared<Call>(name);
    const int code = work(*call);
    if (code == MPI_SUCCESS && rank != MPI_PROC_NULL) any_window(handle)->start(rank, std::move(call));
    return code;
  });
}

// The same with a request: work(call, inner).
template <class Work>
int on_window(const char* name, int rank, MPI_Win handle, Work&& work, MPI_Request* handle_of_request) {
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

// MPI_NO_OP reads nothing of its origin, which may be an invalid buffer.
inline const void* stage_origin(Call& call, const void* origin, MPI_Aint count, MPI_Datatype type, MPI_Op op) {
  return call.in(origin, op == MPI_NO_OP ? 0 : count, type);
}

}  // namespace plumb::interpose
