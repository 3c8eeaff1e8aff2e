// The range of device addresses. It is reserved when the library is loaded, and no byte of it is readable or writable,
// so the test for a device address is a subtraction and a comparison.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace plumb::interpose {

struct AddressRange {
  std::uintptr_t begin = 0;
  std::size_t size = 0;

  bool has(std::uintptr_t address) const { return address - begin < size; }
};

// Empty if the system reserves none; constant once the library is loaded.
extern const AddressRange device_addresses;
// Handles of the library's own requests if MPI_Request is a pointer.
extern const AddressRange request_addresses;

// Whether memory of the program's own was ever registered; then each address is looked up.
extern std::atomic<bool> ever_registered;
// Whether an address is registered, or in memory of a device of which some is (program_memory.hpp).
bool is_in_program_memory(const void* address);

inline bool is_device(const void* address) {
  return device_addresses.has(reinterpret_cast<std::uintptr_t>(address)) ||
         (ever_registered.load(std::memory_order_relaxed) && is_in_program_memory(address));
}

}  // namespace plumb::interpose
