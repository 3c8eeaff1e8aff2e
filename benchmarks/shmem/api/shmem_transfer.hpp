// One side moves: a PE puts to, or gets from, its partners in turn (PE 0 all others, or the first half the second)
// (put, get, p, g, iput, iget and their forms that do not block). A count is one message to each other PE; puts and
// what does not block are completed by shmem_quiet within the count. Of a message every element is compared where it
// should have arrived, and what lies between or elsewhere must be as it was.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "benchmarks/shmem/api/shmem_region.hpp"
#include "benchmarks/shmem/api/values.hpp"
#include "measure/clock.hpp"

namespace plumb::shmem_api {

enum class Way { put, get };

// What a loop over messages goes through, on PE 0. Lengths are in elements.
template <class T>
struct Stretch {
  shmem_ctx_t context{};
  T* remote = nullptr;
  T* local = nullptr;
  std::size_t elements = 1, span = 1;             // of a message; from the first to behind the last of its places
  std::size_t remote_slots = 1, local_slots = 1;  // that successive messages go round through
  std::size_t remote_step = 1;                    // slots from one message's to the next one's
  std::size_t lanes = 1;                          // runs of local slots that successive PEs go round through
  int first = 1, end = 2;                         // PEs
  std::uint64_t count = 1, window = 1;
  bool complete = true;
};

template <class T>
using Loop = std::function<void(const Stretch<T>&)>;

// The loop that is measured. move(channel, function, remote, local, elements, pe) moves one message; quiet completes.
template <class T, class Channel, class Function, class Quiet, class Move>
Loop<T> loop_of(Function function, Quiet quiet, Move move) {
  return [=](const Stretch<T>& s) {
    const Channel channel(s.context);
    const std::size_t remote_end = s.remote_slots * s.span, remote_step = s.remote_step * s.span;
    T* const local_end = s.local + s.local_slots * s.span;
    const std::size_t lane = s.local_slots * s.span;
    T *remote = s.remote, *local = s.local;
    std::size_t remote_at = 0;
    std::uint64_t open = 0;
    const auto to_partners = [&] {
      T* place = local;
      std::size_t lanes_left = s.lanes;
      for (int pe = s.first; pe < s.end; ++pe) {
        move(channel, function, remote, place, s.elements, pe);
        place += lane;
        if (--lanes_left == 0) {
          place = local;
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
        remote_at += remote_step;
        if (remote_at >= remote_end) remote_at -= remote_end;
        remote = s.remote + remote_at;
        local = local + s.span == local_end ? s.local : local + s.span;
      }
    };
    // One partner, as in most runs, has a loop without the other: what is around a get of 20 ns counts.
    if (s.end - s.first == 1)
      repeat([&] { move(channel, function, remote, local, s.elements, s.first); });
    else
      repeat(to_partners);
    if (s.complete) quiet(channel);
  };
}

// How a row moves: plainly, or in a context.
template <class T>
struct Mover {
  Way way = Way::put;
  std::size_t stride = 1;
  bool injection = false;                  // is also timed without its completion
  std::uint64_t messages_of_elements = 0;  // 1: each element is a message (p, g)
  Loop<T> plain = {}, in_context = {};
};

// Sizes that follow from a row and its setting.
template <class T>
struct Extent {
  Extent(const Mover<T>& mover, const Setting& s)
      : elements(s.bytes / sizeof(T)),
        places(elements * mover.stride),
        span(s.scattered ? std::max(places, scattered_pitch / sizeof(T)) : places),
        source_slots(s.scattered && mover.way == Way::put ? 2 : std::max<std::size_t>(s.slots, 2)),
        target_slots(s.slots > 2 && !(s.scattered && mover.way == Way::get) ? s.slots : 1),
        step(s.scattered ? scattering_step(s.slots) : 1),
        threads(static_cast<std::size_t>(s.threads)) {
    constexpr std::size_t most_bytes = std::size_t{64} << 20;
    const std::size_t run = target_slots * span * sizeof(T) * threads;
    const auto peers = static_cast<std::size_t>(Partners(s).each);
    if (mover.way == Way::get) lanes = std::clamp<std::size_t>(most_bytes / run, 1, peers);
    source = layout.add(threads * source_slots * span * sizeof(T));
    target = layout.add(threads * lanes * target_slots * span * sizeof(T));
  }
  std::size_t source_elements() const { return threads * source_slots * span; }
  std::size_t target_elements() const { return threads * lanes * target_slots * span; }

  // Near the golden ratio: few of the next messages lie near this one.
  static std::size_t scattering_step(std::size_t slots) {
    return static_cast<std::size_t>(0.6180339887498949 * static_cast<double>(slots)) | 1;
  }
  // The slot of the far side that message `i` goes to or comes from, of so many; and which of them goes to it first.
  std::size_t far_slot(std::uint64_t i, std::size_t slots) const { return i * step % slots; }
  std::size_t first_at(std::size_t slot, std::size_t slots) const {
    if (step == 1) return slot;
    std::size_t inverse = step;  // modulo a power of two, each round doubles the digits that are right
    for (int round = 0; round < 6; ++round) inverse *= 2 - step * inverse;
    return slot * inverse % slots;
  }

  // Scattered places are in cache lines of their own. Each is come to twice: in the cache of the PE that wrote it, and
  // in that of the one that came to it.
  static constexpr std::size_t scattered_pitch = 64, most_scattered = std::size_t{1} << 16;

  std::size_t elements, places, span;  // of a message; that they take with those between; to the next message
  std::size_t source_slots, target_slots, step, threads, lanes = 1;
  std::size_t source = 0, target = 0;  // offsets
  Layout layout;
};

template <class T>
class Transfer : public Test {
 public:
  static Shape shape(const Mover<T>& mover, const Setting& s) {
    const Extent<T> extent(mover, s);
    Shape shape;
    const Partners partners(s);
    const std::uint64_t messages = static_cast<std::uint64_t>(partners.each) * extent.threads;
    const std::uint64_t bytes = messages * extent.elements * sizeof(T);
    shape.moved = bytes * static_cast<std::uint64_t>(partners.actors);
    if (partners.acts()) {
      (mover.way == Way::put ? shape.work.bytes_sent : shape.work.bytes_read) = bytes;
      shape.work.messages = messages * (mover.messages_of_elements != 0 ? extent.elements : 1);
    }
    shape.items_to_check = extent.target_elements();
    shape.symmetric_bytes = extent.layout.bytes();
    if (s.scattered)
      shape.fixed_count = 2 * std::min(std::max(extent.source_slots, extent.target_slots), Extent<T>::most_scattered);
    return shape;
  }

  Transfer(Mover<T> mover, const Setting& setting, bool in_context)
      : mover_(std::move(mover)),
        setting_(setting),
        extent_(mover_, setting),
        in_context_(in_context || setting.threads > 1),
        region_(extent_.layout.bytes(), setting.global),
        partners_(setting),
        contexts_(in_context_ && partners_.acts() ? setting.threads : 0),
        source_(array_in<T>(region_, extent_.source, extent_.source_elements())),
        target_(array_in<T>(region_, extent_.target, extent_.target_elements())) {}

  void reset(std::uint64_t repetition, std::uint64_t count) override {
    time_injection(count);
    if (sends())
      for (std::size_t run = 0; run < extent_.threads * extent_.source_slots; ++run)
        fill(source_.subspan(run * extent_.span, extent_.span), origin(setting_.pe, run, repetition));
    poison(target_, untouched(repetition));
    for_each_message([&](std::span<T> message, std::size_t lane, std::size_t slot) {
      const auto from = expected(lane, slot, repetition, count);
      if (!from) return;
      const std::uint64_t key = from->key();
      for (std::size_t i = 0; i < extent_.elements; ++i) {
        const std::size_t at = i * mover_.stride;
        message[at] = poison_of<T>(mix64(key + at));
      }
    });
  }

  void run(std::uint64_t count) override { move(count, setting_.window, true); }

  Validation validate(std::uint64_t repetition, std::uint64_t count) override {
    shmem_barrier_all();  // who acts has returned from its last call
    Validation found;
    found.reference = "every element made again from PE, slot and repetition; between and elsewhere as it was";
    found.items_checked = target_.size();
    const std::uint64_t idle = untouched(repetition).key();
    for_each_message([&](std::span<T> message, std::size_t lane, std::size_t slot) {
      const auto from = expected(lane, slot, repetition, count);
      const std::uint64_t key = from ? from->key() : 0;
      const auto first = static_cast<std::size_t>(message.data() - target_.data());
      for (std::size_t at = 0; at < message.size(); ++at) {
        const bool written = from && at < extent_.places && at % mover_.stride == 0;
        const T should = written ? value_of<T>(mix64(key + at)) : poison_of<T>(mix64(idle + first + at));
        if (!(message[at] == should))
          note_wrong(found, fmt::format("element {} of {} in lane {}, slot {} {}", at, message.size(), lane, slot,
                                        written ? "is not what was sent" : "was written, and should not be"));
      }
    });
    return found;
  }

  Injection injection() override { return injection_; }

 private:
  static constexpr int most_injections = 8;  // of a case

  Origin origin(int pe, std::size_t run, std::uint64_t repetition) const {
    return {setting_.seed, pe, run, repetition};
  }
  Origin untouched(std::uint64_t repetition) const {
    return {setting_.seed, setting_.pe, std::uint64_t{1} << 40, repetition};
  }
  bool sends() const { return mover_.way == Way::put ? partners_.acts() : partners_.actor >= 0; }
  bool receives() const { return mover_.way == Way::put ? partners_.actor >= 0 : partners_.acts(); }

  void for_each_message(auto action) {
    for (std::size_t lane = 0; lane < extent_.threads * extent_.lanes; ++lane)
      for (std::size_t slot = 0; slot < extent_.target_slots; ++slot)
        action(target_.subspan((lane * extent_.target_slots + slot) * extent_.span, extent_.span), lane, slot);
  }

  // Whose values a slot holds after so many counts; none where nothing was written.
  std::optional<Origin> expected(std::size_t lane, std::size_t slot, std::uint64_t repetition,
                                 std::uint64_t count) const {
    const std::uint64_t first = extent_.first_at(slot, extent_.target_slots);
    if (!receives() || first >= count) return std::nullopt;
    const std::uint64_t last = count - 1 - (count - 1 - first) % extent_.target_slots;
    const std::size_t thread = lane / extent_.lanes, place = lane % extent_.lanes;
    const auto peers = static_cast<std::size_t>(partners_.each);
    const std::size_t peer = peers - 1 - (peers - 1 - place) % extent_.lanes;  // the last one that used this lane
    const int pe = mover_.way == Way::put ? partners_.actor : partners_.first + static_cast<int>(peer);
    const std::size_t from = mover_.way == Way::get ? extent_.far_slot(last, extent_.source_slots)
                                                    : static_cast<std::size_t>(last % extent_.source_slots);
    return origin(pe, thread * extent_.source_slots + from, repetition);
  }

  void move(std::uint64_t count, std::uint64_t window, bool complete) {
    if (!partners_.acts()) return;
    on_threads(setting_.threads, [&](int thread) {
      const auto t = static_cast<std::size_t>(thread);
      Stretch<T> s;
      if (in_context_) s.context = contexts_[thread];
      T* const source = source_.data() + t * extent_.source_slots * extent_.span;
      T* const target = target_.data() + t * extent_.lanes * extent_.target_slots * extent_.span;
      const bool put = mover_.way == Way::put;
      s.remote = put ? target : source;
      s.local = put ? source : target;
      s.remote_slots = put ? extent_.target_slots : extent_.source_slots;
      s.local_slots = put ? extent_.source_slots : extent_.target_slots;
      s.remote_step = extent_.step;
      s.elements = extent_.elements;
      s.span = extent_.span;
      s.lanes = put ? 1 : extent_.lanes;
      s.first = partners_.first;
      s.end = partners_.end;
      s.count = count;
      s.window = window;
      s.complete = complete;
      (in_context_ ? mover_.in_context : mover_.plain)(s);
    });
  }

  // Some puts that are begun and not completed, before anything is restored; all PEs wait for them.
  void time_injection(std::uint64_t count) {
    constexpr std::uint64_t most_open = 64;
    if (!mover_.injection || injections_++ >= most_injections) return;
    if (partners_.acts()) {
      const std::uint64_t operations = std::min(count, most_open);
      if (operations == most_open) move(operations, 1, true);  // short ones are not to be the first
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
  Injection injection_;
  int injections_ = 0;
};

// A row of this pattern.
template <class T>
Row transfer_row(std::string name, std::string kind, std::string set, const Mover<T>& mover, bool in_context = false) {
  Row row{std::move(name), std::move(kind), std::move(set), sizeof(T), true};
  row.shape = [mover](const Setting& s) { return Transfer<T>::shape(mover, s); };
  row.make = [mover, in_context](const Setting& s) { return std::make_unique<Transfer<T>>(mover, s, in_context); };
  return row;
}

// Both ways of calling, with the completion that the row needs.
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

// A get that does not block is complete only after shmem_quiet.
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
inline constexpr std::size_t strided_step = 2;  // SHOMS'
inline constexpr auto move_iput = [](const auto& channel, auto f, auto* remote, auto* local, std::size_t n, int pe) {
  channel.call(f, remote, local, std::ptrdiff_t{strided_step}, std::ptrdiff_t{strided_step}, n, pe);
};
inline constexpr auto move_iget = [](const auto& channel, auto f, auto* remote, auto* local, std::size_t n, int pe) {
  channel.call(f, local, remote, std::ptrdiff_t{strided_step}, std::ptrdiff_t{strided_step}, n, pe);
};

}  // namespace plumb::shmem_api
