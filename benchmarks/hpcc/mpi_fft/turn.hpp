// turn.cl: its build options, and its form for runtime `native`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/scalar.hpp"
#include "device/device.hpp"

namespace plumb::mpi_fft {

inline constexpr std::size_t side_of_tile = 16, group_items = 256;

std::vector<std::pair<std::string, KernelSource::NativeKernel>> native_kernels(ScalarType type);

}  // namespace plumb::mpi_fft
