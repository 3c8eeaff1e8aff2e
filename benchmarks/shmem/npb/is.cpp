#include "benchmarks/shmem/npb/is.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "benchmarks/shmem/npb/random46.hpp"
#include "core/data.hpp"

namespace plumb::npb {

namespace {

enum IsPhase : std::size_t { is_rcomp, is_rcomm };
enum IsTag : int { how_many, the_keys };

std::uint64_t keys_of(const ClassRow& row) {
  return std::uint64_t{1} << row.size;
}

std::size_t buckets_of(const ClassRow& row) {
  return std::size_t{1} << std::min<std::int64_t>(row.name == 'S' ? 9 : 10, row.largest);
}

// Keys that one rank sends to another, at most. Keys are sums of four uniform numbers, whose density is at most 8/3 of
// the mean; a rank owns its share of all keys and a bucket more.
std::uint64_t room_of(const ClassRow& row, std::uint64_t mine, int ranks) {
  const double share = 1.0 / ranks + 8.0 / 3 / static_cast<double>(buckets_of(row));
  const double likely = static_cast<double>(mine) * share + 8 * std::sqrt(static_cast<double>(mine)) + 64;
  return std::min(mine, static_cast<std::uint64_t>(likely));
}

// The official rank of test key `test` in iteration `it`: its rank in the table moves with the keys that change.
std::int64_t official_rank(char name, std::size_t test, std::int64_t rank, std::int64_t it) {
  const bool rises = name == 'B' ? test == 1 || test == 2 || test == 4 : test < (name == 'W' ? 2 : 3);
  const std::int64_t late = name == 'A' ? 1 : name == 'W' && rises ? 2 : 0;
  return rises ? rank + it - late : rank - it + late;
}

}  // namespace

double Is::operations(const ClassRow& row) const {
  return static_cast<double>(keys_of(row)) * static_cast<double>(row.iterations);
}

std::string Is::size_text(const ClassRow& row) const {
  return fmt::format("{}", keys_of(row));
}

void Is::change(ClassRow& row) const {
  if (log2_keys_ > 0) row.size = log2_keys_;
  if (log2_max_key_ > 0) row.largest = log2_max_key_;
}

void Is::check_problem(const ClassRow& row, int ranks) const {
  if (row.largest > 30)
    throw UsageError(
        fmt::format("--log2-max-key is at most 30, not {}: keys are signed numbers of 32 bits", row.largest));
  if (row.size > 30)
    throw UsageError(fmt::format("--log2-keys is at most 30, not {}: ranks are signed numbers of 32 bits", row.size));
  const auto changed = 2 * static_cast<std::uint64_t>(row.iterations) + 1;
  if (keys_of(row) < std::max<std::uint64_t>(changed, static_cast<std::uint64_t>(ranks)))
    throw UsageError(fmt::format("{} keys are too few for {} iterations, which change {} of them, on {} ranks",
                                 keys_of(row), row.iterations, changed - 1, ranks));
  if ((std::int64_t{1} << row.largest) <= row.iterations)
    throw UsageError(fmt::format("--log2-max-key {} is too little for {} iterations", row.largest, row.iterations));
}

// The test keys of each iteration, official ones once more, the sum of its ranks, and the ranks of a share of all
// possible keys.
std::uint64_t Is::items(const ClassRow& row, const Plan& plan) const {
  const auto iterations = static_cast<std::uint64_t>(row.iterations);
  return iterations * (tests * (row.official.empty() ? 1 : 2) + 1) +
         share_of(std::uint64_t{1} << row.largest, plan.rank, plan.ranks).count() + 1;
}

Links Is::links(const ClassRow& row, int rank, int ranks) const {
  Links all;
  const auto bytes = [&](int from) {
    return sizeof(Key) * room_of(row, share_of(keys_of(row), from, ranks).count(), ranks);
  };
  for (int i = 1; i < ranks; ++i) {
    const int to = (rank + i) % ranks, from = (rank + ranks - i) % ranks;
    all.outgoing.push_back({to, how_many, sizeof(std::uint64_t)});
    all.outgoing.push_back({to, the_keys, std::max<std::size_t>(bytes(rank), 8)});
    all.incoming.push_back({from, how_many, sizeof(std::uint64_t)});
    all.incoming.push_back({from, the_keys, std::max<std::size_t>(bytes(from), 8)});
  }
  return all;
}

std::uint64_t Is::host_bytes(const ClassRow& row, const Plan& plan) const {
  const std::uint64_t keys = share_of(keys_of(row), plan.rank, plan.ranks).count(),
                      range = std::uint64_t{1} << row.largest;
  return sizeof(Key) * 2 * keys + 4 * range + (8 + 8 + 4 + 4) * range;  // the last four while checking
}

DeviceKeys::Rooms Is::rooms(const ClassRow& row, int rank, int ranks) const {
  DeviceKeys::Rooms rooms;
  const auto keys = [&](int from) { return room_of(row, share_of(keys_of(row), from, ranks).count(), ranks); };
  for (int i = 1; i < ranks; ++i) {
    rooms.outgoing.push_back(keys(rank));
    rooms.incoming.push_back(keys((rank + ranks - i) % ranks));
  }
  rooms.outgoing.push_back(keys(rank));
  return rooms;
}

DeviceBytes Is::device_bytes(const ClassRow& row, const Plan& plan) const {
  return DeviceKeys::bytes(share_of(keys_of(row), plan.rank, plan.ranks).count(), row.largest,
                           rooms(row, plan.rank, plan.ranks));
}

// A number and its keys from each rank to each other; a device's ranks tell the numbers by the team.
Volume Is::volume(const ClassRow& row, int ranks) const {
  return {4 * static_cast<double>(keys_of(row)) * (ranks - 1) / ranks, (on_device() ? 1. : 2.) * ranks * (ranks - 1)};
}

std::vector<Key> Is::original(std::uint64_t first, std::uint64_t end) const {
  Random46 random(usual_seed, 4 * first);
  const double quarter = static_cast<double>(std::int64_t{1} << row_.largest) / 4;
  std::vector<Key> keys(end - first);
  for (Key& key : keys) {
    double sum = random.next();
    for (int i = 1; i < 4; ++i) sum += random.next();
    key = static_cast<Key>(quarter * sum);
  }
  return keys;
}

// The key at a place after this iteration's change and all earlier ones.
Key Is::changed(std::uint64_t place, std::uint64_t iteration, Key original) const {
  const std::uint64_t most = row_.iterations;
  if (place >= 1 && place <= iteration) return static_cast<Key>(place);
  if (place > most && place <= most + iteration)
    return static_cast<Key>((std::uint64_t{1} << row_.largest) - (place - most));
  return original;
}

void Is::set_up(Session& session) {
  row_ = problem();
  buckets_ = buckets_of(row_);
  shift_ = static_cast<int>(row_.largest) - std::countr_zero(buckets_);
  mine_ = share_of(keys_of(row_), rank(), ranks());
  keys_ = original(mine_.first, mine_.end);
  const auto some = std::min<std::uint64_t>(2 * row_.iterations + 1, mine_.count());
  saved_.assign(keys_.begin(), keys_.begin() + some);
  test_places_.clear();
  for (std::size_t i = 0; i < tests; ++i)
    test_places_.push_back(row_.official.empty() ? mix64(i) % keys_of(row_)
                                                 : static_cast<std::uint64_t>(row_.official[i]));
  if (on_device()) {
    std::vector<std::uint32_t> places;
    for (const std::uint64_t place : test_places_)
      places.push_back(place >= mine_.first && place < mine_.end ? static_cast<std::uint32_t>(place - mine_.first)
                                                                 : DeviceKeys::nowhere);
    device_ = std::make_unique<DeviceKeys>(session, keys_, buckets_, shift_, row_.largest, places,
                                           rooms(row_, rank(), ranks()));
    keys_ = {};
    return;
  }
  kept_.resize(room_of(row_, mine_.count(), ranks()));
  next_.resize(buckets_);
}

void Is::restart() {
  device_ ? device_->restart(saved_) : static_cast<void>(std::copy(saved_.begin(), saved_.end(), keys_.begin()));
  std::fill(kept_.begin(), kept_.end(), Key{-1});
  std::fill(smaller_.begin(), smaller_.end(), -1);
  found_keys_.assign((row_.iterations + 1) * tests, -1);
  found_ranks_.assign(found_keys_.size(), -1);
  found_sums_.assign(row_.iterations + 1, 0);
}

void Is::iterate(std::uint64_t iteration) {
  change_keys(std::max<std::uint64_t>(iteration, 1));
  {
    const Part now = part(is_rcomp);
    count_buckets();
  }
  {
    const Part now = part(is_rcomm);
    reduce();
  }
  {
    const Part now = part(is_rcomp);
    first_bucket_ = borders();
  }
  if (device_) return rank_on_device(iteration);
  agree_on_counts();
  sort_to_owners();
  rank_keys(iteration);
  std::vector<std::int32_t> ranks;
  for (const std::size_t at : test_keys()) ranks.push_back(at < smaller_.size() ? smaller_[at] : 0);
  note_tests(iteration, ranks);
}

// The numbers of keys are exchanged by the team, the keys by the device's transport.
void Is::rank_on_device(std::uint64_t iteration) {
  const std::size_t me = rank(), size = ranks();
  std::vector<DeviceKeys::Buckets> owners;  // by distance, this rank last
  std::vector<std::uint64_t> sent(size), received(size);
  for (std::size_t i = 1; i <= size; ++i) {
    const std::size_t to = (me + i) % size;
    owners.push_back({first_bucket_[to], first_bucket_[to + 1]});
    sent[to] = keys_for(static_cast<int>(to));
    if (sent[to] > room_of(row_, mine_.count(), ranks()))
      throw Error(fmt::format("{} keys are for rank {}, more than there is room for", sent[to], to));
  }
  const std::vector<std::size_t> ones(size, 1);
  const double begin = now_seconds();
  if (size > 1) team().all_to_all<std::uint64_t>(sent, ones, received, ones);
  add_exposed(now_seconds() - begin);
  std::vector<std::size_t> by_distance;
  for (std::size_t i = 1; i < size; ++i) by_distance.push_back(received[(me + size - i) % size]);
  device_->send(own_counts_, owners, by_distance);

  low_ = static_cast<Key>(first_bucket_[me] << shift_);
  std::vector<std::uint32_t> below;
  std::uint32_t sum = 0;
  for (std::size_t bucket = 0; bucket < first_bucket_[me + 1]; ++bucket) {
    if (bucket >= first_bucket_[me]) below.push_back(sum);
    sum += static_cast<std::uint32_t>(counts_[bucket]);
  }
  std::vector<std::int32_t> ranks(tests, 0);
  found_sums_[iteration] = device_->rank(low_, below, test_keys(), ranks);
  note_tests(iteration, ranks);
}

void Is::change_keys(std::uint64_t iteration) {
  const std::uint64_t most = row_.iterations;
  for (const std::uint64_t place : {iteration, iteration + most}) {
    if (place < mine_.first || place >= mine_.end) continue;
    const Key key = changed(place, iteration, 0);  // whatever it was
    device_ ? device_->set_key(place - mine_.first, key) : static_cast<void>(keys_[place - mine_.first] = key);
  }
}

void Is::count_buckets() {
  counts_.assign(buckets_ + tests, 0);
  if (device_) {
    device_->count(counts_);
    own_counts_ = counts_;
    return;
  }
  for (const Key key : keys_) ++counts_[key >> shift_];
  own_counts_ = counts_;
  for (std::size_t i = 0; i < tests; ++i)
    if (test_places_[i] >= mine_.first && test_places_[i] < mine_.end)
      counts_[buckets_ + i] = keys_[test_places_[i] - mine_.first];
}

// A rank has whole buckets, in order, until all ranks up to it have their share of the keys.
std::vector<std::size_t> Is::borders() const {
  std::vector<std::size_t> first(ranks() + 1, buckets_);
  first[0] = 0;
  std::uint64_t sum = 0;
  int owner = 0;
  for (std::size_t bucket = 0; bucket < buckets_; ++bucket) {
    sum += counts_[bucket];
    while (owner + 1 < ranks() && sum >= share_of(keys_of(row_), owner, ranks()).end) first[++owner] = bucket + 1;
  }
  return first;
}

// Own keys in the buckets of a rank.
std::uint64_t Is::keys_for(int to) const {
  const auto counts = own_counts_.begin();
  return std::accumulate(counts + first_bucket_[to], counts + first_bucket_[to + 1], std::uint64_t{0});
}

// Links come in pairs for each other rank: the number of its keys, and the keys.
void Is::agree_on_counts() {
  const Part now = part(is_rcomm);
  const int others = ranks() - 1;
  for (int i = 0; i < others; ++i) messages().expect(2 * i);
  for (int i = 0; i < others; ++i) {
    messages().outgoing_as<std::uint64_t>(2 * i)[0] = keys_for((rank() + i + 1) % ranks());
    messages().post(2 * i);
  }
  messages().meet();
  for (int i = 0; i < others; ++i)
    messages().expect(2 * i + 1, sizeof(Key) * messages().take_as<std::uint64_t>(2 * i)[0]);
}

// Each key goes straight to its place in its owner's message, where those of a bucket are together.
void Is::sort_to_owners() {
  const std::size_t me = rank(), size = ranks();
  std::vector<std::uint64_t> sent(size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t to = (me + i + 1) % size;
    std::span<Key> place(kept_);
    if (i + 1 < size) {
      const Part now = part(is_rcomm);
      place = messages().outgoing_as<Key>(2 * i + 1);
    }
    for (std::size_t bucket = first_bucket_[to]; bucket < first_bucket_[to + 1]; ++bucket) {
      next_[bucket] = place.data() + sent[i];
      sent[i] += own_counts_[bucket];
    }
    if (sent[i] > place.size())
      throw Error(fmt::format("{} keys are for rank {}, and there is room for {}", sent[i], to, place.size()));
  }
  {
    const Part now = part(is_rcomp);
    for (const Key key : keys_) *next_[key >> shift_]++ = key;
  }
  const Part now = part(is_rcomm);
  for (std::size_t i = 0; i + 1 < size; ++i) messages().post(2 * i + 1, sizeof(Key) * sent[i]);
  messages().meet();
  received_.assign(size, {});
  received_.back() = std::span<const Key>(kept_).first(sent.back());
}

// Counts what this rank has itself, then whatever has arrived, and waits only if nothing has.
void Is::rank_keys(std::uint64_t iteration) {
  const std::size_t me = rank(), others = received_.size() - 1;
  {
    const Part now = part(is_rcomp);
    low_ = static_cast<Key>(first_bucket_[me] << shift_);
    smaller_.assign((first_bucket_[me + 1] - first_bucket_[me]) << shift_, 0);
    count_keys(received_.back());
  }
  std::vector<std::size_t> pending(others);
  std::iota(pending.begin(), pending.end(), std::size_t{0});
  while (!pending.empty()) {
    auto next =
        std::find_if(pending.begin(), pending.end(), [&](std::size_t i) { return messages().arrived(2 * i + 1); });
    if (next == pending.end()) next = pending.begin();
    {
      const Part now = part(is_rcomm);
      received_[*next] = messages().take_as<Key>(2 * *next + 1);
    }
    const Part now = part(is_rcomp);
    count_keys(received_[*next]);
    pending.erase(next);
  }
  const Part now = part(is_rcomp);
  std::int32_t sum = std::accumulate(counts_.begin(), counts_.begin() + first_bucket_[me], 0);
  std::uint64_t weighted = 0, key = low_;
  for (std::int32_t& one : smaller_) {
    weighted += weight_of(key++) * sum;
    sum += std::exchange(one, sum);
  }
  found_sums_[iteration] = weighted;
}

// A key of another rank's share is not counted, whatever a message brings: check_ranks finds it.
void Is::count_keys(std::span<const Key> keys) {
  std::int32_t* const counts = smaller_.data();
  const auto low = static_cast<std::uint32_t>(low_);
  for (const Key key : keys)
    if (const std::uint32_t at = static_cast<std::uint32_t>(key) - low; at < smaller_.size()) ++counts[at];
}

std::vector<std::size_t> Is::test_keys() const {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < tests; ++i)
    places.push_back(static_cast<std::size_t>(std::int64_t{counts_[buckets_ + i]} - low_));
  return places;
}

