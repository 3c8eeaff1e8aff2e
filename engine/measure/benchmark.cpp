#include "measure/benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

namespace plumb {

KernelSource Session::source(KernelSource own) const {
  if (kernel_file.empty()) return own;
  std::ifstream file(kernel_file, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file || bytes.empty())
    throw Error(
        fmt::format("--kernel-file {} cannot be read: {}", kernel_file, file ? "it is empty" : std::strerror(errno)));
  KernelSource given;
  given.name = kernel_file;
  given.options = std::move(own.options);
  // What a vendor's compiler wrote holds zero bytes, text does not.
  if (std::find(bytes.begin(), bytes.end(), '\0') == bytes.end())
    given.opencl.assign(bytes.begin(), bytes.end());
  else
    given.binary.assign(bytes.begin(), bytes.end());
  return given;
}

}  // namespace plumb
