#include "benchmarks/shmem/graph500/direction_optimising.hpp"

#include <bit>

namespace plumb::graph500 {

DirectionOptimising::DirectionOptimising(World& world, Team& team, const Graph& graph, const SearchPlan& plan)
    : TopDown(world, team, graph, courier_of(best_courier(), team.size())),
      alpha_(plan.alpha),
      beta_(plan.beta),
      all_ends_(team.all_reduce<std::uint64_t>(graph.neighbours.size(), Fold::sum)),
      level_(layout_.vertices()),
      mine_(layout_.count()) {
  for (int rank = 0; rank < layout_.ranks(); ++rank) words_of_rank_.push_back((layout_.count_of(rank) + 63) / 64);
}

void DirectionOptimising::run(Vertex root) {
  start(root);
  bottom_up_levels_ = 0;
  std::uint64_t ends_left = all_ends_;
  bool bottom_up = false;
  for (Size level = size_of_level(); level.vertices > 0; level = size_of_level()) {
    ends_left -= level.ends;
    if (bottom_up)
      bottom_up = static_cast<double>(level.vertices) * beta_ >= static_cast<double>(layout_.vertices());
    else
      bottom_up = static_cast<double>(level.ends) * alpha_ > static_cast<double>(ends_left);
    if (bottom_up)
      look_up();
    else
      follow();
    std::swap(frontier_, next_);
    next_.clear();
  }
}

DirectionOptimising::Size DirectionOptimising::size_of_level() {
  std::uint64_t sums[] = {frontier_.size(), 0};
  for (const std::uint32_t local : frontier_) sums[1] += graph_.degree(local);
  team_.all_reduce(std::span<std::uint64_t>(sums), Fold::sum);
  return {sums[0], sums[1]};
}

void DirectionOptimising::look_up() {
  ++bottom_up_levels_;
  mine_.clear();
  for (const std::uint32_t local : frontier_) mine_.set(local);
  gather(mine_, level_);
  const std::span<std::uint64_t> known = known_.words().subspan(layout_.first() / 64, mine_.words().size());
  for (std::size_t word = 0; word < known.size(); ++word) {
    const std::uint64_t before = known[word];
    for (std::uint64_t left = ~before; left != 0; left &= left - 1) {
      const std::uint64_t local = 64 * word + static_cast<std::uint64_t>(std::countr_zero(left));
      if (local >= layout_.count()) break;
      for (const std::uint32_t other : graph_.row(local)) {
        if (!level_.test(other)) continue;
        known[word] |= left & -left;
        reach(local, other);
        break;
      }
    }
  }
}

}  // namespace plumb::graph500
