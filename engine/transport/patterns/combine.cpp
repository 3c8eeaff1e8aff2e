#include "transport/patterns/combine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "core/embedded.hpp"
#include "transport/idle.hpp"

namespace plumb {

namespace {

// For GPUs. A core executes its items one after the other: items that each span the block would miss the caches.
constexpr std::uint64_t items_at_most = 1u << 16;
constexpr std::uint64_t items_of_group = 256;

// Arguments `at` and `at + 1`: a buffer and an offset in numbers.
template <class T>
T* numbers(std::span<const KernelArgument> arguments, std::size_t at) {
  return reinterpret_cast<T*>(std::get<const Buffer*>(arguments[at])->host_pointer()) +
         std::get<std::uint64_t>(arguments[at + 1]);
}

template <class T, class Combined>
void combine_numbers(std::span<const KernelArgument> arguments) {
  T* into = numbers<T>(arguments, 0);
  const T *a = numbers<T>(arguments, 2), *b = numbers<T>(arguments, 4);
  const std::uint64_t count = std::get<std::uint64_t>(arguments[6]);
#pragma omp simd
  for (std::uint64_t i = 0; i < count; ++i) into[i] = static_cast<T>(Combined{}(a[i], b[i]));
}

// 16-bit integers would be promoted to signed int, whose product may overflow.
template <class T>
auto without_sign(T number) {
  if constexpr (std::is_unsigned_v<T>)
    return number + 0U;
  else
    return number;
}

struct Sum {
  auto operator()(auto a, auto b) const { return without_sign(a) + without_sign(b); }
};
struct Product {
  auto operator()(auto a, auto b) const { return without_sign(a) * without_sign(b); }
};
struct Maximum {
  auto operator()(auto a, auto b) const { return a < b ? b : a; }
};
struct Minimum {
  auto operator()(auto a, auto b) const { return b < a ? b : a; }
};
struct BitAnd {
  auto operator()(auto a, auto b) const { return a & b; }
};
struct BitOr {
  auto operator()(auto a, auto b) const { return a | b; }
};
struct BitXor {
  auto operator()(auto a, auto b) const { return a ^ b; }
};
struct LogicalAnd {
  bool operator()(auto a, auto b) const { return a != 0 && b != 0; }
};
struct LogicalOr {
  bool operator()(auto a, auto b) const { return a != 0 || b != 0; }
};
struct LogicalXor {
  bool operator()(auto a, auto b) const { return (a != 0) != (b != 0); }
};

template <class T, class Combined>
KernelSource::NativeKernel native_kernel() {
  return [](std::span<const KernelArgument> arguments, const KernelRange&) { combine_numbers<T, Combined>(arguments); };
}

// Maxima and minima of any type.
template <class T>
KernelSource::NativeKernel native_extremum(Operation operation) {
  return operation == Operation::maximum ? native_kernel<T, Maximum>() : native_kernel<T, Minimum>();
}

template <class T>
KernelSource::NativeKernel native_of_floats(Operation operation) {
  if (operation == Operation::sum) return native_kernel<T, Sum>();
  if (operation == Operation::product) return native_kernel<T, Product>();
  return native_extremum<T>(operation);
}

template <class T>
KernelSource::NativeKernel native_of_integers(Operation operation) {
  switch (operation) {
    case Operation::sum:
      return native_kernel<T, Sum>();
    case Operation::product:
      return native_kernel<T, Product>();
    case Operation::bit_and:
      return native_kernel<T, BitAnd>();
    case Operation::bit_or:
      return native_kernel<T, BitOr>();
    case Operation::bit_xor:
      return native_kernel<T, BitXor>();
    case Operation::logical_and:
      return native_kernel<T, LogicalAnd>();
    case Operation::logical_or:
      return native_kernel<T, LogicalOr>();
    case Operation::logical_xor:
      return native_kernel<T, LogicalXor>();
    default:
      return native_extremum<T>(operation);
  }
}

bool is_float(NumberType type) {
  return type == NumberType::f32 || type == NumberType::f64;
}

bool is_extremum(Operation operation) {
  return operation == Operation::maximum || operation == Operation::minimum;
}

struct TypeFacts {
  std::size_t size;
  const char *number, *wide;  // names in reduction.cl
  NumberType combined_as;     // only maxima and minima depend on the sign
};

// In the order of NumberType.
constexpr std::array<TypeFacts, 10> facts{{{1, "signed_char", "int", NumberType::uint8},
                                           {2, "short", "int", NumberType::uint16},
                                           {4, "int", "int", NumberType::uint32},
                                           {8, "long", "long", NumberType::uint64},
                                           {1, "uchar", "uint", NumberType::uint8},
                                           {2, "ushort", "uint", NumberType::uint16},
                                           {4, "uint", "uint", NumberType::uint32},
                                           {8, "ulong", "ulong", NumberType::uint64},
                                           {4, "float", "float", NumberType::f32},
                                           {8, "double", "double", NumberType::f64}}};

const TypeFacts& facts_of(NumberType type) {
  return facts.at(static_cast<std::size_t>(type));
}

KernelSource::NativeKernel native_of(NumberType type, Operation operation) {
  switch (type) {
    case NumberType::int8:
      return native_extremum<std::int8_t>(operation);
    case NumberType::int16:
      return native_extremum<std::int16_t>(operation);
    case NumberType::int32:
      return native_extremum<std::int32_t>(operation);
    case NumberType::int64:
      return native_extremum<std::int64_t>(operation);
    case NumberType::uint8:
      return native_of_integers<std::uint8_t>(operation);
    case NumberType::uint16:
      return native_of_integers<std::uint16_t>(operation);
    case NumberType::uint32:
      return native_of_integers<std::uint32_t>(operation);
    case NumberType::uint64:
      return native_of_integers<std::uint64_t>(operation);
    case NumberType::f32:
      return native_of_floats<float>(operation);
    default:
      return native_of_floats<double>(operation);
  }
}

}  // namespace

std::size_t size_of(NumberType type) {
  return facts_of(type).size;
}

bool has_numbers(const DeviceInfo& info, NumberType type) {
  return type != NumberType::f64 || info.has(Feature::fp64);
}

KernelSource combine_source(NumberType type, Operation operation) {
  if (is_float(type) && operation > Operation::minimum) throw Error("float and double have no bitwise operations");
  if (!is_extremum(operation)) type = facts_of(type).combined_as;
  KernelSource source{"reduction.cl", embedded_text("engine/transport/patterns/reduction.cl"),
                      fmt::format("-DNUMBER={} -DWIDE={} -DOPERATION={}", facts_of(type).number, facts_of(type).wide,
                                  static_cast<int>(operation))};
  source.native = {{"combine", native_of(type, operation)}};
  return source;
}

KernelRange combine_range(const DeviceInfo& info, std::uint64_t count) {
  const std::uint64_t items = (count + items_of_group - 1) / items_of_group * items_of_group;
  return {has_threads_here(info) ? items : std::min(items, items_at_most), 0};
}

}  // namespace plumb
