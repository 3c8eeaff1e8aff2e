// The neighbours of a rank in the communicator's topology, and its operands for them.
#pragma once

#include "interpose/collectives/collective_operands.hpp"

namespace plumb::interpose {

// Whether each place has a neighbour; beyond the edge of a grid there is none.
using Places = std::vector<bool>;

struct Neighbours {
  Places from, to;
};

Neighbours neighbours_of(MPI_Comm comm);

inline int count_of(const Places& places) {
  return static_cast<int>(places.size());
}

// Nothing is sent beyond the edge of a grid, but MPI may read what would be.
Operands stage_neighbours(Call& call, const void* from, void* to, const Parts& sent, const Parts& received,
                          const Neighbours& at);

}  // namespace plumb::interpose
