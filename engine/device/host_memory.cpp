#include "device/host_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "core/error.hpp"
#include "core/units.hpp"

namespace plumb {

namespace {

bool find_prefetchw() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && (c >> 8 & 1) != 0;
#else
  return false;
#endif
}

}  // namespace

const bool host_has_prefetchw = find_prefetchw();

HostBytes take_host_bytes(std::size_t size) {
  const std::size_t unit = size >= huge_pages_from ? huge_page : small_page;
  const std::size_t rounded = (size + unit - 1) / unit * unit;
  HostBytes bytes(static_cast<std::byte*>(std::aligned_alloc(unit, rounded)));
  if (!bytes) throw Error(fmt::format("could not allocate {} of host memory: out of memory", format_bytes(size)));
  if (unit == huge_page) madvise(bytes.get(), rounded, MADV_HUGEPAGE);
  return bytes;
}

}  // namespace plumb
