#include "device/cuda/bare_queue.hpp"

#include "device/cuda/queue.hpp"

namespace plumb::cuda {

CudaBareQueue::CudaBareQueue(SharedContext context) : context_(std::move(context)) {
  context_->use();
  check(driver().stream_create(&stream_, stream_non_blocking), "make a bare queue");
}

CudaBareQueue::~CudaBareQueue() {
  driver().stream_synchronize(stream_);
  driver().stream_destroy(stream_);
}

void CudaBareQueue::enqueue_read(const BufferView& from, std::byte* to) {
  check(driver().copy(to, own(from).device_address() + from.offset, from.size, stream_), "read from the device");
}

void CudaBareQueue::enqueue_write(const std::byte* from, const BufferView& to) {
  check(driver().copy(own(to).device_address() + to.offset, from, to.size, stream_), "write to the device");
}

void CudaBareQueue::enqueue_copy(const BufferView& from, const BufferView& to) {
  check(
      driver().copy(own(to).device_address() + to.offset, own(from).device_address() + from.offset, from.size, stream_),
      "copy on the device");
}

void CudaBareQueue::enqueue(Kernel& kernel, const KernelRange& range) {
  auto& own_kernel = dynamic_cast<CudaKernel&>(kernel);
  std::size_t local = range.local;
  if (local == 0)
    for (local = 256; range.global % local != 0;) local /= 2;
  own_kernel.allow_local(range.local_bytes);
  check(driver().launch(own_kernel.function(), static_cast<unsigned>(range.global / local), 1, 1,
                        static_cast<unsigned>(local), 1, 1, static_cast<unsigned>(range.local_bytes), stream_,
                        own_kernel.parameters(), nullptr),
        "start a kernel");
}

void CudaBareQueue::finish() {
  check(driver().stream_synchronize(stream_), "wait for the GPU");
}

bool CudaBareQueue::finished() {
  const Result result = driver().stream_query(stream_);
  if (result != not_ready) check(result, "complete the GPU's commands");
  return result == success;
}

}  // namespace plumb::cuda
