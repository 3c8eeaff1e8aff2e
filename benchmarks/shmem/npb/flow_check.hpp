// Proves results of BT, SP and LU, point by point on one rank, from the printed equations alone: nothing of the timed
// code is used but the exact field. Jacobians are derivatives of fluxes by complex steps (Squire and Trapp, SIAM Review
// 40, 1998), and lines are solved as band matrices with pivots.
#pragma once

#include <array>
#include <vector>

#include "benchmarks/shmem/npb/cfd.hpp"

namespace plumb::npb {

enum class Method { bt, sp, lu };

// A field of the whole cube.
class WholeField {
 public:
  explicit WholeField(int n) : n_(n), points_(static_cast<std::size_t>(n) * n * n) {}
  int n() const { return n_; }
  Point& at(const Place& x) { return points_[(static_cast<std::size_t>(x[2]) * n_ + x[1]) * n_ + x[0]]; }
  const Point& at(const Place& x) const { return const_cast<WholeField&>(*this).at(x); }
  std::vector<Point>& points() { return points_; }
  const std::vector<Point>& points() const { return points_; }

 private:
  int n_;
  std::vector<Point> points_;
};

// The start at a point of the cube.
Point plain_start(int n, const Place& at);

// Root mean squares of the residual and of the error, and LU's surface integral.
struct Norms {
  Point residual{}, error{};
  double integral = 0;
};
Norms norms_of(const WholeField& u);

// One time step.
void plain_step(Method method, double dt, WholeField& u);

}  // namespace plumb::npb
