// The messages of one case of b_eff on one rank: where they lie, the exchange that moves them, what they must hold at
// the start and at the end of a repetition.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/hpcc/b_eff/ring.hpp"
#include "measure/benchmark.hpp"

namespace plumb::b_eff {

enum class Form { exchange, ping_pong, batched };

struct Pattern {
  Form form = Form::exchange;
  Place place;
  int rank = 0;
  std::uint64_t replications = 1;
  std::uint64_t batch = 1;  // messages of a lane under way together (batched)
  std::uint64_t sets = 3;   // of slots of a lane, each for all messages in motion
  std::size_t bytes = 1;    // of a message

  // Lanes of this rank: exchange and batched two a replication (right, left), ping-pong one, or none without a partner.
  std::uint64_t lanes() const;
  bool idle() const { return lanes() == 0; }
  std::uint64_t messages_in_motion() const;  // of a lane, under way together
  std::uint64_t slots_of_a_lane() const;     // all buffers of a lane
  std::uint64_t bytes_to_check() const;      // at the end of a repetition, on this rank
  std::size_t memory_bytes() const;          // of all slots of this rank
  std::size_t exchange_bytes() const;        // sent and received in a round
};

// Where the slots lie: each in a buffer of its own.
class MessageStore {
 public:
  MessageStore(Device& device, const Placement& placement, const Pattern& pattern);
  BufferView slot(std::uint64_t lane, std::uint64_t index) const { return whole(*buffers_[lane * slots_ + index]); }
  // Untimed writes and reads of one slot.
  void put(const BufferView& view, std::span<const std::byte> bytes);
  void get(const BufferView& view, std::span<std::byte> bytes);

 private:
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::unique_ptr<Queue> queue_;
  std::uint64_t slots_;
};

Exchange make_exchange(const Pattern& pattern, const MessageStore& store);

// Untimed: own messages in their slots, every other slot wrong in every byte.
void reset_messages(const Pattern& pattern, MessageStore& store, std::uint64_t seed, std::uint64_t repetition,
                    std::uint64_t count);
// Compares every byte of the last messages received, which are what the loop's first messages have become, and the
// beginning of those in the other slots: they tell of a loop that made fewer rounds.
Validation check_messages(const Pattern& pattern, MessageStore& store, std::uint64_t seed, std::uint64_t repetition,
                          std::uint64_t count);

// Compares `bytes` with the identity's content and adds what was found to `found`.
void check_bytes(std::span<const std::byte> bytes, const MessageIdentity& identity, const std::string& what,
                 Validation& found);

}  // namespace plumb::b_eff
