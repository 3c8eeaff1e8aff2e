#include "benchmarks/apps/shallow_water/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plumb::shallow_water {

namespace {

// Tables of the basis and the quadrature are computed with more digits than double has, where the compiler has them: in
// double the sums of monomials are off by up to ten roundings.
using Long = long double;

// Powers of r and s of the basis's monomials.
constexpr std::array<std::array<int, 2>, most_basis> powers{{{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1}, {0, 2}}};

Long factorial(int n) {
  return n < 2 ? 1 : n * factorial(n - 1);
}

// Mean of r^a s^b over the triangle.
Long mean_of(int a, int b) {
  return 2 * factorial(a) * factorial(b) / factorial(a + b + 2);
}

using Polynomial = std::array<Long, most_basis>;

Long mean_of_product(const Polynomial& p, const Polynomial& q) {
  Long sum = 0;
  for (std::size_t i = 0; i < most_basis; ++i)
    for (std::size_t j = 0; j < most_basis; ++j)
      sum += p[i] * q[j] * mean_of(powers[i][0] + powers[j][0], powers[i][1] + powers[j][1]);
  return sum;
}

// Gram and Schmidt, on 1, r, s, r^2, r s, s^2.
const std::array<Polynomial, most_basis>& polynomials() {
  static const std::array<Polynomial, most_basis> all = [] {
    std::array<Polynomial, most_basis> found{};
    for (std::size_t i = 0; i < most_basis; ++i) {
      Polynomial p{};
      p[i] = 1;
      for (int pass = 0; pass < 2; ++pass)
        for (std::size_t j = 0; j < i; ++j) {
          const Long share = mean_of_product(p, found[j]);
          for (std::size_t k = 0; k < most_basis; ++k) p[k] -= share * found[j][k];
        }
      const Long norm = std::sqrt(mean_of_product(p, p));
      for (Long& one : p) one /= norm;
      found[i] = p;
    }
    return found;
  }();
  return all;
}

struct Slopes {
  BasisValues by_r{}, by_s{};
};

// Of the basis's first polynomials, sums of the monomials' values.
BasisValues values_of(std::size_t count, const Polynomial& monomials) {
  BasisValues values{};
  for (std::size_t i = 0; i < count; ++i) {
    Long sum = 0;
    for (std::size_t k = 0; k < most_basis; ++k) sum += polynomials()[i][k] * monomials[k];
    values[i] = static_cast<double>(sum);
  }
  return values;
}

Slopes slopes_at(Long r, Long s) {
  return {values_of(most_basis, {0, 1, 0, 2 * r, s, 0}), values_of(most_basis, {0, 0, 1, 0, r, 2 * s})};
}

Rule::Node node(Long r, Long s, Long weight) {
  return {static_cast<double>(r), static_cast<double>(s), static_cast<double>(weight)};
}

// Gauss's points on 0 to 1; Strang and Fix's three points; Dunavant's six.
Rule make_rule(int order) {
  const Long one = 1, half = one / 2;
  if (order == 0) return {{node(one / 3, one / 3, 1)}, {node(half, 0, 1)}};
  if (order == 1) {
    const Long g = half / std::sqrt(3 * one), a = one / 6, b = 2 * one / 3, w = one / 3;
    return {{node(a, a, w), node(b, a, w), node(a, b, w)}, {node(half - g, 0, half), node(half + g, 0, half)}};
  }
  // (8 - sqrt 10 +- sqrt(38 - 44 sqrt(2/5))) / 18
  const Long root = std::sqrt(10 * one), near = std::sqrt(38 - 44 * std::sqrt(2 * one / 5)), base = 8 - root,
             more = std::sqrt(213125 - 53320 * root);
  const Long a = (base + near) / 18, b = (base - near) / 18, wa = (620 + more) / 3720, wb = (620 - more) / 3720;
  const Long g = half * std::sqrt(3 * one / 5);
  return {{node(a, a, wa), node(1 - 2 * a, a, wa), node(a, 1 - 2 * a, wa), node(b, b, wb), node(1 - 2 * b, b, wb),
           node(b, 1 - 2 * b, wb)},
          {node(half - g, 0, 5 * one / 18), node(half, 0, 4 * one / 9), node(half + g, 0, 5 * one / 18)}};
}

// State and velocities at a point, and the depth there.
struct Trace {
  double level = 0, U = 0, V = 0, u = 0, v = 0;
};

double pressure(double gravity, double level, double bed) {
  return gravity * level * (0.5 * level + bed);
}

}  // namespace

