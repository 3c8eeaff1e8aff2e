// Atomics: PE 0 acts on a word of every other PE in turn; what does not return a value is completed by shmem_quiet
// within the count. The word and every value returned are compared with the same operations done in plain arithmetic.
// Then, untimed, all PEs act on one word at once: what they did together must be what one after the other would have
// done.
#pragma once

#include <fmt/format.h>

#include <bit>

#include "benchmarks/shmem/api/shmem_region.hpp"
#include "benchmarks/shmem/api/values.hpp"

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
    using Bits = std::make_unsigned_t<T>;  // wraps, as the operations do
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

// What PE 0 does in its i-th operation on a word that held `now`. Every fourth compare-and-swap must not swap.
template <class T>
Operands<T> operands_at(Does does, std::uint64_t key, std::uint64_t i, T now) {
  Operands<T> given;
  if constexpr (std::is_integral_v<T>) {
    using Bits = std::make_unsigned_t<T>;
    const auto bit = static_cast<Bits>(Bits{1} << (i % (8 * sizeof(T))));
    if (does == Does::bit_and) return {static_cast<T>(static_cast<Bits>(~bit)), {}};
    if (does == Does::bit_or) return {static_cast<T>(bit), {}};
  }
  given.value = value_of<T>((key + i) * 0x9e3779b97f4a7c15ull);
  given.condition = does == Does::compare_swap && i % 4 == 3 ? given.value : now;
  return given;
}

// A value as a term of a sum that tells sequences apart.
template <class T>
std::uint64_t term(T value) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}
inline constexpr std::uint64_t sequence_factor = 0x100000001b3ull;

// One PE's stretch of operations on the words of the others.
template <class T>
struct Volley {
  shmem_ctx_t context{};
  T* word = nullptr;
  int pes = 2;
  std::uint64_t key = 0, count = 1;
  std::uint64_t window = 1;       // operations between two completions, where nothing is returned
  T first{};                      // what the words hold
  std::uint64_t* seen = nullptr;  // [pe]: of the values returned
};

// How a row acts. act: one operation by this PE on a word of another.
template <class T>
struct Actor {
  Does does = Does::swap;
  bool returns = true;
  std::function<void(const Volley<T>&)> plain = {}, in_context = {};
  std::function<T(T* word, const Operands<T>& given, int pe)> act = {};
};

// act(channel, function, word, operands, pe) returns the old value, or anything where the function returns none.
template <class T, class Channel, class Function, class Act>
std::function<void(const Volley<T>&)> volley_of(Does does, bool returns, Function function, Act act) {
  return [=](const Volley<T>& v) {
    const Channel channel(v.context);
    const auto complete = [&] {
      if constexpr (std::is_same_v<Channel, InContext>)
        shmem_ctx_quiet(v.context);
      else
        shmem_quiet();
    };
    T now = v.first;  // the same on every PE
    std::uint64_t open = 0;
    for (std::uint64_t i = 0; i < v.count; ++i) {
      const Operands<T> given = operands_at(does, v.key, i, now);
      for (int pe = 1; pe < v.pes; ++pe) {
        const T old = act(channel, function, v.word, given, pe);
        if (returns) v.seen[pe] = v.seen[pe] * sequence_factor + term(old);
      }
      if (!returns && ++open == v.window) {
        complete();
        open = 0;
      }
      now = word_after(does, now, given);
    }
    if (open > 0) complete();
  };
}

template <class T>
class Atomic : public Test {
 public:
  static Shape shape(const Actor<T>& actor, const Setting& s) {
    Shape shape;
    const auto threads = static_cast<std::uint64_t>(s.threads), peers = static_cast<std::uint64_t>(s.pes - 1);
    if (s.pe == 0) shape.work.messages = shape.work.updates = threads * peers;
    shape.items_to_check =
        threads * (1 + (s.pe == 0 && actor.returns ? peers : 0)) + (s.pe == 0 && races(actor) ? 1 : 0);
    shape.symmetric_bytes = sizes(s).bytes();
    return shape;
  }

  Atomic(Actor<T> actor, const Setting& setting, bool in_context)
      : actor_(std::move(actor)),
        setting_(setting),
        in_context_(in_context || setting.threads > 1),
        region_(sizes(setting).bytes(), setting.global),
        contexts_(in_context_ && setting.pe == 0 ? setting.threads : 0),
        seen_(static_cast<std::size_t>(setting.threads * setting.pes)) {}

