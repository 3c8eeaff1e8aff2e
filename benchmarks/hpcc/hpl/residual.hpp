// Checks that x solves A x = b: the residual on a newly made matrix, each rank its part.
#pragma once

#include <span>
#include <string>

#include "benchmarks/hpcc/hpl/matrix.hpp"
#include "benchmarks/hpcc/hpl/solver.hpp"

namespace plumb::hpl {

// HPL's limit of its scaled residual.
inline constexpr double hpl_threshold = 16;

struct Residual {
  double scaled = 0;       // |A x - b| / (eps (|A| |x| + |b|) n), maximum norms, eps = 2^-53 or 2^-24: HPL's
  double largest_row = 0;  // largest |A x - b|_i / (eps (|A| |x| + |b|)_i sqrt(n)) of any row, likewise
  std::int64_t worst_row = 0;
  double normalised_error = 0;  // largest |x_i - 1| / (n |b| 2 eps): the seed's, if the solution is known
  std::uint64_t rows = 0;       // of this rank that were compared
};

// Collective over both teams; the same figures on all ranks except `rows`. The device sums rows if `form` supports it;
// the host also sums one row of each block, and both must agree.
Residual residual(const Matrix& matrix, const Layout& layout, ScalarType type, std::span<const double> x,
                  const Teams& teams, Form* form = nullptr);

// The same in two parts. Sums over whole rows, of the rows in this rank's row of the grid.
RowSums row_sums_of_all(const Matrix& matrix, const Layout& layout, std::span<const double> x, const Teams& teams,
                        Form* form, bool compares = false);
Residual residual_of(const RowSums& sums, const Matrix& matrix, const Layout& layout, ScalarType type,
                     std::span<const double> x, const Teams& teams);

}  // namespace plumb::hpl
