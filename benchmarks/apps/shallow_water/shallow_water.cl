// A stage of a shallow water step on the elements of a range, and the gathering of a halo's messages. README.md has the equations.
// The text is OpenCL C, which CUDA compiles too, with LANES elements a work item, and C++ (included by native_form.hpp), with
// one element a SIMD lane; so one proof covers all.
//
// REAL: float or double. ORDER: p, 0 to 2. FRICTION: 0 none, 1 linear, 2 quadratic. GIVEN: 1 if sources and exact edges are given.
// GROUP: work items a group. LANES: 1, or 2 (native), 4, 8 or 16, in vectors of that many numbers (OpenCL on CPUs, whose compilers do not make
// vectors of a kernel so long); MASK: int or long, as wide as REAL. PIPELINE: without kernels, for single_work_item.cl, which
// follows: all arrays are in local memory, and velocities are projected once an element instead of by each neighbour.
//
// Arrays hold a value of each element after the other, `stride` apart (structure of arrays): own elements first, then the
// halo. State: fields (level, U, V) x BASIS coefficients. Geometry: gradients of r and s. Bed: mean, and derivatives
// by r and s. Neighbours of an element's three edges: 4 element + edge of it; or -1 land, -2 sea, -3 - n: exact edge n.
// FOURS: a state holds four values of each element after the other; after its coefficients follows of
// the bed what neighbours need, so that a few wide loads read a neighbour. Geometry likewise.
#ifdef __OPENCL_VERSION__
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#define IS_KERNELS
#elif defined(__CUDACC__)
#define IS_KERNELS
#elif defined(PIPELINE)  // HLS C++
#include <math.h>
#define IS_KERNELS
#define __local
typedef unsigned int uint;
#endif
#ifndef FOURS
#define FOURS 0
#endif
#define JOIN_TWO(a, b) a##b
#define JOIN(a, b) JOIN_TWO(a, b)
#ifdef IS_KERNELS
typedef REAL real;
#ifdef PIPELINE
#define GLOBAL __local
#else
#define GLOBAL __global
#endif
#if LANES > 1  // a cell of vectors is to stay in registers
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif
#define UNROLL _Pragma("unroll")
#ifdef __CUDACC__
#define GROUP_OF(items) __launch_bounds__(items)
#else
#define GROUP_OF(items) __attribute__((reqd_work_group_size(items, 1, 1)))
#endif
// Of each lane: a value; a value from an array at `at` (adjacent lanes adjacent), or at any index; a choice.
#if LANES == 1
#define OF_VECTORS
typedef REAL vec;
typedef int indices;
INLINE vec spread(real x) { return x; }
INLINE vec load(GLOBAL const real* from, uint at) { return from[at]; }
INLINE indices load_indices(GLOBAL const int* from, uint at) { return from[at]; }
INLINE vec pick(GLOBAL const real* from, indices at) { return from[at]; }
INLINE indices place(uint at) { return (indices)at; }
INLINE vec choose(indices which, vec yes, vec no) { return which ? yes : no; }
INLINE indices choose_indices(indices which, indices yes, indices no) { return which ? yes : no; }
#define IS_ANY(which) 1  // no branch
INLINE vec larger(vec a, vec b) { return a > b ? a : b; }
INLINE vec lower(vec a, vec b) { return a >= b ? b : a; }
INLINE void store(vec x, GLOBAL real* to, uint at, uint lanes) { to[at] = x; }
INLINE void note(vec lowest, real minimum, int step, GLOBAL int* dry, uint at, uint lanes) {
  if (!(lowest >= minimum) && dry[at] == 0) dry[at] = step;
}
#else
typedef JOIN(REAL, LANES) vec;
typedef JOIN(int, LANES) indices;
#define OF_VECTORS __attribute__((vec_type_hint(vec)))
INLINE vec spread(real x) { return (vec)(x); }
INLINE vec load(GLOBAL const real* from, uint at) { return JOIN(vload, LANES)(0, from + at); }
INLINE indices load_indices(GLOBAL const int* from, uint at) { return JOIN(vload, LANES)(0, from + at); }
INLINE vec pick(GLOBAL const real* from, indices at) {
  vec x;
  UNROLL
  for (int lane = 0; lane < LANES; ++lane) x[lane] = from[at[lane]];
  return x;
}
INLINE indices place(uint at) {
  indices x;
  UNROLL
  for (int lane = 0; lane < LANES; ++lane) x[lane] = (int)at + lane;
  return x;
}
INLINE vec choose(indices which, vec yes, vec no) { return select(no, yes, JOIN(convert_, JOIN(MASK, LANES))(which)); }
INLINE indices choose_indices(indices which, indices yes, indices no) { return select(no, yes, which); }
#define IS_ANY(which) (!all(~(which)))
INLINE vec larger(vec a, vec b) { return select(b, a, a > b); }
INLINE vec lower(vec a, vec b) { return select(a, b, a >= b); }
#define load_four(from) vload4(0, from)
#define store_four(x, to) vstore4(x, 0, to)
INLINE void store(vec x, GLOBAL real* to, uint at, uint lanes) {
  if (lanes == LANES)
    JOIN(vstore, LANES)(x, 0, to + at);
  else
    for (uint lane = 0; lane < lanes; ++lane) to[at + lane] = x[lane];
}
INLINE void note(vec lowest, real minimum, int step, GLOBAL int* dry, uint at, uint lanes) {
  if (all(lowest >= spread(minimum))) return;
  for (uint lane = 0; lane < lanes; ++lane)
    if (!(lowest[lane] >= minimum) && dry[at + lane] == 0) dry[at + lane] = step;
}
#endif
INLINE vec root(vec x) { return sqrt(x); }
INLINE vec size_of_it(vec x) { return fabs(x); }
#endif

