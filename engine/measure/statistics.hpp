// Summaries of samples.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace plumb {

struct Summary {
  std::size_t samples = 0;
  double min = 0, max = 0, median = 0, mean = 0;
  std::optional<double> p95, p99;  // only from 100 samples: with fewer they equal the maximum
  // 95 % confidence interval of the median from order statistics (binomial, no normality assumed; Hahn & Meeker 1991,
  // section 5.2). None below 6 samples, where 95 % is impossible.
  std::optional<std::pair<double, double>> median_interval;
  std::size_t best = 0;  // index of the smallest sample

  // Half of the interval's width over the median; none without an interval.
  std::optional<double> relative_half_width() const;
};

// Empty input gives a Summary of zero samples.
Summary summarise(std::span<const double> samples);

// Linear interpolation between order statistics (type 7 of Hyndman & Fan 1996); samples must be sorted, not empty.
double quantile(std::span<const double> sorted, double p);

// Indices (from 0) of the order statistics that bracket the median with at least 95 % confidence; none below 6 samples.
std::optional<std::pair<std::size_t, std::size_t>> median_ranks(std::size_t samples);

// The slowest rank of each repetition (HPCC's rule). by_rank[rank][repetition], equal lengths.
std::vector<double> slowest_of_each(const std::vector<std::vector<double>>& by_rank);

}  // namespace plumb
