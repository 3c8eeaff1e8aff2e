// Memory that the program allocated by an interface of its own and registered (plumb_mpi_register_memory).
#pragma once

#include <memory>

#include "interpose/api/plumb_mpi.h"
#include "interpose/memory/devices.hpp"

namespace plumb::interpose {

// The device of `state` is opened at its first use. Throws Error unless `access` owns all of the bytes.
std::shared_ptr<DeviceMemory> program_memory(const plumb_mpi_access& access, void* state, void* pointer,
                                             std::size_t bytes);
// Throws Error if `address` is memory of a device of program_memory(), of which nothing is registered there, or was
// registered and is freed.
void check_program_memory(const void* address);

}  // namespace plumb::interpose
