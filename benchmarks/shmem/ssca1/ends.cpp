#include "benchmarks/shmem/ssca1/ends.hpp"

#include <algorithm>
#include <tuple>

#include "core/data.hpp"

namespace plumb::ssca1 {

bool is_before(const End& a, const End& b) {
  return std::tie(b.score, a.main, a.match) < std::tie(a.score, b.main, b.match);
}

Digest digest_of(std::span<const End> ends) {
  Digest digest{ends.size(), 0};
  for (const End& end : ends)
    digest.hash += mix64(mix64(mix64(static_cast<std::uint64_t>(end.score)) ^ end.main) ^ end.match);
  return digest;
}

std::vector<End> select(std::vector<End> ends, const Strings& strings, std::uint64_t separation, std::size_t reports) {
  std::sort(ends.begin(), ends.end(), is_before);
  std::vector<bool> near_main(strings.main.size()), near_match(strings.match.size());  // a kept end
  const auto mark = [separation](std::vector<bool>& near, std::uint64_t at) {
    const std::uint64_t last = std::min<std::uint64_t>(near.size(), at + separation);
    for (std::uint64_t i = at - std::min(at, separation - 1); i < last; ++i) near[i] = true;
  };
  std::vector<End> kept;
  for (const End& end : ends) {
    if (kept.size() == reports) break;
    if (near_main[end.main] || near_match[end.match]) continue;
    kept.push_back(end);
    mark(near_main, end.main);
    mark(near_match, end.match);
  }
  return kept;
}

}  // namespace plumb::ssca1
