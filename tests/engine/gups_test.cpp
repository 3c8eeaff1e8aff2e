#include <gtest/gtest.h>

#include "benchmarks/shmem/gups/problem.hpp"

namespace plumb::gups {
namespace {

// Every place of the table belongs to one rank, and the parts follow each other.
TEST(GupsProblem, PartsAreTheTable) {
  for (const int ranks : {1, 2, 3, 4, 5, 7, 8, 12}) {
    const Problem problem(Stream::polynomial, 5, ranks);
    std::uint64_t next = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const TableRange part = problem.part(rank);
      EXPECT_EQ(part.first, next);
      EXPECT_LE(part.words, problem.words_of_rank());
      EXPECT_EQ(problem.task(rank).part.words, part.words);
      for (std::uint64_t i = 0; i < part.words; ++i) {
        const Target target = problem.target(part.first + i);  // a word whose low bits are its place
        EXPECT_EQ(target.rank, rank) << ranks;
        EXPECT_EQ(target.word, i);
      }
      next += part.words;
    }
    EXPECT_EQ(next, problem.words());
  }
}

TEST(GupsProblem, AnLcgsPlaceIsItsHighBits) {
  const Problem problem(Stream::lcg, 4, 4);
  EXPECT_EQ(problem.words(), 64u);
  const Target last = problem.target(~std::uint64_t{0});
  EXPECT_EQ(last.rank, 3);
  EXPECT_EQ(last.word, 15u);
  EXPECT_EQ(problem.target(1).rank, 0);
}

TEST(GupsProblem, StepsAreTheStreams) {
  for (const Stream stream : {Stream::polynomial, Stream::lcg}) {
    std::uint64_t word = random_access::start(stream, 1000);
    for (int i = 0; i < 100; ++i) word = after(stream, word);
    EXPECT_EQ(word, random_access::start(stream, 1100));
  }
}

}  // namespace
}  // namespace plumb::gups
