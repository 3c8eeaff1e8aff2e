// Variant `direction-optimising`: S. Beamer, K. Asanovic, D. Patterson, "Direction-optimizing breadth-first search",
// 2012. Levels of few vertices are followed top-down; in levels of many, each unreached vertex
// searches its neighbours for one of the level, in a bitmap that all ranks gather.
#pragma once

#include <vector>

#include "benchmarks/shmem/graph500/search.hpp"

namespace plumb::graph500 {

class DirectionOptimising : public TopDown {
 public:
  DirectionOptimising(World& world, Team& team, const Graph& graph, const SearchPlan& plan);
  void run(Vertex root) override;
  Json facts() const override { return {{"bottom_up_levels", bottom_up_levels_}}; }

 protected:
  // Gathers all ranks' bits of the last level from each rank's own.
  virtual void gather(Bitmap& mine, Bitmap& all) {
    team_.all_gather<std::uint64_t>(mine.words(), all.words(), words_of_rank_);
  }

 private:
  struct Size {
    std::uint64_t vertices = 0, ends = 0;  // of the frontier; of its edges
  };
  Size size_of_level();
  void look_up();

  double alpha_, beta_;
  std::uint64_t all_ends_;  // of all ranks' edges
  Bitmap level_, mine_;     // the frontier: of all ranks, of this one
  std::vector<std::size_t> words_of_rank_;
  int bottom_up_levels_ = 0;
};

}  // namespace plumb::graph500
