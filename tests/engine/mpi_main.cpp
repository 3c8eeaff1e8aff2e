// Tests on N ranks of MPI.
#include "tests/engine/ranks_fixture.hpp"
#include "world/mpi.hpp"

int main(int argc, char** argv) {
  auto world = plumb::make_mpi_world(argc, argv);
  return plumb::run_rank_tests(argc, argv, std::move(world));
}
