// Fourier transforms of runtime `opencl`: clFFT.
#include <clFFT.h>
#include <fmt/format.h>

#include "device/library.hpp"
#include "device/opencl/queue.hpp"

namespace plumb::opencl {

namespace {

void check_clfft(clfftStatus code, const char* action) {
  if (code != CLFFT_SUCCESS) throw status_error(code, fmt::format("{} with clFFT", action));
}

// clFFT's global state, from the first plan to the program's end.
struct Library {
  Library() {
    clfftSetupData data;
    check_clfft(clfftInitSetupData(&data), "begin");
    check_clfft(clfftSetup(&data), "begin");
  }
  ~Library() { clfftTeardown(); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
};

void set_up() {
  static const Library library;
}

class ClfftFft final : public FftLibrary {
 public:
  ClfftFft(OpenclQueue& queue, const FftShape& shape) : inverse_(shape.inverse) {
    set_up();
    cl_command_queue handle = queue.handle();
    const std::size_t length = shape.length;
    check_clfft(clfftCreateDefaultPlan(&plan_, queue.context(), CLFFT_1D, &length), "make a plan");
    try {
      check_clfft(clfftSetPlanPrecision(plan_, shape.type == ScalarType::f32 ? CLFFT_SINGLE : CLFFT_DOUBLE), "set up");
      check_clfft(clfftSetPlanBatchSize(plan_, shape.batch), "set up");
      check_clfft(clfftSetPlanScale(plan_, CLFFT_BACKWARD, 1), "set up");
      check_clfft(clfftSetResultLocation(plan_, CLFFT_OUTOFPLACE), "set up");
      check_clfft(clfftBakePlan(plan_, 1, &handle, nullptr, nullptr), "compile a plan");
    } catch (...) {
      clfftDestroyPlan(&plan_);
      throw;
    }
  }
  ~ClfftFft() override { clfftDestroyPlan(&plan_); }
  ClfftFft(const ClfftFft&) = delete;
  ClfftFft& operator=(const ClfftFft&) = delete;

  std::string name() const override {
    cl_uint major = 0, minor = 0, patch = 0;
    clfftGetVersion(&major, &minor, &patch);
    return fmt::format("clFFT {}.{}.{}", major, minor, patch);
  }

  void enqueue(Queue& queue, const BufferView& from, const BufferView& to) override {
    dynamic_cast<OpenclQueue&>(queue).enqueue_foreign([&](cl_command_queue handle, cl_event* event) {
      cl_mem input = own(from).memory_from(from.offset), output = own(to).memory_from(to.offset);
      check_clfft(clfftEnqueueTransform(plan_, inverse_ ? CLFFT_BACKWARD : CLFFT_FORWARD, 1, &handle, 0, nullptr, event,
                                        &input, &output, nullptr),
                  "transform");
    });
  }

 private:
  bool inverse_;
  clfftPlanHandle plan_ = 0;
};

const Registered<FftLibraryMaker> registered_opencl_fft_library("opencl", [](Device&, Queue& queue,
                                                                             const FftShape& shape) {
  if (shape.type == ScalarType::f16) throw Unsupported("clFFT does not support half");
  require_memory_objects("clFFT", shape.memory);
  return std::make_unique<ClfftFft>(dynamic_cast<OpenclQueue&>(queue), shape);
});

}  // namespace

}  // namespace plumb::opencl
