#include "device/opencl/bare_queue.hpp"

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

void OpenclBareQueue::keep(cl_int code, cl_event event, const char* action) {
  check(code, action);
  if (last_ != nullptr) clReleaseEvent(last_);
  last_ = event;
}

void OpenclBareQueue::enqueue_read(const BufferView& from, std::byte* to) {
  const OpenclBuffer& buffer = own(from);
  cl_event event = nullptr;
  if (buffer.mapped()) {
    finish();
    std::memmove(to, from.host_pointer(), from.size);
  } else if (buffer.svm() != nullptr) {
    keep(clEnqueueSVMMemcpy(queue_, CL_FALSE, to, buffer.svm() + from.offset, from.size, 0, nullptr, &event), event,
         "read from shared memory");
  } else {
    keep(clEnqueueReadBuffer(queue_, buffer.memory(), CL_FALSE, from.offset, from.size, to, 0, nullptr, &event), event,
         "read from the device");
  }
}

void OpenclBareQueue::enqueue_write(const std::byte* from, const BufferView& to) {
  const OpenclBuffer& buffer = own(to);
  cl_event event = nullptr;
  if (buffer.mapped()) {
    finish();
    std::memmove(to.host_pointer(), from, to.size);
  } else if (buffer.svm() != nullptr) {
    keep(clEnqueueSVMMemcpy(queue_, CL_FALSE, buffer.svm() + to.offset, from, to.size, 0, nullptr, &event), event,
         "write to shared memory");
  } else {
    keep(clEnqueueWriteBuffer(queue_, buffer.memory(), CL_FALSE, to.offset, to.size, from, 0, nullptr, &event), event,
         "write to the device");
  }
}

void OpenclBareQueue::enqueue_copy(const BufferView& from, const BufferView& to) {
  const OpenclBuffer& source = own(from);
  const OpenclBuffer& target = own(to);
  if (source.mapped() || source.svm() != nullptr || target.mapped() || target.svm() != nullptr)
    throw Unsupported("a bare copy needs two buffers in device memory");
  cl_event event = nullptr;
  keep(clEnqueueCopyBuffer(queue_, source.memory(), target.memory(), from.offset, to.offset, from.size, 0, nullptr,
                           &event),
       event, "copy on the device");
}

void OpenclBareQueue::enqueue(Kernel& kernel, const KernelRange& range) {
  const auto& own_kernel = dynamic_cast<OpenclKernel&>(kernel);
  const std::size_t local = range.global == 1 ? 1 : range.local;
  for (const OpenclBuffer* buffer : own_kernel.mapped()) buffer->unmap(queue_);
  cl_event event = nullptr;
  keep(clEnqueueNDRangeKernel(queue_, own_kernel.handle(), 1, nullptr, &range.global, local == 0 ? nullptr : &local, 0,
                              nullptr, traces_kernels_ ? &event : nullptr),
       event, "start a kernel");
  for (const OpenclBuffer* buffer : own_kernel.mapped()) {
    cl_event mapped = nullptr;
    buffer->map(queue_, &mapped);
    keep(CL_SUCCESS, mapped, "map memory");
  }
}

void OpenclBareQueue::finish() {
  check(waits_for_queue_ || last_ == nullptr ? clFinish(queue_) : clWaitForEvents(1, &last_), "wait for the device");
}

bool OpenclBareQueue::finished() {
  finish();
  return true;
}

}  // namespace plumb::opencl
