#include "benchmarks/hpcc/ptrans/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/embedded.hpp"

namespace plumb::ptrans {

KernelSource KernelForm::source() const {
  const std::string file = "benchmarks/hpcc/ptrans/nd_range.cl";
  KernelSource source{file, embedded_text(file)};
  source.options = fmt::format("-DNUMBER={} -DTILE={} -DITEMS={}{}", to_string(type), tile, items,
                               type == ScalarType::f16 ? " -DHALF" : "");
  source.native = native_kernels(*this);
  source.hls = embedded_text("benchmarks/hpcc/ptrans/single_work_item_hls.cpp");
  return source;
}

// Rows of a tile are lines of a GPU's memory, 128 bytes, for numbers of more than two bytes.
KernelForm kernel_form(const DeviceInfo& device, ScalarType type) {
  KernelForm form{type, type == ScalarType::f16 ? 64u : 32u, 256};
  form.is_one_item = device.runtime == "hls";
  if (device.type == "native") return form;
  while (form.items > device.largest_group && form.items > form.tile) form.items /= 2;
  return form;
}

}  // namespace plumb::ptrans
