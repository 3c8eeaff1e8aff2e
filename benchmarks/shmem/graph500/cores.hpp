// Loops of a rank over all of its cores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "device/host_share.hpp"

namespace plumb::graph500 {

// Number of parts for `count` items: one for each core that this process may use, none of fewer than `least` items.
inline std::uint64_t parts_of(std::uint64_t count, std::uint64_t least) {
  static const std::uint64_t cores = std::max<std::uint64_t>(host_share().cores, 1);
  return std::clamp<std::uint64_t>(count / least, 1, cores);
}

// Calls work(part, begin, end) for each of `parts` consecutive parts of `count` items, at once; it must not throw.
template <class Work>
void on_cores(std::uint64_t parts, std::uint64_t count, const Work& work) {
  std::vector<std::jthread> others;
  const auto begin = [&](std::uint64_t part) { return count / parts * part + std::min(part, count % parts); };
  for (std::uint64_t part = 1; part < parts; ++part)
    others.emplace_back([&work, part, from = begin(part), to = begin(part + 1)] { work(part, from, to); });
  work(std::uint64_t{0}, begin(0), begin(1));
}

}  // namespace plumb::graph500
