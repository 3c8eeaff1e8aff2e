// Kernel 2: for an end, the alignment that leads to it.
#pragma once

#include <string>

#include "benchmarks/shmem/ssca1/kernel1.hpp"

namespace plumb::ssca1 {

// From the first pair to the end: '=' a pair, 'm' a codon of the main string alone, 'n' one of the match string.
// Empty if no alignment of that score has at most `limit` codons of either string.
struct Alignment {
  std::uint64_t main = 0, match = 0;  // the first pair
  std::string steps;
  bool operator==(const Alignment&) const = default;
};

// Of the alignments with the end's score, one whose first pair is the nearest to it (the sum of both distances, then
// that of the main string); from there on pairs are preferred to codons of main alone, these to those of match alone,
// and a gap's end to its continuation.
Alignment align(const Problem& problem, const End& end, std::uint64_t limit);

}  // namespace plumb::ssca1
