#include "benchmarks/hpcc/gemm/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace plumb::gemm {

namespace {

constexpr std::size_t worth_comparing_together = 1 << 14;  // elements, minimum for several threads
constexpr double infinity = std::numeric_limits<double>::infinity();

// Of one row.
struct RowFinding {
  double worst_ratio = 0, largest_error = 0;
  std::size_t wrong = 0, first_wrong = 0;
  double is = 0, should_be = 0;
};

RowFinding compare_row(const Problem& problem, const Bound& bound, const Reference& reference, std::size_t row,
                       std::span<const double> values, std::span<const double> added, const Signs& signs) {
  RowFinding found;
  for (std::size_t j = 0; j < values.size(); ++j) {
    const double exact = signs.of(j) * reference.at(row * problem.columns + j) + problem.beta * added[j];
    const double difference = std::abs(values[j] - exact);
    const double error = std::isnan(difference) ? infinity : difference;
    const double ratio = error / bound.of(reference.scale(row, j), exact);
    found.worst_ratio = std::max(found.worst_ratio, ratio);
    found.largest_error = std::max(found.largest_error, error);
    if (ratio > 1 && found.wrong++ == 0) {
      found.first_wrong = j;
      found.is = values[j];
      found.should_be = exact;
    }
  }
  return found;
}

}  // namespace

Comparison compare(const Problem& problem, const Rounding& rounding, const Reference& reference,
                   const Provenance& origin, std::size_t c_first, std::span<const std::byte> product,
                   const Signs& signs) {
  const Bound bound(problem, rounding);
  const std::size_t row_bytes = problem.bytes(problem.columns);
  std::vector<RowFinding> rows(problem.rows);
#pragma omp parallel if (problem.c_items() > worth_comparing_together)
  {
    std::vector<double> values(problem.columns), added(problem.columns);
#pragma omp for schedule(static)
    for (std::size_t i = 0; i < problem.rows; ++i) {
      load_scalars(product.subspan(i * row_bytes, row_bytes), problem.element.stored, values);
      fill(added, problem.element.stored, origin, Matrix::c, c_first + i * problem.columns);
      rows[i] = compare_row(problem, bound, reference, i, values, added, signs);
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
      validation.detail = fmt::format("C[{}][{}] is {:.9g}, should be {:.9g} within {:.2g}", i, row.first_wrong, row.is,
                                      row.should_be, bound.of(reference.scale(i, row.first_wrong), row.should_be));
    }
    validation.wrong_items += row.wrong;
  }
  if (validation.wrong_items > 0)
    validation.detail += fmt::format("; {} of {} elements are wrong", validation.wrong_items, problem.c_items());
  return result;
}

namespace {

// A row of A times columns of B in long double, with the norms for its scale.
class RowProduct {
 public:
  // For the first `count` columns.
  RowProduct(const Problem& problem, const Provenance& origin, std::size_t columns, const Signs& signs)
      : problem_(problem), origin_(origin), width_(columns), b_(problem.inner * columns), norms_(columns) {
    for (std::size_t k = 0; k < problem.inner; ++k)
      fill(std::span(b_).subspan(k * width_, width_), problem.element.stored, origin, Matrix::b, k * problem.columns);
    for (std::size_t i = 0; i < b_.size(); ++i) {
      norms_[i % width_] += b_[i] * b_[i];
      b_[i] *= signs.of(i % width_);
    }
    for (double& norm : norms_) norm = std::sqrt(norm);
  }

