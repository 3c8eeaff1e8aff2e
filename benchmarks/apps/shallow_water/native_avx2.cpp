// shallow_water.cl for processors with AVX2.
#include <limits>

#include "benchmarks/apps/shallow_water/native.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif

namespace plumb::shallow_water::avx2 {

namespace {

using Eight [[gnu::vector_size(32)]] = std::int32_t;
using Four [[gnu::vector_size(16)]] = std::int32_t;

inline __attribute__((always_inline)) __m256 gathered(const float* from, Eight at) {
  return _mm256_i32gather_ps(from, reinterpret_cast<__m256i>(at), 4);
}
inline __attribute__((always_inline)) __m256d gathered(const double* from, Four at) {
  return _mm256_i32gather_pd(from, reinterpret_cast<__m128i>(at), 8);
}
inline __attribute__((always_inline)) __m256 root_of(__m256 x) {
  return _mm256_sqrt_ps(x);
}
inline __attribute__((always_inline)) __m256d root_of(__m256d x) {
  return _mm256_sqrt_pd(x);
}

}  // namespace

}  // namespace plumb::shallow_water::avx2

#define INSTRUCTIONS avx2
#define VECTOR_BYTES 32
#define GATHER(from, at) gathered(from, at)
#define ROOT(x) root_of(x)
#define EVERY(wet) (_mm256_movemask_epi8(reinterpret_cast<__m256i>(wet)) == -1)
#include "benchmarks/apps/shallow_water/native_form.hpp"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace plumb::shallow_water {

StageFunction avx2_stage(ScalarType type, int order) {
  const bool here = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return here ? avx2::of(type, order) : nullptr;
}

}  // namespace plumb::shallow_water
#else
namespace plumb::shallow_water {

StageFunction avx2_stage(ScalarType, int) {
  return nullptr;
}

}  // namespace plumb::shallow_water
#endif
