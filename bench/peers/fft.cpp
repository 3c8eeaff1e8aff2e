// The peer of fft on CPUs: FFTW with as many threads as cores, forward, in place and out of place, by its measured and
// by its patient plan (sought for half a minute), a case each. Built with FFTW's POSIX threads, and as peer_fft_openmp
// with its OpenMP. Plans that one run has found are read by the next from files of FFTW's wisdom, WISDOM-PROGRAM-PLAN.
//
//   peer_fft [SIZE [TYPE [DATA [SAMPLES [WISDOM]]]]]     log2 of the points, 10; float or double; MiB that the batch
//   fills, 256; 10; none
#include <fftw3.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <omp.h>
#include <sys/mman.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Single {
  using Real = float;
  using Complex = fftwf_complex;
  static constexpr auto init_threads = fftwf_init_threads;
  static constexpr auto use_threads = fftwf_plan_with_nthreads;
  static constexpr auto plan = fftwf_plan_many_dft;
  static constexpr auto execute = fftwf_execute;
  static constexpr auto limit = fftwf_set_timelimit;
  static constexpr auto forget = fftwf_forget_wisdom;
  static constexpr auto import_wisdom = fftwf_import_wisdom_from_filename;
  static constexpr auto export_wisdom = fftwf_export_wisdom_to_filename;
};

struct Double {
  using Real = double;
  using Complex = fftw_complex;
  static constexpr auto init_threads = fftw_init_threads;
  static constexpr auto use_threads = fftw_plan_with_nthreads;
  static constexpr auto plan = fftw_plan_many_dft;
  static constexpr auto execute = fftw_execute;
  static constexpr auto limit = fftw_set_timelimit;
  static constexpr auto forget = fftw_forget_wisdom;
  static constexpr auto import_wisdom = fftw_import_wisdom_from_filename;
  static constexpr auto export_wisdom = fftw_export_wisdom_to_filename;
};

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

// On huge pages, as ours has them.
template <class T>
std::unique_ptr<T, Free> allocate(std::size_t bytes) {
  constexpr std::size_t huge_page = std::size_t{2} << 20;
  const std::size_t rounded = (bytes + huge_page - 1) / huge_page * huge_page;
  std::unique_ptr<T, Free> memory(static_cast<T*>(std::aligned_alloc(huge_page, rounded)));
  madvise(memory.get(), rounded, MADV_HUGEPAGE);
  return memory;
}

constexpr double most_planning_s = 30;

struct Shape {
  std::string type;
  int size = 0;  // log2 of the points
  std::size_t batch = 0;
  int samples = 0;
};

template <class Kind>
void measure(const Shape& shape, const char* planned, unsigned flags, const char* place, typename Kind::Real* from,
             typename Kind::Real* to) {
  const std::size_t numbers = 2 * shape.batch << shape.size;
  const int length = 1 << shape.size;
  auto* in = reinterpret_cast<typename Kind::Complex*>(from);
  auto* out = reinterpret_cast<typename Kind::Complex*>(to);
  Kind::limit(most_planning_s);
  const auto plan = Kind::plan(1, &length, static_cast<int>(shape.batch), in, nullptr, 1, length, out, nullptr, 1,
                               length, FFTW_FORWARD, from == to ? flags : flags | FFTW_PRESERVE_INPUT);
  std::minstd_rand words(1);
  std::uniform_real_distribution<typename Kind::Real> uniform(-1, 1);
  std::vector<double> seconds;
  for (int sample = -1; sample < shape.samples; ++sample) {  // the first warms up
    if (sample <= 0 || from == to)                           // in place, results would grow
      for (std::size_t i = 0; i < numbers; ++i) from[i] = uniform(words);
    const double begin = now();
    Kind::execute(plan);
    if (sample >= 0) seconds.push_back(now() - begin);
  }
  fmt::print(
      "{{\"peer\": \"FFTW, {} plan, {}, {} threads\", \"case\": \"{}/{}\", \"samples_s\": [{:.9f}], \"work\": "
      "{:.0f}}}\n",
      planned, place, omp_get_max_threads(), shape.type, length, fmt::join(seconds, ", "),
      5.0 * shape.size * static_cast<double>(length) * static_cast<double>(shape.batch));
}

template <class Kind>
void measure_all(const std::string& type, int size, std::size_t mebibytes, int samples, const std::string& wisdom) {
  const std::size_t points = std::size_t{1} << size;
  const std::size_t batch = std::max<std::size_t>(1, (mebibytes << 20) / (sizeof(typename Kind::Complex) * points));
  const Shape shape{type, size, batch, samples};
  const auto from = allocate<typename Kind::Real>(batch * points * sizeof(typename Kind::Complex));
  const auto to = allocate<typename Kind::Real>(batch * points * sizeof(typename Kind::Complex));
  Kind::init_threads();
  Kind::use_threads(omp_get_max_threads());
  for (const auto& [planned, flags] : {std::pair("measured", FFTW_MEASURE), std::pair("patient", FFTW_PATIENT)}) {
    const std::string file = fmt::format("{}-{}-{}", wisdom, program_invocation_short_name, planned);
    Kind::forget();  // a patient plan would serve as a measured one
    if (!wisdom.empty()) Kind::import_wisdom(file.c_str());
    measure<Kind>(shape, planned, flags, "out of place", from.get(), to.get());
    measure<Kind>(shape, planned, flags, "in place", from.get(), from.get());
    if (!wisdom.empty()) Kind::export_wisdom(file.c_str());
  }
}

}  // namespace

int main(int count, char** words) {
  const int size = count > 1 ? std::atoi(words[1]) : 10;
  const std::string type = count > 2 ? words[2] : "float";
  const std::size_t mebibytes = count > 3 ? std::strtoul(words[3], nullptr, 10) : 256;
  const int samples = count > 4 ? std::atoi(words[4]) : 10;
  const std::string wisdom = count > 5 ? words[5] : "";
  if (type == "double")
    measure_all<Double>(type, size, mebibytes, samples, wisdom);
  else
    measure_all<Single>(type, size, mebibytes, samples, wisdom);
}
