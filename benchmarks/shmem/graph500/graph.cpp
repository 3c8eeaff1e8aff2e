#include "benchmarks/shmem/graph500/graph.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

namespace plumb::graph500 {

namespace {

constexpr std::size_t words_at_a_time = std::size_t{1} << 20;

// An edge as one of its ends keeps it.
struct End {
  std::uint32_t local = 0, other = 0;  // place among its rank's vertices; vertex
};
struct WeightedEnd : End {
  float weight = 0;
};

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

std::uint64_t construction_bytes(const GraphPlan& plan, int ranks, bool weighted) {
  const std::uint64_t edges = plan.edges() / static_cast<std::uint64_t>(ranks) + 1;
  const std::uint64_t of_edge = sizeof(Edge) + 2 * sizeof(End) + 2 * sizeof(std::uint32_t);
  return edges *
         (of_edge + (weighted ? sizeof(float) + 2 * (sizeof(WeightedEnd) - sizeof(End)) + 2 * sizeof(float) : 0));
}

namespace {

// Word i: edge i/2 from its first or its second end.
template <class Word>
Graph constructed(Team& team, std::uint64_t vertices, std::span<const Edge> edges, std::span<const float> weights) {
  constexpr bool weighted = std::is_same_v<Word, WeightedEnd>;
  Graph graph{Layout(vertices, team.rank(), team.size()), {}, {}, {}};
  const Layout& layout = graph.layout;
  const auto word_of = [&](std::uint64_t i) -> typename Scatter<Word>::Addressed {
    const Edge& edge = edges[i / 2];
    const Vertex end = i % 2 == 0 ? edge.from : edge.to, other = i % 2 == 0 ? edge.to : edge.from;
    if (edge.is_loop() && i % 2 == 1) return {};
    const int owner = layout.owner(end);
    Word word;
    word.local = static_cast<std::uint32_t>(end - layout.first_of(owner));
    word.other = static_cast<std::uint32_t>(other);
    if constexpr (weighted) word.weight = weights[i / 2];
    return {owner, word};
  };
  std::vector<Word> ends;
  ends.reserve(2 * edges.size());
  graph.begins.resize(layout.count() + 1);
  graph.loops.resize(layout.count());
  Scatter<Word>(team, words_at_a_time).run(2 * edges.size(), word_of, [&](std::span<const Word> words) {
    for (const Word& word : words) {
      if (layout.first() + word.local == word.other) {
        ++graph.loops[word.local];
      } else {
        ++graph.begins[word.local + 1];
        ends.push_back(word);
      }
    }
  });
  std::partial_sum(graph.begins.begin(), graph.begins.end(), graph.begins.begin());
  std::vector<std::uint64_t> next(graph.begins.begin(), graph.begins.end() - 1);
  graph.neighbours.resize(ends.size());
  if constexpr (weighted) graph.weights.resize(ends.size());
  for (const Word& word : ends) {
    const std::uint64_t place = next[word.local]++;
    graph.neighbours[place] = word.other;
    if constexpr (weighted) graph.weights[place] = word.weight;
  }
  return graph;
}

}  // namespace

Graph construct(Team& team, std::uint64_t vertices, std::span<const Edge> edges, std::span<const float> weights) {
  // A rank without edges has no weights either: all must use one kind of word.
  const bool weighted = team.all_reduce<std::uint64_t>(weights.size(), Fold::maximum) > 0;
  return weighted ? constructed<WeightedEnd>(team, vertices, edges, weights)
                  : constructed<End>(team, vertices, edges, weights);
}

void divide(Graph& graph, float delta) {
  graph.heavy.resize(graph.layout.count());
  std::vector<std::pair<std::uint32_t, float>> heavy;
  for (std::uint64_t local = 0; local < graph.layout.count(); ++local) {
    std::uint64_t light = graph.begins[local];
    heavy.clear();
    for (std::uint64_t i = graph.begins[local]; i < graph.begins[local + 1]; ++i) {
      if (graph.weights[i] < delta) {
        graph.neighbours[light] = graph.neighbours[i];
        graph.weights[light++] = graph.weights[i];
      } else {
        heavy.emplace_back(graph.neighbours[i], graph.weights[i]);
      }
    }
    graph.heavy[local] = light;
    for (const auto& [neighbour, weight] : heavy) {
      graph.neighbours[light] = neighbour;
      graph.weights[light++] = weight;
    }
  }
}

}  // namespace plumb::graph500
