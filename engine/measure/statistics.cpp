#include "measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace plumb {

std::optional<double> Summary::relative_half_width() const {
  if (!median_interval || !(median > 0)) return std::nullopt;
  return (median_interval->second - median_interval->first) / 2 / median;
}

double quantile(std::span<const double> sorted, double p) {
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double fraction = position - std::floor(position);
  return sorted[below] + fraction * (sorted[above] - sorted[below]);
}

std::optional<std::pair<std::size_t, std::size_t>> median_ranks(std::size_t samples) {
  if (samples < 6) return std::nullopt;
  // The largest d with P(Binomial(n, 1/2) < d) <= 2.5 %: [x_(d), x_(n+1-d)] (1-based) covers the median.
  const auto n = static_cast<double>(samples);
  double log_term = -n * std::log(2.0);  // log of C(n, 0) / 2^n
  double tail = std::exp(log_term);
  std::size_t d = 0;
  while (tail <= 0.025) {
    ++d;
    log_term += std::log((n - static_cast<double>(d) + 1) / static_cast<double>(d));
    tail += std::exp(log_term);
  }
  if (d == 0) return std::nullopt;
  return std::pair{d - 1, samples - d};
}

Summary summarise(std::span<const double> samples) {
  Summary summary;
  summary.samples = samples.size();
  if (samples.empty()) return summary;
  summary.best = static_cast<std::size_t>(std::min_element(samples.begin(), samples.end()) - samples.begin());
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  summary.min = sorted.front();
  summary.max = sorted.back();
  summary.median = quantile(sorted, 0.5);
  summary.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
  if (sorted.size() >= 100) {
    summary.p95 = quantile(sorted, 0.95);
    summary.p99 = quantile(sorted, 0.99);
  }
  if (const auto ranks = median_ranks(sorted.size()))
    summary.median_interval = {sorted[ranks->first], sorted[ranks->second]};
  return summary;
}

std::vector<double> slowest_of_each(const std::vector<std::vector<double>>& by_rank) {
  std::vector<double> slowest;
  if (by_rank.empty()) return slowest;
  slowest = by_rank.front();
  for (const auto& samples : by_rank)
    for (std::size_t i = 0; i < std::min(slowest.size(), samples.size()); ++i)
      slowest[i] = std::max(slowest[i], samples[i]);
  return slowest;
}

}  // namespace plumb
