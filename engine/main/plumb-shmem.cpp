// plumb-shmem: the engine over OpenSHMEM.
#include <string>

#include "main/program.hpp"
#include "world/shmem.hpp"
#include "world/shmem_probe.hpp"

namespace {

// Open MPI 4.1 over TCP: operations of several contexts do not end.
std::string threads_problem(const plumb::World& world) {
  if (world.local_size() == world.size() || !world.info().library.starts_with("Open MPI")) return "";
  return "several contexts hang between hosts in Open MPI's OpenSHMEM: use one thread, or PEs of one host";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--probe") return plumb::probe_shmem(argc, argv);
  return plumb::run_program(argc, argv, {"plumb-shmem", plumb::make_shmem_world, plumb::shmem_info, threads_problem});
}