  void reset(std::uint64_t repetition, std::uint64_t) override {
    key_ = Origin{setting_.seed, 0, 0, repetition}.key();
    for (int thread = 0; thread < setting_.threads; ++thread) *word(thread) = first(thread);
    *race_word() = T{};
    std::fill(seen_.begin(), seen_.end(), 0);
  }

  void run(std::uint64_t count) override {
    if (setting_.pe != 0) return;
    on_threads(setting_.threads, [&](int thread) {
      Volley<T> volley;
      if (in_context_) volley.context = contexts_[thread];
      volley.word = word(thread);
      volley.pes = setting_.pes;
      volley.key = key_ + static_cast<std::uint64_t>(thread);
      volley.count = count;
      // Of two sets under way either may be the last.
      volley.window = actor_.does == Does::set ? 1 : setting_.window;
      volley.first = first(thread);
      volley.seen = seen_.data() + thread * setting_.pes;
      (in_context_ ? actor_.in_context : actor_.plain)(volley);
    });
  }

  Validation validate(std::uint64_t, std::uint64_t count) override {
    shmem_barrier_all();
    Validation found;
    found.reference = "the same operations in plain arithmetic, and all PEs at once on one word";
    for (int thread = 0; thread < setting_.threads; ++thread) check_thread(thread, count, found);
    if (races(actor_)) check_race(found);
    return found;
  }

 private:
  static constexpr std::uint64_t race_length = 100;  // operations of a PE

  static bool races(const Actor<T>& actor) { return actor.does != Does::fetch && actor.does != Does::set; }
  static Layout sizes(const Setting& s) {
    Layout layout;
    layout.add(static_cast<std::size_t>(s.threads + 1) * line);
    layout.add(static_cast<std::size_t>(s.pes) * sizeof(std::uint64_t));
    return layout;
  }
  static constexpr std::size_t line = 128;  // between words

  T* word(int thread) { return reinterpret_cast<T*>(region_.data() + static_cast<std::size_t>(thread) * line); }
  T* race_word() { return word(setting_.threads); }
  std::uint64_t* race_sums() {
    return reinterpret_cast<std::uint64_t*>(region_.data() + static_cast<std::size_t>(setting_.threads + 1) * line);
  }
  T first(int thread) const { return value_of<T>(mix64(key_ ^ static_cast<std::uint64_t>(thread + 1))); }

