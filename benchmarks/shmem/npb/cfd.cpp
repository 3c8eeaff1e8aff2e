#include "benchmarks/shmem/npb/cfd.hpp"

#include <algorithm>
#include <limits>

#include "benchmarks/shmem/npb/equations.hpp"

namespace plumb::npb {

namespace {

// Coefficients c_1 .. c_13 of each variable of the exact field.
constexpr double exact_coefficients[variables][13] = {{2, 0, 0, 4, 5, 3, .5, .02, .01, .03, .5, .4, .3},
                                                      {1, 0, 0, 0, 1, 2, 3, .01, .03, .02, .4, .3, .5},
                                                      {2, 2, 0, 0, 0, 2, 3, .04, .03, .05, .3, .5, .4},
                                                      {2, 2, 0, 0, 0, 2, 3, .03, .05, .04, .2, .1, .3},
                                                      {5, 4, 3, 2, .1, .4, .3, .05, .04, .03, .1, .3, .2}};

constexpr std::size_t spare = 8;  // doubles beyond an array's last point

struct Residual {
  const Scheme& scheme;
  Tile& tile;
  bool transformed;

  template <class V>
  [[gnu::always_inline]] inline void operator()() const {
    for (int k = tile.begin(2); k < tile.end(2); ++k)
      for (int j = tile.begin(1); j < tile.end(1); ++j)
        for (int i = tile.begin(0); i < tile.end(0); i += width<V>)
          points<V>(i, j, k, std::min(width<V>, tile.end(0) - i));
  }

  template <class V>
  [[gnu::always_inline]] inline void points(int i, int j, int k, int lanes) const {
    const std::ptrdiff_t at = tile.place(i, j, k), field = tile.field();
    const double* u = tile.u.data() + at;
    V sum[variables], here[variables];
    for (int m = 0; m < variables; ++m) sum[m] = -load<V, true>(tile.f.data() + at + m * field);
    add_operator<0>(scheme, u, field, 1, tile.first(0) + i, sum);
    add_operator<1>(scheme, u, field, tile.stride(1), tile.first(1) + j, sum);
    add_operator<2>(scheme, u, field, tile.stride(2), tile.first(2) + k, sum);
    for (int m = 0; m < variables; ++m) {
      sum[m] *= scheme.dt;
      here[m] = load<V, true>(u + m * field);
    }
    if (transformed) multiply_t(here, sum);
    for (int m = 0; m < variables; ++m) store<V, true>(sum[m], tile.r.data() + at + m * field, 1, lanes);
  }
};

struct Advance {
  Tile& tile;
  double factor;
  bool transformed;

