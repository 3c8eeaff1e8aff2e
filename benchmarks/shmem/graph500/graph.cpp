#include "benchmarks/shmem/graph500/graph.hpp"

#include <algorithm>
#include <numeric>

namespace plumb::graph500 {

namespace {

constexpr std::size_t words_at_a_time = std::size_t{1} << 20;

}  // namespace

Layout::Layout(std::uint64_t vertices, int rank, int ranks) : vertices_(vertices), rank_(rank), ranks_(ranks) {
  const std::uint64_t words = (vertices + 63) / 64, all = static_cast<std::uint64_t>(ranks);
  block_ = 64 * ((words + all - 1) / all);
  if (std::has_single_bit(block_)) shift_ = std::countr_zero(block_);
  first_ = first_of(rank);
  count_ = count_of(rank);
}

Vertex Layout::first_of(int rank) const {
  return std::min(vertices_, static_cast<std::uint64_t>(rank) * block_);
}

std::uint64_t Layout::count_of(int rank) const {
  return first_of(rank + 1) - first_of(rank);
}

std::uint64_t construction_bytes(const GraphPlan& plan, int ranks) {
  const std::uint64_t edges = plan.edges() / static_cast<std::uint64_t>(ranks) + 1;
  return edges * (sizeof(Edge) + 2 * sizeof(std::uint64_t) + 2 * sizeof(std::uint32_t));
}

// Word i: edge i/2 from its first or its second end, {end's place in its rank, other end}.
Graph construct(Team& team, std::uint64_t vertices, std::span<const Edge> edges) {
  Graph graph{Layout(vertices, team.rank(), team.size()), {}, {}, {}};
  const Layout& layout = graph.layout;
  const auto word_of = [&](std::uint64_t i) -> Addressed {
    const Edge& edge = edges[i / 2];
    const Vertex end = i % 2 == 0 ? edge.from : edge.to, other = i % 2 == 0 ? edge.to : edge.from;
    if (edge.is_loop() && i % 2 == 1) return {};
    const int owner = layout.owner(end);
    return {owner, (end - layout.first_of(owner)) << 32 | other};
  };
  std::vector<std::uint64_t> ends;
  ends.reserve(2 * edges.size());
  graph.begins.resize(layout.count() + 1);
  graph.loops.resize(layout.count());
  Scatter(team, words_at_a_time).run(2 * edges.size(), word_of, [&](std::span<const std::uint64_t> words) {
    for (const std::uint64_t word : words) {
      const std::uint64_t local = word >> 32;
      if (layout.first() + local == (word & 0xffffffffu)) {
        ++graph.loops[local];
      } else {
        ++graph.begins[local + 1];
        ends.push_back(word);
      }
    }
  });
  std::partial_sum(graph.begins.begin(), graph.begins.end(), graph.begins.begin());
  std::vector<std::uint64_t> next(graph.begins.begin(), graph.begins.end() - 1);
  graph.neighbours.resize(ends.size());
  for (const std::uint64_t word : ends) graph.neighbours[next[word >> 32]++] = static_cast<std::uint32_t>(word);
  return graph;
}

}  // namespace plumb::graph500
