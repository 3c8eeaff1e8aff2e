// Comparison of a device's product with the reference, by element.
#pragma once

#include <span>

#include "benchmarks/hpcc/gemm/bound.hpp"
#include "benchmarks/hpcc/gemm/problem.hpp"
#include "benchmarks/hpcc/gemm/reference.hpp"
#include "measure/benchmark.hpp"
#include "measure/slide.hpp"

namespace plumb::gemm {

struct Comparison {
  Validation validation;     // error: maximum of |C - C'| / bound, tolerance 1
  double largest_error = 0;  // |C - C'|, HPCC FPGA's residual
};

// Columns of B that are negated in a repetition: j if bit j % 10 is set. So their products are, exactly.
struct Signs {
  std::uint64_t bits = 0;
  bool is_negative(std::size_t column) const { return (bits >> column % 10 & 1) != 0; }
  double of(std::size_t column) const { return is_negative(column) ? -1 : 1; }
};

// Items of C that the last operation of a sample uses: from c_first on.
Comparison compare(const Problem& problem, const Rounding& rounding, const Reference& reference,
                   const Provenance& origin, std::size_t c_first, std::span<const std::byte> product,
                   const Signs& signs = {});

// Checks the remainder of operations before the last in a buffer of some items of C: each element against a product of
// its row and column in long double. Adds to the findings.
struct Rests {
  std::size_t first_item, items;
  std::size_t c_begin;  // item of C's content at the beginning of its buffer
  std::uint64_t count;  // number of operations
  std::span<const std::byte> before,
      guard;  // the buffer from the first operation's start to the last's, and past its end
  Signs signs;
};
void compare_rests(const Problem& problem, const Rounding& rounding, const Provenance& origin, const Slide& slide,
                   const Rests& rests, Comparison& result);

}  // namespace plumb::gemm
