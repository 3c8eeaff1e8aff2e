// Checks a search tree, and a graph against its parameters, with an edge list of the validator's own.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/shmem/graph500/graph.hpp"
#include "benchmarks/shmem/graph500/search.hpp"

namespace plumb::graph500 {

// Edges of the list with both ends in the tree.
struct Traversed {
  std::uint64_t edges = 0;  // reference 3.0's count: without loops
  std::uint64_t loops = 0;  // counted by the specification in addition
};

struct Findings {
  std::uint64_t checked = 0, wrong = 0;  // vertices and edges of this rank
  std::string detail;                    // of the first wrong one
  void note(std::string text) {
    if (wrong++ == 0) detail = std::move(text);
  }
  void add(const Findings& later) {
    if (wrong == 0) detail = later.detail;
    checked += later.checked;
    wrong += later.wrong;
  }
};

struct TreeFindings : Findings {
  Traversed traversed;  // of this rank's share of the list
  std::uint64_t reached = 0;
  std::uint32_t levels = 0;  // of the whole tree
  // By level: vertices of the whole tree; ends of edges (without loops) in this rank's share of the list.
  std::vector<std::uint64_t> level_vertices = {}, level_ends = {};
  // Of the same tree: what was counted of its edges and vertices.
  void add(const TreeFindings& later) {
    Findings::add(later);
    traversed.edges += later.traversed.edges;
    traversed.loops += later.traversed.loops;
    reached += later.reached;
    for (std::size_t level = 0; level < level_ends.size(); ++level) level_ends[level] += later.level_ends[level];
  }
};

// Each rank has its share of the list. All calls but the constructor are collective.
class Validator {
 public:
  Validator(Team& team, const Layout& layout, const GraphPlan& plan, bool weighted);

  // Checks every row of this rank: its length, its loops, and a hash of its neighbours (and weights) in any order.
  Findings check(const Graph& graph);
  // Checks every vertex of this rank and every edge of its share, by the specification's rules (README.md): of a
  // breadth-first search, or with distances, of a search for shortest paths.
  TreeFindings check(Vertex root, std::span<const Parent> parents, std::span<const float> distances = {});

  static std::uint64_t bytes(const GraphPlan& plan, int ranks, bool weighted);  // of one rank

 private:
  // What all ranks found, of all vertices.
  struct Tree {
    struct Place {
      std::uint32_t parent, level;  // together: both are looked at for each end of an edge
    };
    std::vector<Place> places;
    std::vector<float> distances;  // empty for breadth-first searches
  };
  template <class T>
  std::vector<T> gathered(std::span<const T> mine);
  Tree tree_of(Vertex root, std::span<const Parent> mine);  // without distances
  void check_edge(TreeFindings& found, const Tree& tree, Bitmap& confirmed, std::size_t edge) const;
  bool is_relaxed(std::size_t edge, const Tree& tree) const;
  // Whether edge `edge` may have made `parent` the parent of `child`.
  bool confirms(std::size_t edge, Vertex parent, Vertex child, const Tree& tree) const;
  static void count_levels(TreeFindings& found, const Tree& tree);
  void check_vertex(TreeFindings& found, const Tree& tree, Vertex root, Vertex vertex, Parent parent,
                    bool confirmed) const;
  void unite(Bitmap& bitmap);

  Team& team_;
  Layout layout_;
  std::vector<std::array<std::uint32_t, 2>> edges_;
  bool weighted_;
  std::vector<float> weights_;  // of edges_, if weighted
};

// Each vertex's distance from the root by its parents, `no_level` if it is unreached, `wrong_level` if its
// parents lead into a circle, to an unreached vertex or nowhere.
inline constexpr std::uint32_t no_level = ~std::uint32_t{0}, wrong_level = no_level - 1;
std::vector<std::uint32_t> levels_of(Vertex root, std::span<const Parent> parents);

}  // namespace plumb::graph500