const Rule& rule_of(int order) {
  static const std::array<Rule, 3> all{make_rule(0), make_rule(1), make_rule(2)};
  return all.at(static_cast<std::size_t>(order));
}

BasisValues basis_at(int order, double r, double s) {
  const Long x = r, y = s;
  return values_of(basis_of(order), {1, x, y, x * x, x * y, y * y});
}

std::array<double, 2> on_edge(int k, double t) {
  if (k == 0) return {t, 0};
  if (k == 1) return {1 - t, t};
  return {0, 1 - t};
}

namespace {

// At the quadrature's points; made once, since long numbers would take longer than all else of a projection.
const std::vector<BasisValues>& basis_inside(int order) {
  static const auto made = [] {
    std::array<std::vector<BasisValues>, 3> all;
    for (int p = 0; p < 3; ++p)
      for (const auto& [r, s, weight] : rule_of(p).inside)
        all[static_cast<std::size_t>(p)].push_back(basis_at(p, r, s));
    return all;
  }();
  return made.at(static_cast<std::size_t>(order));
}

}  // namespace

void project_on(const Mesh& mesh, std::size_t element, int order, const std::function<Fields(Point)>& function,
                double* coefficients) {
  const std::size_t basis = basis_of(order);
  const std::vector<BasisValues>& inside = basis_inside(order);
  std::fill_n(coefficients, fields * basis, 0.0);
  for (std::size_t q = 0; q < inside.size(); ++q) {
    const auto& [r, s, weight] = rule_of(order).inside[q];
    const BasisValues& phi = inside[q];
    const Fields values = function(mesh.at(element, r, s));
    for (std::size_t f = 0; f < fields; ++f)
      for (std::size_t i = 0; i < basis; ++i) coefficients[f * basis + i] += weight * values[f] * phi[i];
  }
}

Reference::Reference(const Mesh& mesh, const Physics& physics, int order, const Solution& solution, Marks watched)
    : mesh_(mesh),
      physics_(physics),
      order_(order),
      basis_(basis_of(order)),
      solution_(solution),
      watched_(std::move(watched)) {
  if (watched_.empty()) watched_.assign(mesh.elements(), true);
  areas_.reserve(mesh.elements());
  edges_.reserve(3 * mesh.elements() / 2 + mesh.elements() / 8);  // inner ones, and some outer ones
  for (std::size_t e = 0; e < mesh.elements(); ++e) {
    areas_.push_back(mesh.area(e));
    for (int k = 0; k < 3; ++k) {
      const std::int32_t place = mesh.neighbours[e][static_cast<std::size_t>(k)];
      const auto other = static_cast<std::size_t>(place / 4);
      if (place >= 0 && other < e) continue;  // the other's
      const Point a = mesh.corner(e, k), b = mesh.corner(e, (k + 1) % 3);
      const double length = std::hypot(b.x - a.x, b.y - a.y);
      edges_.push_back({e, other, k, std::max(place, 0) % 4, std::min(place, 0), (b.y - a.y) / length,
                        (a.x - b.x) / length, length});
    }
  }
  velocities_.resize(2 * basis_ * mesh.elements());
  for (const auto& [r, s, weight] : rule_of(order).inside) {
    const Slopes slopes = slopes_at(r, s);
    inside_.push_back(basis_at(order, r, s));
    by_r_.push_back(slopes.by_r);
    by_s_.push_back(slopes.by_s);
  }
  for (int k = 0; k < 3; ++k)
    for (const auto& [at, unused, weight] : rule_of(order).edge) {
      const auto [r, s] = on_edge(k, at);
      const auto [back_r, back_s] = on_edge(k, 1 - at);
      edge_[static_cast<std::size_t>(k)].push_back(basis_at(order, r, s));
      back_[static_cast<std::size_t>(k)].push_back(basis_at(order, back_r, back_s));
    }
}

