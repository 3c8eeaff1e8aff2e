// The kernel that computes a part of C, in OpenCL C and for runtime native.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/scalar.hpp"
#include "device/device.hpp"

namespace plumb::ptrans {

// Kernel "transpose": (buffer from, buffer b, buffer c, buffer table, uint64 from_at, uint64 b_at, uint64 c_at, uint64
// tiles), defined in gpu.cl, where a group computes a tile, and cpu.cl, where a work item computes a strip of tiles; as
// one work item (HLS C++) the last is the number of blocks. `tile` is the edge of a tile; `blocks` of the table are
// computed.
struct KernelForm {
  enum class Kind { gpu, cpu, one_item };

  ScalarType type = ScalarType::f32;
  Kind kind = Kind::gpu;
  std::size_t tile = 32, items = 256;

  KernelSource source() const;
  std::string name() const { return kind == Kind::cpu ? "cpu" : kind == Kind::gpu ? "gpu" : "single_work_item"; }
  std::uint64_t tiles(std::uint64_t block) const { return (block + tile - 1) / tile; }
  std::uint64_t last_argument(std::uint64_t blocks, std::uint64_t block) const {
    return kind == Kind::one_item ? blocks : tiles(block);
  }
  KernelRange range(std::uint64_t blocks, std::uint64_t block) const {
    if (kind == Kind::one_item) return {1, 1};
    if (kind == Kind::cpu) return {blocks * tiles(block), 1};
    return {blocks * tiles(block) * tiles(block) * items, items};
  }
};

// `kernel`: cpu, gpu or default (by device).
KernelForm kernel_form(const DeviceInfo& device, ScalarType type, const std::string& kernel);

// The compiler's options of the form for boards, for --type.
std::string board_options(const std::string& type);

// For runtime native; the range's global size is (blocks of the table) * tiles * tiles * items of the form.
std::vector<std::pair<std::string, KernelSource::NativeKernel>> native_kernels(const KernelForm& form);

}  // namespace plumb::ptrans
