// Neighbourhood collectives on grids, graphs and distributed graphs.
#include <algorithm>
#include <array>

#include "operations.hpp"
#include "parts.hpp"

namespace plumb::stress {

namespace {

// With its edges closed or open by dimension.
MPI_Comm grid(Random& random, MPI_Comm comm, int size) {
  const int dimensions = random.between(1, 3);
  std::array<int, 3> sizes{}, closed{random.between(0, 1), random.between(0, 1), random.between(0, 1)};
  MPI_Dims_create(size, dimensions, sizes.data());
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Cart_create(comm, dimensions, sizes.data(), closed.data(), 0, &made);
  return made;
}

// Each pair of ranks is joined or is not.
MPI_Comm graph(Random& random, MPI_Comm comm, int size) {
  std::vector<std::vector<int>> neighbours(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < i; ++j)
      if (random.chance(60)) {
        neighbours[static_cast<std::size_t>(i)].push_back(j);
        neighbours[static_cast<std::size_t>(j)].push_back(i);
      }
  std::vector<int> ends, edges;
  for (const auto& of_one : neighbours) {
    edges.insert(edges.end(), of_one.begin(), of_one.end());
    ends.push_back(static_cast<int>(edges.size()));
  }
  edges.reserve(1);  // Open MPI refuses a null pointer to no edges
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Graph_create(comm, size, ends.data(), edges.data(), 0, &made);
  return made;
}

// Each rank sends to some, itself perhaps among them.
MPI_Comm distributed_graph(Random& random, MPI_Comm comm, int size, int rank) {
  std::vector<int> from, to;
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) {
      if (!random.chance(50) && j != (i + 1) % size) continue;
      if (i == rank) to.push_back(j);
      if (j == rank) from.push_back(i);
    }
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(comm, static_cast<int>(from.size()), from.data(), MPI_UNWEIGHTED,
                                 static_cast<int>(to.size()), to.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
  return made;
}

// The same count for each neighbour, at places one after the other with gaps.
struct NeighbourBlocks {
  NeighbourBlocks(Random& random, const Type& type, int blocks, std::ptrdiff_t whole)
      : count(fitting(random, type, whole / (2 * blocks))), stride(count) {
    if (random.chance(50)) ++stride;
    while (count > 0 && type.high(all(blocks)) - type.low(all(blocks)) > whole) stride = --count;
    for (int i = 0; i < blocks; ++i) {
      counts.push_back(count);
      places.push_back(i * stride);
      bytes.push_back(i * stride * type.extent());
    }
    types.assign(counts.size(), type.handle());
  }
  int all(int blocks) const { return (blocks - 1) * stride + count; }

  int count, stride;
  std::vector<int> counts, places;
  std::vector<MPI_Aint> bytes;
  std::vector<MPI_Datatype> types;
};

void exchange(int which, bool waits, const std::byte* from, std::byte* to, const NeighbourBlocks& blocks,
              MPI_Comm comm) {
  const MPI_Datatype type = blocks.types.front();
  const int* counts = blocks.counts.data();
  const int* places = blocks.places.data();
  const MPI_Datatype* types = blocks.types.data();
  MPI_Request request = MPI_REQUEST_NULL;
  switch (2 * which + (waits ? 1 : 0)) {
    case 0:
      MPI_Neighbor_allgather(from, blocks.count, type, to, blocks.count, type, comm);
      break;
    case 1:
      MPI_Ineighbor_allgather(from, blocks.count, type, to, blocks.count, type, comm, &request);
      break;
    case 2:
      MPI_Neighbor_allgatherv(from, blocks.count, type, to, counts, places, type, comm);
      break;
    case 3:
      MPI_Ineighbor_allgatherv(from, blocks.count, type, to, counts, places, type, comm, &request);
      break;
    case 4:
      MPI_Neighbor_alltoall(from, blocks.count, type, to, blocks.count, type, comm);
      break;
    case 5:
      MPI_Ineighbor_alltoall(from, blocks.count, type, to, blocks.count, type, comm, &request);
      break;
    case 6:
      MPI_Neighbor_alltoallv(from, counts, places, type, to, counts, places, type, comm);
      break;
    case 7:
      MPI_Ineighbor_alltoallv(from, counts, places, type, to, counts, places, type, comm, &request);
      break;
    case 8:
      MPI_Neighbor_alltoallw(from, counts, blocks.bytes.data(), types, to, counts, blocks.bytes.data(), types, comm);
      break;
    default:
      MPI_Ineighbor_alltoallw(from, counts, blocks.bytes.data(), types, to, counts, blocks.bytes.data(), types, comm,
                              &request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

}  // namespace

std::vector<int> neighbourly(Random& random, MPI_Comm comm, const Memory& memory) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const Type type = random_type(random);
  const int topology = random.between(0, 2);
  MPI_Comm made = topology == 0   ? grid(random, comm, size)
                  : topology == 1 ? graph(random, comm, size)
                                  : distributed_graph(random, comm, size, rank);
  // Counts are alike on both sides, so they follow from what all know.
  const int most = std::max(6, size);
  const NeighbourBlocks blocks(random, type, most, static_cast<std::ptrdiff_t>(memory.size));
  const std::ptrdiff_t whole = static_cast<std::ptrdiff_t>(memory.size);
  const std::byte* from = memory.from + place(random, type, blocks.all(most), whole);
  std::byte* to = memory.to + place(random, type, blocks.all(most), whole);
  const int which = random.between(0, 4);
  // MPICH 4.0 leaves blocks out on some distributed graphs, of memory of the host, too.
  const bool comes_out_right = topology < 2 || !over_mpich();
  if (blocks.count > 0 && comes_out_right) exchange(which, random.chance(50), from, to, blocks, made);
  MPI_Comm_free(&made);
  return {};
}

}  // namespace plumb::stress
