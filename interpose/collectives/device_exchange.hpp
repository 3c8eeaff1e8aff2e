// Collectives that move blocks between ranks, as messages from device to device (PLUMB_MPI_TRANSPORT=peer): each rank
// sends and receives all of its blocks at once, on a copy of the communicator. Staged, each block would pass the host's
// memory twice.
#pragma once

#include <mpi.h>

#include <optional>

#include "interpose/collectives/collective_operands.hpp"

namespace plumb::interpose {

// The blocks of one rank: sends[i] goes to rank i, receives[i] comes from it. Empty parts and empty lists are skipped.
// The part of the own rank is copied.
struct Blocks {
  const void* from = nullptr;
  Parts sends = {};
  void* to = nullptr;
  Parts receives = {};
};

Blocks bcast_blocks(void* data, const Part& part, int root, MPI_Comm comm);
Blocks allgather_blocks(const Source& from, void* to, Parts parts, MPI_Comm comm);
// parts() is called only on the root if counts are significant only there.
template <class MakeParts>
Blocks gather_blocks(const Source& from, void* to, int root, MPI_Comm comm, MakeParts parts);
template <class MakeParts>
Blocks scatter_blocks(const void* from, const Target& to, int root, MPI_Comm comm, MakeParts parts);

// None if the collective must be staged, on all ranks alike: an intercommunicator, no operand on a device of any rank,
// or blocks of fewer than PLUMB_MPI_COLLECTIVE_FROM bytes (16 KiB). bytes: size of a block if known to all ranks.
template <class MakeBlocks>
std::optional<int> exchange_on_devices(const void* from, const void* to, std::optional<std::size_t> bytes,
                                       MPI_Comm comm, MakeBlocks blocks);

// Whether blocks are exchanged from device to device; collective if peer_on and enough bytes.
bool exchanges_on_devices(const void* from, const void* to, std::optional<std::size_t> bytes, MPI_Comm comm);
int exchange_blocks(const Blocks& blocks, MPI_Comm comm);

// A duplicate of a communicator, without messages of the program.
MPI_Comm copy_of(MPI_Comm comm);

// A list with one part, for the root.
Parts roots_part(const Part& part, int root, MPI_Comm comm);

template <class MakeParts>
Blocks gather_blocks(const Source& from, void* to, int root, MPI_Comm comm, MakeParts parts) {
  const bool in_place = from.address == MPI_IN_PLACE;
  Blocks blocks{from.address, {}, to, {}};
  if (!in_place) blocks.sends = roots_part({0, from.count, from.type}, root, comm);
  if (rank_in(comm) == root) blocks.receives = parts();
  return blocks;
}

template <class MakeParts>
Blocks scatter_blocks(const void* from, const Target& to, int root, MPI_Comm comm, MakeParts parts) {
  const bool in_place = to.address == MPI_IN_PLACE;
  Blocks blocks{from, {}, to.address, {}};
  if (rank_in(comm) == root) blocks.sends = parts();
  if (!in_place) blocks.receives = roots_part({0, to.count, to.type}, root, comm);
  return blocks;
}

template <class MakeBlocks>
std::optional<int> exchange_on_devices(const void* from, const void* to, std::optional<std::size_t> bytes,
                                       MPI_Comm comm, MakeBlocks blocks) {
  if (!exchanges_on_devices(from, to, bytes, comm)) return {};
  return exchange_blocks(blocks(), comm);
}

}  // namespace plumb::interpose
