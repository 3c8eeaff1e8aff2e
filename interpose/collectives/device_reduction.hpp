// Reductions on the devices that their operands lie on, where those of all ranks do (PLUMB_MPI_TRANSPORT=peer): round a
// ring in blocks, so that each of p ranks reads 2 (p - 1) / p of its bytes from its neighbour (Patarasuk and Yuan,
// "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 69(2), 2009); the kernel that combines
// two blocks reads the neighbour's where it lies. Messages are on a communicator of their own.
#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

namespace plumb::interpose {

// The root of a reduction whose result all ranks get.
constexpr int everyone = -1;

// MPI_Allreduce or MPI_Reduce (its root). Null where it is to go another way, which all ranks of the communicator find
// alike: too few bytes, a count above the largest int, a datatype or an operation that no kernel does, an operand of
// the host on some rank.
std::optional<int> reduce_on_devices(const void* from, void* to, MPI_Aint count, MPI_Datatype type, MPI_Op op, int root,
                                     MPI_Comm comm);

// MPI_Reduce_scatter, likewise.
std::optional<int> reduce_scatter_on_devices(const void* from, void* to, const std::vector<MPI_Aint>& counts,
                                             MPI_Datatype type, MPI_Op op, MPI_Comm comm);

}  // namespace plumb::interpose
