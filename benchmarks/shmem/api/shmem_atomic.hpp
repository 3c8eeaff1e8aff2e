// Atomics: PE 0 acts on words of every other PE in turn, or each PE of the first half on words of its partner;
// operations without a result are completed by shmem_quiet within the count. Operations whose sequence shows in one
// word (swap, add, xor, …) act on a single word; those that would hide each other (set, fetch, and, or) have a word
// each. The words and every returned value are compared with the same operations in plain arithmetic. Then, untimed,
// all PEs act on one word at once (shmem_race.hpp).
#pragma once

#include <fmt/format.h>

#include <bit>

#include "benchmarks/shmem/api/shmem_race.hpp"
#include "benchmarks/shmem/api/shmem_region.hpp"
#include "benchmarks/shmem/api/track.hpp"
#include "core/data.hpp"

namespace plumb::shmem_api {

// Factor of a sum that distinguishes sequences of values.
inline constexpr std::uint64_t sequence_factor = 0x100000001b3ull;

// One thread's operations on the words of its partners.
template <class T>
struct Volley {
  shmem_ctx_t context{};
  T* words = nullptr;
  Track track = {};
  int first_pe = 1, end_pe = 2;
  std::uint64_t key = 0, count = 1;
  std::uint64_t window = 1;       // operations between two completions, without results
  T first{};                      // initial value of the first word
  std::uint64_t* seen = nullptr;  // [pe]: sum of the returned values
};

// Behaviour of a row. act: one operation by this PE on a word of another.
template <class T>
struct Actor {
  Does does = Does::swap;
  bool returns = true;
  std::function<void(const Volley<T>&)> plain = {}, in_context = {};
  typename Race<T>::Act act = {};
};

// Whether each operation on a word shows in the word or in the returned values, whatever follows.
inline bool shows_in_one_word(Does does) {
  return does != Does::fetch && does != Does::set && does != Does::bit_and && does != Does::bit_or;
}

// act(channel, function, word, operands, pe) returns the old value, or any value for functions without a result.
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
    Walker<T> word(v.words, v.track);
    T now = v.first;  // the same on every PE
    std::uint64_t open = 0;
    for (std::uint64_t i = 0; i < v.count; ++i) {
      const Operands<T> given = operands_at(does, v.key, i, now);
      for (int pe = v.first_pe; pe < v.end_pe; ++pe) {
        const T old = act(channel, function, word.at(), given, pe);
        if (returns) v.seen[pe] = v.seen[pe] * sequence_factor + term(old);
      }
      if (!returns && ++open == v.window) {
        complete();
        open = 0;
      }
      now = word_after(does, now, given);
      word.next();
    }
    if (open > 0) complete();
  };
}

template <class T>
class Atomic : public Pattern {
 public:
  static Needs needs(const Actor<T>& actor, const Setting& s) {
    Needs needs;
    const Partners partners(s);
    const auto threads = static_cast<std::uint64_t>(s.threads), peers = static_cast<std::uint64_t>(partners.each);
    if (partners.acts()) needs.work.messages = needs.work.updates = threads * peers;
    needs.items_to_check = threads * (words_of_thread(actor, s) + (partners.acts() && actor.returns ? peers : 0)) +
                           (s.pe == 0 && Race<T>::can_be_run(actor.does) ? 1 : 0);
    needs.symmetric_bytes = sizes(actor, s).bytes();
    return needs;
  }

  Atomic(Actor<T> actor, const Setting& setting, bool in_context)
      : actor_(std::move(actor)),
        setting_(setting),
        partners_(setting),
        in_context_(in_context || setting.threads > 1),
        region_(sizes(actor_, setting).bytes(), setting.global),
        contexts_(in_context_ && partners_.acts() ? setting.threads : 0),
        seen_(static_cast<std::size_t>(setting.threads * setting.pes)),
        race_(actor_.does, actor_.returns, actor_.act, setting,
              region_.data() + static_cast<std::size_t>(setting.threads) * pitch(actor_, setting)) {
    track_.places = words_of_thread(actor_, setting);
  }

  void reset(std::uint64_t repetition, std::uint64_t) override {
    key_ = Provenance{setting_.seed, 0, 0, 0, repetition}.key();
    for (int thread = 0; thread < setting_.threads; ++thread)
      for (std::size_t word = 0; word < track_.places; ++word) words(thread)[word] = first(thread, word);
    std::fill(seen_.begin(), seen_.end(), 0);
  }

  void run(std::uint64_t count) override {
    if (!partners_.acts()) return;
    on_threads(setting_.threads, [&](int thread) {
      Volley<T> volley;
      if (in_context_) volley.context = contexts_[thread];
      volley.words = words(thread);
      volley.track = track_;
      volley.first_pe = partners_.first;
      volley.end_pe = partners_.end;
      volley.key = key_of(thread);
      volley.count = count;
      volley.window = setting_.window;
      volley.first = first(thread, 0);
      volley.seen = seen_.data() + thread * setting_.pes;
      (in_context_ ? actor_.in_context : actor_.plain)(volley);
    });
  }