void Is::note_tests(std::uint64_t iteration, std::span<const std::int32_t> ranks) {
  for (std::size_t i = 0; i < tests; ++i) {
    found_keys_[iteration * tests + i] = counts_[buckets_ + i];
    found_ranks_[iteration * tests + i] = ranks[i];
  }
}

// Of the keys as the last iteration left them, made again: the number of keys below each possible key.
std::vector<std::int32_t> Is::counted() const {
  std::vector<std::int32_t> below(std::size_t{1} << row_.largest);
  const std::uint64_t last = row_.iterations;
  constexpr std::uint64_t at_a_time = 1 << 16;
  for (std::uint64_t first = mine_.first; first < mine_.end; first += at_a_time) {
    const std::vector<Key> keys = original(first, std::min(first + at_a_time, mine_.end));
    for (std::uint64_t i = 0; i < keys.size(); ++i) ++below[changed(first + i, last, keys[i])];
  }
  team().all_reduce(std::span<std::int32_t>(below), Fold::sum);
  std::int32_t sum = 0;
  for (std::int32_t& one : below) sum += std::exchange(one, sum);
  return below;
}

void Is::check(Checks& checks, std::uint64_t) {
  checks.found.reference = "all keys made again and counted; the official ranks";
  if (device_) {
    device_->fetch(smaller_, fetched_);
    received_.assign(fetched_.begin(), fetched_.end());
  }
  const std::vector<std::int32_t> below = counted();
  check_ranks(checks, below);
  check_tests(checks, below);
  check_sums(checks, below);
}

