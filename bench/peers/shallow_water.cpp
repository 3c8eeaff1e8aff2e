// The peer of shallow_water on CPUs: the same numerics (peers/shallow_water.hpp) with OpenMP, in vectors as wide as the
// processor has them.
//
//   peer_shallow_water MESH.14 REFINEMENTS ORDER STEPS [SAMPLES [STATES]]
//
// Prints {"peer", "case", "samples_s", "work", "level_rms"}: work is element updates of a sample. STATES: file of the
// elements' mean level and velocities at the end.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define EVERYWHERE inline __attribute__((always_inline))
#define UNROLLED _Pragma("GCC unroll 16")

namespace water {

#if defined(__AVX512F__)
constexpr unsigned lanes = 16;
#else
constexpr unsigned lanes = 8;
#endif
using Vec [[gnu::vector_size(4 * lanes)]] = float;
using Index [[gnu::vector_size(4 * lanes)]] = int;

EVERYWHERE Vec root(Vec x) {
#if defined(__AVX512F__)
  return _mm512_sqrt_ps(x);
#else
  for (unsigned i = 0; i < lanes; ++i) x[i] = std::sqrt(x[i]);
  return x;
#endif
}
EVERYWHERE Vec absolute(Vec x) {
  return reinterpret_cast<Vec>(reinterpret_cast<Index>(x) & 0x7fffffff);
}
EVERYWHERE Vec larger(Vec a, Vec b) {
  return a > b ? a : b;
}
EVERYWHERE Vec select(Index which, Vec yes, Vec no) {
  return which ? yes : no;
}

}  // namespace water

#include "shallow_water.hpp"

namespace water {

EVERYWHERE Vec gathered(const float* from, Index at) {
#if defined(__AVX512F__)
  return _mm512_i32gather_ps(reinterpret_cast<__m512i>(at), from, 4);
#elif defined(__AVX2__)
  return _mm256_i32gather_ps(from, reinterpret_cast<__m256i>(at), 4);
#else
  Vec x{};
  for (unsigned i = 0; i < lanes; ++i) x[i] = from[at[i]];
  return x;
#endif
}
template <class T>
EVERYWHERE T loaded(const void* from) {
  T x;
  std::memcpy(&x, from, sizeof x);
  return x;
}

template <int P>
struct Lanes {
  const float *from, *base, *slopes, *bed;
  const int* codes;
  float* to;
  std::size_t stride;

  EVERYWHERE void own(Cell<P, Vec>& c, unsigned e) const {
    UNROLLED
    for (int i = 0; i < 3 * basis_count<P>; ++i)
      c.q[i / basis_count<P>][i % basis_count<P>] = loaded<Vec>(from + i * stride + e);
    UNROLLED
    for (int i = 0; i < 3; ++i) c.bed[i] = loaded<Vec>(bed + i * stride + e);
  }
  EVERYWHERE void slopes_of(Vec* four, unsigned e) const {
    UNROLLED
    for (int i = 0; i < 4; ++i) four[i] = loaded<Vec>(slopes + i * stride + e);
  }
  EVERYWHERE Index code(int k, unsigned e) const { return loaded<Index>(codes + k * stride + e); }
  EVERYWHERE void near(Cell<P, Vec>& c, Index code, unsigned) const {
    const Index at = code < 0 ? Index{} : code >> 2;
    UNROLLED
    for (int i = 0; i < 3 * basis_count<P>; ++i)
      c.q[i / basis_count<P>][i % basis_count<P>] = gathered(from + i * stride, at);
    UNROLLED
    for (int i = 0; i < (P == 0 ? 1 : 3); ++i) c.bed[i] = gathered(bed + i * stride, at);
  }
  EVERYWHERE void keep(const Cell<P, Vec>&, Vec moved[3][basis_count<P>], unsigned e, float share) const {
    UNROLLED
    for (int i = 0; i < 3 * basis_count<P>; ++i) {
      Vec x = moved[i / basis_count<P>][i % basis_count<P>];
      if (P > 0) x += share * loaded<Vec>(base + i * stride + e);
      std::memcpy(to + i * stride + e, &x, sizeof x);
    }
  }
};

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

// On huge pages, as ours has them.
template <class T>
std::unique_ptr<T, Free> copied(const std::vector<T>& values) {
  constexpr std::size_t huge_page = std::size_t{2} << 20;
  const std::size_t bytes = (values.size() * sizeof(T) + huge_page - 1) / huge_page * huge_page;
  std::unique_ptr<T, Free> memory(static_cast<T*>(std::aligned_alloc(huge_page, bytes)));
  madvise(memory.get(), bytes, MADV_HUGEPAGE);
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < values.size(); ++i) memory.get()[i] = values[i];
  return memory;
}

template <int P>
void measure(const Mesh& mesh, long steps, int samples, const char* path) {
  const Arrays<float> all = arrays_of<P, float>(mesh);
  const auto slopes = copied(all.slopes), bed = copied(all.bed);
  const auto near = copied(all.near);
  const std::size_t count = P == 2 ? 3 : 2;
  std::unique_ptr<float, Free> states[3];
  for (std::size_t i = 0; i < count; ++i) states[i] = copied(all.state);
  const auto stages = stages_of(P);
  std::vector<double> seconds;
  for (int sample = 0; sample < samples; ++sample) {
    std::copy(all.state.begin(), all.state.end(), states[0].get());
    const auto begin = std::chrono::steady_clock::now();
    for (long step = 0; step < steps; ++step)
      for (std::size_t i = 0; i < stages.size(); ++i) {
        const Turn turn = turn_of(P, i, step);
        const Constants<float> k = constants_of<float>(stages[i], all.dt, step);
        const Lanes<P> arrays{states[turn.from].get(),
                              states[turn.base].get(),
                              slopes.get(),
                              bed.get(),
                              near.get(),
                              states[turn.to].get(),
                              all.stride};
#pragma omp parallel for schedule(static)
        for (unsigned e = 0; e < all.stride; e += lanes) update<P, float, Vec>(arrays, e, k);
      }
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  const float* last = states[P == 0 ? steps % 2 : 0].get();
  const std::vector<float> end(last, last + all.state.size());
  if (path != nullptr) write_states(all, end, path);
  fmt::print(
      "{{\"peer\": \"OpenMP\", \"case\": \"{} lanes\", \"samples_s\": [{}], \"work\": {}, \"level_rms\": {:.9g}}}\n",
      lanes, fmt::join(seconds, ", "), mesh.size() * stages.size() * static_cast<std::size_t>(steps),
      level_rms(all, end));
}

}  // namespace water

int main(int count, char** words) {
  if (count < 5) {
    fmt::print(stderr, "usage: peer_shallow_water MESH.14 REFINEMENTS ORDER STEPS [SAMPLES [STATES]]\n");
    return 2;
  }
  water::Mesh mesh = water::read_mesh(words[1]);
  for (int i = std::atoi(words[2]); i > 0; --i) mesh = water::cut(mesh);
  const int order = std::atoi(words[3]), samples = count > 5 ? std::atoi(words[5]) : 10;
  const long steps = std::atol(words[4]);
  const auto measure = order == 0 ? water::measure<0> : order == 1 ? water::measure<1> : water::measure<2>;
  measure(mesh, steps, samples, count > 6 ? words[6] : nullptr);
}
