#include "benchmarks/shmem/ssca1/kernel2.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace plumb::ssca1 {

namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min() / 4;

// The best score from a codon pair, i codons of main and j of match before the end, to the end: of alignments that
// begin there with a pair, or within a gap of main's or match's codons.
struct Cell {
  std::int64_t pair = never, main = never, match = never;
  std::int64_t best() const { return std::max({pair, main, match}); }
};

class Backward {
 public:
  Backward(const Problem& problem, const End& end, std::uint64_t limit)
      : problem_(problem),
        end_(end),
        rows_(std::min(limit, end.main + 1)),
        columns_(std::min(limit, end.match + 1)),
        cells_(rows_ * columns_) {
    const Scores& scores = problem.scores;
    for (std::uint64_t i = 0; i < rows_; ++i)
      for (std::uint64_t j = 0; j < columns_; ++j) {
        Cell& cell = at(i, j);
        if (i == 0 && j == 0)
          cell.pair = weight(0, 0);
        else if (i > 0 && j > 0)
          cell.pair = weight(i, j) + at(i - 1, j - 1).best();
        if (i > 0) cell.main = std::max(at(i - 1, j).pair - scores.gap(1), at(i - 1, j).main - scores.gap_extend);
        if (j > 0) cell.match = std::max(at(i, j - 1).pair - scores.gap(1), at(i, j - 1).match - scores.gap_extend);
      }
  }

  Alignment nearest() {
    for (std::uint64_t sum = 0; sum + 1 < rows_ + columns_; ++sum)
      for (std::uint64_t i = sum < columns_ ? 0 : sum - columns_ + 1; i < rows_ && i <= sum; ++i)
        if (at(i, sum - i).pair == end_.score) return {end_.main - i, end_.match - (sum - i), steps(i, sum - i)};
    return {};
  }

 private:
  Cell& at(std::uint64_t i, std::uint64_t j) { return cells_[i * columns_ + j]; }
  int weight(std::uint64_t i, std::uint64_t j) const {
    return problem_.scores.of(problem_.strings.main[end_.main - i], problem_.strings.match[end_.match - j]);
  }

  std::string steps(std::uint64_t i, std::uint64_t j) {
    std::string all;
    for (char now = '='; i > 0 || j > 0;) {
      all += now;
      if (now == '=') {
        const Cell& next = at(--i, --j);
        now = next.best() == next.pair ? '=' : next.best() == next.main ? 'm' : 'n';
      } else if (now == 'm') {
        const std::int64_t score = at(i, j).main;
        if (score == at(--i, j).pair - problem_.scores.gap(1)) now = '=';
      } else {
        const std::int64_t score = at(i, j).match;
        if (score == at(i, --j).pair - problem_.scores.gap(1)) now = '=';
      }
    }
    return all + '=';
  }

  const Problem& problem_;
  End end_;
  std::uint64_t rows_, columns_;
  std::vector<Cell> cells_;
};

}  // namespace

Alignment align(const Problem& problem, const End& end, std::uint64_t limit) {
  return Backward(problem, end, limit).nearest();
}

}  // namespace plumb::ssca1
