// Variant `library`: the product of an optimised library, which computes in place, so out starts as C.
#include "device/library.hpp"

#include <fmt/format.h>

#include "benchmarks/hpcc/common/single_device.hpp"
#include "benchmarks/hpcc/gemm/form.hpp"

namespace plumb::gemm {

namespace {

class LibraryForm final : public OneQueueForm {
 public:
  LibraryForm(Session& session, const Problem& problem) : OneQueueForm(session, problem) {
    const GemmShape shape{
        problem.element.stored,        problem.rows,       problem.columns, problem.inner, problem.alpha, problem.beta,
        problem.element.short_factors, session.memory.kind};
    queue_->enqueue_call([&](Queue& own) { library_ = make_gemm_library(session.device, own, shape); });
  }

  void reset(const Inputs& inputs, std::uint64_t count) override {
    OneQueueForm::reset(inputs, count);
    queue_->write(inputs.c.data() + inputs.c_begin + slide_.source(0), out(0));
  }
  void enqueue(std::uint64_t later) override {
    queue_->enqueue_call([this, later](Queue& own) { library_->enqueue(own, a(later), whole(*b_), out(later)); });
  }
  Rounding rounding() const override {
    const std::string& runtime = session_.device.info().runtime;
    const bool sums_in_half = runtime == "opencl";  // CLBlast, for half
    Rounding rounding =
        rounding_of(problem_.element, sums_in_half ? problem_.element.stored : problem_.element.computed);
    if (runtime == "sycl" && problem_.element.stored == ScalarType::f16) rounding.result *= 2;  // oneMKL truncates
    return rounding;
  }
  Json facts() const override { return {{"variant", "library"}, {"library", library_->name()}}; }

 private:
  std::unique_ptr<GemmLibrary> library_;
};

}  // namespace

std::unique_ptr<Form> make_library(Session& session, const Problem& problem) {
  const DeviceInfo& device = session.device.info();
  hpcc::require_type(device, problem.element.stored);
  if (problem.element.stored == ScalarType::bf16 && device.runtime != "cuda")
    throw Unsupported(
        fmt::format("--variant library with bfloat16 requires cuBLAS (runtime cuda), but {} is of runtime {}",
                    device.name, device.runtime));
  return std::make_unique<LibraryForm>(session, problem);
}

}  // namespace plumb::gemm
