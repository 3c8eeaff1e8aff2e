#include "device/reservation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/units.hpp"
#include "device/host_share.hpp"

namespace plumb {

Reservation::Reservation(const DeviceInfo& info, std::uint64_t& taken, std::uint64_t bytes, bool of_device,
                         bool of_host)
    : taken_(&taken) {
  const auto lack = [&](std::uint64_t available, const std::string& what) {
    return Error(fmt::format("could not allocate a buffer on {}: needed {}, available {} ({})", info.name,
                             format_bytes(bytes), format_bytes(available), what));
  };
  if (bytes == 0) throw Error("a buffer has at least one byte");
  if (bytes > info.largest_buffer_bytes)
    throw lack(info.largest_buffer_bytes, "the largest single buffer of this device");
  const std::uint64_t left = info.memory_bytes - std::min(info.memory_bytes, taken);
  if (of_device && bytes > left)
    throw lack(left, fmt::format("of its {}, {} are taken by this process", format_bytes(info.memory_bytes),
                                 format_bytes(taken)));
  // Beyond this the kernel would kill a process instead of failing the allocation.
  if (const std::uint64_t free = host_share().available_bytes; of_host && bytes > free)
    throw lack(free, "free memory of the host");
  counted_ = of_device ? bytes : 0;
  taken += counted_;
}

}  // namespace plumb
