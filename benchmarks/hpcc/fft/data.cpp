#include "benchmarks/hpcc/fft/data.hpp"

#include <fftw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <vector>

#include "device/host_share.hpp"

namespace plumb::fft {

namespace {

// Uniform in (-1, 1) and never zero: the centre of one of 2^32 (2^53) equal intervals.
float float_from(std::uint32_t bits) {
  return (static_cast<float>(static_cast<std::int32_t>(bits)) + 0.5f) * 0x1p-31f;
}
double double_from(std::uint64_t bits) {
  return (static_cast<double>(static_cast<std::int64_t>(bits) >> 11) + 0.5) * 0x1p-52;
}

template <class T>
void fill_as(std::uint64_t key, std::uint64_t first, std::uint64_t count, T* values) {
  for (std::uint64_t i = 0; i < count; ++i)
    if constexpr (sizeof(T) == sizeof(float)) {
      const std::uint64_t bits = mix64(key + first + i);
      values[2 * i] = float_from(static_cast<std::uint32_t>(bits >> 32));
      values[2 * i + 1] = float_from(static_cast<std::uint32_t>(bits));
    } else {
      values[2 * i] = double_from(mix64(key + 2 * (first + i)));
      values[2 * i + 1] = double_from(mix64(key + 2 * (first + i) + 1));
    }
}

void fill_any(std::uint64_t key, ScalarType type, std::uint64_t first, std::uint64_t count, std::byte* to) {
  if (type == ScalarType::f32)
    fill_as(key, first, count, reinterpret_cast<float*>(to));
  else
    fill_as(key, first, count, reinterpret_cast<double*>(to));
}

// FFTW in the precision above the kernels'.
struct AboveFloat {
  using Kernel = float;
  static constexpr const char* name = "FFTW in double, every point of every transform";
  using Real = double;
  using Plan = fftw_plan;
  static constexpr auto plan = fftw_plan_dft_1d;
  static constexpr auto execute = fftw_execute_dft;
  static constexpr auto destroy = fftw_destroy_plan;
  static constexpr auto allocate = fftw_alloc_complex;
  static constexpr auto release = fftw_free;
};

struct AboveDouble {
  using Kernel = double;
  static constexpr const char* name = "FFTW in long double, every point of every transform";
  using Real = long double;
  using Plan = fftwl_plan;
  static constexpr auto plan = fftwl_plan_dft_1d;
  static constexpr auto execute = fftwl_execute_dft;
  static constexpr auto destroy = fftwl_destroy_plan;
  static constexpr auto allocate = fftwl_alloc_complex;
  static constexpr auto release = fftwl_free;
};

// Of one transform; the residual is relative to the tolerance.
struct Comparison {
  double residual = 0;
  std::uint64_t wrong = 0, first_wrong = 0;
  std::complex<double> is, should_be;  // of the first wrong point
};

constexpr std::uint64_t points_worth_a_thread = 2048;

int threads_for(std::uint64_t transforms, const Shape& shape) {
  const std::uint64_t worth = std::max<std::uint64_t>(1, transforms * shape.points() / points_worth_a_thread);
  return static_cast<int>(std::min<std::uint64_t>({transforms, worth, host_share().cores}));
}

template <class Fftw>
class FftwChecker final : public Checker {
 public:
  using Real = Fftw::Real;
  using Complex = std::complex<Real>;
  using Kernel = Fftw::Kernel;

  explicit FftwChecker(const Shape& shape) : shape_(shape) {
    const Room room = make_room();
    plan_ = Fftw::plan(static_cast<int>(shape.points()), at(room), at(room),
                       shape.inverse ? FFTW_BACKWARD : FFTW_FORWARD, FFTW_ESTIMATE);
    if (plan_ == nullptr) throw Error(fmt::format("FFTW has no plan for a reference of {} points", shape.points()));
  }
  ~FftwChecker() override { Fftw::destroy(plan_); }
  FftwChecker(const FftwChecker&) = delete;
  FftwChecker& operator=(const FftwChecker&) = delete;

