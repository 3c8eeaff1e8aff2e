// For native_form.hpp only: shallow_water.cl in one type and order.
namespace PRECISION {

#if REAL_BYTES == 8
using real = double;
using lane_mask = std::int64_t;
#else
using real = float;
using lane_mask = std::int32_t;
#endif
#define LANES (VECTOR_BYTES / REAL_BYTES)
inline constexpr uint vector_lanes = LANES;
// NOLINTBEGIN(readability-identifier-naming): the kernel's names
using vec [[gnu::vector_size(VECTOR_BYTES)]] = real;
using mask [[gnu::vector_size(VECTOR_BYTES)]] = lane_mask;
using indices [[gnu::vector_size(VECTOR_BYTES / REAL_BYTES * 4)]] = std::int32_t;
using four [[gnu::vector_size(4 * REAL_BYTES)]] = real;
// NOLINTEND(readability-identifier-naming)

INLINE vec spread(real x) {
  return vec{} + x;
}
INLINE vec load(const real* from, uint at) {
  vec x;
  __builtin_memcpy(&x, from + at, sizeof x);
  return x;
}
INLINE indices load_indices(const int* from, uint at) {
  indices x;
  __builtin_memcpy(&x, from + at, sizeof x);
  return x;
}
INLINE indices place(uint at) {
  indices x;
  for (uint lane = 0; lane < vector_lanes; ++lane) x[lane] = static_cast<int>(at + lane);
  return x;
}
INLINE vec pick(const real* from, indices at) {
  return GATHER(from, at);
}
INLINE four load_four(const real* from) {
  four x;
  __builtin_memcpy(&x, from, sizeof x);
  return x;
}
INLINE void store_four(four x, real* to) {
  __builtin_memcpy(to, &x, sizeof x);
}
INLINE vec choose(indices which, vec yes, vec no) {
  return __builtin_convertvector(which, mask) ? yes : no;
}
INLINE indices choose_indices(indices which, indices yes, indices no) {
  return which ? yes : no;
}
INLINE bool is_any(indices which) {
  return !EVERY(__builtin_convertvector(~which, mask));
}
#define IS_ANY(which) is_any(which)
INLINE vec larger(vec a, vec b) {
  return a > b ? a : b;
}
INLINE vec lower(vec a, vec b) {
  return a >= b ? b : a;
}
INLINE vec root(vec x) {
  return ROOT(x);
}
INLINE vec size_of_it(vec x) {
  return reinterpret_cast<vec>(reinterpret_cast<mask>(x) & ~(mask{} + std::numeric_limits<lane_mask>::min()));
}
INLINE void store(vec x, real* to, uint at, uint lanes) {
  if (lanes == vector_lanes)
    __builtin_memcpy(to + at, &x, sizeof x);
  else
    for (uint lane = 0; lane < lanes; ++lane) to[at + lane] = x[lane];
}
INLINE void note(vec lowest, real minimum, int step, int* dry, uint at, uint lanes) {
  const mask wet = lowest >= spread(minimum);
  if (EVERY(wet)) return;
  for (uint lane = 0; lane < lanes; ++lane)
    if (wet[lane] == 0 && dry[at + lane] == 0) dry[at + lane] = step;
}

#define NATIVE_STAGE
#define FOURS 1
#include "benchmarks/apps/shallow_water/shallow_water.cl"
#undef NATIVE_STAGE
#undef FOURS

void run(const StageArguments& a) {
  stage_of s{};
  s.from = reinterpret_cast<const real*>(a.from);
  s.base = reinterpret_cast<const real*>(a.base);
  s.to = reinterpret_cast<real*>(a.to);
  s.neighbours = reinterpret_cast<const int*>(a.neighbours);
  s.geometry = reinterpret_cast<const real*>(a.geometry);
  s.bed = reinterpret_cast<const real*>(a.bed);
  s.given = reinterpret_cast<const real*>(a.given);
  s.dry = reinterpret_cast<int*>(a.dry);
  s.stride = a.stride;
  s.step = a.step;
  s.base_share = static_cast<real>(a.base_share);
  s.share = static_cast<real>(a.share);
  s.time_step = static_cast<real>(a.time_step);
  s.sea = static_cast<real>(a.sea);
  s.gravity = static_cast<real>(a.gravity);
  s.coriolis = static_cast<real>(a.coriolis);
  s.friction = static_cast<real>(a.friction);
  s.minimum = static_cast<real>(a.minimum);
  s.friction_kind = a.friction_kind;
  s.is_given = a.is_given;
  for (uint done = 0; done < a.count; done += vector_lanes)
    update(&s, a.first + done, std::min(vector_lanes, a.count - done));
}

}  // namespace PRECISION

#undef LANES
#undef SHUFFLE
#undef ALL_8
#undef EVERY_FOURTH
#undef LOW_PAIRS
#undef HIGH_PAIRS
#undef LOW_HALVES
#undef HIGH_HALVES
#undef BEDS
#undef PLANES
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
