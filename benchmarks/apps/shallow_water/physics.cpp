#include "benchmarks/apps/shallow_water/physics.hpp"

#include <algorithm>
#include <map>
#include <numbers>

namespace plumb::shallow_water {

namespace {

constexpr double tau = 2 * std::numbers::pi;

// A number with its derivatives by t, x and y.
struct Dual {
  double value = 0, t = 0, x = 0, y = 0;
  friend Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.t + b.t, a.x + b.x, a.y + b.y}; }
  friend Dual operator*(Dual a, Dual b) {
    return {a.value * b.value, a.t * b.value + a.value * b.t, a.x * b.value + a.value * b.x,
            a.y * b.value + a.value * b.y};
  }
  friend Dual operator/(Dual a, Dual b) {
    const double q = a.value / b.value;
    return {q, (a.t - q * b.t) / b.value, (a.x - q * b.x) / b.value, (a.y - q * b.y) / b.value};
  }
};

Dual sine(Dual a) {
  const double c = std::cos(a.value);
  return {std::sin(a.value), c * a.t, c * a.x, c * a.y};
}

Dual number(double value) {
  return {value, 0, 0, 0};
}

}  // namespace

Fields waves_at(Point p, double extent) {
  Fields sum{};
  const std::array<double, 3> waves{3, 5.3, 7.9}, turns{0.4, 2.3, 4.4};
  for (std::size_t i = 0; i < waves.size(); ++i) {
    const double along = tau * waves[i] / extent * (p.x * std::cos(turns[i]) + p.y * std::sin(turns[i])) + turns[i];
    sum[0] += 0.15 * std::sin(along);
    sum[1] += 0.3 * std::cos(1.1 * along + 1);
    sum[2] += 0.3 * std::cos(0.9 * along + 2);
  }
  return sum;
}

Solution manufactured(const Physics& physics, const Plane& plane, double side) {
  const auto state = [side](Point p, double t) {
    const double k = tau / side, w = tau / (0.3 * side);  // a wave passes the square in 0.3 side seconds
    const Dual x{p.x, 0, 1, 0}, y{p.y, 0, 0, 1}, time{t, 1, 0, 0};
    const Dual a = number(k) * x + number(-w) * time, b = number(0.7 * k) * y + number(0.6 * w) * time;
    return std::array<Dual, 3>{number(0.4) * sine(a + number(0.3)) * sine(b + number(1)),
                               number(5) + number(3) * sine(a + b),
                               number(-2) + number(2.5) * sine(b + number(-0.4) * a)};
  };
  const auto value = [state](Point p, double t) {
    const auto all = state(p, t);
    return Fields{all[0].value, all[1].value, all[2].value};
  };
  const auto source = [state, physics, plane](Point p, double t) {
    const auto [level, U, V] = state(p, t);
    const Dual bed{plane.depth(p), 0, plane.hx, plane.hy}, height = bed + level, u = U / height, v = V / height;
    const Dual push = number(physics.gravity) * level * (number(0.5) * level + bed);
    const double speed = std::hypot(u.value, v.value);
    const double drag = physics.friction_kind == Friction::quadratic ? physics.friction * speed / height.value
                        : physics.friction_kind == Friction::linear  ? physics.friction
                                                                     : 0;
    const double lift = physics.gravity * level.value, f = physics.coriolis;
    return Fields{level.t + U.x + V.y,
                  U.t + (u * U + push).x + (v * U).y - lift * plane.hx - f * V.value + drag * U.value,
                  V.t + (u * V).x + (v * V + push).y - lift * plane.hy + f * U.value + drag * V.value};
  };
  return {value, source};
}

// xi = A r^s1 + B r^s2, with xi = amplitude outside and no flow inside. (r h xi_r)_r / r = -(omega^2 - i omega tau) / g
// xi, h = H0 r^2.
std::complex<double> Ring::level(double radius, double gravity) const {
  using Complex = std::complex<double>;
  const double h0 = inner_depth / (inner * inner);
  const Complex root = std::sqrt(1.0 - (frequency * frequency - Complex(0, frequency * friction)) / (gravity * h0));
  const Complex s1 = -1.0 + root, s2 = -1.0 - root;
  const Complex ratio = -s1 / s2 * std::pow(inner, s1 - s2);  // B / A
  return amplitude * (std::pow(radius, s1) + ratio * std::pow(radius, s2)) /
         (std::pow(outer, s1) + ratio * std::pow(outer, s2));
}

// (i omega + tau) h u = -g h xi_r, by a central difference of the level in closed form.
std::complex<double> Ring::transport(double radius, double gravity) const {
  const double step = 1e-4 * radius, h = inner_depth * radius * radius / (inner * inner);
  const std::complex<double> slope = (level(radius + step, gravity) - level(radius - step, gravity)) / (2 * step);
  return -gravity * h * slope / std::complex<double>(friction, frequency);
}

Solution Ring::solution(double gravity) const {
  const auto state = [*this, gravity](Point p, double t) {
    const double radius = std::hypot(p.x, p.y);
    const std::complex<double> turn = std::polar(1.0, frequency * t);
    const double flow = (transport(radius, gravity) * turn).real();
    return Fields{(level(radius, gravity) * turn).real(), flow * p.x / radius, flow * p.y / radius};
  };
  return {state, nullptr};
}

Friction friction_of(const std::string& name) {
  static const std::map<std::string, Friction> all{
      {"none", Friction::none}, {"linear", Friction::linear}, {"quadratic", Friction::quadratic}};
  const auto found = all.find(name);
  if (found == all.end()) throw Error("there is no friction " + name);
  return found->second;
}

std::string friction_options(const std::string& friction) {
  return "-DFRICTION=" + std::to_string(static_cast<int>(friction_of(friction)));
}

const std::vector<Stage>& stages_of(int order) {
  static const std::vector<std::vector<Stage>> all{
      {{0, 1, 0}}, {{0, 1, 0}, {0.5, 0.5, 1}}, {{0, 1, 0}, {0.75, 0.25, 1}, {1.0 / 3, 2.0 / 3, 0.5}}};
  return all.at(static_cast<std::size_t>(order));
}

double stable_step(const Mesh& mesh, const Physics& physics, int order, double cfl, double headroom, double speed) {
  double shortest = std::numeric_limits<double>::infinity();
  for (std::size_t e = 0; e < mesh.elements(); ++e) {
    double perimeter = 0, depth = 0;
    for (int k = 0; k < 3; ++k) {
      const Point a = mesh.corner(e, k), b = mesh.corner(e, (k + 1) % 3);
      perimeter += std::hypot(a.x - b.x, a.y - b.y);
      depth = std::max(depth, mesh.depth(e, k));
    }
    shortest =
        std::min(shortest, 2 * mesh.area(e) / (perimeter * (std::sqrt(physics.gravity * (depth + headroom)) + speed)));
  }
  return cfl * shortest / (2 * order + 1);
}

}  // namespace plumb::shallow_water
