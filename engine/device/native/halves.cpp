#include "device/native/halves.hpp"

#include "core/scalar.hpp"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace plumb {

namespace {

#if defined(__x86_64__)

const bool has_instructions = __builtin_cpu_supports("f16c") != 0;

// Return the number converted; the caller converts the remainder.
__attribute__((target("avx,f16c"))) std::size_t widen_eights(const std::uint16_t* halves, float* floats,
                                                             std::size_t count) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(floats + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(halves + i))));
  return i;
}

__attribute__((target("avx,f16c"))) std::size_t narrow_eights(const float* floats, std::uint16_t* halves,
                                                              std::size_t count) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(halves + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(floats + i), _MM_FROUND_TO_NEAREST_INT));
  return i;
}

#else

constexpr bool has_instructions = false;
std::size_t widen_eights(const std::uint16_t*, float*, std::size_t) {
  return 0;
}
std::size_t narrow_eights(const float*, std::uint16_t*, std::size_t) {
  return 0;
}

#endif

}  // namespace

void widen_halves(const std::uint16_t* halves, float* floats, std::size_t count) {
  std::size_t i = has_instructions ? widen_eights(halves, floats, count) : 0;
  for (; i < count; ++i) floats[i] = static_cast<float>(from_half(halves[i]));
}

void narrow_to_halves(const float* floats, std::uint16_t* halves, std::size_t count) {
  std::size_t i = has_instructions ? narrow_eights(floats, halves, count) : 0;
  for (; i < count; ++i) halves[i] = to_half(static_cast<double>(floats[i]));
}

}  // namespace plumb
