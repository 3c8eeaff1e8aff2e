// OpenCL C compiled for an NVIDIA GPU by NVRTC (loaded at run time), through the header opencl_c.cuh.
#pragma once

#include <string>

#include "device/device.hpp"

namespace plumb::cuda {

// The machine code (cubin) for a GPU of compute capability major.minor. Throws Unsupported when there is no NVRTC,
// Error with the compiler's log when the source does not compile. `device` is named in messages.
std::string compile(const KernelSource& source, int major, int minor, const std::string& device);

// "" when NVRTC can be loaded, else why not and what to do.
std::string why_no_compiler();

}  // namespace plumb::cuda
