// What the device-scheduled approaches of `peer` have in common: kernels, flags, and the end of a wait that is too
// long.
#pragma once

#include <memory>
#include <string>

#include "transport/peer/peer.hpp"

namespace plumb::peer {

// How kernels of a device share the work of a message.
struct LaunchShape {
  std::uint64_t largest_groups = 1;  // each with a slice; all of them must run at the same time
  std::uint64_t largest_group = 1;   // work items
  std::uint64_t looks = 0;           // at a flag until a kernel gives up: about half of the longest wait
  std::string options = {};
};
LaunchShape shape_of(const DeviceInfo& info);
// Groups that share a message: the same on both sides of a transfer.
std::uint64_t groups_for(const LaunchShape& shape, std::size_t bytes);
// As many work items as a slice gives work to.
KernelRange range_for(const LaunchShape& shape, std::size_t bytes);

constexpr std::uint64_t flag_stride = 16;  // ulongs, as in flags.cl

// A file of kernels with what all have in common before it.
KernelSource kernels(const std::string& file, const std::string& options);

// Flags in the device's memory, shared, all 0.
class Flags {
 public:
  Flags(Device& device, std::uint64_t count);
  Buffer& buffer() const { return *buffer_; }
  BufferView view() const { return whole(*buffer_); }

 private:
  std::unique_ptr<Buffer> buffer_;
};

// Where a kernel says that it gave up.
class Patience {
 public:
  explicit Patience(Device& device);
  const Buffer& buffer() const { return *buffer_; }
  // Throws Error when a kernel has given up.
  void check() const;

 private:
  std::unique_ptr<Buffer> buffer_;
};

}  // namespace plumb::peer
