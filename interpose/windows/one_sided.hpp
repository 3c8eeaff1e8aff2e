// Puts, gets and accumulates whose operands may lie on a device. What they bring goes there when the call completes at
// its origin: by the window's synchronisation, or by its request. What they do at the target is MPI's, on the host's
// copy there.
#pragma once

#include "interpose/windows/window.hpp"

namespace plumb::interpose {

// work(call) stages the operands and returns what PMPI's function did. A call to MPI_PROC_NULL does nothing.
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

// MPI_NO_OP takes nothing from its origin, which may be no buffer at all.
inline const void* stage_origin(Call& call, const void* origin, MPI_Aint count, MPI_Datatype type, MPI_Op op) {
  return call.in(origin, op == MPI_NO_OP ? 0 : count, type);
}

}  // namespace plumb::interpose
