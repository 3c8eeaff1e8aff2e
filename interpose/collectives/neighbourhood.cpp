#include "interpose/collectives/neighbourhood.hpp"

namespace plumb::interpose {

namespace {

// In each dimension the rank below, then the rank above (MPI 3.1, section 7.6).
Neighbours grid_neighbours(MPI_Comm comm) {
  int dimensions = 0;
  PMPI_Cartdim_get(comm, &dimensions);
  Places places;
  for (int i = 0; i < dimensions; ++i) {
    int below = MPI_PROC_NULL, above = MPI_PROC_NULL;
    PMPI_Cart_shift(comm, i, 1, &below, &above);
    places.push_back(below != MPI_PROC_NULL);
    places.push_back(above != MPI_PROC_NULL);
  }
  return {places, places};
}

Places all_of(int count) {
  return Places(static_cast<std::size_t>(count), true);
}

// Parts without a neighbour become empty.
Parts of_those_there(Parts parts, const Places& places) {
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (!places[i]) parts[i].count = 0;
  return parts;
}

}  // namespace

Neighbours neighbours_of(MPI_Comm comm) {
  int topology = MPI_UNDEFINED, sources = 0, targets = 0, weighted = 0;
  PMPI_Topo_test(comm, &topology);
  if (topology == MPI_CART) return grid_neighbours(comm);
  if (topology == MPI_DIST_GRAPH) {
    PMPI_Dist_graph_neighbors_count(comm, &sources, &targets, &weighted);
    return {all_of(sources), all_of(targets)};
  }
  if (topology == MPI_GRAPH) PMPI_Graph_neighbors_count(comm, rank_in(comm), &sources);
  return {all_of(sources), all_of(sources)};
}

Operands stage_neighbours(Call& call, const void* from, void* to, const Parts& sent, const Parts& received,
                          const Neighbours& at) {
  return {call.stage(from, sent, {}), call.stage(to, {}, of_those_there(received, at.from))};
}

}  // namespace plumb::interpose
