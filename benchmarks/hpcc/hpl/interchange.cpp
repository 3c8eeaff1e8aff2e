#include "benchmarks/hpcc/hpl/interchange.hpp"

#include <map>
#include <numeric>

namespace plumb::hpl {

Interchange interchange(const Step& step, std::span<const std::int64_t> pivots) {
  const std::size_t end = step.begin + step.width;
  Interchange result;
  result.top.resize(step.width);
  std::iota(result.top.begin(), result.top.end(), step.begin);
  std::map<std::size_t, std::size_t> below;  // current row at a place behind the block, if not its own
  for (std::size_t j = 0; j < step.width; ++j) {
    const auto pivot = static_cast<std::size_t>(pivots[j]);
    if (pivot < end)
      std::swap(result.top[j], result.top[pivot - step.begin]);
    else
      std::swap(result.top[j], below.try_emplace(pivot, pivot).first->second);
  }
  for (const auto& [to, from] : below)
    if (to != from) result.displaced.push_back({to, from});
  return result;
}

}  // namespace plumb::hpl
