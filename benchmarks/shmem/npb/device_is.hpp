// npb_is's keys in a device's memory, counted, moved and ranked by kernels (is.cl), and sent by the session's
// transport.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "benchmarks/shmem/device_exchange.hpp"
#include "measure/benchmark.hpp"

namespace plumb::npb {

class DeviceKeys {
 public:
  using Key = std::int32_t;
  // Keys that a rank has of others' buckets, and others of its: by distance, from 1 on; its own: last.
  struct Rooms {
    std::vector<std::size_t> outgoing, incoming;
  };
  // Collective. `tests`: places among these keys, or nowhere.
  DeviceKeys(Session& session, std::span<const Key> keys, std::size_t buckets, int shift, std::int64_t log2_range,
             std::vector<std::uint32_t> tests, const Rooms& rooms);
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

  // The first keys again; messages and counts are poisoned.
  void restart(std::span<const Key> first_keys);
  void set_key(std::size_t place, Key key);
  // Keys by bucket, then the tests' keys.
  void count(std::span<std::int32_t> counts);
  // Moves the keys to their buckets and sends them. `by_owner`: of this rank's keys, by distance, its own last;
  // `buckets_of`: of each of those its first bucket and the one after its last.
  struct Buckets {
    std::size_t first, end;
  };
  void send(std::span<const std::int32_t> counts, std::span<const Buckets> buckets_of,
            std::span<const std::size_t> received);
  // Ranks of all keys of the own buckets; `below`: of each of those the number of smaller keys before it. Returns the
  // sum of weighted ranks, and the ranks at some places of the range.
  std::uint64_t rank(Key low, std::span<const std::uint32_t> below, std::span<const std::size_t> looked_at,
                     std::span<std::int32_t> ranks);

  // Of the last iteration: ranks by key of the own range; the keys received, by distance, the own ones last.
  void fetch(std::vector<std::int32_t>& ranks, std::vector<std::vector<Key>>& keys);

  const Traffic& traffic() const { return traffic_; }
  static DeviceBytes bytes(std::size_t keys, std::int64_t log2_range, const Rooms& rooms);

 private:
  void fill(Buffer& buffer, std::uint32_t value);
  void count_keys(Buffer& keys, std::size_t first, std::size_t count, Key low, std::size_t range);
  void write(std::span<const std::uint32_t> values, Buffer& to);

  std::size_t size_, buckets_, group_, groups_;
  int shift_;
  Traffic traffic_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Buffer> keys_, group_counts_, sums_, places_, tests_, counts_, weighted_;
  std::unique_ptr<DeviceExchange> exchange_;
  std::vector<std::size_t> outgoing_at_, incoming_at_;  // numbers; of the own keys the last
  std::vector<std::size_t> held_;                       // keys of each: as received, then the own
  std::size_t range_ = 0, tests_count_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> fill_, count_buckets_, add_up_, set_places_, move_keys_, count_keys_, rank_keys_;
  std::vector<std::uint32_t> written_;  // alive until the queue has read them
  std::vector<std::uint64_t> sums_read_;
  std::vector<Key> changed_;
};

// The weight of a key's rank in an iteration's sum, as in is.cl.
constexpr std::uint64_t weight_of(std::uint64_t key) {
  const std::uint64_t x = (key + 1) * 0x9e3779b97f4a7c15u;
  return x ^ x >> 29;
}

}  // namespace plumb::npb
