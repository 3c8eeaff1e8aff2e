// Reductions on devices, if the operands of all ranks are on devices (PLUMB_MPI_TRANSPORT=peer): in one step, in which
// each rank reads the others' numbers of its result; many bytes by a ring over blocks, in which each of p ranks reads
// 2 (p - 1) / p of its bytes from its neighbour (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for
// clusters of workstations", JPDC 69(2), 2009). The kernel that combines reads the others' numbers in place. Messages
// use a copy of the communicator.
#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

namespace plumb::interpose {

// The root of a reduction whose result all ranks receive.
constexpr int everyone = -1;

// MPI_Allreduce or MPI_Reduce (with its root). None if MPI must do it, on all ranks alike: few bytes, a count above the
// largest int, a datatype or an operation without a kernel, an operand on the host on some rank.
std::optional<int> reduce_on_devices(const void* from, void* to, MPI_Aint count, MPI_Datatype type, MPI_Op op, int root,
                                     MPI_Comm comm);

// The same for MPI_Reduce_scatter.
std::optional<int> reduce_scatter_on_devices(const void* from, void* to, const std::vector<MPI_Aint>& counts,
                                             MPI_Datatype type, MPI_Op op, MPI_Comm comm);

}  // namespace plumb::interpose
