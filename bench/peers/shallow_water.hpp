// Shallow water by hand, for the OpenMP and the CUDA peer: discontinuous Galerkin of order P on triangles, local
// Lax-Friedrichs flux that dissipates the level, SSP Runge-Kutta; one pass over the elements a stage. The equations are
// those of benchmarks/apps/shallow_water/README.md, case waves; the text shares nothing with that folder. The programs
// define EVERYWHERE (inlined, on all processors), UNROLLED, and root, absolute, larger and select of their numbers V
// before.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace water {

constexpr double gravity = 9.81, coriolis = 6.4e-5, drag = 0.003;

template <int P>
constexpr int basis_count = P == 0   ? 1
                            : P == 1 ? 3
                                     : 6;
template <int P>
constexpr int inner_count = basis_count<P>;
template <int P>
constexpr int edge_count = P + 1;

struct Node {
  double r, s, weight;
};

// Quadrature in the triangle (degree 2P) and on an edge (degree 2P + 1, place in r).
template <int P>
EVERYWHERE constexpr Node inner_node(int q) {
  if (P == 0) return {1.0 / 3, 1.0 / 3, 1};
  if (P == 1) return {q == 1 ? 2.0 / 3 : 1.0 / 6, q == 2 ? 2.0 / 3 : 1.0 / 6, 1.0 / 3};
  const double a = q < 3 ? 0.445948490915964886 : 0.0915762135097707435;
  const double weight = q < 3 ? 0.223381589678011466 : 0.109951743655321868;
  return {q % 3 == 1 ? 1 - 2 * a : a, q % 3 == 2 ? 1 - 2 * a : a, weight};
}
template <int P>
EVERYWHERE constexpr Node edge_node(int q) {
  if (P == 0) return {0.5, 0, 1};
  if (P == 1) return {q == 0 ? 0.211324865405187118 : 0.788675134594812882, 0, 0.5};
  return {q == 0 ? 0.112701665379258311 : q == 1 ? 0.5 : 0.887298334620741689, 0, q == 1 ? 4.0 / 9 : 5.0 / 18};
}
// Edge k at t: from corner k to corner k + 1.
EVERYWHERE constexpr double edge_r(int k, double t) {
  return k == 0 ? t : k == 1 ? 1 - t : 0;
}
EVERYWHERE constexpr double edge_s(int k, double t) {
  return k == 0 ? 0 : k == 1 ? t : 1 - t;
}

// Dubiner's basis with mean square 1, and its derivatives.
EVERYWHERE constexpr double phi(int i, double r, double s) {
  switch (i) {
    case 0:
      return 1;
    case 1:
      return 1.41421356237309505 * (3 * r - 1);
    case 2:
      return 2.44948974278317810 * (2 * s + r - 1);
    case 3:
      return 1.73205080756887729 * (1 + r * (10 * r - 8));
    case 4:
      return (15 * r - 3) * (2 * s + r - 1);
    default:
      return 3.87298334620741689 * (6 * s * s + 6 * s * (r - 1) + (1 - r) * (1 - r));
  }
}
EVERYWHERE constexpr double phi_r(int i, double r, double s) {
  switch (i) {
    case 0:
      return 0;
    case 1:
      return 4.24264068711928515;
    case 2:
      return 2.44948974278317810;
    case 3:
      return 1.73205080756887729 * (20 * r - 8);
    case 4:
      return 15 * (2 * s + r - 1) + 15 * r - 3;
    default:
      return 3.87298334620741689 * (6 * s + 2 * r - 2);
  }
}
EVERYWHERE constexpr double phi_s(int i, double r, double s) {
  switch (i) {
    case 0:
    case 1:
    case 3:
      return 0;
    case 2:
      return 4.89897948556635620;
    case 4:
      return 30 * r - 6;
    default:
      return 3.87298334620741689 * (12 * s + 6 * r - 6);
  }
}

// A stage: to = base_share * base + share * (from + dt * rate(from)).
struct Share {
  double base, rate, at;
};
inline std::vector<Share> stages_of(int order) {
  if (order == 0) return {{0, 1, 0}};
  if (order == 1) return {{0, 1, 0}, {0.5, 0.5, 1}};
  return {{0, 1, 0}, {0.75, 0.25, 1}, {1.0 / 3, 2.0 / 3, 0.5}};
}

