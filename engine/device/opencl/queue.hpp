// An in-order queue of one device, by the C interface, as these calls are timed.
#pragma once

#include "device/opencl/program.hpp"

namespace plumb::opencl {

class OpenclQueue final : public Queue {
 public:
  OpenclQueue(SharedContext context, bool timed);
  ~OpenclQueue() override;

  void enqueue_read(const BufferView& from, std::byte* to) override;
  void enqueue_write(const std::byte* from, const BufferView& to) override;
  void enqueue_copy(const BufferView& from, const BufferView& to) override;
  void enqueue(Kernel& kernel, const KernelRange& range) override;
  void finish() override;
  bool finished() override;
  void follow(Queue& earlier) override;
  // Enqueues a library's calls: call(queue, &event) returns the event of its last command.
  void enqueue_foreign(const std::function<void(cl_command_queue, cl_event*)>& call);
  cl_command_queue handle() const { return queue_(); }
  cl_context context() const { return context_->context(); }
  std::optional<DeviceTime> span() const override;

 private:
  // Owns one command's event.
  class Event {
   public:
    Event() = default;
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() { reset(); }
    cl_event get() const { return event_; }
    void reset(cl_event event = nullptr) {
      if (event_ != nullptr) clReleaseEvent(event_);
      event_ = event;
    }

   private:
    cl_event event_ = nullptr;
  };

  // Enqueues by call(cl_event*) and keeps the event as the last; `traced` = false requests none.
  template <class Call>
  void command(const char* action, Call call, bool traced = true);
  // Copies on the host after all enqueued commands are complete.
  void on_host(const std::byte* from, std::byte* to, std::size_t size);
  void between_svm_and_memory(const BufferView& from, const BufferView& to);
  void fail() const;
  // Returns an event that completes after all enqueued commands.
  void mark_end();

  SharedContext context_;
  cl::CommandQueue queue_;
  bool timed_;
  bool waits_for_queue_;
  bool traces_kernels_;
  bool pending_ = false;  // commands may be incomplete
  bool flushed_ = false;  // all commands were submitted
  Event last_;            // completes after all commands; none after an untraced command
  Event first_;           // of the first command since the last finish(), if timed
};

}  // namespace plumb::opencl
