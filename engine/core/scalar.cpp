#include "core/scalar.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/error.hpp"

namespace plumb {

namespace {

// binary16: 5 bits of exponent with bias 15, 10 of fraction
constexpr int fraction_bits = 10;
constexpr int lowest_exponent = -14;
constexpr int largest_exponent = 15;
constexpr std::uint16_t infinity_bits = 0x7c00;

template <class T>
void store(std::span<const double> values, std::span<std::byte> bytes) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
}

template <class T>
void load(std::span<const std::byte> bytes, std::span<double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value{};
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    values[i] = static_cast<double>(value);
  }
}

void require_same(std::size_t values, ScalarType type, std::size_t bytes) {
  if (values * size_of(type) != bytes) throw Error("values and bytes of an array differ in length");
}

}  // namespace

std::string to_string(ScalarType type) {
  switch (type) {
    case ScalarType::f16:
      return "half";
    case ScalarType::bf16:
      return "bfloat16";
    case ScalarType::f32:
      return "float";
    default:
      return "double";
  }
}

ScalarType parse_scalar_type(const std::string& text) {
  for (const ScalarType type : {ScalarType::f16, ScalarType::bf16, ScalarType::f32, ScalarType::f64})
    if (to_string(type) == text) return type;
  throw UsageError("unknown element type '" + text + "' (choose from half, bfloat16, float, double)");
}

std::size_t size_of(ScalarType type) {
  switch (type) {
    case ScalarType::f16:
    case ScalarType::bf16:
      return 2;
    case ScalarType::f32:
      return 4;
    default:
      return 8;
  }
}

double epsilon_of(ScalarType type) {
  switch (type) {
    case ScalarType::f16:
      return 0x1p-10;
    case ScalarType::bf16:
      return 0x1p-7;
    case ScalarType::f32:
      return 0x1p-23;
    default:
      return 0x1p-52;
  }
}

double largest_of(ScalarType type) {
  if (type == ScalarType::f16) return 65504;
  if (type == ScalarType::bf16) return 0x1.fep127;
  return type == ScalarType::f32 ? double{std::numeric_limits<float>::max()} : std::numeric_limits<double>::max();
}

std::uint16_t to_half(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return sign | 0x7e00;
  const double magnitude = std::abs(value);
  if (std::isinf(magnitude)) return sign | infinity_bits;
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), lowest_exponent);
  // In units of the last place at this exponent; a carry out of the fraction increments the exponent.
  const double units = std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent));
  if (exponent > largest_exponent || std::ldexp(units, exponent - fraction_bits) > largest_of(ScalarType::f16))
    return sign | infinity_bits;
  const int biased = (exponent - lowest_exponent) << fraction_bits;  // a normal number's implicit one adds 1
  return static_cast<std::uint16_t>(sign + biased + static_cast<int>(units));
}

double from_half(std::uint16_t bits) {
  const int exponent = (bits >> fraction_bits) & 0x1f;
  const int fraction = bits & 0x3ff;
  double magnitude = 0;
  if (exponent == 0x1f)
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    magnitude = std::ldexp(fraction, lowest_exponent - fraction_bits);
  else
    magnitude = std::ldexp(0x400 + fraction, exponent - 1 + lowest_exponent - fraction_bits);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

// Avoids double rounding from double through float: bits cut off are kept as a sticky bit, the last bit of the float.
std::uint16_t to_bfloat16(double value) {
  if (std::isnan(value)) return static_cast<std::uint16_t>(std::signbit(value) ? 0xffc0 : 0x7fc0);
  float shorter = static_cast<float>(value);
  if (std::abs(double{shorter}) > std::abs(value)) shorter = std::nextafter(shorter, 0.0f);
  auto bits = std::bit_cast<std::uint32_t>(shorter);
  if (double{shorter} != value) bits |= 1;
  if (std::isinf(value)) return static_cast<std::uint16_t>(bits >> 16);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

double from_bfloat16(std::uint16_t bits) {
  return double{std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16)};
}

void store_scalars(std::span<const double> values, ScalarType type, std::span<std::byte> bytes) {
  require_same(values.size(), type, bytes.size());
  if (type == ScalarType::f64) return store<double>(values, bytes);
  if (type == ScalarType::f32) return store<float>(values, bytes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint16_t half = type == ScalarType::bf16 ? to_bfloat16(values[i]) : to_half(values[i]);
    std::memcpy(bytes.data() + 2 * i, &half, 2);
  }
}

void load_scalars(std::span<const std::byte> bytes, ScalarType type, std::span<double> values) {
  require_same(values.size(), type, bytes.size());
  if (type == ScalarType::f64) return load<double>(bytes, values);
  if (type == ScalarType::f32) return load<float>(bytes, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, bytes.data() + 2 * i, 2);
    values[i] = type == ScalarType::bf16 ? from_bfloat16(half) : from_half(half);
  }
}

}  // namespace plumb