template <class T>
struct Constants {
  T base_share, share, dt, sea;
};

template <int P, class V>
struct Cell {
  V q[3][basis_count<P>];  // level, U, V
  V bed[3];                // mean, by r, by s
  V u[basis_count<P>], v[basis_count<P>];

  template <class T>
  EVERYWHERE V bed_at(double r, double s) const {
    return bed[0] + T(r - 1.0 / 3) * bed[1] + T(s - 1.0 / 3) * bed[2];
  }
};

// Sum of coefficients at a point known when compiled.
template <int P, class T, class V>
EVERYWHERE V at_point(const V* c, double r, double s) {
  V sum = c[0];
  UNROLLED
  for (int i = 1; i < basis_count<P>; ++i) sum += T(phi(i, r, s)) * c[i];
  return sum;
}

// u and v: projections of U/H and V/H.
template <int P, class T, class V>
EVERYWHERE void project(Cell<P, V>& c) {
  UNROLLED
  for (int q = 0; q < inner_count<P>; ++q) {
    const Node n = inner_node<P>(q);
    const V height = P == 0 ? c.bed[0] + c.q[0][0] : c.template bed_at<T>(n.r, n.s) + at_point<P, T>(c.q[0], n.r, n.s);
    const V share = T(n.weight) / height;
    const V u = at_point<P, T>(c.q[1], n.r, n.s) * share, v = at_point<P, T>(c.q[2], n.r, n.s) * share;
    UNROLLED
    for (int i = 0; i < basis_count<P>; ++i) {
      c.u[i] = q == 0 ? T(phi(i, n.r, n.s)) * u : c.u[i] + T(phi(i, n.r, n.s)) * u;
      c.v[i] = q == 0 ? T(phi(i, n.r, n.s)) * v : c.v[i] + T(phi(i, n.r, n.s)) * v;
    }
  }
}

template <int P, class T, class V>
EVERYWHERE void inside(const Cell<P, V>& c, const V* r_xy, const V* s_xy, V rate[3][basis_count<P>]) {
  const V bed_x = c.bed[1] * r_xy[0] + c.bed[2] * s_xy[0], bed_y = c.bed[1] * r_xy[1] + c.bed[2] * s_xy[1];
  UNROLLED
  for (int q = 0; q < inner_count<P>; ++q) {
    const Node n = inner_node<P>(q);
    const T w = T(n.weight);
    const V level = at_point<P, T>(c.q[0], n.r, n.s), U = at_point<P, T>(c.q[1], n.r, n.s),
            W = at_point<P, T>(c.q[2], n.r, n.s), u = at_point<P, T>(c.u, n.r, n.s), v = at_point<P, T>(c.v, n.r, n.s);
    const V bed = P == 0 ? c.bed[0] : c.template bed_at<T>(n.r, n.s), lift = T(gravity) * level;
    const V tau = T(drag) * root(u * u + v * v) / (bed + level);
    const V of_u = w * (lift * bed_x + T(coriolis) * W - tau * U),
            of_v = w * (lift * bed_y - T(coriolis) * U - tau * W);
    UNROLLED
    for (int i = 0; i < basis_count<P>; ++i) {
      rate[1][i] += T(phi(i, n.r, n.s)) * of_u;
      rate[2][i] += T(phi(i, n.r, n.s)) * of_v;
    }
    if constexpr (P > 0) {
      const V p = lift * (T(0.5) * level + bed);
      const V fx[3] = {w * U, w * (u * U + p), w * (u * W)}, fy[3] = {w * W, w * (v * U), w * (v * W + p)};
      UNROLLED
      for (int f = 0; f < 3; ++f) {
        const V by_r = fx[f] * r_xy[0] + fy[f] * r_xy[1], by_s = fx[f] * s_xy[0] + fy[f] * s_xy[1];
        UNROLLED
        for (int i = 1; i < basis_count<P>; ++i)
          rate[f][i] += T(phi_r(i, n.r, n.s)) * by_r + T(phi_s(i, n.r, n.s)) * by_s;
      }
    }
  }
}

