#include "energy/track.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace plumb::energy {

namespace {

constexpr double shortest_peak_s = 0.1;  // the seed's interval between samples of boards
constexpr double standing_s = 0.05;      // a counter that stands for at least this long, in a region, is broken

}  // namespace

Track::Track(SensorInfo info) : info_(std::move(info)), scale_(scale_of(info_)) {}

double Track::step(double before, double after) {
  if (after >= before) return after - before;
  if (info_.range > 0 && before > info_.range / 2 && after < info_.range / 2) return after + info_.range - before;
  if (problem_.empty())
    problem_ = fmt::format("{} ran back from {:.0f} to {:.0f} {}", info_.name, before, after, info_.unit);
  return 0;
}

void Track::add(double begin, double end, double raw) {
  if (info_.kind == Kind::counter)
    add_counter(begin, end, raw);
  else
    add_power(begin, end, raw);
  last_raw_ = raw;
  last_begin_ = begin;
  last_end_ = end;
  any_ = true;
}

// The update that a reading sees happened after the previous reading began, and within one interval before this one
// did or while it lasted: a thread that loses its core after it has read returns late.
double Track::earliest(double begin) const {
  if (!any_) return begin - info_.interval_s;
  return keeps_interval_ ? std::max(last_begin_, begin - info_.interval_s) : last_begin_;
}

// A counter that stands for longer than its stated interval: updates may be older than that when they are seen.
void Track::forget_interval() {
  keeps_interval_ = false;
  for (Update& one : updates_) {
    one.at = (one.since + one.seen) / 2;
    one.late = (one.seen - one.since) / 2;
  }
}

void Track::add_counter(double begin, double end, double raw) {
  const double counted = any_ ? step(last_raw_, raw) * joules_per_unit() : 0;
  if (any_ && counted == 0) {
    if (keeps_interval_ && begin - last_end_ > info_.interval_s) forget_interval();
    return;
  }
  const double so_far = updates_.empty() ? 0 : updates_.back().joules, from = earliest(begin);
  updates_.push_back({(from + end) / 2, (end - from) / 2, so_far + counted, 0, any_ ? last_begin_ : from, end});
}

// A power that stands for longer than an interval was updated to the same value.
void Track::add_power(double begin, double end, double raw) {
  const double watts = raw * joules_per_unit();
  const double interval = std::max(info_.interval_s, 1e-4);
  const bool is_new = !any_ || raw != last_raw_;
  if (!is_new && end - updates_.back().at < interval) return;
  const double from = earliest(begin), at = is_new ? (from + end) / 2 : updates_.back().at + interval;
  const double so_far = updates_.empty() ? 0 : updates_.back().joules + watts * (at - updates_.back().at);
  updates_.push_back({at, is_new ? (end - from) / 2 : interval / 2, so_far, watts});
}

double Track::interval() const {
  if (updates_.size() < 3) return info_.interval_s;
  std::vector<double> gaps;
  for (std::size_t i = 1; i < updates_.size(); ++i) gaps.push_back(updates_[i].at - updates_[i - 1].at);
  std::nth_element(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2), gaps.end());
  return gaps[gaps.size() / 2];
}

std::size_t Track::after(double time) const {
  return static_cast<std::size_t>(std::upper_bound(updates_.begin(), updates_.end(), time,
                                                   [](double at, const Update& one) { return at < one.at; }) -
                                  updates_.begin());
}

std::size_t Track::updates_in(const Region& region) const {
  return after(region.end) - std::min(after(region.end), after(region.begin));
}

double Track::rate(std::size_t interval) const {
  const Update &before = updates_.at(interval - 1), &behind = updates_.at(interval);
  return (behind.joules - before.joules) / std::max(behind.at - before.at, 1e-9);
}

// Joules counted up to `time`, between two updates. Outside of the region the machine is quiet, so the power there,
// the preceding interval's (`from_left`) or the following one's, continues up to the region. The error is the distance
// to the estimate by the interval within the region, and the power outside times the uncertainty of its update.
Track::Edge Track::counted_before(double time, bool from_left) const {
  const std::size_t next = after(time);
  if (next >= updates_.size()) {  // read until the region's end, without an update behind it
    const double power = rate(updates_.size() - 1), open = time - updates_.back().at;
    return {updates_.back().joules + power * std::min(open, interval()), power * open};
  }
  const Update &left = updates_.at(next - 1), &right = updates_.at(next);
  const double straight = left.joules + rate(next) * (time - left.at);
  const auto within = [&](double joules) { return std::clamp(joules, left.joules, right.joules); };
  const double outer = next >= 2 ? within(left.joules + rate(next - 1) * (time - left.at)) : straight;
  const double inner =
      next + 1 < updates_.size() ? within(right.joules - rate(next + 1) * (right.at - time)) : straight;
  const double edge = from_left ? outer : inner;
  const double late = (from_left ? left : right).late;
  // A step of the power anywhere between the two updates, by the powers of the intervals around.
  double least = rate(next), most = least;
  for (std::size_t i = std::max<std::size_t>(next, 3) - 2; i <= next + 2 && i < updates_.size(); ++i) {
    least = std::min(least, rate(i));
    most = std::max(most, rate(i));
  }
  const double step = (most - least) * std::min(time - left.at, right.at - time) / 2;
  return {edge, std::max(std::abs(outer - inner), step) + most * late};
}

