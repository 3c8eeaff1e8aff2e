#include "benchmarks/hpcc/random_access/random_access.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "benchmarks/hpcc/random_access/hpcc_form.hpp"
#include "benchmarks/hpcc/random_access/replay.hpp"
#include "device/cuda/compiler.hpp"

namespace plumb::random_access {
namespace {

// HPCC's definitions, word for word.
std::uint64_t next(Stream stream, std::uint64_t word) {
  if (stream == Stream::lcg) return 6364136223846793005u * word + 1;
  return (word << 1) ^ (static_cast<std::int64_t>(word) < 0 ? 7u : 0u);
}

std::uint64_t place(Stream stream, std::uint64_t word, int log2_table) {
  return stream == Stream::lcg ? word >> (64 - log2_table) : word & ((std::uint64_t{1} << log2_table) - 1);
}

constexpr Stream streams[] = {Stream::polynomial, Stream::lcg};

TEST(RandomAccessStream, StartsAreThoseOfASerialWalk) {
  for (const Stream stream : streams) {
    std::uint64_t word = 1;
    for (std::uint64_t n = 0; n < 1000; ++n) {
      EXPECT_EQ(start(stream, n), word);
      EXPECT_EQ(word_before(stream, n), word);
      word = next(stream, word);
    }
  }
  EXPECT_EQ(start(Stream::polynomial, 64), 7u);
}

TEST(RandomAccessStream, TwoWaysToLeapAgreeFarOut) {
  for (const Stream stream : streams)
    for (const std::uint64_t n : {12345678901234567ull, 1ull << 34, (1ull << 60) + 1, ~1ull}) {
      EXPECT_EQ(start(stream, n), word_before(stream, n));
      EXPECT_EQ(start(stream, n + 1), next(stream, start(stream, n)));
    }
}

TEST(RandomAccessStream, PolynomialHasHpccsPeriod) {
  EXPECT_EQ(start(Stream::polynomial, 1317624576693539401u), 1u);
}

TEST(RandomAccessStream, SharesCoverAllUpdatesOnce) {
  for (const std::uint64_t updates : {64u, 4096u, 1u << 20})
    for (const std::uint64_t wanted : {1u, 2u, 32u, 500u, 1u << 16})
      for (const std::uint64_t unit : {1u, 4u, 32u}) {
        const Shares shares = cut(updates, wanted, unit);
        EXPECT_EQ(shares.length % unit, 0u);
        EXPECT_GE(shares.count * shares.length, updates);
        EXPECT_LT((shares.count - 1) * shares.length, updates);
        if (shares.count > 1) {
          EXPECT_EQ(shares.length / unit % 2, 1u) << "a power of two apart, generators collide";
        }
        const auto starts = starts_of(Stream::polynomial, 77, shares);
        EXPECT_EQ(starts.size(), shares.count);
        EXPECT_EQ(starts.back(), start(Stream::polynomial, 77 + (shares.count - 1) * shares.length));
      }
}

TEST(RandomAccessTable, OwnTablesContinueTheStream) {
  const Task third = own_table(10, 2);
  EXPECT_EQ(third.part.words, 1024u);
  EXPECT_EQ(third.content, 2048u);
  EXPECT_EQ(third.first_update, 8192u);
  EXPECT_EQ(third.updates, 4096u);
}

TEST(RandomAccessTable, SharedTableIsDividedAmongAnyNumberOfRanks) {
  for (const int ranks : {1, 2, 3, 4, 5, 7, 16, 26}) {
    std::uint64_t next_word = 0;
    Task task;
    for (int rank = 0; rank < ranks; ++rank) {
      task = shared_table(6, rank, ranks);
      EXPECT_EQ(task.part.first, next_word);
      EXPECT_LE(task.part.words, 64u);
      next_word += task.part.words;
    }
    EXPECT_EQ(next_word, std::uint64_t{64} * std::bit_floor(static_cast<unsigned>(ranks)));
    EXPECT_EQ(next_word, std::uint64_t{1} << task.log2_table);
    EXPECT_EQ(task.updates, 4 * next_word);
  }
}

// A right kernel's result in a part.
std::vector<std::uint64_t> updated(Stream stream, const Task& task) {
  std::vector<std::uint64_t> table(task.part.words);
  for (std::uint64_t i = 0; i < table.size(); ++i) table[i] = task.content + task.part.first + i;
  std::uint64_t word = start(stream, task.first_update);
  for (std::uint64_t i = 0; i < task.updates; ++i) {
    word = next(stream, word);
    const std::uint64_t at = place(stream, word, task.log2_table) - task.part.first;
    if (at < table.size()) table[at] ^= word;
  }
  return table;
}

TEST(RandomAccessReplay, ARightTableIsBackAtItsContent) {
  for (const Stream stream : streams)
    for (const Task& task : {own_table(4, 0), own_table(12, 3), shared_table(12, 1, 3), own_table(17, 1)}) {
      std::vector<std::uint64_t> table = updated(stream, task);
      const Replayed found = replay(stream, task, table, 100);
      EXPECT_EQ(found.wrong, 0u);
      EXPECT_EQ(found.detail, "");
    }
}

TEST(RandomAccessReplay, ALostUpdateIsExplained) {
  for (const Stream stream : streams) {
    const Task task = own_table(12, 1);
    std::vector<std::uint64_t> table = updated(stream, task);
    const std::uint64_t lost = start(stream, task.first_update + 5000);
    table[place(stream, lost, 12)] ^= lost;
    const Replayed found = replay(stream, task, table, 100);
    EXPECT_EQ(found.wrong, 1u);
    EXPECT_EQ(found.unexplained, 0u);
    EXPECT_NE(found.detail, "");
  }
}

TEST(RandomAccessReplay, AWordThatNobodyWroteIsNotExplained) {
  const Task task = own_table(12, 1);
  std::vector<std::uint64_t> table = updated(Stream::lcg, task);
  table[7] ^= 0x123456;         // not the xor of any updates
  table[9] = task.content + 9;  // all of its updates are missing
  const Replayed found = replay(Stream::lcg, task, table, 100);
  EXPECT_EQ(found.wrong, 2u);
  EXPECT_EQ(found.unexplained, 2u);
  EXPECT_NE(found.detail.find("word 7 is off by 0x123456"), std::string::npos) << found.detail;
}

TEST(RandomAccessReplay, ANoOpIsWrongEverywhere) {
  const Task task = own_table(10, 0);
  std::vector<std::uint64_t> table(task.part.words);
  for (std::uint64_t i = 0; i < table.size(); ++i) table[i] = i;
  EXPECT_GT(replay(Stream::lcg, task, table, 10).wrong, 980u);  // e^-4 of them have no update
}

TEST(RandomAccessKernels, NamesTellWhatABitstreamWasBuiltWith) {
  KernelForm form;
  form.variant = hpcc::Variant::single_work_item;
  form.replications = 2;
  form.rng_count_log = 5;
  form.rng_distance = 3;
  form.look_ahead = 16;
  const std::vector<std::string> built{"update_0_g5_d3_b4", "update_1_g5_d3_b4"};
  EXPECT_EQ(kernel_name(built, form, 1), "update_1_g5_d3_b4");
  EXPECT_EQ(kernel_name({"update_0", "update_1"}, form, 1), "update_1");
  const auto refused = [&](KernelForm other) { EXPECT_THROW(kernel_name(built, other, 0), Error); };
  KernelForm other = form;
  other.replications = 1;
  refused(other);
  other = form;
  other.rng_count_log = 4;
  refused(other);
  other = form;
  other.look_ahead = 1;
  refused(other);
  form.variant = hpcc::Variant::nd_range;
  EXPECT_EQ(kernel_name({"update"}, form, 0), "update");
}

TEST(RandomAccessKernels, CompileForANvidiaGpu) {
  if (!cuda::why_no_compiler().empty()) GTEST_SKIP() << cuda::why_no_compiler();
  for (const Stream stream : streams)
    for (const Updates updates : {Updates::buffered, Updates::atomic, Updates::atomic32})
      for (const bool whole : {true, false}) {
        KernelForm form;
        form.stream = stream;
        form.updates = updates;
        form.log2_table = 32;
        form.whole = whole;
        form.look_ahead = 4;
        EXPECT_EQ(cuda::compile(source_of(form), 9, 0, "a GPU").substr(1, 3), "ELF");
      }
}

// check() and groups() with these options.
std::vector<Group> plan(const std::vector<std::pair<std::string, std::string>>& options, const Plan& plan = {}) {
  RandomAccess benchmark;
  for (const auto& [name, value] : options) benchmark.find(name)->parse(value);
  benchmark.check(plan);
  return benchmark.groups(plan);
}

TEST(RandomAccessOptions, CasesPromiseTheirWork) {
  const auto own = plan({{"size", "10"}}, {1, 3, 1});
  ASSERT_EQ(own[0].cases.size(), 2u);
  EXPECT_EQ(own[0].cases[0].key, "buffered/8192");
  EXPECT_EQ(own[0].cases[1].key, "atomic/8192");
  EXPECT_EQ(own[0].cases[0].work.updates, 4096u);
  EXPECT_EQ(own[0].cases[0].fixed_count, 1u);
  std::uint64_t updates = 0;
  for (int rank = 0; rank < 3; ++rank)
    updates += plan({{"size", "10"}, {"table", "shared"}}, {rank, 3, 1})[0].cases[0].work.updates;
  EXPECT_EQ(updates, 4u * 2048);
}

TEST(RandomAccessOptions, WhatCannotBeIsRefused) {
  EXPECT_THROW(plan({{"size", "0"}}), UsageError);
  EXPECT_THROW(plan({{"variant", "library"}}), UsageError);
  EXPECT_THROW(plan({{"size", "4"}, {"replications", "32"}}), UsageError);
  EXPECT_THROW(plan({{"size", "4"}, {"buffer-log", "7"}}), UsageError);
  EXPECT_THROW(plan({{"size", "4"}, {"rng-count-log", "7"}}), UsageError);
}

Json record_of(const std::string& status) {
  return {{"parameters", {{"size", 10}, {"rng-count-log", 5}, {"table", "own"}}},
          {"world", {{"ranks", 2}}},
          {"cases",
           {{{"labels", {{"updates", "buffered"}, {"table_bytes", 8192}}},
             {"summary", {{"min_s", 1}}},
             {"outcome", {{"status", status}}},
             {"samples", {{"by_rank", {{1.0, 4.0}, {3.0, 2.0}}}}},
             {"validation", {{"performed", true}, {"error", 0.001}}}}}}};
}

TEST(RandomAccessHpccForm, AveragesRanksOfEachRepetition) {
  const Json form = random_access_hpcc_form(record_of("passed"));
  EXPECT_DOUBLE_EQ(form["results"]["t_min"]["value"], 2.0);
  EXPECT_DOUBLE_EQ(form["results"]["t_mean"]["value"], 2.5);
  EXPECT_DOUBLE_EQ(form["results"]["guops"]["value"], 4.0 * 1024 * 2 / 1e9 / 2.0);
  EXPECT_EQ(form["timings"]["execution"].size(), 2u);
  EXPECT_EQ(form["errors"]["ratio"], 0.001);
  EXPECT_EQ(form["settings"]["Array Size"], 1024);
  EXPECT_EQ(form["settings"]["#RNGs"], 32);
}

TEST(RandomAccessHpccForm, GivesNoFigureForAWrongTable) {
  EXPECT_TRUE(random_access_hpcc_form(record_of("failed"))["results"]["guops"]["value"].is_null());
  EXPECT_TRUE(random_access_hpcc_form(Json::object())["results"]["guops"]["value"].is_null());
}

}  // namespace
}  // namespace plumb::random_access
