#include "device/cuda/context.hpp"

#include <fmt/format.h>

#include "core/data.hpp"
#include "core/units.hpp"
#include "device/host_share.hpp"

namespace plumb::cuda {

namespace {

thread_local const DeviceContext* current = nullptr;

constexpr std::size_t shared_block = std::size_t{2} << 20;  // smaller buffers share a block of the driver

}  // namespace

DeviceContext::DeviceContext(DeviceNumber device, DeviceInfo its_info, int its_major, int its_minor)
    : info(std::move(its_info)), major(its_major), minor(its_minor), device_(device) {
  driver().primary_context_flags(device_, schedule_spin);  // fails if the context exists: its flags are kept
  check(driver().primary_context_retain(&context_, device_), "open the GPU");
  use();
}

// Never released: an MPI library that used addresses of its memory keeps referring to the context.
DeviceContext::~DeviceContext() {
  if (current == this) current = nullptr;
}

void DeviceContext::use() const {
  if (current == this) return;
  check(driver().context_set_current(context_), "make the GPU this thread's");
  current = this;
}

void DeviceContext::start_clock(Stream stream) {
  if (zero_ == nullptr) check(driver().event_create(&zero_, 0), "make the GPU's clock");
  check(driver().event_record(zero_, stream), "start the GPU's clock");
  check(driver().stream_synchronize(stream), "start the GPU's clock");
}

double DeviceContext::seconds_between(Event from, Event to) {
  float milliseconds = 0;
  check(driver().event_elapsed(&milliseconds, from, to), "read the GPU's clock");
  return 1e-3 * static_cast<double>(milliseconds);
}

CudaBuffer::CudaBuffer(SharedContext context, std::size_t size, const Placement& placement)
    : Buffer(size, placement), context_(std::move(context)) {
  if (size == 0) throw Error("a buffer has at least one byte");
  context_->use();
  take();
  check(driver().memory_set(address_, std::to_integer<unsigned char>(fresh_byte), size), "fill new memory");
  check(driver().stream_synchronize(nullptr),
        "fill new memory");  // non-blocking streams do not wait for the null stream
}

void CudaBuffer::take() {
  std::size_t free = 0, total = 0;
  check(driver().memory_info(&free, &total), "query the GPU's free memory");
  const bool of_host = placement().kind == MemoryKind::host;
  if (of_host) free = host_share().available_bytes;
  const std::string action = fmt::format("allocate a buffer on {} (needed {}, available {})", context_->info.name,
                                         format_bytes(size()), format_bytes(free));
  if (of_host && size() > free) throw Error("could not " + action);
  if (placement().shared && of_host) {
    segment_ = std::make_unique<HostSegment>(size());
    return take_segment();
  }
  if (placement().shared && placement().kind != MemoryKind::automatic)
    throw Unsupported(fmt::format("memory of kind {} of {} is not shared with other processes", to_string(placement()),
                                  context_->info.name));
  Result result = success;
  void* pinned = nullptr;
  switch (placement().kind) {
    case MemoryKind::automatic:
      // IPC handles cover a whole block of the driver: one block for each buffer.
      result = driver().memory_alloc(
          &address_, placement().shared ? (size() + shared_block - 1) / shared_block * shared_block : size());
      break;
    case MemoryKind::host:
      result = driver().memory_host_alloc(&pinned, size(), host_portable | host_mapped);
      address_ = host_ = static_cast<std::byte*>(pinned);
      break;
    case MemoryKind::svm:
      if (size() > free) throw Error("could not " + action);
      result = driver().memory_managed_alloc(&address_, size(), attach_global);
      host_ = address_;
      break;
    default:
      throw Unsupported(
          fmt::format("{} has no memory of kind {}: runtime cuda provides default (the GPU's own), host "
                      "(pinned) and svm (managed)",
                      context_->info.name, to_string(placement())));
  }
  if (result != success) throw result_error(result, action);
}

CudaBuffer::CudaBuffer(SharedContext context, std::size_t size, const IpcHandle& handle)
    : Buffer(size, {MemoryKind::automatic, {}, true}), context_(std::move(context)), opened_(true) {
  context_->use();
  check(driver().ipc_open(&address_, handle, ipc_lazy_peer_access), "open the memory of another process's GPU");
}

CudaBuffer::CudaBuffer(SharedContext context, std::unique_ptr<HostSegment> segment)
    : Buffer(segment->size(), {MemoryKind::host, {}, true}),
      context_(std::move(context)),
      segment_(std::move(segment)) {
  context_->use();
  take_segment();
}

void CudaBuffer::take_segment() {
  check(driver().memory_host_register(segment_->data(), segment_->size(), host_portable | host_mapped),
        "pin shared memory");
  address_ = host_ = segment_->data();
}

IpcHandle CudaBuffer::handle() const {
  if (!placement().shared || segment_ || opened_)
    throw Error("runtime cuda cannot share this buffer: it was not allocated as shared");
  context_->use();
  IpcHandle handle{};
  check(driver().ipc_handle(&handle, address_), "share a GPU's memory with another process");
  return handle;
}

CudaBuffer::~CudaBuffer() {
  if (address_ == nullptr) return;
  if (opened_)
    driver().ipc_close(address_);
  else if (segment_)
    driver().memory_host_unregister(host_);
  else if (placement().kind == MemoryKind::host)
    driver().memory_host_free(host_);
  else
    driver().memory_free(address_);
}

const CudaBuffer& own(const Buffer& buffer) {
  const auto* mine = dynamic_cast<const CudaBuffer*>(&buffer);
  if (mine == nullptr) [[unlikely]]
    throw Error("runtime cuda was given a buffer of another runtime");
  return *mine;
}

const CudaBuffer& own(const BufferView& view) {
  const CudaBuffer& buffer = own(*view.buffer);
  if (view.offset > buffer.size() || view.size > buffer.size() - view.offset) [[unlikely]]
    throw Error(fmt::format("bytes {} to {} lie outside a buffer of {} bytes", view.offset, view.offset + view.size,
                            buffer.size()));
  return buffer;
}

}  // namespace plumb::cuda
