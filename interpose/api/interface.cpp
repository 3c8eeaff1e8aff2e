// Functions of plumb_mpi.h.
#include "interpose/api/plumb_mpi.h"

#include <fmt/format.h>

#include <cstring>

#include "interpose/memory/program_memory.hpp"
#include "interpose/memory/runtimes.hpp"
#include "interpose/memory/seat.hpp"
#include "interpose/memory/touch.hpp"
#include "interpose/peer/offers.hpp"
#include "interpose/staging/freed_requests.hpp"

namespace plumb::interpose {

namespace {

constexpr int failed = 1;

std::string& last_error() {
  thread_local std::string sentence;
  return sentence;
}

// Returns 0, or `failed` after storing the message.
template <class Work>
int reported(const char* function, Work&& work) {
  try {
    work();
    return 0;
  } catch (const std::exception& error) {
    last_error() = std::string(function) + ": " + error.what();
    return failed;
  }
}

std::string text(const char* argument) {
  return argument == nullptr ? "" : argument;
}

Place place_of(const void* address, std::size_t size) {
  if (!is_device(address))
    throw Error(
        fmt::format("invalid address {}: must be an address of device memory (plumb_mpi_alloc)", fmt::ptr(address)));
  return buffers().find(address, 0, static_cast<std::ptrdiff_t>(size));
}

BufferView view_of(const Place& place, std::size_t size) {
  return {place.memory->buffer.get(), place.offset, size};
}

void copy_bytes(void* to, const void* from, std::size_t size) {
  if (size == 0) return;
  const bool reads = is_device(from), writes = is_device(to);
  if (!reads && !writes) {
    std::memmove(to, from, size);
    return;
  }
  if (!reads) {
    const Place place = place_of(to, size);
    place.memory->device->stage(1).queue().write(static_cast<const std::byte*>(from), view_of(place, size));
    return;
  }
  const Place source = place_of(from, size);
  if (!writes) {
    source.memory->device->stage(1).queue().read(view_of(source, size), static_cast<std::byte*>(to));
    return;
  }
  const Place target = place_of(to, size);
  if (target.memory->device == source.memory->device && target.memory != source.memory) {  // else they may overlap
    const Staging within = source.memory->device->stage(1);
    within.queue().enqueue_copy(view_of(source, size), view_of(target, size));
    within.queue().finish();
    return;
  }
  const Staging staging = source.memory->device->stage(size);
  staging.queue().read(view_of(source, size), staging.bytes());
  target.memory->device->stage(1).queue().write(staging.bytes(), view_of(target, size));
}

}  // namespace

}  // namespace plumb::interpose

using namespace plumb::interpose;

extern "C" {

int plumb_mpi_alloc(size_t size, void** address) {
  return plumb_mpi_alloc_on(nullptr, nullptr, nullptr, size, address);
}

int plumb_mpi_alloc_on(const char* memory, const char* runtime, const char* device, size_t size, void** address) {
  return reported("plumb_mpi_alloc", [&] {
    const MemoryChoice choice{text(runtime), text(device), text(memory)};
    *address = buffers().add(size, allocate_memory(choice, this_seat(), size, peer_on));
  });
}

int plumb_mpi_wrap(struct _cl_mem* memory, size_t size, void** address) {
  return reported("plumb_mpi_wrap", [&] { *address = buffers().add(size, wrap_memory(memory, size)); });
}

int plumb_mpi_register_memory(const struct plumb_mpi_access* access, void* state, void* pointer, size_t bytes) {
  return reported("plumb_mpi_register",
                  [&] { buffers().adopt(pointer, bytes, program_memory(*access, state, pointer, bytes)); });
}

int plumb_mpi_unregister(void* pointer) {
  return reported("plumb_mpi_unregister", [&] {
    end_freed(false);
    buffers().remove(pointer, true);
  });
}

int plumb_mpi_free(void* address) {
  return reported("plumb_mpi_free", [&] {
    end_freed(false);
    if (address != nullptr) buffers().remove(address);
  });
}

int plumb_mpi_buffer(const void* address, struct _cl_mem** memory, size_t* offset) {
  return reported("plumb_mpi_buffer", [&] {
    const Place place = place_of(address, 1);
    *memory = memory_object(*place.memory->buffer);
    *offset = place.offset;
  });
}

int plumb_mpi_pointer(const void* address, void** pointer) {
  return reported("plumb_mpi_pointer", [&] {
    const Place place = place_of(address, 1);
    *pointer = device_pointer(*place.memory) + place.offset;
  });
}

int plumb_mpi_copy(void* to, const void* from, size_t size) {
  return reported("plumb_mpi_copy", [&] { copy_bytes(to, from, size); });
}

int plumb_mpi_touch(void* address, unsigned long long* runs) {
  return reported("plumb_mpi_touch", [&] {
    const Place place = place_of(address, 1);
    touch(*place.memory);
    if (runs != nullptr) *runs = touches_of(*place.memory->device);
  });
}

int plumb_mpi_is_device(const void* address) {
  return is_device(address) ? 1 : 0;
}

const char* plumb_mpi_error(void) {
  return last_error().c_str();
}

}  // extern "C"
