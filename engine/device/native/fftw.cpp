// Fourier transforms of runtime `native`: FFTW with a measured plan, one thread per core of the process.
#include <fftw3.h>
#include <fmt/format.h>

#include <climits>

#include "device/host_share.hpp"
#include "device/library.hpp"

namespace plumb {

namespace {

// FFTW's interfaces of both precisions.
struct Double {
  using Plan = fftw_plan;
  using Complex = fftw_complex;
  static constexpr auto plan_many = fftw_plan_many_dft;
  static constexpr auto execute = fftw_execute_dft;
  static constexpr auto destroy = fftw_destroy_plan;
  static void use_threads(int threads) {
    static const int ready = fftw_init_threads();
    if (ready != 0) fftw_plan_with_nthreads(threads);
  }
};

struct Float {
  using Plan = fftwf_plan;
  using Complex = fftwf_complex;
  static constexpr auto plan_many = fftwf_plan_many_dft;
  static constexpr auto execute = fftwf_execute_dft;
  static constexpr auto destroy = fftwf_destroy_plan;
  static void use_threads(int threads) {
    static const int ready = fftwf_init_threads();
    if (ready != 0) fftwf_plan_with_nthreads(threads);
  }
};

template <class Kind>
class FftwFft final : public FftLibrary {
 public:
  // Plans on buffers of its own, page-aligned like the device's.
  FftwFft(Device& device, const FftShape& shape) {
    if (shape.length > INT_MAX || shape.batch > INT_MAX)
      throw Unsupported("FFTW is limited to 2^31 - 1 points and batches");
    Kind::use_threads(static_cast<int>(host_share().cores));
    const std::size_t bytes = shape.length * shape.batch * sizeof(typename Kind::Complex);
    const auto from = device.allocate(bytes, {}), to = device.allocate(bytes, {});
    const int length = static_cast<int>(shape.length);
    plan_ = Kind::plan_many(1, &length, static_cast<int>(shape.batch), at(from->host_pointer()), nullptr, 1, length,
                            at(to->host_pointer()), nullptr, 1, length, shape.inverse ? FFTW_BACKWARD : FFTW_FORWARD,
                            FFTW_MEASURE | FFTW_PRESERVE_INPUT);
    if (plan_ == nullptr) throw Unsupported(fmt::format("FFTW has no plan for {} points", shape.length));
  }
  ~FftwFft() override { Kind::destroy(plan_); }
  FftwFft(const FftwFft&) = delete;
  FftwFft& operator=(const FftwFft&) = delete;

  std::string name() const override { return fftw_version; }
  void enqueue(Queue& queue, const BufferView& from, const BufferView& to) override {
    queue.finish();  // commands of this runtime are complete on return
    Kind::execute(plan_, at(from.host_pointer()), at(to.host_pointer()));
  }

 private:
  static Kind::Complex* at(std::byte* bytes) { return reinterpret_cast<Kind::Complex*>(bytes); }

  Kind::Plan plan_;
};

std::unique_ptr<FftLibrary> make(Device& device, Queue&, const FftShape& shape) {
  switch (shape.type) {
    case ScalarType::f16:
      throw Unsupported("FFTW does not support half");
    case ScalarType::f32:
      return std::make_unique<FftwFft<Float>>(device, shape);
    default:
      return std::make_unique<FftwFft<Double>>(device, shape);
  }
}

const Registered<FftLibraryMaker> registered_native_fft_library("native", make);

}  // namespace

}  // namespace plumb
