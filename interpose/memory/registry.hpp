// Which buffer lies behind a device address; freed ones are remembered, so that their addresses can be told from
// others.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <shared_mutex>

#include "core/error.hpp"
#include "interpose/memory/address_space.hpp"

namespace plumb::interpose {

struct DeviceMemory;

// Where an address leads.
struct Place {
  std::shared_ptr<DeviceMemory> memory;
  std::size_t offset = 0;  // bytes from the memory's start
};

// Any thread may call it. Addresses come from `range`, each buffer's on pages of its own with at least a page that is
// no buffer's behind it. The range of a buffer freed long ago is given again when `remembered` freed ones are known, or
// when there is no other.
class AddressRegistry {
 public:
  static constexpr std::size_t page = 4096;
  static constexpr std::size_t gap = 16 * page;

  // No buffer lies in the first part of the range: a datatype with a lower bound is given an address below its buffer,
  // which must be known for a device's, too.
  static constexpr std::size_t parts = 64;

  explicit AddressRegistry(AddressRange range, std::size_t remembered = 65536)
      : range_(range), next_(range.begin + range.size / parts / page * page), remembered_(remembered) {}

  // Throws Error when addresses are used up.
  void* add(std::size_t size, std::shared_ptr<DeviceMemory> memory);
  // `address` is what add() gave. Throws Error when it is not, or is freed already, or is in use elsewhere.
  void remove(const void* address);
  // The buffer that holds bytes address + low to address + high (high > low). Throws Error with what lies there
  // instead.
  Place find(const void* address, std::ptrdiff_t low, std::ptrdiff_t high) const;

 private:
  struct Entry {
    std::size_t size = 0;                  // bytes asked for
    std::size_t taken = 0;                 // with what lies behind
    std::shared_ptr<DeviceMemory> memory;  // null = freed
  };
  using Entries = std::map<std::uintptr_t, Entry>;

  std::uintptr_t take(std::size_t bytes);
  std::uintptr_t retake(std::size_t bytes);
  // The last entry that begins at or before `address`; end() when none does.
  Entries::const_iterator before(std::uintptr_t address) const;

  AddressRange range_;
  std::uintptr_t next_;  // never given yet, from here on
  std::size_t remembered_;
  Entries entries_;
  std::deque<std::uintptr_t> freed_;  // oldest first
  mutable std::shared_mutex mutex_;
};

// All buffers of this process.
AddressRegistry& buffers();

}  // namespace plumb::interpose
