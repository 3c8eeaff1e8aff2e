// How far a right product may lie from the exact one, element by element. README.md derives it.
#pragma once

#include <cstddef>

#include "benchmarks/hpcc/gemm/problem.hpp"

namespace plumb::gemm {

// Unit roundoffs u (half of the distance from 1 to the next number) of the steps of a product.
struct Rounding {
  double factors = 0;  // of A's and B's elements before they are multiplied; 0 = exact
  double sums = 0;     // of the partial sums, and of what alpha and beta are multiplied with
  double result = 0;   // of what is stored
  double least = 0;    // below which stored numbers lose digits, or are zero
  bool chops = false;  // sums may be cut off instead of rounded (matrix units)
};

// computed_in: where that is not element.computed (a library that adds up in half).
Rounding rounding_of(const Element& element);
Rounding rounding_of(const Element& element, ScalarType computed_in);

// Standard deviation of an element of A B, whose factors are uniform in (-1, 1): sqrt(inner) / 3.
double product_spread(double inner);

class Bound {
 public:
  Bound(const Problem& problem, const Rounding& rounding);

  // Of an element of out that should be `exact`; `scale` is |alpha| |a_i| |b_j| / sqrt(inner), the norms of A's row and
  // B's column: what alpha A B is expected to be in size.
  double of(double scale, double exact) const {
    return sums_ * scale + result_ * (exact < 0 ? -exact : exact) + constant_;
  }

 private:
  double sums_, result_, constant_;
};

// Whether the bound of typical elements lies so far below half of the work's trace (scale / sqrt(2)) that a kernel
// which leaves half of it undone is wrong nearly everywhere.
bool tells_half_the_work(const Problem& problem);

}  // namespace plumb::gemm
