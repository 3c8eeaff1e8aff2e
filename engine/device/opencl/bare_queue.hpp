// A queue of plain OpenCL calls, the reference for transfers and launches (Device::make_bare_queue).
#pragma once

#include "device/opencl/program.hpp"

namespace plumb::opencl {

class OpenclBareQueue final : public Queue {
 public:
  explicit OpenclBareQueue(SharedContext context);
  ~OpenclBareQueue() override;
  OpenclBareQueue(const OpenclBareQueue&) = delete;
  OpenclBareQueue& operator=(const OpenclBareQueue&) = delete;

  void enqueue_read(const BufferView& from, std::byte* to) override;
  void enqueue_write(const std::byte* from, const BufferView& to) override;
  void enqueue_copy(const BufferView& from, const BufferView& to) override;
  // Kernels with pinned arguments: the memory is unmapped and mapped for each launch.
  void enqueue(Kernel& kernel, const KernelRange& range) override;
  void finish() override;
  bool finished() override;

 private:
  // Makes one OpenCL call and keeps its event for waiting.
  template <class Call>
  void command(const char* action, const Call& call);

  SharedContext context_;
  cl_command_queue queue_ = nullptr;
  cl_event last_ = nullptr;  // of the last command, if it can be waited for
  bool waits_for_queue_, traces_kernels_;
};

}  // namespace plumb::opencl
