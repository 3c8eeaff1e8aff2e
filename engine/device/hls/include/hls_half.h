// half for C simulation: stored in 16 bits (IEEE 754 binary16), computed in float. A result of +, -, * or / in float
// rounds once more to half, which is the same as rounding once: 24 >= 2 * 11 + 2 bits (Figueroa 1995).
#pragma once

#include <stdint.h>
#include <string.h>

class half {
 public:
  half() = default;
  half(float value) : bits_(rounded(value)) {}
  half(double value) : half(static_cast<float>(value)) {}
  half(int value) : half(static_cast<float>(value)) {}
  half(unsigned value) : half(static_cast<float>(value)) {}
  operator float() const { return widened(bits_); }

  half& operator+=(half other) { return *this = half(float(*this) + float(other)); }
  half& operator-=(half other) { return *this = half(float(*this) - float(other)); }
  half& operator*=(half other) { return *this = half(float(*this) * float(other)); }
  half& operator/=(half other) { return *this = half(float(*this) / float(other)); }
  friend half operator+(half a, half b) { return a += b; }
  friend half operator-(half a, half b) { return a -= b; }
  friend half operator*(half a, half b) { return a *= b; }
  friend half operator/(half a, half b) { return a /= b; }

 private:
  // To nearest, ties to even.
  static uint16_t rounded(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    const uint32_t sign = word >> 16 & 0x8000, size = word & 0x7fffffff;
    if (size > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);   // NaN
    if (size >= 0x47800000) return static_cast<uint16_t>(sign | 0x7c00);  // 65536 and above
    if (size < 0x38800000) {                                              // below 2^-14: multiples of 2^-24
      float magnitude;
      memcpy(&magnitude, &size, sizeof magnitude);
      const float shifted = magnitude + 0.5f;  // of exponent -1, so its last bit is 2^-24
      uint32_t result;
      memcpy(&result, &shifted, sizeof result);
      return static_cast<uint16_t>(sign | (result - 0x3f000000));
    }
    const uint32_t even = size >> 13 & 1;
    return static_cast<uint16_t>(sign | ((size - 0x38000000 + 0xfff + even) >> 13));
  }
  static float widened(uint16_t bits) {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, exponent = bits >> 10 & 31, part = bits & 0x3ff;
    if (exponent == 0) {
      const float small = static_cast<float>(part) * 0x1p-24f;
      return sign != 0 ? -small : small;
    }
    const uint32_t word = sign | (exponent == 31 ? 0x7f800000 : (exponent + 112) << 23) | part << 13;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
  }

  uint16_t bits_;
};
