// The buffer of each device address. Freed buffers are remembered, to distinguish their addresses from invalid ones.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <shared_mutex>

#include "core/error.hpp"
#include "interpose/memory/address_space.hpp"

namespace plumb::interpose {

struct DeviceMemory;

// The memory behind an address.
struct Place {
  std::shared_ptr<DeviceMemory> memory;
  std::size_t offset = 0;  // bytes from the memory's start
};

// Thread-safe. Addresses come from `range`; each buffer has pages of its own, followed by at least one unused page. The
// addresses of a freed buffer are reused, oldest first, once more than `remembered` buffers are freed, or when no other
// addresses are left.
class AddressRegistry {
 public:
  static constexpr std::size_t page = 4096;
  static constexpr std::size_t gap = 16 * page;

  // The first part of the range stays unused: with a datatype of negative lower bound, the address of an operand may
  // lie below its buffer and must still be a device address.
  static constexpr std::size_t parts = 64;

  explicit AddressRegistry(AddressRange range, std::size_t remembered = 65536)
      : range_(range), next_(range.begin + range.size / parts / page * page), remembered_(remembered) {}

  // Throws Error if addresses are exhausted.
  void* add(std::size_t size, std::shared_ptr<DeviceMemory> memory);
  // Memory of the program's own, whose addresses stay what they are. Throws Error if some of it is registered already.
  void adopt(const void* address, std::size_t size, std::shared_ptr<DeviceMemory> memory);
  // address: from add(), or of adopt() if `adopted`. Throws Error for any other, and for one that is freed already or
  // in use.
  void remove(const void* address, bool adopted = false);
  // Whether an address is in memory of adopt().
  bool has_adopted(const void* address) const;
  // The buffer of bytes address + low to address + high (high > low). Throws Error, with the buffer found there, if
  // they are not all in one.
  Place find(const void* address, std::ptrdiff_t low, std::ptrdiff_t high) const;

 private:
  struct Entry {
    std::size_t size = 0;                  // in bytes
    std::size_t taken = 0;                 // size with the unused pages behind it
    std::shared_ptr<DeviceMemory> memory;  // null = freed
    bool adopted = false;
  };
  using Entries = std::map<std::uintptr_t, Entry>;

  std::uintptr_t take(std::size_t bytes);
  std::uintptr_t retake(std::size_t bytes);
  // The last entry that begins at or before `address`; end() if there is none.
  Entries::const_iterator before(std::uintptr_t address) const;

  AddressRange range_;
  std::uintptr_t next_;  // unused from here on
  std::size_t remembered_;
  Entries entries_;
  std::deque<std::uintptr_t> freed_;  // oldest first
  mutable std::shared_mutex mutex_;
};

// All buffers of this process.
AddressRegistry& buffers();

}  // namespace plumb::interpose
