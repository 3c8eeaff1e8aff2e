// SSCA1's strings, its serial computation, the selection of ends, and alignments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "benchmarks/shmem/ssca1/oracle.hpp"
#include "benchmarks/shmem/ssca1/ssca1.hpp"

namespace plumb::ssca1 {
namespace {

using ::testing::ElementsAre;

// Codons of letters, one for each.
std::vector<Codon> codons(std::string_view letters) {
  std::vector<Codon> all;
  for (const char letter : letters) all.push_back(static_cast<Codon>(amino_acids.rfind(letter)));
  return all;
}

std::vector<End> ends_of(const Problem& problem) {
  const Range all{0, problem.length()};
  return oracle(problem.strings, problem.scores, problem.minimum, all, all);
}

TEST(Ssca1Strings, LengthIsExact) {
  EXPECT_EQ(length_of(24), 4096u + 79);
  EXPECT_EQ(length_of(22), 2048u + 79);
  EXPECT_EQ(length_of(1), 2u + 79);      // ceil(1.41)
  EXPECT_EQ(length_of(21), 1449u + 79);  // ceil(1448.15)
  EXPECT_EQ(length_of(34), 131072u + 79);
}

TEST(Ssca1Strings, CodeIsTheStandardOne) {
  EXPECT_EQ(amino_acids.size(), 65u);
  const auto count = [](char letter) { return std::count(amino_acids.begin(), amino_acids.end(), letter); };
  for (const char letter : {'L', 'R', 'S'}) EXPECT_EQ(count(letter), 6);
  for (const char letter : {'A', 'G', 'P', 'T', 'V'}) EXPECT_EQ(count(letter), 4);
  for (const char letter : {'I', '*'}) EXPECT_EQ(count(letter), 3);
  for (const char letter : {'C', 'D', 'E', 'F', 'H', 'K', 'N', 'Q', 'Y'}) EXPECT_EQ(count(letter), 2);
  for (const char letter : {'M', 'W'}) EXPECT_EQ(count(letter), 1);
  EXPECT_EQ(amino_acids[16 * 0 + 4 * 3 + 1], 'M');  // atg
  EXPECT_EQ(amino_acids[16 * 3 + 4 * 1 + 1], 'W');  // tgg
}

TEST(Ssca1Strings, ScoresOfPairs) {
  const Scores scores;
  EXPECT_EQ(scores.of(0, 0), 5);
  EXPECT_EQ(scores.of(0, 1), 4);   // aaa and aag: K
  EXPECT_EQ(scores.of(0, 2), -3);  // K and N
  EXPECT_EQ(scores.of(no_codon, no_codon), -3);
  EXPECT_EQ(scores.gap(3), 11);
}

TEST(Ssca1Strings, PlantsNeverOverlapAndAreGuarded) {
  const Scores scores;
  for (const double scale : {1.0, 6.0, 13.0})
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const Maker maker(seed, length_of(scale));
      const Strings strings = make_strings(maker);
      std::set<std::uint64_t> in_main, in_match;
      std::size_t codons_planted = 0;
      for (std::size_t plant = 0; plant < plants; ++plant) {
        const std::uint64_t main = maker.first(String::main, plant), match = maker.first(String::match, plant);
        const std::size_t size = planted[plant].text[0].size(), outside = planted[plant].outside();
        ASSERT_GE(main, outside);
        ASSERT_LE(main + size + outside, maker.length());
        for (std::uint64_t i = 0; i < size + 2 * outside; ++i) {
          in_main.insert(main - outside + i);
          in_match.insert(match - outside + i);
          ++codons_planted;
        }
        for (std::uint64_t i = 0; i < size; ++i)
          EXPECT_EQ(amino_acids[strings.main[main + i]], planted[plant].text[0][i]);
        const std::uint64_t begin = planted[plant].own_guard, end = size - begin;
        for (std::uint64_t i = 0; i < guard; ++i) {
          EXPECT_LT(scores.of(strings.main[main + begin - guard + i], strings.match[match + begin - guard + i]), 0);
          EXPECT_LT(scores.of(strings.main[main + end + i], strings.match[match + end + i]), 0);
        }
      }
      EXPECT_EQ(in_main.size(), codons_planted);
      EXPECT_EQ(in_match.size(), codons_planted);
      EXPECT_EQ(codons_planted, 79u);
    }
}

TEST(Ssca1Strings, EachCodonIsAFunctionOfItsPosition) {
  const Maker maker(7, 300), longer(7, 301), other(8, 300);
  const Strings strings = make_strings(maker);
  std::size_t alike = 0;
  for (std::uint64_t i = 300; i-- > 0;) {
    EXPECT_EQ(maker.codon(String::main, i), strings.main[i]);
    EXPECT_EQ(maker.background(String::main, i), longer.background(String::main, i));
    alike += maker.background(String::main, i) == other.background(String::main, i) ? 1 : 0;
  }
  EXPECT_LT(alike, 20u);  // 300 / 64
}

TEST(Ssca1Oracle, FindsWhatWasPlanted) {
  for (const double scale : {1.0, 10.0})
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
      const Maker maker(seed, length_of(scale));
      const Problem problem{make_strings(maker), {}, 20};
      const std::vector<End> kept = select(ends_of(problem), problem.strings, 5, 200);
      ASSERT_GE(kept.size(), 3u);
      for (std::size_t i = 0; i < plants; ++i)
        EXPECT_EQ(kept[i], (End{55 - static_cast<int>(i), maker.last_aligned(String::main, i),
                                maker.last_aligned(String::match, i)}))
            << seed;
    }
}

