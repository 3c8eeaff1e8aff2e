// Element types of arrays: half, bfloat16, float, double. The names are those of OpenCL C (except bfloat16) and
// options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace plumb {

enum class ScalarType { f16, bf16, f32, f64 };

// "half", "bfloat16", "float", "double"
std::string to_string(ScalarType type);
ScalarType parse_scalar_type(const std::string& text);  // throws UsageError
std::size_t size_of(ScalarType type);                   // bytes
double epsilon_of(ScalarType type);                     // 2^-10, 2^-7, 2^-23, 2^-52: from 1 to the next number
double largest_of(ScalarType type);

// IEEE 754 binary16. Rounds to nearest, ties to even; keeps infinities, NaN and subnormal numbers.
std::uint16_t to_half(double value);
double from_half(std::uint16_t bits);
// The upper half of IEEE 754 binary32, with the same rounding.
std::uint16_t to_bfloat16(double value);
double from_bfloat16(std::uint16_t bits);

// An array of a type in raw bytes: values.size() * size_of(type) == bytes.size().
void store_scalars(std::span<const double> values, ScalarType type, std::span<std::byte> bytes);
void load_scalars(std::span<const std::byte> bytes, ScalarType type, std::span<double> values);

}  // namespace plumb
