// The distribution of a mesh's elements among ranks, and what each rank keeps of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "benchmarks/apps/shallow_water/mesh.hpp"

namespace plumb::shallow_water {

// Rank of each element.
using Owners = std::vector<std::int32_t>;

// Recursive bisection by coordinates: at each level the elements' centres are cut across their longer extent, in
// proportion to the ranks of both sides.
Owners bisected(const Mesh& mesh, int ranks);
// Any rank for each element, with equal numbers: the worst partition.
Owners scattered(const Mesh& mesh, int ranks, std::uint64_t seed);
// By METIS (libmetis, loaded at run time): k-way, contiguous parts, fixed seed; with `few_neighbours` it minimises the
// largest number of neighbours as well. Throws UsageError with the package to install.
Owners by_metis(const Mesh& mesh, int ranks, bool few_neighbours);
bool metis_is_here();
// A METIS .part file: the rank of each element, one a line. Throws UsageError that names the line.
Owners read_owners(const std::string& text, const std::string& name, std::size_t elements, int ranks);

// What one rank keeps. Indices are of the mesh that it holds, in which elements follow one another as in the whole one.

// Exchange with one rank: elements by their local number.
struct Neighbour {
  int rank = 0;
  std::vector<std::uint32_t> sends;                // own elements at the border with it, by index
  std::uint32_t receives = 0, first_received = 0;  // of the halo, likewise ordered
};

// Local numbers: core elements, without neighbours on other ranks, then those of the border, then the halo, by rank;
// each ordered by index.
struct Part {
  std::vector<std::uint32_t> index;  // of each local element, with the halo
  std::uint32_t core = 0, own = 0;
  std::vector<Neighbour> neighbours;
  // As in Mesh, of own elements, with local numbers; exact edges keep their numbers.
  std::vector<std::array<std::int32_t, 3>> places;

  std::uint32_t halo() const { return static_cast<std::uint32_t>(index.size()) - own; }
  std::uint32_t sent() const;      // elements in messages
  std::uint32_t external() const;  // D_ext: land and sea edges
};
Part part_of(const Mesh& mesh, const Owners& owners, int rank);

// Elements of each rank.
std::vector<std::uint32_t> shares_of(const Owners& owners, int ranks);

// The partition as a graph in METIS's form: a vertex a rank, weighed by its elements; an edge between neighbours,
// weighed by the elements sent from one to the other. Of each rank its elements, and those that it sends by neighbour.
struct Shared {
  std::uint32_t elements = 0;
  std::map<int, std::uint32_t> sent = {};
};
std::string graph_of(const std::vector<Shared>& ranks);

}  // namespace plumb::shallow_water
