// Known faults of an OpenSHMEM library, one sentence each, "" if absent. Seen with Open MPI 4.1.4.
#pragma once

#include <string>

namespace plumb {

// Compare-and-swap of 32 bits ends the run (Open MPI's issue 11257).
std::string fault_of_short_compare_swap();
// shmem_*_atomic_fetch_and, _or and _xor return the old value, but leave zero in the word.
std::string fault_of_fetching_bits();
// shmem_calloc clears the memory after other PEs may have put into it.
std::string fault_of_calloc();
// Puts to global variables are never completed.
std::string fault_of_global_variables();

}  // namespace plumb
