#include "device/library.hpp"

#include <fmt/format.h>

#include "core/registry.hpp"

namespace plumb {

namespace {

template <class Maker>
const Maker& maker_for(const Device& device, const char* what) {
  const std::string& runtime = device.info().runtime;
  const Maker* maker = Registry<Maker>::instance().find(runtime);
  if (maker == nullptr)
    throw Unsupported(
        fmt::format("this program was built without a library of {} for runtime {}: see packages.txt", what, runtime));
  return *maker;
}

}  // namespace

std::unique_ptr<GemmLibrary> make_gemm_library(Device& device, Queue& queue, const GemmShape& shape) {
  return maker_for<GemmLibraryMaker>(device, "matrix products")(device, queue, shape);
}

std::unique_ptr<FactorLibrary> make_factor_library(Device& device, Queue& queue, ScalarType type) {
  return maker_for<FactorLibraryMaker>(device, "triangular solves")(device, queue, type);
}

std::unique_ptr<FftLibrary> make_fft_library(Device& device, Queue& queue, const FftShape& shape) {
  return maker_for<FftLibraryMaker>(device, "Fourier transforms")(device, queue, shape);
}

}  // namespace plumb
