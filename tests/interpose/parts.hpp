// Operations, and the positions of their operands in memory.
#pragma once

#include "operations.hpp"

namespace plumb::stress {

struct Group {
  explicit Group(MPI_Comm its_comm) : comm(its_comm) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
  }
  MPI_Comm comm;
  int rank = 0, size = 1;
};

// Waits for it, if it is one that is waited for.
void finish(Random& random, MPI_Request& request);

// A count of elements that fits into `bytes`; 0 when not one does.
int fitting(Random& random, const Type& type, std::ptrdiff_t bytes);
// An address's offset from the beginning of `bytes` so that all elements lie there.
std::ptrdiff_t place(Random& random, const Type& type, int count, std::ptrdiff_t bytes);

std::vector<int> blocking(Random& random, MPI_Comm comm, const Memory& memory);
std::vector<int> nonblocking(Random& random, MPI_Comm comm, const Memory& memory);
std::vector<int> persistent(Random& random, MPI_Comm comm, const Memory& memory);
std::vector<int> exchanged(Random& random, MPI_Comm comm, const Memory& memory);
std::vector<int> freed(Random& random, MPI_Comm comm, const Memory& memory);
std::vector<int> probed(Random& random, MPI_Comm comm, const Memory& memory);
std::vector<int> probed_out_of_order(Random& random, MPI_Comm comm, const Memory& memory);

std::vector<int> one_to_all(Random& random, MPI_Comm comm, const Memory& memory);
std::vector<int> gathered(Random& random, MPI_Comm comm, const Memory& memory);
std::vector<int> scattered(Random& random, MPI_Comm comm, const Memory& memory);
std::vector<int> all_gathered(Random& random, MPI_Comm comm, const Memory& memory);
std::vector<int> all_to_all(Random& random, MPI_Comm comm, const Memory& memory);
std::vector<int> reduced(Random& random, MPI_Comm comm, const Memory& memory);
std::vector<int> scanned(Random& random, MPI_Comm comm, const Memory& memory);
std::vector<int> neighbourly(Random& random, MPI_Comm comm, const Memory& memory);

std::vector<int> packed(Random& random, MPI_Comm comm, const Memory& memory);
std::vector<int> reduced_locally(Random& random, MPI_Comm comm, const Memory& memory);

std::vector<int> one_sided(Random& random, MPI_Comm comm, const Memory& memory);

}  // namespace plumb::stress
