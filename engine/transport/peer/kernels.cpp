#include "transport/peer/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/embedded.hpp"
#include "core/patience.hpp"

namespace plumb::peer {

LaunchShape shape_of(const DeviceInfo& info) {
  const double patience = kernel_patience_s;
  LaunchShape shape;
  if (info.type == "gpu") {
    // Two lanes with half of the units each: all groups of both runs are resident, which excludes deadlock.
    shape.largest_groups = std::max(1u, info.compute_units / 2);
    shape.largest_group = 512;
    shape.looks = static_cast<std::uint64_t>(patience / 0.5e-6);
    shape.options = "-DWIDE=uint4";
    return shape;
  }
  shape.looks = static_cast<std::uint64_t>(patience / 2e-9);
  shape.options = "-DALONE -DWIDE=ulong8";
  return shape;
}

std::uint64_t groups_for(const LaunchShape& shape, std::size_t bytes) {
  const std::size_t slice = std::size_t{8} << 10;  // bytes: minimum slice of a group
  return std::clamp<std::uint64_t>(bytes / slice, 1, shape.largest_groups);
}

KernelRange range_for(const LaunchShape& shape, std::size_t bytes) {
  constexpr std::uint64_t warp = 32, at_once = 16;  // bytes copied by a work item at a time
  const std::uint64_t groups = groups_for(shape, bytes);
  const std::uint64_t useful = (bytes / groups / at_once + warp) / warp * warp;
  const std::uint64_t items = std::min(shape.largest_group, useful);
  return {groups * items, items};
}

KernelSource kernels(const std::string& file, const std::string& options) {
  const std::string folder = "engine/transport/peer/";
  return {file, embedded_text(folder + "flags.cl") + embedded_text(folder + file), options};
}

Flags::Flags(Device& device, std::uint64_t count)
    : buffer_(device.allocate(count * flag_stride * sizeof(std::uint64_t), {MemoryKind::automatic, {}, true})) {
  const std::vector<std::byte> zeros(buffer_->size());
  device.make_queue()->write(zeros.data(), whole(*buffer_));
}

Patience::Patience(Device& device) : buffer_(allocate_host(device, sizeof(std::uint64_t))) {
  std::memset(buffer_->host_pointer(), 0, buffer_->size());
}

void Patience::check() const {
  std::uint64_t serial = 0;
  std::memcpy(&serial, buffer_->host_pointer(), sizeof serial);
  if (serial != 0)
    throw Error(
        fmt::format("a kernel timed out waiting for a neighbour's flag to reach {}: the neighbour has died, or is "
                    "slower than --timeout allows",
                    serial));
}

}  // namespace plumb::peer
