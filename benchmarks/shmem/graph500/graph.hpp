// The graph for the searches: each rank has the adjacency of a range of vertices (kernel 1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "benchmarks/shmem/graph500/generator.hpp"
#include "world/team.hpp"

namespace plumb::graph500 {

// Vertices by rank: equal numbers, in order, a multiple of 64, so that a word of a bitmap belongs to one rank; the last
// ranks may have fewer, or none.
class Layout {
 public:
  Layout(std::uint64_t vertices, int rank, int ranks);

  std::uint64_t vertices() const { return vertices_; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  std::uint64_t block() const { return block_; }  // vertices per rank, at most
  Vertex first() const { return first_of(rank_); }
  std::uint64_t count() const { return count_of(rank_); }
  Vertex first_of(int rank) const;
  std::uint64_t count_of(int rank) const;
  int owner(Vertex vertex) const { return static_cast<int>(shift_ >= 0 ? vertex >> shift_ : vertex / block_); }
  bool is_mine(Vertex vertex) const { return vertex - first_ < count_; }

 private:
  std::uint64_t vertices_, block_;
  int rank_, ranks_;
  int shift_ = -1;  // log2 of block_ if that is a power of two
  Vertex first_ = 0;
  std::uint64_t count_ = 0;
};

// Rows of this rank's vertices: each edge is in the rows of both ends, as often as in the list; loops are left out.
struct Graph {
  Layout layout;
  std::vector<std::uint64_t> begins;      // start of each row, and the end: count() + 1
  std::vector<std::uint32_t> neighbours;  // vertices, row by row
  std::vector<std::uint32_t> loops;       // of each vertex
  std::vector<float> weights = {};        // of the edges to `neighbours`; empty if only breadth-first searches follow
  // Of each row, where its heavy edges begin (divide()); empty without weights.
  std::vector<std::uint64_t> heavy = {};

  std::span<const std::uint32_t> row(std::uint64_t local) const {
    return std::span(neighbours).subspan(begins[local], begins[local + 1] - begins[local]);
  }
  std::uint64_t degree(std::uint64_t local) const { return begins[local + 1] - begins[local]; }
};

inline constexpr int largest_scale = 32;  // with 32-bit neighbours

// Makes the adjacency from this rank's share of the list, with weights if there are any. Collective.
Graph construct(Team& team, std::uint64_t vertices, std::span<const Edge> edges, std::span<const float> weights = {});

// Orders each row of a graph with weights: edges below `delta` (light) first.
void divide(Graph& graph, float delta);

// Approximate bytes per rank while it is made: two lists of both ends.
std::uint64_t construction_bytes(const GraphPlan& plan, int ranks, bool weighted);

// Sends words to ranks in one call, in pieces that MPI can count, and passes received ones to `take`. Collective.
template <class Word>
class Scatter {
 public:
  struct Addressed {
    int rank = -1;
    Word word = {};
  };
  Scatter(Team& team, std::size_t pieces) : team_(team), pieces_(pieces) {}
  // `word_of(i)` gives word i of `words` and its owner: {rank, word}; rank -1: none.
  template <class WordOf, class Take>
  void run(std::uint64_t words, WordOf word_of, Take take);

 private:
  Team& team_;
  std::size_t pieces_;
};

template <class Word>
template <class WordOf, class Take>
void Scatter<Word>::run(std::uint64_t words, WordOf word_of, Take take) {
  const auto ranks = static_cast<std::size_t>(team_.size());
  const std::uint64_t rounds = team_.all_reduce((words + pieces_ - 1) / pieces_, Fold::maximum);
  std::vector<Addressed> some;
  std::vector<Word> sent, received;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t begin = std::min(words, round * pieces_), end = std::min(words, begin + pieces_);
    some.clear();
    std::vector<std::size_t> counts(ranks), incoming(ranks), places(ranks), ones(ranks, 1);
    for (std::uint64_t i = begin; i < end; ++i)
      if (const Addressed one = word_of(i); one.rank >= 0) {
        some.push_back(one);
        ++counts[static_cast<std::size_t>(one.rank)];
      }
    std::size_t total = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      places[rank] = total;
      total += counts[rank];
    }
    sent.resize(total);
    for (const Addressed& one : some) sent[places[static_cast<std::size_t>(one.rank)]++] = one.word;
    team_.all_to_all<std::size_t>(counts, ones, incoming, ones);
    total = 0;
    for (const std::size_t count : incoming) total += count;
    received.resize(total);
    team_.all_to_all<Word>(sent, counts, received, incoming);
    take(std::span<const Word>(received));
  }
}

}  // namespace plumb::graph500
