// The watchdog's thread beside one that waits, moves on and stops.
#include "world/watchdog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace plumb {
namespace {

TEST(Watchdog, SaysWhatWasWaitedForTooLong) {
  std::promise<std::string> said;
  auto sentence = said.get_future();
  Watchdog::start(0.2, [&](const std::string& text) { said.set_value(text); });
  EXPECT_EQ(Watchdog::limit_seconds(), 0.2);
  {
    const Waiting outer("all ranks at a barrier");
    const Waiting inner("a message that never comes");
    ASSERT_EQ(sentence.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  }
  EXPECT_THAT(sentence.get(), ::testing::HasSubstr("a message that never comes (the limit; --timeout raises it)"));
  Watchdog::stop();
  EXPECT_EQ(Watchdog::limit_seconds(), 0);
}

TEST(Watchdog, IsSilentWhileSomethingMovesAndWhenNothingWaits) {
  std::atomic<int> said{0};
  Watchdog::start(60, [&](const std::string&) { ++said; });
  for (int i = 0; i < 1000; ++i) {
    const Waiting waiting("messages");
    Waiting::progress();
    if (i % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  Watchdog::start(60, [&](const std::string&) { ++said; });  // anew, while one is running
  Watchdog::stop();
  EXPECT_EQ(said, 0);
}

}  // namespace
}  // namespace plumb
