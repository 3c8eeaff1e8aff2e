#include "benchmarks/shmem/ssca1/oracle.hpp"

#include <algorithm>
#include <array>

namespace plumb::ssca1 {

// OSB's recurrence: V = max(0, E, F, G), G = V(m-1, n-1) + W; gaps begin after a pair: E' = max(E - extend,
// G - start - extend) along the match string, F likewise along the main string.
std::vector<End> oracle(const Strings& strings, const Scores& scores, std::int64_t minimum, Range main, Range match,
                        const std::function<void()>& progress) {
  const std::uint64_t columns = match.end - match.begin;
  std::array<std::array<int, 64>, 64> table;
  for (Codon a = 0; a < 64; ++a)
    for (Codon b = 0; b < 64; ++b) table[a][b] = scores.of(a, b);
  const int extend = scores.gap_extend, open = scores.gap_start + scores.gap_extend;
  std::vector<int> row(columns), down(columns);  // V of the row above; F
  std::vector<End> ends;
  for (std::uint64_t m = main.begin; m < main.end; ++m) {
    const bool is_last = m + 1 == strings.main.size();
    const std::array<int, 64>& next = table[strings.main[is_last ? m : m + 1]];
    const std::array<int, 64>& weights = table[strings.main[m]];
    int diagonal = 0, along = 0;
    for (std::uint64_t i = 0; i < columns; ++i) {
      const std::uint64_t n = match.begin + i;
      const int weight = weights[strings.match[n]], pair = diagonal + weight;
      const int best = std::max({0, along, down[i], pair});
      if (best > minimum && best == pair && weight > 0 &&
          (is_last || n + 1 == strings.match.size() || next[strings.match[n + 1]] <= 0))
        ends.push_back({best, m, n});
      along = std::max(along - extend, pair - open);
      down[i] = std::max(down[i] - extend, pair - open);
      diagonal = row[i];
      row[i] = best;
    }
    progress();
  }
  return ends;
}

std::vector<End> select_plainly(std::vector<End> ends, std::uint64_t separation, std::size_t reports) {
  std::stable_sort(ends.begin(), ends.end(), is_before);
  std::vector<End> kept;
  const auto distance = [](std::uint64_t a, std::uint64_t b) { return a < b ? b - a : a - b; };
  for (const End& end : ends) {
    if (kept.size() == reports) break;
    if (std::none_of(kept.begin(), kept.end(), [&](const End& one) {
          return distance(one.main, end.main) < separation || distance(one.match, end.match) < separation;
        }))
      kept.push_back(end);
  }
  return kept;
}

}  // namespace plumb::ssca1
