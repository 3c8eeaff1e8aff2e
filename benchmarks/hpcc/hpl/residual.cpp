#include "benchmarks/hpcc/hpl/residual.hpp"

#include <cmath>
#include <limits>

namespace plumb::hpl {

namespace {

// NaN, which a maximum would ignore, becomes infinity.
double or_infinity(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
}

RowSums row_sums(const Matrix& matrix, std::size_t rows, std::span<const double> x) {
  RowSums sums{std::vector<double>(rows), std::vector<double>(rows), std::vector<double>(rows)};
#pragma omp parallel
  {
    std::vector<double> values(x.size());
#pragma omp for schedule(static)
    for (std::size_t i = 0; i < rows; ++i) {
      matrix.row(i, values);
      for (std::size_t j = 0; j < x.size(); ++j) {
        sums.product[i] += values[j] * x[j];
        sums.size[i] += std::abs(values[j] * x[j]);
        sums.norm[i] += std::abs(values[j]);
      }
    }
  }
  return sums;
}

// The host sums one row of each block again: infinity if the device's sums differ by more than rounding.
void compare_rows(const Matrix& matrix, const Layout& layout, std::span<const double> x, RowSums& sums) {
  std::vector<double> values(x.size());
  const double rounding = 0x1p-52 * static_cast<double>(x.size() + 1);
  for (std::size_t i = layout.n % layout.block; i < sums.product.size(); i += layout.block) {
    matrix.row(i, values);
    double product = 0, size = 0, norm = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      product += values[j] * x[j];
      size += std::abs(values[j] * x[j]);
      norm += std::abs(values[j]);
    }
    const bool agree = std::abs(product - sums.product[i]) <= rounding * size &&
                       std::abs(size - sums.size[i]) <= rounding * size &&
                       std::abs(norm - sums.norm[i]) <= rounding * norm;
    if (!agree) sums.product[i] = std::numeric_limits<double>::infinity();
  }
}

}  // namespace

RowSums row_sums_of_all(const Matrix& matrix, const Layout& layout, std::span<const double> x, const Teams& teams,
                        Form* form, bool compares) {
  std::optional<RowSums> of_device = form != nullptr ? form->row_sums(matrix, x) : std::nullopt;
  if (of_device && compares) compare_rows(matrix, layout, x, *of_device);
  RowSums sums = of_device ? std::move(*of_device) : row_sums(matrix, layout.rows.count(), x);
  for (auto* of : {&sums.product, &sums.size, &sums.norm}) teams.row->all_reduce(std::span(*of), Fold::sum);
  return sums;
}

Residual residual(const Matrix& matrix, const Layout& layout, ScalarType type, std::span<const double> x,
                  const Teams& teams, Form* form) {
  return residual_of(row_sums_of_all(matrix, layout, x, teams, form, true), matrix, layout, type, x, teams);
}

Residual residual_of(const RowSums& sums, const Matrix& matrix, const Layout& layout, ScalarType type,
                     std::span<const double> x, const Teams& teams) {
  const double unit = type == ScalarType::f32 ? 0x1p-24 : 0x1p-53, n = static_cast<double>(layout.n);
  std::vector<double> largest(4);  // |A x - b|, |A|, |b|, |x|
  Located<double> worst{-1, 0};
  Residual found;
  for (std::size_t i = 0; i < sums.product.size(); ++i) {
    const double b = matrix.right_hand_side(i), rest = or_infinity(std::abs(sums.product[i] - b));
    largest[0] = std::max(largest[0], rest);
    largest[1] = std::max(largest[1], sums.norm[i]);
    largest[2] = std::max(largest[2], std::abs(b));
    const double of_row = or_infinity(rest / (unit * (sums.size[i] + std::abs(b)) * std::sqrt(n)));
    if (of_row > worst.value) worst = {of_row, static_cast<std::int64_t>(layout.rows.global(i))};
    ++found.rows;
  }
  double error = 0;
  for (const double value : x) {
    largest[3] = std::max(largest[3], or_infinity(std::abs(value)));
    error = std::max(error, or_infinity(std::abs(value - 1)));
  }
  largest.push_back(error);
  teams.row->all_reduce(std::span(largest), Fold::maximum);
  teams.column->all_reduce(std::span(largest), Fold::maximum);
  worst = teams.column->all_reduce(worst, Fold::maximum);
  found.scaled = or_infinity(largest[0] / (unit * (largest[1] * largest[3] + largest[2]) * n));
  found.largest_row = worst.value;
  found.worst_row = worst.place;
  found.normalised_error = largest[4] / (n * largest[2] * 2 * unit);
  return found;
}

}  // namespace plumb::hpl
