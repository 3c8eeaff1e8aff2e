// Meshes of triangles with the kinds of their outer edges: generated, refined, or read from ADCIRC's fort.14.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace plumb::shallow_water {

// Kinds of outer edges, as they stand in Mesh::neighbours. Exact edge n is `first_exact - n`.
inline constexpr std::int32_t land = -1, sea = -2, first_exact = -3;

struct Point {
  double x = 0, y = 0;  // m
};

// Triangles are counterclockwise; edge k of one joins its corners k and k + 1 (modulo 3).
struct Mesh {
  std::vector<Point> points;
  std::vector<double> depths;  // h_b of the points, m, positive
  std::vector<std::array<std::uint32_t, 3>> corners;
  // Of each edge: 4 * element + the edge's number there, or a kind.
  std::vector<std::array<std::int32_t, 3>> neighbours;

  std::size_t elements() const { return corners.size(); }
  Point corner(std::size_t element, int k) const { return points[corners[element][static_cast<std::size_t>(k)]]; }
  double depth(std::size_t element, int k) const { return depths[corners[element][static_cast<std::size_t>(k)]]; }
  // Of the triangle at (r, s): corner 0 + r (corner 1 - corner 0) + s (corner 2 - corner 0).
  Point at(std::size_t element, double r, double s) const;
  double area(std::size_t element) const;
  Point centre(std::size_t element) const { return at(element, 1.0 / 3, 1.0 / 3); }
};

inline constexpr std::size_t most_elements = (std::size_t{1} << 29) - 1;  // 4 * element is an int

// An outer edge by its two points, in either order, its kind, and the line of a file that says so.
struct OuterEdge {
  std::uint32_t from = 0, to = 0;
  std::int32_t kind = land;
  std::uint64_t line = 0;
};

// An error in a mesh: of an element, of a point, or of an outer edge, by its line; -1 or 0 where it is none.
struct MeshError : UsageError {
  MeshError(const std::string& sentence, std::int64_t of_element, std::int64_t of_point = -1, std::uint64_t of_line = 0)
      : UsageError(sentence), element(of_element), point(of_point), line(of_line) {}
  std::int64_t element, point;
  std::uint64_t line;
};

// Finds the neighbours of `mesh`, whose points and corners are set, and checks it: throws MeshError for a triangle
// without area, an unused point, a depth that is not positive, an edge in three triangles, an outer edge without a
// kind or of two, and parts that are not connected. Clockwise triangles are turned round. `labels`: the points' names
// in sentences; otherwise they count from 1.
void link(Mesh& mesh, const std::vector<OuterEdge>& outer, const std::vector<std::uint64_t>& labels = {});
void make_outer_edges_exact(Mesh& mesh);

// Each triangle cut into four, `times` times; h_b stays what it was everywhere. Children of element e are 4e to 4e + 3.
Mesh refined(Mesh mesh, int times);

// nx x ny squares cut in two, width x height metres, h_b by a function of place; all edges land.
template <class Depth>
Mesh rectangle(std::uint32_t nx, std::uint32_t ny, double width, double height, Depth depth);
// A ring of `around` x `across` quadrilaterals cut in two; land at the inner radius, sea at the outer one.
template <class Depth>
Mesh annulus(std::uint32_t around, std::uint32_t across, double inner, double outer, Depth depth);

// ADCIRC's grid file. Throws UsageError that names file and line. Land is boundary type 0, 10, 20, islands 1, 11, 21;
// open boundaries are sea. Coordinates are metres; with `degrees`, longitude and latitude, projected (Carte
// parallelogrammatique).
Mesh read_fort14(const std::string& text, const std::string& name, bool degrees);
std::string write_fort14(const Mesh& mesh, const std::string& title);

// ---

namespace detail {
// A grid of (columns + 1) x (rows + 1) points, or of columns x (rows + 1) where it closes in the first direction.
Mesh grid(std::uint32_t columns, std::uint32_t rows, bool closes);
void link_grid(Mesh& mesh, std::uint32_t columns, std::uint32_t rows, bool closes);
Point on_ring(double radius, double turn);
}  // namespace detail

template <class Depth>
Mesh rectangle(std::uint32_t nx, std::uint32_t ny, double width, double height, Depth depth) {
  Mesh mesh = detail::grid(nx, ny, false);
  for (std::uint32_t j = 0; j <= ny; ++j)
    for (std::uint32_t i = 0; i <= nx; ++i) {
      const Point p{width * i / nx, height * j / ny};
      mesh.points.push_back(p);
      mesh.depths.push_back(depth(p));
    }
  detail::link_grid(mesh, nx, ny, false);
  return mesh;
}

template <class Depth>
Mesh annulus(std::uint32_t around, std::uint32_t across, double inner, double outer, Depth depth) {
  Mesh mesh = detail::grid(around, across, true);
  for (std::uint32_t j = 0; j <= across; ++j)
    for (std::uint32_t i = 0; i < around; ++i) {
      const Point p = detail::on_ring(inner + (outer - inner) * j / across, static_cast<double>(i) / around);
      mesh.points.push_back(p);
      mesh.depths.push_back(depth(p));
    }
  detail::link_grid(mesh, around, across, true);
  return mesh;
}

}  // namespace plumb::shallow_water
