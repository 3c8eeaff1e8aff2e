#include "device/opencl/queue.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <cstring>

namespace plumb::opencl {

OpenclQueue::OpenclQueue(SharedContext context, bool timed)
    : context_(std::move(context)),
      queue_(guarded("make a queue on " + context_->info.name,
                     [&] {
                       return cl::CommandQueue(context_->context, context_->device,
                                               timed ? cl_command_queue_properties{CL_QUEUE_PROFILING_ENABLE} : 0);
                     })),
      timed_(timed),
      // Measured: waiting for the last event is at least as fast as clFinish on PoCL and Intel's CPU runtime; Intel's
      // FPGA emulator busy-waits in clFinish but sleeps 60 us in clWaitForEvents.
      waits_for_queue_(context_->info.type == "accelerator"),
      // On NVIDIA a kernel's event adds 1.6 us to a launch of 10 us; a transfer's event is free.
      traces_kernels_(context_->info.type != "gpu") {}

OpenclQueue::~OpenclQueue() {
  if (pending_) clFinish(queue_());
}

template <class Call>
void OpenclQueue::command(const char* action, Call call, bool traced) {
  const bool first = timed_ && !pending_;
  cl_event event = nullptr;
  check(call(traced || first ? &event : nullptr), action);
  last_.reset(event);
  if (first) {
    clRetainEvent(event);
    first_.reset(event);
  }
  pending_ = true;
  flushed_ = false;
}

void OpenclQueue::on_host(const std::byte* from, std::byte* to, std::size_t size) {
  finish();
  std::memmove(to, from, size);
  first_.reset();
}

void OpenclQueue::enqueue_read(const BufferView& from, std::byte* to) {
  const OpenclBuffer& buffer = own(from);
  if (from.size == 0) return;
  if (buffer.mapped()) return on_host(from.host_pointer(), to, from.size);
  command("read from the device", [&](cl_event* event) {
    if (buffer.svm() != nullptr)
      return clEnqueueSVMMemcpy(queue_(), CL_FALSE, to, buffer.svm() + from.offset, from.size, 0, nullptr, event);
    return clEnqueueReadBuffer(queue_(), buffer.memory(), CL_FALSE, from.offset, from.size, to, 0, nullptr, event);
  });
}

void OpenclQueue::enqueue_write(const std::byte* from, const BufferView& to) {
  const OpenclBuffer& buffer = own(to);
  if (to.size == 0) return;
  if (buffer.mapped()) return on_host(from, to.host_pointer(), to.size);
  command("write to the device", [&](cl_event* event) {
    if (buffer.svm() != nullptr)
      return clEnqueueSVMMemcpy(queue_(), CL_FALSE, buffer.svm() + to.offset, from, to.size, 0, nullptr, event);
    return clEnqueueWriteBuffer(queue_(), buffer.memory(), CL_FALSE, to.offset, to.size, from, 0, nullptr, event);
  });
}

void OpenclQueue::enqueue_copy(const BufferView& from, const BufferView& to) {
  const OpenclBuffer& source = own(from);
  const OpenclBuffer& target = own(to);
  if (from.size != to.size) throw Error(fmt::format("a copy of {} bytes into {} bytes", from.size, to.size));
  if (from.size == 0) return;
  if (target.mapped()) return enqueue_read(from, to.host_pointer());
  if (source.mapped()) return enqueue_write(from.host_pointer(), to);
  if ((source.svm() == nullptr) != (target.svm() == nullptr)) return between_svm_and_memory(from, to);
  command("copy on the device", [&](cl_event* event) {
    if (source.svm() != nullptr)
      return clEnqueueSVMMemcpy(queue_(), CL_FALSE, target.svm() + to.offset, source.svm() + from.offset, from.size, 0,
                                nullptr, event);
    return clEnqueueCopyBuffer(queue_(), source.memory(), target.memory(), from.offset, to.offset, from.size, 0,
                               nullptr, event);
  });
}

// The host side of a read or write must be host memory: coarse-grained shared memory is host memory only while mapped.
void OpenclQueue::between_svm_and_memory(const BufferView& from, const BufferView& to) {
  const bool reads = own(to).svm() != nullptr;
  const BufferView& shared = reads ? to : from;
  std::byte* address = own(shared).svm() + shared.offset;
  command("map shared memory", [&](cl_event* event) {
    return clEnqueueSVMMap(queue_(), CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, address, shared.size, 0, nullptr, event);
  });
  command("copy between shared and device memory", [&](cl_event* event) {
    if (reads)
      return clEnqueueReadBuffer(queue_(), own(from).memory(), CL_FALSE, from.offset, from.size, address, 0, nullptr,
                                 event);
    return clEnqueueWriteBuffer(queue_(), own(to).memory(), CL_FALSE, to.offset, to.size, address, 0, nullptr, event);
  });
  command("unmap shared memory",
          [&](cl_event* event) { return clEnqueueSVMUnmap(queue_(), address, 0, nullptr, event); });
}

void OpenclQueue::enqueue(Kernel& kernel, const KernelRange& range) {
  const auto* own_kernel = dynamic_cast<OpenclKernel*>(&kernel);
  if (own_kernel == nullptr) [[unlikely]]
    throw Error("runtime opencl was given a kernel of another runtime");
  // One work item is a group of one; FPGA compilers build a single pipeline only if told so.
  const std::size_t local = range.global == 1 ? 1 : range.local;
  for (const OpenclBuffer* buffer : own_kernel->mapped()) buffer->unmap(queue_());
  command(
      "start a kernel",
      [&](cl_event* event) {
        return clEnqueueNDRangeKernel(queue_(), own_kernel->handle(), 1, nullptr, &range.global,
                                      local == 0 ? nullptr : &local, 0, nullptr, event);
      },
      traces_kernels_);
  for (const OpenclBuffer* buffer : own_kernel->mapped()) {
    cl_event event = nullptr;
    buffer->map(queue_(), &event);
    last_.reset(event);
  }
}

void OpenclQueue::enqueue_foreign(const std::function<void(cl_command_queue, cl_event*)>& call) {
  command("start a library's kernels", [&](cl_event* event) {
    call(queue_(), event);
    return CL_SUCCESS;
  });
}

void OpenclQueue::mark_end() {
  command("mark the end of the queue",
          [&](cl_event* event) { return clEnqueueMarkerWithWaitList(queue_(), 0, nullptr, event); });
}

void OpenclQueue::finish() {
  if (!pending_) return;
  if (timed_ && last_.get() == nullptr) mark_end();
  const cl_event last = last_.get();
  const bool for_queue = waits_for_queue_ || last == nullptr;
  const cl_int code = for_queue ? clFinish(queue_()) : clWaitForEvents(1, &last);
  pending_ = false;
  if (code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) fail();
  check(code, "wait for the device");
}

bool OpenclQueue::finished() {
  if (!pending_) return true;
  if (last_.get() == nullptr) mark_end();
  if (!flushed_) check(clFlush(queue_()), "submit the queue's commands");
  flushed_ = true;
  cl_int status = CL_QUEUED;
  check(clGetEventInfo(last_.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
        "query a command's status");
  if (status < 0) fail();
  pending_ = status != CL_COMPLETE;
  // Polling on a core that the device's threads share would block them for a whole time slice.
  if (pending_ && context_->abilities.on_host) sched_yield();
  return !pending_;
}

void OpenclQueue::follow(Queue& earlier) {
  auto* const other = dynamic_cast<OpenclQueue*>(&earlier);
  if (other == nullptr) return earlier.finish();
  if (other == this || other->finished()) return;  // submits its commands, too
  const cl_event last = other->last_.get();
  command("make a queue wait for another",
          [&](cl_event* event) { return clEnqueueBarrierWithWaitList(queue_(), 1, &last, event); });
}

// The last command's own error code is more specific than "an event has failed".
void OpenclQueue::fail() const {
  cl_int status = CL_COMPLETE;
  clGetEventInfo(last_.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  throw status_error(status < 0 ? status : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
                     "complete a command on " + context_->info.name);
}

std::optional<DeviceTime> OpenclQueue::span() const {
  if (pending_ || first_.get() == nullptr || last_.get() == nullptr) return std::nullopt;
  const auto seconds = [&](const Event& event, cl_profiling_info which) {
    cl_ulong nanoseconds = 0;
    check(clGetEventProfilingInfo(event.get(), which, sizeof nanoseconds, &nanoseconds, nullptr),
          "read a command's times");
    return 1e-9 * static_cast<double>(nanoseconds);
  };
  return DeviceTime{seconds(first_, CL_PROFILING_COMMAND_START), seconds(last_, CL_PROFILING_COMMAND_END)};
}

}  // namespace plumb::opencl
