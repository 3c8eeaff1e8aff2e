// plumb-shmem-mutants: the engine over OpenSHMEM, with rows of the API's table that are wrong on purpose.
#include "main/program.hpp"
#include "tests/mutants/shmem_mutants.hpp"
#include "world/shmem.hpp"

int main(int argc, char** argv) {
  plumb::mutants::register_wrong_rows();
  plumb::mutants::register_dropped();
  plumb::mutants::register_lazy();
  return plumb::run_program(argc, argv, {"plumb-shmem", plumb::make_shmem_world, plumb::shmem_info});
}
