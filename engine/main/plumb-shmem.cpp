// plumb-shmem: the engine over OpenSHMEM.
#include <string>

#include "main/program.hpp"
#include "world/shmem.hpp"
#include "world/shmem_probe.hpp"

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--probe") return plumb::probe_shmem(argc, argv);
  return plumb::run_program(argc, argv, {"plumb-shmem", plumb::make_shmem_world, plumb::shmem_info});
}
