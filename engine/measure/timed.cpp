#include "measure/timed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.hpp"

namespace plumb {

namespace {

constexpr std::size_t usual_lives = 64;  // intervals of a phase before its memory grows within the sample

}  // namespace

Timed::Timed(TimedPlan plan) : plan_(std::move(plan)), lives_(plan_.phases.size()) {
  for (Life& life : lives_) life.spans.reserve(usual_lives);
  if (plan_.laps) {
    laps_.reserve(plan_.count);
    pauses_.reserve(plan_.count);
  }
  TimedPlan alone = plan_;
  alone.threads = 1;
  for (unsigned thread = 1; thread < plan_.threads; ++thread) others_.push_back(std::make_unique<Timed>(alone));
}

std::size_t Timed::number_of(const std::string& phase) const {
  const auto found = std::find(plan_.phases.begin(), plan_.phases.end(), phase);
  if (found == plan_.phases.end())
    throw Error(fmt::format("undeclared phase {} (declared: {})", phase, fmt::join(plan_.phases, ", ")));
  return static_cast<std::size_t>(found - plan_.phases.begin());
}

void Timed::begin(std::size_t phase) {
  Life& life = lives_.at(phase);
  if (life.begun != 0) throw Error(fmt::format("phase {} begins twice without an end", plan_.phases[phase]));
  life.begun = now_seconds();
}

void Timed::end(std::size_t phase) {
  const double now = now_seconds();
  Life& life = lives_.at(phase);
  if (life.begun == 0) throw Error(fmt::format("phase {} ends without a begin", plan_.phases[phase]));
  life.spans.push_back({life.begun, now});
  life.begun = 0;
}

void Timed::pause(double begin, double end) {
  paused_ += end - begin;
  if (plan_.laps) pauses_.push_back({begin, end});
}

std::vector<Span> Timed::spans(std::size_t phase) const {
  std::vector<Span> all = lives_.at(phase).spans;
  for (const auto& other : others_) {
    const std::vector<Span> more = other->spans(phase);
    all.insert(all.end(), more.begin(), more.end());
  }
  std::stable_sort(all.begin(), all.end(), [](const Span& a, const Span& b) { return a.end < b.end; });
  return all;
}

std::vector<double> Timed::laps(double sample_begin) const {
  std::vector<double> all;
  auto pause = pauses_.begin();
  double begin = sample_begin;
  for (const double end : laps_) {
    double paused = 0;
    for (; pause != pauses_.end() && pause->end <= end; ++pause) paused += pause->end - std::max(pause->begin, begin);
    all.push_back(end - begin - paused);
    begin = end;
  }
  for (const auto& other : others_) {
    const std::vector<double> more = other->laps(sample_begin);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace plumb
