// The layout of a sample's operations: remainders against an explicit simulation.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "measure/slide.hpp"

namespace plumb {

namespace {

constexpr int untouched = -1;

// Which byte of the source an operation that copies has left in each byte of the destination; `skip` leaves some out.
template <class Skip>
std::vector<int> written(const Slide& slide, std::size_t length, std::uint64_t count, std::size_t bytes, Skip skip) {
  std::vector<int> destination(bytes, untouched);
  for (std::uint64_t later = count; later-- > 0;)
    if (!skip(later))
      for (std::size_t x = 0; x < length; ++x)
        destination.at(slide.target(later) + x) = static_cast<int>(slide.source(later) + x);
  return destination;
}

const std::size_t lengths[] = {1, 7, 8, 15, 16, 17, 24, 32, 33, 100};
const std::uint64_t counts[] = {1, 2, 3, 4, 7, 16, 23};

TEST(Slide, RunsAreWhatOperationsLeave) {
  const Slide slide(8);
  for (const std::size_t length : lengths)
    for (const std::uint64_t count : counts) {
      const std::size_t bytes = slide.target_room(length) + 5;
      const auto destination = written(slide, length, count, bytes, [](std::uint64_t) { return false; });
      std::size_t at = slide.targets(length, count).begin;
      std::uint64_t operations = count;
      slide.each_run(
          length, count, bytes,
          [&](const Slide::Rest& rest) {
            ASSERT_EQ(rest.begin, at);
            ASSERT_GT(rest.size, 0u);
            EXPECT_EQ(rest.later, --operations);
            for (; at < rest.begin + rest.size; ++at)
              EXPECT_EQ(destination[at], static_cast<int>(at - slide.target(rest.later) + slide.source(rest.later)));
          },
          [&](std::size_t begin, std::size_t size) {
            ASSERT_EQ(begin, at);
            for (; at < begin + size; ++at) EXPECT_EQ(destination[at], untouched);
          });
      EXPECT_EQ(at, bytes);
      EXPECT_EQ(operations, 0u);
      EXPECT_EQ(bytes - 5, slide.targets(length, count).begin + slide.targets(length, count).size);
      EXPECT_EQ(slide.rest(length, 0).size, length) << "the last leaves all";
    }
}

// Whatever is left out, some byte is another: not only other operations' bytes at the same place count.
TEST(Slide, EveryOperationThatIsLeftOutShows) {
  const Slide slide(8);
  for (const std::size_t length : lengths)
    for (const std::uint64_t count : counts) {
      const std::size_t bytes = slide.target_room(length);
      const auto right = written(slide, length, count, bytes, [](std::uint64_t) { return false; });
      for (std::uint64_t one = 0; one < count; ++one) {
        const auto wrong = written(slide, length, count, bytes, [&](std::uint64_t later) { return later == one; });
        const Slide::Rest rest = slide.rest(length, one);
        for (std::size_t at = rest.begin; at < rest.begin + rest.size; ++at)
          EXPECT_NE(wrong[at], right[at]) << "length " << length << ", " << one << " of " << count;
      }
    }
}

TEST(Slide, LaterOperationsReadOtherBytes) {
  const Slide slide(64);
  std::set<std::size_t> sources, targets;
  for (std::uint64_t later = 0; later < Slide::most; ++later) {
    EXPECT_EQ(slide.source(later) % 64, 0u);
    EXPECT_LE(slide.source(later) + 1000, slide.source_room(1000));
    EXPECT_LE(slide.target(later) + 1000, slide.target_room(1000));
    sources.insert(slide.source(later));
    targets.insert(slide.target(later));
  }
  EXPECT_EQ(sources.size(), Slide::most);
  EXPECT_EQ(targets.size(), Slide::most);
}

}  // namespace

}  // namespace plumb
