// Checks a transform over all ranks without a second one, by sums over all of its points.
#pragma once

#include <complex>
#include <cstdint>
#include <span>

#include "core/data.hpp"
#include "core/scalar.hpp"
#include "world/team.hpp"

namespace plumb::mpi_fft {

struct Sums {
  double weighted = 0;  // largest |sum X_k z^k - its value from x|, over the sum's size and rounding
  double point = 0;     // largest |X_k - sum x_j w^jk| of the chosen points, over their size and rounding
};

// x and X: this rank's points, from `first` of `points`, as (re, im) pairs, in the order of ranks. Two checks: the sum
// of z^k over all points, for some z of magnitude 1, by the closed form of a geometric series; and one chosen point per
// rank by its defining sum. Both in units of eps log2(points), as fft's residual. Collective; the same on all ranks.
Sums check_sums(std::span<const double> x, std::span<const double> transformed, std::uint64_t first,
                std::uint64_t points, ScalarType type, std::uint64_t seed, Team& all);

}  // namespace plumb::mpi_fft
