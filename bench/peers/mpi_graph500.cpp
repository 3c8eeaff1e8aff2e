// A breadth-first search over bare MPI, by the algorithm of Graph500's reference 3.0: vertices dealt out in turn, one
// message of 8 B for each edge to another rank's vertex, coalesced by rank; levels end with a reduction.
//
//   mpirun -np 2 mpi_graph500 EDGES SCALE ROOT...
//
// EDGES: pairs of 64-bit integers (plumb-mpi graph500 --write-edges). Prints, for each root, seconds of the slowest
// rank and edges of its component without loops. The graph fits 32-bit vertices.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

namespace {

constexpr int message_tag = 1, last_tag = 2;
constexpr std::size_t words_of_message = 4096;

int rank_here = 0, all_ranks = 1;

struct Rows {
  std::vector<std::uint64_t> begins;
  std::vector<std::uint32_t> neighbours;
};

Rows read_rows(const char* path, std::uint64_t vertices) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<std::int64_t> ends(static_cast<std::size_t>(file.tellg()) / sizeof(std::int64_t));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(ends.data()), static_cast<std::streamsize>(8 * ends.size()));
  const auto ranks = static_cast<std::uint64_t>(all_ranks);
  Rows rows;
  rows.begins.resize(vertices / ranks + 2);
  const auto each = [&](auto action) {
    for (std::size_t i = 0; i < ends.size(); ++i)
      if (ends[i] != ends[i ^ 1] && ends[i] % all_ranks == rank_here)
        action(static_cast<std::uint64_t>(ends[i]) / ranks, ends[i ^ 1]);
  };
  each([&](std::uint64_t local, std::int64_t) { ++rows.begins[local + 1]; });
  for (std::size_t i = 1; i < rows.begins.size(); ++i) rows.begins[i] += rows.begins[i - 1];
  std::vector<std::uint64_t> next = rows.begins;
  rows.neighbours.resize(rows.begins.back());
  each([&](std::uint64_t local, std::int64_t other) {
    rows.neighbours[next[local]++] = static_cast<std::uint32_t>(other);
  });
  return rows;
}

class Search {
 public:
  explicit Search(const Rows& rows)
      : rows_(rows), parents_(rows.begins.size() - 1), visited_(rows.begins.size() / 64 + 1) {
    for (int i = 0; i < all_ranks; ++i) targets_.emplace_back();
  }

  // Seconds of this rank.
  double run(std::uint32_t root) {
    std::fill(parents_.begin(), parents_.end(), -1);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    std::fill(visited_.begin(), visited_.end(), 0);
    next_.clear();
    if (static_cast<int>(root) % all_ranks == rank_here) visit(root / static_cast<std::uint32_t>(all_ranks), root);
    for (std::uint64_t reached = 1; reached > 0;) {
      std::swap(level_, next_);
      next_.clear();
      follow();
      reached = next_.size();
      MPI_Allreduce(MPI_IN_PLACE, &reached, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    }
    return MPI_Wtime() - begin;
  }

  std::uint64_t ends_reached() const {
    std::uint64_t ends = 0;
    for (std::size_t i = 0; i < parents_.size(); ++i)
      if (parents_[i] >= 0) ends += rows_.begins[i + 1] - rows_.begins[i];
    return ends;
  }

 private:
  struct Target {
    std::vector<std::uint64_t> filling, going;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void visit(std::uint32_t local, std::uint32_t parent) {
    const std::uint64_t bit = std::uint64_t{1} << (local % 64);
    if ((visited_[local / 64] & bit) != 0) return;
    visited_[local / 64] |= bit;
    parents_[local] = parent;
    next_.push_back(local);
  }

  void follow() {
    lasts_ = 1;
    const auto ranks = static_cast<std::uint32_t>(all_ranks);
    for (const std::uint32_t local : level_) {
      const std::uint32_t vertex = local * ranks + static_cast<std::uint32_t>(rank_here);
      for (std::uint64_t i = rows_.begins[local]; i < rows_.begins[local + 1]; ++i) {
        const std::uint32_t other = rows_.neighbours[i];
        const int owner = static_cast<int>(other % ranks);
        if (owner == rank_here) {
          visit(other / ranks, vertex);
          continue;
        }
        Target& target = targets_[static_cast<std::size_t>(owner)];
        target.filling.push_back(static_cast<std::uint64_t>(other / ranks) << 32 | vertex);
        if (target.filling.size() == words_of_message) send(owner, message_tag);
      }
    }
    for (int rank = 0; rank < all_ranks; ++rank)
      if (rank != rank_here) send(rank, last_tag);
    while (lasts_ < all_ranks) receive();
  }

  void send(int rank, int tag) {
    Target& target = targets_[static_cast<std::size_t>(rank)];
    for (int sent = 0; sent == 0;) {
      MPI_Test(&target.request, &sent, MPI_STATUS_IGNORE);
      if (sent == 0) receive();
    }
    std::swap(target.filling, target.going);
    target.filling.clear();
    MPI_Isend(target.going.data(), static_cast<int>(target.going.size()), MPI_UINT64_T, rank, tag, MPI_COMM_WORLD,
              &target.request);
    receive();
  }

  void receive() {
    int arrived = 0, words = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, &status);
    if (arrived == 0) return;
    MPI_Get_count(&status, MPI_UINT64_T, &words);
    received_.resize(words_of_message);
    MPI_Recv(received_.data(), words, MPI_UINT64_T, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    for (int i = 0; i < words; ++i)
      visit(static_cast<std::uint32_t>(received_[static_cast<std::size_t>(i)] >> 32),
            static_cast<std::uint32_t>(received_[static_cast<std::size_t>(i)]));
    if (status.MPI_TAG == last_tag) ++lasts_;
  }

  const Rows& rows_;
  std::vector<std::int64_t> parents_;
  std::vector<std::uint64_t> visited_, received_;
  std::vector<std::uint32_t> level_, next_;
  std::vector<Target> targets_;
  int lasts_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_here);
  MPI_Comm_size(MPI_COMM_WORLD, &all_ranks);
  if (argc < 4) {
    if (rank_here == 0) std::fprintf(stderr, "mpi_graph500 EDGES SCALE ROOT...\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const Rows rows = read_rows(argv[1], std::uint64_t{1} << std::atoi(argv[2]));
  Search search(rows);
  search.run(static_cast<std::uint32_t>(std::atoll(argv[3])));  // warm-up
  for (int i = 3; i < argc; ++i) {
    double seconds = search.run(static_cast<std::uint32_t>(std::atoll(argv[i])));
    std::uint64_t ends = search.ends_reached();
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &ends, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank_here == 0) std::printf("%.9g %.0f\n", seconds, static_cast<double>(ends) / 2);
  }
  MPI_Finalize();
  return 0;
}
