#include "benchmarks/apps/shallow_water/mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace plumb::shallow_water {

namespace {

constexpr std::int32_t unset = INT32_MIN;

// An edge of a triangle, by its points, the lower first.
struct Side {
  std::uint32_t low = 0, high = 0;
  std::int32_t place = 0;  // 4 * element + edge
  auto ends() const { return std::pair(low, high); }
};

std::vector<Side> sides_of(const Mesh& mesh) {
  std::vector<Side> sides;
  sides.reserve(3 * mesh.elements());
  for (std::size_t e = 0; e < mesh.elements(); ++e)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = mesh.corners[e][k], b = mesh.corners[e][(k + 1) % 3];
      sides.push_back({std::min(a, b), std::max(a, b), static_cast<std::int32_t>(4 * e + k)});
    }
  std::ranges::sort(sides, {}, [](const Side& side) { return std::tuple(side.low, side.high, side.place); });
  return sides;
}

std::int32_t& neighbour_of(Mesh& mesh, std::int32_t place) {
  return mesh.neighbours[static_cast<std::size_t>(place / 4)][static_cast<std::size_t>(place % 4)];
}

// Of a point, in sentences.
std::uint64_t label_of(std::uint32_t point, const std::vector<std::uint64_t>& labels) {
  return labels.empty() ? std::uint64_t{point} + 1 : labels[point];
}

void check_triangles(Mesh& mesh, const std::vector<std::uint64_t>& labels) {
  std::vector<bool> used(mesh.points.size());
  for (std::size_t e = 0; e < mesh.elements(); ++e) {
    for (const std::uint32_t point : mesh.corners[e]) used[point] = true;
    double area = mesh.area(e);
    if (area < 0) {
      std::swap(mesh.corners[e][1], mesh.corners[e][2]);
      area = -area;
    }
    double longest = 0;
    for (int k = 0; k < 3; ++k) {
      const Point a = mesh.corner(e, k), b = mesh.corner(e, (k + 1) % 3);
      longest = std::max(longest, std::hypot(a.x - b.x, a.y - b.y));
    }
    if (!(area > 1e-12 * longest * longest))
      throw MeshError(fmt::format("element {} has no area", e + 1), static_cast<std::int64_t>(e));
  }
  for (std::uint32_t point = 0; point < used.size(); ++point) {
    const std::uint64_t label = label_of(point, labels);
    if (!used[point]) throw MeshError(fmt::format("vertex {} is in no element", label), -1, point);
    if (!(mesh.depths[point] > 0))
      throw MeshError(fmt::format("the depth of vertex {} is {}, but must be positive", label, mesh.depths[point]), -1,
                      point);
  }
}

void set_kinds(Mesh& mesh, const std::vector<Side>& sides, const std::vector<OuterEdge>& outer,
               const std::vector<std::uint64_t>& labels) {
  for (const OuterEdge& edge : outer) {
    const std::pair<std::uint32_t, std::uint32_t> ends = std::minmax(edge.from, edge.to);
    const auto refuse = [&](const char* sentence) {
      throw MeshError(
          fmt::format("vertices {} and {} are {}", label_of(edge.from, labels), label_of(edge.to, labels), sentence),
          -1, edge.from, edge.line);
    };
    const auto found = std::ranges::lower_bound(sides, ends, {}, &Side::ends);
    if (found == sides.end() || found->ends() != ends || neighbour_of(mesh, found->place) >= 0)
      refuse("not the ends of an outer edge");
    std::int32_t& kind = neighbour_of(mesh, found->place);
    if (kind != unset && kind != edge.kind) refuse("the ends of an edge that is both sea and land");
    kind = edge.kind;
  }
}

void check_connected(const Mesh& mesh) {
  std::vector<bool> seen(mesh.elements());
  std::vector<std::size_t> open{0};
  seen[0] = true;
  std::size_t reached = 0;
  while (!open.empty()) {
    const std::size_t e = open.back();
    open.pop_back();
    ++reached;
    for (const std::int32_t place : mesh.neighbours[e])
      if (const auto other = static_cast<std::size_t>(place / 4); place >= 0 && !seen[other]) {
        seen[other] = true;
        open.push_back(other);
      }
  }
  if (reached == mesh.elements()) return;
  const auto first = std::ranges::find(seen, false) - seen.begin();
  throw MeshError(fmt::format("the mesh is in several parts: element {} is not connected with element 1", first + 1),
                  first);
}

}  // namespace

Point Mesh::at(std::size_t element, double r, double s) const {
  const Point a = corner(element, 0), b = corner(element, 1), c = corner(element, 2);
  return {a.x + r * (b.x - a.x) + s * (c.x - a.x), a.y + r * (b.y - a.y) + s * (c.y - a.y)};
}

double Mesh::area(std::size_t element) const {
  const Point a = corner(element, 0), b = corner(element, 1), c = corner(element, 2);
  return 0.5 * ((b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y));
}

void link(Mesh& mesh, const std::vector<OuterEdge>& outer, const std::vector<std::uint64_t>& labels) {
  if (mesh.elements() == 0) throw MeshError("the mesh has no elements", -1);
  check_triangles(mesh, labels);
  mesh.neighbours.assign(mesh.elements(), {unset, unset, unset});
  const std::vector<Side> sides = sides_of(mesh);
  for (std::size_t i = 0; i < sides.size();) {
    const std::size_t next = i + 1;
    if (next + 1 < sides.size() && sides[next + 1].ends() == sides[i].ends())
      throw MeshError(fmt::format("the edge between vertices {} and {} is in three elements",
                                  label_of(sides[i].low, labels), label_of(sides[i].high, labels)),
                      sides[next + 1].place / 4);
    if (next < sides.size() && sides[next].ends() == sides[i].ends()) {
      neighbour_of(mesh, sides[i].place) = sides[next].place;
      neighbour_of(mesh, sides[next].place) = sides[i].place;
      i += 2;
    } else {
      ++i;
    }
  }
  set_kinds(mesh, sides, outer, labels);
  for (const Side& side : sides)
    if (neighbour_of(mesh, side.place) == unset)
      throw MeshError(fmt::format("the outer edge between vertices {} and {} has no kind: it is in no boundary",
                                  label_of(side.low, labels), label_of(side.high, labels)),
                      side.place / 4);
  check_connected(mesh);
}

