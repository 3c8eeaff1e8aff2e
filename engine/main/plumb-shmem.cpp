// plumb-shmem: the engine over OpenSHMEM.
#include "main/program.hpp"
#include "world/shmem.hpp"

int main(int argc, char** argv) {
  return plumb::run_program(argc, argv, {"plumb-shmem", plumb::make_shmem_world, plumb::shmem_info});
}
