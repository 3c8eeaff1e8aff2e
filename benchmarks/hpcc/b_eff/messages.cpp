#include "benchmarks/hpcc/b_eff/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace plumb::b_eff {

namespace {

// What a slot holds at the end of a repetition: a message, or still the poison of one that never came.
struct Content {
  std::uint64_t lane, slot;
  MessageIdentity identity;
  bool came;
  std::size_t checked;  // bytes, from its beginning
};

// Tells one message from another.
constexpr std::size_t telling_bytes = 4096;

MessageIdentity identity_of(const Pattern& pattern, std::uint64_t seed, int origin, std::uint64_t lane,
                            std::uint64_t repetition) {
  return {seed, static_cast<std::uint64_t>(origin), lane, pattern.bytes, repetition};
}

// Of a pair, the rank that sends first.
bool pings(const Pattern& pattern) {
  return pattern.place.position % 2 == 0;
}

int partner(const Pattern& pattern) {
  return pings(pattern) ? pattern.place.right() : pattern.place.left();
}

// Lane l goes right when even, left when odd: to and from whom.
int receiver_of(const Pattern& pattern, std::uint64_t lane) {
  return lane % 2 == 0 ? pattern.place.right() : pattern.place.left();
}
int sender_of(const Pattern& pattern, std::uint64_t lane) {
  return lane % 2 == 0 ? pattern.place.left() : pattern.place.right();
}

// Who made a message that has come so many hops to this rank, in a lane.
int origin_of(const Pattern& pattern, std::uint64_t lane, std::uint64_t hops) {
  if (pattern.form == Form::ping_pong) return hops % 2 == 0 ? pattern.rank : partner(pattern);
  const auto back = static_cast<std::int64_t>(hops % static_cast<std::uint64_t>(pattern.place.size()));
  return pattern.place.at(lane % 2 == 0 ? -back : back);
}

// Where a lane's message lies after so many windows: in the next set with each, and there one slot further.
std::uint64_t slot_of(const Pattern& pattern, std::uint64_t message, std::uint64_t windows) {
  const std::uint64_t own = pattern.messages_in_motion();
  return windows % pattern.sets * own + (message + windows) % own;
}

// A window of rounds passes on what the window before received, so after n windows a rank holds the first messages of
// the rank n positions back: every round's every byte is in them. The sets before hold those of one hop less each.
std::vector<Content> contents(const Pattern& pattern, std::uint64_t seed, std::uint64_t repetition,
                              std::uint64_t count) {
  const std::uint64_t own = pattern.messages_in_motion(), windows = count / own;
  std::vector<Content> result;
  for (std::uint64_t lane = 0; lane < pattern.lanes(); ++lane)
    for (std::uint64_t back = 0; back < pattern.sets; ++back) {
      const bool came = back <= windows;
      const std::uint64_t hops = came ? windows - back : windows + pattern.sets - back;
      for (std::uint64_t i = 0; i < own; ++i)
        result.push_back({lane, slot_of(pattern, i, hops),
                          identity_of(pattern, seed, origin_of(pattern, lane, hops), lane * own + i, repetition), came,
                          back == 0 ? pattern.bytes : std::min(pattern.bytes, telling_bytes)});
    }
  return result;
}

// Slots that a lane's rounds send from (after = 0), or receive into (1): those that its messages have after a window
// more.
std::vector<BufferView> slots_after(const Pattern& pattern, const MessageStore& store, std::uint64_t lane,
                                    std::uint64_t after) {
  const std::uint64_t own = pattern.messages_in_motion();
  std::vector<BufferView> views;
  for (std::uint64_t window = 0; window < pattern.sets; ++window)
    for (std::uint64_t i = 0; i < own; ++i) {
      const std::uint64_t message = (i + own - window % own) % own;  // that which lies in the window's slot i
      views.push_back(store.slot(lane, slot_of(pattern, message, window + after)));
    }
  return views;
}

// What a rank sends back is what came in the round before: so either side's messages go to and fro, and the end tells
// how often.
void add_ping_pong(const Pattern& pattern, const MessageStore& store, Exchange& exchange) {
  Step forth, back;
  for (std::uint64_t lane = 0; lane < pattern.lanes(); ++lane) {
    const Transfer sent{partner(pattern), static_cast<int>(lane), slots_after(pattern, store, lane, 0)};
    const Transfer received{partner(pattern), static_cast<int>(lane), slots_after(pattern, store, lane, 1)};
    (pings(pattern) ? forth : back).sends.push_back(sent);
    (pings(pattern) ? back : forth).receives.push_back(received);
  }
  if (!pattern.idle()) exchange.steps = {forth, back};
}

void invert(std::span<std::byte> bytes) {
  for (std::byte& byte : bytes) byte = ~byte;
}

}  // namespace