#define FIELDS 3
#if ORDER == 0
#define BASIS 1
#define POINTS 1
#define EDGE_POINTS 1
#elif ORDER == 1
#define BASIS 3
#define POINTS 3
#define EDGE_POINTS 2
#else
#define BASIS 6
#define POINTS 6
#define EDGE_POINTS 3
#endif
#define COMPONENTS (FIELDS * BASIS)
#if FOURS
#define BEDS (ORDER == 0 ? 1 : 3)  // of the bed's values, those in a state
#define PLANES ((COMPONENTS + BEDS + 3) / 4)
// Of each lane the four values of element `at` in an array that has them side by side; of adjacent elements; and stored.
#ifdef IS_KERNELS
typedef JOIN(REAL, 4) four;
#endif
#if LANES == 1
INLINE void pick_fours(GLOBAL const real* from, indices at, vec* values) {
  const four x = ((GLOBAL const four*)from)[at];
  values[0] = x.x;
  values[1] = x.y;
  values[2] = x.z;
  values[3] = x.w;
}
INLINE void load_fours(GLOBAL const real* from, uint at, vec* values) { pick_fours(from, (indices)at, values); }
INLINE void store_fours(const vec* values, GLOBAL real* to, uint at, uint lanes) {
  four x;
  x.x = values[0];
  x.y = values[1];
  x.z = values[2];
  x.w = values[3];
  ((GLOBAL four*)to)[at] = x;
}
#elif LANES == 2
INLINE void pick_fours(GLOBAL const real* from, indices at, vec* values) {
  for (int i = 0; i < 4; ++i)
    for (int lane = 0; lane < 2; ++lane) values[i][lane] = from[4 * (size_t)at[lane] + i];
}
INLINE void load_fours(GLOBAL const real* from, uint at, vec* values) { pick_fours(from, place(at), values); }
INLINE void store_fours(const vec* values, GLOBAL real* to, uint at, uint lanes) {
  for (int i = 0; i < 4; ++i)
    for (uint lane = 0; lane < lanes; ++lane) to[4 * (size_t)(at + lane) + i] = values[i][lane];
}
#else
#define SHUFFLE __builtin_shufflevector
#define ALL_8(a, b) SHUFFLE(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
// Vectors of four numbers m, m + 4, ..., in that order; and the pairs and halves of a square of four vectors of four.
#if LANES == 4
#define EVERY_FOURTH(of, m) of(m)
#define LOW_PAIRS 0, 4, 1, 5
#define HIGH_PAIRS 2, 6, 3, 7
#define LOW_HALVES 0, 1, 4, 5
#define HIGH_HALVES 2, 3, 6, 7
#elif LANES == 8
#define EVERY_FOURTH(of, m) ALL_8(of(m), of(m + 4))
#define LOW_PAIRS 0, 8, 1, 9, 4, 12, 5, 13
#define HIGH_PAIRS 2, 10, 3, 11, 6, 14, 7, 15
#define LOW_HALVES 0, 1, 8, 9, 4, 5, 12, 13
#define HIGH_HALVES 2, 3, 10, 11, 6, 7, 14, 15
#else
#define EVERY_FOURTH(of, m) \
  SHUFFLE(ALL_8(of(m), of(m + 4)), ALL_8(of(m + 8), of(m + 12)), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define LOW_PAIRS 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29
#define HIGH_PAIRS 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31
#define LOW_HALVES 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define HIGH_HALVES 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#endif
INLINE void turn_squares(vec* x) {
  const vec a = SHUFFLE(x[0], x[1], LOW_PAIRS), b = SHUFFLE(x[2], x[3], LOW_PAIRS);
  const vec c = SHUFFLE(x[0], x[1], HIGH_PAIRS), d = SHUFFLE(x[2], x[3], HIGH_PAIRS);
  x[0] = SHUFFLE(a, b, LOW_HALVES);
  x[1] = SHUFFLE(a, b, HIGH_HALVES);
  x[2] = SHUFFLE(c, d, LOW_HALVES);
  x[3] = SHUFFLE(c, d, HIGH_HALVES);
}
INLINE void pick_fours(GLOBAL const real* from, indices at, vec* values) {
#define ELEMENT(i) load_four(from + 4 * (size_t)at[i])
  UNROLL
  for (int m = 0; m < 4; ++m) values[m] = EVERY_FOURTH(ELEMENT, m);
#undef ELEMENT
  turn_squares(values);
}
INLINE void load_fours(GLOBAL const real* from, uint at, vec* values) {
#define ELEMENT(i) load_four(from + 4 * (size_t)(at + i))
  UNROLL
  for (int m = 0; m < 4; ++m) values[m] = EVERY_FOURTH(ELEMENT, m);
#undef ELEMENT
  turn_squares(values);
}
INLINE void store_fours(const vec* values, GLOBAL real* to, uint at, uint lanes) {
  if (lanes < LANES) {
    for (int i = 0; i < 4; ++i)
      for (uint lane = 0; lane < lanes; ++lane) to[4 * (size_t)(at + lane) + i] = values[i][lane];
    return;
  }
  vec x[4];
  UNROLL
  for (int m = 0; m < 4; ++m) x[m] = values[m];
  turn_squares(x);
  UNROLL
  for (int m = 0; m < 4; ++m) {
#define STORE_FOUR(j) \
  store_four(SHUFFLE(x[m], x[m], 4 * j, 4 * j + 1, 4 * j + 2, 4 * j + 3), to + 4 * (size_t)(at + 4 * j + m))
    STORE_FOUR(0);
#if LANES >= 8
    STORE_FOUR(1);
#endif
#if LANES == 16
    STORE_FOUR(2);
    STORE_FOUR(3);
#endif
#undef STORE_FOUR
  }
}
#endif
#endif
#define EDGE_VALUES 3  // of an exact edge's point: level, U, V
#define THIRD ((real)0.33333333333333333333)

// Quadrature of degree 2p in the triangle and of degree 2p + 1 on an edge (0 to 1); weights sum to 1.
INLINE real point_r(int q) {
#if ORDER == 0
  return THIRD;
#elif ORDER == 1
  return q == 1 ? (real)0.66666666666666666667 : (real)0.16666666666666666667;
#else
  return q == 1   ? (real)0.10810301816807022736
         : q < 3  ? (real)0.44594849091596488632
         : q == 4 ? (real)0.81684757298045851308
                  : (real)0.09157621350977074346;
#endif
}
INLINE real point_s(int q) {
#if ORDER == 0
  return THIRD;
#elif ORDER == 1
  return q == 2 ? (real)0.66666666666666666667 : (real)0.16666666666666666667;
#else
  return q == 2   ? (real)0.10810301816807022736
         : q < 3  ? (real)0.44594849091596488632
         : q == 5 ? (real)0.81684757298045851308
                  : (real)0.09157621350977074346;
#endif
}
INLINE real point_weight(int q) {
#if ORDER == 0
  return 1;
#elif ORDER == 1
  return THIRD;
#else
  return q < 3 ? (real)0.22338158967801146570 : (real)0.10995174365532186764;
#endif
}
INLINE real edge_point(int q) {
#if ORDER == 0
  return (real)0.5;
#elif ORDER == 1
  return q == 0 ? (real)0.21132486540518711775 : (real)0.78867513459481288225;
#else
  return q == 0 ? (real)0.11270166537925831148 : q == 1 ? (real)0.5 : (real)0.88729833462074168852;
#endif
}
INLINE real edge_weight(int q) {
#if ORDER == 0
  return 1;
#elif ORDER == 1
  return (real)0.5;
#else
  return q == 1 ? (real)0.44444444444444444444 : (real)0.27777777777777777778;
#endif
}

#define ROOT2 ((real)1.4142135623730950488)
#define ROOT3 ((real)1.7320508075688772935)
#define ROOT6 ((real)2.4494897427831780982)
#define ROOT15 ((real)3.8729833462074168852)

// The basis at (r, s): orthogonal, with mean square 1.
INLINE void basis_at(vec r, vec s, vec* phi) {
  phi[0] = spread(1);
#if ORDER >= 1
  phi[1] = ROOT2 * (3 * r - 1);
  phi[2] = ROOT6 * (r + 2 * s - 1);
#endif
#if ORDER >= 2
  phi[3] = ROOT3 * ((10 * r - 8) * r + 1);
  phi[4] = 3 * (5 * r - 1) * (r + 2 * s - 1);
  phi[5] = ROOT15 * (6 * s * (s + r - 1) + (r - 1) * (r - 1));
#endif
}

// Its derivatives by r and s.
INLINE void slopes_at(real r, real s, real* by_r, real* by_s) {
  by_r[0] = by_s[0] = 0;
#if ORDER >= 1
  by_r[1] = 3 * ROOT2;
  by_s[1] = 0;
  by_r[2] = ROOT6;
  by_s[2] = 2 * ROOT6;
#endif
#if ORDER >= 2
  by_r[3] = ROOT3 * (20 * r - 8);
  by_s[3] = 0;
  by_r[4] = 3 * (5 * (r + 2 * s - 1) + (5 * r - 1));
  by_s[4] = 6 * (5 * r - 1);
  by_r[5] = ROOT15 * (6 * s + 2 * (r - 1));
  by_s[5] = ROOT15 * (12 * s + 6 * (r - 1));
#endif
}

INLINE vec value_of(const vec* coefficients, const vec* phi) {
  vec sum = coefficients[0];
  UNROLL
  for (int i = 1; i < BASIS; ++i) sum += coefficients[i] * phi[i];
  return sum;
}

// An element: its state, its bed, and its velocities.
typedef struct {
  vec state[FIELDS][BASIS];
  vec bed[3];
  vec u[BASIS], v[BASIS];
} cell;

INLINE vec bed_at(const cell* c, vec r, vec s) { return c->bed[0] + c->bed[1] * (r - THIRD) + c->bed[2] * (s - THIRD); }

// u and v, U/H and V/H projected; returns the lowest H of the points.
INLINE vec project(cell* c) {
  vec lowest;
  UNROLL
  for (int i = 0; i < BASIS; ++i) c->u[i] = c->v[i] = spread(0);
  UNROLL
  for (int q = 0; q < POINTS; ++q) {
    vec phi[BASIS];
    basis_at(spread(point_r(q)), spread(point_s(q)), phi);
#if ORDER == 0
    const vec height = c->bed[0] + c->state[0][0];
#else
    const vec height = bed_at(c, spread(point_r(q)), spread(point_s(q))) + value_of(c->state[0], phi);
#endif
    const vec share = point_weight(q) / height;
    const vec u = value_of(c->state[1], phi) * share, v = value_of(c->state[2], phi) * share;
    UNROLL
    for (int i = 0; i < BASIS; ++i) {
      c->u[i] += u * phi[i];
      c->v[i] += v * phi[i];
    }
    if (q == 0)
      lowest = height;
    else
      lowest = lower(height, lowest);
  }
  return lowest;
}

// What a launch works on: all arguments of kernel `stage`.
typedef struct {
  GLOBAL const real* from;  // the state that is derived
  GLOBAL const real* base;  // the state at the step's begin
  GLOBAL real* to;
  GLOBAL const int* neighbours;
  GLOBAL const real* geometry;
  GLOBAL const real* bed;
  GLOBAL const real* given;  // sources as a state is; then values of exact edges' points, which PIPELINE has alone
#ifdef PIPELINE
  GLOBAL const real* velocities;  // u, then v, as a state is
#endif
  GLOBAL int* dry;           // 1 + step in which an element's H fell below `minimum`; 0 if never
  uint stride;
  int step;                          // counted from 1
  real base_share, share, time_step;  // to = base_share * base + share * (from + time_step * rate)
  real sea;                          // level at sea edges
  real gravity, coriolis, friction, minimum;
#ifdef NATIVE_STAGE
  int friction_kind;
  bool is_given;
#endif
} stage_of;

// The element's state, and its bed as far as neighbours need it.
#if FOURS
INLINE void take(const vec* values, cell* c) {
  UNROLL
  for (int i = 0; i < COMPONENTS; ++i) c->state[i / BASIS][i % BASIS] = values[i];
  UNROLL
  for (int i = 0; i < BEDS; ++i) c->bed[i] = values[COMPONENTS + i];
}

INLINE void fetch(const stage_of* s, indices at, cell* c) {
  vec values[4 * PLANES];
  UNROLL
  for (int i = 0; i < PLANES; ++i) pick_fours(s->from + (size_t)(4 * i) * s->stride, at, values + 4 * i);
  take(values, c);
}
#else
INLINE void fetch(const stage_of* s, indices at, cell* c) {
  UNROLL
  for (int f = 0; f < FIELDS; ++f) {
    UNROLL
    for (int i = 0; i < BASIS; ++i) c->state[f][i] = pick(s->from + (f * BASIS + i) * s->stride, at);
  }
  c->bed[0] = pick(s->bed, at);
#if ORDER > 0
  c->bed[1] = pick(s->bed + s->stride, at);
  c->bed[2] = pick(s->bed + 2 * s->stride, at);
#endif
}
#endif

INLINE vec friction_of(const stage_of* s, vec u, vec v, vec height) {
  if (FRICTION == 2) return s->friction * root(u * u + v * v) / height;
  return spread(s->friction);
}

// Integrals over the triangle: fluxes times slopes of the basis, and sources.
INLINE void add_volume(const stage_of* s, const cell* c, const vec* to_r, const vec* to_s, vec rate[FIELDS][BASIS]) {
  const vec bed_x = c->bed[1] * to_r[0] + c->bed[2] * to_s[0], bed_y = c->bed[1] * to_r[1] + c->bed[2] * to_s[1];
  UNROLL
  for (int q = 0; q < POINTS; ++q) {
    const vec r = spread(point_r(q)), t = spread(point_s(q));
    vec phi[BASIS];
    basis_at(r, t, phi);
    const vec level = value_of(c->state[0], phi), U = value_of(c->state[1], phi), V = value_of(c->state[2], phi);
    const vec u = value_of(c->u, phi), v = value_of(c->v, phi);
    const vec bed = bed_at(c, r, t);
    const vec push = s->gravity * level;
    vec source_u = push * bed_x + s->coriolis * V, source_v = push * bed_y - s->coriolis * U;
    if (FRICTION != 0) {
      const vec drag = friction_of(s, u, v, bed + level);
      source_u -= drag * U;
      source_v -= drag * V;
    }
    const real weight = point_weight(q);
    UNROLL
    for (int i = 0; i < BASIS; ++i) {
      rate[1][i] += weight * source_u * phi[i];
      rate[2][i] += weight * source_v * phi[i];
    }
#if ORDER > 0
    const vec pressure = push * ((real)0.5 * level + bed);
    const vec flux_x[FIELDS] = {U, u * U + pressure, u * V}, flux_y[FIELDS] = {V, v * U, v * V + pressure};
    real by_r[BASIS], by_s[BASIS];
    slopes_at(point_r(q), point_s(q), by_r, by_s);
    UNROLL
    for (int f = 0; f < FIELDS; ++f) {
      const vec along_r = weight * (flux_x[f] * to_r[0] + flux_y[f] * to_r[1]);
      const vec along_s = weight * (flux_x[f] * to_s[0] + flux_y[f] * to_s[1]);
      UNROLL
      for (int i = 1; i < BASIS; ++i) rate[f][i] += along_r * by_r[i] + along_s * by_s[i];
    }
#endif
  }
}

// The flux through an edge out of element c: local Lax-Friedrichs, its dissipation on the level. `normal` is scaled by the
// edge's length over the element's area.
INLINE void add_edge(const stage_of* s, const cell* c, uint e, int k, const vec* normal, vec rate[FIELDS][BASIS],
                     vec* lowest) {
  const indices code = load_indices(s->neighbours, k * s->stride + e);
  const indices outside = code < 0;
  const indices other = choose_indices(outside, place(e), code >> 2);
  cell n;
  fetch(s, other, &n);
#ifdef PIPELINE
  UNROLL
  for (int i = 0; i < BASIS; ++i) {
    n.u[i] = pick(s->velocities + i * s->stride, other);
    n.v[i] = pick(s->velocities + (BASIS + i) * s->stride, other);
  }
#else
  project(&n);
#endif
  const vec length2 = normal[0] * normal[0] + normal[1] * normal[1];
  const vec steep = s->gravity * length2;  // so that the root of its product with H has the length, too
  UNROLL
  for (int q = 0; q < EDGE_POINTS; ++q) {
    const real t = edge_point(q), back = 1 - t;
    const vec r = spread(k == 0 ? t : k == 1 ? back : 0), p = spread(k == 0 ? 0 : k == 1 ? t : back);
    vec phi[BASIS];
    basis_at(r, p, phi);
    const vec bed = bed_at(c, r, p);
    const vec level = value_of(c->state[0], phi), U = value_of(c->state[1], phi), V = value_of(c->state[2], phi);
    const vec u = value_of(c->u, phi), v = value_of(c->v, phi);
    const vec through = U * normal[0] + V * normal[1], speed = u * normal[0] + v * normal[1];
    const vec height = bed + level;
    *lowest = lower(height, *lowest);
    vec its[BASIS];
#if ORDER == 0
    its[0] = spread(1);
#else
    const indices edge = code & 3;
    basis_at(choose(edge == 0, spread(back), choose(edge == 1, spread(t), spread(0))),
             choose(edge == 0, spread(0), choose(edge == 1, spread(back), spread(t))), its);
#endif
    vec its_level = value_of(n.state[0], its), its_U = value_of(n.state[1], its), its_V = value_of(n.state[2], its);
    vec its_u = value_of(n.u, its), its_v = value_of(n.v, its);
    const indices land = code == -1;
    if (IS_ANY(outside)) {
      // Land mirrors the velocity; the sea has this element's.
      const vec mirror = 2 / length2, turn_U = mirror * through, turn_u = mirror * speed;
      its_level = choose(outside, level, its_level);
      its_U = choose(outside, U, its_U);
      its_V = choose(outside, V, its_V);
      its_u = choose(outside, u, its_u);
      its_v = choose(outside, v, its_v);
      its_level = choose(code == -2, spread(s->sea), its_level);
      its_U = choose(land, U - turn_U * normal[0], its_U);
      its_V = choose(land, V - turn_U * normal[1], its_V);
      its_u = choose(land, u - turn_u * normal[0], its_u);
      its_v = choose(land, v - turn_u * normal[1], its_v);
      if (GIVEN) {
        const indices exact = code <= -3;
        const indices at = choose_indices(exact, ((-3 - code) * EDGE_POINTS + q) * EDGE_VALUES, place(0));
#ifdef PIPELINE
        GLOBAL const real* values = s->given;
#else
        GLOBAL const real* values = s->given + COMPONENTS * s->stride;
#endif
        its_level = choose(exact, pick(values, at), its_level);
        its_U = choose(exact, pick(values + 1, at), its_U);
        its_V = choose(exact, pick(values + 2, at), its_V);
        its_u = choose(exact, its_U / (bed + its_level), its_u);
        its_v = choose(exact, its_V / (bed + its_level), its_v);
      }
    }
    const vec its_through = its_U * normal[0] + its_V * normal[1], its_speed = its_u * normal[0] + its_v * normal[1];
    const vec pressure = s->gravity * (level * ((real)0.5 * level + bed) + its_level * ((real)0.5 * its_level + bed));
    const vec fastest = larger(size_of_it(speed) + root(steep * height),
                               size_of_it(its_speed) + root(steep * (bed + its_level)));
    const vec mass = through + its_through + fastest * (level - its_level);
    const vec flux[FIELDS] = {choose(land, spread(0), mass),
                              speed * U + its_speed * its_U + pressure * normal[0] + fastest * (U - its_U),
                              speed * V + its_speed * its_V + pressure * normal[1] + fastest * (V - its_V)};
    const real weight = (real)0.5 * edge_weight(q);
    UNROLL
    for (int f = 0; f < FIELDS; ++f) {
      UNROLL
      for (int i = 0; i < BASIS; ++i) rate[f][i] -= weight * flux[f] * phi[i];
    }
  }
}

// The fluxes through all edges of the elements from e on.
INLINE void add_edges(const stage_of* s, const cell* c, uint e, const vec* to_r, const vec* to_s, vec rate[FIELDS][BASIS],
                      vec* lowest) {
  const vec below[2] = {-2 * to_s[0], -2 * to_s[1]};
  const vec across[2] = {2 * (to_r[0] + to_s[0]), 2 * (to_r[1] + to_s[1])};
  const vec left[2] = {-2 * to_r[0], -2 * to_r[1]};
  add_edge(s, c, e, 0, below, rate, lowest);
  add_edge(s, c, e, 1, across, rate, lowest);
  add_edge(s, c, e, 2, left, rate, lowest);
}

#ifndef PIPELINE
#if FOURS
INLINE void fetch_own(const stage_of* s, uint e, cell* c, vec* to_r, vec* to_s) {
  vec values[4 * PLANES], slopes[4];
  UNROLL
  for (int i = 0; i < PLANES; ++i) load_fours(s->from + (size_t)(4 * i) * s->stride, e, values + 4 * i);
  take(values, c);
  UNROLL
  for (int i = BEDS; i < 3; ++i) c->bed[i] = load(s->bed, i * s->stride + e);
  load_fours(s->geometry, e, slopes);
  to_r[0] = slopes[0];
  to_r[1] = slopes[1];
  to_s[0] = slopes[2];
  to_s[1] = slopes[3];
}

// base_share * base + moved, of which the first stage has no base.
INLINE void keep(const stage_of* s, uint e, uint lanes, const cell* c, vec moved[FIELDS][BASIS]) {
  vec values[4 * PLANES];
  UNROLL
  for (int i = 0; i < 4 * PLANES; ++i)
    values[i] = i < COMPONENTS          ? moved[i / BASIS % FIELDS][i % BASIS]
                : i < COMPONENTS + BEDS ? c->bed[(i - COMPONENTS) % 3]
                                        : spread(0);
  UNROLL
  for (int i = 0; i < PLANES; ++i) {
    const size_t plane = (size_t)(4 * i) * s->stride;
#if ORDER > 0
    vec base[4];
    load_fours(s->base + plane, e, base);
    UNROLL
    for (int k = 0; k < 4; ++k) {
      if (4 * i + k < COMPONENTS) values[4 * i + k] += s->base_share * base[k];
    }
#endif
    store_fours(values + 4 * i, s->to + plane, e, lanes);
  }
}
#else
INLINE void fetch_own(const stage_of* s, uint e, cell* c, vec* to_r, vec* to_s) {
  UNROLL
  for (int f = 0; f < FIELDS; ++f) {
    UNROLL
    for (int i = 0; i < BASIS; ++i) c->state[f][i] = load(s->from, (f * BASIS + i) * s->stride + e);
  }
  UNROLL
  for (int i = 0; i < 3; ++i) c->bed[i] = load(s->bed, i * s->stride + e);
  UNROLL
  for (int i = 0; i < 2; ++i) {
    to_r[i] = load(s->geometry, i * s->stride + e);
    to_s[i] = load(s->geometry, (i + 2) * s->stride + e);
  }
}

// base_share * base + moved.
INLINE void keep(const stage_of* s, uint e, uint lanes, const cell* c, vec moved[FIELDS][BASIS]) {
  UNROLL
  for (int f = 0; f < FIELDS; ++f) {
    UNROLL
    for (int i = 0; i < BASIS; ++i) {
      const uint at = (f * BASIS + i) * s->stride + e;
#if ORDER == 0  // one stage: nothing is added to it
      store(moved[f][i], s->to, at, lanes);
#else
      store(s->base_share * load(s->base, at) + moved[f][i], s->to, at, lanes);
#endif
    }
  }
}
#endif

// One stage on the elements e to e + lanes - 1.
INLINE void update(const stage_of* s, uint e, uint lanes) {
  cell c;
  vec to_r[2], to_s[2];
  fetch_own(s, e, &c, to_r, to_s);
  vec lowest = project(&c);
  vec rate[FIELDS][BASIS];
  UNROLL
  for (int f = 0; f < FIELDS; ++f) {
    UNROLL
    for (int i = 0; i < BASIS; ++i) {
      rate[f][i] = GIVEN ? load(s->given, (f * BASIS + i) * s->stride + e) : spread(0);
    }
  }
  add_volume(s, &c, to_r, to_s, rate);
  add_edges(s, &c, e, to_r, to_s, rate, &lowest);
  UNROLL
  for (int f = 0; f < FIELDS; ++f) {
    UNROLL
    for (int i = 0; i < BASIS; ++i) rate[f][i] = s->share * (c.state[f][i] + s->time_step * rate[f][i]);
  }
  keep(s, e, lanes, &c, rate);
  note(lowest, s->minimum, s->step, s->dry, e, lanes);
}

// Where a state has component i of an element.
INLINE size_t place_of(uint i, uint element, uint stride) {
  return FOURS ? ((size_t)(i / 4) * stride + element) * 4 + i % 4 : (size_t)i * stride + element;
}
// Component i of all: of what is sent, of the halo.
INLINE void pack_one(GLOBAL const real* from, GLOBAL const int* elements, GLOBAL real* message, uint i, uint stride) {
  message[i] = from[place_of(i % COMPONENTS, (uint)elements[i / COMPONENTS], stride)];
}
INLINE void unpack_one(GLOBAL const real* message, GLOBAL real* to, uint i, uint first, uint stride) {
  to[place_of(i % COMPONENTS, first + i / COMPONENTS, stride)] = message[i];
}

#ifdef IS_KERNELS
__kernel GROUP_OF(GROUP) OF_VECTORS void stage(__global const real* from, __global const real* base, __global real* to,
                                    __global const int* neighbours, __global const real* geometry,
                                    __global const real* bed, __global const real* given, __global int* dry,
                                    const uint first, const uint count, const uint stride, const int step,
                                    const real base_share, const real share, const real time_step, const real sea,
                                    const real gravity, const real coriolis, const real friction, const real minimum) {
  const uint i = get_global_id(0) * LANES;
  if (i >= count) return;
  stage_of s;
  s.from = from;
  s.base = base;
  s.to = to;
  s.neighbours = neighbours;
  s.geometry = geometry;
  s.bed = bed;
  s.given = given;
  s.dry = dry;
  s.stride = stride;
  s.step = step;
  s.base_share = base_share;
  s.share = share;
  s.time_step = time_step;
  s.sea = sea;
  s.gravity = gravity;
  s.coriolis = coriolis;
  s.friction = friction;
  s.minimum = minimum;
  update(&s, first + i, min((uint)LANES, count - i));
}

__kernel GROUP_OF(GROUP) void pack(__global const real* from, __global const int* elements, __global real* message,
                                   const uint count, const uint stride) {
  const uint i = get_global_id(0);
  if (i < count * COMPONENTS) pack_one(from, elements, message, i, stride);
}

__kernel GROUP_OF(GROUP) void unpack(__global const real* message, __global real* to, const uint first, const uint count,
                                     const uint stride) {
  const uint i = get_global_id(0);
  if (i < count * COMPONENTS) unpack_one(message, to, i, first, stride);
}
#endif
#endif
