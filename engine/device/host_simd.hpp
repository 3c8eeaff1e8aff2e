// Vector registers of the host, for functions compiled for several instruction sets and selected at run time, so one
// build serves every machine.
#pragma once

#include <cstddef>

// Attribute of functions compiled for an instruction set independent of the build's flags. No effect on other
// architectures, where host_vector_bytes() never selects such functions.
#if defined(__x86_64__)
#define PLUMBLINE_VECTORS_OF_64 [[gnu::target("avx512f,avx512vl,avx512bw,avx512dq,fma")]]
#define PLUMBLINE_VECTORS_OF_32 [[gnu::target("avx2,fma")]]
#else
#define PLUMBLINE_VECTORS_OF_64
#define PLUMBLINE_VECTORS_OF_32
#endif

namespace plumb {

// Bytes of the widest vector registers with fused multiply-add: 64 (AVX-512), 32 (AVX2), else 16.
std::size_t host_vector_bytes();

// Square roots of a vector of doubles (gnu::vector_size), for functions with the attributes above. std::sqrt of each
// lane would look at its sign, to set errno.
template <class V>
[[gnu::always_inline]] inline void square_roots(const V& values, V& roots) {
#if defined(__x86_64__)
  if constexpr (sizeof(V) == 16)
    asm("sqrtpd %1, %0" : "=x"(roots) : "x"(values));
  else
    asm("vsqrtpd %1, %0" : "=v"(roots) : "v"(values));
#else
  for (std::size_t lane = 0; lane < sizeof(V) / sizeof(double); ++lane) roots[lane] = __builtin_sqrt(values[lane]);
#endif
}

}  // namespace plumb
