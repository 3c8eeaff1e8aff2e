// The world over MPI, and what its own transports need of it.
#pragma once

#include <mpi.h>

#include <memory>

#include "world/world.hpp"

namespace plumb {

// Initialises MPI; the destructor finalises it. Throws Error where threads are needed and the library has none.
std::unique_ptr<World> make_mpi_world(int& argc, char**& argv, const WorldNeeds& needs = {});
// Library and standard without initialising (for --describe).
WorldInfo mpi_info();
// A communicator that transports have for themselves; throws Unsupported when the world is not of MPI.
MPI_Comm transport_communicator(const World& world);
// Throws Error with MPI's own text when code is not MPI_SUCCESS.
void check_mpi(int code, const char* action);

}  // namespace plumb
