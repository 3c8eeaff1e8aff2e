#include "benchmarks/shmem/npb/flow_check.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

namespace plumb::npb {

namespace {

using Block = std::array<Point, 5>;  // by row

Place moved(Place at, std::size_t d, int by) {
  at[d] += by;
  return at;
}

// Flux F and viscous function of direction d; the viscous term is the latter's second difference.
template <class T>
struct Fluxes {
  std::array<T, 5> convective, viscous;
};
template <class T>
Fluxes<T> fluxes(std::size_t d, const std::array<T, 5>& u) {
  const T v[3] = {u[1] / u[0], u[2] / u[0], u[3] / u[0]};
  const T s = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / 2., pressure = .4 * (u[4] - u[0] * s);
  Fluxes<T> f;
  f.convective = {u[d + 1], u[1] * v[d], u[2] * v[d], u[3] * v[d], (u[4] + pressure) * v[d]};
  f.convective[d + 1] += pressure;
  f.viscous = {T(0), .1 * v[0], .1 * v[1], .1 * v[2], .1 * ((1. - 1.96) * s + v[d] * v[d] / 6. + 1.96 * u[4] / u[0])};
  f.viscous[d + 1] *= 4. / 3.;
  return f;
}

constexpr double diffusion_of(std::size_t d) {
  return d == 2 ? 1 : .75;
}

// L at an inner point; value(x) is the field there.
template <class Value>
Point plain_operator(int n, const Place& at, const Value& value) {
  const double t1 = (n - 1.) * (n - 1.), t2 = (n - 1.) / 2;
  Point sum{};
  const Point u = value(at);
  for (std::size_t d = 0; d < 3; ++d) {
    const auto f = fluxes(d, u);
    const Point before = value(moved(at, d, -1)), after = value(moved(at, d, 1));
    const auto f_before = fluxes(d, before), f_after = fluxes(d, after);
    const bool has_low = at[d] > 1, has_high = at[d] < n - 2;
    const Point low = at[d] > 2 ? value(moved(at, d, -2)) : Point{},
                high = at[d] < n - 3 ? value(moved(at, d, 2)) : Point{};
    for (std::size_t m = 0; m < 5; ++m) {
      const double fourth = (has_low && has_high ? 6 : 5) * u[m] - (has_low ? 4 * before[m] : 0) -
                            (has_high ? 4 * after[m] : 0) + low[m] + high[m];
      sum[m] += -t2 * (f_after.convective[m] - f_before.convective[m]) +
                diffusion_of(d) * t1 * (after[m] - 2 * u[m] + before[m]) +
                t1 * (f_after.viscous[m] - 2 * f.viscous[m] + f_before.viscous[m]) - .25 * fourth;
    }
  }
  return sum;
}

Point exact_at(int n, const Place& at) {
  const double h = 1. / (n - 1);
  return exact(at[0] * h, at[1] * h, at[2] * h);
}

Point plain_residual(const WholeField& u, const Place& at) {
  const int n = u.n();
  Point r = plain_operator(n, at, [&](const Place& x) -> const Point& { return u.at(x); });
  const Point forcing = plain_operator(n, at, [&](const Place& x) { return exact_at(n, x); });
  for (std::size_t m = 0; m < 5; ++m) r[m] -= forcing[m];
  return r;
}

// a dF/dU + b (dV/dU + d_d) + c, by derivatives.
Block plain_jacobian(std::size_t d, const Point& u, double a, double b, double c) {
  constexpr double step = 1e-30;
  std::array<std::complex<double>, 5> z;
  std::copy(u.begin(), u.end(), z.begin());
  Block block;
  for (std::size_t n = 0; n < 5; ++n) {
    z[n] += std::complex<double>(0, step);
    const auto f = fluxes(d, z);
    for (std::size_t m = 0; m < 5; ++m)
      block[m][n] =
          a * f.convective[m].imag() / step + b * f.viscous[m].imag() / step + (m == n ? b * diffusion_of(d) + c : 0);
    z[n] = u[n];
  }
  return block;
}

Point times(const Block& block, const Point& y) {
  Point product{};
  for (std::size_t m = 0; m < 5; ++m)
    for (std::size_t n = 0; n < 5; ++n) product[m] += block[m][n] * y[n];
  return product;
}

// A band matrix with `width` entries on both sides of the diagonal, solved with pivots.
class Band {
 public:
  Band(int size, int width) : size_(size), width_(width), entries_(static_cast<std::size_t>(size * (3 * width + 1))) {}
  double& at(int row, int column) { return entries_[row * (3 * width_ + 1) + column - row + width_]; }
  void solve(std::vector<double>& x) {
    for (int p = 0; p < size_; ++p) {
      const int last_row = std::min(size_ - 1, p + width_), last = std::min(size_ - 1, p + 2 * width_);
      int pivot = p;
      for (int row = p + 1; row <= last_row; ++row)
        if (std::abs(at(row, p)) > std::abs(at(pivot, p))) pivot = row;
      std::swap(x[p], x[pivot]);
      for (int column = p; column <= last && pivot != p; ++column) std::swap(at(p, column), at(pivot, column));
      for (int row = p + 1; row <= last_row; ++row) {
        const double factor = at(row, p) / at(p, p);
        if (factor == 0) continue;
        for (int column = p; column <= last; ++column) at(row, column) -= factor * at(p, column);
        x[row] -= factor * x[p];
      }
    }
    for (int p = size_ - 1; p >= 0; --p) {
      double sum = x[p];
      for (int column = p + 1; column <= std::min(size_ - 1, p + 2 * width_); ++column)
        sum -= at(p, column) * x[column];
      x[p] = sum / at(p, p);
    }
  }