  void check_thread(int thread, std::uint64_t count, Validation& found) {
    T now = first(thread);
    std::uint64_t seen = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      seen = seen * sequence_factor + term(now);
      now = word_after(actor_.does, now, operands_at(actor_.does, key_ + static_cast<std::uint64_t>(thread), i, now));
    }
    const T should = setting_.pe == 0 ? first(thread) : now;
    ++found.items_checked;
    if (!(*word(thread) == should))
      note_wrong(found, fmt::format("after {} operations the word of thread {} is {}, should be {}", count, thread,
                                    *word(thread), should));
    if (setting_.pe != 0 || !actor_.returns) return;
    for (int pe = 1; pe < setting_.pes; ++pe) {
      ++found.items_checked;
      if (seen_[static_cast<std::size_t>(thread * setting_.pes + pe)] != seen)
        note_wrong(found, fmt::format("the {} values returned from PE {} are not those that the word had", count, pe));
    }
  }

  // All PEs on PE 0's word, and what that must come to.
  void check_race(Validation& found) {
    shmem_barrier_all();
    std::uint64_t sum = 0;  // of what this PE adds to the word's account
    for (std::uint64_t j = 0; j < race_length; ++j) sum = race_once(j, sum);
    shmem_quiet();
    shmem_putmem(race_sums() + setting_.pe, &sum, sizeof sum, 0);
    shmem_barrier_all();
    if (setting_.pe != 0) return;
    ++found.items_checked;
    std::uint64_t should = 0;
    for (int pe = 0; pe < setting_.pes; ++pe)
      should = actor_.does == Does::bit_xor  ? should ^ race_sums()[pe]
               : actor_.does == Does::bit_or ? should | race_sums()[pe]
                                             : should + race_sums()[pe];
    if (actor_.does == Does::bit_and) should = 0;
    if (static_cast<T>(should) != *race_word())
      note_wrong(found, fmt::format("{} PEs at once left {} in a word, should be {}", setting_.pes, *race_word(),
                                    static_cast<T>(should)));
  }

  // One operation of the race; returns the sum of what this PE did to the word, by the operation's own law.
  std::uint64_t race_once(std::uint64_t j, std::uint64_t sum) {
    const std::uint64_t bits = mix64(key_ ^ (j * 4096 + static_cast<std::uint64_t>(setting_.pe)));
    Operands<T> given{value_of<T>(bits), T{}};
    if (actor_.does == Does::bit_and || actor_.does == Does::bit_or) return race_bit(j, sum);
    if (actor_.does == Does::compare_swap) {
      // Adds one, as often as it takes; but a word that is never right must not be tried for ever.
      for (int attempt = 0; attempt < 100000; ++attempt) {
        given.value = word_after(Does::inc, given.condition, given);
        const T old = actor_.act(race_word(), given, 0);
        if (old == given.condition) return sum + 1;
        given.condition = old;
      }
      return sum;
    }
    const T old = actor_.act(race_word(), given, 0);
    if (actor_.does == Does::swap) return sum + term(given.value) - term(old);  // what came in, less what went out
    if (actor_.does == Does::bit_xor) return sum ^ term(given.value);
    return sum + (actor_.does == Does::inc ? 1 : term(given.value));
  }

  // Each PE sets bits of its own, once; for `and` all bits are set first.
  std::uint64_t race_bit(std::uint64_t j, std::uint64_t sum) {
    if constexpr (std::is_integral_v<T>) {
      using Bits = std::make_unsigned_t<T>;
      const auto pe = static_cast<std::uint64_t>(setting_.pe), pes = static_cast<std::uint64_t>(setting_.pes);
      constexpr std::uint64_t all = 8 * sizeof(T);
      const bool clears = actor_.does == Does::bit_and;
      if (clears && j == 0) {
        if (pe == 0) *race_word() = static_cast<T>(~Bits{0});
        shmem_barrier_all();
      }
      for (std::uint64_t bit = pe; j == 0 && bit < all; bit += pes) {
        const auto mask = static_cast<Bits>(Bits{1} << bit);
        actor_.act(race_word(), {static_cast<T>(clears ? static_cast<Bits>(~mask) : mask), T{}}, 0);
        sum |= mask;
      }
    }
    return sum;
  }

  Actor<T> actor_;
  Setting setting_;
  bool in_context_;
  Region region_;
  Contexts contexts_;
  std::vector<std::uint64_t> seen_;  // [thread][pe]
  std::uint64_t key_ = 0;
};

// The ways of calling, by what an operation takes.
inline constexpr auto act_value = [](const auto& channel, auto f, auto* word, const auto& given, int pe) {
  using T = std::remove_pointer_t<decltype(word)>;
  if constexpr (std::is_void_v<decltype(channel.call(f, word, given.value, pe))>) {
    channel.call(f, word, given.value, pe);
    return T{};
  } else {
    return channel.call(f, word, given.value, pe);
  }
};
inline constexpr auto act_condition = [](const auto& channel, auto f, auto* word, const auto& given, int pe) {
  return channel.call(f, word, given.condition, given.value, pe);
};
inline constexpr auto act_alone = [](const auto& channel, auto f, auto* word, const auto&, int pe) {
  using T = std::remove_pointer_t<decltype(word)>;
  if constexpr (std::is_void_v<decltype(channel.call(f, word, pe))>) {
    channel.call(f, word, pe);
    return T{};
  } else {
    return channel.call(f, word, pe);
  }
};

template <class T, class F, class C, class Act>
Actor<T> actor(Does does, bool returns, F plain, C in_context, Act act) {
  return {does, returns, volley_of<T, Plain>(does, returns, plain, act),
          volley_of<T, InContext>(does, returns, in_context, act),
          [plain, act](T* word, const Operands<T>& given, int pe) { return act(Plain({}), plain, word, given, pe); }};
}

template <class T>
Row atomic_row(std::string name, std::string kind, std::string set, Actor<T> actor, bool in_context = false) {
  Row row{std::move(name), std::move(kind), std::move(set), 0, true};
  row.shape = [actor](const Setting& s) { return Atomic<T>::shape(actor, s); };
  row.make = [actor, in_context](const Setting& s) { return std::make_unique<Atomic<T>>(actor, s, in_context); };
  return row;
}

}  // namespace plumb::shmem_api
