#include "device/host_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include "core/error.hpp"
#include "core/units.hpp"

namespace plumb {

HostBytes take_host_bytes(std::size_t size) {
  constexpr std::size_t page = 4096;
  const std::size_t unit = size >= huge_pages_from ? huge_page : page;
  const std::size_t rounded = (size + unit - 1) / unit * unit;
  HostBytes bytes(static_cast<std::byte*>(std::aligned_alloc(unit, rounded)));
  if (!bytes)
    throw Error(fmt::format("could not allocate {} of host memory: the system gave none", format_bytes(size)));
  if (unit == huge_page) madvise(bytes.get(), rounded, MADV_HUGEPAGE);
  return bytes;
}

}  // namespace plumb
