// Buffers of runtime `hls`: host memory. As on a board, the host addresses only those of kind `host`.
#pragma once

#include "device/host_buffer.hpp"

namespace plumb::hls {

class HlsBuffer final : public HostBuffer {
 public:
  using HostBuffer::HostBuffer;
  std::byte* host_pointer() const override { return placement().kind == MemoryKind::host ? data() : nullptr; }
};

// Casts to this runtime's buffer; throws Error for another runtime's, or a view out of bounds.
inline const HlsBuffer& own(const Buffer& buffer) {
  const auto* result = dynamic_cast<const HlsBuffer*>(&buffer);
  if (result == nullptr) throw Error("runtime hls was given a buffer of another runtime");
  return *result;
}
inline std::byte* bytes_of(const BufferView& view) {
  const HlsBuffer& buffer = own(*view.buffer);
  check_view(view);
  return buffer.data() + view.offset;
}

}  // namespace plumb::hls