double Track::counted_at(double time) const {
  const std::size_t next = std::clamp<std::size_t>(after(time), 1, updates_.size() - 1);
  return updates_[next - 1].joules + rate(next) * (time - updates_[next - 1].at);
}

// The largest mean over windows of at least `window` seconds that begin with an update in the region.
double Track::peak(const Region& region, double window) const {
  const double longest = std::min(window, region.seconds());
  double most = (counted_at(region.end) - counted_at(region.begin)) / region.seconds();
  for (std::size_t i = after(region.begin); i < updates_.size() && updates_[i].at + longest <= region.end; ++i)
    most = std::max(most, (counted_at(updates_[i].at + longest) - updates_[i].joules) / longest);
  return most;
}

Joules Track::of_counter(const Region& region) const {
  Joules result;
  const Edge begin = counted_before(region.begin, true), end = counted_before(region.end, false);
  result.joules = end.joules - begin.joules;
  result.errors.edges = begin.error + end.error;
  result.errors.quantum = info_.kind == Kind::counter ? info_.quantum * joules_per_unit()
                                                      : info_.quantum * joules_per_unit() * region.seconds() / 2;
  return result;
}

// Instantaneous power: straight lines between updates in the region, the nearest update's power at its edges.
Joules Track::of_power(const Region& region) const {
  Joules result;
  const std::size_t first = after(region.begin), last = after(region.end) - 1;
  const auto part = [&](double seconds, double inside, double outside) {
    result.joules += inside * seconds;
    result.errors.edges += std::abs(inside - outside) * seconds;
  };
  part(updates_[first].at - region.begin, updates_[first].watts, updates_[first - 1].watts);
  double squares = 0;
  for (std::size_t i = first + 1; i <= last; ++i) {
    const double seconds = updates_[i].at - updates_[i - 1].at;
    result.joules += (updates_[i].watts + updates_[i - 1].watts) / 2 * seconds;
    const double half = std::abs(updates_[i].watts - updates_[i - 1].watts) / 2 * seconds;  // a step anywhere between
    squares += half * half;
  }
  const double outside = last + 1 < updates_.size() ? updates_[last + 1].watts : updates_[last].watts;
  part(region.end - updates_[last].at, updates_[last].watts, outside);
  result.errors.edges += 2 * std::sqrt(squares) + updates_[first].watts * updates_[first].late;
  result.errors.quantum = info_.quantum * joules_per_unit() * region.seconds() / 2;
  return result;
}

double Track::uncertain_seconds(const Region& region) const {
  if (updates_in(region) == 0) return region.seconds();
  return updates_[after(region.begin)].late + updates_[after(region.end) - 1].late;
}

Joules Track::joules(const Region& region, std::size_t fewest) const {
  if (!problem_.empty()) throw Error(problem_);
  if (region.seconds() <= 0) throw Error("the region has no length");
  const std::size_t inside = updates_in(region);
  const bool covered = !updates_.empty() && any_ && last_end_ >= region.end;
  if (info_.kind == Kind::counter && inside == 0 && region.seconds() > std::max(standing_s, 5 * info_.interval_s))
    throw Error(fmt::format("{} stood still for the {:.3g} s of the region", info_.name, region.seconds()));
  if (inside < std::max<std::size_t>(fewest, 2))
    throw Error(fmt::format("the region of {:.3g} s has {} updates of {}, at least {} are needed", region.seconds(),
                            inside, info_.name, std::max<std::size_t>(fewest, 2)));
  if (!covered || after(region.begin) == 0)
    throw Error(fmt::format("{} was not read on both sides of the region", info_.name));
  const bool sums = info_.kind == Kind::counter || info_.averaged_s > 0;
  Joules result = sums ? of_counter(region) : of_power(region);
  result.errors.sensor = info_.accuracy * result.joules;
  result.mean_w = result.joules / region.seconds();
  result.updates = inside;
  result.interval_s = interval();
  result.peak_s = std::min(std::max(shortest_peak_s, 2 * result.interval_s), region.seconds());
  result.peak_w = peak(region, result.peak_s);
  return result;
}

}  // namespace plumb::energy
