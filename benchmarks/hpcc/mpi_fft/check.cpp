#include "benchmarks/hpcc/mpi_fft/check.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace plumb::mpi_fft {

namespace {

using Real = long double;
using Complex = std::complex<Real>;

constexpr int sums_of_all = 3;

Complex at(std::span<const double> values, std::size_t i) {
  return {values[2 * i], values[2 * i + 1]};
}

// exp(2 pi i k / n) for k below n, a power of two: products of two table entries.
class Roots {
 public:
  explicit Roots(std::uint64_t n) : low_bits_(static_cast<int>(std::bit_width(n) / 2)) {
    const auto root = [&](std::uint64_t k) {
      const Real angle = 2 * std::numbers::pi_v<Real> * static_cast<Real>(k) / static_cast<Real>(n);
      return Complex(std::cos(angle), std::sin(angle));
    };
    const std::uint64_t low = std::uint64_t{1} << low_bits_;
    for (std::uint64_t k = 0; k < low; ++k) low_.push_back(root(k));
    for (std::uint64_t k = 0; k < std::max<std::uint64_t>(n / low, 1); ++k) high_.push_back(root(k * low));
  }
  Complex operator()(std::uint64_t k) const {
    return high_[k >> low_bits_] * low_[k & ((std::uint64_t{1} << low_bits_) - 1)];
  }

 private:
  int low_bits_;
  std::vector<Complex> low_, high_;
};

// -2 / (exp(2 pi i step / (2 n)) - 1) = 1 + i cot(pi step / (2 n)), of 4n-th roots; accurate near its poles too.
Complex series(const Roots& roots, std::uint64_t step, std::uint64_t n) {
  const bool mirrored = step > n;
  const Complex root = roots(mirrored ? 2 * n - step : step);
  const Real cotangent = root.real() / root.imag();
  return {1, mirrored ? -cotangent : cotangent};
}

double or_infinite(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
}

}  // namespace

// Sum over k of X_k z^k = sum over j of x_j (z^n - 1) / (z w^j - 1), z = exp(2 pi i theta), w = exp(-2 pi i / n). theta
// is midway between two multiples of 1 / n, so that z^n is -1 and only the nearest denominators are small.
Sums check_sums(std::span<const double> x, std::span<const double> transformed, std::uint64_t first,
                std::uint64_t points, ScalarType type, std::uint64_t seed, Team& all) {
  const std::size_t count = x.size() / 2;
  const auto n = static_cast<double>(points);
  const auto ranks = static_cast<std::size_t>(all.size());
  std::vector<std::uint64_t> halves, chosen;
  for (int s = 0; s < sums_of_all; ++s)
    halves.push_back(2 * (mix64(seed + 77 + static_cast<std::uint64_t>(s)) % points) + 1);
  for (std::size_t rank = 0; rank < ranks; ++rank) chosen.push_back(rank * count + mix64(seed ^ (rank + 1)) % count);
  // Sums of X (re, im) and of x for each theta; of x for each chosen point; X at these points; the square of X's norm.
  std::vector<Real> own(4 * sums_of_all + 4 * ranks + 1, 0);
  const Roots roots(4 * points);
  const auto add = [&](std::size_t to, Complex value) {
    own[to] += value.real();
    own[to + 1] += value.imag();
  };
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t index = first + i;
    const Complex of_x = at(x, i), of_result = at(transformed, i);
    own.back() += std::norm(of_result);
    for (std::size_t s = 0; s < sums_of_all; ++s) {
      // theta = halves / (2 n): z^k turns by k halves / (2 n), and z w^j by (halves - 2 j) / (2 n).
      const std::uint64_t both = 2 * points;
      add(4 * s, of_result * roots(2 * (index * halves[s] % both)));
      const std::uint64_t step = (halves[s] + both - 2 * index) % both;
      add(4 * s + 2, of_x * series(roots, step, points));
    }
    for (std::size_t r = 0; r < ranks; ++r) {
      add(4 * sums_of_all + 4 * r, of_x * std::conj(roots(4 * (index * chosen[r] % points))));
      if (index == chosen[r]) add(4 * sums_of_all + 4 * r + 2, of_result);
    }
  }
  std::vector<double> sums(own.begin(), own.end());
  all.all_reduce(std::span(sums), Fold::sum);
  const double norm = std::sqrt(sums.back());
  const double rounding = (type == ScalarType::f32 ? 0x1p-23 : 0x1p-52) * std::log2(n);
  Sums found;
  for (std::size_t s = 0; s < sums_of_all; ++s) {
    const double off = std::hypot(sums[4 * s] - sums[4 * s + 2], sums[4 * s + 1] - sums[4 * s + 3]);
    found.weighted = std::max(found.weighted, or_infinite(off / (rounding * norm)));
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    const std::size_t a = 4 * sums_of_all + 4 * r;
    const double off = std::hypot(sums[a] - sums[a + 2], sums[a + 1] - sums[a + 3]);
    found.point = std::max(found.point, or_infinite(off / (rounding * norm / std::sqrt(n))));
  }
  return found;
}

}  // namespace plumb::mpi_fft
