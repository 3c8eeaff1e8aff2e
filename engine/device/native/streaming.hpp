// Stores that go past the caches, where the processor has them: what is written once and not soon read again need not
// be read before.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace plumb {

// Words of a cache line. Lines lie at multiples of their length.
inline constexpr std::size_t line_words = 8;

inline void store_line_past_caches(std::uint64_t* to, const std::uint64_t (&line)[line_words]) {
#ifdef __x86_64__
  for (std::size_t i = 0; i < line_words; i += 2)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(line + i)));
#else
  std::memcpy(to, line, sizeof line);
#endif
}

// After this others see what was stored.
inline void fence_stores() {
#ifdef __x86_64__
  _mm_sfence();
#endif
}

}  // namespace plumb
