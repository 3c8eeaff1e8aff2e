// shallow_water.cl for any processor, in vectors of 16 bytes.
#include <cmath>
#include <limits>

namespace plumb::shallow_water::baseline {

namespace {

template <class Vec, class Real, class Index>
inline __attribute__((always_inline)) Vec gathered(const Real* from, Index at) {
  Vec x{};
  for (unsigned lane = 0; lane < sizeof(Vec) / sizeof(Real); ++lane) x[lane] = from[at[lane]];
  return x;
}
template <class Vec>
inline __attribute__((always_inline)) Vec root_of(Vec x) {
  for (unsigned lane = 0; lane < sizeof x / sizeof x[0]; ++lane) x[lane] = std::sqrt(x[lane]);
  return x;
}
template <class Mask>
inline __attribute__((always_inline)) bool every(Mask x) {
  bool all = true;
  for (unsigned lane = 0; lane < sizeof x / sizeof x[0]; ++lane) all = all && x[lane] != 0;
  return all;
}

}  // namespace

}  // namespace plumb::shallow_water::baseline

#define INSTRUCTIONS baseline
#define VECTOR_BYTES 16
#define GATHER(from, at) (gathered<vec>(from, at))
#define ROOT(x) root_of(x)
#define EVERY(wet) every(wet)
#include "benchmarks/apps/shallow_water/native_form.hpp"

namespace plumb::shallow_water {

StageFunction baseline_stage(ScalarType type, int order) {
  return baseline::of(type, order);
}

}  // namespace plumb::shallow_water
