// Memory that other ranks reach, in both worlds: every operation, from every rank to every rank.
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "core/data.hpp"
#include "tests/engine/ranks_fixture.hpp"
#include "world/one_sided.hpp"

namespace plumb {
namespace {

constexpr std::size_t words_of_rank = 64;
constexpr std::size_t bytes_of_memory = (std::size_t{1} << 16) + 24;  // no whole pages

class OneSidedMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    memory_ = make_one_sided(test_world(), bytes_of_memory, 2);
    rank_ = test_world().rank();
    size_ = test_world().size();
  }
  std::size_t mine() const { return words_of_rank * static_cast<std::size_t>(rank_); }
  static std::uint64_t value(int from, int to) {
    return 1000 * static_cast<std::uint64_t>(from) + static_cast<std::uint64_t>(to) + 1;
  }

  static std::uint64_t mix(std::uint64_t i, int rank) { return mix64(i * 64 + static_cast<std::uint64_t>(rank)); }

  std::unique_ptr<OneSided> memory_;
  int rank_ = 0, size_ = 1;
};

TEST_F(OneSidedMemory, IsZeroAtFirst) {
  EXPECT_EQ(memory_->size(), bytes_of_memory);
  EXPECT_EQ(memory_->contexts(), 2);
  EXPECT_EQ(std::accumulate(memory_->local(), memory_->local() + memory_->size(), 0u,
                            [](unsigned sum, std::byte byte) { return sum + std::to_integer<unsigned>(byte); }),
            0u);
}

TEST_F(OneSidedMemory, PutsArriveWhereTheyAreAimedAt) {
  std::vector<std::uint64_t> kept(static_cast<std::size_t>(size_));
  for (int to = 0; to < size_; ++to) {
    std::uint64_t word = value(rank_, to);
    kept[static_cast<std::size_t>(to)] = word + 1;
    memory_->put(0, 8 * mine(), &word, sizeof word, to);
    word = 0;  // reusable at once
    memory_->put_nb(1, 8 * (mine() + 1), &kept[static_cast<std::size_t>(to)], sizeof word, to);
    memory_->put_word(0, mine() + 2, value(rank_, to) + 2, to);
  }
  memory_->synchronise();
  for (int from = 0; from < size_; ++from)
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_EQ(memory_->words()[words_of_rank * static_cast<std::size_t>(from) + i], value(from, rank_) + i);
  memory_->synchronise();
}

TEST_F(OneSidedMemory, GetsBringWhatIsThere) {
  for (std::size_t i = 0; i < words_of_rank; ++i) memory_->words()[i] = value(rank_, static_cast<int>(i));
  memory_->synchronise();
  for (int from = 0; from < size_; ++from) {
    std::array<std::uint64_t, words_of_rank> got{};
    memory_->get(0, got.data(), 0, sizeof got, from);
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], value(from, static_cast<int>(i)));
    EXPECT_EQ(memory_->get_word(1, 7, from), value(from, 7));
  }
  memory_->synchronise();
}

TEST_F(OneSidedMemory, AtomicsLoseNothing) {
  constexpr std::uint64_t rounds = 3000;
  const auto places = static_cast<std::uint64_t>(size_);
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const int to = static_cast<int>((i + static_cast<std::uint64_t>(rank_)) % places);
    memory_->atomic_add(0, 0, 1, to);
    memory_->atomic_xor(0, 1, std::uint64_t{1} << (i % 64), to);
    memory_->fetch_add(1, 2, 2, to);
    memory_->fetch_xor(1, 3, i, to);
  }
  memory_->synchronise();
  std::uint64_t sum = 0, sum_of_two = 0, bits = 0, fetched_bits = 0, of_one = 0, fetched_of_one = 0;
  for (int of = 0; of < size_; ++of) {
    sum += memory_->get_word(0, 0, of);
    sum_of_two += memory_->get_word(0, 2, of);
    bits ^= memory_->get_word(0, 1, of);
    fetched_bits ^= memory_->get_word(0, 3, of);
  }
  for (std::uint64_t i = 0; i < rounds; ++i) {
    of_one ^= std::uint64_t{1} << (i % 64);
    fetched_of_one ^= i;
  }
  EXPECT_EQ(bits, size_ % 2 == 0 ? 0 : of_one);
  EXPECT_EQ(fetched_bits, size_ % 2 == 0 ? 0 : fetched_of_one);
  EXPECT_EQ(sum, rounds * places);
  EXPECT_EQ(sum_of_two, 2 * rounds * places);
  memory_->synchronise();
}

