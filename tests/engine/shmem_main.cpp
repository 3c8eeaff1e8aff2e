// Tests on N PEs of OpenSHMEM.
#include "tests/engine/ranks_fixture.hpp"
#include "world/shmem.hpp"

int main(int argc, char** argv) {
  auto world = plumb::make_shmem_world(argc, argv, {});
  return plumb::run_rank_tests(argc, argv, std::move(world));
}
