#include "measure/stopping.hpp"

#include <algorithm>

#include "measure/statistics.hpp"

namespace plumb {

std::optional<Stop> StoppingRule::decide(std::span<const double> samples, double elapsed) {
  const std::uint64_t n = samples.size();
  const auto stop = [&](const char* reason) { return Stop{reason, summarise(samples).relative_half_width()}; };
  if (once_) return n >= 1 ? std::optional(stop("once")) : std::nullopt;
  if (policy_.fixed > 0) return n >= policy_.fixed ? std::optional(stop("fixed")) : std::nullopt;
  if (n >= policy_.maximum) return stop("repetitions");
  const bool late = elapsed >= policy_.time_limit;
  if (n < policy_.minimum) {
    if (n >= fewest && elapsed >= patience * policy_.time_limit) return stop("time");
    return std::nullopt;
  }
  if (n < next_look_ && !late) return std::nullopt;
  next_look_ = n + std::max<std::uint64_t>(1, n / 10);
  const auto width = summarise(samples).relative_half_width();
  if (width && *width <= policy_.confidence && elapsed >= policy_.least_seconds) return Stop{"confidence", width};
  return late ? std::optional(Stop{"time", width}) : std::nullopt;
}

}  // namespace plumb