  Validation validate(std::uint64_t, std::uint64_t count) override {
    Validation found;
    found.reference = "the same operations in plain arithmetic, and all PEs at once on one word";
    std::vector<std::vector<T>> after;
    for (int thread = 0; thread < setting_.threads; ++thread) after.push_back(words_after(thread, count));
    look_from_afar(after, found);
    shmem_barrier_all();
    for (int thread = 0; thread < setting_.threads; ++thread)
      check_words(thread, count, after[static_cast<std::size_t>(thread)], found);
    if (!Race<T>::can_be_run(actor_.does)) return found;
    race_.run(key_, found);
    if (setting_.pe == 0) ++found.items_checked;
    return found;
  }

  Json facts() const override {
    Json facts = Race<T>::can_be_run(actor_.does) ? race_.facts() : Json::object();
    if (!completion_.empty()) facts["completion"] = completion_;
    return facts;
  }

 private:
  static constexpr std::size_t line = 128;  // between the words of two threads

  // Words that successive operations cycle through.
  static std::size_t words_of_thread(const Actor<T>& actor, const Setting& s) {
    if (shows_in_one_word(actor.does)) return 1;
    const std::size_t all = (std::size_t{1} << 17) / static_cast<std::size_t>(s.threads);
    return std::max<std::size_t>({all, 1024, s.window});
  }
  static std::size_t pitch(const Actor<T>& actor, const Setting& s) {
    return (words_of_thread(actor, s) * sizeof(T) + line - 1) / line * line;
  }
  static Layout sizes(const Actor<T>& actor, const Setting& s) {
    Layout layout;
    layout.add(static_cast<std::size_t>(s.threads) * pitch(actor, s));
    layout.add(Race<T>::bytes(s.pes));
    return layout;
  }

  T* words(int thread) {
    return reinterpret_cast<T*>(region_.data() + static_cast<std::size_t>(thread) * pitch(actor_, setting_));
  }
  std::uint64_t key_of(int thread) const { return key_ + static_cast<std::uint64_t>(thread); }
  T first(int thread, std::size_t word) const {
    return value_of<T>(mix64((key_ ^ static_cast<std::uint64_t>(thread + 1)) + word));
  }

  // Expected words of a thread; expected returned values go to should_see_.
  std::vector<T> words_after(int thread, std::uint64_t count) {
    std::vector<T> state(track_.places);
    for (std::size_t word = 0; word < state.size(); ++word) state[word] = first(thread, word);
    std::uint64_t seen = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      T& now = state[i % state.size()];
      seen = seen * sequence_factor + term(now);
      now = word_after(actor_.does, now, operands_at(actor_.does, key_of(thread), i, now));
    }
    should_see_ = seen;
    return state;
  }

  // Checks the partners' words before any call that could complete this PE's operations.
  void look_from_afar(const std::vector<std::vector<T>>& after, Validation& found) {
    if (actor_.returns || !partners_.acts()) return;
    completion_ = "seen through shmem_ptr before any other call";
    for (int pe = partners_.first; pe < partners_.end; ++pe)
      for (int thread = 0; thread < setting_.threads; ++thread) {
        const auto* there = static_cast<const T*>(shmem_ptr(words(thread), pe));
        if (there == nullptr) {
          completion_ = fmt::format("not proven: shmem_ptr cannot access PE {}'s memory", pe);
          return;
        }
        const std::vector<T>& should = after[static_cast<std::size_t>(thread)];
        if (std::equal(should.begin(), should.end(), there)) continue;
        note_wrong(found, fmt::format("not all operations on PE {} were complete when the clock stopped", pe));
        return;
      }
  }

  void check_words(int thread, std::uint64_t count, const std::vector<T>& after, Validation& found) {
    const bool is_acted_on = partners_.actor >= 0;
    for (std::size_t word = 0; word < after.size(); ++word) {
      const T should = is_acted_on ? after[word] : first(thread, word);
      ++found.items_checked;
      if (!(words(thread)[word] == should))
        note_wrong(found, fmt::format("after {} operations word {} of thread {} is {}, should be {}", count, word,
                                      thread, words(thread)[word], should));
    }
    if (!partners_.acts() || !actor_.returns) return;
    (void)words_after(thread, count);
    for (int pe = partners_.first; pe < partners_.end; ++pe) {
      ++found.items_checked;
      if (seen_[static_cast<std::size_t>(thread * setting_.pes + pe)] != should_see_)
        note_wrong(found, fmt::format("the {} values returned from PE {} are not those that the words had", count, pe));
    }
  }

  Actor<T> actor_;
  Setting setting_;
  Partners partners_;
  bool in_context_;
  Region region_;
  Contexts contexts_;
  std::vector<std::uint64_t> seen_;  // [thread][pe]
  Race<T> race_;
  Track track_;
  std::uint64_t key_ = 0, should_see_ = 0;
  std::string completion_;
};

// Calling conventions, by operands.
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
  row.needs = [actor](const Setting& s) { return Atomic<T>::needs(actor, s); };
  row.make = [actor, in_context](const Setting& s) { return std::make_unique<Atomic<T>>(actor, s, in_context); };
  return row;
}

}  // namespace plumb::shmem_api
