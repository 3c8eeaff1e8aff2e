// One-sided transfers: a PE puts to, or gets from, its partners in turn (PE 0 all others, or the first half the second)
// (put, get, p, g, iput, iget and their non-blocking forms). A count is one message to each other PE; puts and
// non-blocking operations are completed by shmem_quiet within the count. Each message has its own part of the source,
// and leaves a part of the target that no later one overwrites (track.hpp); every element is compared at its
// destination, and all other elements must be unchanged. A put's result is first checked by its own PE through
// shmem_ptr, which completes nothing: this detects a clock that stopped too early.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "benchmarks/shmem/api/shmem_region.hpp"
#include "benchmarks/shmem/api/track.hpp"
#include "core/data.hpp"
#include "measure/clock.hpp"

namespace plumb::shmem_api {

enum class Way { put, get };

// Arguments of a loop over messages. Lengths are in elements.
template <class T>
struct Stretch {
  shmem_ctx_t context{};
  T* remote = nullptr;
  T* local = nullptr;
  std::size_t elements = 1;  // per message
  Track remote_track = {}, local_track = {};
  std::size_t lanes = 1;   // contiguous local tracks that successive PEs cycle through
  int first = 1, end = 2;  // PEs
  std::uint64_t count = 1, window = 1;
  bool complete = true;
};

template <class T>
using Loop = std::function<void(const Stretch<T>&)>;

// The timed loop. move(channel, function, remote, local, elements, pe) moves one message; quiet completes.
template <class T, class Channel, class Function, class Quiet, class Move>
Loop<T> loop_of(Function function, Quiet quiet, Move move) {
  return [=](const Stretch<T>& s) {
    const Channel channel(s.context);
    Walker<T> remote(s.remote, s.remote_track), local(s.local, s.local_track);
    const std::size_t lane = s.local_track.elements();
    std::uint64_t open = 0;
    const auto to_partners = [&] {
      T* place = local.at();
      std::size_t lanes_left = s.lanes;
      for (int pe = s.first; pe < s.end; ++pe) {
        move(channel, function, remote.at(), place, s.elements, pe);
        place += lane;
        if (--lanes_left == 0) {
          place = local.at();
          lanes_left = s.lanes;
        }
      }
    };
    const auto repeat = [&](auto operation) {
      for (std::uint64_t i = 0; i < s.count; ++i) {
        operation();
        if (++open == s.window) {
          quiet(channel);
          open = 0;
        }
        remote.next();
        local.next();
      }
    };
    // A single partner, as in most runs, has a loop without the inner one: overhead matters for a get of 20 ns.
    if (s.end - s.first == 1)
      repeat([&] { move(channel, function, remote.at(), local.at(), s.elements, s.first); });
    else
      repeat(to_partners);
    if (s.complete) quiet(channel);
  };
}

// Transfer function of a row: plain, or with a context.
template <class T>
struct Mover {
  Way way = Way::put;
  std::size_t stride = 1;
  bool injection = false;                  // also timed without completion
  std::uint64_t messages_of_elements = 0;  // 1: each element is a message (p, g)
  Loop<T> plain = {}, in_context = {};
};

// Sizes derived from a row and its setting.
template <class T>
struct Extent {
  Extent(const Mover<T>& mover, const Setting& s)
      : elements(s.bytes / sizeof(T)), threads(static_cast<std::size_t>(s.threads)) {
    const bool put = mover.way == Way::put;
    const bool walks = s.slots > 2;  // through memory above the caches, or scattered
    const std::size_t length = elements * mover.stride;
    source.length = target.length = length;
    const std::size_t open = s.window > s.slots ? std::bit_ceil(s.window) : s.slots;
    if (s.scattered) {
      scatter(put ? target : source, open, put ? 2 : 1, mover.stride);
      put ? slide_source(mover.stride) : slide_target(s.window, mover.stride);
    } else {
      slide_target(walks ? std::max<std::uint64_t>(s.window, s.slots) : s.window, mover.stride);
      if (walks) {
        source.places = s.slots;
        source.pitch = length;
      } else {
        slide_source(mover.stride);
      }
    }
    constexpr std::size_t most_bytes = std::size_t{64} << 20;
    const auto peers = static_cast<std::size_t>(Partners(s).each);
    if (!put) lanes = std::clamp<std::size_t>(most_bytes / (target.elements() * sizeof(T) * threads), 1, peers);
    source_at = layout.add(source_elements() * sizeof(T));
    target_at = layout.add(target_elements() * sizeof(T));
  }
  std::size_t source_elements() const { return threads * source.elements(); }
  std::size_t target_elements() const { return threads * lanes * target.elements(); }

