// fft: checks against references, and forms of sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>

#include "benchmarks/hpcc/fft/data.hpp"
#include "benchmarks/hpcc/fft/fft.hpp"
#include "benchmarks/hpcc/fft/hpcc_form.hpp"
#include "benchmarks/hpcc/fft/plan.hpp"

namespace plumb::fft {

namespace {

using testing::ElementsAre;

const Provenance identity{.seed = 7, .rank = 1, .repetition = 3};

template <class T>
std::vector<std::complex<T>> points_of(const Shape& shape, std::uint64_t batch) {
  std::vector<std::complex<T>> points(shape.points() * batch);
  fill_points(identity, shape.type, 0, points.size(), std::as_writable_bytes(std::span(points)));
  return points;
}

// By the definition, in long double.
template <class T>
std::vector<std::complex<T>> transformed(const std::vector<std::complex<T>>& points, const Shape& shape) {
  std::vector<std::complex<T>> result(points.size());
  const std::uint64_t n = shape.points();
  for (std::uint64_t first = 0; first < points.size(); first += n)
    for (std::uint64_t k = 0; k < n; ++k) {
      std::complex<long double> sum;
      for (std::uint64_t j = 0; j < n; ++j) {
        const long double turn = (shape.inverse ? 2 : -2) * std::numbers::pi_v<long double> *
                                 static_cast<long double>(j * k % n) / static_cast<long double>(n);
        sum += std::complex<long double>(points[first + j].real(), points[first + j].imag()) *
               std::complex<long double>(std::cos(turn), std::sin(turn));
      }
      result[first + k] = {static_cast<T>(sum.real()), static_cast<T>(sum.imag())};
    }
  return result;
}

template <class T>
Validation checked(const Shape& shape, const std::vector<std::complex<T>>& results) {
  Validation found;
  make_checker(shape)->check(identity, 0, std::as_bytes(std::span(results)), found);
  return found;
}

TEST(FftChecker, PassesTheDefinition) {
  for (const bool inverse : {false, true})
    for (const int log_points : {3, 6}) {
      const Shape single{ScalarType::f32, log_points, inverse}, twice{ScalarType::f64, log_points, inverse};
      const auto small = checked(single, transformed(points_of<float>(single, 3), single));
      EXPECT_LE(small.error, small.tolerance);
      EXPECT_EQ(small.items_checked, 3 * single.points());
      const auto large = checked(twice, transformed(points_of<double>(twice, 3), twice));
      EXPECT_LE(large.error, large.tolerance);
      EXPECT_GT(large.tolerance, 0);
    }
}

TEST(FftChecker, FindsOneWrongPointOfTheLastTransform) {
  const Shape shape{ScalarType::f32, 6, false};
  auto results = transformed(points_of<float>(shape, 3), shape);
  results.back() *= 1.001f;
  const Validation found = checked(shape, results);
  EXPECT_GT(found.error, found.tolerance);
  EXPECT_EQ(found.wrong_items, 1u);
  EXPECT_THAT(found.detail, testing::HasSubstr("transform of the points from 128 on"));
}

TEST(FftChecker, FindsDirectionAndNaN) {
  const Shape forward{ScalarType::f64, 4, false}, inverse{ScalarType::f64, 4, true};
  const Validation turned = checked(forward, transformed(points_of<double>(forward, 1), inverse));
  EXPECT_GT(turned.error, turned.tolerance);
  auto results = transformed(points_of<double>(forward, 1), forward);
  results[5] = {std::nan(""), 0};
  const Validation none = checked(forward, results);
  EXPECT_FALSE(none.error <= none.tolerance);
}

// By the definition as well, for windows that move on by a step; a window's neighbour, or a wrong point, is not taken
// for it.
TEST(FftChecker, TellsTheBeginsOfMovingWindows) {
  constexpr std::uint64_t first = 5, step = 4, windows = 20, points = 8;
  for (const bool inverse : {false, true}) {
    const Shape shape{ScalarType::f64, 6, inverse};
    std::vector<std::complex<double>> all(first + windows * step + shape.points());
    fill_points(identity, shape.type, 0, all.size(), std::as_writable_bytes(std::span(all)));
    std::vector<std::complex<double>> begins;
    for (std::uint64_t window = 0; window < windows; ++window) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first + window * step);
      const auto whole = transformed<double>({begin, begin + static_cast<std::ptrdiff_t>(shape.points())}, shape);
      begins.insert(begins.end(), whole.begin(), whole.begin() + points);
    }
    const auto check = [&](const std::vector<std::complex<double>>& results) {
      Validation found;
      found.tolerance = residual_tolerance;
      make_checker(shape)->check_begins(identity, first, step, windows, std::as_bytes(std::span(results)), found);
      return found;
    };
    EXPECT_LE(check(begins).error, residual_tolerance);
    EXPECT_EQ(check(begins).wrong_items, 0u);
    auto one_wrong = begins;
    one_wrong[19 * points + 3] *= 1 + 1e-13;
    EXPECT_EQ(check(one_wrong).wrong_items, 1u);
    std::copy_n(begins.begin() + 6 * points, points, one_wrong.begin() + 7 * points);
    EXPECT_EQ(check(one_wrong).wrong_items, 1u + points);
  }
}

