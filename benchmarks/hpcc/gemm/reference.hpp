// The right product, in double by OpenBLAS, itself proven by a product with a random vector in higher precision.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/hpcc/gemm/bound.hpp"
#include "benchmarks/hpcc/gemm/problem.hpp"

namespace plumb::gemm {

// Matrices as doubles, for as long as the reference is made.
struct Values {
  std::vector<double> a, b, c;
};

// A and C from the items `first` of theirs on.
Values make_values(const Problem& problem, const Provenance& origin, std::size_t first = 0);

class Reference {
 public:
  // Throws Error when the reference does not stand its own proof.
  Reference(const Problem& problem, const Values& values, const Provenance& origin);

  double at(std::size_t index) const { return exact_[index]; }
  // Of an element (see Bound).
  double scale(std::size_t row, std::size_t column) const { return row_norms_[row] * column_norms_[column]; }
  static std::string name();

 private:
  std::vector<double> exact_;
  std::vector<double> row_norms_;     // |alpha| |a_i| / sqrt(inner)
  std::vector<double> column_norms_;  // |b_j|
};

// Largest ratio, over the rows i, of |R x - alpha A (B x) - beta C x|_i to what the bound allows, x random signs: above
// 1, R is not alpha A B + beta C. In long double.
double residual_of(const Problem& problem, const Values& values, std::span<const double> product,
                   const Provenance& origin, std::span<const double> row_norms, std::span<const double> column_norms);

}  // namespace plumb::gemm
