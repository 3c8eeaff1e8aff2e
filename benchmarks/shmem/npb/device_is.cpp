#include "benchmarks/shmem/npb/device_is.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/embedded.hpp"

namespace plumb::npb {

namespace {

const std::string file_of_is = "benchmarks/shmem/npb/is.cl";
constexpr std::size_t key_bytes = sizeof(DeviceKeys::Key);

std::size_t room_bytes(std::span<const std::size_t> rooms) {
  std::size_t bytes = 0;
  for (const std::size_t keys : rooms) bytes += aligned(keys * key_bytes);
  return bytes;
}

}  // namespace

DeviceKeys::DeviceKeys(Session& session, std::span<const Key> keys, std::size_t buckets, int shift,
                       std::int64_t log2_range, std::vector<std::uint32_t> tests, const Rooms& rooms)
    : size_(keys.size()),
      buckets_(buckets),
      shift_(shift),
      queue_(session.device.make_queue()),
      tests_count_(tests.size()) {
  const DeviceInfo& info = session.device.info();
  group_ = info.type == "gpu" ? 256 : 64;
  groups_ = std::size_t{info.type == "gpu" ? 8u : 4u} * std::max(1u, info.compute_units);
  Placement own = session.memory;
  own.shared = false;
  const auto buffer = [&](std::size_t numbers) {
    return session.device.allocate(std::max<std::size_t>(numbers, 16) * sizeof(std::uint32_t), own);
  };
  keys_ = buffer(size_);
  group_counts_ = buffer(groups_ * buckets_);
  sums_ = buffer(buckets_ + tests.size());
  places_ = buffer(buckets_);
  tests_ = buffer(tests.size());
  counts_ = buffer(std::size_t{1} << log2_range);
  weighted_ = buffer(2 * buckets_);
  queue_->write(reinterpret_cast<const std::byte*>(keys.data()), {keys_.get(), 0, keys.size_bytes()});
  queue_->write(reinterpret_cast<const std::byte*>(tests.data()),
                {tests_.get(), 0, tests.size() * sizeof(std::uint32_t)});
  program_ = session.device.build(session.source(
      {file_of_is, embedded_text(file_of_is), fmt::format("-DGROUP={} -DBUCKETS={}", group_, buckets_)}));
  for (const auto& [kernel, name] : {std::pair{&fill_, "fill"},
                                     {&count_buckets_, "count_buckets"},
                                     {&add_up_, "add_up"},
                                     {&set_places_, "set_places"},
                                     {&move_keys_, "move_keys"},
                                     {&count_keys_, "count_keys"},
                                     {&rank_keys_, "rank_keys"}})
    *kernel = program_->kernel(name);

  const int me = session.world.rank(), ranks = session.world.size();
  std::vector<DeviceExchange::Message> sends, receives;
  std::size_t out = 0, in = 0;
  for (int i = 0; i < ranks; ++i) {
    const auto at = static_cast<std::size_t>(i);
    outgoing_at_.push_back(out / key_bytes);
    incoming_at_.push_back(in / key_bytes);
    if (i + 1 < ranks) {
      sends.push_back({(me + i + 1) % ranks, i, out, std::max<std::size_t>(rooms.outgoing[at], 1) * key_bytes});
      receives.push_back(
          {(me + ranks - i - 1) % ranks, i, in, std::max<std::size_t>(rooms.incoming[at], 1) * key_bytes});
      in += aligned(receives.back().bytes);
    }
    out += aligned(std::max<std::size_t>(rooms.outgoing[at], 1) * key_bytes);
  }
  exchange_ = std::make_unique<DeviceExchange>(session, sends, out, receives, in, traffic_);
}

void DeviceKeys::fill(Buffer& buffer, std::uint32_t value) {
  fill_->set({&buffer, static_cast<std::uint32_t>(buffer.size() / sizeof(std::uint32_t)), value});
  queue_->enqueue(*fill_, {groups_ * group_, group_});
}

void DeviceKeys::restart(std::span<const Key> first_keys) {
  queue_->write(reinterpret_cast<const std::byte*>(first_keys.data()), {keys_.get(), 0, first_keys.size_bytes()});
  for (Buffer* buffer : {&exchange_->outgoing(), &exchange_->incoming(), counts_.get()}) fill(*buffer, nowhere);
  queue_->finish();
}

void DeviceKeys::set_key(std::size_t place, Key key) {
  if (changed_.size() == 2) changed_.clear();
  changed_.reserve(2);
  changed_.push_back(key);
  queue_->enqueue_write(reinterpret_cast<const std::byte*>(&changed_.back()),
                        {keys_.get(), place * key_bytes, key_bytes});
}

void DeviceKeys::count(std::span<std::int32_t> counts) {
  const auto n = static_cast<std::uint32_t>(size_);
  count_buckets_->set({keys_.get(), group_counts_.get(), n, static_cast<std::uint32_t>(shift_)});
  queue_->enqueue(*count_buckets_, {groups_ * group_, group_});
  add_up_->set({group_counts_.get(), keys_.get(), tests_.get(), sums_.get(), static_cast<std::uint32_t>(groups_),
                static_cast<std::uint32_t>(tests_count_)});
  queue_->enqueue(*add_up_, {(buckets_ + tests_count_ + group_ - 1) / group_ * group_, group_});
  queue_->read({sums_.get(), 0, counts.size_bytes()}, reinterpret_cast<std::byte*>(counts.data()));
}

void DeviceKeys::write(std::span<const std::uint32_t> values, Buffer& to) {
  written_.assign(values.begin(), values.end());
  queue_->enqueue_write(reinterpret_cast<const std::byte*>(written_.data()),
                        {&to, 0, written_.size() * sizeof(std::uint32_t)});
}

void DeviceKeys::send(std::span<const std::int32_t> counts, std::span<const Buckets> buckets_of,
                      std::span<const std::size_t> received) {
  std::vector<std::uint32_t> places(buckets_);
  std::vector<std::size_t> sends, receives;
  for (std::size_t i = 0; i < buckets_of.size(); ++i) {
    std::size_t at = outgoing_at_[i];
    for (std::size_t bucket = buckets_of[i].first; bucket < buckets_of[i].end; ++bucket) {
      places[bucket] = static_cast<std::uint32_t>(at);
      at += static_cast<std::size_t>(counts[bucket]);
    }
    sends.push_back((at - outgoing_at_[i]) * key_bytes);
  }
  for (const std::size_t keys : received) receives.push_back(keys * key_bytes);
  held_.assign(received.begin(), received.end());
  held_.push_back(sends.back() / key_bytes);
  sends.pop_back();
  write(places, *places_);
  set_places_->set({group_counts_.get(), places_.get(), static_cast<std::uint32_t>(groups_)});
  queue_->enqueue(*set_places_, {(buckets_ + group_ - 1) / group_ * group_, group_});
  move_keys_->set({keys_.get(), group_counts_.get(), &exchange_->outgoing(), static_cast<std::uint32_t>(size_),
                   static_cast<std::uint32_t>(shift_)});
  queue_->enqueue(*move_keys_, {groups_ * group_, group_});
  if (sends.empty()) return;
  exchange_->set_sizes(sends, receives);
  exchange_->start(*queue_);
}

void DeviceKeys::count_keys(Buffer& keys, std::size_t first, std::size_t count, Key low, std::size_t range) {
  if (count == 0) return;
  count_keys_->set({&keys, counts_.get(), static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(count),
                    static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(range)});
  queue_->enqueue(*count_keys_, {groups_ * group_, group_});
}

// The own keys while the others' are under way.
std::uint64_t DeviceKeys::rank(Key low, std::span<const std::uint32_t> below, std::span<const std::size_t> looked_at,
                               std::span<std::int32_t> ranks) {
  const std::size_t width = std::size_t{1} << shift_, own = below.size();
  range_ = own * width;
  fill_->set({counts_.get(), static_cast<std::uint32_t>(range_), std::uint32_t{0}});
  queue_->enqueue(*fill_, {groups_ * group_, group_});
  count_keys(exchange_->outgoing(), outgoing_at_.back(), held_.back(), low, range_);
  if (held_.size() > 1) {
    queue_->finished();  // submits
    exchange_->wait();
    for (std::size_t i = 0; i + 1 < held_.size(); ++i)
      count_keys(exchange_->incoming(), incoming_at_[i], held_[i], low, range_);
  }
  if (own == 0) return queue_->finish(), 0;
  write(below, *places_);
  rank_keys_->set({counts_.get(), places_.get(), weighted_.get(), static_cast<std::uint32_t>(width),
                   static_cast<std::uint32_t>(low)});
  queue_->enqueue(*rank_keys_, {own * group_, group_});
  sums_read_.resize(own);
  queue_->enqueue_read({weighted_.get(), 0, own * sizeof(std::uint64_t)},
                       reinterpret_cast<std::byte*>(sums_read_.data()));
  for (std::size_t i = 0; i < looked_at.size(); ++i)
    if (looked_at[i] < range_)
      queue_->enqueue_read({counts_.get(), looked_at[i] * sizeof(std::int32_t), sizeof(std::int32_t)},
                           reinterpret_cast<std::byte*>(&ranks[i]));
  queue_->finish();
  return std::accumulate(sums_read_.begin(), sums_read_.end(), std::uint64_t{0});
}

void DeviceKeys::fetch(std::vector<std::int32_t>& ranks, std::vector<std::vector<Key>>& keys) {
  ranks.resize(range_);
  if (range_ > 0)
    queue_->read({counts_.get(), 0, range_ * sizeof(std::int32_t)}, reinterpret_cast<std::byte*>(ranks.data()));
  keys.clear();
  for (std::size_t i = 0; i < held_.size(); ++i) {
    const bool own = i + 1 == held_.size();
    keys.emplace_back(held_[i]);
    if (held_[i] > 0)
      queue_->read({own ? &exchange_->outgoing() : &exchange_->incoming(),
                    (own ? outgoing_at_ : incoming_at_)[i] * key_bytes, held_[i] * key_bytes},
                   reinterpret_cast<std::byte*>(keys.back().data()));
  }
}

DeviceBytes DeviceKeys::bytes(std::size_t keys, std::int64_t log2_range, const Rooms& rooms) {
  const std::size_t all_keys = keys * key_bytes, range = (std::size_t{1} << log2_range) * key_bytes;
  const std::size_t out = room_bytes(rooms.outgoing), in = room_bytes(rooms.incoming);
  constexpr std::size_t counts = 32 << 20;  // of the groups
  return {all_keys + range + out + in + counts, std::max({all_keys, range, out, in})};
}

}  // namespace plumb::npb
