#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "benchmarks/hpcc/gemm/bound.hpp"
#include "benchmarks/hpcc/gemm/compare.hpp"
#include "benchmarks/hpcc/gemm/cpu.hpp"
#include "benchmarks/hpcc/gemm/hpcc_form.hpp"
#include "benchmarks/hpcc/gemm/reference.hpp"
#include "core/error.hpp"

namespace plumb::gemm {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Problem problem_of(const std::string& type, std::size_t rows, std::size_t columns, std::size_t inner) {
  return {element_of(type), rows, columns, inner, 0.5, 2};
}

Problem square(const std::string& type, std::size_t size) {
  return problem_of(type, size, size, size);
}

std::vector<double> filled(std::size_t items, const std::string& type, const Provenance& origin, Matrix matrix) {
  std::vector<double> values(items);
  fill(values, element_of(type).stored, origin, matrix);
  return values;
}

TEST(GemmData, IsExactInItsTypeNeverZeroAndBetweenMinusOneAndOne) {
  for (const char* type : {"half", "float", "double", "tf32"}) {
    const ScalarType stored = element_of(type).stored;
    const auto values = filled(5000, type, {1, 0}, Matrix::a);
    double sum = 0, squares = 0;
    for (const double value : values) {
      EXPECT_EQ(value, rounded(value, stored));
      EXPECT_NE(value, 0);
      EXPECT_LT(std::abs(value), 1);
      sum += value;
      squares += value * value;
    }
    EXPECT_NEAR(sum / 5000, 0, 0.05) << type;
    EXPECT_NEAR(squares / 5000, 1.0 / 3, 0.02) << type;
  }
}

TEST(GemmData, DiffersByRankSeedAndMatrix) {
  const auto one = filled(100, "double", {1, 0}, Matrix::a);
  EXPECT_EQ(one, filled(100, "double", {1, 0}, Matrix::a));
  EXPECT_NE(one, filled(100, "double", {1, 1}, Matrix::a));
  EXPECT_NE(one, filled(100, "double", {2, 0}, Matrix::a));
  EXPECT_NE(one, filled(100, "double", {1, 0}, Matrix::b));
}

TEST(GemmFactors, ThatProveNothingAreRefused) {
  const auto refused = [](const std::string& type, double alpha, double beta) {
    Problem problem = square(type, 256);
    problem.alpha = alpha;
    problem.beta = beta;
    return [problem] { check_factors(problem); };
  };
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(refused("float", nan, 1), ThrowsMessage<UsageError>(HasSubstr("--alpha must be a finite number")));
  EXPECT_THAT(refused("float", 1, infinity), ThrowsMessage<UsageError>(HasSubstr("--beta must be a finite number")));
  EXPECT_THAT(refused("float", 0, 1), ThrowsMessage<UsageError>(HasSubstr("nothing of A B")));
  EXPECT_THAT(refused("half", 4000, 2), ThrowsMessage<UsageError>(HasSubstr("infinite")));
  EXPECT_THAT(refused("float", 1, 1e9), ThrowsMessage<UsageError>(HasSubstr("a wrong product would pass")));
  for (const char* type : {"half", "float", "double", "tf32"}) {
    EXPECT_NO_THROW(refused(type, 0.5, 2)());
    EXPECT_NO_THROW(refused(type, -3, 0)());
  }
}

// The bound as a part of the product's spread, which README.md gives.
TEST(GemmBound, LiesFarBelowWhatHalfOfTheWorkLeaves) {
  for (const char* type : {"half", "float", "double", "tf32"})
    for (const std::size_t size : {1, 16, 256, 1024, 4096, 65536}) {
      const Problem problem = square(type, size);
      const Bound bound(problem, rounding_of(problem.element));
      EXPECT_TRUE(tells_half_the_work(problem)) << type << " " << size;
      // A single product left out of an element shows as well, but for double at any size only in sums of numbers
      // alike.
      const double one_product = problem.alpha / 4, spread = problem.alpha * product_spread(static_cast<double>(size));
      if (size > 4096) continue;
      EXPECT_LT(bound.of(spread, spread), one_product) << type << " " << size;
    }
}

TEST(GemmBound, GrowsWithTheSumAndItsRounding) {
  const auto of = [](const std::string& type, std::size_t size) {
    const Problem problem = square(type, size);
    return Bound(problem, rounding_of(problem.element)).of(1, 1);
  };
  EXPECT_LT(of("double", 256), of("float", 256));
  EXPECT_LT(of("float", 256), of("float", 4096));
  EXPECT_LT(of("float", 256), of("tf32", 256));
  const Problem half = square("half", 256);
  const Rounding in_half = rounding_of(half.element, ScalarType::f16);
  EXPECT_LT(of("half", 256), Bound(half, in_half).of(1, 1));
}

// alpha A B as it is written down.
std::vector<double> product_of(const Problem& problem, const Values& values) {
  std::vector<double> product(problem.c_items());
  for (std::size_t i = 0; i < problem.rows; ++i)
    for (std::size_t j = 0; j < problem.columns; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < problem.inner; ++k)
        sum += values.a[i * problem.inner + k] * values.b[k * problem.columns + j];
      product[i * problem.columns + j] = problem.alpha * sum;
    }
  return product;
}

