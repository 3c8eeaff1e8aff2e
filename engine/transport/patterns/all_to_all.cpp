#include "transport/patterns/all_to_all.hpp"

namespace plumb {

Exchange all_to_all(const std::vector<BufferView>& to, const std::vector<BufferView>& from, const World& world) {
  const auto ranks = static_cast<std::size_t>(world.size()), rank = static_cast<std::size_t>(world.rank());
  if (to.size() != ranks || from.size() != ranks)
    throw Error("an exchange of all with all needs a view to and a view from each rank");
  Exchange exchange;
  for (std::size_t distance = 0; distance < ranks; ++distance) {
    const std::size_t right = (rank + distance) % ranks, left = (rank + ranks - distance) % ranks;
    const int lane = static_cast<int>(distance);
    exchange.steps.push_back(
        {{{static_cast<int>(right), lane, {to[right]}}}, {{static_cast<int>(left), lane, {from[left]}}}});
  }
  return exchange;
}

}  // namespace plumb
