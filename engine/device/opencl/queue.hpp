// An in-order queue of one device. The C interface, because these calls are what is timed.
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
  // What a library enqueues: call(queue, &event) puts the event of its last command there.
  void enqueue_foreign(const std::function<void(cl_command_queue, cl_event*)>& call);
  cl_command_queue handle() const { return queue_(); }
  cl_context context() const { return context_->context(); }
  std::optional<DeviceTime> span() const override;

 private:
  // Holds one command's event.
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

  // Enqueues by call(cl_event*), and remembers the event as the last; `traced` = false asks for none.
  template <class Call>
  void command(const char* action, Call call, bool traced = true);
  // Copies on the host, when all that was enqueued is complete.
  void on_host(const std::byte* from, std::byte* to, std::size_t size);
  void between_svm_and_memory(const BufferView& from, const BufferView& to);
  void fail() const;
  // Asks for an event that is complete when all that was enqueued is.
  void mark_end();

  SharedContext context_;
  cl::CommandQueue queue_;
  bool timed_;
  bool waits_for_queue_;
  bool traces_kernels_;
  bool pending_ = false;  // something may be incomplete
  bool flushed_ = false;  // the device knows of all
  Event last_;            // complete when all are; none after a command that was not traced
  Event first_;           // of the first since the last finish(), when timed
};

}  // namespace plumb::opencl
