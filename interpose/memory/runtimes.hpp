// The memory of an address in each runtime's own form. The only file of interpose/ that depends on runtimes.
#pragma once

#include <cstddef>
#include <memory>

#include "interpose/memory/devices.hpp"

struct _cl_mem;  // NOLINT(bugprone-reserved-identifier): OpenCL's own

namespace plumb::interpose {

// An OpenCL buffer of the program, retained, on the first device of its context. Throws Error if it is smaller than
// `size` or not a buffer.
std::shared_ptr<DeviceMemory> wrap_memory(_cl_mem* memory, std::size_t size);
// Throws Error for a buffer of another runtime or of kind svm, which have no memory object.
_cl_mem* memory_object(const Buffer& buffer);
// Throws Error for runtime opencl, whose kernels take memory objects only (but for svm).
std::byte* device_pointer(const DeviceMemory& memory);

}  // namespace plumb::interpose
