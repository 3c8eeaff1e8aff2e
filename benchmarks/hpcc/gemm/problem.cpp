#include "benchmarks/hpcc/gemm/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "benchmarks/hpcc/gemm/bound.hpp"
#include "core/data.hpp"
#include "core/error.hpp"

namespace plumb::gemm {

namespace {

constexpr std::size_t chunk_items = std::size_t{1} << 16;  // converted by a thread at a time

int significant_bits(ScalarType type) {
  switch (type) {
    case ScalarType::f16:
      return 11;
    case ScalarType::bf16:
      return 8;
    case ScalarType::f32:
      return 24;
    default:
      return 53;
  }
}

}  // namespace

Element element_of(const std::string& name) {
  if (name == "tf32") return {name, ScalarType::f32, ScalarType::f32, true};
  const ScalarType stored = parse_scalar_type(name);
  return {name, stored, stored == ScalarType::f64 ? ScalarType::f64 : ScalarType::f32, false};
}

double Problem::flops() const {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(inner);
}

double rounded(double value, ScalarType type) {
  if (type == ScalarType::f16) return from_half(to_half(value));
  if (type == ScalarType::bf16) return from_bfloat16(to_bfloat16(value));
  return type == ScalarType::f32 ? static_cast<double>(static_cast<float>(value)) : value;
}

void check_factors(const Problem& problem) {
  const std::string& type = problem.element.name;
  for (const auto& [name, value] : {std::pair{"alpha", problem.alpha}, std::pair{"beta", problem.beta}})
    if (!std::isfinite(value))
      throw UsageError(
          fmt::format("--{} must be a finite number of type {}: C would hold NaN or infinity", name, type));
  if (problem.alpha == 0)
    throw UsageError(fmt::format("--alpha is zero in type {}: nothing of A B would be left to prove", type));
  // Nine standard deviations of alpha A B exceed every one of billions of elements.
  const double spread = std::abs(problem.alpha) * product_spread(static_cast<double>(problem.inner));
  if (9 * spread + std::abs(problem.beta) > largest_of(problem.element.stored))
    throw UsageError(
        fmt::format("--alpha {} and --beta {} make elements of C larger than {}, the largest number of type {}: they "
                    "would be infinite",
                    problem.alpha, problem.beta, largest_of(problem.element.stored), type));
  if (!tells_half_the_work(problem))
    throw UsageError(
        fmt::format("--alpha {} and --beta {} let the rounding of beta C in type {} hide errors of alpha A B: a wrong "
                    "product would pass",
                    problem.alpha, problem.beta, type));
}

void fill(std::span<double> values, ScalarType stored, const Provenance& origin, Matrix matrix, std::size_t first) {
  const int bits = significant_bits(stored);
  const double unit = std::ldexp(1.0, -bits);
  const auto half_range = static_cast<std::int64_t>(std::uint64_t{1} << bits);
  const std::uint64_t key = Provenance{origin.seed, origin.rank, static_cast<std::uint64_t>(matrix)}.key();
#pragma omp parallel for schedule(static) if (values.size() > chunk_items)
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto word = static_cast<std::int64_t>(mix64(key + first + i) >> (64 - bits));
    values[i] = static_cast<double>(2 * word + 1 - half_range) * unit;
  }
}

std::vector<std::byte> bytes_of(std::span<const double> values, ScalarType stored) {
  const std::size_t size = size_of(stored);
  std::vector<std::byte> bytes(values.size() * size);
#pragma omp parallel for schedule(static) if (values.size() > chunk_items)
  for (std::size_t begin = 0; begin < values.size(); begin += chunk_items) {
    const std::size_t items = std::min(chunk_items, values.size() - begin);
    store_scalars(values.subspan(begin, items), stored, std::span(bytes).subspan(begin * size, items * size));
  }
  return bytes;
}

}  // namespace plumb::gemm
