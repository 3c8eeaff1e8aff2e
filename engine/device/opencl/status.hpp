// Messages for OpenCL's error codes.
#pragma once

#include <string>

#include <CL/opencl.hpp>
#include "core/error.hpp"

namespace plumb::opencl {

// "CL_OUT_OF_RESOURCES"; "an unknown code" for vendor codes.
std::string status_name(cl_int code);

// action: the failed operation, "allocate 4 KiB". Appends the remedy if known.
Error status_error(cl_int code, const std::string& action);

// For calls of the C interface; the message is built only on errors.
inline void check(cl_int code, const char* action) {
  if (code != CL_SUCCESS) [[unlikely]]
    throw status_error(code, action);
}

// For calls of the C++ interface.
template <class Call>
decltype(auto) guarded(const std::string& action, Call&& call) {
  try {
    return call();
  } catch (const cl::Error& error) {
    throw status_error(error.err(), action);
  }
}

}  // namespace plumb::opencl