TEST(FftData, DiffersByWhoseItIsAndIsNeverZero) {
  const Shape shape{ScalarType::f32, 10, false};
  const auto mine = points_of<float>(shape, 2);
  std::vector<std::complex<float>> others(mine.size());
  for (const Provenance& other : {Provenance{8, 1, 0, 0, 3}, Provenance{7, 2, 0, 0, 3}, Provenance{7, 1, 0, 0, 4}}) {
    fill_points(other, shape.type, 0, others.size(), std::as_writable_bytes(std::span(others)));
    EXPECT_NE(mine, others);
  }
  for (const auto& point : mine) {
    EXPECT_NE(point.real(), 0);
    EXPECT_LT(std::abs(point.real()), 1);
    EXPECT_NE(point.imag(), 0);
  }
  std::complex<float> last;
  fill_points(identity, shape.type, mine.size() - 1, 1, std::as_writable_bytes(std::span(&last, 1)));
  EXPECT_EQ(last, mine.back()) << "any part can be made alone";
}

TEST(FftSizes, AreNumbersAndRanges) {
  EXPECT_THAT(parse_sizes("9,17"), ElementsAre(9, 17));
  EXPECT_THAT(parse_sizes("3-5,10"), ElementsAre(3, 4, 5, 10));
  for (const char* wrong : {"", "9,", "x", "5-3", "2", "29", "4,3-5", "3:5"})
    EXPECT_THROW(parse_sizes(wrong), UsageError);
}

TEST(FftPlan, OnCpusStepsMultiplyToThePoints) {
  for (const ScalarType type : {ScalarType::f32, ScalarType::f64})
    for (int log_points = least_log; log_points <= most_log; ++log_points) {
      const CpuPlan plan(type, log_points);
      const std::uint64_t lanes = plan.by_lanes() ? 1 : plan.lanes;  // otherwise each lane has a separate transform
      EXPECT_EQ(lanes * plan.columns.length * plan.rows.length, std::uint64_t{1} << log_points);
      EXPECT_LE(plan.columns.length, 1 << 13);
      EXPECT_LE(plan.rows.length, 1 << 13);
    }
}

TEST(FftPlan, OnCpusTwoStepsBeginWhereACacheEnds) {
  const CpuPlan small(ScalarType::f32, 13), large(ScalarType::f32, 14);  // 2^10 and 2^11 vectors
  EXPECT_FALSE(small.has_columns());
  ASSERT_TRUE(large.has_columns());
  EXPECT_EQ(large.columns.length, 32);
  EXPECT_EQ(large.rows.length, 64);
}

TEST(FftPlan, FactorsMultiplyToTheLength) {
  for (int log_length = 0; log_length <= 20; ++log_length) {
    const Factors factors = factors_of(log_length);
    int product = factors.last;
    for (int i = 0; i < factors.eights; ++i) product *= 8;
    EXPECT_EQ(product, 1 << log_length);
    EXPECT_EQ(factors.length, 1 << log_length);
  }
}

