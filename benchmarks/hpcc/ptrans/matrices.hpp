// Contents of A and B by the global index of each number, and of C after any operation of a sample. Independent of
// devices and transports.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "benchmarks/hpcc/ptrans/distribution.hpp"
#include "core/data.hpp"
#include "core/scalar.hpp"
#include "measure/slide.hpp"

namespace plumb::ptrans {

// Step of A's parts from operation to operation, half of X's and C's (measure/slide.hpp): at least a cache line,
// whatever the device, so that positions are equal on all ranks.
inline const Slide slide{128};

// Numbers are odd multiples of 2^(1-p) between -1 and 1, p the type's significant bits, each a hash of matrix and index
// (for A also the repetition): never zero, and the sum of two of them is exact in the type. Further numbers precede
// each of A's parts, for the operations before the last.
class Contents {
 public:
  Contents(const Problem& problem, ScalarType type, const Provenance& origin);

  double a(std::uint64_t row, std::uint64_t column) const { return number(a_ + row * size_ + column); }
  double b(std::uint64_t row, std::uint64_t column) const { return number(b_ + row * size_ + column); }
  // The number `before` (1 or more) positions before a part of `rank`.
  double before(const Portion& part, int rank, std::uint64_t numbers) const;
  // Number `at` of a part of `rank`, as sent by the operation followed by `later` others of the sample.
  double sent(const Portion& part, int rank, std::uint64_t at, std::uint64_t later) const;

  ScalarType type() const { return type_; }

 private:
  double number(std::uint64_t word) const;

  std::uint64_t size_;
  ScalarType type_;
  std::uint64_t a_, b_, before_;  // keys
  int bits_;
  double unit_;
};

// A part of a rank, with the source of C's part in A.
struct LocalPortion {
  LocalPortion(Portion part, int rank);

  Portion part;
  int rank = 0;
  Portion source;                     // on the partner; within the rank, the part itself
  std::vector<std::uint64_t> images;  // for each block, position of its mirror image in `source`

  bool is_exchanged() const { return part.partner != rank; }
};

// `count` numbers of A's part from `first` on, as bytes; negative positions precede it.
void fill_a(const Contents& contents, const LocalPortion& of, std::int64_t first, std::span<std::byte> bytes);
void fill_b(const Contents& contents, const LocalPortion& of, std::uint64_t first, std::span<std::byte> bytes);

// Results of comparing a part.
struct Finding {
  std::uint64_t wrong = 0;
  double error = 0;  // maximum difference; infinite for NaN
  std::uint64_t row = 0, column = 0;
  double is = 0, should_be = 0;  // first wrong number
};

// Compares every number of C's part after the last operation.
Finding check_c(const Contents& contents, const LocalPortion& of, std::span<const std::byte> bytes);
// Compares the beginning of C's part, or of the received part, after an operation.
Finding check_c_begin(const Contents& contents, const LocalPortion& of, std::uint64_t later,
                      std::span<const std::byte> bytes);
Finding check_received_begin(const Contents& contents, const LocalPortion& of, std::uint64_t later,
                             std::span<const std::byte> bytes);

}  // namespace plumb::ptrans
