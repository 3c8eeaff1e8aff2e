#include "benchmarks/apps/shallow_water/native.hpp"

#include <algorithm>
#include <variant>

#include "benchmarks/apps/shallow_water/reference.hpp"

namespace plumb::shallow_water {

namespace {

constexpr std::uint32_t worth_sharing =
    2048;  // elements of a launch, so that the cores' start does not cost more than they save
constexpr std::uint32_t block = 256;  // elements that a core takes at once

double real_at(std::span<const KernelArgument> arguments, std::size_t index) {
  if (const auto* single = std::get_if<float>(&arguments[index])) return *single;
  return std::get<double>(arguments[index]);
}

std::uint32_t count_at(std::span<const KernelArgument> arguments, std::size_t index) {
  return std::get<std::uint32_t>(arguments[index]);
}

void stage(StageFunction function, StageArguments a, std::span<const KernelArgument> arguments) {
  a.from = host_pointer(arguments[0]);
  a.base = host_pointer(arguments[1]);
  a.to = host_pointer(arguments[2]);
  a.neighbours = host_pointer(arguments[3]);
  a.geometry = host_pointer(arguments[4]);
  a.bed = host_pointer(arguments[5]);
  a.given = host_pointer(arguments[6]);
  a.dry = host_pointer(arguments[7]);
  const std::uint32_t first = count_at(arguments, 8), count = count_at(arguments, 9);
  a.stride = count_at(arguments, 10);
  a.step = std::get<std::int32_t>(arguments[11]);
  double* const reals[] = {&a.base_share, &a.share,    &a.time_step, &a.sea,
                           &a.gravity,    &a.coriolis, &a.friction,  &a.minimum};
  for (std::size_t i = 0; i < std::size(reals); ++i) *reals[i] = real_at(arguments, 12 + i);
#pragma omp parallel for schedule(static) firstprivate(a) if (count >= worth_sharing)
  for (std::uint32_t done = 0; done < count; done += block) {
    a.first = first + done;
    a.count = std::min(block, count - done);
    function(a);
  }
}

// Where a state has a component of an element: in fours.
std::size_t place_of(std::size_t component, std::size_t element, std::size_t stride) {
  return (component / 4 * stride + element) * 4 + component % 4;
}

template <class T>
void pack(std::uint32_t components, std::span<const KernelArgument> arguments) {
  const auto* from = reinterpret_cast<const T*>(host_pointer(arguments[0]));
  const auto* elements = reinterpret_cast<const std::int32_t*>(host_pointer(arguments[1]));
  auto* message = reinterpret_cast<T*>(host_pointer(arguments[2]));
  const std::uint32_t count = count_at(arguments, 3), stride = count_at(arguments, 4);
  for (std::uint32_t i = 0; i < count; ++i)
    for (std::uint32_t c = 0; c < components; ++c)
      message[i * components + c] = from[place_of(c, static_cast<std::uint32_t>(elements[i]), stride)];
}

template <class T>
void unpack(std::uint32_t components, std::span<const KernelArgument> arguments) {
  const auto* message = reinterpret_cast<const T*>(host_pointer(arguments[0]));
  auto* to = reinterpret_cast<T*>(host_pointer(arguments[1]));
  const std::uint32_t first = count_at(arguments, 2), count = count_at(arguments, 3), stride = count_at(arguments, 4);
  for (std::uint32_t i = 0; i < count; ++i)
    for (std::uint32_t c = 0; c < components; ++c) to[place_of(c, first + i, stride)] = message[i * components + c];
}

}  // namespace

std::vector<std::pair<std::string, KernelSource::NativeKernel>> native_kernels(ScalarType type, int order,
                                                                               int friction_kind, bool is_given) {
  StageFunction function = avx512_stage(type, order);
  if (function == nullptr) function = avx2_stage(type, order);
  if (function == nullptr) function = baseline_stage(type, order);
  StageArguments fixed;
  fixed.friction_kind = friction_kind;
  fixed.is_given = is_given;
  const auto components = static_cast<std::uint32_t>(fields * basis_of(order));
  const bool single = type == ScalarType::f32;
  const auto packs = single ? pack<float> : pack<double>;
  const auto unpacks = single ? unpack<float> : unpack<double>;
  return {{"stage", [=](auto arguments, const KernelRange&) { stage(function, fixed, arguments); }},
          {"pack", [=](auto arguments, const KernelRange&) { packs(components, arguments); }},
          {"unpack", [=](auto arguments, const KernelRange&) { unpacks(components, arguments); }}};
}

}  // namespace plumb::shallow_water
