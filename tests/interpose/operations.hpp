// What the stress test does: one operation, the same on memory of the host and of a device.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "random.hpp"

namespace plumb::stress {

// Two pieces of memory that an operation works in; both lie on the host, or either on a device.
struct Memory {
  std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::size_t size = 0;  // of each
};

std::string operation_names();

// Does what `random` chooses, or the operation of the name `only`; all ranks of `comm` choose alike. Returns a
// description of what was seen besides memory (statuses, windows), and puts the operation's name into `name`.
std::vector<int> operate(Random random, MPI_Comm comm, const Memory& memory, const std::string& only,
                         std::string& name);

}  // namespace plumb::stress