// Edge K with the neighbour's cell; `code` is 4 * neighbour + its edge, -1 land, -2 sea. (nx, ny): the normal times
// length over area.
template <int P, int K, class T, class V, class I>
EVERYWHERE void edge(const Cell<P, V>& c, const Cell<P, V>& other, I code, V nx, V ny, T sea,
                     V rate[3][basis_count<P>]) {
  const V length2 = nx * nx + ny * ny, length = root(length2), mirror = T(2) / length2;
  const auto is_land = code == -1, is_sea = code == -2, is_outer = code < 0;
  const I its_edge = code & 3;
  const auto first = its_edge == 0, second = its_edge == 1;
  UNROLLED
  for (int q = 0; q < edge_count<P>; ++q) {
    const Node n = edge_node<P>(q);
    const double t = n.r, r = edge_r(K, t), s = edge_s(K, t);
    const V bed = c.template bed_at<T>(r, s);
    const V level = at_point<P, T>(c.q[0], r, s), U = at_point<P, T>(c.q[1], r, s), W = at_point<P, T>(c.q[2], r, s);
    const V u = at_point<P, T>(c.u, r, s), v = at_point<P, T>(c.v, r, s);
    const V through = U * nx + W * ny, speed = u * nx + v * ny;
    V level2 = other.q[0][0], U2 = other.q[1][0], W2 = other.q[2][0], u2 = other.u[0], v2 = other.v[0];
    UNROLLED
    for (int i = 1; i < basis_count<P>; ++i) {
      // At the same place of the neighbour's edge, which runs backwards.
      const V its = select(first, V{} + T(phi(i, edge_r(0, 1 - t), edge_s(0, 1 - t))),
                           select(second, V{} + T(phi(i, edge_r(1, 1 - t), edge_s(1, 1 - t))),
                                  V{} + T(phi(i, edge_r(2, 1 - t), edge_s(2, 1 - t)))));
      level2 += its * other.q[0][i];
      U2 += its * other.q[1][i];
      W2 += its * other.q[2][i];
      u2 += its * other.u[i];
      v2 += its * other.v[i];
    }
    const V back = mirror * through, slow = mirror * speed;
    level2 = select(is_sea, V{} + sea, select(is_outer, level, level2));
    U2 = select(is_land, U - back * nx, select(is_outer, U, U2));
    W2 = select(is_land, W - back * ny, select(is_outer, W, W2));
    u2 = select(is_land, u - slow * nx, select(is_outer, u, u2));
    v2 = select(is_land, v - slow * ny, select(is_outer, v, v2));
    const V through2 = U2 * nx + W2 * ny, speed2 = u2 * nx + v2 * ny;
    const V p = T(gravity) * (level * (T(0.5) * level + bed) + level2 * (T(0.5) * level2 + bed));
    const V fastest = larger(absolute(speed) + root(T(gravity) * (bed + level)) * length,
                             absolute(speed2) + root(T(gravity) * (bed + level2)) * length);
    const T w = T(-0.5 * n.weight);
    const V mass = w * (through + through2 + fastest * (level - level2));
    const V flux[3] = {select(is_land, V{}, mass), w * (speed * U + speed2 * U2 + p * nx + fastest * (U - U2)),
                       w * (speed * W + speed2 * W2 + p * ny + fastest * (W - W2))};
    UNROLLED
    for (int f = 0; f < 3; ++f) {
      UNROLLED
      for (int i = 0; i < basis_count<P>; ++i) rate[f][i] += T(phi(i, r, s)) * flux[f];
    }
  }
}

