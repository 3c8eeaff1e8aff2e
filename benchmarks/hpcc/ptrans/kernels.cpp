#include "benchmarks/hpcc/ptrans/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/embedded.hpp"

namespace plumb::ptrans {

namespace {

std::string tile_options(ScalarType type, std::size_t tile) {
  return fmt::format("-DNUMBER={} -DTILE={}{}", to_string(type), tile, type == ScalarType::f16 ? " -DHALF" : "");
}

// cpu.cl: numbers of a cache line (half: of half a line), which a vector holds.
std::size_t line_of(ScalarType type) {
  return type == ScalarType::f64 ? 8 : 16;
}

// Rows of a tile are lines of a GPU's memory, 128 bytes, for numbers of more than two bytes.
std::size_t tile_of(ScalarType type) {
  return type == ScalarType::f16 ? 64 : 32;
}

}  // namespace

std::string board_options(const std::string& type) {
  const ScalarType parsed = parse_scalar_type(type);
  return tile_options(parsed, tile_of(parsed));
}

KernelSource KernelForm::source() const {
  const std::string file = fmt::format("benchmarks/hpcc/ptrans/{}.cl", kind == Kind::cpu ? "cpu" : "gpu");
  KernelSource source{file, embedded_text(file)};
  source.options = tile_options(type, tile);
  if (kind != Kind::cpu) source.options += fmt::format(" -DITEMS={}", items);
  source.native = native_kernels(*this);
  source.hls = embedded_text("benchmarks/hpcc/ptrans/single_work_item_hls.cpp");
  return source;
}

KernelForm kernel_form(const DeviceInfo& device, ScalarType type, const std::string& kernel) {
  KernelForm form{type, KernelForm::Kind::gpu, tile_of(type), 256};
  if (device.runtime == "hls" || device.runtime == "xrt") form.kind = KernelForm::Kind::one_item;
  if (device.type == "native") return form;
  if (kernel == "cpu" || (kernel == "default" && device.type == "cpu"))
    return {type, KernelForm::Kind::cpu, line_of(type), 1};
  while (form.items > device.largest_group && form.items > form.tile) form.items /= 2;
  return form;
}

}  // namespace plumb::ptrans
