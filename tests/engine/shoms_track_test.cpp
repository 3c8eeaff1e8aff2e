// Places of a sample's messages, compared with a simulation that writes them one after the other.
#include <gtest/gtest.h>

#include <vector>

#include "benchmarks/shmem/api/track.hpp"

namespace plumb::shmem_api {
namespace {

// The last writer of an element, and the element's index in its message.
struct Owner {
  std::optional<std::uint64_t> message;
  std::size_t offset = 0;
  bool operator==(const Owner&) const = default;
};

std::vector<Owner> simulated(const Track& track, std::uint64_t count) {
  std::vector<Owner> memory(track.elements());
  for (std::uint64_t message = 0; message < count; ++message)
    for (std::size_t i = 0; i < track.length; ++i) memory.at(track.begin_of(message) + i) = {message, i};
  return memory;
}

std::vector<Owner> told(const Track& track, std::uint64_t count) {
  std::vector<Owner> memory;
  for (std::size_t place = 0; place < track.places; ++place) {
    std::size_t next = 0;
    track.for_parts(place, count,
                    [&](std::size_t begin, std::size_t end, std::optional<std::uint64_t> message, std::size_t offset) {
                      EXPECT_EQ(begin, next) << "without gaps";
                      EXPECT_LT(begin, end);
                      next = end;
                      for (std::size_t at = begin; at < end; ++at)
                        memory.push_back(message ? Owner{message, offset + at - begin} : Owner{});
                    });
    EXPECT_EQ(next, track.pitch);
  }
  return memory;
}

const std::vector<Track>& tracks() {
  static const std::vector<Track> all{
      {.length = 1},
      {.length = 3, .places = 7, .pitch = 3},
      {.length = 5, .places = 1, .pitch = 12, .passes = 4, .block = 2},
      {.length = 5, .places = 3, .pitch = 16, .passes = 6, .block = 2},
      {.length = 4, .places = 2, .pitch = 10, .passes = 2, .block = 4},
      {.length = 2, .places = 8, .pitch = 8, .step = 5, .passes = 2, .block = 2},
      {.length = 3, .places = 16, .pitch = 3, .step = 11},
  };
  return all;
}

TEST(Track, SaysWhatIsLeftOfEachMessage) {
  for (const Track& track : tracks())
    for (std::uint64_t count = 0; count < 3 * track.places * track.passes + 2; ++count)
      EXPECT_EQ(told(track, count), simulated(track, count)) << track.places << " places, count " << count;
}

TEST(Track, LeavesSomethingOfEachMessageUntilItBeginsAnew) {
  for (const Track& track : tracks()) {
    const std::uint64_t count = track.places * track.passes;
    std::vector<bool> seen(count);
    for (const Owner& owner : simulated(track, count))
      if (owner.message) seen[*owner.message] = true;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), static_cast<std::ptrdiff_t>(count));
  }
}

TEST(Track, IsWalkedAsItIsTold) {
  for (Track track : tracks())
    for (const bool backwards : {false, true}) {
      track.backwards = backwards;
      std::vector<int> memory(track.elements());
      Walker<int> walker(memory.data(), track);
      for (std::uint64_t message = 0; message < 3 * track.places * track.passes + 2; ++message, walker.next())
        ASSERT_EQ(walker.at(), memory.data() + track.begin_of(message)) << message;
    }
}

}  // namespace
}  // namespace plumb::shmem_api
