// What each runtime calls the memory behind an address. The one place of this room that knows runtimes.
#pragma once

#include <cstddef>
#include <memory>

#include "interpose/memory/devices.hpp"

struct _cl_mem;  // NOLINT(bugprone-reserved-identifier): OpenCL's own

namespace plumb::interpose {

// A program's own OpenCL buffer, retained, on its context's first device. Throws Error when it is smaller, or none.
std::shared_ptr<DeviceMemory> wrap_memory(_cl_mem* memory, std::size_t size);
// Throws Error for a buffer of another runtime, or of kind svm, which has none.
_cl_mem* memory_object(const Buffer& buffer);
// Throws Error for runtime opencl, whose kernels know memory objects only.
std::byte* device_pointer(const DeviceMemory& memory);

}  // namespace plumb::interpose
