// Bound of the error of a right product, by element. Derived in README.md.
#pragma once

#include <cstddef>

#include "benchmarks/hpcc/gemm/problem.hpp"

namespace plumb::gemm {

// Unit roundoffs u (half of the distance from 1 to the next number) of the steps of a product.
struct Rounding {
  double factors = 0;  // of A's and B's elements before multiplication; 0 = exact
  double sums = 0;     // of partial sums, and of alpha's and beta's products
  double result = 0;   // of the stored result; twice the unit roundoff if it is truncated
  double least = 0;    // smallest stored number with full precision
  bool chops = false;  // sums may be truncated instead of rounded (matrix units)
};

// computed_in: if different from element.computed (a library that accumulates in half).
Rounding rounding_of(const Element& element);
Rounding rounding_of(const Element& element, ScalarType computed_in);

// Standard deviation of an element of A B with factors uniform in (-1, 1): sqrt(inner) / 3.
double product_spread(double inner);

class Bound {
 public:
  Bound(const Problem& problem, const Rounding& rounding);

  // Bound for an element of out with exact value `exact`; `scale` is |alpha| |a_i| |b_j| / sqrt(inner), with the norms
  // of A's row and B's column: the expected size of alpha A B.
  double of(double scale, double exact) const {
    return sums_ * scale + result_ * (exact < 0 ? -exact : exact) + constant_;
  }

 private:
  double sums_, result_, constant_;
};

// Whether the typical bound is far enough below half of the work's contribution (scale / sqrt(2)) that a kernel that
// omits half of the work is wrong nearly everywhere.
bool tells_half_the_work(const Problem& problem);

}  // namespace plumb::gemm
