// cpu.cl for processors with AVX2.
#include "benchmarks/hpcc/fft/native.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
#define INSTRUCTIONS avx2
#define STREAM_VECTOR(address, value) _mm256_stream_si256(reinterpret_cast<__m256i*>(address), (__m256i)(value))
#include "benchmarks/hpcc/fft/native_form.hpp"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace plumb::fft {

ShareFunction avx2_share(ScalarType type, bool inverse) {
  const bool here = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return here ? avx2::choose(type, inverse) : nullptr;
}

}  // namespace plumb::fft
#else
namespace plumb::fft {

ShareFunction avx2_share(ScalarType, bool) {
  return nullptr;
}

}  // namespace plumb::fft
#endif
