// The reference: the same numerics in double on one mesh, by edges, without partition or transport. It shares no
// code with the device's: basis by orthogonalisation, normals from the corners, each edge's flux computed once.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "benchmarks/apps/shallow_water/mesh.hpp"
#include "benchmarks/apps/shallow_water/physics.hpp"
#include "benchmarks/apps/shallow_water/region.hpp"

namespace plumb::shallow_water {

inline constexpr std::size_t most_basis = 6;
constexpr std::size_t basis_of(int order) {
  return order == 0 ? 1 : order == 1 ? 3 : 6;
}

// Quadrature: points (r, s) of the triangle, places on an edge from 0 to 1; weights sum to 1.
struct Rule {
  struct Node {
    double r, s, weight;
  };
  std::vector<Node> inside, edge;  // s is not used on edges
};
const Rule& rule_of(int order);

// Values of the orthonormal basis (mean square 1) at (r, s).
using BasisValues = std::array<double, most_basis>;
BasisValues basis_at(int order, double r, double s);
// Place of edge k's point at t, in (r, s).
std::array<double, 2> on_edge(int k, double t);

// Coefficients of an element: [field * basis + i].
using Coefficients = std::vector<double>;
// A function's projection on an element.
void project_on(const Mesh& mesh, std::size_t element, int order, const std::function<Fields(Point)>& function,
                double* coefficients);

class Reference {
 public:
  // Depths are watched in the marked elements, or in all.
  Reference(const Mesh& mesh, const Physics& physics, int order, const Solution& solution, Marks watched = {});
  // Advances `state`, the elements' coefficients one after the other, by one step from time t. Returns the lowest H of
  // any point.
  std::pair<double, std::size_t> step(Coefficients& state, double t, double time_step);

 private:
  struct Edge {
    std::size_t element = 0, other = 0;
    int edge = 0, its_edge = 0;
    std::int32_t kind = 0;  // 0: inside
    double nx = 0, ny = 0, length = 0;
  };
  void rates(const Coefficients& state, double t, Coefficients& rate);
  void add_inside(const Coefficients& state, std::size_t element, double t, Coefficients& rate);
  void add_edge(const Coefficients& state, const Edge& edge, double t, Coefficients& rate);
  void project_velocities(const Coefficients& state, std::size_t element);
  double bed(std::size_t element, double r, double s) const;
  void watch(std::size_t element, double height);
  // Value of `count` coefficients at a point.
  double value(const double* coefficients, const BasisValues& phi) const;

  const Mesh& mesh_;
  Physics physics_;
  int order_;
  std::size_t basis_;
  Solution solution_;
  Marks watched_;
  std::vector<Edge> edges_;
  std::vector<double> areas_, velocities_;  // [element][u, v][i]
  Coefficients base_, rate_;
  // By point of the rules: inside, and on each edge (those of a neighbour run backwards).
  std::vector<BasisValues> inside_, by_r_, by_s_;
  std::array<std::vector<BasisValues>, 3> edge_, back_;
  std::pair<double, std::size_t> lowest_;
};

}  // namespace plumb::shallow_water
