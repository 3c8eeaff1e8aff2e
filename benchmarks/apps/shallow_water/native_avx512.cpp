// shallow_water.cl for processors with AVX-512.
#include <limits>

#include "benchmarks/apps/shallow_water/native.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx2,fma,prefer-vector-width=512"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx2,fma,prefer-vector-width=512")
#endif

namespace plumb::shallow_water::avx512 {

namespace {

using Sixteen [[gnu::vector_size(64)]] = std::int32_t;
using Eight [[gnu::vector_size(32)]] = std::int32_t;

inline __attribute__((always_inline)) __m512 gathered(const float* from, Sixteen at) {
  return _mm512_i32gather_ps(reinterpret_cast<__m512i>(at), from, 4);
}
inline __attribute__((always_inline)) __m512d gathered(const double* from, Eight at) {
  return _mm512_i32gather_pd(reinterpret_cast<__m256i>(at), from, 8);
}
inline __attribute__((always_inline)) __m512 root_of(__m512 x) {
  return _mm512_sqrt_ps(x);
}
inline __attribute__((always_inline)) __m512d root_of(__m512d x) {
  return _mm512_sqrt_pd(x);
}

}  // namespace

}  // namespace plumb::shallow_water::avx512

#define INSTRUCTIONS avx512
#define VECTOR_BYTES 64
#define GATHER(from, at) gathered(from, at)
#define ROOT(x) root_of(x)
#define EVERY(wet) (_mm512_movepi32_mask(reinterpret_cast<__m512i>(wet)) == 0xffff)
#include "benchmarks/apps/shallow_water/native_form.hpp"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace plumb::shallow_water {

StageFunction avx512_stage(ScalarType type, int order) {
  const bool here = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
  return here ? avx512::of(type, order) : nullptr;
}

}  // namespace plumb::shallow_water
#else
namespace plumb::shallow_water {

StageFunction avx512_stage(ScalarType, int) {
  return nullptr;
}

}  // namespace plumb::shallow_water
#endif