  void check(const Provenance& identity, std::uint64_t first, std::span<const std::byte> results,
             Validation& found) override {
    const std::uint64_t transforms = results.size() / shape_.bytes();
    found.reference = Fftw::name;
    found.tolerance = residual_tolerance;
    found.items_checked += transforms * shape_.points();
#pragma omp parallel num_threads(threads_for(transforms, shape_))
    {
      const Room room = make_room();
      std::vector<Kernel> values(2 * shape_.points());
      Validation mine;
#pragma omp for schedule(static) nowait
      for (std::uint64_t i = 0; i < transforms; ++i) {
        make_reference(identity, first + i * shape_.points(), values, room);
        std::memcpy(values.data(), results.data() + i * shape_.bytes(), shape_.bytes());
        add(compare(values, room.get()), first + i * shape_.points(), mine);
      }
#pragma omp critical
      merge(mine, found);
    }
  }

  void check_begins(const Provenance& identity, std::uint64_t first, std::uint64_t step, std::uint64_t windows,
                    std::span<const std::byte> results, Validation& found) override {
    const std::uint64_t n = shape_.points(), points = results.size() / windows / (2 * sizeof(Kernel));
    Room room = make_room();
    std::vector<Kernel> values(2 * n);
    make_reference(identity, first, values, room);
    Real energy = energy_of(room.get(), n) / static_cast<Real>(n);
    const std::vector<Complex> roots = roots_of(points, step);
    std::vector<Complex> begins(room.get(), room.get() + points);
    for (std::uint64_t window = 0; window < windows; ++window) {
      std::memcpy(values.data(), results.data() + window * points * 2 * sizeof(Kernel), points * 2 * sizeof(Kernel));
      add(compare(values, begins.data(), points, unit_of(energy)), first + window * step, found);
      energy += slide(identity, first + window * step, step, roots, begins);
    }
  }

 private:
  struct Free {
    void operator()(Complex* room) const { Fftw::release(room); }
  };
  using Room = std::unique_ptr<Complex[], Free>;
  Room make_room() const {
    return Room(reinterpret_cast<Complex*>(Fftw::allocate(shape_.points())));
  }
  static auto at(const Room& room) {
    return reinterpret_cast<Real(*)[2]>(room.get());
  }

  // For the points from `first` on.
  void make_reference(const Provenance& identity, std::uint64_t first, std::vector<Kernel>& values,
                      const Room& room) const {
    const std::uint64_t n = shape_.points();
    fill_as(identity.key(), first, n, values.data());
    for (std::uint64_t i = 0; i < n; ++i) room[i] = Complex(values[2 * i], values[2 * i + 1]);
    Fftw::execute(plan_, at(room), at(room));
  }

  // exp(-2 pi i m k / n), forward, for the first `points` k and all m <= step: [k][m].
  std::vector<Complex> roots_of(std::uint64_t points, std::uint64_t step) const {
    const std::uint64_t n = shape_.points();
    const Real turn = (shape_.inverse ? 2 : -2) * std::numbers::pi_v<Real> / static_cast<Real>(n);
    std::vector<Complex> roots;
    for (std::uint64_t k = 0; k < points; ++k)
      for (std::uint64_t m = 0; m <= step; ++m)
        roots.push_back(std::polar(Real{1}, turn * static_cast<Real>(k * m % n)));
    return roots;
  }

  // Updates the first bins of the transform of n points from `first` on to those `step` points further on: X'_k = exp(2
  // pi i step k / n) (X_k + sum_{m < step} (x_{n+m} - x_m) exp(-2 pi i m k / n)). Returns the change of the points'
  // energy.
  Real slide(const Provenance& identity, std::uint64_t first, std::uint64_t step, const std::vector<Complex>& roots,
             std::vector<Complex>& begins) const {
    std::vector<Kernel> out(2 * step), in(2 * step);
    fill_as(identity.key(), first, step, out.data());
    fill_as(identity.key(), first + shape_.points(), step, in.data());
    Real growth = 0;
    std::vector<Complex> change;
    for (std::uint64_t m = 0; m < step; ++m) {
      const Complex goes(out[2 * m], out[2 * m + 1]), comes(in[2 * m], in[2 * m + 1]);
      change.push_back(comes - goes);
      growth += norm(comes) - norm(goes);
    }
    for (std::uint64_t k = 0; k < begins.size(); ++k) {
      const Complex* root = roots.data() + k * (step + 1);
      for (std::uint64_t m = 0; m < step; ++m) begins[k] += change[m] * root[m];
      begins[k] *= std::conj(root[step]);
    }
    return growth;
  }

