#include "benchmarks/hpcc/random_access/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>
#include <vector>

namespace plumb::random_access {

namespace {

constexpr std::uint64_t block = std::uint64_t{1} << 16;  // updates replayed by a thread at a time
constexpr std::size_t ahead = 64;                        // updates whose words are prefetched together

std::uint64_t step(Stream stream, std::uint64_t word) {
  if (stream == Stream::lcg) return 1 + word * 0x5851f42d4c957f2dull;
  return static_cast<std::int64_t>(word) < 0 ? (word + word) ^ 7 : word + word;
}

std::uint64_t place(Stream stream, const Task& task, std::uint64_t word) {
  if (stream == Stream::lcg) return word >> (64 - task.log2_table);
  return word % (std::uint64_t{1} << task.log2_table);
}

// A map of words that is linear over GF(2): the image of each bit.
using BitMap = std::array<std::uint64_t, 64>;

std::uint64_t image_of(const BitMap& map, std::uint64_t word) {
  std::uint64_t result = 0;
  for (std::size_t bit = 0; bit < map.size(); ++bit)
    if ((word >> bit & 1) != 0) result ^= map[bit];
  return result;
}

std::uint64_t polynomial_word(std::uint64_t steps) {
  BitMap power{};
  for (std::size_t bit = 0; bit < power.size(); ++bit) power[bit] = step(Stream::polynomial, std::uint64_t{1} << bit);
  std::uint64_t word = 1;
  for (; steps != 0; steps /= 2) {
    if (steps % 2 == 1) word = image_of(power, word);
    BitMap square{};
    for (std::size_t bit = 0; bit < power.size(); ++bit) square[bit] = image_of(power, power[bit]);
    power = square;
  }
  return word;
}

// a x + 1 twice is a^2 x + (a + 1).
std::uint64_t lcg_word(std::uint64_t steps) {
  std::uint64_t word = 1;
  for (std::uint64_t factor = 0x5851f42d4c957f2dull, summand = 1; steps != 0; steps /= 2) {
    if (steps % 2 == 1) word = factor * word + summand;
    summand *= factor + 1;
    factor *= factor;
  }
  return word;
}

// Change of the word at `at` of the part by `word`.
struct Update {
  std::uint64_t at = 0, word = 0;
  bool operator<(const Update& other) const { return at < other.at; }
};

using Runs = std::span<const Run>;

// Calls visit(updates) for all updates of a run in the task's part, on all threads.
template <class Visit>
void for_each_update(Stream stream, const Task& task, const Run& run, Visit visit) {
  const std::uint64_t end = run.first + run.count;
#pragma omp parallel for schedule(dynamic)
  for (std::uint64_t begin = run.first; begin < end; begin += block) {
    std::uint64_t word = word_before(stream, begin);
    std::array<Update, ahead> found;
    for (std::uint64_t left = std::min(block, end - begin); left > 0;) {
      std::size_t count = 0;
      for (; count < ahead && left > 0; --left) {
        word = step(stream, word);
        const std::uint64_t at = place(stream, task, word) - task.part.first;
        if (at < task.part.words) found[count++] = {at, word};
      }
      visit(std::span<const Update>(found.data(), count));
    }
  }
}

// Whether `wanted` is the xor of some of these words: elimination over GF(2).
bool in_span(std::vector<std::uint64_t> words, std::uint64_t wanted) {
  for (std::uint64_t bit = std::uint64_t{1} << 63; bit != 0; bit /= 2) {
    const auto pivot = std::find_if(words.begin(), words.end(), [&](std::uint64_t word) { return (word & bit) != 0; });
    if (pivot == words.end()) continue;
    const std::uint64_t row = *pivot;
    for (std::uint64_t& word : words)
      if ((word & bit) != 0) word ^= row;
    if ((wanted & bit) != 0) wanted ^= row;
  }
  return wanted == 0;
}

// The updates of all wrong words, by position.
std::vector<Update> updates_of_wrong(Stream stream, const Task& task, Runs runs,
                                     std::span<const std::uint64_t> off_by) {
  std::vector<Update> updates;
  for (const Run& run : runs)
    for_each_update(stream, task, run, [&](std::span<const Update> found) {
      for (const Update& update : found) {
        if (off_by[update.at] == 0) continue;
#pragma omp critical
        updates.push_back(update);
      }
    });
  std::sort(updates.begin(), updates.end());
  return updates;
}

// `missing` is the xor of some of these updates, not of all: the last of overlapping updates is never lost.
bool explained(std::span<const Update> updates, std::uint64_t missing) {
  std::vector<std::uint64_t> words;
  std::uint64_t all = 0;
  for (const Update& update : updates) {
    words.push_back(update.word);
    all ^= update.word;
  }
  return missing != all && in_span(std::move(words), missing);
}

void undo(Stream stream, const Task& task, Runs runs, std::span<std::uint64_t> table) {
  for (const Run& run : runs)
    for_each_update(stream, task, run, [&](std::span<const Update> found) {
      for (const Update& update : found) __builtin_prefetch(&table[update.at], 1);
      for (const Update& update : found)
        std::atomic_ref(table[update.at]).fetch_xor(update.word, std::memory_order_relaxed);
    });
  const std::uint64_t content = task.content + task.part.first;
#pragma omp parallel for
  for (std::uint64_t i = 0; i < table.size(); ++i) table[i] ^= content + i;
}

void explain_wrong(Stream stream, const Task& task, Runs runs, std::span<const std::uint64_t> off_by,
                   Replayed& result) {
  const std::vector<Update> updates = updates_of_wrong(stream, task, runs, off_by);
  auto next = updates.begin();
  for (std::uint64_t i = 0; i < off_by.size(); ++i) {
    if (off_by[i] == 0) continue;
    const auto begin = next;
    while (next != updates.end() && next->at == i) ++next;
    if (explained({begin, next}, off_by[i])) continue;
    if (result.unexplained++ == 0)
      result.detail = fmt::format("word {} is off by {:#x}, not explained by lost updates among its {}",
                                  task.part.first + i, off_by[i], next - begin);
  }
}

}  // namespace

std::uint64_t word_before(Stream stream, std::uint64_t update) {
  return stream == Stream::lcg ? lcg_word(update) : polynomial_word(update);
}

Replayed replay(Stream stream, const Task& task, std::span<std::uint64_t> table, std::uint64_t explain) {
  const Run own{task.first_update, task.updates};
  return replay(stream, task, Runs(&own, 1), table, explain);
}

Replayed replay(Stream stream, const Task& task, Runs runs, std::span<std::uint64_t> table, std::uint64_t explain) {
  undo(stream, task, runs, table);
  Replayed result;
  std::uint64_t wrong = 0, first = table.size();
#pragma omp parallel for reduction(+ : wrong) reduction(min : first)
  for (std::uint64_t i = 0; i < table.size(); ++i) {
    if (table[i] == 0) continue;
    ++wrong;
    first = std::min(first, i);
  }
  result.wrong = wrong;
  if (wrong == 0) return result;
  result.detail = fmt::format("word {} is off by {:#x}", task.part.first + first, table[first]);
  if (wrong <= explain) explain_wrong(stream, task, runs, table, result);
  return result;
}

}  // namespace plumb::random_access
