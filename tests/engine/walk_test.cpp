// Places of messages, and the walk through rounds and steps.
#include <gtest/gtest.h>

#include <set>

#include "core/data.hpp"
#include "device/select.hpp"
#include "transport/walk.hpp"

namespace plumb {
namespace {

class NoMemory : public Buffer {
 public:
  explicit NoMemory(std::size_t size) : Buffer(size, {}) {}
};

// Slots of all kinds in a buffer of their own.
Slots some_slots(std::uint64_t number, NoMemory& buffer) {
  const auto pick = [&](std::uint64_t what, std::uint64_t most) { return mix64(number * 16 + what) % most; };
  Slots slots{{&buffer, pick(0, 20), 1 + pick(1, 40)}, 1 + pick(2, 5), 0, pick(3, 30), pick(4, 9)};
  slots.pitch = slots.view.size + pick(5, 100);
  return slots;
}

TEST(Slots, RoomIsForTheRoundsWhoseSlotsLieInTheirArea) {
  NoMemory buffer(400);
  for (std::uint64_t number = 0; number < 3000; ++number) {
    const Slots slots = some_slots(number, buffer);
    const auto fits = [&](std::uint64_t round) {
      const std::uint64_t area = (round + slots.first) % slots.areas;
      const std::size_t begin = slots.view.offset + area * slots.pitch;
      const BufferView view = slots.at(round);
      return view.offset + view.size <= buffer.size() &&
             (slots.areas == 1 || view.offset + view.size <= begin + slots.pitch);
    };
    bool first_lap = true;
    for (std::uint64_t area = 0; area < slots.areas; ++area)
      first_lap = first_lap && slots.view.offset + area * slots.pitch + slots.view.size <= buffer.size();
    std::uint64_t rounds = 0;
    while (first_lap && rounds < 5000 && fits(rounds)) ++rounds;
    // Room is given for whole laps.
    const std::uint64_t told = slots.rounds();
    if (!first_lap || slots.stride > 0) {
      EXPECT_LE(told, rounds) << number;
      EXPECT_LT(rounds, told + slots.areas + slots.first + 1) << number;
    } else {
      EXPECT_EQ(told, all_rounds) << number;
    }
  }
}

TEST(Slots, NoLaterRoundOverwritesTheFirstBytesOfARound) {
  NoMemory buffer(2000);
  for (std::uint64_t number = 0; number < 300; ++number) {
    const Slots slots = some_slots(number, buffer);
    const std::uint64_t rounds = std::min<std::uint64_t>(slots.rounds(), 60);
    if (slots.stride == 0) continue;
    std::set<std::size_t> later;
    for (std::uint64_t round = rounds; round-- > 0;) {
      const BufferView view = slots.at(round);
      for (std::size_t i = 0; i < std::min(slots.stride, view.size); ++i) EXPECT_EQ(later.count(view.offset + i), 0u);
      for (std::size_t i = 0; i < view.size; ++i) later.insert(view.offset + i);
    }
  }
}

TEST(Slots, ACursorGoesWhereTheSlotsAre) {
  NoMemory buffer(100000);
  std::vector<std::byte> memory(buffer.size());
  for (std::uint64_t number = 0; number < 300; ++number) {
    const Slots slots = some_slots(number, buffer);
    SlotCursor cursor(memory.data() + slots.view.offset, slots);
    for (const std::uint64_t first : {0u, 1u, 17u}) {
      cursor.seek(first);
      for (std::uint64_t round = first; round < first + 20; ++round)
        ASSERT_EQ(cursor.take() - memory.data(), static_cast<std::ptrdiff_t>(slots.at(round).offset)) << number;
    }
  }
}

// Records its calls; a step is complete after a number of tests.
class Noted : public WalkedExchange {
 public:
  Noted(const Walk& walk, int looks) : WalkedExchange(walk), looks_(looks) {}
  std::vector<std::string> notes;

