// What SSCA1's kernels found, and its validation: apart from the kernels' code.
#pragma once

#include <string>

#include "benchmarks/shmem/ssca1/kernel2.hpp"

namespace plumb::ssca1 {

enum class Proof { oracle, blocked, windows };

// Of one repetition, alike on every rank.
struct Outcome {
  std::vector<End> ends, kept;        // all, in any order; the reported ones
  std::vector<Alignment> alignments;  // of the first of them
  std::uint64_t cells = 0;            // scored by all ranks
};

struct Rules {
  std::uint64_t separation = 5, limit = 60;
  std::size_t reports = 200, alignments = 100;
};

struct Findings {
  std::uint64_t wrong = 0;
  std::string first;  // of the wrong items

  void note(bool right, const std::string& text) {
    if (right) return;
    if (wrong++ == 0) first = text;
  }
};

// All ends are those of `reference`.
void check_ends(const Outcome& outcome, const std::vector<End>& reference, Findings& findings);
// Windows `share` of `shares`: ends within each are those of the serial computation.
inline constexpr std::uint64_t random_windows = 1000, window_side = 64, window_margin = 192;
void check_windows(const Problem& problem, const Outcome& outcome, std::uint64_t share, std::uint64_t shares,
                   Findings& findings);
// The reported ends are the right ones of all; each alignment has its end's score.
void check_reports(const Problem& problem, const Outcome& outcome, const Rules& rules, Findings& findings);
// The planted alignments are the best; or, if all ends are proven, others have as high a score.
void check_plants(const Problem& problem, const Maker& maker, const Outcome& outcome, const Rules& rules,
                  bool all_proven, Findings& findings);

// Of everything, for comparison between ranks.
Digest digest_of(const Outcome& outcome);

}  // namespace plumb::ssca1
