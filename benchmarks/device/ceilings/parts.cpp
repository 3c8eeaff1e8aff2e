// Distribution of work on a device, and common code of the parts.
#include "benchmarks/device/ceilings/parts.hpp"

#include "core/embedded.hpp"
#include "device/host_simd.hpp"

namespace plumb::ceilings {

Layout layout_of(const DeviceInfo& device) {
  const std::size_t units = std::max(1u, device.compute_units);
  // A GPU's units hold 2048 work items each, which read adjacent words.
  if (device.type == "gpu") return {units * 2048, 256, true, 8, false};
  if (device.type == "native") return {units, 1, false, native_vector_bytes, true};
  // Several ranges per core of a CPU, to balance delays.
  return {units * 8, 1, false, static_cast<unsigned>(host_vector_bytes()), device.type == "cpu"};
}

std::string layout_options(const Layout& layout) {
  return std::string(layout.interleaved ? " -DINTERLEAVED" : "") + (layout.by_core ? " -DBY_CORE" : "");
}

KernelSource kernels(const std::string& options) {
  return {"ceilings.cl", embedded_text("benchmarks/device/ceilings/ceilings.cl"), options, native_kernels(), {}};
}

}  // namespace plumb::ceilings
