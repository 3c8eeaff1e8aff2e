#include "device/sycl/buffer.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <typeinfo>

#include "core/data.hpp"
#include "core/units.hpp"
#include "device/host_memory.hpp"

namespace plumb::sycl {

namespace {

using sycl_plugin::Memory;

// Throws Unsupported for kinds that SYCL does not have.
Memory usm_kind(const Context& context, const Placement& placement) {
  const auto& kinds = context.info.memory_kinds;
  const bool listed = std::find(kinds.begin(), kinds.end(), placement.kind) != kinds.end();
  if (listed && placement.kind == MemoryKind::automatic) return Memory::device;
  if (listed && placement.kind == MemoryKind::host) return Memory::host;
  if (listed && placement.kind == MemoryKind::svm) return Memory::shared;
  throw Unsupported(
      fmt::format("{} has no memory of kind {}: SYCL gives the host no choice of a bank; runtime sycl provides default "
                  "(malloc_device), host (malloc_host) and svm (malloc_shared)",
                  context.info.name, to_string(placement)));
}

bool of_device(const Context& context, MemoryKind kind) {
  return context.aspects.on_host || kind != MemoryKind::host;
}

bool of_host(const Context& context, MemoryKind kind) {
  return context.aspects.on_host || kind == MemoryKind::host;
}

void check_sharing(const Context& context, const Placement& placement) {
  if (!context.aspects.on_host || !context.aspects.usm_system)
    throw Unsupported(
        fmt::format("{} does not share its memory with other processes through SYCL, which takes addresses of host "
                    "memory on CPUs with system allocations only",
                    context.info.name));
  if (placement.kind == MemoryKind::svm)
    throw Unsupported(fmt::format("memory of kind svm of {} is not shared with other processes", context.info.name));
}

}  // namespace

SyclBuffer::SyclBuffer(SharedContext context, std::size_t size, const Placement& placement)
    : Buffer(size, placement),
      context_(std::move(context)),
      reservation_(context_->info, context_->allocated, size, of_device(*context_, placement.kind),
                   of_host(*context_, placement.kind)),
      usm_(nullptr, {context_->handle}) {
  if (placement.as_object)
    make_object(placement);
  else
    allocate(placement);
  // Memory is used here, so that exhaustion is reported here and no page is first touched in a timed section.
  const int fresh = std::to_integer<int>(fresh_byte);
  check(object_ ? plugin().fill_object(context_->service, object_.get(), fresh)
                : plugin().fill(context_->service, address_, fresh, size),
        "fill new memory");
  check(plugin().wait(context_->service), "fill new memory");
}

void SyclBuffer::allocate(const Placement& placement) {
  const Memory kind = usm_kind(*context_, placement);
  if (placement.shared) {
    check_sharing(*context_, placement);
    segment_ = std::make_unique<HostSegment>(size());
    address_ = segment_->data();
    host_ = kind == Memory::device ? nullptr : address_;
    return;
  }
  const bool huge = context_->aspects.on_host && size() >= huge_pages_from;
  const std::size_t page = huge ? huge_page : small_page;
  const std::size_t rounded = huge ? (size() + page - 1) / page * page : size();
  usm_.reset(
      static_cast<std::byte*>(made(plugin().allocate(context_->handle, kind, rounded, page),
                                   fmt::format("allocate {} on {}", format_bytes(size()), context_->info.name))));
  address_ = usm_.get();
  if (huge) madvise(address_, rounded, MADV_HUGEPAGE);
  // Device memory has none, though a CPU could read it: programs for other devices must not either.
  if (check(plugin().host_may_access(context_->handle, address_), "ask for a pointer's kind") != 0) host_ = address_;
}

void SyclBuffer::make_object(const Placement& placement) {
  if (placement.kind != MemoryKind::automatic)
    throw Unsupported(
        fmt::format("a sycl::buffer has no kind of memory, so not {}: SYCL places it", to_string(placement.kind)));
  if (placement.shared) throw Unsupported("a sycl::buffer is not shared with other processes");
  object_.reset(made(plugin().make_object(context_->handle, size()), "make a sycl::buffer"));
}

SyclBuffer::SyclBuffer(SharedContext context, std::unique_ptr<HostSegment> segment, MemoryKind kind)
    : Buffer(segment->size(), {kind, {}, true}),
      context_(std::move(context)),
      reservation_(context_->info, context_->allocated, segment->size(), true, true),
      segment_(std::move(segment)),
      usm_(nullptr, {context_->handle}),
      address_(segment_->data()),
      host_(kind == MemoryKind::host ? address_ : nullptr) {}

const SyclBuffer& own(const Buffer& buffer) {
  if (typeid(buffer) != typeid(SyclBuffer)) [[unlikely]]
    throw Error("runtime sycl was given a buffer of another runtime");
  return static_cast<const SyclBuffer&>(buffer);  // the class is final; in each copy and launch
}

const SyclBuffer& own(const BufferView& view) {
  const SyclBuffer& buffer = own(*view.buffer);
  if (view.offset > buffer.size() || view.size > buffer.size() - view.offset) [[unlikely]]
    throw Error(fmt::format("bytes {} to {} lie outside a buffer of {} bytes", view.offset, view.offset + view.size,
                            buffer.size()));
  return buffer;
}

}  // namespace plumb::sycl