  static constexpr std::size_t line_bytes = 64;
  static constexpr std::size_t witness_bytes = 16;  // left over by each long message
  // Limit of messages per sample that leave something over, of all threads together; fewer for long ones, whose samples
  // of a millisecond have fewer messages.
  static constexpr std::size_t most_messages = std::size_t{1} << 17, fewest_messages = 1024,
                               most_bytes_moved = std::size_t{64} << 20;
  // Scattered places are visited twice: then they are in the caches of the writing PE and of the target.
  static constexpr std::size_t most_scattered = std::size_t{1} << 16;

  std::size_t elements, threads, lanes = 1;
  Track source, target;  // of a thread; of a lane
  std::size_t source_at = 0, target_at = 0;
  Layout layout;

 private:
  std::size_t messages() const {
    const std::size_t longest = most_bytes_moved / (target.length * sizeof(T));
    return std::max(std::clamp(longest, fewest_messages, most_messages) / threads, fewest_messages);
  }
  // Rounds up to whole cache lines, and to whole strides.
  static std::size_t in_lines(std::size_t elements, std::size_t stride) {
    const std::size_t unit = std::max(line_bytes / sizeof(T), stride);
    return (elements + unit - 1) / unit * unit;
  }

  // Places for concurrent messages. Short messages are contiguous, long ones slide.
  void slide_target(std::uint64_t open, std::size_t stride) {
    target.places = open;
    if (target.length * sizeof(T) <= line_bytes) {
      target.places = std::max<std::size_t>(open, messages());
      target.pitch = target.length;
      return;
    }
    target.block = std::max(witness_bytes / sizeof(T), stride);
    target.passes = (messages() + open - 1) / open;
    target.pitch = in_lines(target.length + (target.passes - 1) * target.block, stride);
  }

  // The source of each message precedes that of the previous one, so no two write the same to one place. Their number
  // is a prime, out of step with the targets.
  void slide_source(std::size_t stride) {
    source.passes = (target.places + 1) % 127 == 0 ? 113 : 127;
    source.block = source.length * sizeof(T) <= line_bytes ? source.length : in_lines(1, stride);
    source.pitch = source.length + (source.passes - 1) * source.block;
    source.backwards = true;
  }

  static void scatter(Track& track, std::size_t places, std::size_t passes, std::size_t stride) {
    track.places = places;
    // Near the golden ratio: few of the next messages are close to this one.
    track.step = static_cast<std::size_t>(0.6180339887498949 * static_cast<double>(places)) | 1;
    track.passes = passes;
    if (passes > 1) track.block = 2 * track.length * sizeof(T) <= line_bytes ? track.length : in_lines(1, stride);
    track.pitch = in_lines(track.length + (passes - 1) * track.block, stride);
  }
};

template <class T>
class Transfer : public Pattern {
 public:
  static Needs needs(const Mover<T>& mover, const Setting& s) {
    const Extent<T> extent(mover, s);
    Needs needs;
    const Partners partners(s);
    const std::uint64_t messages = static_cast<std::uint64_t>(partners.each) * extent.threads;
    const std::uint64_t bytes = messages * extent.elements * sizeof(T);
    needs.moved = bytes * static_cast<std::uint64_t>(partners.actors);
    if (partners.acts()) {
      (mover.way == Way::put ? needs.work.bytes_sent : needs.work.bytes_read) = bytes;
      needs.work.messages = messages * (mover.messages_of_elements != 0 ? extent.elements : 1);
    }
    needs.items_to_check = extent.target_elements();
    needs.symmetric_bytes = extent.layout.bytes();
    if (s.scattered)
      needs.fixed_count =
          2 * std::min((mover.way == Way::put ? extent.target : extent.source).places, Extent<T>::most_scattered);
    return needs;
  }

  Transfer(Mover<T> mover, const Setting& setting, bool in_context)
      : mover_(std::move(mover)),
        setting_(setting),
        extent_(mover_, setting),
        in_context_(in_context || setting.threads > 1),
        region_(extent_.layout.bytes(), setting.global),
        partners_(setting),
        contexts_(in_context_ && partners_.acts() ? setting.threads : 0),
        source_(array_in<T>(region_, extent_.source_at, extent_.source_elements())),
        target_(array_in<T>(region_, extent_.target_at, extent_.target_elements())) {}

