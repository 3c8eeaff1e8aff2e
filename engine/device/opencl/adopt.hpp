// Wraps OpenCL memory of the calling program, in its own context, as a device's buffer.
#pragma once

#include "device/device.hpp"
#include "device/opencl/status.hpp"

namespace plumb::opencl {

// The buffer must be destroyed before its device.
struct Adopted {
  std::unique_ptr<Device> device;  // first device of the memory's context
  std::unique_ptr<Buffer> buffer;  // first `size` bytes of the memory object, retained
};

// Throws Error if `memory` is not a memory object, or is smaller.
Adopted adopt(cl_mem memory, std::size_t size);

}  // namespace plumb::opencl