struct Made {
  Problem problem;
  Provenance origin{7, 3};
  Values values;
  Reference reference;
  static constexpr std::size_t c_first = 5;

  explicit Made(const Problem& wanted)
      : problem(wanted), values(make_values(problem, origin)), reference(problem, values, origin) {}

  // alpha A B + beta C, with C from an item on.
  std::vector<double> product(const Values& of, std::size_t first = c_first) const {
    std::vector<double> all = product_of(problem, of), c(all.size());
    fill(c, problem.element.stored, origin, Matrix::c, first);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += problem.beta * c[i];
    return all;
  }
  Validation compared(const std::vector<double>& product) const {
    return compare(problem, rounding_of(problem.element), reference, origin, c_first,
                   bytes_of(product, problem.element.stored))
        .validation;
  }
};

TEST(GemmReference, IsTheProduct) {
  const Made made(problem_of("double", 17, 33, 65));
  const auto product = product_of(made.problem, made.values);
  for (std::size_t i = 0; i < product.size(); ++i) EXPECT_NEAR(made.reference.at(i), product[i], 1e-13);
}

TEST(GemmReference, ItsProofSeesOneWrongElement) {
  const Problem problem = problem_of("double", 40, 50, 60);
  const Provenance origin{1, 0};
  const Values values = make_values(problem, origin);
  auto product = product_of(problem, values);
  const std::vector<double> row_norms(problem.rows, 0.5 * std::sqrt(20.0 / 60)),
      column_norms(problem.columns, std::sqrt(20.0));
  EXPECT_LT(residual_of(problem, values, product, origin, row_norms, column_norms), 1);
  product[777] += 1e-10;
  EXPECT_GT(residual_of(problem, values, product, origin, row_norms, column_norms), 1);
  product[777] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(residual_of(problem, values, product, origin, row_norms, column_norms) <= 1);
}

TEST(GemmComparison, PassesARightProductOfEveryType) {
  for (const char* type : {"half", "float", "double", "tf32"}) {
    const Made made(problem_of(type, 30, 20, 100));
    const Validation found = made.compared(made.product(made.values));
    EXPECT_LE(found.error, found.tolerance) << type;
    EXPECT_EQ(found.wrong_items, 0u);
    EXPECT_EQ(found.items_checked, 600u);
  }
}

TEST(GemmComparison, NamesTheFirstWrongElementAndCountsThem) {
  const Made made(problem_of("float", 30, 20, 100));
  auto product = made.product(made.values);
  product[2 * 20 + 5] += 1e-3;
  product[29 * 20 + 19] = std::numeric_limits<double>::quiet_NaN();
  const Validation found = made.compared(product);
  EXPECT_FALSE(found.error <= found.tolerance);
  EXPECT_EQ(found.wrong_items, 2u);
  EXPECT_THAT(found.detail, HasSubstr("C[2][5] is "));
}

