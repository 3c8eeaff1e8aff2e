// Test of atomicity: all PEs act on one word of PE 0 at once, in bursts, until each has observed foreign operations
// between its own often enough that non-atomic ones would have lost an update. If that takes too long (PEs that share a
// core rarely overlap), atomicity is recorded as not proven. The combined result must equal that of a sequential
// execution.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "benchmarks/shmem/api/shmem_region.hpp"
#include "core/data.hpp"
#include "measure/clock.hpp"

namespace plumb::shmem_api {

enum class Does { swap, compare_swap, add, inc, fetch, set, bit_and, bit_or, bit_xor };

template <class T>
struct Operands {
  T value{}, condition{};
};

// The word after an operation.
template <class T>
T word_after(Does does, T old, const Operands<T>& given) {
  if constexpr (std::is_integral_v<T>) {
    using Bits = std::make_unsigned_t<T>;  // wraps, like the operations
    const auto a = static_cast<Bits>(old), b = static_cast<Bits>(given.value);
    if (does == Does::add) return static_cast<T>(static_cast<Bits>(a + b));
    if (does == Does::inc) return static_cast<T>(static_cast<Bits>(a + 1));
    if (does == Does::bit_and) return static_cast<T>(a & b);
    if (does == Does::bit_or) return static_cast<T>(a | b);
    if (does == Does::bit_xor) return static_cast<T>(a ^ b);
  }
  if (does == Does::fetch) return old;
  if (does == Does::compare_swap && !(old == given.condition)) return old;
  return given.value;
}

// Operands of a PE's i-th operation on a word that held `now`. Every fourth compare-and-swap must not swap.
template <class T>
Operands<T> operands_at(Does does, std::uint64_t key, std::uint64_t i, T now) {
  Operands<T> given;
  given.value = value_of<T>((key + i) * 0x9e3779b97f4a7c15ull);
  given.condition = does == Does::compare_swap && i % 4 == 3 ? given.value : now;
  return given;
}

// A value as a term of a sum that distinguishes sequences.
template <class T>
std::uint64_t term(T value) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

template <class T>
class Race {
 public:
  // One operation of this PE on a word of another; returns the old value, or any value if `returns` is false.
  using Act = std::function<T(T* word, const Operands<T>& given, int pe)>;
  static constexpr std::uint64_t overlaps_wanted = 32;  // per PE

  static bool can_be_run(Does does) { return does != Does::fetch && does != Does::set; }
  // Symmetric memory of a race.
  static std::size_t bytes(int pes) { return line + line + static_cast<std::size_t>(pes) * sizeof(Account); }

  Race(Does does, bool returns, Act act, const Setting& setting, std::byte* memory)
      : does_(does), returns_(returns), act_(std::move(act)), setting_(setting), memory_(memory) {}

  // Collective; findings accumulate over runs. Errors are noted on PE 0.
  void run(std::uint64_t key, Validation& found) {
    key_ = key;
    if (setting_.pe == 0) *verdict() = {};
    const double begin = now_seconds(), deadline = begin + std::min(longest_seconds, left_);
    std::uint64_t burst = 128;
    for (std::uint64_t round = 0;; ++round) {
      if (setting_.pe == 0) *word() = does_ == Does::bit_and ? all_bits() : T{};
      shmem_barrier_all();
      Account mine = this->burst(round, burst);
      mine_ += mine.overlaps;
      mine.overlaps = mine_;
      shmem_quiet();
      shmem_putmem(accounts() + setting_.pe, &mine, sizeof mine, 0);
      shmem_barrier_all();
      if (setting_.pe == 0) *verdict() = judge(burst, deadline, found);
      shmem_barrier_all();
      Verdict all{};
      shmem_getmem(&all, verdict(), sizeof all, 0);
      burst = all.burst;
      overlaps_ = all.overlaps;
      if (all.over != 0) break;
    }
    left_ -= now_seconds() - begin;
  }

  // Minimum over PEs of observed foreign operations, and the reason if too few for a proof.
  Json facts() const {
    Json facts{{"overlaps", overlaps_}};
    if (overlaps_ < overlaps_wanted)
      facts["atomicity"] = fmt::format(
          "not proven: in runs of {:g} s a PE observed foreign operations between its own {} times, "
          "{} are required",
          longest_seconds, overlaps_, overlaps_wanted);
    return facts;
  }

 private:
  static constexpr double longest_seconds = 1;  // per run, twice that in all: each run has a burst
  static constexpr std::size_t line = 128;
  static constexpr std::uint64_t longest_burst = std::uint64_t{1} << 16;
  // Effect of a PE's operations on the word, by the operation's own law, and number of foreign ones between them.
  struct Account {
    std::uint64_t sum = 0, overlaps = 0;
  };
  struct Verdict {
    std::uint64_t over = 0, burst = 0, overlaps = 0;
  };

  T* word() const { return reinterpret_cast<T*>(memory_); }
  Verdict* verdict() const { return reinterpret_cast<Verdict*>(memory_ + line); }
  Account* accounts() const { return reinterpret_cast<Account*>(memory_ + 2 * line); }
  static T all_bits() {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(~T{});
    return T{};
  }
  bool is_of_bits() const { return does_ == Does::bit_and || does_ == Does::bit_or; }