// The ranks of a share of all possible keys, from whichever rank has them, and the keys that this rank received.
void Is::check_ranks(Checks& checks, std::span<const std::int32_t> below) {
  const std::vector<std::int32_t> table = team().all_gather(std::span<const std::int32_t>(smaller_));
  const Share mine = share_of(below.size(), rank(), ranks());
  std::uint64_t wrong = 0;
  for (std::uint64_t key = mine.first; key < mine.end; ++key)
    wrong += key < table.size() && table[key] == below[key] ? 0 : 1;
  checks.count("ranks of keys", mine.count(), wrong);

  std::vector<std::int32_t> held(below.size() + 1);
  bool outside = false;
  for (const std::span<const Key> keys : received_)
    for (const Key key : keys) {
      outside = outside || key < low_ || key - low_ >= static_cast<std::int64_t>(smaller_.size());
      ++held[outside ? below.size() : static_cast<std::size_t>(key)];
    }
  for (std::size_t i = 0; i < smaller_.size() && !outside; ++i) {
    const std::size_t key = static_cast<std::size_t>(low_) + i;
    const std::int64_t above = key + 1 < below.size() ? below[key + 1] : static_cast<std::int64_t>(keys_of(row_));
    outside = held[key] != above - below[key];
  }
  checks.count("the keys of this rank", 1, outside ? 1 : 0);
}

