#include <algorithm>

#include "operations.hpp"
#include "parts.hpp"

namespace plumb::stress {

namespace {

// A block for each rank, laid one after the other with gaps; counts and displacements are in elements.
struct Blocks {
  Blocks(Random& random, const Type& type, int ranks, std::ptrdiff_t bytes, bool varied)
      : most(fitting(random, type, bytes / ranks / 2)) {
    lay(random, ranks, varied);
    // Extents may be longer than their contents.
    while (most > 0 && type.high(all) - type.low(all) > bytes) {
      most /= 2;
      lay(random, ranks, varied);
    }
  }
  void lay(Random& random, int ranks, bool varied) {
    counts.clear();
    displacements.clear();
    int at = 0;
    for (int i = 0; i < ranks; ++i) {
      counts.push_back(varied ? random.between(0, most) : most);
      displacements.push_back(at);
      at += most + (varied ? random.between(0, most / 2) : 0);
    }
    if (varied && random.chance(30)) std::reverse(displacements.begin(), displacements.end());
    all = *std::max_element(displacements.begin(), displacements.end()) + most;
  }
  int count(int rank) const { return counts[static_cast<std::size_t>(rank)]; }

  int most;
  int all = 0;  // elements up to the end of the last block
  std::vector<int> counts, displacements;
};

std::ptrdiff_t whole(const Memory& memory) {
  return static_cast<std::ptrdiff_t>(memory.size);
}

}  // namespace

void finish(Random& random, MPI_Request& request) {
  int flag = 0;
  if (random.chance(50)) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    while (flag == 0) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }
}

