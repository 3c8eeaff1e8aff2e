// plumb-mpi-mutants: the engine over MPI, with transports and benchmarks that are wrong on purpose.
#include "main/program.hpp"
#include "tests/mutants/mutants.hpp"
#include "world/mpi.hpp"

int main(int argc, char** argv) {
  plumb::mutants::register_wrong_transports();
  return plumb::run_program(argc, argv, {"plumb-mpi", plumb::make_mpi_world, plumb::mpi_info});
}
