// The world over MPI, and its interface for MPI transports.
#pragma once

#include <mpi.h>

#include <memory>

#include "world/world.hpp"

namespace plumb {

// Initialises MPI; the destructor finalises it. Throws Error if threads are needed but not supported.
std::unique_ptr<World> make_mpi_world(int& argc, char**& argv, const WorldNeeds& needs = {});
// Duration of MPI_Init, and its end since the process's start (resolution of the system's clock: 10 ms).
struct MpiStart {
  double seconds = 0, since_process_start = 0;
};
const MpiStart& mpi_start();
// Library and standard, without initialisation (for --describe).
WorldInfo mpi_info();
// Communicator reserved for transports; throws Unsupported in a world without MPI.
MPI_Comm transport_communicator(const World& world);
// Bytes to allocate for a window: MPICH 4.0 misplaces other ranks' parts of windows that are no whole pages.
constexpr MPI_Aint allocated_window(std::size_t bytes) {
  constexpr std::size_t page = 4096;
  return static_cast<MPI_Aint>((bytes + page - 1) / page * page);
}
// Throws Error with MPI's text unless code is MPI_SUCCESS.
void check_mpi(int code, const char* action);

}  // namespace plumb