std::uint64_t Pattern::lanes() const {
  if (form != Form::ping_pong) return 2 * replications;
  const bool alone = place.position == place.size() - 1 && place.size() % 2 == 1;
  return alone ? 0 : replications;
}

std::uint64_t Pattern::messages_in_motion() const {
  return form == Form::batched ? batch : 1;
}

std::uint64_t Pattern::slots_of_a_lane() const {
  return sets * messages_in_motion();
}

std::uint64_t Pattern::bytes_to_check() const {
  return lanes() * messages_in_motion() * (bytes + (sets - 1) * std::min(bytes, telling_bytes));
}

std::size_t Pattern::memory_bytes() const {
  return lanes() * slots_of_a_lane() * bytes;
}

std::size_t Pattern::exchange_bytes() const {
  return 2 * lanes() * messages_in_motion() * bytes;
}

MessageStore::MessageStore(Device& device, const Placement& placement, const Pattern& pattern)
    : queue_(device.make_queue()), slots_(pattern.slots_of_a_lane()) {
  for (std::uint64_t i = 0; i < pattern.lanes() * slots_; ++i)
    buffers_.push_back(device.allocate(pattern.bytes, placement));
}

void MessageStore::put(const BufferView& view, std::span<const std::byte> bytes) {
  if (std::byte* host = view.host_pointer())
    std::memcpy(host, bytes.data(), bytes.size());
  else
    queue_->write(bytes.data(), view);
}

void MessageStore::get(const BufferView& view, std::span<std::byte> bytes) {
  if (const std::byte* host = view.host_pointer())
    std::memcpy(bytes.data(), host, bytes.size());
  else
    queue_->read(view, bytes.data());
}

Exchange make_exchange(const Pattern& pattern, const MessageStore& store) {
  Exchange exchange;
  if (pattern.form == Form::ping_pong) {
    add_ping_pong(pattern, store, exchange);
    return exchange;
  }
  Step step;
  for (std::uint64_t lane = 0; lane < pattern.lanes(); ++lane) {
    step.sends.push_back({receiver_of(pattern, lane), static_cast<int>(lane), slots_after(pattern, store, lane, 0)});
    step.receives.push_back({sender_of(pattern, lane), static_cast<int>(lane), slots_after(pattern, store, lane, 1)});
  }
  exchange.steps = {std::move(step)};
  exchange.window = pattern.messages_in_motion();
  return exchange;
}

void reset_messages(const Pattern& pattern, MessageStore& store, std::uint64_t seed, std::uint64_t repetition,
                    std::uint64_t count) {
  std::vector<std::byte> scratch(pattern.bytes);
  // Poison is the complement of what must arrive: a byte that nobody writes cannot be right.
  for (const Content& content : contents(pattern, seed, repetition, count)) {
    poison_message(scratch, content.identity);
    store.put(store.slot(content.lane, content.slot), scratch);
  }
  const std::uint64_t own = pattern.messages_in_motion();
  for (std::uint64_t lane = 0; lane < pattern.lanes(); ++lane)
    for (std::uint64_t i = 0; i < own; ++i) {
      fill_message(scratch, identity_of(pattern, seed, pattern.rank, lane * own + i, repetition));
      store.put(store.slot(lane, i), scratch);
    }
}

Validation check_messages(const Pattern& pattern, MessageStore& store, std::uint64_t seed, std::uint64_t repetition,
                          std::uint64_t count) {
  Validation found;
  found.reference =
      "every byte of the last messages, and the beginning of those before, made again from origin, lane, size and "
      "repetition";
  std::vector<std::byte> scratch(pattern.bytes);
  for (const Content& content : contents(pattern, seed, repetition, count)) {
    const auto bytes = std::span(scratch).first(content.checked);
    const BufferView slot = store.slot(content.lane, content.slot);
    poison_message(bytes, content.identity);  // a read that does not happen must not pass
    if (!content.came) invert(bytes);
    store.get({slot.buffer, slot.offset, content.checked}, bytes);
    if (!content.came) invert(bytes);
    check_bytes(bytes, content.identity, fmt::format("lane {}, slot {}", content.lane, content.slot), found);
  }
  return found;
}

void check_bytes(std::span<const std::byte> bytes, const MessageIdentity& identity, const std::string& what,
                 Validation& found) {
  const Difference difference = compare_message(bytes, identity);
  found.items_checked += bytes.size();
  found.wrong_items += difference.wrong;
  found.error = static_cast<double>(found.wrong_items);
  if (difference.wrong > 0 && found.detail.empty())
    found.detail = fmt::format(
        "{}, message of rank {}: {} of {} bytes wrong, the first at {} is 0x{:02x}, should be 0x{:02x}", what,
        identity.origin, difference.wrong, bytes.size(), difference.first_offset, difference.is, difference.should_be);
}

}  // namespace plumb::b_eff
