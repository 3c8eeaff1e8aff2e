// Host memory as a buffer, for devices whose memory is the host's.
#pragma once

#include <memory>

#include "device/device.hpp"
#include "device/host_memory.hpp"
#include "device/host_segment.hpp"

namespace plumb {

class HostBuffer : public Buffer {
 public:
  // Physically allocated; shared with other processes if the placement is. Throws Error if memory is exhausted.
  HostBuffer(std::size_t size, const Placement& placement);
  // Memory of another process.
  HostBuffer(std::unique_ptr<HostSegment> segment, MemoryKind kind);

  std::byte* host_pointer() const override { return data(); }
  std::byte* data() const { return segment_ ? segment_->data() : bytes_.get(); }
  // Null unless shared.
  const HostSegment* segment() const { return segment_.get(); }

 private:
  HostBytes bytes_;                       // unless shared
  std::unique_ptr<HostSegment> segment_;  // if shared
};

// Throws Error for a view outside its buffer.
void check_view(const BufferView& view);

// Throws Error, with needed and available, if the host's free memory is below `bytes`, or for 0 bytes.
void check_host_bytes(std::size_t bytes);

// Views may overlap; the address of an empty view may be null.
void move_bytes(const std::byte* from, std::byte* to, std::size_t size);

}  // namespace plumb
