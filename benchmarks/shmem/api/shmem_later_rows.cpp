// The table of OpenSHMEM 1.5: teams, signals, non-blocking atomics, waits for several words, hints.
#include "benchmarks/shmem/api/shmem_atomic.hpp"
#include "benchmarks/shmem/api/shmem_collective.hpp"
#include "benchmarks/shmem/api/shmem_heap.hpp"
#include "benchmarks/shmem/api/shmem_order.hpp"
#include "world/shmem_later.hpp"

namespace plumb::shmem_api {

namespace {

using shmem_later::functions;

// PE 0 puts a message and its signal to each other PE; each waits for the last signal, and checks the message.
class SignalledPut : public Pattern {
 public:
  using Function = decltype(shmem_later::Functions::putmem_signal);

  static Needs needs(const Setting& s) {
    Needs needs;
    const auto peers = static_cast<std::uint64_t>(s.pes - 1);
    needs.moved = peers * s.bytes;
    if (s.pe == 0) {
      needs.work.bytes_sent = needs.moved;
      needs.work.messages = peers;
    }
    needs.items_to_check = s.pe == 0 ? 0 : s.bytes + 1;
    needs.symmetric_bytes = sizes(s).bytes();
    return needs;
  }

  SignalledPut(Function put, const Setting& setting)
      : put_(put),
        setting_(setting),
        region_(sizes(setting).bytes(), setting.global),
        source_(array_in<std::byte>(region_, 0, 2 * setting.bytes)),
        target_(array_in<std::byte>(region_, target_offset(setting), setting.bytes)),
        signal_(reinterpret_cast<std::uint64_t*>(region_.data() + signal_offset(setting))) {}

  void reset(std::uint64_t repetition, std::uint64_t count) override {
    for (std::size_t slot = 0; slot < 2; ++slot)
      fill_message(source_.subspan(slot * setting_.bytes, setting_.bytes), identity(repetition, slot));
    poison_message(target_, identity(repetition, (count - 1) % 2));
    *signal_ = 0;
    missing_ = 0;
  }

  void run(std::uint64_t count) override {
    if (setting_.pe != 0) {
      functions().signal_wait_until_at_least(signal_, count);
      missing_ += target_.back() == source_[(count - 1) % 2 * setting_.bytes + setting_.bytes - 1] ? 0 : 1;
      return;
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      for (int pe = 1; pe < setting_.pes; ++pe)
        put_(target_.data(), source_.data() + i % 2 * setting_.bytes, setting_.bytes, signal_, i + 1, pe);
      shmem_quiet();
    }
  }

  Validation validate(std::uint64_t repetition, std::uint64_t count) override {
    shmem_barrier_all();
    Validation found;
    found.reference = "every byte recomputed, and the last one present when its signal arrived";
    if (setting_.pe == 0) return found;
    found.items_checked = setting_.bytes + 1;
    const Difference difference = compare_message(target_, identity(repetition, (count - 1) % 2));
    if (difference.wrong > 0)
      note_wrong(found, fmt::format("byte {} differs from the one sent", difference.first_offset));
    if (missing_ > 0) note_wrong(found, "the signal arrived before its message");
    return found;
  }

 private:
  static std::size_t target_offset(const Setting& s) { return (2 * s.bytes + 127) / 128 * 128; }
  static std::size_t signal_offset(const Setting& s) { return target_offset(s) + (s.bytes + 127) / 128 * 128; }
  static Layout sizes(const Setting& s) {
    Layout layout;
    layout.add(signal_offset(s));
    layout.add(sizeof(std::uint64_t));
    return layout;
  }
  Provenance identity(std::uint64_t repetition, std::uint64_t slot) const {
    return {setting_.seed, 0, slot, setting_.bytes, repetition};
  }