// One stage of the elements at `e`. Arrays: its loads and stores.
template <int P, class T, class V, class Arrays>
EVERYWHERE void update(const Arrays& arrays, unsigned e, const Constants<T>& k) {
  constexpr int basis = basis_count<P>;
  Cell<P, V> c;
  arrays.own(c, e);
  V slopes[4];
  arrays.slopes_of(slopes, e);
  project<P, T>(c);
  V rate[3][basis];
  UNROLLED
  for (int f = 0; f < 3; ++f) {
    UNROLLED
    for (int i = 0; i < basis; ++i) rate[f][i] = V{};
  }
  inside<P, T>(c, slopes, slopes + 2, rate);
  const auto one = [&](auto which, V nx, V ny) {
    constexpr int K = decltype(which)::value;
    const auto code = arrays.code(K, e);
    Cell<P, V> other;
    arrays.near(other, code, e);
    project<P, T>(other);
    edge<P, K, T>(c, other, code, nx, ny, k.sea, rate);
  };
  one(std::integral_constant<int, 0>(), T(-2) * slopes[2], T(-2) * slopes[3]);
  one(std::integral_constant<int, 1>(), T(2) * (slopes[0] + slopes[2]), T(2) * (slopes[1] + slopes[3]));
  one(std::integral_constant<int, 2>(), T(-2) * slopes[0], T(-2) * slopes[1]);
  UNROLLED
  for (int f = 0; f < 3; ++f) {
    UNROLLED
    for (int i = 0; i < basis; ++i) rate[f][i] = k.share * (c.q[f][i] + k.dt * rate[f][i]);
  }
  arrays.keep(c, rate, e, k.base_share);
}

// --- the host's part ---

struct Place {
  double x, y, depth;
};

// Triangles, counterclockwise; `near`: 4 * neighbour + its edge, -1 land, -2 sea. Edge k joins corners k and k + 1.
struct Mesh {
  std::vector<Place> places;
  std::vector<std::array<unsigned, 3>> corners;
  std::vector<std::array<int, 3>> near;

  std::size_t size() const { return corners.size(); }
  const Place& corner(std::size_t e, int k) const { return places[corners[e][static_cast<std::size_t>(k)]]; }
  double twice_area(std::size_t e) const {
    const Place &a = corner(e, 0), &b = corner(e, 1), &c = corner(e, 2);
    return (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
  }
};

// ADCIRC's grid file; outer edges in no open boundary are land.
inline Mesh read_mesh(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  const auto next = [&] {
    if (!std::getline(in, line)) {
      std::fprintf(stderr, "%s cannot be read, or ends too early\n", path.c_str());
      std::exit(2);
    }
    return std::istringstream(line);
  };
  next();
  std::size_t elements = 0, points = 0, number = 0, three = 0;
  next() >> elements >> points;
  Mesh mesh{std::vector<Place>(points), std::vector<std::array<unsigned, 3>>(elements), {}};
  for (Place& place : mesh.places) next() >> number >> place.x >> place.y >> place.depth;
  for (auto& of : mesh.corners) {
    next() >> number >> three >> of[0] >> of[1] >> of[2];
    for (unsigned& corner : of) --corner;
  }
  mesh.near.assign(elements, {-1, -1, -1});
  std::map<std::pair<unsigned, unsigned>, int> open;
  for (std::size_t e = 0; e < elements; ++e) {
    if (mesh.twice_area(e) < 0) std::swap(mesh.corners[e][1], mesh.corners[e][2]);
    for (std::size_t k = 0; k < 3; ++k) {
      const std::pair<unsigned, unsigned> ends = std::minmax(mesh.corners[e][k], mesh.corners[e][(k + 1) % 3]);
      const int code = static_cast<int>(4 * e + k);
      const auto [found, fresh] = open.emplace(ends, code);
      if (fresh) continue;
      mesh.near[e][k] = found->second;
      mesh.near[static_cast<std::size_t>(found->second / 4)][static_cast<std::size_t>(found->second % 4)] = code;
    }
  }
  std::size_t boundaries = 0, all = 0;
  next() >> boundaries;
  next() >> all;
  for (; boundaries > 0; --boundaries) {
    std::size_t count = 0;
    unsigned before = 0, one = 0;
    next() >> count;
    for (std::size_t i = 0; i < count; ++i, before = one) {
      next() >> one;
      --one;
      if (i == 0) continue;
      const int code = open.at(std::minmax(before, one));
      mesh.near[static_cast<std::size_t>(code / 4)][static_cast<std::size_t>(code % 4)] = -2;
    }
  }
  return mesh;
}

// Each triangle cut into four: child k < 3 keeps corner k, child 3 is the middle one.
inline Mesh cut(const Mesh& old) {
  Mesh mesh;
  mesh.places = old.places;
  mesh.corners.resize(4 * old.size());
  mesh.near.resize(4 * old.size());
  std::vector<std::array<unsigned, 3>> middle(old.size());
  for (std::size_t e = 0; e < old.size(); ++e)
    for (std::size_t k = 0; k < 3; ++k) {
      const int code = old.near[e][k];
      if (code >= 0 && static_cast<std::size_t>(code / 4) < e) {
        middle[e][k] = middle[static_cast<std::size_t>(code / 4)][static_cast<std::size_t>(code % 4)];
        continue;
      }
      const Place a = old.corner(e, static_cast<int>(k)), b = old.corner(e, static_cast<int>((k + 1) % 3));
      middle[e][k] = static_cast<unsigned>(mesh.places.size());
      mesh.places.push_back({0.5 * (a.x + b.x), 0.5 * (a.y + b.y), 0.5 * (a.depth + b.depth)});
    }
  const auto code_of = [](std::size_t e, std::size_t child, std::size_t edge) {
    return static_cast<int>(4 * (4 * e + child) + edge);
  };
  for (std::size_t e = 0; e < old.size(); ++e) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t last = (k + 2) % 3;
      // Edge 0: first half of edge k. Edge 2: second half of edge `last`. Both halves lie backwards in the neighbours.
      const int ahead = old.near[e][k], behind = old.near[e][last];
      const auto of = [](int code) { return static_cast<std::size_t>(code / 4); };
      const auto side = [](int code) { return static_cast<std::size_t>(code % 4); };
      mesh.corners[4 * e + k] = {old.corners[e][k], middle[e][k], middle[e][last]};
      mesh.near[4 * e + k] = {ahead < 0 ? ahead : code_of(of(ahead), (side(ahead) + 1) % 3, 2), code_of(e, 3, last),
                              behind < 0 ? behind : code_of(of(behind), side(behind), 0)};
    }
    mesh.corners[4 * e + 3] = middle[e];
    mesh.near[4 * e + 3] = {code_of(e, 1, 1), code_of(e, 2, 1), code_of(e, 0, 1)};
  }
  return mesh;
}

