// RandomAccess as HPCC's star runs it, on every core of the process: a table each, 128 runs of the polynomial stream
// that take turns, plain reads and writes, pages as malloc gives them.
//
//   peer_random_access LOG2_WORDS [SECONDS]
//
// Prints {"peer", "case", "samples_s", "work"}: a sample is the slowest core's time for its 4n updates, `work` the
// updates of all cores. (bench/peers/random_access.py runs Debian's hpcc itself.)
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

constexpr std::uint64_t runs = 128;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::uint64_t next(std::uint64_t word) {
  return (word << 1) ^ (static_cast<std::int64_t>(word) < 0 ? 7 : 0);
}

// A run starts where the one before ends.
std::array<std::uint64_t, runs> starts(std::uint64_t updates) {
  std::array<std::uint64_t, runs> words;
  std::uint64_t word = 1;
  for (std::uint64_t run = 0; run < runs; ++run) {
    words[run] = word;
    for (std::uint64_t i = 0; i < updates / runs; ++i) word = next(word);
  }
  return words;
}

void update(std::uint64_t* table, std::uint64_t words, std::array<std::uint64_t, runs> of_run) {
  for (std::uint64_t i = 0; i < 4 * words / runs; ++i)
    for (std::uint64_t& word : of_run) {
      word = next(word);
      table[word & (words - 1)] ^= word;
    }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    fmt::print(stderr, "usage: peer_random_access LOG2_WORDS [SECONDS]\n");
    return 2;
  }
  const int log2_words = std::atoi(arguments[1]);
  const double limit = count > 2 ? std::atof(arguments[2]) : 3;
  const std::uint64_t words = std::uint64_t{1} << log2_words;
  const std::array<std::uint64_t, runs> of_run = starts(4 * words);
  const int cores = omp_get_max_threads();
  std::vector<double> samples;
#pragma omp parallel num_threads(cores)
  {
    const std::unique_ptr<std::uint64_t[]> table(new std::uint64_t[words]);
    for (std::uint64_t i = 0; i < words; ++i) table[i] = i;
    bool more = true;
    const double begin = now();
    while (more) {
#pragma omp barrier
      const double start = now();
      update(table.get(), words, of_run);
      const double seconds = now() - start;
#pragma omp single
      samples.push_back(0);
#pragma omp critical
      samples.back() = std::max(samples.back(), seconds);
#pragma omp barrier
#pragma omp single copyprivate(more)
      more = now() - begin < limit;
    }
  }
  fmt::print("{{\"peer\": \"hpcc star loop\", \"case\": \"{}\", \"samples_s\": [{}], \"work\": {}}}\n", words * 8,
             fmt::join(samples, ", "), 4 * words * static_cast<std::uint64_t>(cores));
}
