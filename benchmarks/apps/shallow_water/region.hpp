// What a rank keeps of a mesh: elements of a coarse one, which it refines by itself.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/apps/shallow_water/mesh.hpp"

namespace plumb::shallow_water {

using Marks = std::vector<bool>;  // of a mesh's elements

// Points, h_b and neighbours are the whole mesh's, but edges to elements that are not kept are land.
struct Region {
  Mesh mesh;
  std::vector<std::uint32_t> numbers;  // of its elements in the whole mesh, ascending

  // Index of the element with this number, which must be here.
  std::size_t index_of(std::uint32_t number) const;
};

// The marked elements.
Region kept(const Mesh& mesh, const Marks& marks);
// Each triangle cut into four, `times` times, with the bits and numbers of the whole mesh's refinement.
Region refined(Region region, int times);

// The marked elements and all that share an edge, or a vertex, with one of them.
Marks with_edge_neighbours(const Mesh& mesh, const Marks& marks);
Marks with_vertex_neighbours(const Mesh& mesh, const Marks& marks);
// The elements of `mesh` that hold all elements within `layers` edges of the marked ones, once each is cut into four
// `times` times. (With 1 at the corners of the marked elements, linear, a layer lowers an element's least value by
// 2^-times at most, and elements that share no vertex with a marked one have 0 everywhere.)
Marks with_layers(const Mesh& mesh, Marks marks, std::uint64_t layers, int times);

}  // namespace plumb::shallow_water
