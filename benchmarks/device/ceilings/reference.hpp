// Expected results of the kernels of `ceilings`, computed differently. Pure arithmetic.
#pragma once

#include <bit>
#include <cstdint>

#include "core/data.hpp"
#include "core/scalar.hpp"

namespace plumb::ceilings {

// Factors of the scrambling.
inline constexpr std::uint64_t first_factor = 0x9e3779b97f4a7c15ull, second_factor = 0xd1342543de82ef95ull;

// Modulo 2^64.
constexpr std::uint64_t inverse_of(std::uint64_t odd) {
  std::uint64_t inverse = odd;  // right in the lowest three bits; each Newton step doubles their number
  for (int step = 0; step < 5; ++step) inverse *= 2 - odd * inverse;
  return inverse;
}

inline constexpr std::uint64_t first_inverse = inverse_of(first_factor), second_inverse = inverse_of(second_factor);

// The position of update u in a table of 2^bits words: a pseudo-random bijection of u's lowest bits.
template <class Integer = std::uint64_t>
constexpr Integer scramble(std::uint64_t u, unsigned bits) {
  const auto mask = static_cast<Integer>((std::uint64_t{1} << bits) - 1);
  Integer place = (static_cast<Integer>(u) * static_cast<Integer>(first_factor)) & mask;
  place ^= place >> ((bits + 1) / 2);
  place = (place * static_cast<Integer>(second_factor)) & mask;
  return place ^ (place >> ((bits + 1) / 2));
}

// The one of 2^bits consecutive updates at a position: the inverse of scramble().
constexpr std::uint64_t unscramble(std::uint64_t place, unsigned bits) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  std::uint64_t u = place ^ (place >> ((bits + 1) / 2));
  u = (u * second_inverse) & mask;
  u ^= u >> ((bits + 1) / 2);
  return (u * first_inverse) & mask;
}

constexpr std::uint64_t update_value(std::uint64_t u) {
  return u * second_factor + 1;
}

// A word of a table of 2^bits words, initially `initial`, after all updates below `updates`.
constexpr std::uint64_t updated_word(std::uint64_t initial, std::uint64_t place, unsigned bits, std::uint64_t updates) {
  const std::uint64_t words = std::uint64_t{1} << bits;
  for (std::uint64_t u = unscramble(place, bits); u < updates; u += words) initial ^= update_value(u);
  return initial;
}

// Index of the word that a work item of `items` takes in its turn-th turn, in the two orders of ceilings.cl; its range
// ends at the first index not below its end.
struct Share {
  std::uint64_t first, last, step;

  constexpr std::uint64_t count() const { return first < last ? (last - first + step - 1) / step : 0; }
};

constexpr Share share_of(std::uint64_t item, std::uint64_t items, std::uint64_t words, bool interleaved) {
  if (interleaved) return {item, words, items};
  const std::uint64_t run = (words + items - 1) / items;
  const auto limited = [&](std::uint64_t at) { return at < words ? at : words; };
  return {limited(item * run), limited((item + 1) * run), 1};
}

// Values of the arithmetic kernel. A pair of steps, x -> (x * 2 + b1) / 2 + b2, adds b1 / 2 + b2 = 1 to x, exactly in
// each type: after n pairs the result is start + n, and any missing or additional step is detected. Between the two
// steps x changes by a large amount, so that its bits change.
inline constexpr std::uint32_t pairs_of_steps = 3072;

struct Steps {
  double a1, b1, a2, b2;
};

// Factors of the products: K a1 b1 + K a2 b2 = 16 - 15, with K the inner dimension of one product of matrix units.
constexpr Steps factors_of(int inner) {
  return {16.0 / inner, 1, -15.0 / inner, 1};
}

// Unit: the smallest difference that is exact between -2048 and 2048: 1, 2^-12 and 2^-41.
constexpr double unit_of(ScalarType type) {
  return type == ScalarType::f16 ? 1.0 : type == ScalarType::f32 ? 0x1p-12 : 0x1p-41;
}

constexpr Steps steps_of(ScalarType type) {
  const double away =
      3 + (type == ScalarType::f16 ? 0 : 1365 * unit_of(type));  // amount by which x changes back and forth
  return {2, 2 * away, 0.5, 1 - away};
}

// Start of accumulator `index` on `rank`: between -2000 and -1488, a multiple of the unit.
constexpr double start_of(std::uint64_t seed, std::uint64_t rank, std::uint64_t index, ScalarType type) {
  const std::uint64_t word = mix64(Provenance{seed, rank}.key() + index);
  const double fraction = type == ScalarType::f16 ? 0 : static_cast<double>((word >> 32) % 4096) * unit_of(type);
  return -2000 + static_cast<double>(word % 512) + fraction;
}

// What is added to all starts of the repetition: another one in each of 256 consecutive ones; at most 255.
constexpr double shift_of(std::uint64_t repetition) {
  return static_cast<double>(repetition * 89 % 256);
}

}  // namespace plumb::ceilings