TEST(FftPlan, OnGpusPassesMultiplyToThePointsWithinLocalMemory) {
  const GpuLimits limits{.local_bytes = 32768, .group = 1024, .whole_bytes = 131072, .long_bytes = 65536};
  for (const ScalarType type : {ScalarType::f32, ScalarType::f64})
    for (int log_points = least_log; log_points <= 27; ++log_points) {
      int log_product = 0;
      for (const GpuPass& pass : gpu_passes(type, log_points, 0, limits)) {
        log_product += pass.log_length;
        EXPECT_LE(pass.local_bytes(type), pass.kind == GpuPass::Kind::whole ? 131072u : 65536u) << log_points;
        EXPECT_LE(pass.group(), 1024);
      }
      EXPECT_EQ(log_product, log_points);
    }
}

TEST(FftPlan, OnGpusLongPassesHave16PointsWhereLocalMemoryHoldsThem) {
  const GpuLimits wide{.local_bytes = 32768, .group = 1024, .whole_bytes = 131072, .long_bytes = 65536};
  const GpuLimits narrow{.local_bytes = 32768, .group = 1024};
  const auto passes = gpu_passes(ScalarType::f32, 20, 0, wide);
  ASSERT_EQ(passes.size(), 2u);
  for (const GpuPass& pass : passes) {
    EXPECT_EQ(1 << pass.log_points, 16);
    EXPECT_EQ(1 << pass.log_tile, 8);  // 64 bytes
    EXPECT_FALSE(pass.split);
  }
  for (const GpuPass& pass : gpu_passes(ScalarType::f32, 20, 0, narrow)) EXPECT_EQ(1 << pass.log_points, 8);
}

Json record_of(const char* status) {
  const Json forward{{"labels", {{"points", 1024}, {"batch", 10}}},
                     {"work", {{"flops", 512000}}},
                     {"count", 2},
                     {"samples", {{"by_rank", {{0.004, 0.002}, {0.003, 0.006}}}}},
                     {"validation", {{"error", 0.5}}},
                     {"outcome", {{"status", status}}}};
  return {{"parameters", {{"type", "double"}, {"inverse", false}}}, {"world", {{"ranks", 2}}}, {"cases", {forward}}};
}

TEST(FftHpccForm, HasThePredecessorsKeys) {
  const Json form = fft_hpcc_form(record_of("passed"));
  EXPECT_EQ(form["name"], "FFT");
  EXPECT_DOUBLE_EQ(form["results"]["t_min"]["value"], 0.0002);  // of one transform, on the slowest rank
  EXPECT_DOUBLE_EQ(form["results"]["t_avg"]["value"], 0.00025);
  EXPECT_DOUBLE_EQ(form["results"]["gflops_min"]["value"], 2 * 512000 / 0.002 / 1e9);
  EXPECT_DOUBLE_EQ(form["results"]["gflops_avg"]["value"], 2 * 512000 / 0.0025 / 1e9);
  EXPECT_EQ(form["results"]["gflops_min"]["unit"], "GFLOP/s");
  EXPECT_EQ(form["timings"],
            Json::parse(R"({"execution": [{"unit": "s", "value": 0.002}, {"unit": "s", "value": 0.003}]})"));
  EXPECT_EQ(form["errors"], (Json{{"residual", 0.5}, {"epsilon", std::ldexp(1.0, -52)}}));
  EXPECT_EQ(form["settings"],
            (Json{{"FFT Size", 1024}, {"Batch Size", 10}, {"Inverse", false}, {"Data Type", "double"}}));
}

TEST(FftHpccForm, GivesNoSpeedOfAWrongAnswer) {
  for (const Json& record : {record_of("failed"), Json(Json::object())})
    for (const char* key : {"gflops_avg", "gflops_min", "t_avg", "t_min"})
      EXPECT_TRUE(fft_hpcc_form(record)["results"][key]["value"].is_null()) << key;
}

}  // namespace

}  // namespace plumb::fft
