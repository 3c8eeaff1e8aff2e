#include "benchmarks/shmem/ssca1/validator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "benchmarks/shmem/ssca1/oracle.hpp"
#include "core/data.hpp"
#include "world/watchdog.hpp"

namespace plumb::ssca1 {

namespace {

std::string text_of(const End& end) {
  return fmt::format("{} at {}, {}", end.score, end.main, end.match);
}

// The score of an alignment, step by step; none if it does not begin and end with a pair or does not lead to the end.
std::optional<std::int64_t> rescored(const Problem& problem, const Alignment& alignment, const End& end) {
  std::uint64_t main = alignment.main, match = alignment.match;
  std::int64_t score = 0;
  char before = ' ';
  for (const char step : alignment.steps) {
    if (main >= problem.length() || match >= problem.length()) return std::nullopt;
    if (step == '=')
      score += problem.scores.of(problem.strings.main[main], problem.strings.match[match]);
    else
      score -= problem.scores.gap_extend + (step != before ? problem.scores.gap_start : 0);
    if (step != 'n') ++main;
    if (step != 'm') ++match;
    before = step;
  }
  if (alignment.steps.front() != '=' || before != '=' || main != end.main + 1 || match != end.match + 1)
    return std::nullopt;
  return score;
}

// Ends of the main string in `main`, of the match string in `match`.
std::vector<End> within(const std::vector<End>& ends, Range main, Range match) {
  std::vector<End> some;
  std::copy_if(ends.begin(), ends.end(), std::back_inserter(some), [&](const End& end) {
    return end.main >= main.begin && end.main < main.end && end.match >= match.begin && end.match < match.end;
  });
  std::sort(some.begin(), some.end(), is_before);
  return some;
}

void check_window(const Problem& problem, const std::vector<End>& ends, std::uint64_t main, std::uint64_t match,
                  Findings& findings) {
  const auto part = [&](std::uint64_t at, std::uint64_t before, std::uint64_t after) {
    return Range{at - std::min(at, before), std::min(problem.length(), at + after)};
  };
  const std::vector<End> all = oracle(problem.strings, problem.scores, problem.minimum,
                                      part(main, window_margin, window_side), part(match, window_margin, window_side));
  const Range inner_main = part(main, 0, window_side), inner_match = part(match, 0, window_side);
  const std::vector<End> right = within(all, inner_main, inner_match), told = within(ends, inner_main, inner_match);
  findings.note(right == told, fmt::format("round {}, {} there are {} ends, and {} were told, or others", main, match,
                                           right.size(), told.size()));
}

}  // namespace

void check_ends(const Outcome& outcome, const std::vector<End>& reference, Findings& findings) {
  const Digest right = digest_of(reference), told = digest_of(outcome.ends);
  findings.note(right == told, fmt::format("{} ends (hash {:016x}) were told, and there are {} ({:016x})", told.count,
                                           told.hash, right.count, right.hash));
}

void check_windows(const Problem& problem, const Outcome& outcome, std::uint64_t share, std::uint64_t shares,
                   Findings& findings) {
  for (std::uint64_t i = share; i < random_windows; i += shares) {
    check_window(problem, outcome.ends, mix64(2 * i) % problem.length(), mix64(2 * i + 1) % problem.length(), findings);
    Waiting::progress();
  }
  for (std::uint64_t i = share; i < outcome.kept.size(); i += shares) {
    const End& end = outcome.kept[i];
    check_window(problem, outcome.ends, end.main - std::min(end.main, window_side / 2),
                 end.match - std::min(end.match, window_side / 2), findings);
    Waiting::progress();
  }
}

void check_reports(const Problem& problem, const Outcome& outcome, const Rules& rules, Findings& findings) {
  findings.note(outcome.kept == select_plainly(outcome.ends, rules.separation, rules.reports),
                "the reported ends are not the best ones of all");
  const std::size_t wanted = std::min(rules.alignments, outcome.kept.size());
  findings.note(outcome.alignments.size() == wanted,
                fmt::format("{} alignments instead of {}", outcome.alignments.size(), wanted));
  for (std::size_t i = 0; i < std::min(wanted, outcome.alignments.size()); ++i) {
    const End& end = outcome.kept[i];
    const Alignment& alignment = outcome.alignments[i];
    if (!alignment.steps.empty()) {
      const auto score = rescored(problem, alignment, end);
      findings.note(score == end.score,
                    fmt::format("the alignment that ends with {} has {}", text_of(end), score ? *score : -1));
      continue;
    }
    // None within the limit: then the end has a lower score, if no alignment may be longer.
    const auto part = [&](std::uint64_t at) { return Range{at + 1 - std::min(at + 1, rules.limit), at + 1}; };
    const std::vector<End> all =
        oracle(problem.strings, problem.scores, problem.minimum, part(end.main), part(end.match));
    findings.note(std::find(all.begin(), all.end(), end) == all.end(),
                  fmt::format("the alignment that ends with {} was not found", text_of(end)));
  }
}

void check_plants(const Problem& problem, const Maker& maker, const Outcome& outcome, const Rules& rules,
                  bool all_proven, Findings& findings) {
  if (!(problem.scores == Scores{})) return;  // others may prefer other alignments
  for (std::size_t i = 0; i < std::min(plants, rules.reports); ++i) {
    const End plant{planted[i].score(problem.scores), maker.last_aligned(String::main, i),
                    maker.last_aligned(String::match, i)};
    if (plant.score <= problem.minimum) continue;
    const std::string told = i < outcome.kept.size() ? text_of(outcome.kept[i]) : "missing";
    if (all_proven && i < outcome.kept.size() && outcome.kept[i].score >= plant.score && !(outcome.kept[i] == plant))
      return;
    findings.note(i < outcome.kept.size() && outcome.kept[i] == plant,
                  fmt::format("alignment {} of the report is {}, and {} was planted", i + 1, told, text_of(plant)));
  }
}

Digest digest_of(const Outcome& outcome) {
  Digest digest = digest_of(outcome.ends);
  const auto add = [&](std::uint64_t word) { digest.hash = mix64(digest.hash ^ word); };
  for (const End& end : outcome.kept) add(digest_of(std::span(&end, 1)).hash);
  for (const Alignment& alignment : outcome.alignments) {
    add(alignment.main);
    add(alignment.match);
    for (const char step : alignment.steps) add(static_cast<unsigned char>(step));
  }
  add(outcome.cells);
  return digest;
}

}  // namespace plumb::ssca1
