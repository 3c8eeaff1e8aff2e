// Checks L U = P A by one element of each tile, which every update of the tile changes, and the choice of pivots.
#pragma once

#include <cstdint>
#include <string>

#include "benchmarks/hpcc/hpl/matrix.hpp"
#include "benchmarks/hpcc/hpl/solver.hpp"

namespace plumb::hpl {

struct Witnesses {
  double largest = 0;                    // |P A - L U| / (eps |L| |U| sqrt(n)) of any compared element, on this rank
  std::uint64_t checked = 0, wrong = 0;  // of this rank, one per tile
  std::string detail;                    // of the largest
  double largest_factor = 0;             // magnitude in L's chosen rows, of all ranks
};

// `seed` chooses a row of each block row and a column of each block column, the same on all ranks; the element at each
// crossing is compared on the rank of its tile. Wrong: above `tolerance`. Takes 16 B of host memory for each of n
// elements of each block row. Collective over both teams.
Witnesses check_tiles(const Matrix& matrix, const Layout& layout, double unit, Form& form, const Solver& solver,
                      const Teams& teams, std::uint64_t seed, double tolerance);

// The largest magnitude in L below its diagonal, of all ranks: at most 1, but for rounding, if every pivot is the
// largest of its column. Infinite for NaN, and if a device finds less than the host in the rows of `tiles`. Collective
// likewise.
double largest_factor(const Layout& layout, Form& form, const Teams& teams, const Witnesses& tiles);

// Tiles of this rank.
std::uint64_t own_tiles(const Layout& layout);

}  // namespace plumb::hpl
