// npb_mg's levels on one rank, and its five operations on a plane of points.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plumb::npb::mg {

using Three = std::array<int, 3>;  // by axis: x (fastest), y, z

// The grid of ranks with the least surface of parts, axis z cut first.
Three grid_of(int ranks, int points);

// A rank's box of a level: [low, low + size) of `points` an axis. Coarse point j lies on fine point 2j + 1, so the cuts
// of a level follow from those of the next finer one: a coarse point stays with its fine one, whatever the cuts are.
struct Extent {
  int points = 0;
  Three low{}, size{};

  static Extent finest(int points, const Three& grid, const Three& place);
  Extent coarser() const;
  static Extent whole(int points) { return {points, {}, {points, points, points}}; }
  std::size_t count() const;
  // Of a grid with a halo of one point, at local indices 0 ... size + 1.
  std::size_t row() const { return size[0] + 2; }
  std::size_t plane() const { return row() * (size[1] + 2); }
  std::size_t room() const { return plane() * (size[2] + 2); }
  std::size_t at(int i, int j, int k) const { return k * plane() + j * row() + i; }
};

// Levels by number: level l has 2^l points an axis. Those up to `gathered` are whole on every rank.
struct Levels {
  Three grid{};
  int finest = 0, gathered = 0;
  std::vector<Extent> boxes;  // from level 0 (unused) to the finest
  Extent part;                // of the finest gathered level: what this rank restricts to it

  Levels(int points, int rank, int ranks);
  static Three place_of(int rank, const Three& grid);
};

// Numbers of a message along an axis: a plane of points, with the halos of the axes before.
std::size_t face(const Extent& box, int axis);
int neighbour(const Three& place, const Three& grid, int axis, int by);

// Points of the smallest part of the finest level, along any axis; below 2 there are too many ranks.
int least_size(int points, int ranks);

// Coefficients by squared distance.
using Stencil = std::array<double, 4>;
inline constexpr Stencil operator_a{-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};
inline constexpr Stencil smoother_of_small{-3.0 / 8, 1.0 / 32, -1.0 / 64, 0};
inline constexpr Stencil smoother_of_large{-3.0 / 17, 1.0 / 33, -1.0 / 61, 0};

// Plane k, in local indices, of grids of one box. `scratch` has two rows.
void residual(const Extent& box, const double* u, const double* v, double* r, int k, double* scratch);  // r = v - A u
void smooth(const Extent& box, const Stencil& s, const double* r, double* u, int k, double* scratch);   // u += S r
// The coarse points of `part` in plane k of `to` (local indices) from the fine grid. `offset`: 1, of coarse point j on
// fine point 2j + 1.
void restrict_to(const Extent& fine, const double* r, const Extent& to, const Extent& part, double* coarse, int k,
                 int offset, double* scratch);
// Plane k of the fine grid, its halo included: trilinear interpolation of the coarse one, added or assigned.
void interpolate(const Extent& coarse, const double* from, const Extent& fine, double* to, int k, bool adds,
                 double* scratch);

// Coarse planes that plane k of the fine grid is interpolated from, in local indices.
struct Pair {
  int first, last;
};
Pair sources(const Extent& coarse, const Extent& fine, int axis, int k);

}  // namespace plumb::npb::mg
