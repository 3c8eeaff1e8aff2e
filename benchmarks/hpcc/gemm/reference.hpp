// The reference alpha A B, in double by OpenBLAS, verified by a product with a random vector in higher precision. C has
// other numbers in each repetition, so it is added where they are compared.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/hpcc/gemm/bound.hpp"
#include "benchmarks/hpcc/gemm/problem.hpp"

namespace plumb::gemm {

// A, from its item `first` on, and B as doubles, during the computation of the reference.
struct Values {
  std::vector<double> a, b;
};

Values make_values(const Problem& problem, const Provenance& origin, std::size_t first = 0);

class Reference {
 public:
  // Throws Error if the reference fails its verification.
  Reference(const Problem& problem, const Values& values, const Provenance& origin);

  double at(std::size_t index) const { return exact_[index]; }
  // For an element (see Bound).
  double scale(std::size_t row, std::size_t column) const { return row_norms_[row] * column_norms_[column]; }
  static std::string name();

 private:
  std::vector<double> exact_;
  std::vector<double> row_norms_;     // |alpha| |a_i| / sqrt(inner)
  std::vector<double> column_norms_;  // |b_j|
};

// Maximum over rows i of |R x - alpha A (B x)|_i over its bound, with random signs x, in long double: above 1, R is not
// alpha A B.
double residual_of(const Problem& problem, const Values& values, std::span<const double> product,
                   const Provenance& origin, std::span<const double> row_norms, std::span<const double> column_norms);

}  // namespace plumb::gemm
