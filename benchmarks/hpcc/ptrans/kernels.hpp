// The kernel that makes a part of C, in OpenCL C and for runtime native.
#pragma once

#include <utility>
#include <vector>

#include "core/scalar.hpp"
#include "device/device.hpp"

namespace plumb::ptrans {

// Kernel "transpose": (buffer from, buffer b, buffer c, buffer table, uint64 from_at, uint64 b_at, uint64 c_at,
// uint64 tiles); nd_range.cl says what they are. `tile` is the edge of what a group makes; `blocks` of the table are
// made.
struct KernelForm {
  ScalarType type = ScalarType::f32;
  std::size_t tile = 32, items = 256;

  KernelSource source() const;
  std::uint64_t tiles(std::uint64_t block) const { return (block + tile - 1) / tile; }
  KernelRange range(std::uint64_t blocks, std::uint64_t block) const {
    return {blocks * tiles(block) * tiles(block) * items, items};
  }
};

KernelForm kernel_form(const DeviceInfo& device, ScalarType type);

// For runtime native, where the range's global size is (blocks of the table) * tiles * tiles * items of the form.
std::vector<std::pair<std::string, KernelSource::NativeKernel>> native_kernels(const KernelForm& form);

}  // namespace plumb::ptrans
