// libplumb-late-copies: preloaded between a program and the OpenCL loader, it holds each copy into device memory that
// the program does not wait for at once, by an event that is set after a while: whoever does not wait for it at all
// reads what was there before, on every device.
#include <CL/cl.h>
#include <dlfcn.h>

#include <chrono>
#include <thread>
#include <vector>

namespace {

constexpr auto late = std::chrono::milliseconds(20);

// The library's own function of that name and type.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// Those events, and one that is set in a while; only those if the context gives none.
std::vector<cl_event> and_later(cl_command_queue queue, cl_uint count, const cl_event* events) {
  std::vector<cl_event> all(events, events + count);
  cl_context context = nullptr;
  clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, static_cast<void*>(&context), nullptr);
  if (cl_event held = clCreateUserEvent(context, nullptr)) {
    all.push_back(held);
    clRetainEvent(held);  // until the command is enqueued and the thread has ended
    std::thread([held] {
      std::this_thread::sleep_for(late);
      clSetUserEventStatus(held, CL_COMPLETE);
      clReleaseEvent(held);
    }).detach();
  }
  return all;
}

template <class Enqueue>
cl_int enqueue_late(cl_command_queue queue, cl_uint count, const cl_event* events, Enqueue enqueue) {
  const std::vector<cl_event> all = and_later(queue, count, events);
  const cl_int code = enqueue(static_cast<cl_uint>(all.size()), all.data());
  if (all.size() > count) clReleaseEvent(all.back());
  return code;
}

}  // namespace

extern "C" {

cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
                           size_t size, cl_uint count, const cl_event* events, cl_event* event) {
  return enqueue_late(queue, count, events, [&](cl_uint more, const cl_event* all) {
    return next<decltype(clEnqueueCopyBuffer)>("clEnqueueCopyBuffer")(queue, from, to, from_offset, to_offset, size,
                                                                      more, all, event);
  });
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem to, cl_bool blocking, size_t offset, size_t size,
                            const void* from, cl_uint count, const cl_event* events, cl_event* event) {
  const auto write = next<decltype(clEnqueueWriteBuffer)>("clEnqueueWriteBuffer");
  if (blocking == CL_TRUE) return write(queue, to, blocking, offset, size, from, count, events, event);
  return enqueue_late(queue, count, events, [&](cl_uint more, const cl_event* all) {
    return write(queue, to, blocking, offset, size, from, more, all, event);
  });
}

}  // extern "C"
