// Whether a transform over all ranks is right, without another one: sums that tell all points of it.
#pragma once

#include <complex>
#include <cstdint>
#include <span>

#include "core/data.hpp"
#include "core/scalar.hpp"
#include "world/team.hpp"

namespace plumb::mpi_fft {

struct Sums {
  double weighted = 0;  // largest |sum X_k z^k - what x says it is|, over the sum's size and rounding
  double point = 0;     // largest |X_k - sum x_j w^jk| of the points chosen, over their size and rounding
};

// x and X: this rank's points, which begin at `first` of `points`, (re, im) pairs, one rank after the other. Over all
// points, z^k summed with some z of magnitude 1, by the closed form of a geometric series; and one point chosen on each
// rank by the sum that defines it. Both in units of eps log2(points), as fft's residual. Collective; the same on all.
Sums check_sums(std::span<const double> x, std::span<const double> transformed, std::uint64_t first,
                std::uint64_t points, ScalarType type, std::uint64_t seed, Team& all);

}  // namespace plumb::mpi_fft
