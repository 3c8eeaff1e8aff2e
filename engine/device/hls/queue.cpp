#include "device/hls/queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/seconds.hpp"
#include "device/hls/buffer.hpp"

namespace plumb::hls {

namespace {

HlsKernel& own_kernel(Kernel& kernel) {
  auto* own = dynamic_cast<HlsKernel*>(&kernel);
  if (own == nullptr) throw Error("runtime hls was given a kernel of another runtime");
  return *own;
}

}  // namespace

KernelThread::KernelThread(std::function<void()> body) : body_(std::move(body)) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kernel_stack_bytes);
  const auto start = [](void* self) -> void* {
    static_cast<KernelThread*>(self)->body_();
    return nullptr;
  };
  const int code = pthread_create(&thread_, &attributes, start, this);
  pthread_attr_destroy(&attributes);
  if (code != 0) throw Error(fmt::format("could not start a thread for kernels: {}", std::strerror(code)));
}

HlsQueue::HlsQueue(bool timed) : timed_(timed), thread_([this] { work(); }) {}

HlsQueue::~HlsQueue() {
  const std::lock_guard lock(mutex_);
  ending_ = true;
  changed_.notify_all();
}

// Ends after the last command; an error ends the others.
void HlsQueue::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ending_ || !commands_.empty(); });
    if (commands_.empty()) return;
    const std::function<void()> command = std::move(commands_.front());
    commands_.pop_front();
    busy_ = true;
    lock.unlock();
    const double started = now_seconds();
    std::exception_ptr failure;
    try {
      command();
    } catch (...) {
      failure = std::current_exception();
    }
    const double ended = now_seconds();
    lock.lock();
    if (!open_) time_.started = started;
    open_ = true;
    time_.ended = ended;
    if (failure && !failure_) failure_ = failure;
    busy_ = false;
    if (commands_.empty()) changed_.notify_all();
  }
}

void HlsQueue::add(std::function<void()> command) {
  const std::lock_guard lock(mutex_);
  commands_.push_back(std::move(command));
  changed_.notify_all();
}

void HlsQueue::enqueue_read(const BufferView& from, std::byte* to) {
  add([bytes = bytes_of(from), to, size = from.size] { move_bytes(bytes, to, size); });
}

void HlsQueue::enqueue_write(const std::byte* from, const BufferView& to) {
  add([from, bytes = bytes_of(to), size = to.size] { move_bytes(from, bytes, size); });
}

void HlsQueue::enqueue_copy(const BufferView& from, const BufferView& to) {
  if (from.size != to.size) throw Error(fmt::format("a copy of {} bytes into {} bytes", from.size, to.size));
  add([source = bytes_of(from), target = bytes_of(to), size = from.size] { move_bytes(source, target, size); });
}

void HlsQueue::enqueue(Kernel& kernel, const KernelRange& range) {
  auto launch = std::make_shared<Launch>(own_kernel(kernel).launch(range));
  if (std::find(used_.begin(), used_.end(), launch->image) == used_.end()) used_.push_back(launch->image);
  launch->image->add_launch();
  add([launch] { launch->run(); });
}

// With the lock held and no command left.
void HlsQueue::conclude() {
  if (open_ && timed_) span_ = time_;
  open_ = false;
  const std::exception_ptr failure = std::exchange(failure_, nullptr);
  const std::vector<std::shared_ptr<Image>> used = std::exchange(used_, {});
  if (failure) std::rethrow_exception(failure);
  for (const auto& image : used) image->check_drained();
}

void HlsQueue::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return commands_.empty() && !busy_; });
  conclude();
}

bool HlsQueue::finished() {
  const std::unique_lock lock(mutex_);
  if (!commands_.empty() || busy_) return false;
  conclude();
  return true;
}

void HlsBareQueue::enqueue_read(const BufferView& from, std::byte* to) {
  std::memmove(to, bytes_of(from), from.size);
}

void HlsBareQueue::enqueue_write(const std::byte* from, const BufferView& to) {
  std::memmove(bytes_of(to), from, to.size);
}

void HlsBareQueue::enqueue_copy(const BufferView& from, const BufferView& to) {
  std::memmove(bytes_of(to), bytes_of(from), from.size);
}

void HlsBareQueue::enqueue(Kernel& kernel, const KernelRange& range) {
  Launch launch = own_kernel(kernel).launch(range);
  launch.image->add_launch();
  std::exception_ptr failure;
  {
    const KernelThread thread([&] {
      try {
        launch.run();
      } catch (...) {
        failure = std::current_exception();
      }
    });
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace plumb::hls
