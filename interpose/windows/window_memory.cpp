#include "interpose/windows/window_memory.hpp"

#include <bit>
#include <cstring>

namespace plumb::interpose {

namespace {

static_assert(std::endian::native == std::endian::little);  // a word's first byte is its lowest

constexpr std::size_t word_size = sizeof(std::uint64_t);

std::uint64_t word_at(const std::byte* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, word_size);
  return word;
}

// The lowest bit set is in the first byte of `word` that is zero; 0 if there is none.
std::uint64_t zero_bytes(std::uint64_t word) {
  return (word - 0x0101010101010101) & ~word & 0x8080808080808080;
}

// The first byte from `at` on in which a and b are equal (or differ); `size` if there is none.
template <bool equal>
std::size_t first(const std::byte* a, const std::byte* b, std::size_t at, std::size_t size) {
  for (; at + word_size <= size; at += word_size) {
    const std::uint64_t difference = word_at(a + at) ^ word_at(b + at);
    const std::uint64_t found = equal ? zero_bytes(difference) : difference;
    if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found)) / 8;
  }
  while (at < size && (a[at] == b[at]) != equal) ++at;
  return at;
}

// More commands than this cost more than reading the gaps.
constexpr std::size_t most_commands = 16;

}  // namespace

Runs differing(const std::byte* a, const std::byte* b, std::size_t size) {
  Runs runs;
  for (std::size_t at = first<false>(a, b, 0, size); at < size;) {
    const std::size_t end = first<true>(a, b, at, size);
    runs.push_back({static_cast<std::ptrdiff_t>(at), end - at});
    at = first<false>(a, b, end, size);
  }
  return runs;
}

WindowMemory::WindowMemory(void* address, std::size_t size)
    : address_(address),
      size_(size),
      place_(buffers().find(address, 0, static_cast<std::ptrdiff_t>(size))),
      direct_(direct(*place_.memory)) {
  if (direct_ != nullptr) return;
  OpenDevice& device = *place_.memory->device;
  copies_ = std::make_unique<Copies>(device.stage(size), device.stage(size));
  copies_->latest.queue().read(view({0, size}), copies_->latest.bytes());
  std::memcpy(copies_->public_copy.bytes(), copies_->latest.bytes(), size);
}

std::byte* WindowMemory::bytes() const {
  return separate() ? copies_->public_copy.bytes() : direct_ + place_.offset;
}

BufferView WindowMemory::view(const Run& run) const {
  return {place_.memory->buffer.get(), place_.offset + static_cast<std::size_t>(run.offset), run.size};
}

void WindowMemory::publish() {
  if (!separate()) return;
  const std::scoped_lock lock(mutex_);
  const Staging now = place_.memory->device->stage(size_);
  now.queue().read(view({0, size_}), now.bytes());
  for (const Run& run : differing(now.bytes(), copies_->latest.bytes(), size_)) {
    std::memcpy(copies_->public_copy.bytes() + run.offset, now.bytes() + run.offset, run.size);
    std::memcpy(copies_->latest.bytes() + run.offset, now.bytes() + run.offset, run.size);
  }
}

// Others may continue to write to the public copy, so the kept copy goes to the device.
void WindowMemory::receive(bool published) {
  if (!separate()) return;
  const std::scoped_lock lock(mutex_);
  const Runs runs = differing(copies_->public_copy.bytes(), copies_->latest.bytes(), size_);
  for (const Run& run : runs)
    std::memcpy(copies_->latest.bytes() + run.offset, copies_->public_copy.bytes() + run.offset, run.size);
  if (published) return write(widened(runs, gap_worth_reading), copies_->latest.bytes());
  if (runs.size() <= most_commands) return write(runs, copies_->latest.bytes());
  const Runs wide = widened(runs, gap_worth_reading);
  const Staging now = place_.memory->device->stage(size_);
  for (const Run& run : wide) now.queue().enqueue_read(view(run), now.bytes() + run.offset);
  now.queue().finish();
  for (const Run& run : runs) std::memcpy(now.bytes() + run.offset, copies_->latest.bytes() + run.offset, run.size);
  write(wide, now.bytes());
}

void WindowMemory::write(const Runs& runs, const std::byte* from) {
  Queue& queue = copies_->latest.queue();
  for (const Run& run : runs) queue.enqueue_write(from + run.offset, view(run));
  queue.finish();
}

}  // namespace plumb::interpose
