// The bare loops that shoms' latencies are measured beside: PE 0 puts to, or gets from, PE 1, the same calls and
// nothing else. Usage: oshrun -n 2 peer_shmem_latency BYTES. Prints "put NANOSECONDS" and "get NANOSECONDS", each the
// median over samples of about a millisecond.
#include <shmem.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int samples = 40;

template <class Loop>
double median_nanoseconds(Loop loop) {
  using clock = std::chrono::steady_clock;
  const auto seconds = [&](long count) {
    const auto begin = clock::now();
    loop(count);
    return std::chrono::duration<double>(clock::now() - begin).count();
  };
  long count = 1;
  while (seconds(count) < 1e-3) count *= 2;
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) times.push_back(seconds(count) / static_cast<double>(count));
  std::nth_element(times.begin(), times.begin() + samples / 2, times.end());
  return times[samples / 2] * 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  setenv("OMPI_MCA_osc", "^rdma", 0);  // or Open MPI 4.1 crashes in shmem_finalize
  shmem_init();
  const std::size_t elements =
      std::max<std::size_t>(1, std::strtoull(argc > 1 ? argv[1] : "8", nullptr, 10) / sizeof(long));
  auto* const target = static_cast<long*>(shmem_malloc(elements * sizeof(long)));
  auto* const source = static_cast<long*>(shmem_malloc(elements * sizeof(long)));
  if (target == nullptr || source == nullptr) shmem_global_exit(1);
  std::fill(source, source + elements, 7);
  shmem_barrier_all();
  if (shmem_my_pe() == 0) {
    const double put = median_nanoseconds([&](long count) {
      for (long i = 0; i < count; ++i) {
        shmem_long_put(target, source, elements, 1);
        shmem_quiet();
      }
    });
    const double get = median_nanoseconds([&](long count) {
      for (long i = 0; i < count; ++i) shmem_long_get(target, source, elements, 1);
    });
    std::printf("put %.3f\nget %.3f\n", put, get);
  }
  shmem_barrier_all();
  shmem_free(source);
  shmem_free(target);
  shmem_finalize();
}