void make_outer_edges_exact(Mesh& mesh) {
  std::int32_t next = first_exact;
  for (auto& three : mesh.neighbours)
    for (std::int32_t& place : three)
      if (place < 0) place = next--;
}

namespace {

Mesh cut(const Mesh& whole) {
  Mesh mesh;
  std::size_t points = whole.points.size();
  for (std::size_t e = 0; e < whole.elements(); ++e)
    points += static_cast<std::size_t>(std::ranges::count_if(
        whole.neighbours[e], [&](std::int32_t place) { return place < 0 || static_cast<std::size_t>(place / 4) > e; }));
  mesh.points.reserve(points);
  mesh.depths.reserve(points);
  mesh.points.insert(mesh.points.end(), whole.points.begin(), whole.points.end());
  mesh.depths.insert(mesh.depths.end(), whole.depths.begin(), whole.depths.end());
  mesh.corners.reserve(4 * whole.elements());
  mesh.neighbours.reserve(4 * whole.elements());
  std::vector<std::array<std::uint32_t, 3>> middles(whole.elements());
  for (std::size_t e = 0; e < whole.elements(); ++e)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int32_t place = whole.neighbours[e][k];
      const auto other = static_cast<std::size_t>(place / 4);
      if (place >= 0 && other < e) {
        middles[e][k] = middles[other][static_cast<std::size_t>(place % 4)];
        continue;
      }
      const std::uint32_t a = whole.corners[e][k], b = whole.corners[e][(k + 1) % 3];
      const Point p = whole.points[a], q = whole.points[b];
      middles[e][k] = static_cast<std::uint32_t>(mesh.points.size());
      mesh.points.push_back({0.5 * (p.x + q.x), 0.5 * (p.y + q.y)});
      mesh.depths.push_back(0.5 * (whole.depths[a] + whole.depths[b]));
    }
  // Child k has corner k; edge 0 is the first half of edge k, edge 2 the second half of edge k + 2. Child 3 is the
  // middle one: its edge k is edge 1 of child k + 1.
  for (std::size_t e = 0; e < whole.elements(); ++e) {
    const auto child = [](std::size_t of, std::size_t k, std::size_t edge) {
      return static_cast<std::int32_t>(4 * (4 * of + k) + edge);
    };
    const auto half = [&](std::size_t k, bool first) {
      const std::int32_t place = whole.neighbours[e][k];
      if (place < 0) return place;
      const auto other = static_cast<std::size_t>(place / 4), edge = static_cast<std::size_t>(place % 4);
      return first ? child(other, (edge + 1) % 3, 2) : child(other, edge, 0);
    };
    for (std::size_t k = 0; k < 3; ++k) {
      mesh.corners.push_back({whole.corners[e][k], middles[e][k], middles[e][(k + 2) % 3]});
      mesh.neighbours.push_back({half(k, true), child(e, 3, (k + 2) % 3), half((k + 2) % 3, false)});
    }
    mesh.corners.push_back({middles[e][0], middles[e][1], middles[e][2]});
    mesh.neighbours.push_back({child(e, 1, 1), child(e, 2, 1), child(e, 0, 1)});
  }
  return mesh;
}

}  // namespace

Mesh refined(Mesh mesh, int times) {
  for (int i = 0; i < times; ++i) mesh = cut(mesh);
  return mesh;
}

namespace detail {

Mesh grid(std::uint32_t columns, std::uint32_t rows, bool closes) {
  Mesh mesh;
  const std::uint32_t width = closes ? columns : columns + 1;
  for (std::uint32_t j = 0; j < rows; ++j)
    for (std::uint32_t i = 0; i < columns; ++i) {
      const std::uint32_t next = (i + 1) % width, a = j * width + i, b = j * width + next, c = a + width, d = b + width;
      // The diagonal alternates, so that the mesh prefers no direction.
      if ((i + j) % 2 == 0) {
        mesh.corners.push_back({a, b, d});
        mesh.corners.push_back({a, d, c});
      } else {
        mesh.corners.push_back({a, b, c});
        mesh.corners.push_back({b, d, c});
      }
    }
  return mesh;
}

void link_grid(Mesh& mesh, std::uint32_t columns, std::uint32_t rows, bool closes) {
  std::vector<OuterEdge> outer;
  const std::uint32_t width = closes ? columns : columns + 1;
  for (std::uint32_t i = 0; i < columns; ++i) {
    outer.push_back({i, (i + 1) % width, land});
    outer.push_back({rows * width + i, rows * width + (i + 1) % width, closes ? sea : land});
  }
  for (std::uint32_t j = 0; j < rows && !closes; ++j) {
    outer.push_back({j * width, (j + 1) * width, land});
    outer.push_back({j * width + columns, (j + 1) * width + columns, land});
  }
  link(mesh, outer);
}

Point on_ring(double radius, double turn) {
  const double angle = -2 * std::numbers::pi * turn;  // clockwise, so that the grid's triangles are counterclockwise
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

}  // namespace detail

}  // namespace plumb::shallow_water
