// The messages of one case of b_eff on one rank: where they lie, the exchange that moves them, what they must hold at
// the start and at the end of a repetition.
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

enum class Form { exchange, ping_pong, batched };

struct Pattern {
  Form form = Form::exchange;
  Place place;
  int rank = 0;
  std::uint64_t replications = 1;
  std::uint64_t batch = 1;   // messages of a lane under way together (batched)
  std::size_t bytes = 1;     // of a message
  std::uint64_t rounds = 1;  // of the longest loop

  // Lanes of this rank: exchange and batched two a replication (right, left), ping-pong one, or none without a partner.
  std::uint64_t lanes() const;
  std::uint64_t window() const { return form == Form::batched ? batch : 1; }  // messages of a lane under way together
  std::uint64_t areas() const { return window() * (window() < 3 ? 3 : 2); }   // of a lane
  // How far a slot lies behind the one before it in its area: small messages close together, because what a cache does
  // not hold yet costs a tenth of their time; no more than a line of any cache.
  std::size_t stride() const { return std::clamp<std::size_t>(bytes, 8, 128); }
  // Of a message, or a copy, that others follow: bytes that none of them overwrites.
  std::size_t kept_bytes() const { return std::min(bytes, stride()); }
  std::size_t kept_of_copy() const { return std::min(bytes, 2 * stride()); }
  std::size_t pitch() const;  // bytes of an area
  std::size_t lane_bytes() const { return areas() * pitch(); }
  // Of a lane's copies alone: each goes two strides further than the one before it.
  std::size_t copies_bytes() const { return bytes + 2 * rounds * stride(); }
  // Where a lane's messages lie: round i takes on what lies in turn i, and brings what goes on `window` rounds later.
  Slots slots(Buffer& lane) const { return {{&lane, 0, bytes}, areas(), pitch(), stride()}; }
};

// What a buffer must hold from some byte on.
struct Expected {
  struct Part {
    std::size_t at = 0, size = 0;  // bytes
    std::uint64_t round = 0;       // that brought them
  };
  std::vector<std::byte> bytes;
  std::vector<Part> parts;  // that somebody looks at

  void add(const Part& part);
};

// What an area of a lane holds after `count` rounds of repetition `repetition`: a window of rounds passes on what the
// window before received, so after n windows a rank holds the first messages of the rank n positions back.
Expected expected_in_area(const Pattern& pattern, std::uint64_t seed, std::uint64_t repetition, std::uint64_t count,
                          std::uint64_t lane, std::uint64_t area);
// The message that a lane's turn holds; those of the first `window` turns are this rank's own.
MessageIdentity message_of(const Pattern& pattern, std::uint64_t seed, std::uint64_t repetition, std::uint64_t lane,
                           std::uint64_t turn);

// A buffer for each lane, with untimed writes and reads.
class LaneBuffers {
 public:
  LaneBuffers(Device& device, const Placement& placement, std::uint64_t lanes, std::size_t bytes);
  Buffer& lane(std::uint64_t lane) const { return *buffers_[lane]; }
  void put(const BufferView& view, const std::vector<std::byte>& bytes);
  // Makes every byte that is expected from byte `at` of a lane on wrong: one that nobody writes cannot be right.
  void poison(std::uint64_t lane, std::size_t at, Expected expected);
  // Compares what is there, and adds what was found to `found`.
  void check(std::uint64_t lane, std::size_t at, const Expected& expected, Validation& found);

 private:
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::unique_ptr<Queue> queue_;
};

Exchange make_exchange(const Pattern& pattern, const LaneBuffers& buffers);

}  // namespace plumb::b_eff
