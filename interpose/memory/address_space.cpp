#include "interpose/memory/address_space.hpp"

#include <sys/mman.h>

namespace plumb::interpose {

namespace {

constexpr std::size_t most = std::size_t{1} << 40;
constexpr std::size_t least = std::size_t{1} << 30;
constexpr std::size_t of_requests = std::size_t{64} << 20;

// As much as the system allows: a limit on address space (ulimit -v) counts reserved addresses, too.
AddressRange reserve() {
  for (std::size_t size = most; size >= least; size /= 4) {
    void* at = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at != MAP_FAILED) return {reinterpret_cast<std::uintptr_t>(at), size};
  }
  return {};
}

const AddressRange reserved = reserve();

}  // namespace

const AddressRange request_addresses{reserved.begin, reserved.size > 0 ? of_requests : 0};
const AddressRange device_addresses{reserved.begin + request_addresses.size, reserved.size - request_addresses.size};

}  // namespace plumb::interpose
