#include "benchmarks/apps/shallow_water/region.hpp"

#include <algorithm>
#include <utility>

namespace plumb::shallow_water {

std::size_t Region::index_of(std::uint32_t number) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(numbers, number) - numbers.begin());
}

Region kept(const Mesh& mesh, const Marks& marks) {
  Region region;
  std::vector<std::int32_t> element(mesh.elements(), -1), point(mesh.points.size(), -1);
  for (std::uint32_t e = 0; e < mesh.elements(); ++e) {
    if (!marks[e]) continue;
    element[e] = static_cast<std::int32_t>(region.numbers.size());
    region.numbers.push_back(e);
  }
  for (const std::uint32_t e : region.numbers) {
    std::array<std::uint32_t, 3> corners{};
    std::array<std::int32_t, 3> neighbours{};
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t p = mesh.corners[e][k];
      if (point[p] < 0) {
        point[p] = static_cast<std::int32_t>(region.mesh.points.size());
        region.mesh.points.push_back(mesh.points[p]);
        region.mesh.depths.push_back(mesh.depths[p]);
      }
      corners[k] = static_cast<std::uint32_t>(point[p]);
      const std::int32_t place = mesh.neighbours[e][k];
      const std::int32_t other = place < 0 ? -1 : element[static_cast<std::size_t>(place / 4)];
      neighbours[k] = place < 0 ? place : other < 0 ? land : 4 * other + place % 4;
    }
    region.mesh.corners.push_back(corners);
    region.mesh.neighbours.push_back(neighbours);
  }
  return region;
}

Region refined(Region region, int times) {
  const std::uint32_t children = std::uint32_t{1} << (2 * times);
  Region fine{refined(std::move(region.mesh), times), {}};
  fine.numbers.reserve(fine.mesh.elements());
  for (const std::uint32_t number : region.numbers)
    for (std::uint32_t child = 0; child < children; ++child) fine.numbers.push_back(number * children + child);
  return fine;
}

Marks with_edge_neighbours(const Mesh& mesh, const Marks& marks) {
  Marks more = marks;
  for (std::size_t e = 0; e < mesh.elements(); ++e)
    for (const std::int32_t place : mesh.neighbours[e])
      if (place >= 0 && marks[static_cast<std::size_t>(place / 4)]) more[e] = true;
  return more;
}

Marks with_vertex_neighbours(const Mesh& mesh, const Marks& marks) {
  Marks touched(mesh.points.size()), more(marks.size());
  for (std::size_t e = 0; e < mesh.elements(); ++e)
    for (const std::uint32_t point : mesh.corners[e])
      if (marks[e]) touched[point] = true;
  for (std::size_t e = 0; e < mesh.elements(); ++e)
    more[e] = std::ranges::any_of(mesh.corners[e], [&](std::uint32_t point) { return touched[point]; });
  return more;
}

Marks with_layers(const Mesh& mesh, Marks marks, std::uint64_t layers, int times) {
  const std::uint64_t of_ring = std::uint64_t{1} << times;
  for (std::uint64_t reached = 0; reached < layers; reached += of_ring) {
    Marks more = with_vertex_neighbours(mesh, marks);
    if (more == marks) break;
    marks = std::move(more);
  }
  return marks;
}

}  // namespace plumb::shallow_water
