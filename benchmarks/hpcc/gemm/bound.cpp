#include "benchmarks/hpcc/gemm/bound.hpp"

#include <cmath>

namespace plumb::gemm {

namespace {

// Multiples of the expected size of an error that no right element exceeds (README.md, "The bound").
constexpr double sums_margin = 12, factors_margin = 8, result_margin = 4;

double unit_roundoff(ScalarType type) {
  return epsilon_of(type) / 2;
}

}  // namespace

Rounding rounding_of(const Element& element) {
  return rounding_of(element, element.computed);
}

Rounding rounding_of(const Element& element, ScalarType sums_in) {
  Rounding rounding;
  rounding.sums = unit_roundoff(sums_in);
  rounding.result = unit_roundoff(element.stored);
  rounding.factors = element.short_factors ? std::ldexp(1.0, -11) : 0;
  rounding.chops = element.short_factors || element.stored == ScalarType::f16;
  return rounding;
}

double product_spread(double inner) {
  return std::sqrt(inner) / 3;
}

Bound::Bound(const Problem& problem, const Rounding& rounding)
    : result_(result_margin * rounding.result), offset_(2 * std::abs(problem.beta)) {
  const auto inner = static_cast<double>(problem.inner);
  sums_ = sums_margin * rounding.sums * std::sqrt((inner + 1) / 2) + factors_margin * rounding.factors;
  if (rounding.chops) sums_ += inner * rounding.sums;
  // In double the reference is no more exact than what it judges.
  if (problem.element.stored == ScalarType::f64) sums_ *= 2;
}

bool tells_half_the_work(const Problem& problem) {
  const double scale = std::abs(problem.alpha) * product_spread(static_cast<double>(problem.inner));
  const Bound bound(problem, rounding_of(problem.element));
  return bound.of(scale, 3 * scale) < scale / std::sqrt(2.0) / 8;
}

}  // namespace plumb::gemm
