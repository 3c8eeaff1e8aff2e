// For native_*.cpp only, included where INSTRUCTIONS are enabled: cpu.cl for both types and both directions.
// STREAM_VECTOR(address, value) is the compiler's non-temporal store.
#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define GLOBAL
#define RESTRICT __restrict__
#define INLINE static inline __attribute__((always_inline))
#define PART static inline
#define FETCH(address) __builtin_prefetch(address)

namespace plumb::fft {

namespace INSTRUCTIONS {

namespace {

// NOLINTNEXTLINE(readability-identifier-naming): the kernel's name
using ulong = std::uint64_t;

#define REAL_BYTES 4
#define PRECISION single_forward
#include "benchmarks/hpcc/fft/native_type.hpp"
#undef PRECISION
#define INVERSE
#define PRECISION single_inverse
#include "benchmarks/hpcc/fft/native_type.hpp"
#undef PRECISION
#undef INVERSE
#undef REAL_BYTES

#define REAL_BYTES 8
#define PRECISION double_forward
#include "benchmarks/hpcc/fft/native_type.hpp"
#undef PRECISION
#define INVERSE
#define PRECISION double_inverse
#include "benchmarks/hpcc/fft/native_type.hpp"

ShareFunction choose(ScalarType type, bool inverse) {
  if (type == ScalarType::f64) return inverse ? double_inverse::run : double_forward::run;
  return inverse ? single_inverse::run : single_forward::run;
}

}  // namespace

}  // namespace INSTRUCTIONS

}  // namespace plumb::fft
