#include "device/host_buffer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/data.hpp"
#include "core/units.hpp"
#include "device/host_share.hpp"

namespace plumb {

namespace {

constexpr std::size_t worth_sharing = 16 * huge_page;  // bytes, among the cores

}  // namespace

// First touch: each core touches its share, in OpenMP's static order, so that pages are local to it.
HostBuffer::HostBuffer(std::size_t size, const Placement& placement) : Buffer(size, placement) {
  if (placement.shared)
    segment_ = std::make_unique<HostSegment>(size);
  else
    bytes_ = take_host_bytes(size);
  std::byte* bytes = data();
#pragma omp parallel for schedule(static) if (size >= worth_sharing)
  for (std::size_t at = 0; at < size; at += huge_page)
    std::memset(bytes + at, std::to_integer<int>(fresh_byte), std::min(huge_page, size - at));
}

HostBuffer::HostBuffer(std::unique_ptr<HostSegment> segment, MemoryKind kind)
    : Buffer(segment->size(), {kind, {}, true}), segment_(std::move(segment)) {}

void check_view(const BufferView& view) {
  if (view.offset > view.buffer->size() || view.size > view.buffer->size() - view.offset)
    throw Error(fmt::format("bytes {} to {} lie outside a buffer of {} bytes", view.offset, view.offset + view.size,
                            view.buffer->size()));
}

void check_host_bytes(std::size_t bytes) {
  if (bytes == 0) throw Error("a buffer has at least one byte");
  const std::uint64_t available = host_share().available_bytes;
  if (bytes > available)
    throw Error(fmt::format("could not allocate a buffer of host memory: needed {}, available {}", format_bytes(bytes),
                            format_bytes(available)));
}

void move_bytes(const std::byte* from, std::byte* to, std::size_t size) {
  if (size > 0) std::memmove(to, from, size);
}

}  // namespace plumb
