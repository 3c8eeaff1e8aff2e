// The list of edges: the Kronecker graph of Graph500, edge by edge, bit for bit as in reference 3.0 (and, on
// request, 2.1): any rank makes any range of edges. Sources: Graph500 specification, sections 3 and 4; P. L'Ecuyer, F.
// Blouin, R. Couture, "A search for good multiple recursive random number generators", 1993.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace plumb::graph500 {

using Vertex = std::uint64_t;

struct Edge {
  Vertex from = 0, to = 0;
  bool is_loop() const { return from == to; }
  bool operator==(const Edge&) const = default;
};

// x(n) = 107374182 x(n-1) + 104480 x(n-5) modulo 2^31 - 1.
class Random {
 public:
  static constexpr std::uint64_t modulus = (std::uint64_t{1} << 31) - 1;
  using State = std::array<std::uint64_t, 5>;  // newest first, each below the modulus

  Random(std::uint64_t seed_1, std::uint64_t seed_2);
  explicit Random(const State& state) : state_(state) {}

  std::uint64_t draw() {
    const std::uint64_t next = reduced(107374182 * state_[0] + 104480 * state_[4]);
    state_ = {next, state_[0], state_[1], state_[2], state_[3]};
    return next;
  }
  // In [0, 1), of two draws.
  double number();
  // Skips high * 2^128 + middle * 2^64 + low steps.
  Random skipped(std::uint64_t high, std::uint64_t middle, std::uint64_t low) const;
  const State& state() const { return state_; }
  // A step's matrix to the power of 2^k, row by row, k below 192: column vectors of states are multiplied by it.
  static const std::array<std::array<std::uint64_t, 5>, 5>& power(std::size_t k);

  // For any x below 2^63.
  static std::uint64_t reduced(std::uint64_t x) {
    x = (x & modulus) + (x >> 31);
    x = (x & modulus) + (x >> 31);
    return x >= modulus ? x - modulus : x;
  }

 private:
  State state_;
};

struct GraphPlan {
  int scale = 16;  // log2 of the number of vertices
  std::uint64_t edge_factor = 16;
  std::uint64_t seed_1 = 2, seed_2 = 3;
  bool generator_2_1 = false;  // draws of a quadrant with version 2.1's rejection: another graph
  enum class Kind { kronecker, erdos_renyi, file } kind = Kind::kronecker;
  std::string file = {};  // edges_file.hpp's layout
  std::uint64_t edges_of_file = 0;

  std::uint64_t vertices() const { return std::uint64_t{1} << scale; }
  std::uint64_t edges() const { return kind == Kind::file ? edges_of_file : edge_factor << scale; }
};

// Some edges with their weights, if these were asked for.
struct EdgeList {
  std::vector<Edge> edges;
  std::vector<float> weights;
};

// A range of the list's edges.
struct EdgeRange {
  std::uint64_t first = 0, count = 0;
};

// The share of `rank` in all edges: even, in order.
EdgeRange share_of(std::uint64_t edges, int rank, int ranks);

class Generator {
 public:
  explicit Generator(const GraphPlan& plan);

  // Makes the edges from `range.first` into `edges`, and their weights, in [0, 1], into `weights` unless that is empty;
  // or reads them: long ranges by all cores of this rank. Throws Error if the file cannot be read.
  void make(const EdgeRange& range, std::span<Edge> edges, std::span<float> weights = {}) const;
  // Candidate k for a root: any vertex, including those without edges.
  Vertex root_candidate(std::uint64_t k) const;

  // For the kernel that makes the same edges.
  const Random& start() const { return start_; }
  std::uint64_t least_draw() const { return least_draw_; }
  const std::uint64_t* scramble() const { return scramble_; }  // two words

 private:
  void draw_edges(std::uint64_t first, std::span<Edge> edges, std::span<float> weights) const;
  Vertex any_vertex(Random& random) const;
  int quadrant(Random& random) const;
  Edge edge(Random& random) const;
  Vertex scrambled(Vertex vertex) const;

  GraphPlan plan_;
  Random start_;
  std::uint64_t least_draw_;
  std::uint64_t scramble_[2];
};

}  // namespace plumb::graph500
