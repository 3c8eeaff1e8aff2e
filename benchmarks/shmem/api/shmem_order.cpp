#include "benchmarks/shmem/api/shmem_order.hpp"

namespace plumb::shmem_api {

Layout Barrier::sizes(const Gate& gate, const Setting& s) {
  Layout layout;
  layout.add(2 * gate.sync_size * sizeof(long));
  layout.add(static_cast<std::size_t>(s.pes) * sizeof(long));
  return layout;
}

Needs Barrier::needs(const Gate& gate, const Setting& s) {
  Needs needs;
  needs.items_to_check = static_cast<std::uint64_t>(s.pes);
  needs.symmetric_bytes = sizes(gate, s).bytes();
  return needs;
}

Barrier::Barrier(Gate gate, const Setting& setting)
    : gate_(std::move(gate)), setting_(setting), region_(sizes(gate_, setting).bytes(), setting.global) {
  std::ranges::fill(array_in<long>(region_, 0, 2 * gate_.sync_size), SHMEM_SYNC_VALUE);
  shmem_barrier_all();
}

long* Barrier::sync(std::uint64_t call) const {
  return reinterpret_cast<long*>(region_.data()) + call % 2 * gate_.sync_size;
}

void Barrier::reset(std::uint64_t, std::uint64_t) {}

void Barrier::run(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) gate_.call(setting_.pes, sync(calls_++));
}

Validation Barrier::validate(std::uint64_t repetition, std::uint64_t) {
  Validation found;
  found.reference = "a word that the last PE to arrive puts to all before it arrives";
  Layout layout;
  layout.add(2 * gate_.sync_size * sizeof(long));
  long* const words = reinterpret_cast<long*>(region_.data() + layout.bytes());
  for (int late = 0; late < setting_.pes; ++late) {
    words[late] = -1;
    shmem_barrier_all();
    const auto value = static_cast<long>(mix64(setting_.seed + repetition + static_cast<std::uint64_t>(late)) >> 1);
    if (setting_.pe == late) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      for (int pe = 0; pe < setting_.pes; ++pe) shmem_long_p(words + late, value, pe);
      if (!gate_.completes) shmem_quiet();
    }
    gate_.call(setting_.pes, sync(calls_++));
    const long seen = *static_cast<volatile long*>(words + late);
    ++found.items_checked;
    if (seen != value) note_wrong(found, fmt::format("PE {} left before PE {} arrived", setting_.pe, late));
    shmem_barrier_all();
  }
  return found;
}

Needs Lock::needs(const Setting& s) {
  Needs needs;
  if (s.pe == 0) needs.work.messages = 1;
  needs.items_to_check = s.pe == 0 ? 1 : s.pe == 1 ? locks : 0;
  needs.symmetric_bytes = (locks + 1) * sizeof(long);
  needs.fixed_count = locks;
  return needs;
}

Lock::Lock(Action part, LockFunctions functions, const Setting& setting)
    : part_(part),
      functions_(std::move(functions)),
      setting_(setting),
      region_((locks + 1) * sizeof(long), setting.global) {}

void Lock::clear_held() {
  for (std::uint64_t i = 0; i < held_; ++i) functions_.clear(lock(i));
  held_ = 0;
}

void Lock::reset(std::uint64_t, std::uint64_t) {
  if (setting_.pe != 0) return;
  clear_held();
  refused_ = 0;
  if (part_ == Action::clear)
    for (held_ = 0; held_ < locks; ++held_) functions_.set(lock(held_));
}

void Lock::run(std::uint64_t count) {
  if (setting_.pe != 0) return;
  if (part_ == Action::set)
    for (std::uint64_t i = 0; i < count; ++i) functions_.set(lock(i));
  else if (part_ == Action::clear)
    for (std::uint64_t i = 0; i < count; ++i) functions_.clear(lock(i));
  else
    for (std::uint64_t i = 0; i < count; ++i) refused_ += functions_.test(lock(i)) != 0 ? 1 : 0;
  held_ = part_ == Action::clear ? 0 : count;
}

Validation Lock::validate(std::uint64_t, std::uint64_t) {
  Validation found;
  found.reference = "another PE tries each lock, and all PEs count under one";
  check_state(found);
  check_exclusion(found);
  return found;
}

void Lock::check_state(Validation& found) {
  shmem_barrier_all();
  if (setting_.pe == 1)
    for (std::uint64_t i = 0; i < locks; ++i) {
      ++found.items_checked;
      const bool free = functions_.test(lock(i)) == 0;
      if (free) functions_.clear(lock(i));
      if (free != (part_ == Action::clear))
        note_wrong(found,
                   fmt::format("lock {} is {}", i, free ? "free, and PE 0 took it" : "held, and PE 0 gave it back"));
    }
  if (refused_ > 0) note_wrong(found, fmt::format("{} locks were free, but could not be had", refused_));
  shmem_barrier_all();
  if (setting_.pe == 0) clear_held();
  shmem_barrier_all();
}