  Function put_;
  Setting setting_;
  Region region_;
  std::span<std::byte> source_, target_;
  std::uint64_t* signal_;
  std::uint64_t missing_ = 0;
};

Row with(Row row, bool there, const char* what) {
  if (!there) row.missing = fmt::format("this library lacks {}, a function of OpenSHMEM 1.5", what);
  return row;
}

template <class T>
Row team_row(const char* name, Collector<T> collector, std::function<void(const Round<T>&)> call, bool there) {
  collector.call = std::move(call);
  return with(collective_row<T>(name, "team", "later", std::move(collector)), there, "teams");
}

template <class T>
Row reduce_row(const char* name, Reduces reduces, int (*function)(T*, const T*, std::size_t)) {
  return team_row<T>(
      name, {Gathers::reduction, reduces}, [function](const Round<T>& r) { function(r.target, r.source, r.elements); },
      function != nullptr);
}

Row memory_row(const char* name, Gathers gathers, int (*function)(void*, const void*, std::size_t)) {
  using Byte = std::uint8_t;
  return team_row<Byte>(
      name, {gathers}, [function](const Round<Byte>& r) { function(r.target, r.source, r.elements); },
      function != nullptr);
}

void add_teams(std::vector<Row>& rows) {
  const auto& f = functions();
  rows.push_back(with(barrier_row("team_sync", "later", {[](int, long*) { functions().team_sync(); }, 1, false}),
                      f.team_sync != nullptr, "teams"));
  Collector<std::uint8_t> broadcast{Gathers::broadcast};
  broadcast.root_too = true;
  rows.push_back(team_row<std::uint8_t>(
      "broadcastmem", broadcast,
      [](const Round<std::uint8_t>& r) { functions().broadcastmem(r.target, r.source, r.elements, r.root); },
      f.broadcastmem != nullptr));
  rows.push_back(memory_row("collectmem", Gathers::collect, f.collectmem));
  rows.push_back(memory_row("fcollectmem", Gathers::collect, f.fcollectmem));
  rows.push_back(memory_row("alltoallmem", Gathers::alltoall, f.alltoallmem));
  rows.push_back(reduce_row("int_sum_reduce", Reduces::sum, f.int_sum_reduce));
  rows.push_back(reduce_row("long_sum_reduce", Reduces::sum, f.long_sum_reduce));
  rows.push_back(reduce_row("long_max_reduce", Reduces::maximum, f.long_max_reduce));
  rows.push_back(reduce_row("double_sum_reduce", Reduces::sum, f.double_sum_reduce));
  rows.push_back(reduce_row("double_max_reduce", Reduces::maximum, f.double_max_reduce));
}

Row signal_row(const char* name, SignalledPut::Function put) {
  Row row{name, "signal", "later", 1};
  row.needs = SignalledPut::needs;
  row.make = [put](const Setting& s) { return std::make_unique<SignalledPut>(put, s); };
  return with(std::move(row), put != nullptr, "signals");
}

// Each is completed before its value is read.
Row later_atomic_row(const char* name, Does does,
                     void (*function)(std::uint64_t*, std::uint64_t*, std::uint64_t, int)) {
  const auto act = [](const auto&, auto f, std::uint64_t* word, const Operands<std::uint64_t>& given, int pe) {
    std::uint64_t old = 0;
    f(&old, word, given.value, pe);
    shmem_quiet();
    return old;
  };
  Row row = atomic_row(name, "atomic_nbi", "later", actor<std::uint64_t>(does, true, function, function, act));
  row.threads = false;
  return with(std::move(row), function != nullptr, "atomics that do not block");
}

void add_signals_and_atomics(std::vector<Row>& rows) {
  const auto& f = functions();
  rows.push_back(signal_row("putmem_signal", f.putmem_signal));
  rows.push_back(signal_row("putmem_signal_nbi", f.putmem_signal_nbi));
  rows.push_back(later_atomic_row("uint64_atomic_fetch_add_nbi", Does::add, f.fetch_add_nbi));
  rows.push_back(later_atomic_row("uint64_atomic_fetch_xor_nbi", Does::bit_xor, f.fetch_xor_nbi));
  rows.push_back(later_atomic_row("uint64_atomic_swap_nbi", Does::swap, f.swap_nbi));
}

void add_waits_and_hints(std::vector<Row>& rows) {
  using Word = std::uint64_t;
  const auto& f = functions();
  const auto put = [](Word* word, Word value, int pe) { shmem_uint64_p(word, value, pe); };
  rows.push_back(with(wait_row<Word>(
                          "uint64_wait_until_all", "later",
                          [](Word* word, Word, Word next) { functions().wait_until_all(word, 1, next); }, put),
                      f.wait_until_all != nullptr, "waits for several words"));
  rows.push_back(with(wait_row<Word>(
                          "uint64_wait_until_any", "later",
                          [](Word* word, Word, Word next) { functions().wait_until_any(word, 1, next); }, put),
                      f.wait_until_any != nullptr, "waits for several words"));
  rows.push_back(with(piece_row("malloc_with_hints", "later", Pieces::Action::have,
                                [](std::size_t bytes) { return functions().malloc_for_atomics(bytes); }),
                      f.malloc_for_atomics != nullptr, "hints for memory"));
}

}  // namespace

std::vector<Row> later_rows() {
  std::vector<Row> rows;
  add_teams(rows);
  add_signals_and_atomics(rows);
  add_waits_and_hints(rows);
  return rows;
}

}  // namespace plumb::shmem_api
