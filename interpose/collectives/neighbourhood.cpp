#include "interpose/collectives/neighbourhood.hpp"

namespace plumb::interpose {

namespace {

// Of each dimension the one below, then the one above (MPI 3.1, section 7.6), whom this rank sends to and receives
// from.
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

// Nothing comes from where nobody is.
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

using namespace plumb::interpose;

extern "C" {

int MPI_Neighbor_allgather(const void* from, int send_count, MPI_Datatype send_type, void* to, int receive_count,
                           MPI_Datatype receive_type, MPI_Comm comm) {
  return neighbor_allgather_by<PMPI_Neighbor_allgather>("MPI_Neighbor_allgather", from, send_count, send_type, to,
                                                        receive_count, receive_type, comm);
}

int MPI_Neighbor_allgatherv(const void* from, int send_count, MPI_Datatype send_type, void* to,
                            const int* receive_counts, const int* offsets, MPI_Datatype receive_type, MPI_Comm comm) {
  return neighbor_allgatherv_by<PMPI_Neighbor_allgatherv>("MPI_Neighbor_allgatherv", from, send_count, send_type, to,
                                                          receive_counts, offsets, receive_type, comm);
}

int MPI_Neighbor_alltoall(const void* from, int send_count, MPI_Datatype send_type, void* to, int receive_count,
                          MPI_Datatype receive_type, MPI_Comm comm) {
  return neighbor_alltoall_by<PMPI_Neighbor_alltoall>("MPI_Neighbor_alltoall", from, send_count, send_type, to,
                                                      receive_count, receive_type, comm);
}

int MPI_Neighbor_alltoallv(const void* from, const int* send_counts, const int* send_offsets, MPI_Datatype send_type,
                           void* to, const int* receive_counts, const int* receive_offsets, MPI_Datatype receive_type,
                           MPI_Comm comm) {
  return neighbor_alltoallv_by<PMPI_Neighbor_alltoallv>("MPI_Neighbor_alltoallv", from, send_counts, send_offsets,
                                                        send_type, to, receive_counts, receive_offsets, receive_type,
                                                        comm);
}

int MPI_Neighbor_alltoallw(const void* from, const int* send_counts, const MPI_Aint* send_offsets,
                           const MPI_Datatype* send_types, void* to, const int* receive_counts,
                           const MPI_Aint* receive_offsets, const MPI_Datatype* receive_types, MPI_Comm comm) {
  return neighbor_alltoallw_by<PMPI_Neighbor_alltoallw>("MPI_Neighbor_alltoallw", from, send_counts, send_offsets,
                                                        send_types, to, receive_counts, receive_offsets, receive_types,
                                                        comm);
}

int MPI_Ineighbor_allgather(const void* from, int send_count, MPI_Datatype send_type, void* to, int receive_count,
                            MPI_Datatype receive_type, MPI_Comm comm, MPI_Request* request) {
  return neighbor_allgather_by<PMPI_Ineighbor_allgather>("MPI_Ineighbor_allgather", from, send_count, send_type, to,
                                                         receive_count, receive_type, comm, request);
}

int MPI_Ineighbor_allgatherv(const void* from, int send_count, MPI_Datatype send_type, void* to,
                             const int* receive_counts, const int* offsets, MPI_Datatype receive_type, MPI_Comm comm,
                             MPI_Request* request) {
  return neighbor_allgatherv_by<PMPI_Ineighbor_allgatherv>("MPI_Ineighbor_allgatherv", from, send_count, send_type, to,
                                                           receive_counts, offsets, receive_type, comm, request);
}

int MPI_Ineighbor_alltoall(const void* from, int send_count, MPI_Datatype send_type, void* to, int receive_count,
                           MPI_Datatype receive_type, MPI_Comm comm, MPI_Request* request) {
  return neighbor_alltoall_by<PMPI_Ineighbor_alltoall>("MPI_Ineighbor_alltoall", from, send_count, send_type, to,
                                                       receive_count, receive_type, comm, request);
}

int MPI_Ineighbor_alltoallv(const void* from, const int* send_counts, const int* send_offsets, MPI_Datatype send_type,
                            void* to, const int* receive_counts, const int* receive_offsets, MPI_Datatype receive_type,
                            MPI_Comm comm, MPI_Request* request) {
  return neighbor_alltoallv_by<PMPI_Ineighbor_alltoallv>("MPI_Ineighbor_alltoallv", from, send_counts, send_offsets,
                                                         send_type, to, receive_counts, receive_offsets, receive_type,
                                                         comm, request);
}

int MPI_Ineighbor_alltoallw(const void* from, const int* send_counts, const MPI_Aint* send_offsets,
                            const MPI_Datatype* send_types, void* to, const int* receive_counts,
                            const MPI_Aint* receive_offsets, const MPI_Datatype* receive_types, MPI_Comm comm,
                            MPI_Request* request) {
  return neighbor_alltoallw_by<PMPI_Ineighbor_alltoallw>("MPI_Ineighbor_alltoallw", from, send_counts, send_offsets,
                                                         send_types, to, receive_counts, receive_offsets, receive_types,
                                                         comm, request);
}

}  // extern "C"