void Lock::check_exclusion(Validation& found) {
  constexpr long each = 25;
  if (setting_.pe == 0) *counter() = 0;
  shmem_barrier_all();
  for (long i = 0; i < each; ++i) {
    functions_.set(lock(0));
    const long now = shmem_long_g(counter(), 0);
    if (i % 8 == 0) std::this_thread::yield();  // gives intruders a chance
    shmem_long_p(counter(), now + 1, 0);
    shmem_quiet();
    functions_.clear(lock(0));
  }
  shmem_barrier_all();
  if (setting_.pe != 0) return;
  ++found.items_checked;
  const long counted = shmem_long_g(counter(), 0);
  if (counted != each * setting_.pes)
    note_wrong(found, fmt::format("{} PEs counted to {} under a lock, should be {}", setting_.pes, counted,
                                  each * setting_.pes));
}

Row barrier_row(std::string name, std::string set, Gate gate) {
  Row row{std::move(name), "barrier", std::move(set)};
  row.needs = [gate](const Setting& s) { return Barrier::needs(gate, s); };
  row.make = [gate](const Setting& s) { return std::make_unique<Barrier>(gate, s); };
  return row;
}

Row lock_row(std::string name, Lock::Action part, LockFunctions functions) {
  Row row{std::move(name), "lock", "shoms"};
  row.needs = [](const Setting& s) { return Lock::needs(s); };
  row.make = [part, functions](const Setting& s) { return std::make_unique<Lock>(part, functions, s); };
  return row;
}

LockFunctions standard_locks() {
  return {[](long* lock) { shmem_set_lock(lock); }, [](long* lock) { shmem_clear_lock(lock); },
          [](long* lock) { return shmem_test_lock(lock); }};
}

namespace {

// shmem_TYPE_wait was removed from the standard after 1.3: the same wait, by shmem_TYPE_wait_until.
template <class T, class F>
typename Wait<T>::Waiter until_changed(F wait_until) {
  return [wait_until](T* word, T old, T) { wait_until(word, SHMEM_CMP_NE, old); };
}

template <class T, class F>
typename Wait<T>::Waiter until_there(F wait_until) {
  return [wait_until](T* word, T, T next) { wait_until(word, SHMEM_CMP_EQ, next); };
}

template <class T, class F>
typename Wait<T>::Waiter by_tests(F test) {
  return [test](T* word, T, T next) {
    while (test(word, SHMEM_CMP_EQ, next) == 0) std::this_thread::yield();
  };
}

template <class T, class F, class G>
void add_waits(std::vector<Row>& rows, const std::string& type, F wait_until, G test, void (*put)(T*, T, int)) {
  const std::string prefix = type.empty() ? "" : type + "_";
  rows.push_back(wait_row<T>(prefix + "wait", "shoms", until_changed<T>(wait_until), put));
  rows.push_back(wait_row<T>(prefix + "wait_until", "shoms", until_there<T>(wait_until), put));
  if (!type.empty()) rows.push_back(wait_row<T>(prefix + "test", "later", by_tests<T>(test), put));
}

}  // namespace

std::vector<Row> order_rows() {
  std::vector<Row> rows;
  add_waits<long>(rows, "", shmem_long_wait_until, shmem_long_test, shmem_long_p);
  add_waits<short>(rows, "short", shmem_short_wait_until, shmem_short_test, shmem_short_p);
  add_waits<int>(rows, "int", shmem_int_wait_until, shmem_int_test, shmem_int_p);
  add_waits<long>(rows, "long", shmem_long_wait_until, shmem_long_test, shmem_long_p);
  add_waits<long long>(rows, "longlong", shmem_longlong_wait_until, shmem_longlong_test, shmem_longlong_p);
  rows.push_back(lock_row("clear_lock", Lock::Action::clear, standard_locks()));
  rows.push_back(lock_row("set_lock", Lock::Action::set, standard_locks()));
  rows.push_back(lock_row("test_lock", Lock::Action::test, standard_locks()));
  rows.push_back(barrier_row("barrier_all", "shoms", {[](int, long*) { shmem_barrier_all(); }}));
  rows.push_back(barrier_row("sync_all", "later", {[](int, long*) { shmem_sync_all(); }, 1, false}));
  rows.push_back(
      barrier_row("barrier", "later",
                  {[](int pes, long* sync) { shmem_barrier(0, 0, pes, sync); }, SHMEM_BARRIER_SYNC_SIZE, true}));
  return rows;
}

}  // namespace plumb::shmem_api
