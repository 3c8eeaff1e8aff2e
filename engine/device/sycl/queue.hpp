// Queues of a SYCL device.
#pragma once

#include "device/sycl/program.hpp"

namespace plumb::sycl {

class SyclQueue final : public Queue {
 public:
  SyclQueue(SharedContext context, bool timed);
  ~SyclQueue() override;
  SyclQueue(const SyclQueue&) = delete;
  SyclQueue& operator=(const SyclQueue&) = delete;

  void enqueue_read(const BufferView& from, std::byte* to) override;
  void enqueue_write(const std::byte* from, const BufferView& to) override;
  void enqueue_copy(const BufferView& from, const BufferView& to) override;
  void enqueue(Kernel& kernel, const KernelRange& range) override;
  void finish() override;
  bool finished() override;
  void follow(Queue& earlier) override;
  std::optional<DeviceTime> span() const override;
  // A library's call on the plug-in's queue.
  template <class Call>
  void enqueue_library(const char* action, Call call) {
    begin();
    check(call(handle_), action);
  }
  sycl_plugin::QueueHandle* handle() const { return handle_; }

 private:
  void copy(std::byte* to, const std::byte* from, std::size_t size, const char* action);
  template <class Command>
  void object_command(std::size_t size, const char* action, Command command);
  void begin();

  SharedContext context_;
  bool timed_;
  sycl_plugin::QueueHandle* handle_;
  bool pending_ = false;  // commands may be incomplete
};

// The reference for transfers and launches (Device::make_bare_queue): nothing but the plug-in's calls.
class SyclBareQueue final : public Queue {
 public:
  explicit SyclBareQueue(SharedContext context);
  ~SyclBareQueue() override;
  SyclBareQueue(const SyclBareQueue&) = delete;
  SyclBareQueue& operator=(const SyclBareQueue&) = delete;

  void enqueue_read(const BufferView& from, std::byte* to) override;
  void enqueue_write(const std::byte* from, const BufferView& to) override;
  void enqueue_copy(const BufferView& from, const BufferView& to) override;
  void enqueue(Kernel& kernel, const KernelRange& range) override;
  void finish() override;
  bool finished() override;

 private:
  SharedContext context_;
  sycl_plugin::QueueHandle* handle_;
};

}  // namespace plumb::sycl
