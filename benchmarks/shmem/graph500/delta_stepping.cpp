#include "benchmarks/shmem/graph500/delta_stepping.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plumb::graph500 {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr double most_buckets = 1 << 20;

// A relaxation never leads further than the heaviest edge; one bucket more for what rounding adds.
std::size_t buckets_in_use(Team& team, const Graph& graph, float delta) {
  const auto heaviest = std::max_element(graph.weights.begin(), graph.weights.end());
  const float weight = team.all_reduce(heaviest == graph.weights.end() ? 0.0f : *heaviest, Fold::maximum);
  const double buckets = std::ceil(static_cast<double>(weight) / static_cast<double>(delta)) + 3;
  if (!(buckets <= most_buckets)) throw Unsupported("--delta is too small for weights up to " + std::to_string(weight));
  return static_cast<std::size_t>(buckets);
}

}  // namespace

DeltaStepping::DeltaStepping(World& world, Team& team, const Graph& graph, float delta,
                             const CourierFactory& make_courier)
    : team_(team),
      graph_(graph),
      layout_(graph.layout),
      per_bucket_(1 / delta),
      best_(layout_.vertices()),
      parents_(layout_.count(), unreached),
      buckets_(buckets_in_use(team, graph, delta)),
      waits_in_(layout_.count()),
      settled_in_(layout_.count()) {
  courier_ = make_courier(world, [this](std::span<const std::uint64_t> words) {
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
      const std::uint64_t local = words[i] >> 32;
      const auto distance = std::bit_cast<float>(static_cast<std::uint32_t>(words[i + 1]));
      if (distance < best_[layout_.first() + local]) shorten(local, words[i] & 0xffffffffu, distance);
    }
  });
}

void DeltaStepping::run(Vertex root) {
  std::fill(best_.begin(), best_.end(), infinity);
  std::fill(waits_in_.begin(), waits_in_.end(), in_none);
  std::fill(settled_in_.begin(), settled_in_.end(), 0);
  for (auto& bucket : buckets_) bucket.clear();
  buckets_emptied_ = rounds_ = relaxed_ = sent_ = 0;
  if (layout_.is_mine(root)) shorten(root - layout_.first(), root, 0);
  for (std::uint64_t bucket = next_bucket(0); bucket != no_bucket;) {
    ++buckets_emptied_;
    settled_.clear();
    std::uint64_t next = bucket;
    for (; next == bucket; next = next_bucket(bucket)) relax_light(bucket);
    relax_heavy();
    // Rounding may leave a heavy edge in its bucket: the search begins there again.
    bucket = next_bucket(bucket);
  }
}

void DeltaStepping::relax_light(std::uint64_t bucket) {
  ++rounds_;
  std::swap(now_, members(bucket));
  members(bucket).clear();
  const auto place = static_cast<std::uint32_t>(bucket % buckets_.size());
  for (const std::uint32_t local : now_) {
    if (waits_in_[local] != place) continue;
    waits_in_[local] = in_none;
    if (settled_in_[local] != buckets_emptied_) {
      settled_in_[local] = buckets_emptied_;
      settled_.push_back(local);
    }
    relax(local, graph_.begins[local], graph_.heavy[local]);
  }
  courier_->finish();
}

void DeltaStepping::relax_heavy() {
  ++rounds_;
  for (const std::uint32_t local : settled_) relax(local, graph_.heavy[local], graph_.begins[local + 1]);
  courier_->finish();
}

void DeltaStepping::relax(std::uint64_t local, std::uint64_t begin, std::uint64_t end) {
  const Vertex vertex = layout_.first() + local;
  const float distance = best_[vertex];
  relaxed_ += end - begin;
  for (std::uint64_t i = begin; i < end; ++i) {
    const std::uint32_t found = graph_.neighbours[i];
    const float candidate = distance + graph_.weights[i];
    if (!(candidate < best_[found])) continue;
    if (layout_.is_mine(found)) {
      shorten(found - layout_.first(), vertex, candidate);
    } else {
      best_[found] = candidate;
      ++sent_;
      const int owner = layout_.owner(found);
      courier_->send(owner, (found - layout_.first_of(owner)) << 32 | vertex);
      courier_->send(owner, std::bit_cast<std::uint32_t>(candidate));
    }
  }
}

void DeltaStepping::shorten(std::uint64_t local, Vertex parent, float distance) {
  best_[layout_.first() + local] = distance;
  parents_[local] = static_cast<Parent>(parent);
  const std::uint64_t bucket = bucket_of(distance);
  const auto place = static_cast<std::uint32_t>(bucket % buckets_.size());
  if (waits_in_[local] == place) return;
  waits_in_[local] = place;
  members(bucket).push_back(static_cast<std::uint32_t>(local));
}

std::uint64_t DeltaStepping::next_bucket(std::uint64_t bucket) {
  std::uint64_t mine = no_bucket;
  for (std::uint64_t i = bucket; i < bucket + buckets_.size() && mine == no_bucket; ++i) {
    auto& some = members(i);
    const auto place = static_cast<std::uint32_t>(i % buckets_.size());
    while (!some.empty() && waits_in_[some.back()] != place) some.pop_back();
    if (!some.empty()) mine = i;
  }
  return team_.all_reduce(mine, Fold::minimum);
}

}  // namespace plumb::graph500
