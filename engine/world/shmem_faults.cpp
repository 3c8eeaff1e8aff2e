#include "world/shmem_faults.hpp"

#include <shmem.h>

#include "shmem_features.hpp"

namespace plumb {

namespace {

#if PLUMBLINE_SHMEM_IS_OPEN_MPI
constexpr bool is_open_mpi_4 = OSHMEM_MAJOR_VERSION == 4;
#else
constexpr bool is_open_mpi_4 = false;
#endif

}  // namespace

std::string fault_of_short_compare_swap() {
  return is_open_mpi_4 ? "Open MPI 4's compare-and-swap of 32 bits aborts the run (its issue 11257)" : "";
}

std::string fault_of_fetching_bits() {
  return is_open_mpi_4 ? "Open MPI 4's bitwise atomics that fetch leave a wrong value in the word" : "";
}

std::string fault_of_calloc() {
  return is_open_mpi_4 ? "Open MPI 4's shmem_calloc clears memory that other PEs may have put into already" : "";
}

std::string fault_of_global_variables() {
  return is_open_mpi_4 ? "Open MPI 4's puts to global variables are never complete" : "";
}

}  // namespace plumb
