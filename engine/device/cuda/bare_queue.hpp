// A stream of plain CUDA calls, the reference for transfers and launches (Device::make_bare_queue).
#pragma once

#include "device/cuda/context.hpp"

namespace plumb::cuda {

class CudaBareQueue final : public Queue {
 public:
  explicit CudaBareQueue(SharedContext context);
  ~CudaBareQueue() override;
  CudaBareQueue(const CudaBareQueue&) = delete;
  CudaBareQueue& operator=(const CudaBareQueue&) = delete;

  void enqueue_read(const BufferView& from, std::byte* to) override;
  void enqueue_write(const std::byte* from, const BufferView& to) override;
  void enqueue_copy(const BufferView& from, const BufferView& to) override;
  void enqueue(Kernel& kernel, const KernelRange& range) override;
  void finish() override;
  bool finished() override;

 private:
  SharedContext context_;
  Stream stream_ = nullptr;
};

}  // namespace plumb::cuda
