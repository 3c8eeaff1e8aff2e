#include "device/opencl/bare_queue.hpp"

#include <algorithm>
#include <cstring>

namespace plumb::opencl {

OpenclBareQueue::OpenclBareQueue(SharedContext context)
    : context_(std::move(context)),
      // Fastest calls for each kind of device.
      waits_for_queue_(context_->info.type == "accelerator"),
      traces_kernels_(context_->info.type != "gpu") {
  cl_int code = CL_SUCCESS;
  queue_ = clCreateCommandQueue(context_->context(), context_->device(), 0, &code);
  check(code, "make a bare queue");
}

OpenclBareQueue::~OpenclBareQueue() {
  if (last_ != nullptr) clReleaseEvent(last_);
  clFinish(queue_);
  clReleaseCommandQueue(queue_);
}

template <class Call>
void OpenclBareQueue::command(const char* action, const Call& call) {
  cl_event event = nullptr;
  check(call(&event), action);
  if (last_ != nullptr) clReleaseEvent(last_);
  last_ = event;
}

void OpenclBareQueue::enqueue_read(const BufferView& from, std::byte* to) {
  const OpenclBuffer& buffer = own(from);
  if (buffer.mapped()) {
    finish();
    std::memmove(to, from.host_pointer(), from.size);
  } else if (buffer.svm() != nullptr) {
    command("read from shared memory", [&](cl_event* event) {
      return clEnqueueSVMMemcpy(queue_, CL_FALSE, to, buffer.svm() + from.offset, from.size, 0, nullptr, event);
    });
  } else {
    command("read from the device", [&](cl_event* event) {
      return clEnqueueReadBuffer(queue_, buffer.memory(), CL_FALSE, from.offset, from.size, to, 0, nullptr, event);
    });
  }
}

void OpenclBareQueue::enqueue_write(const std::byte* from, const BufferView& to) {
  const OpenclBuffer& buffer = own(to);
  if (buffer.mapped()) {
    finish();
    std::memmove(to.host_pointer(), from, to.size);
  } else if (buffer.svm() != nullptr) {
    command("write to shared memory", [&](cl_event* event) {
      return clEnqueueSVMMemcpy(queue_, CL_FALSE, buffer.svm() + to.offset, from, to.size, 0, nullptr, event);
    });
  } else {
    command("write to the device", [&](cl_event* event) {
      return clEnqueueWriteBuffer(queue_, buffer.memory(), CL_FALSE, to.offset, to.size, from, 0, nullptr, event);
    });
  }
}

void OpenclBareQueue::enqueue_copy(const BufferView& from, const BufferView& to) {
  const OpenclBuffer& source = own(from);
  const OpenclBuffer& target = own(to);
  if (source.mapped() || source.svm() != nullptr || target.mapped() || target.svm() != nullptr)
    throw Unsupported("a bare copy needs two buffers in device memory");
  command("copy on the device", [&](cl_event* event) {
    return clEnqueueCopyBuffer(queue_, source.memory(), target.memory(), from.offset, to.offset, from.size, 0, nullptr,
                               event);
  });
}

void OpenclBareQueue::enqueue(Kernel& kernel, const KernelRange& range) {
  const auto& own_kernel = dynamic_cast<OpenclKernel&>(kernel);
  const std::size_t local = range.global == 1 ? 1 : range.local;
  for (const OpenclBuffer* buffer : own_kernel.mapped()) buffer->unmap(queue_);
  command("start a kernel", [&](cl_event* event) {
    return clEnqueueNDRangeKernel(queue_, own_kernel.handle(), 1, nullptr, &range.global, local == 0 ? nullptr : &local,
                                  0, nullptr, traces_kernels_ ? event : nullptr);
  });
  for (const OpenclBuffer* buffer : own_kernel.mapped())
    command("map memory", [&](cl_event* event) {
      buffer->map(queue_, event);
      return CL_SUCCESS;
    });
}

void OpenclBareQueue::finish() {
  check(waits_for_queue_ || last_ == nullptr ? clFinish(queue_) : clWaitForEvents(1, &last_), "wait for the device");
}

bool OpenclBareQueue::finished() {
  if (last_ == nullptr) {
    command("mark the end of a queue",
            [&](cl_event* event) { return clEnqueueMarkerWithWaitList(queue_, 0, nullptr, event); });
  }
  check(clFlush(queue_), "start what was enqueued");
  cl_int status = CL_QUEUED;
  check(clGetEventInfo(last_, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr), "look at a command");
  check(std::min(status, CL_SUCCESS), "complete a command");
  return status == CL_COMPLETE;
}

}  // namespace plumb::opencl
