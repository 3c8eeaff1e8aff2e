#include "measure/start.hpp"

#include <sched.h>

#include <algorithm>

#include "world/collect.hpp"

namespace plumb {

namespace {

constexpr double clock_validity = 1.0;  // seconds until the clocks are compared again
constexpr double shortest_margin = 5e-6;
constexpr double longest_margin = 20e-3;

}  // namespace

SynchronisedStart::SynchronisedStart(World& world, bool by_clock, bool shared_cores)
    : world_(world), by_clock_(by_clock), shared_cores_(shared_cores), clock_(world) {
  clock_.synchronise();
}

std::string SynchronisedStart::start(const std::string& problem) {
  late_ = false;
  ++starts_;
  // All are ready once rank 0 has heard from all; its broadcast arrives within about the same time.
  bool ready = true;
  for (const char failed : gather_values<char>(world_, problem.empty() ? 0 : 1)) ready = ready && failed == 0;
  struct Order {
    double at;
    bool ready, resynchronise;
  };
  Order order{clock_.now() + margin_, ready, by_clock_ && clock_.age() > clock_validity};
  order = broadcast_value(world_, order);
  if (!order.ready) return first_text(world_, problem).text;
  if (order.resynchronise) {
    clock_.synchronise();
    order.at = broadcast_value(world_, clock_.now() + margin_);
  }
  if (!by_clock_) {
    world_.barrier();
    return "";
  }
  const double local = clock_.to_local(order.at);
  late_ = now_seconds() > local;
  if (!late_) wait_until(local);
  return "";
}

void SynchronisedStart::wait_until(double local) {
  while (now_seconds() < local)
    if (shared_cores_) sched_yield();
}

void SynchronisedStart::adapt(bool any_late) {
  if (world_.rank() != 0) return;
  margin_ = std::clamp(any_late ? margin_ * 2 : margin_ * 0.995, shortest_margin, longest_margin);
}

}  // namespace plumb
