// Queues of runtime `hls`: a thread each, so kernels of several queues run at once.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

#include "device/hls/program.hpp"

namespace plumb::hls {

constexpr std::size_t kernel_stack_bytes = std::size_t{256} << 20;  // reserved; taken by page as kernels use it

// A thread with room on its stack for kernels' on-chip memory.
class KernelThread {
 public:
  explicit KernelThread(std::function<void()> body);
  ~KernelThread() { pthread_join(thread_, nullptr); }
  KernelThread(const KernelThread&) = delete;
  KernelThread& operator=(const KernelThread&) = delete;

 private:
  std::function<void()> body_;
  pthread_t thread_{};
};

class HlsQueue final : public Queue {
 public:
  explicit HlsQueue(bool timed);
  ~HlsQueue() override;

  void enqueue_read(const BufferView& from, std::byte* to) override;
  void enqueue_write(const std::byte* from, const BufferView& to) override;
  void enqueue_copy(const BufferView& from, const BufferView& to) override;
  void enqueue(Kernel& kernel, const KernelRange& range) override;
  // Throws the first error of a command, and Error if a program whose kernels have all ended has elements in streams.
  void finish() override;
  bool finished() override;
  std::optional<DeviceTime> span() const override { return span_; }

 private:
  void add(std::function<void()> command);
  void work();
  void conclude();

  const bool timed_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> commands_;
  std::vector<std::shared_ptr<Image>> used_;  // since the last finish(), by the host's thread
  std::exception_ptr failure_;
  bool busy_ = false, ending_ = false, open_ = false;
  DeviceTime time_;
  std::optional<DeviceTime> span_;
  KernelThread thread_;  // last: it starts in the constructor
};

// Commands executed at once.
class HlsBareQueue final : public Queue {
 public:
  void enqueue_read(const BufferView& from, std::byte* to) override;
  void enqueue_write(const std::byte* from, const BufferView& to) override;
  void enqueue_copy(const BufferView& from, const BufferView& to) override;
  void enqueue(Kernel& kernel, const KernelRange& range) override;
  void finish() override {}
  bool finished() override { return true; }
};

}  // namespace plumb::hls
