// An open device of XRT, and its buffers.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "device/device.hpp"
#include "device/host_memory.hpp"
#include "device/xclbin.hpp"
#include "device/xrt/calls.hpp"

namespace plumb::xrt {

// An open device with its bitstream; kept alive by buffers, queues and kernels.
struct Card {
  Card(unsigned ordinal, DeviceInfo its_info);
  ~Card();
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;
  // Loads a bitstream. Throws Error if another one is loaded.
  void load(const std::vector<char>& image);

  DeviceInfo info;
  DeviceHandle handle;
  std::optional<Xclbin> bitstream;
  std::vector<char> image;  // of the bitstream
  Uuid uuid{};
};
using SharedCard = std::shared_ptr<Card>;

// Memory of the card, or of the host for transfers (kind `host`).
class XrtBuffer final : public Buffer {
 public:
  // Throws Unsupported for a bank that the bitstream lacks, or before there is a bitstream.
  XrtBuffer(SharedCard card, std::size_t size, const Placement& placement);
  ~XrtBuffer() override;

  std::byte* host_pointer() const override { return host_.get(); }
  // From `offset` to the end, for a kernel; created once. Throws Unsupported for memory of the host.
  BufferHandle from(std::size_t offset) const;
  void write(const std::byte* bytes, std::size_t size, std::size_t offset) const;
  void read(std::byte* bytes, std::size_t size, std::size_t offset) const;

 private:
  SharedCard card_;
  HostBytes host_;
  BufferHandle memory_ = nullptr;
  mutable std::unordered_map<std::size_t, BufferHandle> parts_;
};

// Casts to this runtime's buffer; throws Error for another runtime's, or a view out of bounds.
const XrtBuffer& own(const Buffer& buffer);
const XrtBuffer& own(const BufferView& view);

}  // namespace plumb::xrt
