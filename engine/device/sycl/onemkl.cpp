// Matrix products and Fourier transforms of runtime `sycl`: oneMKL, by a library beside the plug-in.
#include <fmt/format.h>

#include "device/library.hpp"
#include "device/sycl/queue.hpp"

namespace plumb::sycl {

namespace {

const char* library_name() {
  if (const char* name = plugin().library()) return name;
  throw Unsupported(fmt::format(
      "oneMKL is not beside the SYCL plug-in: {}; plumb setup intel-sycl --onemkl --accept-eula installs it",
      plugin().error()));
}

// The address of a view's bytes; oneMKL takes unified shared memory here.
std::byte* address(const BufferView& view) {
  const SyclBuffer& its = own(view);
  if (its.object() != nullptr) throw Unsupported("oneMKL is called with addresses, which a sycl::buffer has not");
  return its.device_address() + view.offset;
}

void require_type(const DeviceInfo& device, ScalarType type) {
  const bool lacks = (type == ScalarType::f16 && !device.has(Feature::fp16)) ||
                     (type == ScalarType::f64 && !device.has(Feature::fp64));
  if (lacks || type == ScalarType::bf16)
    throw Unsupported(fmt::format("oneMKL on {} does not support {}", device.name, to_string(type)));
}

class MklGemm final : public GemmLibrary {
 public:
  explicit MklGemm(const GemmShape& shape) : name_(library_name()), shape_(shape) {}
  std::string name() const override { return name_; }

  void enqueue(Queue& queue, const BufferView& a, const BufferView& b, const BufferView& c) override {
    const sycl_plugin::Product product{size_of(shape_.type), shape_.rows, shape_.columns, shape_.inner, shape_.alpha,
                                       shape_.beta,          address(a),  address(b),     address(c)};
    dynamic_cast<SyclQueue&>(queue).enqueue_library("multiply matrices with oneMKL",
                                                    [&](auto* its) { return plugin().multiply(its, &product); });
  }

 private:
  std::string name_;
  GemmShape shape_;
};

class MklFft final : public FftLibrary {
 public:
  MklFft(SyclQueue& queue, const FftShape& shape)
      : name_(library_name()),
        inverse_(shape.inverse),
        plan_(made(plugin().make_transform(queue.handle(), size_of(shape.type), shape.length, shape.batch),
                   "make a plan with oneMKL")) {}
  std::string name() const override { return name_; }

  void enqueue(Queue& queue, const BufferView& from, const BufferView& to) override {
    dynamic_cast<SyclQueue&>(queue).enqueue_library("transform with oneMKL", [&](auto* its) {
      return plugin().transform(plan_.get(), its, inverse_ ? 1 : 0, address(from), address(to));
    });
  }

 private:
  struct Release {
    void operator()(sycl_plugin::TransformHandle* plan) const { plugin().free_transform(plan); }
  };
  std::string name_;
  bool inverse_;
  std::unique_ptr<sycl_plugin::TransformHandle, Release> plan_;
};

const Registered<GemmLibraryMaker> registered_sycl_gemm_library("sycl", [](Device& device, Queue&,
                                                                           const GemmShape& shape) {
  require_type(device.info(), shape.type);
  if (shape.tf32) throw Unsupported("oneMKL does not support tf32 on this runtime");
  return std::make_unique<MklGemm>(shape);
});

const Registered<FftLibraryMaker> registered_sycl_fft_library("sycl", [](Device& device, Queue& queue,
                                                                         const FftShape& shape) {
  require_type(device.info(), shape.type);
  if (shape.type == ScalarType::f16) throw Unsupported("oneMKL does not transform half");
  return std::make_unique<MklFft>(dynamic_cast<SyclQueue&>(queue), shape);
});

}  // namespace

}  // namespace plumb::sycl
