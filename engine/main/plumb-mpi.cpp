// plumb-mpi: the engine over MPI.
#include "main/program.hpp"
#include "world/mpi.hpp"

int main(int argc, char** argv) {
  return plumb::run_program(argc, argv, {"plumb-mpi", plumb::make_mpi_world, plumb::mpi_info});
}