// The tide at the open edges, growing for 12 hours.
inline double tide(double t) {
  const double parts[5][3] = {{0.07, 6.759774e-5, 0.35},
                              {0.09, 7.292117e-5, 2.1},
                              {0.10, 1.378797e-4, 4.9},
                              {0.39, 1.405189e-4, 1.2},
                              {0.06, 1.454441e-4, 5.6}};
  double sum = 0;
  for (const auto& [height, frequency, phase] : parts) sum += height * std::cos(frequency * t - phase);
  return sum * std::min(1.0, t / 43200);
}

// Half of the longest stable step, with one metre of water and one metre a second more.
inline double step_of(const Mesh& mesh, int order) {
  double shortest = 1e300;
  for (std::size_t e = 0; e < mesh.size(); ++e) {
    double around = 0, depth = 0;
    for (int k = 0; k < 3; ++k) {
      const Place &a = mesh.corner(e, k), &b = mesh.corner(e, (k + 1) % 3);
      around += std::hypot(a.x - b.x, a.y - b.y);
      depth = std::max(depth, a.depth);
    }
    shortest = std::min(shortest, mesh.twice_area(e) / (around * (std::sqrt(gravity * (depth + 1)) + 1)));
  }
  return 0.5 * shortest / (2 * order + 1);
}

inline std::array<double, 3> wave(double x, double y, double extent) {
  const double waves[3][2] = {{3, 0.4}, {5.3, 2.3}, {7.9, 4.4}};
  std::array<double, 3> sum{};
  for (const auto& [count, turn] : waves) {
    const double along = 6.28318530717958648 * count / extent * (x * std::cos(turn) + y * std::sin(turn)) + turn;
    sum[0] += 0.15 * std::sin(along);
    sum[1] += 0.3 * std::cos(1.1 * along + 1);
    sum[2] += 0.3 * std::cos(0.9 * along + 2);
  }
  return sum;
}

// All arrays of a simulation, one value of each element after the other, `stride` apart.
template <class T>
struct Arrays {
  std::size_t elements = 0, stride = 0, basis = 0;
  std::vector<T> state, slopes, bed;  // [3 basis], [4], [3]
  std::vector<int> near;              // [3]
  double dt = 0;
};