 private:
  void start_step(std::size_t step, std::uint64_t first, std::uint64_t end) override {
    notes.push_back(std::to_string(step) + ":" + std::to_string(first) + "-" + std::to_string(end));
    looked_ = 0;
  }
  bool test_step(std::size_t) override { return ++looked_ >= looks_; }
  void wait_step(std::size_t) override {}
  void resize(const std::vector<StepSizes>& sizes) override {
    notes.push_back("sizes " + std::to_string(sizes[0].sends[0]) + " " + std::to_string(sizes[0].receives[0]));
  }
  bool lead(Queue&) override {
    notes.push_back("lead");
    return true;
  }

  int looks_, looked_ = 0;
};

using Notes = std::vector<std::string>;

TEST(Walk, StepAfterStepOfWindowAfterWindow) {
  Noted exchange({2, 3, 100}, 2);
  exchange.run(1, 6);
  EXPECT_EQ(exchange.notes, (Notes{"0:1-4", "1:1-4", "0:4-7", "1:4-7"}));
  exchange.notes.clear();
  exchange.start(0, 3);
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(exchange.test()) << i;
  EXPECT_TRUE(exchange.test());
  EXPECT_EQ(exchange.notes, (Notes{"0:0-3", "1:0-3"}));
}

TEST(Walk, TheLastRoundsMayBeFewer) {
  Noted exchange({1, 4, 100}, 1);
  exchange.run(0, 10);
  EXPECT_EQ(exchange.notes, (Notes{"0:0-4", "0:4-8", "0:8-10"}));
}

// A queue that notes nothing: host work is done when it returns.
TEST(Walk, AQueueIsLedByTheLastStepAlone) {
  const DeviceCatalogue catalogue;
  const auto device = catalogue.open(catalogue.choose({"native", "", "", "native"}, 0, 1, 0));
  const auto queue = device->make_queue();
  Noted exchange({2, 3, 100}, 2);
  exchange.start_after(*queue, 0, 6);
  exchange.precede(*queue);
  EXPECT_EQ(exchange.notes, (Notes{"0:0-3", "1:0-3", "0:3-6", "1:3-6", "lead"}));
  exchange.wait();
  exchange.precede(*queue);  // nothing is under way
  EXPECT_EQ(exchange.notes.size(), 5u);
}

TEST(Walk, SizesAreCheckedBeforeTheyAreSet) {
  Walk walk{1, 1, 100};
  walk.sizes = {{{8}, {16}}};
  Noted exchange(walk, 1);
  exchange.set_sizes({{{0}, {16}}});
  EXPECT_EQ(exchange.notes, Notes{"sizes 0 16"});
  const auto refusal = [&](const std::vector<StepSizes>& sizes) -> std::string {
    try {
      exchange.set_sizes(sizes);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal({{{9}, {16}}}), "a message of 9 bytes exceeds the 8 bytes that it was compiled with");
  EXPECT_EQ(refusal({{{8}, {17}}}), "a message of 17 bytes exceeds the 16 bytes that it was compiled with");
  EXPECT_EQ(refusal({{{8, 8}, {16}}}), "2 sizes of messages were given, but a step of the exchange has 1");
  EXPECT_EQ(refusal({}), "sizes were given for 0 steps, but the exchange has 1");
  exchange.start(0, 1);
  EXPECT_EQ(refusal({{{8}, {16}}}), "sizes of messages were set during a run");
  EXPECT_EQ(exchange.notes.size(), 2u);
}

TEST(Walk, NothingToDo) {
  Noted idle({0, 1, 0}, 1), none({1, 1, 100}, 1);
  idle.run(0, 5);
  none.run(7, 0);
  EXPECT_TRUE(idle.test() && none.test());
  EXPECT_TRUE(idle.notes.empty() && none.notes.empty());
}

TEST(Walk, WhatBlocksDoesAStepAtATime) {
  Noted exchange({2, 1, 100, 1, "", true}, 1);
  exchange.start(0, 2);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(exchange.test()) << i;
  EXPECT_TRUE(exchange.test());
}

TEST(Walk, RefusesRoundsForWhichThereIsNoRoom) {
  Noted exchange({1, 1, 10}, 1);
  exchange.run(4, 6);
  EXPECT_THROW(exchange.start(0, 11), Error);
  EXPECT_THROW(exchange.start(~std::uint64_t{0}, 2), Error);
}

}  // namespace
}  // namespace plumb