double Reference::value(const double* coefficients, const BasisValues& phi) const {
  double sum = 0;
  for (std::size_t i = 0; i < basis_; ++i) sum += coefficients[i] * phi[i];
  return sum;
}

double Reference::bed(std::size_t element, double r, double s) const {
  return mesh_.depth(element, 0) * (1 - r - s) + mesh_.depth(element, 1) * r + mesh_.depth(element, 2) * s;
}

void Reference::watch(std::size_t element, double height) {
  if (watched_[element] && !(height >= lowest_.first)) lowest_ = {height, element};
}

void Reference::project_velocities(const Coefficients& state, std::size_t element) {
  const double* of = &state[element * fields * basis_];
  double* to = &velocities_[element * 2 * basis_];
  std::fill_n(to, 2 * basis_, 0.0);
  for (std::size_t q = 0; q < inside_.size(); ++q) {
    const auto& [r, s, weight] = rule_of(order_).inside[q];
    const BasisValues& phi = inside_[q];
    const double height = bed(element, r, s) + value(of, phi);
    watch(element, height);
    for (std::size_t i = 0; i < basis_; ++i) {
      to[i] += weight * value(of + basis_, phi) / height * phi[i];
      to[basis_ + i] += weight * value(of + 2 * basis_, phi) / height * phi[i];
    }
  }
}

void Reference::add_inside(const Coefficients& state, std::size_t element, double t, Coefficients& rate) {
  const Point a = mesh_.corner(element, 0), b = mesh_.corner(element, 1), c = mesh_.corner(element, 2);
  const double twice = 2 * areas_[element], g = physics_.gravity;
  const double rx = (c.y - a.y) / twice, ry = -(c.x - a.x) / twice, sx = -(b.y - a.y) / twice, sy = (b.x - a.x) / twice;
  const double rise_r = mesh_.depth(element, 1) - mesh_.depth(element, 0),
               rise_s = mesh_.depth(element, 2) - mesh_.depth(element, 0);
  const double bed_x = rise_r * rx + rise_s * sx, bed_y = rise_r * ry + rise_s * sy;
  const double* of = &state[element * fields * basis_];
  const double* velocity = &velocities_[element * 2 * basis_];
  for (std::size_t q = 0; q < inside_.size(); ++q) {
    const auto& [r, s, weight] = rule_of(order_).inside[q];
    const BasisValues& phi = inside_[q];
    const double level = value(of, phi), U = value(of + basis_, phi), V = value(of + 2 * basis_, phi);
    const double u = value(velocity, phi), v = value(velocity + basis_, phi), depth = bed(element, r, s);
    double drag = 0;
    if (physics_.friction_kind == Friction::linear) drag = physics_.friction;
    if (physics_.friction_kind == Friction::quadratic) drag = physics_.friction * std::hypot(u, v) / (depth + level);
    Fields more{};
    if (solution_.source) more = solution_.source(mesh_.at(element, r, s), t);
    const double p = pressure(g, level, depth);
    const std::array<std::array<double, 2>, fields> flux{{{U, V}, {u * U + p, v * U}, {u * V, v * V + p}}};
    const Fields source{more[0], g * level * bed_x + physics_.coriolis * V - drag * U + more[1],
                        g * level * bed_y - physics_.coriolis * U - drag * V + more[2]};
    for (std::size_t f = 0; f < fields; ++f)
      for (std::size_t i = 0; i < basis_; ++i) {
        const double phi_x = by_r_[q][i] * rx + by_s_[q][i] * sx, phi_y = by_r_[q][i] * ry + by_s_[q][i] * sy;
        rate[(element * fields + f) * basis_ + i] +=
            weight * (flux[f][0] * phi_x + flux[f][1] * phi_y + source[f] * phi[i]);
      }
  }
}

