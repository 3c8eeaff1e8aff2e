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
  EXPECT_THAT(sentence.get(), ::testing::HasSubstr("a message that never comes (limit; --timeout raises it)"));
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
  Watchdog::start(60, [&](const std::string&) { ++said; });  // again, while one is running
  Watchdog::stop();
  EXPECT_EQ(said, 0);
}

// One thread moves on all the time; the other's wait is still found, by its own name.
TEST(Watchdog, EachThreadHasAWaitOfItsOwn) {
  std::promise<std::string> said;
  auto sentence = said.get_future();
  std::atomic<bool> stop{false};
  Watchdog::start(1, [&](const std::string& text) { said.set_value(text); });
  std::thread busy([&] {
    const Waiting waiting("messages that come");
    while (!stop) Waiting::progress();
  });
  std::thread stuck([&] {
    const Waiting waiting("one that never comes");
    while (!stop) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  });
  EXPECT_EQ(sentence.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  stop = true;
  busy.join();
  stuck.join();
  Watchdog::stop();
  EXPECT_THAT(sentence.get(), ::testing::HasSubstr("one that never comes"));
}

TEST(Watchdog, AWaitMayHaveALongerLimit) {
  std::atomic<int> said{0};
  Watchdog::start(0.1, [&](const std::string&) { ++said; });
  {
    const Waiting repetition("a repetition to end", 60);
    const Waiting inner("messages");
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  }
  Watchdog::stop();
  EXPECT_EQ(said, 0);
}

}  // namespace
}  // namespace plumb
