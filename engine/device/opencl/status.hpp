// OpenCL's codes, turned into sentences in one place.
#pragma once

#include <string>

#include <CL/opencl.hpp>
#include "core/error.hpp"

namespace plumb::opencl {

// "CL_OUT_OF_RESOURCES"; "an unknown code" for a vendor's own.
std::string status_name(cl_int code);

// action: what could not be done, "allocate 4 KiB". Adds the remedy where one is known.
Error status_error(cl_int code, const std::string& action);

// For calls of the C interface; the sentence is made only when it is needed.
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
