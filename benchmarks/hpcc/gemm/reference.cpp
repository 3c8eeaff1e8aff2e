#include "benchmarks/hpcc/gemm/reference.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/data.hpp"
#include "core/error.hpp"
#include "device/host_share.hpp"
#include "device/native/openblas.hpp"

namespace plumb::gemm {

namespace {

constexpr std::size_t worth_sharing = 1 << 16;    // elements, minimum for several threads
constexpr std::uint64_t signs_salt = 0x7369676e;  // makes signs independent of the matrices' hash

std::vector<double> norms_of_rows(std::span<const double> matrix, std::size_t rows, std::size_t columns) {
  std::vector<double> norms(rows);
#pragma omp parallel for schedule(static) if (matrix.size() > worth_sharing)
  for (std::size_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < columns; ++j) sum += matrix[i * columns + j] * matrix[i * columns + j];
    norms[i] = std::sqrt(sum);
  }
  return norms;
}

std::vector<double> norms_of_columns(std::span<const double> matrix, std::size_t rows, std::size_t columns) {
  std::vector<double> norms(columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) norms[j] += matrix[i * columns + j] * matrix[i * columns + j];
  for (double& norm : norms) norm = std::sqrt(norm);
  return norms;
}

template <class T>
std::vector<long double> times(std::span<const double> matrix, std::size_t rows, std::span<const T> vector) {
  std::vector<long double> result(rows);
#pragma omp parallel for schedule(static) if (matrix.size() > worth_sharing)
  for (std::size_t i = 0; i < rows; ++i) {
    const double* row = matrix.data() + i * vector.size();
    long double sum = 0;
    for (std::size_t j = 0; j < vector.size(); ++j) sum += static_cast<long double>(row[j]) * vector[j];
    result[i] = sum;
  }
  return result;
}

}  // namespace

Values make_values(const Problem& problem, const Provenance& origin, std::size_t first) {
  Values values{std::vector<double>(problem.a_items()), std::vector<double>(problem.b_items())};
  fill(values.a, problem.element.stored, origin, Matrix::a, first);
  fill(values.b, problem.element.stored, origin, Matrix::b);
  return values;
}

Reference::Reference(const Problem& problem, const Values& values, const Provenance& origin)
    : exact_(problem.c_items()),
      row_norms_(norms_of_rows(values.a, problem.rows, problem.inner)),
      column_norms_(norms_of_columns(values.b, problem.inner, problem.columns)) {
  const double unit = std::abs(problem.alpha) / std::sqrt(static_cast<double>(problem.inner));
  for (double& norm : row_norms_) norm *= unit;
  const auto rows = static_cast<blasint>(problem.rows), columns = static_cast<blasint>(problem.columns),
             inner = static_cast<blasint>(problem.inner);
  openblas_set_num_threads(static_cast<int>(host_share().cores));
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, inner, problem.alpha, values.a.data(), inner,
              values.b.data(), columns, 0, exact_.data(), columns);
  const double residual = residual_of(problem, values, exact_, origin, row_norms_, column_norms_);
  if (!(residual <= 1))
    throw Error(
        fmt::format("the reference itself is wrong: multiplied with a random vector, the product of {} is {} "
                    "times as far from alpha A B as it may be",
                    name(), residual));
}

std::string Reference::name() {
  return openblas_name() + "'s dgemm";
}

double residual_of(const Problem& problem, const Values& values, std::span<const double> product,
                   const Provenance& origin, std::span<const double> row_norms, std::span<const double> column_norms) {
  std::vector<double> signs(problem.columns);
  for (std::size_t j = 0; j < signs.size(); ++j)
    signs[j] = (mix64(mix64(origin.seed ^ signs_salt) + origin.rank * signs.size() + j) & 1) != 0 ? 1.0 : -1.0;
  const std::span<const double> x(signs);
  const auto b_x = times<double>(values.b, problem.inner, x);
  const auto a_b_x = times<long double>(values.a, problem.rows, b_x);
  const auto product_x = times<double>(product, problem.rows, x);

  Problem in_double = problem;
  in_double.element = element_of("double");
  in_double.beta = 0;
  const Bound bound(in_double, rounding_of(in_double.element));
  double worst = 0;
  for (std::size_t i = 0; i < problem.rows; ++i) {
    double allowed = 0;  // errors of independent signs add in squares
    for (std::size_t j = 0; j < problem.columns; ++j) {
      const double of_element = bound.of(row_norms[i] * column_norms[j], product[i * problem.columns + j]);
      allowed += of_element * of_element;
    }
    const double ratio = static_cast<double>(std::abs(product_x[i] - problem.alpha * a_b_x[i])) / std::sqrt(allowed);
    if (std::isnan(ratio)) return ratio;
    worst = std::max(worst, ratio);
  }
  return worst;
}

}  // namespace plumb::gemm