// In each iteration: the ranks at its end follow from the last ones, as few keys change.
void Is::check_tests(Checks& checks, std::span<const std::int32_t> below) {
  const std::uint64_t last = row_.iterations;
  const std::vector<Key> first_keys = original(0, 2 * last + 1);
  team().all_reduce(std::span<std::int64_t>(found_ranks_), Fold::sum);
  for (std::uint64_t iteration = 1; iteration <= last; ++iteration)
    for (std::size_t i = 0; i < tests; ++i) {
      const std::uint64_t place = test_places_[i];
      const Key key = changed(place, iteration, original(place, place + 1)[0]);
      std::int64_t should_be = below[key];
      for (std::uint64_t later = 1; later < first_keys.size(); ++later)
        should_be += (changed(later, iteration, first_keys[later]) < key ? 1 : 0) -
                     (changed(later, last, first_keys[later]) < key ? 1 : 0);
      const std::int64_t is = found_ranks_[iteration * tests + i];
      const bool right = found_keys_[iteration * tests + i] == key && is == should_be;
      checks.count("ranks of test keys", 1, right ? 0 : 1,
                   fmt::format("key {} of iteration {} has rank {}, should be {}", key, iteration, is, should_be));
      if (row_.official.empty()) continue;
      const std::int64_t official = official_rank(row_.name, i, static_cast<std::int64_t>(row_.official[tests + i]),
                                                  static_cast<std::int64_t>(iteration));
      checks.count("official ranks", 1, is == official ? 0 : 1,
                   fmt::format("test {} of iteration {} is {}, should be {}", i, iteration, is, official));
    }
}

