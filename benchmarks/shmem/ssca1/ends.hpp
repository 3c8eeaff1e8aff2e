// Ends of alignments, their order and their selection (kernel 1's result).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "benchmarks/shmem/ssca1/strings.hpp"

namespace plumb::ssca1 {

// The last pair of an alignment: codons main and match of the strings, from 0.
struct End {
  std::int64_t score = 0;
  std::uint64_t main = 0, match = 0;
  bool operator==(const End&) const = default;
};

// The report's order: score falling, then main, then match rising.
bool is_before(const End& a, const End& b);

// Whether an alignment may end at this pair: it scores, and the next pair on the diagonal scores not or is outside.
inline bool may_end(const Strings& strings, const Scores& scores, std::uint64_t main, std::uint64_t match) {
  if (main >= strings.main.size() || match >= strings.match.size()) return false;
  if (scores.of(strings.main[main], strings.match[match]) <= 0) return false;
  return main + 1 == strings.main.size() || match + 1 == strings.match.size() ||
         scores.of(strings.main[main + 1], strings.match[match + 1]) <= 0;
}

// Number and sum of hashes, in any order.
struct Digest {
  std::uint64_t count = 0, hash = 0;
  bool operator==(const Digest&) const = default;
};
Digest digest_of(std::span<const End> ends);

// The first `reports` in the order of reports, without those closer than `separation` to a kept one in either string.
std::vector<End> select(std::vector<End> ends, const Strings& strings, std::uint64_t separation, std::size_t reports);

}  // namespace plumb::ssca1
