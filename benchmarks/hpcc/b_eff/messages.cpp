#include "benchmarks/hpcc/b_eff/messages.hpp"

#include <fmt/format.h>

#include <cstring>

namespace plumb::b_eff {

namespace {

// A message that a rank has at the end of a repetition: where, and whose it must be.
struct Arrival {
  std::uint64_t lane, slot;
  MessageIdentity identity;
};

MessageIdentity identity_of(const Pattern& pattern, std::uint64_t seed, int origin, std::uint64_t lane,
                            std::uint64_t repetition) {
  return {seed, static_cast<std::uint64_t>(origin), lane, pattern.bytes, repetition};
}

bool pings(const Pattern& pattern) {
  return pattern.place.position % 2 == 0;
}  // the rank of a pair that sends first

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

// In the exchange a round passes on what the round before received, so after `count` rounds a rank holds the first
// message of the rank `count` positions back: every round's every byte is in what is checked.
std::vector<Arrival> arrivals(const Pattern& pattern, std::uint64_t seed, std::uint64_t repetition,
                              std::uint64_t count) {
  std::vector<Arrival> result;
  for (std::uint64_t lane = 0; lane < pattern.lanes(); ++lane) {
    const auto hops = static_cast<std::int64_t>(count % static_cast<std::uint64_t>(pattern.place.size()));
    switch (pattern.form) {
      case Form::exchange:
        result.push_back(
            {lane, count % pattern.slots,
             identity_of(pattern, seed, pattern.place.at(lane % 2 == 0 ? -hops : hops), lane, repetition)});
        break;
      case Form::ping_pong:
        result.push_back(
            {lane, (pings(pattern) ? count : count - 1) % pattern.slots,
             identity_of(pattern, seed, pings(pattern) ? pattern.rank : partner(pattern), lane, repetition)});
        break;
      case Form::batched:
        for (std::uint64_t i = 0; i < pattern.batch; ++i)
          result.push_back(
              {lane, pattern.batch + i,
               identity_of(pattern, seed, sender_of(pattern, lane), lane * pattern.batch + i, repetition)});
        break;
    }
  }
  return result;
}

// The messages that this rank makes itself.
std::vector<Arrival> departures(const Pattern& pattern, std::uint64_t seed, std::uint64_t repetition) {
  std::vector<Arrival> result;
  if (pattern.form == Form::ping_pong && !pings(pattern)) return result;
  const std::uint64_t own = pattern.form == Form::batched ? pattern.batch : 1;
  for (std::uint64_t lane = 0; lane < pattern.lanes(); ++lane)
    for (std::uint64_t i = 0; i < own; ++i)
      result.push_back({lane, i, identity_of(pattern, seed, pattern.rank, lane * own + i, repetition)});
  return result;
}

std::vector<BufferView> slots_from(const Pattern& pattern, const MessageStore& store, std::uint64_t lane,
                                   std::uint64_t first) {
  std::vector<BufferView> views;
  for (std::uint64_t i = 0; i < pattern.slots; ++i) views.push_back(store.slot(lane, (first + i) % pattern.slots));
  return views;
}

void add_ping_pong(const Pattern& pattern, const MessageStore& store, Exchange& exchange) {
  Step forth, back;
  for (std::uint64_t lane = 0; lane < pattern.lanes(); ++lane) {
    const Transfer sent{partner(pattern), static_cast<int>(lane), slots_from(pattern, store, lane, 0)};
    const Transfer received{partner(pattern), static_cast<int>(lane),
                            slots_from(pattern, store, lane, pings(pattern) ? 1 : 0)};
    (pings(pattern) ? forth : back).sends.push_back(sent);
    (pings(pattern) ? back : forth).receives.push_back(received);
  }
  if (!pattern.idle()) exchange.steps = {forth, back};
}

}  // namespace

std::uint64_t Pattern::lanes() const {
  if (form != Form::ping_pong) return 2 * replications;
  const bool alone = place.position == place.size() - 1 && place.size() % 2 == 1;
  return alone ? 0 : replications;
}

std::uint64_t Pattern::slots_of_a_lane() const {
  return form == Form::batched ? 2 * batch : slots;
}

std::uint64_t Pattern::messages_to_check() const {
  return lanes() * (form == Form::batched ? batch : 1);
}

std::size_t Pattern::memory_bytes() const {
  return lanes() * slots_of_a_lane() * bytes;
}

std::size_t Pattern::exchange_bytes() const {
  return 2 * messages_to_check() * bytes;
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
    Transfer sent{receiver_of(pattern, lane), static_cast<int>(lane), {}};
    Transfer received{sender_of(pattern, lane), static_cast<int>(lane), {}};
    if (pattern.form == Form::exchange) {
      sent.slots = slots_from(pattern, store, lane, 0);
      received.slots = slots_from(pattern, store, lane, 1);
    } else {
      for (std::uint64_t i = 0; i < pattern.batch; ++i) {
        sent.slots.push_back(store.slot(lane, i));
        received.slots.push_back(store.slot(lane, pattern.batch + i));
      }
    }
    step.sends.push_back(std::move(sent));
    step.receives.push_back(std::move(received));
  }
  exchange.steps = {std::move(step)};
  exchange.window = pattern.form == Form::batched ? pattern.batch : 1;
  return exchange;
}

void reset_messages(const Pattern& pattern, MessageStore& store, std::uint64_t seed, std::uint64_t repetition,
                    std::uint64_t count) {
  std::vector<std::byte> scratch(pattern.bytes);
  // Poison is the complement of what must arrive: a byte that nobody writes cannot be right.
  for (const Arrival& arrival : arrivals(pattern, seed, repetition, count)) {
    poison_message(scratch, arrival.identity);
    const std::uint64_t first = pattern.form == Form::batched ? arrival.slot : 0;
    const std::uint64_t end = pattern.form == Form::batched ? arrival.slot + 1 : pattern.slots;
    for (std::uint64_t slot = first; slot < end; ++slot) store.put(store.slot(arrival.lane, slot), scratch);
  }
  for (const Arrival& departure : departures(pattern, seed, repetition)) {
    fill_message(scratch, departure.identity);
    store.put(store.slot(departure.lane, departure.slot), scratch);
  }
}

Validation check_messages(const Pattern& pattern, MessageStore& store, std::uint64_t seed, std::uint64_t repetition,
                          std::uint64_t count) {
  Validation found;
  found.reference = "every byte of the last messages, made again from origin, lane, size and repetition";
  std::vector<std::byte> scratch(pattern.bytes);
  for (const Arrival& arrival : arrivals(pattern, seed, repetition, count)) {
    poison_message(scratch, arrival.identity);  // a read that does not happen must not pass
    store.get(store.slot(arrival.lane, arrival.slot), scratch);
    check_bytes(scratch, arrival.identity, fmt::format("lane {}", arrival.lane), found);
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