TEST(Ssca1Oracle, ByHand) {
  // *ID-TICAL* without its N: 9 pairs and a gap of one.
  const Problem gap{{codons("AAC*IDNTICAL*"), codons("*IDTICAL*GGGG")}, {}, 20};
  EXPECT_THAT(ends_of(gap), ElementsAre(End{9 * 5 - 7, 12, 8}));
  // The third pair is dissimilar, and the last one is at both strings' ends.
  const Problem unlike{{codons("MISSING"), codons("MIDSING")}, {}, 20};
  EXPECT_THAT(ends_of(unlike), ElementsAre(End{6 * 5 - 3, 6, 6}));
  EXPECT_THAT(ends_of({unlike.strings, {}, 27}), ElementsAre());
}

TEST(Ssca1Ends, SelectionDropsNearOnes) {
  const Strings strings{std::vector<Codon>(100), std::vector<Codon>(100)};
  const std::vector<End> ends{{30, 50, 50}, {30, 40, 60}, {31, 54, 90}, {29, 59, 10}, {28, 95, 86}, {28, 95, 85}};
  const std::vector<End> kept{{31, 54, 90}, {30, 40, 60}, {29, 59, 10}, {28, 95, 85}};
  EXPECT_EQ(select(ends, strings, 5, 200), kept);
  EXPECT_EQ(select_plainly(ends, 5, 200), kept);
  EXPECT_EQ(select(ends, strings, 5, 2).size(), 2u);
  EXPECT_EQ(select(ends, strings, 1, 200).size(), 5u);  // 95 twice
}

TEST(Ssca1Ends, BothSelectionsAgree) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Maker maker(seed, 300);
    const Problem problem{make_strings(maker), {}, 8};
    const std::vector<End> ends = ends_of(problem);
    EXPECT_GT(ends.size(), 100u);
    for (const std::uint64_t separation : {1, 2, 5, 40})
      EXPECT_EQ(select(ends, problem.strings, separation, 1000), select_plainly(ends, separation, 1000));
  }
}

TEST(Ssca1Alignments, OfThePlants) {
  const Maker maker(3, 400);
  const Problem problem{make_strings(maker), {}, 20};
  const std::array<std::string, plants> steps{std::string(11, '='), std::string(14, '='), "======mmm=====nnn===="};
  for (std::size_t i = 0; i < plants; ++i) {
    const End end{planted[i].score(problem.scores), maker.last_aligned(String::main, i),
                  maker.last_aligned(String::match, i)};
    const Alignment found = align(problem, end, 30);
    EXPECT_EQ(found.main, maker.first(String::main, i) + planted[i].own_guard);
    EXPECT_EQ(found.match, maker.first(String::match, i) + planted[i].own_guard);
    EXPECT_EQ(found.steps, steps[i]);
    EXPECT_EQ(align(problem, end, 10), Alignment{});
  }
}

TEST(Ssca1Alignments, OfAllEnds) {
  const Maker maker(5, 500);
  const Problem problem{make_strings(maker), {}, 15};
  Outcome outcome{ends_of(problem), {}, {}, 0};
  outcome.kept = select_plainly(outcome.ends, 1, 1000);
  EXPECT_GT(outcome.kept.size(), 30u);
  for (const End& end : outcome.kept) outcome.alignments.push_back(align(problem, end, 60));
  Findings findings;
  check_reports(problem, outcome, {1, 60, 1000, 1000}, findings);
  EXPECT_EQ(findings.wrong, 0u) << findings.first;
  for (const Alignment& found : outcome.alignments) EXPECT_FALSE(found.steps.empty());
}

}  // namespace
}  // namespace plumb::ssca1