template <int P, class T>
Arrays<T> arrays_of(const Mesh& mesh) {
  constexpr std::size_t lanes = 64, basis = basis_count<P>;
  Arrays<T> all;
  all.elements = mesh.size();
  all.basis = basis;
  const std::size_t stride = all.stride = (mesh.size() + lanes - 1) / lanes * lanes;
  all.state.resize(3 * basis * stride);
  all.slopes.resize(4 * stride);
  all.bed.assign(3 * stride, T(1));
  all.near.assign(3 * stride, -1);
  all.dt = step_of(mesh, P);
  double low = mesh.places[0].x, high = low;
  for (const Place& place : mesh.places) {
    low = std::min({low, place.x, place.y});
    high = std::max({high, place.x, place.y});
  }
  for (std::size_t e = 0; e < mesh.size(); ++e) {
    const Place &a = mesh.corner(e, 0), &b = mesh.corner(e, 1), &c = mesh.corner(e, 2);
    const double twice = mesh.twice_area(e);
    const double slopes[] = {(c.y - a.y) / twice, (a.x - c.x) / twice, (a.y - b.y) / twice, (b.x - a.x) / twice};
    const double bed[] = {(a.depth + b.depth + c.depth) / 3, b.depth - a.depth, c.depth - a.depth};
    for (std::size_t k = 0; k < 4; ++k) all.slopes[k * stride + e] = T(slopes[k]);
    for (std::size_t k = 0; k < 3; ++k) all.bed[k * stride + e] = T(bed[k]);
    for (std::size_t k = 0; k < 3; ++k) all.near[k * stride + e] = mesh.near[e][k];
    double sums[3 * basis] = {};
    for (int q = 0; q < inner_count<P>; ++q) {
      const Node n = inner_node<P>(q);
      const auto values =
          wave(a.x + n.r * (b.x - a.x) + n.s * (c.x - a.x), a.y + n.r * (b.y - a.y) + n.s * (c.y - a.y), high - low);
      for (std::size_t f = 0; f < 3; ++f)
        for (std::size_t i = 0; i < basis; ++i)
          sums[f * basis + i] += n.weight * values[f] * phi(static_cast<int>(i), n.r, n.s);
    }
    for (std::size_t i = 0; i < 3 * basis; ++i) all.state[i * stride + e] = T(sums[i]);
  }
  return all;
}

// Root of the mean square of the elements' mean levels, over the area.
template <class T>
double level_rms(const Arrays<T>& all, const std::vector<T>& state) {
  double sum = 0, area = 0;
  for (std::size_t e = 0; e < all.elements; ++e) {
    const double rx = all.slopes[e], ry = all.slopes[all.stride + e], sx = all.slopes[2 * all.stride + e],
                 sy = all.slopes[3 * all.stride + e], part = 1 / (rx * sy - ry * sx);
    sum += part * double(state[e]) * double(state[e]);
    area += part;
  }
  return std::sqrt(sum / area);
}

// Mean level, and U and V over the mean depth, as float, element after element.
template <class T>
void write_states(const Arrays<T>& all, const std::vector<T>& state, const char* path) {
  std::ofstream out(path, std::ios::binary);
  for (std::size_t e = 0; e < all.elements; ++e) {
    const double level = state[e], depth = level + double(all.bed[e]);
    const float three[] = {float(level), float(state[all.basis * all.stride + e] / depth),
                           float(state[2 * all.basis * all.stride + e] / depth)};
    out.write(reinterpret_cast<const char*>(three), sizeof three);
  }
}

template <class T>
Constants<T> constants_of(const Share& share, double dt, long step) {
  return {T(share.base), T(share.rate), T(dt), T(tide((double(step) + share.at) * dt))};
}

// Arrays of state that a stage reads, adds and writes: with one stage two take turns.
struct Turn {
  std::size_t from, base, to;
};
inline Turn turn_of(int order, std::size_t stage, long step) {
  if (order == 0) return {std::size_t(step % 2), std::size_t(step % 2), std::size_t(1 - step % 2)};
  return {stage, 0, stage + 1 == stages_of(order).size() ? 0 : stage + 1};
}

}  // namespace water
