// cpu.cl for processors with AVX-512 (in vectors of 32 bytes: twice the registers).
#include "benchmarks/hpcc/fft/native.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")
#endif
#define INSTRUCTIONS avx512
#define STREAM_VECTOR(address, value) _mm256_stream_si256(reinterpret_cast<__m256i*>(address), (__m256i)(value))
#include "benchmarks/hpcc/fft/native_form.hpp"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace plumb::fft {

ShareFunction avx512_share(ScalarType type, bool inverse) {
  const bool here =
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  return here ? avx512::choose(type, inverse) : nullptr;
}

}  // namespace plumb::fft
#else
namespace plumb::fft {

ShareFunction avx512_share(ScalarType, bool) {
  return nullptr;
}

}  // namespace plumb::fft
#endif
