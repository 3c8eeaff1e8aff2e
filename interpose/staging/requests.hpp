// Requests of calls with operands on a device. Their handles are values that MPI never uses, so that a comparison tells
// them from MPI's own: addresses of a reserved range where MPI_Request is a pointer (Open MPI); where it is an int
// (MPICH), handles of the invalid kind (two highest bits 0) other than MPI_REQUEST_NULL.
#pragma once

#include <mpi.h>

#include <limits>
#include <memory>
#include <type_traits>

#include "interpose/staging/call.hpp"

namespace plumb::interpose {

struct Request {
  std::shared_ptr<Call> call;                // shared with the window of a one-sided call
  MPI_Request inner = MPI_REQUEST_NULL;      // MPI's own, on the staging memory
  MPI_Request set_aside = MPI_REQUEST_NULL;  // persistent one, while a probed message replaces it
  bool persistent = false;
  bool under_way = false;  // received data is not on the device yet
  bool receives = false;
};

constexpr std::uint32_t request_kind = 0x2d000000, request_kind_bits = 0xff000000;

template <class Handle>
bool is_own_handle(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>)
    return request_addresses.has(reinterpret_cast<std::uintptr_t>(handle));
  else
    return (static_cast<std::uint32_t>(handle) & request_kind_bits) == request_kind;
}

inline bool is_own(MPI_Request request) {
  return is_own_handle(request);
}

// Fortran's handle of a request: the C handle where that is an int, else an integer below all of MPI's.
constexpr MPI_Fint first_integer = std::numeric_limits<MPI_Fint>::min(), integers = MPI_Fint{1} << 20;

inline bool is_own_integer(MPI_Fint integer) {
  if constexpr (std::is_pointer_v<MPI_Request>)
    return integer < first_integer + integers;
  else
    return is_own_handle(integer);
}

MPI_Fint integer_of(MPI_Request own);
MPI_Request request_of(MPI_Fint own);

// A handle for `request`. Throws Error when there are more than a million.
MPI_Request publish(Request request);
// Throws Error if the request is already completed or freed.
Request& own_request(MPI_Request handle);
// Destroys the request of a handle.
void retire(MPI_Request handle);

// A non-blocking call: work(call, inner) stages its operands and returns the code of MPI's function.
template <class Work>
int start_call(const char* name, MPI_Request* handle, Work&& work, Receipt receipt = Receipt::all) {
  return or_abort(name, [&] {
    Request request;
    request.call = std::make_shared<Call>(name, receipt);
    request.under_way = true;
    request.receives = receipt == Receipt::counted;
    const int code = work(*request.call, &request.inner);
    if (code == MPI_SUCCESS) request.call->carry_on();
    if (code == MPI_SUCCESS) *handle = publish(std::move(request));
    return code;
  });
}

// The same for a call that creates a persistent request.
template <class Work>
int prepare_call(const char* name, MPI_Request* handle, Work&& work, Receipt receipt = Receipt::all) {
  return or_abort(name, [&] {
    Request request;
    request.call = std::make_shared<Call>(name, receipt, true);
    request.persistent = true;
    request.receives = receipt == Receipt::counted;
    const int code = work(*request.call, &request.inner);
    if (code == MPI_SUCCESS) *handle = publish(std::move(request));
    return code;
  });
}

// start_call() if there is a request, else run_call() of work(call).
template <class Work>
int carry_out(const char* name, Work&& work, MPI_Request* handle) {
  return start_call(name, handle, work);
}
template <class Work>
int carry_out(const char* name, Work&& work) {
  return run_call(name, work);
}

}  // namespace plumb::interpose
