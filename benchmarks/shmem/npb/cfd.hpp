// The discretised flow equations of NPB's BT, SP and LU (NAS report RNR-94-007, section 3): a cube of n points an axis,
// five variables a point (density, momenta, energy), cut into tiles with two points of their neighbours around them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plumb::npb {

constexpr int variables = 5;
using Point = std::array<double, variables>;
using Place = std::array<int, 3>;

// Constants of the gas.
constexpr double c1 = 1.4, c2 = .4, c1c5 = 1.96, viscosity = .1, conduction = c1c5 * viscosity;

// The discretisation's numbers, common to operator and solvers; mutants alter them.
struct Scheme {
  Scheme(int points, double time_step);

  int n;                                                  // points an axis
  double dt, h, t1, t2;                                   // time step, spacing, 1/h^2, 1/(2h)
  double dissipation = .25;                               // factor of the fourth differences
  std::array<double, 3> diffusion{.75, .75, 1};           // d_d by direction
  std::array<double, 3> stretch{4. / 3, 4. / 3, 4. / 3};  // of a velocity's viscous term along itself, in the Jacobians
  double products = 1;                                    // weight of the start's product terms
  bool upper_ascends = false;                             // LU's upper sweep takes the planes in the lower's order
  std::array<std::vector<double>, 5> differences;  // [m][i]: weight of point i + m - 2 in the fourth difference at i
};

// The exact field at (x, y, z) in 0..1.
Point exact(double x, double y, double z);
// The start: the exact field on the boundary, blended from the faces inside.
Point start(const Scheme& scheme, const Place& at);

// Points first[d] .. first[d] + count[d] - 1 of each axis.
struct Box {
  Place first{}, count{};

  // The cube of n points an axis, without so many at each side.
  static Box cube(int n, int without = 0) {
    const int inner = n - 2 * without;
    return {{without, without, without}, {inner, inner, inner}};
  }
  std::uint64_t points() const { return std::uint64_t{1} * count[0] * count[1] * count[2]; }
  bool contains(const Place& at) const {
    bool within = true;
    for (int d = 0; d < 3; ++d) within = within && at[d] >= first[d] && at[d] < first[d] + count[d];
    return within;
  }
  Box common(const Box& other) const {
    Box box;
    for (int d = 0; d < 3; ++d) {
      box.first[d] = std::max(first[d], other.first[d]);
      box.count[d] = std::max(0, std::min(first[d] + count[d], other.first[d] + other.count[d]) - box.first[d]);
    }
    return box;
  }
  // Calls work(place) for each point, x fastest.
  template <class Work>
  void for_each(Work work) const {
    for (int k = first[2]; k < first[2] + count[2]; ++k)
      for (int j = first[1]; j < first[1] + count[1]; ++j)
        for (int i = first[0]; i < first[0] + count[0]; ++i) work(Place{i, j, k});
  }
};

// Fields of a box: variable by variable, x fastest, with `margin` points around the box. Beyond the last point are as
// many as a vector may read.
class Tile {
 public:
  static constexpr int margin = 2;
  Tile(const Box& box, int n);

  const Box& box() const { return box_; }
  // Doubles between neighbours in direction d, and between variables.
  std::ptrdiff_t stride(int d) const { return stride_[d]; }
  std::ptrdiff_t field() const { return field_; }
  // Place of a point, numbered from the box's first one; -margin .. count + margin - 1.
  std::ptrdiff_t place(int i, int j, int k) const {
    return (i + margin) + (j + margin) * stride_[1] + (k + margin) * stride_[2];
  }
  // Of a point by its numbers in the cube.
  std::ptrdiff_t place(const Place& at) const { return place(at[0] - first(0), at[1] - first(1), at[2] - first(2)); }
  Point state(const Place& at) const {
    const double* from = u.data() + place(at);
    return {from[0], from[field_], from[2 * field_], from[3 * field_], from[4 * field_]};
  }
  void set_state(const Place& at, const Point& state) {
    for (int m = 0; m < variables; ++m) u[place(at) + m * field_] = state[m];
  }
  // Range of the box's points in direction d that are inside the cube's boundary.
  int begin(int d) const { return begin_[d]; }
  int end(int d) const { return end_[d]; }
  int first(int d) const { return box_.first[d]; }
  int count(int d) const { return box_.count[d]; }

  std::vector<double> u, r, f;  // state, residual or change, forcing

 private:
  Box box_;
  std::array<std::ptrdiff_t, 3> stride_;
  std::ptrdiff_t field_;
  std::array<int, 3> begin_, end_;
};

// f = L(exact); r = 0, u is left undefined.
void compute_forcing(const Scheme& scheme, Tile& tile);
// u = start; not a number in margins within the cube, and in r inside the boundary.
void set_start(const Scheme& scheme, Tile& tile);
// r = dt (L(u) - f) inside; with `transformed`, multiplied by SP's T.
void residual(const Scheme& scheme, Tile& tile, bool transformed);
// u += factor r inside; with `transformed`, r multiplied by SP's Z first.
void advance(Tile& tile, double factor, bool transformed);

}  // namespace plumb::npb
