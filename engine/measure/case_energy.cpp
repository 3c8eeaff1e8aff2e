// The energy repetition of a case: after its timing, long enough for the sensors, validated like any other.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "measure/case_run.hpp"
#include "world/collect.hpp"

namespace plumb {

namespace {

constexpr std::uint64_t longest_region = std::uint64_t{1} << 26;  // operations
constexpr double long_enough = 0.9;                               // of the wanted seconds

std::uint64_t most_of(const Case& measured) {
  return measured.most_operations > 0 ? std::min(measured.most_operations, longest_region) : longest_region;
}

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

// Sets the count of the energy repetition, or returns why there is none. Rank 0.
std::string CaseRun::no_energy_repetition(const Case& measured, const CaseRecord& record, std::uint64_t& count) const {
  const std::vector<double> slowest = slowest_of_each(record.by_rank);
  const double operation = summarise(slowest).min / static_cast<double>(record.count);
  if (!(operation > 0)) return "a sample took no time";
  const double wanted = energy_->wanted_seconds();
  const auto needed = static_cast<std::uint64_t>(
      std::clamp(std::ceil(wanted / operation), 1.0, static_cast<double>(most_of(measured))));
  count =
      measured.fixed_count > 0 ? record.count : std::max(record.count, benchmark_.admissible_count(measured, needed));
  const double added = operation * static_cast<double>(count) + 2 * energy_->settling_seconds();
  if (energy_->wish().automatic() && added > std::max(EnergyMeter::longest_added_s, 1.5 * wanted))
    return fmt::format(
        "an energy repetition would take {:.3g} s, more than the {:.3g} s that auto adds to a case: name the sensors",
        added, EnergyMeter::longest_added_s);
  return "";
}

// The count with which a repetition that took `seconds` would last as long as wanted; the same if it does, or may not
// take more. Rank 0.
std::uint64_t CaseRun::longer_count(const Case& measured, std::uint64_t count, double seconds, double spent) const {
  const double wanted = energy_->wanted_seconds();
  if (measured.fixed_count > 0 || seconds >= long_enough * wanted || !(seconds > 0)) return count;
  const double added = spent + wanted + 2 * energy_->settling_seconds();
  if (energy_->wish().automatic() && added > std::max(EnergyMeter::longest_added_s, 1.5 * wanted)) return count;
  const double needed = std::ceil(static_cast<double>(count) * wanted / seconds);
  return benchmark_.admissible_count(
      measured, static_cast<std::uint64_t>(std::min(needed, static_cast<double>(most_of(measured)))));
}

// Raises the count until the repetition lasts: the samples that it follows from may have been slower.
bool CaseRun::repeat_for_energy(const Case& measured, CaseRecord& record, std::uint64_t& count) {
  World& world = session_.world;
  for (double spent = 0;;) {
    Timed timed(plan_of(measured, count));
    metered_ = true;
    const bool whole = repeat(measured, record, timed, settings_.validate);
    metered_ = false;
    if (!whole) return false;
    const double seconds = region_of_sample().seconds();
    spent += seconds + 2 * energy_->settling_seconds();
    const std::uint64_t longer =
        broadcast_value(world, world.rank() == 0 ? longer_count(measured, count, seconds, spent) : count);
    if (longer <= count) return true;
    count = longer;
  }
}

void CaseRun::measure_energy(const Case& measured, CaseRecord& record) {
  World& world = session_.world;
  std::uint64_t count = record.count;
  if (!is_once(measured)) {
    const std::string none =
        broadcast_text(world, world.rank() == 0 ? no_energy_repetition(measured, record, count) : "");
    if (!none.empty()) {
      record.energy = {{"reason", none}};
      return;
    }
    count = broadcast_value(world, count);
    if (!repeat_for_energy(measured, record, count)) {
      record.energy = {{"reason", record.outcome.reason}};
      return;
    }
  }
  record.energy = energy_of_region(measured, record, count);
}

// Of the last repetition, from the first rank's start to the last rank's end. Collective.
energy::Region CaseRun::region_of_sample() {
  const std::vector<Sample> samples = gather_values(session_.world, sample_);
  energy::Region region;
  if (session_.world.rank() == 0) {
    region = {samples[0].begin, samples[0].end};
    for (const Sample& sample : samples) {
      region.begin = std::min(region.begin, sample.begin);
      region.end = std::max(region.end, sample.end);
    }
  }
  return broadcast_value(session_.world, region);
}

// Collective; null on other ranks than 0.
Json CaseRun::energy_of_region(const Case& measured, const CaseRecord& record, std::uint64_t count) {
  World& world = session_.world;
  const energy::Region region = region_of_sample();
  const CommonClock& clock = start_.clock();
  const energy::Region local{clock.to_local(region.begin), clock.to_local(region.end)};
  EnergyOfCase energy;
  energy.reports = energy_->joules(local);
  energy.work = gather_values(world, idles() ? Work{} : measured.work);
  if (world.rank() != 0) return nullptr;
  energy.region = {{"begin", unix_seconds() - (now_seconds() - local.begin)},
                   {"seconds", region.seconds()},
                   {"count", count},
                   {"repetition", is_once(measured) ? "own" : "energy"}};
  energy.hosts = energy_->hosts();
  energy.count = static_cast<double>(count);
  const Summary summary = summarise(slowest_of_each(record.by_rank));
  if (summary.samples > 0) energy.best_seconds = summary.min / static_cast<double>(record.count);
  return to_json(energy);
}

}  // namespace plumb
