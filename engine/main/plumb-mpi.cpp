// plumb-mpi: the engine over MPI.
#include <string>

#include "main/program.hpp"
#include "world/mpi.hpp"
#include "world/mpi_probe.hpp"

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--probe") return plumb::probe_mpi(argc, argv);
  return plumb::run_program(argc, argv, {"plumb-mpi", plumb::make_mpi_world, plumb::mpi_info});
}