  template <class V>
  [[gnu::always_inline]] inline void operator()() const {
    for (int k = tile.begin(2); k < tile.end(2); ++k)
      for (int j = tile.begin(1); j < tile.end(1); ++j)
        for (int i = tile.begin(0); i < tile.end(0); i += width<V>) {
          const std::ptrdiff_t at = tile.place(i, j, k), field = tile.field();
          V u[variables], r[variables];
          for (int m = 0; m < variables; ++m) {
            u[m] = load<V, true>(tile.u.data() + at + m * field);
            r[m] = load<V, true>(tile.r.data() + at + m * field);
          }
          if (transformed) multiply_z(u, r);
          for (int m = 0; m < variables; ++m)
            store<V, true>(u[m] + factor * r[m], tile.u.data() + at + m * field, 1,
                           std::min(width<V>, tile.end(0) - i));
        }
  }
};

// u = value(at) at the tile's points and in its margins, as far as they are within the cube.
template <class Value>
void set_states(const Scheme& scheme, Tile& tile, Value value) {
  Box with_margins = tile.box();
  for (int d = 0; d < 3; ++d) {
    with_margins.first[d] -= Tile::margin;
    with_margins.count[d] += 2 * Tile::margin;
  }
  with_margins.common(Box::cube(scheme.n)).for_each([&](const Place& at) { tile.set_state(at, value(at)); });
}

}  // namespace

Scheme::Scheme(int points, double time_step)
    : n(points), dt(time_step), h(1. / (points - 1)), t1((points - 1.) * (points - 1.)), t2((points - 1.) / 2) {
  for (std::size_t m = 0; m < 5; ++m) {
    constexpr double inside[] = {1, -4, 6, -4, 1};
    differences[m].assign(static_cast<std::size_t>(n) + spare, inside[m]);
    const std::size_t last = static_cast<std::size_t>(n) - 1;
    if (m < 2) differences[m][1] = 0;
    if (m == 0) differences[m][2] = 0;
    if (m > 2) differences[m][last - 1] = 0;
    if (m == 4) differences[m][last - 2] = 0;
    if (m == 2) differences[m][1] = differences[m][last - 1] = 5;
  }
}

Point exact(double x, double y, double z) {
  Point u;
  for (std::size_t m = 0; m < variables; ++m) {
    const double* c = exact_coefficients[m];
    u[m] = c[0] + x * (c[1] + x * (c[4] + x * (c[7] + x * c[10]))) + y * (c[2] + y * (c[5] + y * (c[8] + y * c[11]))) +
           z * (c[3] + z * (c[6] + z * (c[9] + z * c[12])));
  }
  return u;
}

Point start(const Scheme& scheme, const Place& at) {
  const double position[3] = {at[0] * scheme.h, at[1] * scheme.h, at[2] * scheme.h};
  const auto is_end = [&](int i) { return i == 0 || i == scheme.n - 1; };
  const Point here = exact(position[0], position[1], position[2]);
  if (is_end(at[0]) || is_end(at[1]) || is_end(at[2])) return here;
  std::array<Point, 3> blend;
  for (std::size_t d = 0; d < 3; ++d) {
    double low[3] = {position[0], position[1], position[2]}, high[3] = {position[0], position[1], position[2]};
    low[d] = 0;
    high[d] = 1;
    const Point a = exact(low[0], low[1], low[2]), b = exact(high[0], high[1], high[2]);
    for (std::size_t m = 0; m < variables; ++m) blend[d][m] = (1 - position[d]) * a[m] + position[d] * b[m];
  }
  Point u;
  for (std::size_t m = 0; m < variables; ++m) {
    const double x = blend[0][m], y = blend[1][m], z = blend[2][m];
    u[m] = x + y + z - scheme.products * (x * y + x * z + y * z - x * y * z);
  }
  return u;
}

Tile::Tile(const Box& box, int n) : box_(box) {
  const std::ptrdiff_t row = box.count[0] + 2 * margin, plane = row * (box.count[1] + 2 * margin);
  stride_ = {1, row, plane};
  field_ = plane * (box.count[2] + 2 * margin);
  const Box inner = box.common(Box::cube(n, 1));
  for (int d = 0; d < 3; ++d) {
    begin_[d] = inner.first[d] - box.first[d];
    end_[d] = begin_[d] + inner.count[d];
  }
  const auto size = static_cast<std::size_t>(field_) * variables + spare;
  u.assign(size, 0);
  r.assign(size, 0);
  f.assign(size, 0);
}

void compute_forcing(const Scheme& scheme, Tile& tile) {
  set_states(scheme, tile,
             [&](const Place& at) { return exact(at[0] * scheme.h, at[1] * scheme.h, at[2] * scheme.h); });
  std::fill(tile.f.begin(), tile.f.end(), 0.);
  std::fill(tile.r.begin(), tile.r.end(), 0.);
  Scheme operator_alone = scheme;
  operator_alone.dt = 1;
  residual(operator_alone, tile, false);
  std::swap(tile.f, tile.r);
}

void set_start(const Scheme& scheme, Tile& tile) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  set_states(scheme, tile, [&](const Place& at) {
    return tile.box().contains(at) ? start(scheme, at) : Point{nan, nan, nan, nan, nan};
  });
  std::fill(tile.r.begin(), tile.r.end(), 0.);
  for (int m = 0; m < variables; ++m)
    for (int k = tile.begin(2); k < tile.end(2); ++k)
      for (int j = tile.begin(1); j < tile.end(1); ++j)
        std::fill_n(tile.r.begin() + tile.place(tile.begin(0), j, k) + m * tile.field(), tile.end(0) - tile.begin(0),
                    nan);
}

void residual(const Scheme& scheme, Tile& tile, bool transformed) {
  with_lanes(Residual{scheme, tile, transformed});
}

void advance(Tile& tile, double factor, bool transformed) {
  with_lanes(Advance{tile, factor, transformed});
}

}  // namespace plumb::npb