  void reset(std::uint64_t repetition, std::uint64_t count) override {
    ++resets_;
    time_injection(count);
    if (sends())
      for (std::size_t thread = 0; thread < extent_.threads; ++thread)
        generate(source_of(thread), key(setting_.pe, thread, repetition), 0);
    // Elements never written are unchanged.
    const bool is_idle = resets_ > 1 && count >= reset_for_;
    reset_for_ = count;
    for_parts(repetition, count, target_, [this, is_idle](const Run& part, std::span<T> there) {
      if (!part.message && is_idle) return;
      should_be(part, there.size());
      for (std::size_t i = 0; i < there.size(); ++i)
        there[i] = part.written(i, mover_.stride) ? poison_instead_of(should_[i]) : should_[i];
    });
    if (!setting_.scattered && setting_.slots <= 2) bring_near(count);
  }

  void run(std::uint64_t count) override { move(count, setting_.window, true); }

  Validation validate(std::uint64_t repetition, std::uint64_t count) override {
    Validation found;
    found.reference = "every element recomputed from PE, message number and repetition; others unchanged";
    look_from_afar(repetition, count, found);
    // A get is complete on return from this PE's last call.
    if (mover_.way == Way::put) shmem_barrier_all();
    check(repetition, count, target_, "", found);
    found.items_checked = target_.size();
    if (mover_.way == Way::get) shmem_barrier_all();
    return found;
  }

  Injection injection() override { return injection_; }
  Json facts() const override { return completion_.empty() ? Json::object() : Json{{"completion", completion_}}; }

 private:
  static constexpr int most_injections = 8;           // per case
  static constexpr std::size_t some_elements = 4096;  // recomputed at a time

  // Contiguous elements of one origin.
  struct Run {
    std::size_t lane, place, at;  // at: first element in the place
    std::optional<std::uint64_t> message;
    std::uint64_t key;  // key of the sequence of values, and the position in it
    std::size_t index;
    bool written(std::size_t i, std::size_t stride) const { return message && (at + i) % stride == 0; }
  };

  std::uint64_t key(int pe, std::size_t thread, std::uint64_t repetition) const {
    return Provenance{setting_.seed, static_cast<std::uint64_t>(pe), thread, 0, repetition}.key();
  }
  std::span<T> source_of(std::size_t thread) const {
    return source_.subspan(thread * extent_.source.elements(), extent_.source.elements());
  }
  bool sends() const { return mover_.way == Way::put ? partners_.acts() : partners_.actor >= 0; }
  bool receives() const { return mover_.way == Way::put ? partners_.actor >= 0 : partners_.acts(); }

  // Calls action(part, its elements) for everything at `targets`, in portions.
  template <class Action>
  void for_parts(std::uint64_t repetition, std::uint64_t count, std::span<T> targets, Action action) {
    const std::size_t of_lane = extent_.target.elements();
    const std::uint64_t idle = key(setting_.pe, std::size_t{1} << 40, 0), written = receives() ? count : 0;
    for (std::size_t lane = 0; lane < extent_.threads * extent_.lanes; ++lane) {
      const std::uint64_t from = key(sender(lane), lane / extent_.lanes, repetition);
      for (std::size_t place = 0; place < extent_.target.places; ++place) {
        const std::size_t first = lane * of_lane + place * extent_.target.pitch;
        const auto part = [&](std::size_t begin, std::size_t end, std::optional<std::uint64_t> message,
                              std::size_t offset) {
          const std::size_t index = message ? extent_.source.begin_of(*message) + offset : first + begin;
          for (std::size_t at = begin; at < end; at += some_elements) {
            const std::size_t some = std::min(some_elements, end - at);
            action(Run{lane, place, at, message, message ? from : idle, index + at - begin},
                   targets.subspan(first + at, some));
          }
        };
        if (extent_.target.is_packed() && place >= written) {
          part(0, of_lane - place * extent_.target.pitch, std::nullopt, 0);  // unwritten from here on
          break;
        }
        extent_.target.for_parts(place, written, part);
      }
    }
  }

  // The PE whose values a lane holds: if several are read in turn, the last one that used it.
  int sender(std::size_t lane) const {
    if (mover_.way == Way::put) return partners_.actor;
    const auto peers = static_cast<std::size_t>(partners_.each);
    return partners_.first + static_cast<int>(peers - 1 - (peers - 1 - lane % extent_.lanes) % extent_.lanes);
  }

  // Computes should_[0, size): a part's elements, and unchanged values between the elements of a stride.
  void should_be(const Run& part, std::size_t size) {
    should_.resize(some_elements);
    const std::span<T> all = std::span(should_).first(size);
    generate(all, part.key, part.index);
    if (!part.message)
      for (T& value : all) value = poison_instead_of(value);
    else if (mover_.stride > 1)
      for (std::size_t i = 0; i < size; ++i)
        if (!part.written(i, mover_.stride)) should_[i] = poison_instead_of(should_[i]);
  }