void Reference::add_edge(const Coefficients& state, const Edge& edge, double t, Coefficients& rate) {
  const double g = physics_.gravity, nx = edge.nx, ny = edge.ny;
  const auto trace = [&](std::size_t element, const BasisValues& phi) {
    const double *of = &state[element * fields * basis_], *velocity = &velocities_[element * 2 * basis_];
    return Trace{value(of, phi), value(of + basis_, phi), value(of + 2 * basis_, phi), value(velocity, phi),
                 value(velocity + basis_, phi)};
  };
  for (std::size_t q = 0; q < rule_of(order_).edge.size(); ++q) {
    const auto& [at, unused, weight] = rule_of(order_).edge[q];
    const auto [r, s] = on_edge(edge.edge, at);
    const BasisValues& phi = edge_[static_cast<std::size_t>(edge.edge)][q];
    const Trace in = trace(edge.element, phi);
    const double depth = bed(edge.element, r, s);
    watch(edge.element, depth + in.level);
    const auto add = [&](std::size_t element, const BasisValues& to, double share, const Fields& flux) {
      for (std::size_t f = 0; f < fields; ++f)
        for (std::size_t i = 0; i < basis_; ++i)
          rate[(element * fields + f) * basis_ + i] += share * weight * edge.length / areas_[element] * flux[f] * to[i];
    };
    const double through = in.U * nx + in.V * ny, speed = in.u * nx + in.v * ny,
                 wave = std::sqrt(g * (depth + in.level));
    if (edge.kind == land) {
      // The mirrored state has the same pressure and u U; U's jump is twice its part along the normal.
      const double push = through * (speed + std::abs(speed) + wave) + pressure(g, in.level, depth);
      add(edge.element, phi, -1, {0, push * nx, push * ny});
      continue;
    }
    Trace out = in;
    const BasisValues& its = back_[static_cast<std::size_t>(edge.its_edge)][q];
    if (edge.kind == sea) {
      out.level = physics_.tide.level(t);
    } else if (edge.kind <= first_exact) {
      const Fields exact = solution_.state(mesh_.at(edge.element, r, s), t);
      const double height = depth + exact[0];
      out = {exact[0], exact[1], exact[2], exact[1] / height, exact[2] / height};
    } else {
      out = trace(edge.other, its);
    }
    const double its_through = out.U * nx + out.V * ny, its_speed = out.u * nx + out.v * ny;
    const double fastest = std::max(std::abs(speed) + wave, std::abs(its_speed) + std::sqrt(g * (depth + out.level)));
    const double p = pressure(g, in.level, depth) + pressure(g, out.level, depth);
    const Fields flux{0.5 * (through + its_through + fastest * (in.level - out.level)),
                      0.5 * (in.U * speed + out.U * its_speed + p * nx + fastest * (in.U - out.U)),
                      0.5 * (in.V * speed + out.V * its_speed + p * ny + fastest * (in.V - out.V))};
    add(edge.element, phi, -1, flux);
    if (edge.kind == 0) add(edge.other, its, 1, flux);
  }
}

void Reference::rates(const Coefficients& state, double t, Coefficients& rate) {
  rate.assign(state.size(), 0.0);
  for (std::size_t e = 0; e < mesh_.elements(); ++e) project_velocities(state, e);
  for (std::size_t e = 0; e < mesh_.elements(); ++e) add_inside(state, e, t, rate);
  for (const Edge& edge : edges_) add_edge(state, edge, t, rate);
}

std::pair<double, std::size_t> Reference::step(Coefficients& state, double t, double time_step) {
  lowest_ = {std::numeric_limits<double>::infinity(), 0};
  base_ = state;
  for (const Stage& stage : stages_of(order_)) {
    rates(state, t + stage.at * time_step, rate_);
    for (std::size_t i = 0; i < state.size(); ++i)
      state[i] = stage.base_share * base_[i] + stage.share * (state[i] + time_step * rate_[i]);
  }
  return lowest_;
}

}  // namespace plumb::shallow_water
