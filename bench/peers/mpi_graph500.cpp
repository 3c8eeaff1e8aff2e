// Searches over bare MPI, by the algorithms of Graph500's reference 3.0: vertices dealt out in turn, one message of 8 B
// for each edge to another rank's vertex (shortest paths: 16 B), coalesced by rank; levels end with a reduction.
// Shortest paths by delta-stepping, with buckets found by going through all distances. put-atomic: a breadth-first
// search by an atomic fetch-or of each vertex's bit and a put of its parent, in windows of MPI-3.
//
//   mpirun -np 2 mpi_graph500 [sssp|put-atomic] EDGES SCALE ROOT...
//
// EDGES: pairs of 64-bit integers (plumb-mpi graph500 --write-edges), beside it EDGES.weights. Prints, for each root,
// seconds of the slowest rank, edges of its component without loops, and the sum of all distances' hashes as in
// Plumbline's records. The graph fits 32-bit vertices.
#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr int message_tag = 1, last_tag = 2;
constexpr std::size_t words_of_message = 4096;

int rank_here = 0, all_ranks = 1;

struct Rows {
  std::vector<std::uint64_t> begins;
  std::vector<std::uint32_t> neighbours;
  std::vector<float> weights;
};

template <class T>
std::vector<T> read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<T> values(static_cast<std::size_t>(file.tellg()) / sizeof(T));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(sizeof(T) * values.size()));
  return values;
}