  // Elements from `column` on of alpha A B + beta C, with the row of A starting at item `a` and C's elements from `c`
  // on; and their scales (see Bound).
  struct Elements {
    std::vector<double> exact, scales;
  };
  Elements elements(std::size_t a, std::size_t c, std::size_t column, std::size_t count) const {
    std::vector<double> row(problem_.inner), added(count);
    fill(row, problem_.element.stored, origin_, Matrix::a, a);
    fill(added, problem_.element.stored, origin_, Matrix::c, c);
    std::vector<long double> sums(count);
    double squares = 0;
    for (std::size_t k = 0; k < row.size(); ++k) {
      squares += row[k] * row[k];
      for (std::size_t j = 0; j < count; ++j) sums[j] += static_cast<long double>(row[k]) * b_[k * width_ + column + j];
    }
    Elements result;
    const double unit = std::abs(problem_.alpha) * std::sqrt(squares / static_cast<double>(problem_.inner));
    for (std::size_t j = 0; j < count; ++j) {
      result.exact.push_back(static_cast<double>(problem_.alpha * sums[j] + problem_.beta * added[j]));
      result.scales.push_back(unit * norms_[column + j]);
    }
    return result;
  }

 private:
  const Problem& problem_;
  const Provenance& origin_;
  std::size_t width_;
  std::vector<double> b_, norms_;
};

void add(Comparison& result, const Comparison& more) {
  result.validation.error = std::max(result.validation.error, more.validation.error);
  result.validation.wrong_items += more.validation.wrong_items;
  if (result.validation.detail.empty()) result.validation.detail = more.validation.detail;
  result.largest_error = std::max(result.largest_error, more.largest_error);
}

}  // namespace

void compare_rests(const Problem& problem, const Rounding& rounding, const Provenance& origin, const Slide& slide,
                   const Rests& rests, Comparison& result) {
  const std::size_t size = problem.bytes(1), length = problem.bytes(rests.items);
  const std::size_t begin = slide.target(rests.count - 1), last = slide.target(0);
  std::vector<Slide::Rest> left;
  std::uint64_t written = 0;
  slide.each_run(
      length, rests.count, last + length + rests.guard.size(),
      [&](const Slide::Rest& rest) {
        if (rest.later > 0) left.push_back(rest);
      },
      [&](std::size_t from, std::size_t bytes) {
        const auto run = from > last ? rests.guard : rests.before.subspan(from - begin, bytes);
        written += static_cast<std::uint64_t>(
            std::count_if(run.begin(), run.end(), [](std::byte b) { return b != poison_byte; }));
      });
  if (written > 0) {
    result.validation.wrong_items += written;
    if (result.validation.detail.empty())
      result.validation.detail = fmt::format("{} bytes past the end of C were written", written);
  }
  if (left.empty()) return;
  const Bound bound(problem, rounding);
  const RowProduct product(problem, origin, std::min(problem.columns, left.front().size / size), rests.signs);
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < left.size(); ++i) {
    const Slide::Rest& rest = left[i];
    const std::size_t shift = slide.source(rest.later) / size;
    std::vector<double> is(rest.size / size);
    load_scalars(rests.before.subspan(rest.begin - begin, rest.size), problem.element.stored, is);
    Comparison mine;
    for (std::size_t at = 0; at < is.size();) {  // by row
      const std::size_t item = rests.first_item + at, row = item / problem.columns, column = item % problem.columns;
      const std::size_t count = std::min(is.size() - at, problem.columns - column);
      const auto should_be = product.elements(row * problem.inner + shift, rests.c_begin + item + shift, column, count);
      for (std::size_t j = 0; j < count; ++j) {
        const double difference = std::abs(is[at + j] - should_be.exact[j]);
        const double error = std::isnan(difference) ? infinity : difference;
        const double allowed = bound.of(should_be.scales[j], should_be.exact[j]);
        mine.largest_error = std::max(mine.largest_error, error);
        mine.validation.error = std::max(mine.validation.error, error / allowed);
        if (error > allowed && mine.validation.wrong_items++ == 0)
          mine.validation.detail =
              fmt::format("C[{}][{}] of operation {} of {} is {:.9g}, should be {:.9g} within {:.2g}", row, column + j,
                          rests.count - rest.later, rests.count, is[at + j], should_be.exact[j], allowed);
      }
      at += count;
    }
#pragma omp critical
    add(result, mine);
  }
}

}  // namespace plumb::gemm
