#include "device/sycl/queue.hpp"

#include <fmt/format.h>
#include <sched.h>

namespace plumb::sycl {

SyclQueue::SyclQueue(SharedContext context, bool timed)
    : context_(std::move(context)),
      timed_(timed),
      handle_(made(plugin().make_queue(context_->handle, timed ? 1 : 0), "make a queue on " + context_->info.name)) {}

SyclQueue::~SyclQueue() {
  plugin().free_queue(handle_);
}

void SyclQueue::begin() {
  if (timed_ && !pending_) plugin().mark_first(handle_);
  pending_ = true;
}

void SyclQueue::copy(std::byte* to, const std::byte* from, std::size_t size, const char* action) {
  if (size == 0) return;
  begin();
  check(plugin().copy(handle_, to, from, size), action);
}

// Of memory objects: command(queue) is the plug-in's.
template <class Command>
void SyclQueue::object_command(std::size_t size, const char* action, Command command) {
  if (size == 0) return;
  begin();
  check(command(handle_), action);
}

void SyclQueue::enqueue_read(const BufferView& from, std::byte* to) {
  const SyclBuffer& its = own(from);
  if (its.object() == nullptr) return copy(to, its.device_address() + from.offset, from.size, "read from the device");
  object_command(from.size, "read a sycl::buffer",
                 [&](auto* queue) { return plugin().read_object(queue, to, its.object(), from.offset, from.size); });
}

void SyclQueue::enqueue_write(const std::byte* from, const BufferView& to) {
  const SyclBuffer& its = own(to);
  if (its.object() == nullptr) return copy(its.device_address() + to.offset, from, to.size, "write to the device");
  object_command(to.size, "write a sycl::buffer",
                 [&](auto* queue) { return plugin().write_object(queue, its.object(), to.offset, from, to.size); });
}

void SyclQueue::enqueue_copy(const BufferView& from, const BufferView& to) {
  if (from.size != to.size) throw Error(fmt::format("a copy of {} bytes into {} bytes", from.size, to.size));
  const SyclBuffer &source = own(from), &target = own(to);
  if ((source.object() == nullptr) != (target.object() == nullptr))
    throw Unsupported("SYCL copies between a sycl::buffer and an address through the host only");
  if (source.object() != nullptr)
    return object_command(from.size, "copy a sycl::buffer", [&](auto* queue) {
      return plugin().copy_object(queue, target.object(), to.offset, source.object(), from.offset, from.size);
    });
  copy(own(to).device_address() + to.offset, own(from).device_address() + from.offset, from.size, "copy on the device");
}

void SyclQueue::enqueue(Kernel& kernel, const KernelRange& range) {
  const auto* own_kernel = dynamic_cast<SyclKernel*>(&kernel);
  if (own_kernel == nullptr) [[unlikely]]
    throw Error("runtime sycl was given a kernel of another runtime");
  // One work item is a group of one; FPGA compilers build a single pipeline only if told so.
  const std::size_t local = range.global == 1 ? 1 : range.local;
  const auto& arguments = own_kernel->arguments();
  begin();
  check(plugin().launch(handle_, own_kernel->handle(), arguments.data(), arguments.size(), range.global, local),
        "start a kernel");
}

void SyclQueue::finish() {
  if (!pending_) return;
  pending_ = false;
  if (plugin().wait(handle_) < 0) throw plugin_error("complete a command on " + context_->info.name);
}

bool SyclQueue::finished() {
  if (!pending_) return true;
  pending_ = check(plugin().finished(handle_), "query a command's status") == 0;
  // Polling on a core that the device's threads share would block them for a whole time slice.
  if (pending_ && context_->aspects.on_host) sched_yield();
  return !pending_;
}

void SyclQueue::follow(Queue& earlier) {
  auto* const other = dynamic_cast<SyclQueue*>(&earlier);
  if (other == nullptr) return earlier.finish();
  if (other == this || other->finished()) return;
  begin();
  check(plugin().follow(handle_, other->handle_), "make a queue wait for another");
}

std::optional<DeviceTime> SyclQueue::span() const {
  if (!timed_ || pending_) return std::nullopt;
  sycl_plugin::Times times;
  if (check(plugin().times(handle_, &times), "read a command's times") == 0) return std::nullopt;
  const auto seconds = [](std::uint64_t nanoseconds) { return 1e-9 * static_cast<double>(nanoseconds); };
  return DeviceTime{seconds(times.started), seconds(times.ended)};
}

SyclBareQueue::SyclBareQueue(SharedContext context)
    : context_(std::move(context)), handle_(made(plugin().make_queue(context_->handle, 0), "make a bare queue")) {}

SyclBareQueue::~SyclBareQueue() {
  plugin().free_queue(handle_);
}

void SyclBareQueue::enqueue_read(const BufferView& from, std::byte* to) {
  const SyclBuffer& its = own(from);
  check(its.object() != nullptr ? plugin().read_object(handle_, to, its.object(), from.offset, from.size)
                                : plugin().copy(handle_, to, its.device_address() + from.offset, from.size),
        "read from the device");
}

void SyclBareQueue::enqueue_write(const std::byte* from, const BufferView& to) {
  const SyclBuffer& its = own(to);
  check(its.object() != nullptr ? plugin().write_object(handle_, its.object(), to.offset, from, to.size)
                                : plugin().copy(handle_, its.device_address() + to.offset, from, to.size),
        "write to the device");
}

void SyclBareQueue::enqueue_copy(const BufferView& from, const BufferView& to) {
  const SyclBuffer &source = own(from), &target = own(to);
  check(source.object() != nullptr
            ? plugin().copy_object(handle_, target.object(), to.offset, source.object(), from.offset, from.size)
            : plugin().copy(handle_, target.device_address() + to.offset, source.device_address() + from.offset,
                            from.size),
        "copy on the device");
}

void SyclBareQueue::enqueue(Kernel& kernel, const KernelRange& range) {
  const auto& own_kernel = dynamic_cast<SyclKernel&>(kernel);
  check(plugin().launch(handle_, own_kernel.handle(), own_kernel.arguments().data(), own_kernel.arguments().size(),
                        range.global, range.global == 1 ? 1 : range.local),
        "start a kernel");
}

void SyclBareQueue::finish() {
  check(plugin().wait(handle_), "wait for the device");
}

bool SyclBareQueue::finished() {
  return check(plugin().finished(handle_), "look at a command") == 1;
}

}  // namespace plumb::sycl
