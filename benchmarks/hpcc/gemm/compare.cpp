#include "benchmarks/hpcc/gemm/compare.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

namespace plumb::gemm {

namespace {

constexpr std::size_t worth_comparing_together = 1 << 14;  // elements, among threads
constexpr double infinity = std::numeric_limits<double>::infinity();

// Of one row.
struct RowFinding {
  double worst_ratio = 0, largest_error = 0;
  std::size_t wrong = 0, first_wrong = 0;
  double is = 0;
};

RowFinding compare_row(const Problem& problem, const Bound& bound, const Reference& reference, std::size_t row,
                       std::span<const double> values) {
  RowFinding found;
  for (std::size_t j = 0; j < values.size(); ++j) {
    const double exact = reference.at(row * problem.columns + j);
    const double difference = std::abs(values[j] - exact);
    const double error = std::isnan(difference) ? infinity : difference;
    const double ratio = error / bound.of(reference.scale(row, j), exact);
    found.worst_ratio = std::max(found.worst_ratio, ratio);
    found.largest_error = std::max(found.largest_error, error);
    if (ratio > 1 && found.wrong++ == 0) {
      found.first_wrong = j;
      found.is = values[j];
    }
  }
  return found;
}

}  // namespace

Comparison compare(const Problem& problem, const Rounding& rounding, const Reference& reference,
                   std::span<const std::byte> product) {
  const Bound bound(problem, rounding);
  const std::size_t row_bytes = problem.bytes(problem.columns);
  std::vector<RowFinding> rows(problem.rows);
#pragma omp parallel if (problem.c_items() > worth_comparing_together)
  {
    std::vector<double> values(problem.columns);
#pragma omp for schedule(static)
    for (std::size_t i = 0; i < problem.rows; ++i) {
      load_scalars(product.subspan(i * row_bytes, row_bytes), problem.element.stored, values);
      rows[i] = compare_row(problem, bound, reference, i, values);
    }
  }

  Comparison result;
  Validation& validation = result.validation;
  validation.tolerance = 1;
  validation.reference = Reference::name() + " in double, proven by a random vector in long double";
  for (std::size_t i = 0; i < problem.rows; ++i) {
    const RowFinding& row = rows[i];
    validation.items_checked += problem.columns;
    validation.error = std::max(validation.error, row.worst_ratio);
    result.largest_error = std::max(result.largest_error, row.largest_error);
    if (row.wrong > 0 && validation.wrong_items == 0) {
      const double exact = reference.at(i * problem.columns + row.first_wrong);
      validation.detail = fmt::format("C[{}][{}] is {:.9g}, should be {:.9g} within {:.2g}", i, row.first_wrong, row.is,
                                      exact, bound.of(reference.scale(i, row.first_wrong), exact));
    }
    validation.wrong_items += row.wrong;
  }
  if (validation.wrong_items > 0)
    validation.detail += fmt::format("; {} of {} elements are wrong", validation.wrong_items, problem.c_items());
  return result;
}

}  // namespace plumb::gemm
