#include "benchmarks/hpcc/hpl/matrix.hpp"

#include <cmath>

#include "benchmarks/hpcc/random_access/stream.hpp"

namespace plumb::hpl {

namespace {

using random_access::leap;
using random_access::Stream;

double to_type(double value, ScalarType type) {
  return type == ScalarType::f32 ? static_cast<double>(static_cast<float>(value)) : value;
}

}  // namespace

Matrix::Matrix(Kind kind, ScalarType type, std::uint64_t seed, const Layout& layout, Team& row)
    : kind_(kind), seed_(seed), type_(type), layout_(layout), b_(layout.rows.count()) {
  for (std::size_t i = 0; i < layout.rows.count(); ++i) {
    const auto down = leap(Stream::lcg, layout.rows.global(i));
    row_factor_.push_back(down.factor);
    row_summand_.push_back(down.summand);
  }
  const auto start = [&](std::size_t column) { return leap(Stream::lcg, 1 + column * layout.n).from(seed); };
  for (std::size_t j = 0; j < layout.columns.count(); ++j) column_start_.push_back(start(layout.columns.global(j)));
  if (kind == Kind::dominant) {
    sum_rows(row);
    return;
  }
  const std::uint64_t last = start(layout.n);
  for (std::size_t i = 0; i < b_.size(); ++i) b_[i] = word_to_value(row_factor_[i] * last + row_summand_[i]);
}

double Matrix::word_to_value(std::uint64_t word) const {
  const double value = 0.5 - static_cast<double>(word) * 0x1p-64;
  if (kind_ == Kind::dominant) return std::nearbyint(value * 0x1p24) * 0x1p-24;
  return to_type(value, type_);
}

// Sums of multiples of 2^-24 below 2^29 are exact in double, in any order.
void Matrix::sum_rows(Team& row) {
  std::vector<double> sums(2 * b_.size());
  diagonal_.assign(b_.size(), 0);
#pragma omp parallel
  {
    std::vector<double> values(column_start_.size());
#pragma omp for schedule(static)
    for (std::size_t i = 0; i < b_.size(); ++i) {
      Matrix::row(i, values);
      for (const double value : values) {
        sums[2 * i] += value;
        sums[2 * i + 1] += std::abs(value);
      }
    }
  }
  row.all_reduce(std::span(sums), Fold::sum);
  for (std::size_t i = 0; i < b_.size(); ++i) {
    diagonal_[i] = std::floor(sums[2 * i + 1]) + 1;
    b_[i] = to_type(sums[2 * i] + diagonal_[i], type_);
  }
}

double Matrix::element(std::size_t row, std::size_t column) const {
  if (kind_ == Kind::dominant && row == column) return diagonal_.at(layout_.rows.below(row));
  return word_to_value(leap(Stream::lcg, 1 + row + column * layout_.n).from(seed_));
}

void Matrix::row(std::size_t local_row, std::span<double> values) const {
  const std::uint64_t factor = row_factor_[local_row], summand = row_summand_[local_row];
  for (std::size_t j = 0; j < values.size(); ++j) values[j] = word_to_value(factor * column_start_[j] + summand);
  if (kind_ == Kind::general) return;
  const std::size_t global = layout_.rows.global(local_row);
  if (layout_.columns.owner(global) == layout_.columns.own)
    values[layout_.columns.below(global)] = diagonal_[local_row];
}

}  // namespace plumb::hpl