Rows read_rows(const std::string& path, std::uint64_t vertices, bool weighted) {
  const auto ends = read_all<std::int64_t>(path);
  const auto weights = weighted ? read_all<float>(path + ".weights") : std::vector<float>(ends.size() / 2);
  const auto ranks = static_cast<std::uint64_t>(all_ranks);
  Rows rows;
  rows.begins.resize(vertices / ranks + 2);
  const auto each = [&](auto action) {
    for (std::size_t i = 0; i < ends.size(); ++i)
      if (ends[i] != ends[i ^ 1] && ends[i] % all_ranks == rank_here)
        action(static_cast<std::uint64_t>(ends[i]) / ranks, ends[i ^ 1], weights[i / 2]);
  };
  each([&](std::uint64_t local, std::int64_t, float) { ++rows.begins[local + 1]; });
  for (std::size_t i = 1; i < rows.begins.size(); ++i) rows.begins[i] += rows.begins[i - 1];
  std::vector<std::uint64_t> next = rows.begins;
  rows.neighbours.resize(rows.begins.back());
  rows.weights.resize(rows.begins.back());
  each([&](std::uint64_t local, std::int64_t other, float weight) {
    rows.weights[next[local]] = weight;
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
  virtual ~Search() = default;
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  // Seconds of this rank.
  virtual double run(std::uint32_t root) = 0;
  virtual std::uint64_t hash() const { return 0; }

  std::uint64_t ends_reached() const {
    std::uint64_t ends = 0;
    for (std::size_t i = 0; i < parents_.size(); ++i)
      if (parents_[i] >= 0) ends += rows_.begins[i + 1] - rows_.begins[i];
    return ends;
  }

 protected:
  struct Target {
    std::vector<std::uint64_t> filling, going;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  virtual void take(const std::uint64_t* words, std::size_t count) = 0;

  bool visit_bit(std::uint32_t local) {
    const std::uint64_t bit = std::uint64_t{1} << (local % 64);
    if ((visited_[local / 64] & bit) != 0) return false;
    visited_[local / 64] |= bit;
    return true;
  }

  static std::uint64_t sum_of(std::uint64_t value) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return value;
  }

  // All messages of this round have arrived on return.
  void end_round() {
    for (int rank = 0; rank < all_ranks; ++rank)
      if (rank != rank_here) send(rank, last_tag);
    while (lasts_ < all_ranks) receive();
    lasts_ = 1;
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
    take(received_.data(), static_cast<std::size_t>(words));
    if (status.MPI_TAG == last_tag) ++lasts_;
  }

  const Rows& rows_;
  std::vector<std::int64_t> parents_;
  std::vector<std::uint64_t> visited_, received_;
  std::vector<std::uint32_t> level_, next_;
  std::vector<Target> targets_;
  int lasts_ = 1;  // ranks whose last message of the round has come
};

class BreadthFirst final : public Search {
 public:
  using Search::Search;

  double run(std::uint32_t root) override {
    std::fill(parents_.begin(), parents_.end(), -1);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    std::fill(visited_.begin(), visited_.end(), 0);
    next_.clear();
    if (static_cast<int>(root) % all_ranks == rank_here) visit(root / static_cast<std::uint32_t>(all_ranks), root);
    for (std::uint64_t reached = 1; reached > 0; reached = sum_of(next_.size())) {
      std::swap(level_, next_);
      next_.clear();
      follow();
    }
    return MPI_Wtime() - begin;
  }

 private:
  void visit(std::uint32_t local, std::uint32_t parent) {
    if (!visit_bit(local)) return;
    parents_[local] = parent;
    next_.push_back(local);
  }

  void take(const std::uint64_t* words, std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i)
      visit(static_cast<std::uint32_t>(words[i] >> 32), static_cast<std::uint32_t>(words[i]));
  }

  void follow() {
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
    end_round();
  }
};

// Bits of this rank's vertices, then their parents, in a window.
class PutAtomic final : public Search {
 public:
  PutAtomic(const Rows& rows, std::uint64_t vertices)
      : Search(rows), bit_words_(parents_.size() / 64 + 1), tried_(vertices / 64 + 1), seen_(bit_words_) {
    MPI_Win_allocate(static_cast<MPI_Aint>(8 * (bit_words_ + parents_.size())), 8, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &memory_, &window_);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  }
  ~PutAtomic() override {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }

  double run(std::uint32_t root) override {
    std::fill_n(memory_ + bit_words_, parents_.size(), ~std::uint64_t{0});
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    std::fill(tried_.begin(), tried_.end(), 0);
    std::fill(seen_.begin(), seen_.end(), 0);
    std::fill_n(memory_, bit_words_, 0);
    const auto ranks = static_cast<std::uint32_t>(all_ranks);
    if (static_cast<int>(root % ranks) == rank_here) {
      memory_[root / ranks / 64] |= std::uint64_t{1} << (root / ranks % 64);
      memory_[bit_words_ + root / ranks] = root;
    }
    is_tried(root);
    for (meet(); take_level() > 0; meet()) follow();
    const double seconds = MPI_Wtime() - begin;
    std::copy_n(memory_ + bit_words_, parents_.size(), reinterpret_cast<std::uint64_t*>(parents_.data()));
    return seconds;
  }

 private:
  void take(const std::uint64_t*, std::size_t) override {}

  void meet() {
    MPI_Win_flush_all(window_);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window_);
  }

  std::uint64_t take_level() {
    level_.clear();
    for (std::size_t word = 0; word < bit_words_; ++word) {
      for (std::uint64_t left = memory_[word] & ~seen_[word]; left != 0; left &= left - 1)
        level_.push_back(static_cast<std::uint32_t>(64 * word) + static_cast<std::uint32_t>(std::countr_zero(left)));
      seen_[word] = memory_[word];
    }
    return sum_of(level_.size());
  }

  bool is_tried(std::uint32_t vertex) {
    const std::uint64_t bit = std::uint64_t{1} << (vertex % 64), before = tried_[vertex / 64];
    tried_[vertex / 64] |= bit;
    return (before & bit) != 0;
  }

  void follow() {
    const auto ranks = static_cast<std::uint32_t>(all_ranks);
    for (const std::uint32_t local : level_) {
      const std::uint64_t vertex = local * ranks + static_cast<std::uint32_t>(rank_here);
      for (std::uint64_t i = rows_.begins[local]; i < rows_.begins[local + 1]; ++i) {
        const std::uint32_t other = rows_.neighbours[i];
        if (is_tried(other)) continue;
        const int owner = static_cast<int>(other % ranks);
        const std::uint64_t place = other / ranks, bit = std::uint64_t{1} << (place % 64);
        std::uint64_t before = 0;
        MPI_Fetch_and_op(&bit, &before, MPI_UINT64_T, owner, static_cast<MPI_Aint>(place / 64), MPI_BOR, window_);
        MPI_Win_flush(owner, window_);
        if ((before & bit) != 0) continue;
        MPI_Put(&vertex, 1, MPI_UINT64_T, owner, static_cast<MPI_Aint>(bit_words_ + place), 1, MPI_UINT64_T, window_);
        MPI_Win_flush_local(owner, window_);
      }
    }
  }

  std::uint64_t bit_words_;
  std::vector<std::uint64_t> tried_, seen_;
  std::uint64_t* memory_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

class ShortestPaths final : public Search {
 public:
  explicit ShortestPaths(const Rows& rows) : Search(rows), distances_(parents_.size()) {}

  double run(std::uint32_t root) override {
    std::fill(parents_.begin(), parents_.end(), -1);
    std::fill(distances_.begin(), distances_.end(), std::numeric_limits<float>::infinity());
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    low_ = 0;
    high_ = delta;
    level_.clear();
    next_.clear();
    if (static_cast<int>(root) % all_ranks == rank_here) {
      const std::uint32_t local = root / static_cast<std::uint32_t>(all_ranks);
      distances_[local] = 0;
      parents_[local] = root;
      level_.push_back(local);
    }
    for (std::uint64_t left = 1; left > 0;) {
      for (std::uint64_t active = 1; active > 0; active = sum_of(level_.size())) {
        light_ = true;
        std::fill(visited_.begin(), visited_.end(), 0);
        for (const std::uint32_t local : level_) relax(local);
        end_round();
        std::swap(level_, next_);
        next_.clear();
      }
      light_ = false;
      for (std::uint32_t local = 0; local < distances_.size(); ++local)
        if (distances_[local] >= low_ && distances_[local] < high_) relax(local);
      end_round();
      left = next_bucket();
    }
    return MPI_Wtime() - begin;
  }

  std::uint64_t hash() const override {
    std::uint64_t sum = 0;
    const auto ranks = static_cast<std::uint64_t>(all_ranks);
    for (std::uint64_t local = 0; local < distances_.size(); ++local) {
      const std::uint64_t vertex = local * ranks + static_cast<std::uint64_t>(rank_here);
      if (vertex < vertices) sum += mixed(vertex << 32 | std::bit_cast<std::uint32_t>(distances_[local]));
    }
    return sum;
  }

  std::uint64_t vertices = 0;

 private:
  static constexpr float delta = 0.1f;

  static std::uint64_t mixed(std::uint64_t word) {
    word += 0x9e3779b97f4a7c15ull;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ull;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebull;
    return word ^ (word >> 31);
  }

  // Vertices that are left; those of the next bucket become the level.
  std::uint64_t next_bucket() {
    low_ = high_;
    high_ += delta;
    level_.clear();
    std::uint64_t left = 0;
    for (std::uint32_t local = 0; local < distances_.size(); ++local) {
      if (!(distances_[local] >= low_ && distances_[local] < std::numeric_limits<float>::infinity())) continue;
      ++left;
      if (distances_[local] < high_) level_.push_back(local);
    }
    return sum_of(left);
  }

  void relax(std::uint32_t local) {
    const auto ranks = static_cast<std::uint32_t>(all_ranks);
    const std::uint32_t vertex = local * ranks + static_cast<std::uint32_t>(rank_here);
    for (std::uint64_t i = rows_.begins[local]; i < rows_.begins[local + 1]; ++i) {
      if ((rows_.weights[i] < delta) != light_) continue;
      const float distance = distances_[local] + rows_.weights[i];
      const std::uint32_t other = rows_.neighbours[i];
      const int owner = static_cast<int>(other % ranks);
      if (owner == rank_here) {
        shorten(other / ranks, vertex, distance);
        continue;
      }
      Target& target = targets_[static_cast<std::size_t>(owner)];
      target.filling.push_back(static_cast<std::uint64_t>(other / ranks) << 32 | vertex);
      target.filling.push_back(std::bit_cast<std::uint32_t>(distance));
      if (target.filling.size() == words_of_message) send(owner, message_tag);
    }
  }

  void shorten(std::uint32_t local, std::uint32_t parent, float distance) {
    if (!(distance < distances_[local])) return;
    distances_[local] = distance;
    parents_[local] = parent;
    if (light_ && distance < high_ && visit_bit(local)) next_.push_back(local);
  }

  void take(const std::uint64_t* words, std::size_t count) override {
    for (std::size_t i = 0; i < count; i += 2)
      shorten(static_cast<std::uint32_t>(words[i] >> 32), static_cast<std::uint32_t>(words[i]),
              std::bit_cast<float>(static_cast<std::uint32_t>(words[i + 1])));
  }

  std::vector<float> distances_;
  float low_ = 0, high_ = 0;  // of the bucket
  bool light_ = true;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_here);
  MPI_Comm_size(MPI_COMM_WORLD, &all_ranks);
  const auto is_first = [&](const char* word) { return argc > 1 && std::strcmp(argv[1], word) == 0; };
  const bool paths = is_first("sssp"), windows = is_first("put-atomic");
  const int first = paths || windows ? 2 : 1;
  if (argc < first + 3) {
    if (rank_here == 0) std::fprintf(stderr, "mpi_graph500 [sssp|put-atomic] EDGES SCALE ROOT...\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const std::uint64_t vertices = std::uint64_t{1} << std::atoi(argv[first + 1]);
  const Rows rows = read_rows(argv[first], vertices, paths);
  std::unique_ptr<Search> search;
  if (paths) {
    auto made = std::make_unique<ShortestPaths>(rows);
    made->vertices = vertices;
    search = std::move(made);
  } else if (windows) {
    search = std::make_unique<PutAtomic>(rows, vertices);
  } else {
    search = std::make_unique<BreadthFirst>(rows);
  }
  search->run(static_cast<std::uint32_t>(std::atoll(argv[first + 2])));  // warm-up
  for (int i = first + 2; i < argc; ++i) {
    double seconds = search->run(static_cast<std::uint32_t>(std::atoll(argv[i])));
    std::uint64_t sums[] = {search->ends_reached(), search->hash()};
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank_here == 0)
      std::printf("%.9g %.0f %016llx\n", seconds, static_cast<double>(sums[0]) / 2,
                  static_cast<unsigned long long>(sums[1]));
  }
  search.reset();
  MPI_Finalize();
  return 0;
}
