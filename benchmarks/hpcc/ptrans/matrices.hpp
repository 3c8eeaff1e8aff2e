// What A and B hold, by the global index of each number, and what C must hold after any operation of a sample. Knows no
// device and no transport: nothing here comes through what is measured.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "benchmarks/hpcc/ptrans/distribution.hpp"
#include "core/data.hpp"
#include "core/scalar.hpp"
#include "measure/slide.hpp"

namespace plumb::ptrans {

// How far A's parts move from operation to operation, and X's and C's twice as far (measure/slide.hpp): a line of any
// cache, whatever the device, so that places are the same on all ranks.
inline const Slide slide{128};

// Numbers are odd multiples of 2^(1-p) between -1 and 1, p the type's significant bits, each a hash of matrix and index
// (and A's of the repetition): never zero, and the sum of two of them is exact in the type. Before the begin of each of
// A's parts lie further numbers, for the operations before the last.
class Contents {
 public:
  Contents(const Problem& problem, ScalarType type, const Provenance& origin);

  double a(std::uint64_t row, std::uint64_t column) const { return number(a_ + row * size_ + column); }
  double b(std::uint64_t row, std::uint64_t column) const { return number(b_ + row * size_ + column); }
  // What lies so many numbers (1 or more) before the begin of a part of `rank`.
  double before(const Portion& part, int rank, std::uint64_t numbers) const;
  // Number `at` of what an operation sends of a part of `rank`, of which `later` more of the sample come after it.
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

// A part of a rank, and where what C's part needs of A lies.
struct LocalPortion {
  LocalPortion(Portion part, int rank);

  Portion part;
  int rank = 0;
  Portion source;                     // as it lies with the partner; within the rank itself, the part
  std::vector<std::uint64_t> images;  // of each block, where in `source` its mirror image begins

  bool is_exchanged() const { return part.partner != rank; }
};

// So many numbers of A's part from `first` on, as bytes; negative places lie before it.
void fill_a(const Contents& contents, const LocalPortion& of, std::int64_t first, std::span<std::byte> bytes);
void fill_b(const Contents& contents, const LocalPortion& of, std::uint64_t first, std::span<std::byte> bytes);

// What was found in a part.
struct Finding {
  std::uint64_t wrong = 0;
  double error = 0;  // the largest difference; infinity where it is no number
  std::uint64_t row = 0, column = 0;
  double is = 0, should_be = 0;  // of the first wrong number
};

// Every number of C's part after the last operation.
Finding check_c(const Contents& contents, const LocalPortion& of, std::span<const std::byte> bytes);
// The begin of C's part, or of what was received for it, as an operation leaves it.
Finding check_c_begin(const Contents& contents, const LocalPortion& of, std::uint64_t later,
                      std::span<const std::byte> bytes);
Finding check_received_begin(const Contents& contents, const LocalPortion& of, std::uint64_t later,
                             std::span<const std::byte> bytes);

}  // namespace plumb::ptrans
