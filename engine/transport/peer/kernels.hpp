// Common parts of the device-scheduled approaches of `peer`: kernels, flags, time limit of waits.
#pragma once

#include <memory>
#include <string>

#include "transport/peer/peer.hpp"

namespace plumb::peer {

// Division of a message among a device's groups.
struct LaunchShape {
  std::uint64_t largest_groups = 1;  // one slice each; all groups must be resident at the same time
  std::uint64_t largest_group = 1;   // work items
  std::uint64_t looks = 0;           // polls of a flag before a kernel times out: about half of the longest wait
  std::string options = {};
};
LaunchShape shape_of(const DeviceInfo& info);
// Number of groups per message: the same on both sides of a transfer.
std::uint64_t groups_for(const LaunchShape& shape, std::size_t bytes);
// Work items per group, by the slice's length.
KernelRange range_for(const LaunchShape& shape, std::size_t bytes);

constexpr std::uint64_t flag_stride = 16;  // ulongs, as in flags.cl

// A file of kernels with the common code prepended.
KernelSource kernels(const std::string& file, const std::string& options);

// Zeroed flags in shared device memory.
class Flags {
 public:
  Flags(Device& device, std::uint64_t count);
  Buffer& buffer() const { return *buffer_; }
  BufferView view() const { return whole(*buffer_); }

 private:
  std::unique_ptr<Buffer> buffer_;
};

// Timeout reports of kernels.
class Patience {
 public:
  explicit Patience(Device& device);
  const Buffer& buffer() const { return *buffer_; }
  // Throws Error if a kernel timed out.
  void check() const;

 private:
  std::unique_ptr<Buffer> buffer_;
};

}  // namespace plumb::peer
