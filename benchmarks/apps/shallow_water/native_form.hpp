// For native_*.cpp only, included where INSTRUCTIONS are enabled: shallow_water.cl for both types and all orders, with
// VECTOR_BYTES of lanes.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "benchmarks/apps/shallow_water/native.hpp"

#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define GLOBAL
#define INLINE static inline __attribute__((always_inline))
#define FRICTION (s->friction_kind)
#define GIVEN (s->is_given)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"  // of orders without that many points
#pragma GCC diagnostic ignored "-Wpsabi"             // four doubles without AVX, in functions that are inlined
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // in the compiler's own header of gathers

namespace plumb::shallow_water::INSTRUCTIONS {

namespace {

// NOLINTNEXTLINE(readability-identifier-naming): the kernel's name
using uint = std::uint32_t;

#define REAL_BYTES 4
#define ORDER 0
#define PRECISION single_0
#include "benchmarks/apps/shallow_water/native_type.hpp"
#define ORDER 1
#define PRECISION single_1
#include "benchmarks/apps/shallow_water/native_type.hpp"
#define ORDER 2
#define PRECISION single_2
#include "benchmarks/apps/shallow_water/native_type.hpp"
#undef REAL_BYTES
#define REAL_BYTES 8
#define ORDER 0
#define PRECISION double_0
#include "benchmarks/apps/shallow_water/native_type.hpp"
#define ORDER 1
#define PRECISION double_1
#include "benchmarks/apps/shallow_water/native_type.hpp"
#define ORDER 2
#define PRECISION double_2
#include "benchmarks/apps/shallow_water/native_type.hpp"
#undef REAL_BYTES

StageFunction of(ScalarType type, int order) {
  if (type == ScalarType::f32) return order == 0 ? single_0::run : order == 1 ? single_1::run : single_2::run;
  return order == 0 ? double_0::run : order == 1 ? double_1::run : double_2::run;
}

}  // namespace

}  // namespace plumb::shallow_water::INSTRUCTIONS

#pragma GCC diagnostic pop
