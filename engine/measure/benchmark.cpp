#include "measure/benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace plumb {

std::vector<char> read_kernel_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty())
    throw UsageError(
        fmt::format("--kernel-file {} cannot be read: {}", path, errno == 0 ? "it is empty" : std::strerror(errno)));
  return bytes;
}

KernelSource Session::source(KernelSource own) const {
  if (kernel_file.empty()) return own;
  const std::vector<char> bytes = read_kernel_file(kernel_file);
  KernelSource given;
  given.name = kernel_file;
  given.options = std::move(own.options);
  given.is_cuda = own.is_cuda;
  // What a vendor's compiler wrote holds zero bytes, text does not.
  if (std::find(bytes.begin(), bytes.end(), '\0') == bytes.end())
    given.opencl.assign(bytes.begin(), bytes.end());
  else
    given.binary.assign(bytes.begin(), bytes.end());
  return given;
}

}  // namespace plumb
