// STREAM by hand: the fastest OpenMP loops with stores past the caches that we can write, on huge pages, each page
// first touched by the core that works on it. Prints one line of JSON for each form of each operation:
//   peer_stream [ELEMENTS [REPETITIONS]]    of double; by default 16777216 and 20
// Bind it: OMP_PROC_BIND=true OMP_PLACES=cores peer_stream
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <immintrin.h>
#include <sys/mman.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr double scalar = 3;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t block = 32;  // doubles: what a round of the widest loop takes

struct Run {
  std::size_t begin, end;  // elements
};

struct Free {
  void operator()(double* numbers) const { std::free(numbers); }
};
using Numbers = std::unique_ptr<double, Free>;

Numbers take(std::size_t elements, double first) {
  const std::size_t bytes = (elements * sizeof(double) + huge_page - 1) / huge_page * huge_page;
  Numbers numbers(static_cast<double*>(std::aligned_alloc(huge_page, bytes)));
  madvise(numbers.get(), bytes, MADV_HUGEPAGE);
  double* at = numbers.get();
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < elements; ++i) at[i] = first + static_cast<double>(i % 1021);
  return numbers;
}

// Each core takes one run of neighbouring pieces.
template <class Body>
void on_all_cores(std::size_t elements, Body body) {
  constexpr std::size_t pieces = 1024;
  const std::size_t blocks = elements / block;
#pragma omp parallel for schedule(static)
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    body(Run{blocks * piece / pieces * block, blocks * (piece + 1) / pieces * block});
    _mm_sfence();
  }
}

void triad_narrow(const double* b, const double* c, double* a, Run run) {
  const __m128d j = _mm_set1_pd(scalar);
  for (std::size_t i = run.begin; i < run.end; i += 2)
    _mm_stream_pd(a + i, _mm_add_pd(_mm_load_pd(b + i), _mm_mul_pd(j, _mm_load_pd(c + i))));
}

__attribute__((target("avx512f"))) void triad_wide(const double* b, const double* c, double* a, Run run) {
  const __m512d j = _mm512_set1_pd(scalar);
  for (std::size_t i = run.begin; i < run.end; i += 8)
    _mm512_stream_pd(a + i, _mm512_fmadd_pd(j, _mm512_load_pd(c + i), _mm512_load_pd(b + i)));
}

double dot_narrow(const double* a, const double* b, Run run) {
  __m128d sums[8] = {};
  for (std::size_t i = run.begin; i < run.end; i += 16)
    for (std::size_t k = 0; k < 8; ++k)
      sums[k] = _mm_add_pd(sums[k], _mm_mul_pd(_mm_load_pd(a + i + 2 * k), _mm_load_pd(b + i + 2 * k)));
  double total = 0;
  for (const __m128d sum : sums) total += sum[0] + sum[1];
  return total;
}

__attribute__((target("avx512f"))) double dot_wide(const double* a, const double* b, Run run) {
  __m512d sums[4] = {};
  for (std::size_t i = run.begin; i < run.end; i += 32)
    for (std::size_t k = 0; k < 4; ++k)
      sums[k] = _mm512_fmadd_pd(_mm512_load_pd(a + i + 8 * k), _mm512_load_pd(b + i + 8 * k), sums[k]);
  double total = 0;
  for (const __m512d sum : sums)
    for (int i = 0; i < 8; ++i) total += sum[i];
  return total;
}

struct Form {
  std::string peer, operation;
  double work;  // bytes
  std::function<void()> once;
  std::vector<double> seconds = {};
};

double seconds_of(const std::function<void()>& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t wanted = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : std::size_t{1} << 24;
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 20;
  const std::size_t elements = wanted / block * block;
  const Numbers a = take(elements, 1), b = take(elements, 2), c = take(elements, 3);
  static volatile double sink = 0;

  std::vector<Form> forms;
  const bool has_wide = __builtin_cpu_supports("avx512f") != 0;
  const double bytes = static_cast<double>(elements) * sizeof(double);
  for (const bool wide : {false, true}) {
    if (wide && !has_wide) continue;
    const std::string peer = wide ? "OpenMP, AVX-512" : "OpenMP, SSE2";
    const auto triad = wide ? triad_wide : triad_narrow;
    const auto dot = wide ? dot_wide : dot_narrow;
    forms.push_back({peer + ", stores past the caches", "triad", 3 * bytes,
                     [&, triad] { on_all_cores(elements, [&](Run run) { triad(b.get(), c.get(), a.get(), run); }); }});
    forms.push_back({peer, "dot", 2 * bytes, [&, dot] {
                       on_all_cores(elements, [&](Run run) {
                         const double part = dot(b.get(), c.get(), run);
#pragma omp critical
                         sink = sink + part;
                       });
                     }});
  }
  for (int repetition = 0; repetition <= repetitions; ++repetition)
    for (Form& form : forms)
      if (const double seconds = seconds_of(form.once); repetition > 0) form.seconds.push_back(seconds);
  for (const Form& form : forms)
    fmt::print("{{\"peer\": \"{}\", \"case\": \"{}\", \"samples_s\": [{:.6e}], \"work\": {}}}\n", form.peer,
               form.operation, fmt::join(form.seconds, ", "), static_cast<std::uint64_t>(form.work));
}
