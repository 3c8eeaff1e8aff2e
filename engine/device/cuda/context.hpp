// One opened CUDA device: what its buffers, queues and programs share, and keep alive.
#pragma once

#include <memory>

#include "device/cuda/driver.hpp"
#include "device/device.hpp"
#include "device/host_segment.hpp"

namespace plumb::cuda {

// The device's primary context, which libraries (cuBLAS, cuFFT, NCCL) use too.
class DeviceContext {
 public:
  DeviceContext(DeviceNumber device, DeviceInfo its_info, int major, int minor);
  ~DeviceContext();
  DeviceContext(const DeviceContext&) = delete;
  DeviceContext& operator=(const DeviceContext&) = delete;

  // Makes it this thread's own; before every call that needs one.
  void use() const;

  // The clock of all queues of this GPU, in seconds since the latest start_clock(). Times are given in single
  // precision: start it anew with each queue, and take lengths between near events.
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

// Memory of one kind: of the device, of the host (pinned) or managed (svm). With unified addressing all have one kind
// of address.
class CudaBuffer final : public Buffer {
 public:
  CudaBuffer(SharedContext context, std::size_t size, const Placement& placement);
  // Another process's, by what its handle() gave.
  CudaBuffer(SharedContext context, std::size_t size, const IpcHandle& handle);
  CudaBuffer(SharedContext context, std::unique_ptr<HostSegment> segment);
  ~CudaBuffer() override;

  const HostSegment* segment() const { return segment_.get(); }  // where it is of the host and shared; else null
  IpcHandle handle() const;                                      // of shared memory of the device

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

// The buffer as this runtime's own; throws Error when it is another's, or when the view leaves it.
const CudaBuffer& own(const Buffer& buffer);
const CudaBuffer& own(const BufferView& view);

}  // namespace plumb::cuda
