#include "transport/patterns/combine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "core/embedded.hpp"

namespace plumb {

namespace {

constexpr std::uint64_t items_at_most = 1u << 16;

template <class T>
void combine_numbers(std::span<const KernelArgument> arguments, T (*both)(T, T)) {
  T* into = reinterpret_cast<T*>(std::get<const Buffer*>(arguments[0])->host_pointer()) +
            std::get<std::uint64_t>(arguments[1]);
  const T* from = reinterpret_cast<const T*>(std::get<const Buffer*>(arguments[2])->host_pointer());
  const std::uint64_t count = std::get<std::uint64_t>(arguments[3]);
  for (std::uint64_t i = 0; i < count; ++i) into[i] = both(into[i], from[i]);
}

template <class T>
T wrapping_sum(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
  else
    return a + b;
}

template <class T>
KernelSource::NativeKernel native_combine(Operation operation) {
  T (*both)(T, T) = wrapping_sum<T>;
  if (operation == Operation::maximum) both = [](T a, T b) { return std::max(a, b); };
  if (operation == Operation::minimum) both = [](T a, T b) { return std::min(a, b); };
  return [both](std::span<const KernelArgument> arguments, const KernelRange&) { combine_numbers<T>(arguments, both); };
}

}  // namespace

std::size_t size_of(NumberType type) {
  return type == NumberType::int32 || type == NumberType::f32 ? 4 : 8;
}

bool has_numbers(const DeviceInfo& info, NumberType type) {
  return type != NumberType::f64 || info.runtime != "opencl" || info.has(Feature::fp64);
}

KernelSource combine_source(NumberType type, Operation operation) {
  const char* number = "int";
  KernelSource::NativeKernel on_host = native_combine<std::int32_t>(operation);
  if (type == NumberType::int64) number = "long", on_host = native_combine<std::int64_t>(operation);
  if (type == NumberType::f32) number = "float", on_host = native_combine<float>(operation);
  if (type == NumberType::f64) number = "double", on_host = native_combine<double>(operation);
  KernelSource source{"reduction.cl", embedded_text("engine/transport/patterns/reduction.cl"),
                      fmt::format("-DNUMBER={} -DOPERATION={}", number, static_cast<int>(operation))};
  source.native = {{"combine", on_host}};
  return source;
}

KernelRange combine_range(std::uint64_t count) {
  return {std::min(count, items_at_most), 0};
}

}  // namespace plumb