TEST(GemmComparison, FailsAnotherRepetitionsC) {
  for (const char* type : {"half", "bfloat16", "float", "double", "tf32"}) {
    const Made made(problem_of(type, 30, 20, 100));
    const Validation found = made.compared(made.product(made.values, Made::c_first + 16));
    EXPECT_GT(found.wrong_items, 500u) << type;
  }
}

// The bound must reject products without half of the inner indices, in every type and down to small matrices.
TEST(GemmComparison, FailsHalfOfTheWork) {
  for (const char* type : {"half", "float", "double", "tf32"})
    for (const std::size_t size : {2, 16, 64}) {
      const Made made(square(type, size));
      Values half = made.values;
      for (std::size_t k = size / 2 * size; k < half.b.size(); ++k) half.b[k] = 0;
      const Validation found = made.compared(made.product(half));
      EXPECT_GT(found.error, 8 * found.tolerance) << type << " " << size;
      EXPECT_GT(found.wrong_items, size * size * 3 / 4) << type << " " << size;
    }
}

TEST(GemmTiles, CoverTheMatrices) {
  for (const char* type : {"half", "float", "double"})
    for (const std::size_t vector_bytes : {16, 32, 64})
      for (const std::size_t size : {1, 7, 64, 513, 4096}) {
        const Problem problem = problem_of(type, size, size + 1, size + 2);
        const CpuTiles tiles = cpu_tiles(problem, vector_bytes);
        EXPECT_EQ(tiles.depth % packed_rows, 0u);
        EXPECT_EQ(tiles.columns % tiles.width, 0u);
        EXPECT_GE(tiles.row_tiles * tiles.rows, problem.rows);
        EXPECT_GE(tiles.column_tiles * tiles.columns, problem.columns);
        EXPECT_GE(tiles.depths * tiles.depth, problem.inner);
        EXPECT_LT((tiles.depths - 1) * tiles.depth, problem.inner);
        EXPECT_GE(tiles.groups() * tiles.band * tiles.strip, tiles.row_tiles * tiles.column_tiles);
      }
}

Json record_of(const char* status) {
  return {{"world", {{"ranks", 2}}},
          {"parameters", {{"type", "double"}, {"replicate-inputs", false}}},
          {"cases",
           {{{"count", 2},
             {"labels", {{"rows", 100}}},
             {"work", {{"flops", 2e6}}},
             {"facts", {{"block_size", 32}, {"largest_error", 1e-14}}},
             {"samples", {{"by_rank", {{0.2, 0.4}, {0.3, 0.1}}}}},
             {"validation", {{"error", 0.25}}},
             {"outcome", {{"status", status}}}}}}};
}

TEST(GemmHpccForm, HasItsKeysTypedRight) {
  const Json form = gemm_hpcc_form(record_of("passed"));
  EXPECT_EQ(form["name"], "GEMM");
  EXPECT_DOUBLE_EQ(form["results"]["t_min"]["value"], 0.15);
  EXPECT_DOUBLE_EQ(form["results"]["t_mean"]["value"], 0.175);
  EXPECT_DOUBLE_EQ(form["results"]["gflops"]["value"], 2e6 * 2 / 0.15 / 1e9);
  EXPECT_EQ(form["timings"]["execution"].size(), 2u);
  EXPECT_EQ(form["errors"], (Json{{"residual", 1e-14}, {"residual_norm", 0.25}, {"epsilon", std::ldexp(1.0, -52)}}));
  EXPECT_EQ(form["settings"],
            (Json{{"Matrix Size", 100}, {"Block Size", 32}, {"Data Type", "double"}, {"Replicate Inputs", false}}));
}

TEST(GemmHpccForm, GivesNoSpeedOfAWrongAnswer) {
  EXPECT_TRUE(gemm_hpcc_form(record_of("failed"))["results"]["gflops"]["value"].is_null());
  EXPECT_TRUE(gemm_hpcc_form(Json::object())["results"]["gflops"]["value"].is_null());
}

}  // namespace
}  // namespace plumb::gemm
