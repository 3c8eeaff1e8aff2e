// Schedules of ACCL's collectives, on ranks that are played here: what each rank has at the end, and how many messages
// that took.
#include "transport/accl/collectives.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <map>

namespace plumb::accl {
namespace {

using Words = std::vector<std::int64_t>;

constexpr std::uint32_t elements = 7;

std::int64_t value(int rank, std::uint64_t index) {
  return static_cast<std::int64_t>(1000003 * (rank + 1) + 31 * index * index);
}

// Ranks in turn, as far as what has come lets them.
class Played {
 public:
  Played(Call call, int ranks, int root, bool eager) : ranks_(ranks), states_(static_cast<std::size_t>(ranks)) {
    const auto all = elements * static_cast<std::size_t>(ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      State& state = states_[static_cast<std::size_t>(rank)];
      for (std::uint64_t i = 0; i < all; ++i) state.operand.push_back(value(rank, i));
      state.result.assign(all, -1);
      state.command.call = call;
      state.command.elements = elements;
      state.command.peer = static_cast<std::uint32_t>(root);
      state.command.type = static_cast<std::uint32_t>(Type::int64);
      state.command.set_address(0, state.operand.data());
      state.command.set_address(2, state.result.data());
      state.schedule = schedule_of(state.command, rank, ranks, eager);
    }
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < ranks; ++rank)
        while (step(rank)) moved = true;
    }
  }

  bool ended() const {
    for (const State& state : states_)
      if (state.stage < state.schedule.stages.size()) return false;
    for (const auto& [path, messages] : under_way_)
      if (!messages.empty()) return false;
    return true;
  }
  const Words& operand(int rank) const { return states_[static_cast<std::size_t>(rank)].operand; }
  const Words& result(int rank) const { return states_[static_cast<std::size_t>(rank)].result; }
  int messages() const { return messages_; }

 private:
  struct State {
    Words operand, result;
    Command command;
    Schedule schedule;
    std::size_t stage = 0, received = 0;
    bool has_sent = false;
  };

  bool step(int rank) {
    State& state = states_[static_cast<std::size_t>(rank)];
    if (state.stage == state.schedule.stages.size()) return false;
    const Stage& stage = state.schedule.stages[state.stage];
    if (!state.has_sent)
      for (const Part& part : stage.sends) {
        under_way_[{rank, part.peer}].emplace_back(part.at, part.at + part.bytes);
        ++messages_;
      }
    state.has_sent = true;
    for (; state.received < stage.receives.size(); ++state.received) {
      const Part& part = stage.receives[state.received];
      auto& here = under_way_[{part.peer, rank}];
      if (here.empty()) return false;
      EXPECT_EQ(here.front().size(), part.bytes);
      std::copy(here.front().begin(), here.front().end(), part.at);
      here.pop_front();
    }
    for (const Local& one : stage.then)
      if (one.right == nullptr)
        std::memmove(one.to, one.left, one.bytes);
      else
        combine(state.command, one);
    ++state.stage;
    state.received = 0;
    state.has_sent = false;
    return true;
  }

  int ranks_, messages_ = 0;
  std::vector<State> states_;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> under_way_;
};

// What a rank must have; empty if nothing.
Words expected(Call call, int rank, int ranks, int root) {
  Words words;
  const auto own = elements * static_cast<std::uint64_t>(rank);
  const auto take = [&](int from, std::uint64_t begin) {
    for (std::uint64_t i = 0; i < elements; ++i) words.push_back(value(from, begin + i));
  };
  const auto sum = [&](std::uint64_t begin) {
    words.assign(elements, 0);
    for (int from = 0; from < ranks; ++from)
      for (std::uint64_t i = 0; i < elements; ++i) words[i] += value(from, begin + i);
  };
  if (call == Call::bcast) take(root, 0);
  if (call == Call::scatter) take(root, own);
  if (call == Call::reduce_scatter) sum(own);
  if (call == Call::allreduce || (call == Call::reduce && rank == root)) sum(0);
  for (int from = 0; from < ranks; ++from) {
    if (call == Call::allgather || (call == Call::gather && rank == root)) take(from, 0);
    if (call == Call::alltoall) take(from, own);
  }
  return words;
}

int messages_of(Call call, int ranks, bool eager) {
  const int others = ranks - 1, pairs = ranks * others;
  switch (call) {
    case Call::gather:
      return eager ? pairs / 2 : others;
    case Call::allgather:
    case Call::alltoall:
      return pairs;
    case Call::allreduce:
      return eager ? 2 * pairs : 2 * others;
    case Call::reduce_scatter:
      return eager ? pairs : 2 * others;
    case Call::barrier:
      return 2 * others;
    default:
      return others;
  }
}

TEST(AcclCollectives, GiveEachRankItsPart) {
  for (auto call = Call::bcast; call <= Call::alltoall; call = static_cast<Call>(static_cast<std::uint32_t>(call) + 1))
    for (int ranks = 1; ranks <= 9; ++ranks)
      for (int root = 0; root < ranks; ++root)
        for (const bool eager : {true, false}) {
          const Played played(call, ranks, root, eager);
          SCOPED_TRACE(testing::Message() << "call " << static_cast<int>(call) << " on " << ranks << " ranks, root "
                                          << root << (eager ? ", eager" : ", rendezvous"));
          ASSERT_TRUE(played.ended());
          EXPECT_EQ(played.messages(), messages_of(call, ranks, eager));
          for (int rank = 0; rank < ranks; ++rank) {
            const Words wanted = expected(call, rank, ranks, root);
            Words found = call == Call::bcast ? played.operand(rank) : played.result(rank);
            found.resize(wanted.size());
            EXPECT_EQ(found, wanted) << "rank " << rank;
          }
        }
}

// Broadcasts to more than 3 ranks and reductions of more than 4 halve the distance, by rendezvous.
TEST(AcclCollectives, AreTreesAboveTheLimits) {
  const auto stages = [](Call call, int rank, int ranks, bool eager) {
    Command command;
    command.call = call;
    command.elements = 1;
    return schedule_of(command, rank, ranks, eager).stages.size();
  };
  EXPECT_EQ(stages(Call::bcast, 0, 3, false), 1u);
  EXPECT_EQ(stages(Call::bcast, 0, 4, false), 2u);
  EXPECT_EQ(stages(Call::bcast, 0, 9, false), 4u);
  EXPECT_EQ(stages(Call::bcast, 0, 9, true), 1u);
  EXPECT_EQ(stages(Call::reduce, 0, 4, false), 1u);
  EXPECT_EQ(stages(Call::reduce, 0, 5, false), 3u);
  EXPECT_EQ(stages(Call::reduce, 0, 9, true), 1u);
}

}  // namespace
}  // namespace plumb::accl