 private:
  int size_, width_;
  std::vector<double> entries_;
};

// Calls work(line) for each inner line in direction d; line(i) is its point i.
template <class Work>
void for_lines(int n, std::size_t d, Work work) {
  for (int b = 1; b < n - 1; ++b)
    for (int a = 1; a < n - 1; ++a)
      work([=](int i) {
        Place at{};
        at[d] = i;
        at[(d + 1) % 3] = a;
        at[(d + 2) % 3] = b;
        return at;
      });
}

void solve_blocks(double dt, std::size_t d, const WholeField& u, WholeField& delta) {
  const int n = u.n();
  const double t1 = dt * (n - 1.) * (n - 1.), t2 = dt * (n - 1.) / 2;
  for_lines(n, d, [&](auto line) {
    Band band(5 * n, 9);
    std::vector<double> x;
    for (int i = 0; i < n; ++i) {
      const Point& r = delta.at(line(i));
      x.insert(x.end(), r.begin(), r.end());
      const auto put = [&](int column, const Block& block) {
        for (int m = 0; m < 5; ++m)
          for (int l = 0; l < 5; ++l) band.at(5 * i + m, 5 * column + l) = block[m][l];
      };
      if (i == 0 || i == n - 1) {
        put(i, plain_jacobian(d, u.at(line(i)), 0, 0, 1));
      } else {
        put(i - 1, plain_jacobian(d, u.at(line(i - 1)), -t2, -t1, 0));
        put(i, plain_jacobian(d, u.at(line(i)), 0, 2 * t1, 1));
        put(i + 1, plain_jacobian(d, u.at(line(i + 1)), t2, -t1, 0));
      }
    }
    band.solve(x);
    for (int i = 0; i < n; ++i) std::copy_n(x.begin() + 5 * i, 5, delta.at(line(i)).begin());
  });
}

double sound(const Point& u) {
  return std::sqrt(1.4 * .4 * (u[4] - (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / (2 * u[0])) / u[0]);
}

void solve_scalars(double dt, std::size_t d, const WholeField& u, WholeField& delta) {
  const int n = u.n();
  const double t1 = dt * (n - 1.) * (n - 1.), t2 = dt * (n - 1.) / 2, e = dt * .25;
  for_lines(n, d, [&](auto line) {
    for (std::size_t m = 0; m < 5; ++m) {
      Band band(n, 2);
      std::vector<double> x(static_cast<std::size_t>(n));
      const auto speed = [&](int i) {
        const Point& point = u.at(line(i));
        return point[d + 1] / point[0] + (m == 3 ? sound(point) : m == 4 ? -sound(point) : 0);
      };
      const auto spread = [&](int i) { return diffusion_of(d) + .196 / u.at(line(i))[0]; };
      for (int i = 0; i < n; ++i) {
        x[i] = delta.at(line(i))[m];
        band.at(i, i) = 1;
        if (i == 0 || i == n - 1) continue;
        const bool inner = i > 1 && i < n - 2;
        if (i > 2) band.at(i, i - 2) = e;
        if (i < n - 3) band.at(i, i + 2) = e;
        band.at(i, i - 1) = -t2 * speed(i - 1) - t1 * spread(i - 1) - (i > 1 ? 4 * e : 0);
        band.at(i, i) += 2 * t1 * spread(i) + (inner ? 6 : 5) * e;
        band.at(i, i + 1) = t2 * speed(i + 1) - t1 * spread(i + 1) - (i < n - 2 ? 4 * e : 0);
      }
      band.solve(x);
      for (int i = 0; i < n; ++i) delta.at(line(i))[m] = x[i];
    }
  });
}

// SP's changes of variables: T, N_x, N_y and Z.
Point changed(int which, const Point& u, const Point& r) {
  const double b = std::sqrt(.5), rho = u[0], x = u[1] / rho, y = u[2] / rho, z = u[3] / rho;
  const double s = (x * x + y * y + z * z) / 2, a = sound(u);
  const double sum = (r[3] + r[4]) / 2, difference = b * (r[3] - r[4]);
  if (which == 0) {
    const double one = .4 / (a * a) * (s * r[0] - x * r[1] - y * r[2] - z * r[3] + r[4]);
    const double two = b / rho * (x * r[0] - r[1]), three = b * a * one / rho;
    return {r[0] - one, (r[3] - z * r[0]) / rho, (y * r[0] - r[2]) / rho, three - two, three + two};
  }
  if (which == 1) return {-r[1], r[0], difference, sum - b * r[2], sum + b * r[2]};
  if (which == 2) return {difference, -r[2], r[1], sum - b * r[0], sum + b * r[0]};
  const double one = b * rho / a * (r[3] + r[4]), two = r[2] + one, three = rho * difference;
  return {two, x * two - rho * r[1], y * two + rho * r[0], z * two + three,
          rho * (y * r[0] - x * r[1]) + s * two + 2.5 * a * a * one + z * three};
}

// Solves block x = y with pivots.
Point solved(const Block& block, const Point& y) {
  Band band(5, 4);
  for (int m = 0; m < 5; ++m)
    for (int n = 0; n < 5; ++n) band.at(m, n) = block[m][n];
  std::vector<double> x(y.begin(), y.end());
  band.solve(x);
  return {x[0], x[1], x[2], x[3], x[4]};
}

void plain_ssor(double dt, const WholeField& u, WholeField& y) {
  const int n = u.n();
  const double t1 = dt * (n - 1.) * (n - 1.), t2 = dt * (n - 1.) / 2, omega = 1.2;
  const auto sweep_at = [&](const Place& at, int side, const Point& own) {
    Block g{};
    Point r = own;
    for (std::size_t d = 0; d < 3; ++d) {
      const Block more = plain_jacobian(d, u.at(at), 0, 2 * t1, d == 0 ? 1 : 0);
      for (std::size_t m = 0; m < 5; ++m)
        for (std::size_t l = 0; l < 5; ++l) g[m][l] += more[m][l];
      const Place next = moved(at, d, side);
      const Point part = times(plain_jacobian(d, u.at(next), side * t2, -t1, 0), y.at(next));
      for (std::size_t m = 0; m < 5; ++m) r[m] -= omega * part[m];
    }
    return solved(g, r);
  };
  Box::cube(n, 1).for_each([&](const Place& at) { y.at(at) = sweep_at(at, -1, y.at(at)); });
  Box::cube(n, 1).for_each([&](const Place& mirrored) {
    const Place at{n - 1 - mirrored[0], n - 1 - mirrored[1], n - 1 - mirrored[2]};
    const Point change = sweep_at(at, 1, {});
    for (std::size_t m = 0; m < 5; ++m) y.at(at)[m] += change[m];
  });
  for (Point& point : y.points())
    for (double& value : point) value /= omega * (2 - omega);
}

// c2 (E - q): the pressure.
double pressure(const Point& u) {
  return .4 * (u[4] - (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / (2 * u[0]));
}

}  // namespace

Point plain_start(int n, const Place& at) {
  const double h = 1. / (n - 1), w[3] = {at[0] * h, at[1] * h, at[2] * h};
  for (const int x : at)
    if (x == 0 || x == n - 1) return exact(w[0], w[1], w[2]);
  Point rest{1, 1, 1, 1, 1};  // the blend is 1 - (1 - P_x)(1 - P_y)(1 - P_z)
  for (std::size_t d = 0; d < 3; ++d) {
    const Point low = exact_at(n, moved(at, d, -at[d])), high = exact_at(n, moved(at, d, n - 1 - at[d]));
    for (std::size_t m = 0; m < 5; ++m) rest[m] *= 1 - (low[m] + w[d] * (high[m] - low[m]));
  }
  for (double& value : rest) value = 1 - value;
  return rest;
}

Norms norms_of(const WholeField& u) {
  const int n = u.n();
  const double inner = std::pow(n - 2., 3);
  Norms norms;
  Box::cube(n, 1).for_each([&](const Place& at) {
    const Point r = plain_residual(u, at);
    for (std::size_t m = 0; m < 5; ++m) norms.residual[m] += r[m] * r[m];
  });
  Box::cube(n).for_each([&](const Place& at) {
    const Point should_be = exact_at(n, at);
    for (std::size_t m = 0; m < 5; ++m) norms.error[m] += std::pow(u.at(at)[m] - should_be[m], 2);
  });
  for (double& value : norms.residual) value = std::sqrt(value / inner);
  for (double& value : norms.error) value = std::sqrt(value / inner);

  const int low[3] = {1, 1, 2}, high[3] = {n - 2, n - 3, n - 2};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::size_t e = (d + 1) % 3, f = (d + 2) % 3;
    for (const int face : {low[d], high[d]})
      for (int a = low[e]; a < high[e]; ++a)
        for (int b = low[f]; b < high[f]; ++b)
          for (const auto& [da, db] : {std::pair{0, 0}, {0, 1}, {1, 0}, {1, 1}}) {
            Place at{};
            at[d] = face;
            at[e] = a + da;
            at[f] = b + db;
            norms.integral += pressure(u.at(at));
          }
  }
  norms.integral /= 4 * std::pow(n - 1., 2);
  return norms;
}

void plain_step(Method method, double dt, WholeField& u) {
  const int n = u.n();
  WholeField delta(n);
  Box::cube(n, 1).for_each([&](const Place& at) {
    delta.at(at) = plain_residual(u, at);
    for (double& value : delta.at(at)) value *= dt;
  });
  const auto change = [&](int which) {
    if (method == Method::sp)
      Box::cube(n, 1).for_each([&](const Place& at) { delta.at(at) = changed(which, u.at(at), delta.at(at)); });
  };
  if (method == Method::lu) plain_ssor(dt, u, delta);
  change(0);
  for (std::size_t d = 0; d < 3 && method != Method::lu; ++d) {
    (method == Method::bt ? solve_blocks : solve_scalars)(dt, d, u, delta);
    change(static_cast<int>(d) + 1);
  }
  Box::cube(n, 1).for_each([&](const Place& at) {
    for (std::size_t m = 0; m < 5; ++m) u.at(at)[m] += delta.at(at)[m];
  });
}

}  // namespace plumb::npb
