// Inputs and references of fft: every point is a hash of its identity and can be recomputed anywhere.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/data.hpp"
#include "core/scalar.hpp"
#include "measure/benchmark.hpp"

namespace plumb::fft {

// Points first .. first + count - 1 of the whole batch, in the element type, into count * 2 * size_of(type) bytes. re
// and im are uniform in (-1, 1), never zero, and differ by seed, rank and repetition.
void fill_points(const Provenance& identity, ScalarType type, std::uint64_t first, std::uint64_t count,
                 std::span<std::byte> bytes);

// Transforms of one length in one direction, unscaled.
struct Shape {
  ScalarType type = ScalarType::f32;
  int log_points = 10;
  bool inverse = false;

  std::uint64_t points() const { return std::uint64_t{1} << log_points; }
  std::uint64_t bytes() const { return 2 * size_of(type) * points(); }  // of one transform
};

// Unit of a transform's residual: max_k |d_k - d'_k| / (eps log2(n) ||d'|| / sqrt(n)); derived in README.md.
inline constexpr double residual_tolerance = 2;

// Compares transforms with FFTW's in higher precision (double for float, long double for double), every point of each.
class Checker {
 public:
  virtual ~Checker() = default;
  // Checks whole, contiguous transforms of the identity's points from `first` on; adds to `found`.
  virtual void check(const Provenance& identity, std::uint64_t first, std::span<const std::byte> results,
                     Validation& found) = 0;
  // Likewise the beginnings of `windows` transforms of the points from first, first + step, … on, of equal length,
  // filling `results`. Computed by sliding from a single transform.
  virtual void check_begins(const Provenance& identity, std::uint64_t first, std::uint64_t step, std::uint64_t windows,
                            std::span<const std::byte> results, Validation& found) = 0;
};

std::unique_ptr<Checker> make_checker(const Shape& shape);
// Upper bound of a checker's memory, with a thread for each transform or core.
std::uint64_t checker_bytes(const Shape& shape, std::uint64_t batch);

}  // namespace plumb::fft
