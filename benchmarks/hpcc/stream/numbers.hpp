// STREAM's operations, and the numbers in its arrays: random, never zero, and such that no operation rounds, so every
// result has one exactly known value. README.md derives the bounds.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/data.hpp"
#include "core/scalar.hpp"
#include "measure/benchmark.hpp"

namespace plumb::stream {

enum class Array { a, b, c };
inline constexpr std::array all_arrays{Array::a, Array::b, Array::c};

inline constexpr double scalar = 3;  // j, as in HPCC FPGA

// An operation. The order is HPCC FPGA's, with BabelStream's Dot before the last.
struct Operation {
  enum class Kind { write, read, kernel, dot };  // host to device, device to host, on the device

  std::string name;
  Kind kind = Kind::kernel;
  std::vector<Array> inputs, outputs;  // Dot has no output array, only one number
  bool takes_scalar = false;
  double flops = 0;  // per element
  // One element of the output from the same element of the inputs.
  double (*rule)(double first, double second) = nullptr;

  bool is_transfer() const { return kind == Kind::write || kind == Kind::read; }
};

const std::vector<Operation>& operations();
const Operation& operation(const std::string& name);  // throws Error

// Fraction bits f with which j x + y is exact in `type` for |x|, |y| < 2 that are multiples of 2^-f.
int fraction_bits(ScalarType type);
// The same for every partial sum of `count` products, in any order, except with a probability below 1e-13 each; the
// sums are double for double, otherwise float.
int fraction_bits_of_dot(ScalarType type, std::uint64_t count);

// An array's content: number i is ±1.m with a random sign and random fraction bits m.
class Numbers {
 public:
  Numbers(ScalarType type, int fraction_bits, std::uint64_t key);

  ScalarType type() const { return type_; }
  // The numbers 64/w*index … of w bits each, lowest first, as in little-endian memory.
  std::uint64_t word(std::uint64_t index) const { return (mix64(key_ + index) & random_) | one_; }

 private:
  ScalarType type_;
  std::uint64_t random_, one_, key_;  // bits taken from the hash; bits of 1.0; in every number of a word
};

// Contents of the three arrays at the start of a repetition.
struct Contents {
  Numbers a, b, c;
  const Numbers& of(Array array) const { return array == Array::a ? a : array == Array::b ? b : c; }
};

// Lanes are replications, which have parts of the arrays.
Contents contents(const Operation& operation, ScalarType type, std::uint64_t elements, const Provenance& owner);

// Fills `bytes` with numbers of an array from 64-bit word `first` on; the size must be a multiple of the type's.
void fill(std::span<std::byte> bytes, const Numbers& numbers, std::uint64_t first = 0);

// Errors in an output array, by element.
struct Difference {
  std::uint64_t wrong = 0, first = 0;  // elements; index of the first wrong one
  double is = 0, should_be = 0;        // its value
  double largest = 0;                  // maximum of |is - should_be|; NaN if any is NaN
};
// Compares `bytes` with the operation applied to the inputs' elements from number `from` on.
Difference compare(std::span<const std::byte> bytes, const Operation& operation, const Numbers& first,
                   const Numbers& second, std::uint64_t from = 0);

// The exact sum of `count` products from number `from` on.
double dot(const Numbers& first, const Numbers& second, std::uint64_t count, std::uint64_t from = 0);

}  // namespace plumb::stream
