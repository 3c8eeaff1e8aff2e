// shallow_water.cl as functions on the process's cores.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/scalar.hpp"
#include "device/device.hpp"

namespace plumb::shallow_water {

// Arguments of kernel `stage`, in its order; real numbers in double.
struct StageArguments {
  const std::byte *from = nullptr, *base = nullptr;
  std::byte* to = nullptr;
  const std::byte *neighbours = nullptr, *geometry = nullptr, *bed = nullptr, *given = nullptr;
  std::byte* dry = nullptr;
  std::uint32_t first = 0, count = 0, stride = 0;
  std::int32_t step = 0;
  double base_share = 0, share = 0, time_step = 0, sea = 0, gravity = 0, coriolis = 0, friction = 0, minimum = 0;
  int friction_kind = 0;
  bool is_given = false;
};
using StageFunction = void (*)(const StageArguments&);

// Null if the processor or the compiler lacks the instructions.
StageFunction avx512_stage(ScalarType type, int order);
StageFunction avx2_stage(ScalarType type, int order);
StageFunction baseline_stage(ScalarType type, int order);

std::vector<std::pair<std::string, KernelSource::NativeKernel>> native_kernels(ScalarType type, int order,
                                                                               int friction_kind, bool is_given);

}  // namespace plumb::shallow_water
