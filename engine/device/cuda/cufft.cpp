// Fourier transforms of runtime `cuda`: cuFFT, loaded at run time.
#include <fmt/format.h>

#include "device/cuda/queue.hpp"
#include "device/cuda/shared_library.hpp"
#include "device/library.hpp"

namespace plumb::cuda {

namespace {

using Plan = int;

constexpr int complex_float = 0x29, complex_double = 0x69;  // cufftType
constexpr int forward = -1, backward = 1;

// The part of cufft.h in use.
struct Cufft {
  int (*plan_many)(Plan*, int, int*, int*, int, int, int*, int, int, int, int) = nullptr;
  int (*destroy)(Plan) = nullptr;
  int (*set_stream)(Plan, Stream) = nullptr;
  int (*version)(int*) = nullptr;
  int (*execute_float)(Plan, void*, void*, int) = nullptr;
  int (*execute_double)(Plan, void*, void*, int) = nullptr;
  std::string problem;

  Cufft() {
    SharedLibrary library({"libcufft.so.12", "libcufft.so.11", "libcufft.so"});
    const bool found = library.find(plan_many, "cufftPlanMany") && library.find(destroy, "cufftDestroy") &&
                       library.find(set_stream, "cufftSetStream") && library.find(version, "cufftGetVersion") &&
                       library.find(execute_float, "cufftExecC2C") && library.find(execute_double, "cufftExecZ2Z");
    if (!found)
      problem = fmt::format(
          "cuFFT could not be loaded ({}): install CUDA's libraries or name their folder in "
          "LD_LIBRARY_PATH or CUDA_HOME",
          library.problem());
  }
};

const Cufft& cufft() {
  static const Cufft once;
  return once;
}

// Names of cufftResult (cuFFT API reference); newer codes are printed as numbers.
std::string code_name(int code) {
  static const std::vector<std::string> names{"CUFFT_SUCCESS",      "CUFFT_INVALID_PLAN",  "CUFFT_ALLOC_FAILED",
                                              "CUFFT_INVALID_TYPE", "CUFFT_INVALID_VALUE", "CUFFT_INTERNAL_ERROR",
                                              "CUFFT_EXEC_FAILED",  "CUFFT_SETUP_FAILED",  "CUFFT_INVALID_SIZE"};
  const auto index = static_cast<std::size_t>(code);
  return index < names.size() ? names[index] : "an unknown code";
}

void check_cufft(int code, const char* action) {
  if (code != 0) throw Error(library_sentence(action, "cuFFT", code, code_name(code), ""));
}

class CufftFft final : public FftLibrary {
 public:
  CufftFft(CudaQueue& queue, const FftShape& shape) : shape_(shape) {
    if (!cufft().problem.empty()) throw Unsupported(cufft().problem);
    if (shape.type == ScalarType::f16) throw Unsupported("cuFFT supports half only through its Xt interface");
    if (std::max(shape.length, shape.batch) > 0x7fffffff) throw Unsupported("cuFFT is limited to 2^31 - 1 points");
    int length = static_cast<int>(shape.length);
    check_cufft(cufft().plan_many(&plan_, 1, &length, nullptr, 1, length, nullptr, 1, length,
                                  shape.type == ScalarType::f32 ? complex_float : complex_double,
                                  static_cast<int>(shape.batch)),
                "make a plan");
    const int code = cufft().set_stream(plan_, queue.stream());
    if (code != 0) cufft().destroy(plan_);
    check_cufft(code, "set cuFFT's stream");
  }
  ~CufftFft() override { cufft().destroy(plan_); }
  CufftFft(const CufftFft&) = delete;
  CufftFft& operator=(const CufftFft&) = delete;

  std::string name() const override {
    int version = 0;
    check_cufft(cufft().version(&version), "query cuFFT's version");
    return fmt::format("cuFFT {}.{}.{}", version / 1000, version % 1000 / 100, version % 100);
  }

  void enqueue(Queue& queue, const BufferView& from, const BufferView& to) override {
    dynamic_cast<CudaQueue&>(queue).enqueue_foreign([&] {
      Address input = own(from).device_address() + from.offset;
      Address output = own(to).device_address() + to.offset;
      const int direction = shape_.inverse ? backward : forward;
      const bool is_float = shape_.type == ScalarType::f32;
      check_cufft(is_float ? cufft().execute_float(plan_, input, output, direction)
                           : cufft().execute_double(plan_, input, output, direction),
                  "transform");
    });
  }

 private:
  FftShape shape_;
  Plan plan_ = 0;
};

const Registered<FftLibraryMaker> registered_cuda_fft_library("cuda", [](Device&, Queue& queue, const FftShape& shape) {
  return std::make_unique<CufftFft>(dynamic_cast<CudaQueue&>(queue), shape);
});

}  // namespace

}  // namespace plumb::cuda
