// Compiles OpenCL C for NVIDIA GPUs by NVRTC (loaded at run time), through the header opencl_c.cuh.
#pragma once

#include <string>

#include "device/device.hpp"

namespace plumb::cuda {

// Returns machine code (cubin) for compute capability major.minor. Throws Unsupported without NVRTC, Error with the
// compiler's log if the source does not compile. `device` is used in messages.
std::string compile(const KernelSource& source, int major, int minor, const std::string& device);

// "" if NVRTC is available, otherwise the reason and a remedy.
std::string why_no_compiler();

}  // namespace plumb::cuda
