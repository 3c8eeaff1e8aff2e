// Vector registers of the host, for functions that are compiled for several instruction sets and chosen at run time, so
// that one build serves every machine.
#pragma once

#include <cstddef>

// Before a function that is to be compiled for such registers whatever the build's flags are. On machines that have no
// such instructions the function is compiled as any other, and host_vector_bytes() never selects it.
#if defined(__x86_64__)
#define PLUMBLINE_VECTORS_OF_64 [[gnu::target("avx512f,avx512vl,avx512bw,avx512dq,fma")]]
#define PLUMBLINE_VECTORS_OF_32 [[gnu::target("avx2,fma")]]
#else
#define PLUMBLINE_VECTORS_OF_64
#define PLUMBLINE_VECTORS_OF_32
#endif

namespace plumb {

// Bytes of the widest vector registers that fused multiply-add works on: 64 (AVX-512), 32 (AVX2), else 16.
std::size_t host_vector_bytes();

}  // namespace plumb
