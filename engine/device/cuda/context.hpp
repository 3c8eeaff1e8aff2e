// An open CUDA device: the state that its buffers, queues and programs share and keep alive.
#pragma once

#include <memory>

#include "device/cuda/driver.hpp"
#include "device/device.hpp"
#include "device/host_segment.hpp"

namespace plumb::cuda {

// The device's primary context, which libraries (cuBLAS, cuFFT, NCCL) use as well.
class DeviceContext {
 public:
  DeviceContext(DeviceNumber device, DeviceInfo its_info, int major, int minor);
  ~DeviceContext();
  DeviceContext(const DeviceContext&) = delete;
  DeviceContext& operator=(const DeviceContext&) = delete;

  // Makes the context current in this thread; required before calls of the driver.
  void use() const;

  // Clock of all queues of this GPU, in seconds since the latest start_clock(). Times are single precision: restart the
  // clock for each queue, and use differences of close events only.
  void start_clock(Stream stream);
  double clock_at(Event event) const { return seconds_between(zero_, event); }
  static double seconds_between(Event from, Event to);

  const DeviceInfo info;
  const int major, minor;  // compute capability

 private:
  DeviceNumber device_;
  Event zero_ = nullptr;
  Context context_ = nullptr;
};

using SharedContext = std::shared_ptr<DeviceContext>;

// Memory of one kind: device, pinned host, or managed (svm). Unified addressing: addresses are comparable across kinds.
class CudaBuffer final : public Buffer {
 public:
  CudaBuffer(SharedContext context, std::size_t size, const Placement& placement);
  // Memory of another process, from its handle().
  CudaBuffer(SharedContext context, std::size_t size, const IpcHandle& handle);
  CudaBuffer(SharedContext context, std::unique_ptr<HostSegment> segment);
  ~CudaBuffer() override;

  const HostSegment* segment() const { return segment_.get(); }  // if shared host memory; otherwise null
  IpcHandle handle() const;                                      // of shared device memory

  std::byte* host_pointer() const override { return host_; }
  std::byte* device_address() const override { return address_; }

 private:
  void take();
  void take_segment();

  SharedContext context_;
  std::unique_ptr<HostSegment> segment_;
  bool opened_ = false;  // memory of another process's device
  Address address_ = nullptr;
  std::byte* host_ = nullptr;
};

// Casts to this runtime's buffer; throws Error for another runtime's buffer or a view out of bounds.
const CudaBuffer& own(const Buffer& buffer);
const CudaBuffer& own(const BufferView& view);

}  // namespace plumb::cuda
