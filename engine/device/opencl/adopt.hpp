// OpenCL memory that a program has made itself, in a context of its own, as a device's buffer.
#pragma once

#include "device/device.hpp"
#include "device/opencl/status.hpp"

namespace plumb::opencl {

// The buffer goes before its device.
struct Adopted {
  std::unique_ptr<Device> device;  // the first of the memory's context
  std::unique_ptr<Buffer> buffer;  // the first `size` bytes of the memory, which it retains
};

// Throws Error when `memory` is no memory object, or holds less.
Adopted adopt(cl_mem memory, std::size_t size);

}  // namespace plumb::opencl