int fitting(Random& random, const Type& type, std::ptrdiff_t bytes) {
  const int wanted = random.chance(20) ? random.between(0, 3) : random.between(1, 4096);
  int low = 0, high = wanted;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (type.high(middle) - type.low(middle) <= bytes)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

std::ptrdiff_t place(Random& random, const Type& type, int count, std::ptrdiff_t bytes) {
  if (count == 0) return 0;
  const std::ptrdiff_t room = bytes - (type.high(count) - type.low(count));
  const std::ptrdiff_t at =
      room > 0 ? static_cast<std::ptrdiff_t>(random.next() % static_cast<std::uint64_t>(room)) : 0;
  return at - type.low(count);
}

std::vector<int> one_to_all(Random& random, MPI_Comm comm, const Memory& memory) {
  const Group group(comm);
  const Type type = random_type(random);
  const int count = fitting(random, type, whole(memory)), root = random.between(0, group.size - 1);
  std::byte* at = memory.to + place(random, type, count, whole(memory));
  if (random.chance(50)) {
    MPI_Bcast(at, count, type.handle(), root, comm);
  } else {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(at, count, type.handle(), root, comm, &request);
    finish(random, request);
  }
  return {};
}

std::vector<int> gathered(Random& random, MPI_Comm comm, const Memory& memory) {
  const Group group(comm);
  const Type type = random_type(random);
  const bool varied = random.chance(50), waits = random.chance(50), in_place = random.chance(30);
  const Blocks blocks(random, type, group.size, whole(memory), varied);
  const int root = random.between(0, group.size - 1), count = blocks.count(group.rank);
  const void* from = memory.from + place(random, type, blocks.most, whole(memory));
  std::byte* to = memory.to + place(random, type, blocks.all, whole(memory));
  if (in_place && group.rank == root) from = MPI_IN_PLACE;
  MPI_Request request = MPI_REQUEST_NULL;
  const MPI_Datatype handle = type.handle();
  if (varied && waits)
    MPI_Igatherv(from, count, handle, to, blocks.counts.data(), blocks.displacements.data(), handle, root, comm,
                 &request);
  else if (varied)
    MPI_Gatherv(from, count, handle, to, blocks.counts.data(), blocks.displacements.data(), handle, root, comm);
  else if (waits)
    MPI_Igather(from, count, handle, to, blocks.most, handle, root, comm, &request);
  else
    MPI_Gather(from, count, handle, to, blocks.most, handle, root, comm);
  finish(random, request);
  return {};
}

std::vector<int> scattered(Random& random, MPI_Comm comm, const Memory& memory) {
  const Group group(comm);
  const Type type = random_type(random);
  const bool varied = random.chance(50), waits = random.chance(50), in_place = random.chance(30);
  const Blocks blocks(random, type, group.size, whole(memory), varied);
  const int root = random.between(0, group.size - 1), count = blocks.count(group.rank);
  const std::byte* from = memory.from + place(random, type, blocks.all, whole(memory));
  void* to = memory.to + place(random, type, blocks.most, whole(memory));
  if (in_place && group.rank == root) to = MPI_IN_PLACE;
  MPI_Request request = MPI_REQUEST_NULL;
  const MPI_Datatype handle = type.handle();
  if (varied && waits)
    MPI_Iscatterv(from, blocks.counts.data(), blocks.displacements.data(), handle, to, count, handle, root, comm,
                  &request);
  else if (varied)
    MPI_Scatterv(from, blocks.counts.data(), blocks.displacements.data(), handle, to, count, handle, root, comm);
  else if (waits)
    MPI_Iscatter(from, blocks.most, handle, to, blocks.most, handle, root, comm, &request);
  else
    MPI_Scatter(from, blocks.most, handle, to, blocks.most, handle, root, comm);
  finish(random, request);
  return {};
}

std::vector<int> all_gathered(Random& random, MPI_Comm comm, const Memory& memory) {
  const Group group(comm);
  const Type type = random_type(random);
  const bool varied = random.chance(50), waits = random.chance(50), in_place = random.chance(30);
  const Blocks blocks(random, type, group.size, whole(memory), varied);
  const int count = blocks.count(group.rank);
  const void* from = memory.from + place(random, type, blocks.most, whole(memory));
  std::byte* to = memory.to + place(random, type, blocks.all, whole(memory));
  if (in_place) from = MPI_IN_PLACE;
  MPI_Request request = MPI_REQUEST_NULL;
  const MPI_Datatype handle = type.handle();
  if (varied && waits)
    MPI_Iallgatherv(from, count, handle, to, blocks.counts.data(), blocks.displacements.data(), handle, comm, &request);
  else if (varied)
    MPI_Allgatherv(from, count, handle, to, blocks.counts.data(), blocks.displacements.data(), handle, comm);
  else if (waits)
    MPI_Iallgather(from, blocks.most, handle, to, blocks.most, handle, comm, &request);
  else
    MPI_Allgather(from, blocks.most, handle, to, blocks.most, handle, comm);
  finish(random, request);
  return {};
}

// The counts of a pair are the same on both sides: by the sum of their ranks.
std::vector<int> all_to_all(Random& random, MPI_Comm comm, const Memory& memory) {
  const Group group(comm);
  const Type type = random_type(random);
  const MPI_Datatype handle = type.handle();
  const Blocks blocks(random, type, 2 * group.size, whole(memory), true);
  std::vector<int> counts, bytes;
  for (int i = 0; i < group.size; ++i) {
    counts.push_back(blocks.count(group.rank + i));
    // Open MPI 4.1 takes a rank's offset to itself, where it is alone, for one in elements.
    const int at = group.size == 1 ? 0 : blocks.displacements[static_cast<std::size_t>(i)];
    bytes.push_back(static_cast<int>(at * type.extent()));
  }
  const int* displacements = blocks.displacements.data();
  const std::vector<MPI_Datatype> types(static_cast<std::size_t>(group.size), handle);
  const void* from = memory.from + place(random, type, blocks.all, whole(memory));
  std::byte* to = memory.to + place(random, type, blocks.all, whole(memory));
  const bool waits = random.chance(50), in_place = random.chance(30);
  const int which = random.between(0, 2);
  if (in_place && which < 2) from = MPI_IN_PLACE;
  // Open MPI 4.1 gives a rank without anything to exchange in place another count of the communicator's non-blocking
  // collectives than the rest: a later one never ends.
  if (in_place)
    for (int& count : counts) count = std::min(std::max(count, 1), blocks.most);
  MPI_Request request = MPI_REQUEST_NULL;
  switch (which) {
    case 0:
      if (waits)
        MPI_Ialltoall(from, blocks.most, handle, to, blocks.most, handle, comm, &request);
      else
        MPI_Alltoall(from, blocks.most, handle, to, blocks.most, handle, comm);
      break;
    case 1:
      if (waits)
        MPI_Ialltoallv(from, counts.data(), displacements, handle, to, counts.data(), displacements, handle, comm,
                       &request);
      else
        MPI_Alltoallv(from, counts.data(), displacements, handle, to, counts.data(), displacements, handle, comm);
      break;
    default:
      if (waits)
        MPI_Ialltoallw(from, counts.data(), bytes.data(), types.data(), to, counts.data(), bytes.data(), types.data(),
                       comm, &request);
      else
        MPI_Alltoallw(from, counts.data(), bytes.data(), types.data(), to, counts.data(), bytes.data(), types.data(),
                      comm);
  }
  finish(random, request);
  return {};
}

}  // namespace plumb::stress
