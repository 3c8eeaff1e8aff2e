#include "benchmarks/hpcc/b_eff/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace plumb::b_eff {

namespace {

// The rank of a pair that sends first.
bool pings(const Pattern& pattern) {
  return pattern.place.position % 2 == 0;
}

int partner(const Pattern& pattern) {
  return pings(pattern) ? pattern.place.right() : pattern.place.left();
}

// Direction of a lane, +1 to the right, -1 to the left: even lanes go right, odd lanes left.
int neighbour(const Pattern& pattern, std::uint64_t lane, int direction) {
  if (pattern.traffic == Traffic::ping_pong) return partner(pattern);
  return pattern.place.at(lane % 2 == 0 ? direction : -direction);
}

// Origin of a message in a lane after a number of hops to this rank.
int origin_of(const Pattern& pattern, std::uint64_t lane, std::uint64_t hops) {
  if (pattern.traffic == Traffic::ping_pong) return hops % 2 == 0 ? pattern.rank : partner(pattern);
  const auto back = static_cast<std::int64_t>(hops % static_cast<std::uint64_t>(pattern.place.size()));
  return pattern.place.at(lane % 2 == 0 ? -back : back);
}

void invert(std::vector<std::byte>& bytes) {
  for (std::byte& byte : bytes) byte = ~byte;
}

}  // namespace

std::uint64_t Pattern::lanes() const {
  if (traffic != Traffic::ping_pong) return 2 * replications;
  const bool alone = place.position == place.size() - 1 && place.size() % 2 == 1;
  return alone ? 0 : replications;
}

std::size_t Pattern::pitch() const {
  constexpr std::size_t page = 4096;
  return (bytes + (rounds + window() - 1) / areas() * stride() + page - 1) / page * page;
}

void Expected::add(const Run& part) {
  parts.push_back(part);
  bytes.resize(std::max(bytes.size(), part.at + part.size));
}

// Messages of a window are adjacent.
Provenance message_of(const Pattern& pattern, std::uint64_t seed, std::uint64_t repetition, std::uint64_t lane,
                      std::uint64_t turn) {
  const std::uint64_t window = pattern.window();
  return {seed, static_cast<std::uint64_t>(origin_of(pattern, lane, turn / window)), lane * window + turn % window,
          pattern.bytes, repetition};
}

Expected expected_in_area(const Pattern& pattern, std::uint64_t seed, std::uint64_t repetition, std::uint64_t count,
                          std::uint64_t lane, std::uint64_t area) {
  const std::uint64_t window = pattern.window(), areas = pattern.areas();
  Expected expected;
  for (std::uint64_t turn = area; turn < window + count; turn += areas) {
    if (turn < window) continue;      // its own, not received
    const bool last = turn >= count;  // of its message
    expected.add({turn / areas * pattern.stride(), last ? pattern.bytes : pattern.kept_bytes(), turn - window});
    fill_message(std::span(expected.bytes).subspan(expected.parts.back().at, expected.parts.back().size),
                 message_of(pattern, seed, repetition, lane, turn));
  }
  return expected;
}

LaneBuffers::LaneBuffers(Device& device, const Placement& placement, std::uint64_t lanes, std::size_t bytes)
    : queue_(device.make_queue()) {
  for (std::uint64_t i = 0; i < lanes; ++i) buffers_.push_back(device.allocate(bytes, placement));
}

void LaneBuffers::put(const BufferView& view, const std::vector<std::byte>& bytes) {
  if (std::byte* host = view.host_pointer())
    std::memcpy(host, bytes.data(), view.size);
  else
    queue_->write(bytes.data(), view);
}

void LaneBuffers::poison(std::uint64_t lane, std::size_t at, Expected expected) {
  if (expected.parts.empty()) return;
  invert(expected.bytes);
  put({buffers_[lane].get(), at, expected.bytes.size()}, expected.bytes);
}

void LaneBuffers::check(std::uint64_t lane, std::size_t at, const Expected& expected, Validation& found) {
  if (expected.parts.empty()) return;
  std::vector<std::byte> is = expected.bytes;
  invert(is);  // detects a read that does not happen
  const BufferView view{buffers_[lane].get(), at, is.size()};
  if (const std::byte* host = view.host_pointer())
    std::memcpy(is.data(), host, is.size());
  else
    queue_->read(view, is.data());
  for (const Expected::Run& part : expected.parts) {
    found.items_checked += part.size;
    if (std::memcmp(is.data() + part.at, expected.bytes.data() + part.at, part.size) == 0) continue;
    std::size_t first = part.size;
    for (std::size_t i = part.size; i-- > 0;)
      if (is[part.at + i] != expected.bytes[part.at + i]) {
        ++found.wrong_items;
        first = i;
      }
    if (found.detail.empty())
      found.detail = fmt::format(
          "lane {}, round {}: of {} bytes received, the first wrong one is byte {}: 0x{:02x}, "
          "should be 0x{:02x}",
          lane, part.round, part.size, first, static_cast<unsigned>(is[part.at + first]),
          static_cast<unsigned>(expected.bytes[part.at + first]));
  }
  found.error = static_cast<double>(found.wrong_items);
}

Exchange make_exchange(const Pattern& pattern, const LaneBuffers& buffers) {
  Step sends, receives;
  for (std::uint64_t lane = 0; lane < pattern.lanes(); ++lane) {
    const Slots from = pattern.slots(buffers.lane(lane));
    Slots to = from;
    to.first = pattern.window();
    sends.sends.push_back({neighbour(pattern, lane, 1), static_cast<int>(lane), from});
    receives.receives.push_back({neighbour(pattern, lane, -1), static_cast<int>(lane), to});
  }
  Exchange exchange;
  exchange.window = pattern.window();
  if (pattern.traffic == Traffic::ping_pong) {
    if (pattern.lanes() > 0)
      exchange.steps = pings(pattern) ? std::vector{sends, receives} : std::vector{receives, sends};
  } else {
    exchange.steps = {{sends.sends, receives.receives}};
  }
  return exchange;
}

}  // namespace plumb::b_eff
