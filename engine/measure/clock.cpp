#include "measure/clock.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "world/collect.hpp"

namespace plumb {

namespace {

constexpr int ping_pongs = 40;              // the fastest of which gives the offset
constexpr double shortest_baseline = 0.05;  // minimum seconds between two estimates for a drift

// Requests the common time from the parent until the last round.
double offset_from(World& world, int parent) {
  double best_trip = std::numeric_limits<double>::infinity();
  double offset = 0;
  for (int i = 0; i < ping_pongs; ++i) {
    const double sent = now_seconds();
    const std::byte ping{1};
    world.send(std::span(&ping, 1), parent);
    double common = 0;
    world.receive(std::as_writable_bytes(std::span(&common, 1)), parent);
    const double received = now_seconds();
    if (received - sent >= best_trip) continue;
    best_trip = received - sent;
    offset = common - (sent + received) / 2;
  }
  return offset;
}

void answer(World& world, int child, double offset) {
  for (int i = 0; i < ping_pongs; ++i) {
    std::byte ping{};
    world.receive(std::span(&ping, 1), child);
    const double common = now_seconds() + offset;
    world.send(std::as_bytes(std::span(&common, 1)), child);
  }
}

}  // namespace

ClockProperties measure_clock() {
  ClockProperties properties;
  properties.resolution_s = 1;
  constexpr int readings = 2000;
  const double begin = now_seconds();
  double last = begin;
  for (int i = 0; i < readings; ++i) {
    const double next = now_seconds();
    if (next > last) properties.resolution_s = std::min(properties.resolution_s, next - last);
    last = next;
  }
  properties.overhead_s = (last - begin) / readings;
  // The clock counts nanoseconds; smaller steps are rounding errors of the floating-point difference.
  properties.resolution_s = std::max(properties.resolution_s, 1e-9);
  return properties;
}

CommonClock::Estimate CommonClock::estimate() {
  Estimate mine{now_seconds(), 0};
  const int rank = world_.rank();
  for (int reach = 1; reach < world_.size(); reach *= 2) {
    if (rank >= reach && rank < 2 * reach) {
      mine.offset = offset_from(world_, rank - reach);
      mine.local = now_seconds();
    } else if (rank < reach && rank + reach < world_.size()) {
      answer(world_, rank + reach, mine.offset);
    }
  }
  return mine;
}

void CommonClock::synchronise() {
  const Estimate fresh = estimate();
  const double baseline = fresh.local - reference_;
  if (synchronised_ && baseline > shortest_baseline) drift_ = (fresh.offset - offset_) / baseline;
  offset_ = fresh.offset;
  reference_ = fresh.local;
  synchronised_ = true;
}

std::vector<double> CommonClock::residuals() {
  const Estimate fresh = estimate();
  const double model = to_common(fresh.local) - fresh.local;
  return gather_values(world_, model - fresh.offset);
}

}  // namespace plumb
