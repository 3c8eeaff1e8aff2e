// Messages of one case of b_eff on one rank: positions, the exchange, and contents at the start and the end of a
// repetition.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/hpcc/b_eff/ring.hpp"
#include "measure/benchmark.hpp"
#include "transport/transport.hpp"

namespace plumb::b_eff {

enum class Traffic { exchange, ping_pong, batched };

struct Pattern {
  Traffic traffic = Traffic::exchange;
  Place place;
  int rank = 0;
  std::uint64_t replications = 1;
  std::uint64_t batch = 1;   // messages per lane in progress together (batched)
  std::size_t bytes = 1;     // of a message
  std::uint64_t rounds = 1;  // of the longest loop

  // Lanes of this rank: two per replication (right, left) for exchange and batched; at most one for ping-pong.
  std::uint64_t lanes() const;
  std::uint64_t window() const {
    return traffic == Traffic::batched ? batch : 1;
  }                                                                          // messages of a lane in progress together
  std::uint64_t areas() const { return window() * (window() < 3 ? 3 : 2); }  // of a lane
  // Distance of adjacent slots in an area: at most a cache line, so short messages are close together, as a cache miss
  // costs a tenth of their time.
  std::size_t stride() const { return std::clamp<std::size_t>(bytes, 8, 128); }
  // Bytes at the start of a message, or copy, that later ones do not overwrite.
  std::size_t kept_bytes() const { return std::min(bytes, stride()); }
  std::size_t kept_of_copy() const { return std::min(bytes, 2 * stride()); }
  std::size_t pitch() const;  // bytes per area
  std::size_t lane_bytes() const { return areas() * pitch(); }
  // For a lane's copies alone: each moves two strides further.
  std::size_t copies_bytes() const { return bytes + 2 * rounds * stride(); }
  // Slots of a lane's messages: round i sends the message of turn i, and receives the one sent `window` rounds later.
  Slots slots(Buffer& lane) const { return {{&lane, 0, bytes}, areas(), pitch(), stride()}; }
};

// Expected content of a part of a buffer.
struct Expected {
  struct Run {
    std::size_t at = 0, size = 0;  // bytes
    std::uint64_t round = 0;       // round that received them
  };
  std::vector<std::byte> bytes;
  std::vector<Run> parts;  // checked parts

  void add(const Run& part);
};

// Expected areas of a lane after `count` rounds of repetition `repetition`: a window of rounds sends the messages
// received by the previous window, so after n windows a rank holds the first messages of the rank n positions back.
Expected expected_in_area(const Pattern& pattern, std::uint64_t seed, std::uint64_t repetition, std::uint64_t count,
                          std::uint64_t lane, std::uint64_t area);
// The message in a lane's turn; the first `window` turns are this rank's own.
Provenance message_of(const Pattern& pattern, std::uint64_t seed, std::uint64_t repetition, std::uint64_t lane,
                      std::uint64_t turn);

// A buffer for each lane, with untimed writes and reads.
class LaneBuffers {
 public:
  LaneBuffers(Device& device, const Placement& placement, std::uint64_t lanes, std::size_t bytes);
  Buffer& lane(std::uint64_t lane) const { return *buffers_[lane]; }
  void put(const BufferView& view, const std::vector<std::byte>& bytes);
  // Poisons every expected byte from byte `at` of a lane on.
  void poison(std::uint64_t lane, std::size_t at, Expected expected);
  // Compares the contents, and adds the findings to `found`.
  void check(std::uint64_t lane, std::size_t at, const Expected& expected, Validation& found);

 private:
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::unique_ptr<Queue> queue_;
};

Exchange make_exchange(const Pattern& pattern, const LaneBuffers& buffers);

}  // namespace plumb::b_eff