  static Real energy_of(const Complex* values, std::uint64_t count) {
    Real sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) sum += norm(values[i]);
    return sum;
  }

  // Unit of the residual; `energy` is the sum of squares of the transform's inputs.
  Real unit_of(Real energy) const {
    return std::sqrt(energy) * static_cast<Real>(epsilon_of(shape_.type)) * static_cast<Real>(shape_.log_points);
  }

  Comparison compare(const std::vector<Kernel>& is, const Complex* should_be) const {
    const std::uint64_t n = shape_.points();
    return compare(is, should_be, n, unit_of(energy_of(should_be, n) / static_cast<Real>(n)));
  }

  Comparison compare(const std::vector<Kernel>& is, const Complex* should_be, std::uint64_t n, Real unit) const {
    const Real tolerated = unit * unit * static_cast<Real>(residual_tolerance * residual_tolerance);
    Real worst = 0;
    Comparison comparison;
    for (std::uint64_t i = 0; i < n; ++i) {
      const Complex value(is[2 * i], is[2 * i + 1]);
      const Real error = norm(value - should_be[i]);
      if (!(error <= worst) && !std::isnan(worst)) worst = error;
      if (!(error <= tolerated) && comparison.wrong++ == 0) {
        comparison.first_wrong = i;
        comparison.is = std::complex<double>(value);
        comparison.should_be = std::complex<double>(should_be[i]);
      }
    }
    comparison.residual = static_cast<double>(std::sqrt(worst) / unit);
    return comparison;
  }

  // std::norm checks for infinities first, which costs more than the transform.
  static Real norm(const Complex& value) {
    return value.real() * value.real() + value.imag() * value.imag();
  }

  // Maximum; propagates NaN.
  static void merge(const Validation& some, Validation& found) {
    if (!(some.error <= found.error) && !std::isnan(found.error)) found.error = some.error;
    found.wrong_items += some.wrong_items;
    if (found.detail.empty()) found.detail = some.detail;
  }

  static void add(const Comparison& comparison, std::uint64_t first, Validation& found) {
    if (!(comparison.residual <= found.error) && !std::isnan(found.error)) found.error = comparison.residual;
    found.wrong_items += comparison.wrong;
    if (comparison.wrong > 0 && found.detail.empty())
      found.detail = fmt::format(
          "transform of the points from {} on: {} points wrong, the first at {} is ({:.9g}, {:.9g}), should be "
          "({:.9g}, {:.9g}); residual "
          "{:.3g}",
          first, comparison.wrong, comparison.first_wrong, comparison.is.real(), comparison.is.imag(),
          comparison.should_be.real(), comparison.should_be.imag(), comparison.residual);
  }

  Shape shape_;
  Fftw::Plan plan_;
};

}  // namespace

void fill_points(const Provenance& identity, ScalarType type, std::uint64_t first, std::uint64_t count,
                 std::span<std::byte> bytes) {
  constexpr std::uint64_t piece = 1 << 14;
  const std::uint64_t key = identity.key();
  const std::size_t size = 2 * size_of(type);
#pragma omp parallel for schedule(static)
  for (std::uint64_t begin = 0; begin < count; begin += piece)
    fill_any(key, type, first + begin, std::min(piece, count - begin), bytes.data() + begin * size);
}

std::unique_ptr<Checker> make_checker(const Shape& shape) {
  if (shape.type == ScalarType::f32) return std::make_unique<FftwChecker<AboveFloat>>(shape);
  return std::make_unique<FftwChecker<AboveDouble>>(shape);
}

std::uint64_t checker_bytes(const Shape& shape, std::uint64_t batch) {
  const std::uint64_t reference = 2 * (shape.type == ScalarType::f32 ? sizeof(double) : sizeof(long double));
  // A transform's reference, FFTW's work space, and its input.
  return static_cast<std::uint64_t>(threads_for(batch, shape)) * (2 * reference * shape.points() + shape.bytes());
}

}  // namespace plumb::fft
