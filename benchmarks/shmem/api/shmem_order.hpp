// Ordering and waiting: barriers, waits, locks.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "benchmarks/shmem/api/shmem_region.hpp"
#include "core/data.hpp"

namespace plumb::shmem_api {

// Synchronisation of a row: of all PEs, with alternating sync arrays.
struct Gate {
  std::function<void(int pes, long* sync)> call = {};
  std::size_t sync_size = 1;
  bool completes = true;  // earlier puts have arrived afterwards (barriers), or not (sync)
};

// Barriers. Afterwards, untimed: each PE in turn arrives late, and no other may leave before it.
class Barrier : public Pattern {
 public:
  static Needs needs(const Gate& gate, const Setting& s);
  Barrier(Gate gate, const Setting& setting);
  void reset(std::uint64_t repetition, std::uint64_t count) override;
  void run(std::uint64_t count) override;
  Validation validate(std::uint64_t repetition, std::uint64_t count) override;

 private:
  static Layout sizes(const Gate& gate, const Setting& s);
  long* sync(std::uint64_t call) const;

  Gate gate_;
  Setting setting_;
  Region region_;
  std::uint64_t calls_ = 0;
};

// A value circulates in the ring of PEs: each waits for it, checks it, and puts it to the next. A count is one hop.
template <class T>
class Wait : public Pattern {
 public:
  // wait(word, old, next): until the word differs from old, or equals next.
  using Waiter = std::function<void(T* word, T old, T next)>;
  using Putter = void (*)(T*, T, int);

  static Needs needs(const Setting& s) {
    Needs needs;
    needs.work.messages = 1;
    needs.items_to_check = 1;
    needs.symmetric_bytes = sizeof(T);
    needs.count_multiple = static_cast<std::uint64_t>(s.pes);
    return needs;
  }

  Wait(Waiter wait, Putter put, const Setting& setting)
      : wait_(std::move(wait)), put_(put), setting_(setting), region_(sizeof(T), setting.global) {}

  void reset(std::uint64_t repetition, std::uint64_t) override {
    first_ = mix64(setting_.seed + repetition);
    *word() = value(0);
    wrong_ = 0;
  }

  void run(std::uint64_t count) override {
    const int next = (setting_.pe + 1) % setting_.pes;
    const std::uint64_t trips = count / static_cast<std::uint64_t>(setting_.pes);
    T old = value(0);
    for (std::uint64_t trip = 1; trip <= trips; ++trip) {
      const T now = value(trip);
      if (setting_.pe == 0) put_(word(), now, next);
      wait_(word(), old, now);
      wrong_ += *word() == now ? 0 : 1;
      if (setting_.pe != 0) put_(word(), now, next);
      old = now;
    }
    shmem_quiet();
  }

  Validation validate(std::uint64_t, std::uint64_t count) override {
    shmem_barrier_all();
    Validation found;
    found.reference = "the circulating value, checked after each wait";
    found.items_checked = 1;
    const T should = value(count / static_cast<std::uint64_t>(setting_.pes));
    if (wrong_ > 0) note_wrong(found, fmt::format("{} waits ended before the value arrived", wrong_));
    if (*word() != should) note_wrong(found, fmt::format("the word is {}, should be {}", *word(), should));
    return found;
  }

 private:
  T* word() const { return reinterpret_cast<T*>(region_.data()); }
  // Successive values differ in every type.
  T value(std::uint64_t trip) const { return static_cast<T>((first_ + trip) & 0x7fff); }

  Waiter wait_;
  Putter put_;
  Setting setting_;
  Region region_;
  std::uint64_t first_ = 0, wrong_ = 0;
};

// The three functions of a lock.
struct LockFunctions {
  std::function<void(long*)> set = {}, clear = {};
  std::function<int(long*)> test = {};
};

// PE 0 takes, releases or tries many uncontended locks. Untimed: another PE finds each of them held, or free; then all
// PEs increment one word under one lock.
class Lock : public Pattern {
 public:
  enum class Action { set, clear, test };
  static constexpr std::uint64_t locks = 256;
  static Needs needs(const Setting& s);
  Lock(Action part, LockFunctions functions, const Setting& setting);
  void reset(std::uint64_t repetition, std::uint64_t count) override;
  void run(std::uint64_t count) override;
  Validation validate(std::uint64_t repetition, std::uint64_t count) override;

 private:
  long* lock(std::uint64_t index) const { return reinterpret_cast<long*>(region_.data()) + index; }
  long* counter() const { return lock(locks); }
  void clear_held();
  void check_state(Validation& found);
  void check_exclusion(Validation& found);

  Action part_;
  LockFunctions functions_;
  Setting setting_;
  Region region_;
  std::uint64_t held_ = 0;     // by PE 0
  std::uint64_t refused_ = 0;  // failed attempts on free locks
};

template <class T>
Row wait_row(std::string name, std::string set, typename Wait<T>::Waiter wait, typename Wait<T>::Putter put) {
  Row row{std::move(name), "wait", std::move(set)};
  row.needs = [](const Setting& s) { return Wait<T>::needs(s); };
  row.make = [wait, put](const Setting& s) { return std::make_unique<Wait<T>>(wait, put, s); };
  return row;
}

Row barrier_row(std::string name, std::string set, Gate gate);
Row lock_row(std::string name, Lock::Action part, LockFunctions functions);
LockFunctions standard_locks();

}  // namespace plumb::shmem_api
