#include "measure/benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

namespace plumb {

std::vector<char> read_kernel_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes;
  try {
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  } catch (const std::ios_base::failure&) {  // a folder is opened, but not read; errno says so
  }
  if (bytes.empty())
    throw UsageError(
        fmt::format("--kernel-file {} cannot be read: {}", path, errno == 0 ? "it is empty" : std::strerror(errno)));
  return bytes;
}

double reduced(const std::vector<double>& by_rank, RankRule rule) {
  std::vector<double> told;
  std::copy_if(by_rank.begin(), by_rank.end(), std::back_inserter(told),
               [](double value) { return !std::isnan(value); });
  if (told.empty()) return std::numeric_limits<double>::quiet_NaN();
  if (rule == RankRule::slowest) return *std::max_element(told.begin(), told.end());
  double sum = 0;
  for (const double value : told) sum += value;
  return rule == RankRule::sum ? sum : sum / static_cast<double>(told.size());
}

KernelSource Session::source(KernelSource own) const {
  own.by_sycl = kernels_by_sycl;
  if (kernel_file.empty()) return own;
  const std::vector<char> bytes = read_kernel_file(kernel_file);
  KernelSource given;
  given.name = kernel_file;
  given.options = std::move(own.options);
  given.is_cuda = own.is_cuda;
  given.by_sycl = own.by_sycl;
  given.streams = std::move(own.streams);
  // Binaries contain zero bytes, text does not.
  if (std::find(bytes.begin(), bytes.end(), '\0') == bytes.end())
    (device.info().runtime == "hls" ? given.hls : given.opencl).assign(bytes.begin(), bytes.end());
  else
    given.binary.assign(bytes.begin(), bytes.end());
  return given;
}

}  // namespace plumb
