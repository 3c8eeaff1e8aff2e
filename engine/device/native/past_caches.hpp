// Stores that go past the caches, where the processor has such: a line that is written whole need not be read first,
// and displaces nothing that is still of use.
#pragma once

#include <cstddef>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace plumb {

inline constexpr std::size_t cache_line = 64;  // bytes

// Writes one line; both addresses are multiples of its length.
inline void store_line(void* to, const void* from) {
#if defined(__SSE2__)
  for (int i = 0; i < 4; ++i)
    _mm_stream_si128(static_cast<__m128i*>(to) + i, _mm_load_si128(static_cast<const __m128i*>(from) + i));
#else
  std::memcpy(to, from, cache_line);
#endif
}

// After the last line, before another thread reads any.
inline void finish_stores() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace plumb