  void check(std::uint64_t repetition, std::uint64_t count, std::span<T> targets, const char* when, Validation& found) {
    for_parts(repetition, count, targets, [&](const Run& part, std::span<T> there) {
      should_be(part, there.size());
      if (std::equal(there.begin(), there.end(), should_.begin())) return;
      for (std::size_t i = 0; i < there.size(); ++i)
        if (!(there[i] == should_[i])) note_wrong(found, [&] { return sentence(part, i, when); });
    });
  }

  std::string sentence(const Run& part, std::size_t i, const char* when) const {
    if (!part.written(i, mover_.stride))
      return fmt::format("element {} of place {} in lane {} was written{}, and should not be", part.at + i, part.place,
                         part.lane, when);
    return fmt::format("message {}: element {} of place {} in lane {} differs from the one sent{}", *part.message,
                       part.at + i, part.place, part.lane, when);
  }

  // Checks this PE's last messages in the others' memory before any call that could complete them.
  void look_from_afar(std::uint64_t repetition, std::uint64_t count, Validation& found) {
    if (mover_.way == Way::get) completion_ = "seen in the PE's own memory before any other call";
    if (mover_.way == Way::get || !partners_.acts()) return;
    completion_ = "seen through shmem_ptr before any other call";
    std::vector<T> sent(extent_.target.length);
    for (int pe = partners_.first; pe < partners_.end; ++pe) {
      const auto* there = static_cast<const T*>(shmem_ptr(target_.data(), pe));
      if (there == nullptr) {
        completion_ = fmt::format("not proven: shmem_ptr cannot access PE {}'s memory", pe);
        return;
      }
      for (std::size_t thread = 0; thread < extent_.threads; ++thread)
        for (std::uint64_t i = count - std::min(count, setting_.window); i < count; ++i) {
          generate(std::span(sent), key(setting_.pe, thread, repetition), extent_.source.begin_of(i));
          const T* const place = there + thread * extent_.target.elements() + extent_.target.begin_of(i);
          for (std::size_t at = 0; at < sent.size(); at += mover_.stride)
            if (!(place[at] == sent[at])) {
              note_wrong(found, fmt::format("message {} to PE {} was not complete when the clock stopped", i, pe));
              return;
            }
        }
    }
  }

  // Successive messages to few places find these in the cache of the moving PE, as with a single place per sample in
  // OSU's and SHOMS' loops; so each place is written once before.
  void bring_near(std::uint64_t count) {
    constexpr std::size_t most_bytes = std::size_t{4} << 20, portion = std::size_t{64} << 10;
    const std::size_t last = std::min<std::uint64_t>(count, extent_.target.places) - 1;
    const std::size_t used = std::min(extent_.target.elements(), last * extent_.target.pitch + extent_.target.pitch);
    shmem_barrier_all();  // all have poisoned
    if (mover_.way != Way::put || !partners_.acts() || used * sizeof(T) > most_bytes) return;
    std::vector<std::byte> bytes(portion);
    for (int pe = partners_.first; pe < partners_.end; ++pe)
      for (std::size_t thread = 0; thread < extent_.threads; ++thread) {
        auto* there = reinterpret_cast<std::byte*>(target_.data() + thread * extent_.target.elements());
        for (std::size_t left = used * sizeof(T); left > 0;) {
          const std::size_t some = std::min(portion, left);
          shmem_getmem(bytes.data(), there, some, pe);
          shmem_putmem(there, bytes.data(), some, pe);
          shmem_quiet();
          there += some;
          left -= some;
        }
      }
  }

  void move(std::uint64_t count, std::uint64_t window, bool complete) {
    if (!partners_.acts()) return;
    on_threads(setting_.threads, [&](int thread) {
      const auto t = static_cast<std::size_t>(thread);
      Stretch<T> s;
      if (in_context_) s.context = contexts_[thread];
      T* const source = source_of(t).data();
      T* const target = target_.data() + t * extent_.lanes * extent_.target.elements();
      const bool put = mover_.way == Way::put;
      s.remote = put ? target : source;
      s.local = put ? source : target;
      s.remote_track = put ? extent_.target : extent_.source;
      s.local_track = put ? extent_.source : extent_.target;
      s.elements = extent_.elements;
      s.lanes = put ? 1 : extent_.lanes;
      s.first = partners_.first;
      s.end = partners_.end;
      s.count = count;
      s.window = window;
      s.complete = complete;
      (in_context_ ? mover_.in_context : mover_.plain)(s);
    });
  }