  // On PE 0: checks the word, and whether there were enough overlaps.
  Verdict judge(std::uint64_t burst, double deadline, Validation& found) const {
    std::uint64_t should = 0, least = ~std::uint64_t{0};
    for (int pe = 0; pe < setting_.pes; ++pe) {
      const Account& account = accounts()[pe];
      should = does_ == Does::bit_xor ? should ^ account.sum
               : is_of_bits()         ? should | account.sum
                                      : should + account.sum;
      least = std::min(least, account.overlaps);
    }
    if (does_ == Does::bit_and) should = 0;
    const bool wrong = static_cast<T>(should) != *word();
    const bool late = now_seconds() > deadline;
    if (wrong)
      note_wrong(found, fmt::format("{} PEs at once left {} in a word, should be {}", setting_.pes, *word(),
                                    static_cast<T>(should)));
    const bool met = least > verdict()->overlaps;  // in this burst; otherwise the next one is longer
    return {wrong || late || least >= overlaps_wanted, met ? burst : std::min(2 * burst, longest_burst), least};
  }

  Account burst(std::uint64_t round, std::uint64_t length) {
    if (is_of_bits()) return burst_of_bits();
    Account account;
    T alone = seen();  // the word without other PEs
    std::uint64_t retries = most_retries(length);
    for (std::uint64_t j = 0; j < length && retries > 0; ++j) {
      const std::uint64_t who = j * 4096 + static_cast<std::uint64_t>(setting_.pe);
      Operands<T> given{value_of<T>(mix64(key_ ^ mix64(round) ^ who)), T{}};
      if (does_ == Does::compare_swap) {
        account.overlaps += add_one(alone, retries);
        account.sum += 1;
      } else {
        const T old = act_(word(), given, 0);
        account.sum = changed(account.sum, given, old);
        look(j, old, alone, given, account);
      }
    }
    return account;
  }

  // Compare-and-swaps of a burst that may fail. If they run out, the burst ends with an increment that is counted but
  // not made, so that the word is wrong.
  std::uint64_t most_retries(std::uint64_t length) const {
    return 100000 + 256 * length * static_cast<std::uint64_t>(setting_.pes);
  }

  // Increments by compare-and-swap; gives the failures, which count foreign operations, and takes them from `retries`.
  std::uint64_t add_one(T& alone, std::uint64_t& retries) {
    std::uint64_t failures = 0;
    for (; retries > 0; ++failures, --retries) {
      const Operands<T> given{word_after(Does::inc, alone, Operands<T>{}), alone};
      const T old = act_(word(), given, 0);
      if (old == alone) {
        alone = given.value;
        break;
      }
      alone = old;
    }
    return failures;
  }

  // Compares the word with the result of this PE's operations alone: by the returned value, or each fourth time a read.
  void look(std::uint64_t j, T old, T& alone, const Operands<T>& given, Account& account) {
    if (returns_) {
      if (!(old == alone)) ++account.overlaps;
      alone = word_after(does_, old, given);
      return;
    }
    alone = word_after(does_, alone, given);
    if (j % 4 != 3) return;
    const T now = seen();
    if (!(now == alone)) ++account.overlaps;
    alone = now;
  }

  T seen() {
    T now{};
    shmem_quiet();
    shmem_getmem(&now, word(), sizeof now, 0);
    return now;
  }

  std::uint64_t changed(std::uint64_t sum, const Operands<T>& given, T old) const {
    if (does_ == Does::swap) return sum + term(given.value) - term(old);  // incoming minus outgoing value
    if (does_ == Does::bit_xor) return sum ^ term(given.value);
    return sum + (does_ == Does::inc ? 1 : term(given.value));
  }

  // Each PE sets, or clears, its own bits once per round.
  Account burst_of_bits() {
    Account account;
    if constexpr (std::is_integral_v<T>) {
      using Bits = std::make_unsigned_t<T>;
      const auto pe = static_cast<std::uint64_t>(setting_.pe), pes = static_cast<std::uint64_t>(setting_.pes);
      const bool clears = does_ == Does::bit_and;
      T alone = seen();
      for (std::uint64_t bit = pe; bit < 8 * sizeof(T); bit += pes) {
        const auto mask = static_cast<Bits>(Bits{1} << bit);
        const Operands<T> given{static_cast<T>(clears ? static_cast<Bits>(~mask) : mask), T{}};
        const T old = act_(word(), given, 0);
        const T now = returns_ ? word_after(does_, old, given) : seen();
        alone = word_after(does_, alone, given);
        if (now != alone) ++account.overlaps;
        alone = now;
        account.sum |= mask;
      }
      if (pe >= 8 * sizeof(T)) account.overlaps = overlaps_wanted;  // no bit is left for it
    }
    return account;
  }

  Does does_;
  bool returns_;
  Act act_;
  Setting setting_;
  std::byte* memory_;
  std::uint64_t key_ = 0, overlaps_ = 0;
  double left_ = 2 * longest_seconds;
  std::uint64_t mine_ = 0;  // overlaps observed by this PE in all runs
};

}  // namespace plumb::shmem_api
