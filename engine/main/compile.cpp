#include "main/compile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>

#include "core/embedded.hpp"
#include "core/json.hpp"
#include "device/select.hpp"
#include "measure/benchmark.hpp"

namespace plumb {

int print_embedded(const std::string& path) {
  fmt::print("{}", embedded_text(path));
  return 0;
}

int compile_kernels(const std::vector<std::string>& words) {
  const std::vector<char> text = read_kernel_file(words[0]);
  KernelSource source{words[0], std::string(text.begin(), text.end())};
  source.options = fmt::format("{}", fmt::join(words.begin() + 2, words.end(), " "));
  const DeviceCatalogue catalogue;
  if (const std::string reason = catalogue.why_none("opencl"); !reason.empty())
    throw UsageError("there is no OpenCL device: " + reason);
  const DeviceInfo info = catalogue.choose({}, 0, 1, 0);
  const std::unique_ptr<Device> device = catalogue.open(info);
  const std::unique_ptr<Program> program = device->build(source);
  const std::vector<unsigned char> binary = program->binary();
  std::ofstream file(words[1], std::ios::binary);
  file.write(reinterpret_cast<const char*>(binary.data()), static_cast<std::streamsize>(binary.size()));
  if (!file.flush()) throw Error(words[1] + " cannot be written");
  fmt::print("{}\n", Json{{"kernels", program->kernel_names()},
                          {"platform", info.platform},
                          {"device", info.name},
                          {"driver", info.driver}}
                         .dump());
  return 0;
}

}  // namespace plumb