// All ranks on the same words of rank 0 at once, each word by one operation, with and without its result.
TEST_F(OneSidedMemory, OneOperationOnOneWordLosesNothing) {
  constexpr std::uint64_t rounds = 2000;
  const auto ranks = static_cast<std::uint64_t>(size_);
  std::uint64_t last = 0, sum_seen = 0;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    memory_->atomic_add(0, 0, 1, 0);
    const std::uint64_t before = memory_->fetch_add(1, 0, 1, 0);
    EXPECT_TRUE(i == 0 || before > last) << "a sum only grows";
    last = before;
    memory_->atomic_xor(0, 1, mix(i, rank_), 0);
    memory_->fetch_xor(1, 1, mix(i + rounds, rank_), 0);
    std::uint64_t expected = sum_seen;
    for (;; expected = sum_seen) {
      sum_seen = memory_->compare_swap(0, 2, expected, expected + 3, 0);
      if (sum_seen == expected) break;
    }
    sum_seen += 3;
  }
  memory_->synchronise();
  std::uint64_t bits = 0;
  for (int rank = 0; rank < size_; ++rank)
    for (std::uint64_t i = 0; i < 2 * rounds; ++i) bits ^= mix(i, rank);
  EXPECT_EQ(memory_->get_word(0, 0, 0), 2 * rounds * ranks);
  EXPECT_EQ(memory_->get_word(0, 1, 0), bits);
  EXPECT_EQ(memory_->get_word(0, 2, 0), 3 * rounds * ranks);
  memory_->synchronise();
}

// All ranks set the same bits at once: each bit is set by one of them, and each rank's own bits are there at last.
TEST_F(OneSidedMemory, EachBitIsSetOnce) {
  constexpr std::size_t bits = 1024;
  std::uint64_t first = 0;
  for (std::size_t bit = 0; bit < bits; ++bit) {
    const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
    if ((memory_->fetch_or(bit % 2 == 0 ? 0 : 1, bit / 64, mask, 0) & mask) == 0) ++first;
    memory_->atomic_or(0, 16, std::uint64_t{1} << ((bit + static_cast<std::size_t>(rank_)) % 32), 0);
    memory_->atomic_or(1, 17, std::uint64_t{1} << rank_, 0);
  }
  memory_->synchronise();
  memory_->atomic_add(0, 32, first, 0);
  memory_->synchronise();
  for (std::size_t word = 0; word < bits / 64; ++word) EXPECT_EQ(memory_->get_word(0, word, 0), ~std::uint64_t{0});
  EXPECT_EQ(memory_->get_word(0, 16, 0), 0xffffffffu);
  EXPECT_EQ(memory_->get_word(0, 17, 0), (std::uint64_t{1} << size_) - 1);
  EXPECT_EQ(memory_->get_word(0, 32, 0), bits) << "of all ranks";
  memory_->synchronise();
}

// Different operations on one word, of different ranks, each behind a synchronise().
TEST_F(OneSidedMemory, DifferentOperationsFollowEachOther) {
  memory_->atomic_add(0, 5, 1, 0);
  memory_->synchronise();
  memory_->atomic_xor(0, 5, rank_ == 0 ? 0x100 : 0, 0);
  memory_->synchronise();
  const auto now = static_cast<std::uint64_t>(size_) ^ 0x100;
  if (rank_ == size_ - 1) {
    EXPECT_EQ(memory_->compare_swap(0, 5, now, 7, 0), now);
  }
  memory_->synchronise();
  EXPECT_EQ(memory_->get_word(0, 5, 0), 7u);
  memory_->synchronise();
}

TEST_F(OneSidedMemory, FetchesSayWhatWasThereBefore) {
  EXPECT_EQ(memory_->fetch_add(0, mine(), 5, rank_), 0u);
  EXPECT_EQ(memory_->fetch_xor(0, mine(), 3, rank_), 5u);
  EXPECT_EQ(memory_->fetch_or(0, mine() + 1, 9, rank_), 0u);
  EXPECT_EQ(memory_->fetch_or(0, mine() + 1, 3, rank_), 9u);
  EXPECT_EQ(memory_->get_word(0, mine() + 1, rank_), 11u);
  EXPECT_EQ(memory_->compare_swap(0, mine(), 99, 1, rank_), 6u) << "it was not 99: it stays";
  EXPECT_EQ(memory_->compare_swap(0, mine(), 6, 1, rank_), 6u);
  EXPECT_EQ(memory_->get_word(0, mine(), rank_), 1u);
  memory_->synchronise();
}

TEST_F(OneSidedMemory, ANoticeComesAfterWhatWasPutBefore) {
  const int right = (rank_ + 1) % size_, left = (rank_ + size_ - 1) % size_;
  std::vector<std::uint64_t> sent(1000);
  for (std::uint64_t round = 1; round <= 50; ++round) {
    std::fill(sent.begin(), sent.end(), round * 100 + static_cast<std::uint64_t>(rank_));
    memory_->put(0, 64, sent.data(), 8 * sent.size(), right);
    memory_->notify(0, 0, round, right);
    while (!memory_->reached(0, round)) std::this_thread::yield();
    const std::uint64_t wanted = round * 100 + static_cast<std::uint64_t>(left);
    EXPECT_EQ(memory_->words()[8], wanted);
    EXPECT_EQ(memory_->words()[8 + 999], wanted);
    memory_->notify(0, 1, round, left);  // taken
    while (!memory_->reached(1, round)) std::this_thread::yield();
  }
  memory_->synchronise();
}

}  // namespace
}  // namespace plumb
