// For flops.cpp only: shallow_water.cl of one order on numbers that count.
namespace plumb::shallow_water {

namespace PRECISION {

namespace {

// NOLINTBEGIN(readability-identifier-naming): the kernel's names
using uint = std::uint32_t;
using real = Counted;
using vec = Counted;
using indices = int;
// NOLINTEND(readability-identifier-naming)

INLINE vec spread(real x) {
  return x;
}
INLINE vec load(const real* from, uint at) {
  return {from[at].value, false};
}
INLINE indices load_indices(const int* from, uint at) {
  return from[at];
}
INLINE vec pick(const real* from, indices at) {
  return {from[at].value, false};
}
INLINE indices place(uint at) {
  return static_cast<indices>(at);
}
INLINE vec choose(bool which, vec yes, vec no) {
  return which ? yes : no;
}
INLINE indices choose_indices(bool which, indices yes, indices no) {
  return which ? yes : no;
}
#define IS_ANY(which) (which)
INLINE vec larger(vec a, vec b) {
  return a > b ? a : b;
}
INLINE vec lower(vec a, vec b) {
  return a >= b ? b : a;
}
INLINE vec root(vec x) {
  return x.with(x, std::sqrt(x.value), false);
}
INLINE vec size_of_it(vec x) {
  return {std::fabs(x.value), x.is_constant};
}
INLINE void store(vec x, real* to, uint at, uint) {
  to[at] = x;
}
INLINE void note(vec, real, int, int*, uint, uint) {}

#include "benchmarks/apps/shallow_water/shallow_water.cl"

double operations_of(auto work) {
  Counted::operations = 0;
  work();
  return static_cast<double>(Counted::operations);
}

// An element of two in the middle of a mesh. Of each of its three edges: both traces and its share of the flux are once
// an edge and element (2 traces and a flux an edge, 1.5 edges an element); what each side adds to itself is its own.
double of_stage(int friction) {
  constexpr uint stride = 2;
  Counted state[COMPONENTS * stride], to[COMPONENTS * stride], geometry[4 * stride], bed[3 * stride];
  int neighbours[3 * stride] = {4, 0, 5, 1, 6, 2}, dry[stride] = {};
  for (Counted& one : geometry) one = {0.3, false};
  for (Counted& one : bed) one = {10, false};
  for (Counted& one : state) one = {0.1, false};
  stage_of s{};
  s.from = s.base = s.given = state;
  s.to = to;
  s.neighbours = neighbours;
  s.geometry = geometry;
  s.bed = bed;
  s.dry = dry;
  s.stride = stride;
  s.friction_kind = friction;
  s.base_share = s.share = s.time_step = s.gravity = s.coriolis = s.friction = s.minimum = Counted(0.5, false);
  const double whole = operations_of([&] { update(&s, 0, 1); });
  cell c{};
  for (auto& field : c.state)
    for (Counted& one : field) one = {0.1, false};
  for (Counted& one : c.bed) one = {10, false};
  const double velocities = operations_of([&] { project(&c); });
  const vec normal[2] = {{0.3, false}, {0.4, false}};
  vec rate[FIELDS][BASIS];
  for (auto& field : rate)
    for (Counted& one : field) one = {0, false};
  vec lowest;
  const double edge = operations_of([&] { add_edge(&s, &c, 0, 1, normal, rate, &lowest); });
  double traces = 0;  // of one side
  for (int q = 0; q < EDGE_POINTS; ++q) {
    vec phi[BASIS];
    const vec t = spread(edge_point(q));
    basis_at(t, spread(1) - t, phi);
    traces += 5 * operations_of([&] { value_of(c.state[0], phi); });
  }
  const double added =
      EDGE_POINTS * FIELDS * (1 + 2 * BASIS - 1);  // weight, and a product and a difference a coefficient
  const double flux = edge - velocities - 2 * traces - added;
  return whole - 3 * edge + 1.5 * (2 * traces + flux + 2 * added);
}

}  // namespace

}  // namespace PRECISION

}  // namespace plumb::shallow_water

#undef ORDER
#undef IS_ANY
#undef PRECISION
#undef FIELDS
#undef BASIS
#undef POINTS
#undef EDGE_POINTS
#undef COMPONENTS
#undef EDGE_VALUES
#undef THIRD
#undef ROOT2
#undef ROOT3
#undef ROOT6
#undef ROOT15
