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

const char* number_of(ScalarType type) {
  return type == ScalarType::f64 ? "double" : "float";
}

std::string streaming_options(const Layout& layout, ScalarType numbers) {
  const auto vector = [](const std::string& type, std::size_t lanes) {
    return lanes == 1 ? type : fmt::format("{}{}", type, lanes);
  };
  const std::size_t lanes = layout.interleaved ? 1 : layout.lanes(size_of(numbers));
  return fmt::format("-DWORD={} -DREAL={} -DNUMBER={} -DCHAINS={}{}",
                     vector("ulong", layout.lanes(sizeof(std::uint64_t))), vector(to_string(numbers), lanes),
                     number_of(numbers), chains, layout_options(layout));
}

KernelSource kernels(const std::string& options) {
  return {"ceilings.cl", embedded_text("benchmarks/device/ceilings/ceilings.cl"), options, native_kernels(), {}};
}

}  // namespace plumb::ceilings
