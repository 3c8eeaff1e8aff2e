// One opened CUDA device: what its buffers, queues and programs share, and keep alive.
#pragma once

#include <memory>

#include "device/cuda/driver.hpp"
#include "device/device.hpp"

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

  const DeviceInfo info;
  const int major, minor;  // compute capability

 private:
  DeviceNumber device_;
  Context context_ = nullptr;
};

using SharedContext = std::shared_ptr<DeviceContext>;

// Memory of one kind: of the device, of the host (pinned) or managed (svm). With unified addressing all have one kind
// of address.
class CudaBuffer final : public Buffer {
 public:
  CudaBuffer(SharedContext context, std::size_t size, const Placement& placement);
  ~CudaBuffer() override;

  std::byte* host_pointer() const override { return host_; }
  Address address() const { return address_; }

 private:
  void take();

  SharedContext context_;
  Address address_ = nullptr;
  std::byte* host_ = nullptr;
};

// The buffer as this runtime's own; throws Error when it is another's, or when the view leaves it.
const CudaBuffer& own(const Buffer& buffer);
const CudaBuffer& own(const BufferView& view);

}  // namespace plumb::cuda
