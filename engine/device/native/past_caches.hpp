// Non-temporal stores where available: a line written whole is not read first and displaces nothing from the caches.
#pragma once

#include <cstddef>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace plumb {

inline constexpr std::size_t cache_line = 64;  // bytes

// Writes one line; both addresses are line-aligned.
inline void store_line(void* to, const void* from) {
#if defined(__SSE2__)
  for (int i = 0; i < 4; ++i)
    _mm_stream_si128(static_cast<__m128i*>(to) + i, _mm_load_si128(static_cast<const __m128i*>(from) + i));
#else
  std::memcpy(to, from, cache_line);
#endif
}

// Fence after the last line, before other threads read.
inline void finish_stores() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace plumb
