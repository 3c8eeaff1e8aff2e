// Reductions on the devices that their operands lie on, where those of all ranks do (PLUMB_MPI_TRANSPORT=peer): round a
// ring in blocks, so that each of p ranks sends 2 (p - 1) / p of its bytes (Patarasuk and Yuan, "Bandwidth optimal
// all-reduce algorithms for clusters of workstations", JPDC 69(2), 2009), in messages from device to device on a
// communicator of their own.
#pragma once

#include <mpi.h>

#include <optional>

namespace plumb::interpose {

// The root of a reduction whose result all ranks get.
constexpr int everyone = -1;

// MPI_Allreduce or MPI_Reduce (its root). Null where it is to go another way, which all ranks of the communicator find
// alike: too few bytes, a datatype or an operation that no kernel does, an operand of the host on some rank.
std::optional<int> reduce_on_devices(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root,
                                     MPI_Comm comm);

}  // namespace plumb::interpose
