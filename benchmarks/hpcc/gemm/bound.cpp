#include "benchmarks/hpcc/gemm/bound.hpp"

#include <cmath>

namespace plumb::gemm {

namespace {

// Multiples of the expected error that no right element exceeds (README.md, "The bound").
constexpr double sums_margin = 12, factors_margin = 8;
// Roundings of alpha s + beta c, plus one for second-order terms.
constexpr double operations = 4;

double unit_roundoff(ScalarType type) {
  return epsilon_of(type) / 2;
}

// Halves lose digits below 2^-24; devices may flush subnormal floats and doubles to zero.
double least_of(ScalarType type) {
  if (type == ScalarType::f64) return 0x1p-1022;
  return type == ScalarType::f16 ? 0x1p-24 : 0x1p-126;
}

}  // namespace

Rounding rounding_of(const Element& element) {
  return rounding_of(element, element.computed);
}

Rounding rounding_of(const Element& element, ScalarType computed_in) {
  Rounding rounding;
  rounding.sums = unit_roundoff(computed_in);
  rounding.result = unit_roundoff(element.stored);
  rounding.least = least_of(element.stored);
  rounding.factors = element.short_factors ? std::ldexp(1.0, -11) : 0;
  rounding.chops = element.short_factors || size_of(element.stored) == 2;
  return rounding;
}

double product_spread(double inner) {
  return std::sqrt(inner) / 3;
}

Bound::Bound(const Problem& problem, const Rounding& rounding) {
  const auto inner = static_cast<double>(problem.inner);
  sums_ = sums_margin * rounding.sums * std::sqrt((inner + 1) / 2) + factors_margin * rounding.factors;
  if (rounding.chops) sums_ += inner * rounding.sums;
  // For double the reference has the same precision as the result.
  if (problem.element.stored == ScalarType::f64) sums_ *= 2;
  result_ = operations * rounding.sums + rounding.result;
  constant_ = operations * rounding.sums * 2 * std::abs(problem.beta) + rounding.least;  // |c| < 1
}

bool tells_half_the_work(const Problem& problem) {
  const double scale = std::abs(problem.alpha) * product_spread(static_cast<double>(problem.inner));
  const Bound bound(problem, rounding_of(problem.element));
  return bound.of(scale, 3 * scale) < scale / std::sqrt(2.0) / 8;
}

}  // namespace plumb::gemm