  // Begins some puts without completion, before anything is restored; all PEs wait for them. Not the first time, when
  // the memory is untouched.
  void time_injection(std::uint64_t count) {
    constexpr std::uint64_t most_open = 64;
    if (!mover_.injection || resets_ == 1 || resets_ > most_injections + 1) return;
    if (partners_.acts()) {
      const std::uint64_t operations = std::min(count, most_open);
      if (operations == most_open) move(operations, 1, true);  // excludes short ones from being first
      const double begin = now_seconds();
      move(operations, ~std::uint64_t{0}, false);
      injection_.seconds += now_seconds() - begin;
      injection_.operations += static_cast<double>(operations);
      move(0, 1, true);
    }
    shmem_barrier_all();
  }

  Mover<T> mover_;
  Setting setting_;
  Extent<T> extent_;
  bool in_context_;
  Region region_;
  Partners partners_;
  Contexts contexts_;
  std::span<T> source_, target_;
  std::vector<T> should_;
  Injection injection_;
  int resets_ = 0;
  std::uint64_t reset_for_ = 0;  // messages of the previous time
  std::string completion_;
};

// A row of this pattern.
template <class T>
Row transfer_row(std::string name, std::string kind, std::string set, const Mover<T>& mover, bool in_context = false) {
  Row row{std::move(name), std::move(kind), std::move(set), sizeof(T), true};
  row.needs = [mover](const Setting& s) { return Transfer<T>::needs(mover, s); };
  row.make = [mover, in_context](const Setting& s) { return std::make_unique<Transfer<T>>(mover, s, in_context); };
  return row;
}

// Both calling conventions, with the row's completion.
inline constexpr auto complete_plain = [](const auto&) { shmem_quiet(); };
inline constexpr auto complete_context = [](const InContext& channel) { shmem_ctx_quiet(channel.context); };
inline constexpr auto complete_itself = [](const auto&) {};

template <class T, class F, class C, class Move>
Mover<T> putter(F plain, C in_context, Move move, std::size_t stride = 1, std::uint64_t of_elements = 0) {
  return {Way::put,
          stride,
          true,
          of_elements,
          loop_of<T, Plain>(plain, complete_plain, move),
          loop_of<T, InContext>(in_context, complete_context, move)};
}

template <class T, class F, class C, class Move>
Mover<T> getter(F plain, C in_context, Move move, std::size_t stride = 1, std::uint64_t of_elements = 0) {
  return {Way::get,
          stride,
          false,
          of_elements,
          loop_of<T, Plain>(plain, complete_itself, move),
          loop_of<T, InContext>(in_context, complete_itself, move)};
}

// A non-blocking get is complete only after shmem_quiet.
template <class T, class F, class C, class Move>
Mover<T> later_getter(F plain, C in_context, Move move) {
  return {Way::get,
          1,
          false,
          0,
          loop_of<T, Plain>(plain, complete_plain, move),
          loop_of<T, InContext>(in_context, complete_context, move)};
}

inline constexpr auto move_put = [](const auto& channel, auto f, auto* remote, auto* local, std::size_t n, int pe) {
  channel.call(f, remote, local, n, pe);
};
inline constexpr auto move_get = [](const auto& channel, auto f, auto* remote, auto* local, std::size_t n, int pe) {
  channel.call(f, local, remote, n, pe);
};
inline constexpr auto move_p = [](const auto& channel, auto f, auto* remote, auto* local, std::size_t n, int pe) {
  for (std::size_t i = 0; i < n; ++i) channel.call(f, remote + i, local[i], pe);
};
inline constexpr auto move_g = [](const auto& channel, auto f, auto* remote, auto* local, std::size_t n, int pe) {
  for (std::size_t i = 0; i < n; ++i) local[i] = channel.call(f, remote + i, pe);
};
inline constexpr std::size_t strided_step = 2;  // as in SHOMS
inline constexpr auto move_iput = [](const auto& channel, auto f, auto* remote, auto* local, std::size_t n, int pe) {
  channel.call(f, remote, local, std::ptrdiff_t{strided_step}, std::ptrdiff_t{strided_step}, n, pe);
};
inline constexpr auto move_iget = [](const auto& channel, auto f, auto* remote, auto* local, std::size_t n, int pe) {
  channel.call(f, local, remote, std::ptrdiff_t{strided_step}, std::ptrdiff_t{strided_step}, n, pe);
};

}  // namespace plumb::shmem_api
