// Single-source shortest paths by delta-stepping: U. Meyer, P. Sanders, "Delta-stepping: a parallelizable shortest path
// algorithm", 2003. Distances are rounded sums of weights, equal bit for bit for any order of relaxations (README.md).
#pragma once

#include <bit>
#include <vector>

#include "benchmarks/shmem/graph500/search.hpp"

namespace plumb::graph500 {

// A bucket has the vertices with distances in [i delta, (i + 1) delta). The edges below delta (light) of the first
// bucket that is not empty are relaxed until it stays empty, then the others (heavy) of all vertices that it had. A
// relaxation is sent to the owner of its vertex as a pair of words, {vertex's place, parent} and distance, if it is
// shorter than all that this rank has sent for that vertex.
class DeltaStepping : public Search {
 public:
  // The graph has weights, none negative, divided by `delta`.
  DeltaStepping(World& world, Team& team, const Graph& graph, float delta, const CourierFactory& make_courier);
  std::span<Parent> parents() override { return parents_; }
  std::span<float> distances() override { return std::span(best_).subspan(layout_.first(), layout_.count()); }
  void run(Vertex root) override;
  Json facts() const override {
    return {
        {"buckets", buckets_emptied_}, {"rounds", rounds_}, {"ends_relaxed", relaxed_}, {"relaxations_sent", sent_}};
  }

 protected:
  // Replaced by mutants.
  virtual void relax_heavy();
  // The first bucket from `bucket` on that is not empty on some rank; `no_bucket` if there is none. Collective.
  virtual std::uint64_t next_bucket(std::uint64_t bucket);
  static constexpr std::uint64_t no_bucket = ~std::uint64_t{0};

 private:
  static constexpr std::uint32_t in_none = ~std::uint32_t{0};

  std::uint64_t bucket_of(float distance) const { return static_cast<std::uint64_t>(distance * per_bucket_); }
  std::vector<std::uint32_t>& members(std::uint64_t bucket) { return buckets_[bucket % buckets_.size()]; }
  void relax_light(std::uint64_t bucket);
  void relax(std::uint64_t local, std::uint64_t begin, std::uint64_t end);  // a part of its row
  void shorten(std::uint64_t local, Vertex parent, float distance);

  Team& team_;
  const Graph& graph_;
  const Layout& layout_;
  float per_bucket_;         // 1/delta
  std::vector<float> best_;  // of this rank's vertices: their distances; of others, the shortest that was sent
  std::vector<Parent> parents_;
  // Buckets in turn; entries whose vertex has moved to an earlier bucket are skipped.
  std::vector<std::vector<std::uint32_t>> buckets_;
  std::vector<std::uint32_t> waits_in_;  // of each vertex: the bucket, modulo their number, of its valid entry
  std::vector<std::uint32_t> now_, settled_;
  std::vector<std::uint64_t> settled_in_;  // of each vertex: number of the last bucket in whose `settled_` it is
  std::unique_ptr<Courier> courier_;
  std::uint64_t buckets_emptied_ = 0, rounds_ = 0;
  std::uint64_t relaxed_ = 0, sent_ = 0;  // by this rank
};

}  // namespace plumb::graph500
