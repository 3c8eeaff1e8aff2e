// Searches of a distributed graph; breadth-first ones are level-synchronous over all ranks.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/shmem/graph500/courier.hpp"
#include "benchmarks/shmem/graph500/graph.hpp"
#include "core/json.hpp"

namespace plumb::graph500 {

using Parent = std::int64_t;
inline constexpr Parent unreached = -1;

// Bits of all vertices, or of some.
class Bitmap {
 public:
  explicit Bitmap(std::uint64_t bits) : words_((bits + 63) / 64) {}
  bool test(std::uint64_t bit) const { return (words_[bit >> 6] >> (bit & 63) & 1) != 0; }
  void set(std::uint64_t bit) { words_[bit >> 6] |= std::uint64_t{1} << (bit & 63); }
  void set_shared(std::uint64_t bit) {  // while other threads set others
    const std::uint64_t mask = std::uint64_t{1} << (bit & 63);
    const std::atomic_ref word(words_[bit >> 6]);
    if ((word.load(std::memory_order_relaxed) & mask) == 0) word.fetch_or(mask, std::memory_order_relaxed);
  }
  void clear() { std::fill(words_.begin(), words_.end(), 0); }
  std::span<std::uint64_t> words() { return words_; }

 private:
  std::vector<std::uint64_t> words_;
};

class Search {
 public:
  virtual ~Search() = default;
  // Of this rank's vertices, by local index: a parent (the root has itself), or `unreached`.
  virtual std::span<Parent> parents() = 0;
  // Of this rank's vertices, by local index: from the root, infinity if unreached. Empty for breadth-first searches.
  virtual std::span<float> distances() { return {}; }
  // Untimed, before a search: makes all parents `unreached` and distances NaN.
  virtual void poison();
  // Collective, untimed, before the warm-up: what a first search would spend on preparing kernels. Poisons.
  virtual void prepare(Vertex) {}
  // Collective; after poison(). On return this rank's parents and distances are final, where they are computed.
  virtual void run(Vertex root) = 0;
  // Untimed, after a search: brings its results from where they are computed to parents().
  virtual void fetch() {}
  virtual Json facts() const { return Json::object(); }
};

// Each rank follows the edges of its vertices of the last level: its own neighbours are kept, those of other ranks
// are sent through the courier, once from each rank.
class TopDown : public Search {
 public:
  TopDown(World& world, Team& team, const Graph& graph, const CourierFactory& make_courier);
  std::span<Parent> parents() override { return parents_; }
  void run(Vertex root) override;

 protected:
  void start(Vertex root);
  void follow();  // from frontier_ to next_
  void reach(std::uint64_t local, Vertex parent) {
    parents_[local] = static_cast<Parent>(parent);
    next_.push_back(static_cast<std::uint32_t>(local));
  }

  Team& team_;
  const Graph& graph_;
  const Layout& layout_;
  std::vector<Parent> parents_;
  Bitmap known_;                                // reached, if this rank's; else reached or sent
  std::vector<std::uint32_t> frontier_, next_;  // local indices of vertices
  std::unique_ptr<Courier> courier_;
};

struct SearchPlan {
  std::string variant;
  double delta = 0;              // above 0: shortest paths, in buckets of this width
  double alpha = 14, beta = 24;  // of direction-optimising: Beamer's
  int threads = 1;
  std::string discoveries = "bitmaps";  // of several devices
};
// The variant by which this program's ranks send words fastest.
std::string best_courier();
// The courier of that name; a single rank, which sends nothing, needs none. Throws Unsupported if there is none.
CourierFactory courier_of(const std::string& name, int ranks);
// Collective. Throws Unsupported if this world lacks a feature that the variant needs.
std::unique_ptr<Search> make_search(World& world, Team& team, const Graph& graph, const SearchPlan& plan);

// Bytes of each rank's remotely accessible memory, for a variant on the given number of ranks.
std::uint64_t symmetric_bytes(const std::string& variant, const Layout& layout);

}  // namespace plumb::graph500