// All ranks of each iteration, by their weighted sum: those of the last one, and what the keys that change since then
// add to all keys above them.
void Is::check_sums(Checks& checks, std::span<const std::int32_t> below) {
  const std::uint64_t last = row_.iterations;
  std::vector<std::uint64_t> above(below.size() + 1);  // the weights of all greater keys
  std::uint64_t sum = 0;
  for (std::size_t key = below.size(); key-- > 0;) {
    above[key] = above[key + 1] + (key + 1 < below.size() ? weight_of(key + 1) : 0);
    sum += weight_of(key) * below[key];
  }
  const std::vector<Key> first_keys = original(0, 2 * last + 1);
  team().all_reduce(std::span<std::uint64_t>(found_sums_), Fold::sum);
  for (std::uint64_t iteration = 1; iteration <= last; ++iteration) {
    std::uint64_t should_be = sum;
    for (std::uint64_t place = 1; place < first_keys.size(); ++place)
      should_be += above[changed(place, iteration, first_keys[place])] - above[changed(place, last, first_keys[place])];
    checks.count("sums of all ranks", 1, found_sums_[iteration] == should_be ? 0 : 1,
                 fmt::format("the sum of iteration {} differs", iteration));
  }
}

void Is::tear_down() {
  device_.reset();
  fetched_.clear();
  for (auto* list : {&keys_, &kept_, &saved_, &smaller_}) *list = {};
  received_.clear();
}

namespace {

const RegisteredBenchmark registered_is("npb_is", [] { return std::make_unique<Is>(); });

}  // namespace

}  // namespace plumb::npb
