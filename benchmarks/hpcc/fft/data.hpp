// Inputs and references of fft: every point is a hash of who asks, and can be made again anywhere.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/data.hpp"
#include "core/scalar.hpp"
#include "measure/benchmark.hpp"

namespace plumb::fft {

// re and im of every point are uniform in (-1, 1), never zero, and differ by seed, rank and repetition.
// Points first .. first + count - 1 of the whole batch, in the element type, into count * 2 * size_of(type) bytes.
void fill_points(const Provenance& identity, ScalarType type, std::uint64_t first, std::uint64_t count,
                 std::span<std::byte> bytes);

// Transforms of one length in one direction, not scaled either way.
struct Shape {
  ScalarType type = ScalarType::f32;
  int log_points = 10;
  bool inverse = false;

  std::uint64_t points() const { return std::uint64_t{1} << log_points; }
  std::uint64_t bytes() const { return 2 * size_of(type) * points(); }  // of one transform
};

// What the residual of a transform is measured in: max_k |d_k - d'_k| / (eps log2(n) ||d'|| / sqrt(n)); README.md says
// why.
inline constexpr double residual_tolerance = 2;

// Compares transforms with FFTW's in higher precision (double for float, long double for double), every point of each.
class Checker {
 public:
  virtual ~Checker() = default;
  // Adds to `found` what is in whole transforms, one after the other, of the identity's points from `first` on.
  virtual void check(const Provenance& identity, std::uint64_t first, std::span<const std::byte> results,
                     Validation& found) = 0;
  // Likewise the begins of `windows` transforms, each of as many points as all results hold for one: of the points from
  // first, first + step, … on. Made by sliding: one transform tells them all.
  virtual void check_begins(const Provenance& identity, std::uint64_t first, std::uint64_t step, std::uint64_t windows,
                            std::span<const std::byte> results, Validation& found) = 0;
};

std::unique_ptr<Checker> make_checker(const Shape& shape);
// What a checker takes at most, with a thread for each transform or core.
std::uint64_t checker_bytes(const Shape& shape, std::uint64_t batch);

}  // namespace plumb::fft
