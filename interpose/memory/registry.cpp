#include "interpose/memory/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "interpose/memory/program_memory.hpp"

namespace plumb::interpose {

namespace {

constexpr const char* how_to_allocate = "allocate device memory with plumb_mpi_alloc, and free it after its last use";

}  // namespace

void* AddressRegistry::add(std::size_t size, std::shared_ptr<DeviceMemory> memory) {
  if (size == 0) throw Error("invalid size 0: a buffer must have at least one byte");
  const std::unique_lock lock(mutex_);
  if (size > range_.size) throw Error(fmt::format("invalid size {}: exceeds the range of device addresses", size));
  const std::size_t bytes = (size + page - 1) / page * page + gap;
  const std::uintptr_t begin = take(bytes);
  Entry& entry = entries_[begin];
  entry.size = size;
  entry.taken = std::max(entry.taken, bytes);
  entry.memory = std::move(memory);
  return reinterpret_cast<void*>(begin);  // NOLINT(performance-no-int-to-ptr): addresses are created here
}

void AddressRegistry::adopt(const void* address, std::size_t size, std::shared_ptr<DeviceMemory> memory) {
  if (size == 0) throw Error("invalid size 0: a buffer must have at least one byte");
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  const std::unique_lock lock(mutex_);
  if (const auto found = before(begin + size - 1); found != entries_.end() && begin - found->first < found->second.size)
    throw Error(found->first == begin ? fmt::format("{} is registered already", fmt::ptr(address))
                                      : fmt::format("{} lies in the {} bytes at {:#x}, which are registered already",
                                                    fmt::ptr(address), found->second.size, found->first));
  else if (found != entries_.end() && found->first > begin)
    throw Error(fmt::format("{} bytes at {} overlap those at {:#x}, which are registered already", size,
                            fmt::ptr(address), found->first));
  entries_[begin] = {size, size, std::move(memory), true};
}

bool AddressRegistry::has_adopted(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::shared_lock lock(mutex_);
  const auto found = before(at);
  return found != entries_.end() && found->second.adopted && at - found->first < found->second.size;
}

std::uintptr_t AddressRegistry::take(std::size_t bytes) {
  const bool fresh = bytes <= range_.begin + range_.size - next_;
  if (freed_.size() > remembered_ || !fresh)
    if (const std::uintptr_t again = retake(bytes); again != 0) return again;
  if (!fresh)
    throw Error(fmt::format(
        "all {} bytes of device addresses are used up; free buffers or raise the limit on address space (ulimit "
        "-v)",
        range_.size));
  const std::uintptr_t begin = next_;
  next_ += bytes;
  return begin;
}

std::uintptr_t AddressRegistry::retake(std::size_t bytes) {
  const auto fits = [&](std::uintptr_t begin) { return entries_.at(begin).taken >= bytes; };
  const auto found = std::find_if(freed_.begin(), freed_.end(), fits);
  if (found == freed_.end()) return 0;
  const std::uintptr_t begin = *found;
  freed_.erase(found);
  return begin;
}

AddressRegistry::Entries::const_iterator AddressRegistry::before(std::uintptr_t address) const {
  const auto after = entries_.upper_bound(address);
  return after == entries_.begin() ? entries_.end() : std::prev(after);
}

void AddressRegistry::remove(const void* address, bool adopted) {
  const std::unique_lock lock(mutex_);
  const auto found = entries_.find(reinterpret_cast<std::uintptr_t>(address));
  if (found == entries_.end() || found->second.adopted != adopted)
    throw Error(fmt::format("invalid address {}: not {}", fmt::ptr(address),
                            adopted ? "registered" : "from plumb_mpi_alloc or plumb_mpi_wrap"));
  Entry& entry = found->second;
  if (!entry.memory) throw Error(fmt::format("invalid address {}: already freed", fmt::ptr(address)));
  if (entry.memory.use_count() > 1)
    throw Error(fmt::format(
        "{} is in use by an incomplete MPI call or a window; complete the call (MPI_Wait) or free the window "
        "(MPI_Win_free) first",
        fmt::ptr(address)));
  if (adopted) return static_cast<void>(entries_.erase(found));
  entry.memory.reset();
  freed_.push_back(found->first);
}

Place AddressRegistry::find(const void* address, std::ptrdiff_t low, std::ptrdiff_t high) const {
  if (!range_.has(reinterpret_cast<std::uintptr_t>(address))) check_program_memory(address);
  const std::shared_lock lock(mutex_);
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(address) + static_cast<std::uintptr_t>(low);
  const std::size_t size = static_cast<std::size_t>(high - low);
  const auto found = before(first);
  if (found == entries_.end() || first - found->first >= found->second.taken)
    throw Error(fmt::format("invalid device address {}: no buffer there; {}", fmt::ptr(address), how_to_allocate));
  const auto& [begin, entry] = *found;
  const std::size_t offset = first - begin;
  const bool past = offset > entry.size || size > entry.size - offset;
  if (entry.memory && !past) [[likely]]
    return {entry.memory, offset};
  const std::string which = fmt::format("the device buffer of {} bytes at {:#x}", entry.size, begin);
  if (!entry.memory)
    throw Error(fmt::format("invalid device address {}: {} is freed; {}", fmt::ptr(address), which, how_to_allocate));
  throw Error(fmt::format("invalid operand at {}: bytes {} to {} exceed {}; check count, datatype and offset",
                          fmt::ptr(address), offset, offset + size, which));
}

AddressRegistry& buffers() {
  static AddressRegistry& only = *std::make_unique<AddressRegistry>(device_addresses).release();
  return only;
}

}  // namespace plumb::interpose
