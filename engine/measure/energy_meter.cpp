#include "measure/energy_meter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <sstream>
#include <thread>

#include "world/collect.hpp"
#include "world/hosts.hpp"
#include "world/watchdog.hpp"

namespace plumb {

namespace {

using energy::Domain;
using energy::Kind;

constexpr double slowest_of_auto_s = 0.1;
constexpr double shortest_idle_s = 1, longest_idle_s = 30;
constexpr double shortest_settling_s = 0.1;
constexpr double settling_updates = 4, idle_updates = 10;
constexpr int most_of_idle = 3;          // measurements
constexpr double uncertain_share = 0.1;  // of the time at idle, for its first and last update

std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream words(text);
  for (std::string name; std::getline(words, name, ',');)
    if (!name.empty()) names.push_back(name);
  return names;
}

std::string reader_of(const std::string& name) {
  return name.substr(0, name.find(':'));
}

bool is_named(const energy::SensorInfo& info, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return name == info.name || name == info.reader; });
}

Json null_or(double value, bool known) {
  return known ? Json(value) : Json(nullptr);
}

// Of several readings of a sensor's state: the lowest limit and clocks, all reasons.
Json combined(const std::vector<Json>& states) {
  Json all = Json::object();
  for (const Json& state : states) {
    for (const auto& [key, value] : state.items()) {
      if (!all.contains(key)) {
        all[key] = value;
      } else if (value.is_number()) {
        all[key] = std::min(all[key].get<double>(), value.get<double>());
      } else {
        for (const Json& word : value)
          if (std::find(all[key].begin(), all[key].end(), word) == all[key].end()) all[key].push_back(word);
      }
    }
  }
  return all;
}

}  // namespace

void check_energy_names(const std::string& sensors) {
  if (sensors == "off" || sensors == "auto") return;
  const auto& readers = Registry<energy::Reader>::instance();
  const std::vector<std::string> names = names_in(sensors);
  if (names.empty()) throw UsageError("--energy must be auto, off, or names of sensors or readers");
  for (const std::string& name : names)
    if (readers.find(reader_of(name)) == nullptr)
      throw UsageError("--energy: " + unknown_name("reader", reader_of(name), readers.names()));
}

EnergyMeter::EnergyMeter(World& world, EnergyWish wish) : world_(world), wish_(std::move(wish)) {
  const AgreedText missing = first_text(world_, reads() ? find() : "");
  if (missing.rank >= 0) throw UsageError("--energy " + wish_.sensors + ": " + missing.text);
}

EnergyMeter::~EnergyMeter() = default;

// Sensors of this host; returns why a named one is missing, or "".
std::string EnergyMeter::find() {
  const auto& readers = Registry<energy::Reader>::instance();
  const std::vector<std::string> names = wish_.automatic() ? std::vector<std::string>{} : names_in(wish_.sensors);
  std::map<std::string, std::string> whys;
  for (const std::string& reader : readers.names()) {
    const bool named =
        std::any_of(names.begin(), names.end(), [&](const std::string& name) { return reader_of(name) == reader; });
    if (!wish_.automatic() && !named) continue;
    energy::Found found = (*readers.find(reader))({wish_.root, named});
    if (!found.reason.empty()) {
      whys[reader] = found.reason;
      reasons_.push_back(reader + ": " + found.reason);
    }
    for (auto& sensor : found.sensors) chosen_.push_back({std::move(sensor)});
  }
  for (const std::string& name : names) {
    const bool has = std::any_of(chosen_.begin(), chosen_.end(),
                                 [&](const Chosen& one) { return is_named(one.sensor->info(), {name}); });
    if (has) continue;
    if (const auto why = whys.find(reader_of(name)); why != whys.end()) return why->second;
    std::vector<std::string> known;
    for (const Chosen& one : chosen_) known.push_back(one.sensor->info().name);
    return fmt::format("there is no sensor {} here (there are {})", name, fmt::join(known, ", "));
  }
  return "";
}

// gpus: of the ranks of this host.
void EnergyMeter::choose(const std::vector<std::string>& gpus) {
  const std::vector<std::string> names = names_in(wish_.sensors);
  for (Chosen& one : chosen_) {
    const energy::SensorInfo& info = one.sensor->info();
    one.interval_s = info.interval_s;
    const bool is_gpu = info.domain == Domain::device && info.of.size() == 12 && info.of[4] == ':';
    const bool in_use = !is_gpu || std::find(gpus.begin(), gpus.end(), info.of) != gpus.end();
    if (!wish_.automatic()) {
      const bool all_gpus = gpus.empty();
      one.of_cases = is_named(info, names) && (in_use || all_gpus || names_in(wish_.sensors).front() == info.name);
      if (!one.of_cases) one.reason = in_use ? "not named" : "no rank uses this GPU";
    } else if (!in_use) {
      one.reason = "no rank uses this GPU";
    } else if (info.domain == Domain::part) {
      one.reason = info.within.empty() ? "its extent is unknown" : "a part of " + info.within;
    } else if (info.interval_s > slowest_of_auto_s) {
      one.of_run = true;
      one.reason = fmt::format("updated every {:.3g} s, too slow for single cases", info.interval_s);
    } else {
      one.of_cases = true;
    }
  }
}

void EnergyMeter::sleep(double seconds) const {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

double EnergyMeter::slowest_of_all(double mine) {
  double slowest = 0;
  for (const std::string& text : all_texts(world_, fmt::format("{}", mine)))
    slowest = std::max(slowest, std::stod(text));
  return slowest;
}

void EnergyMeter::select(const std::string& gpu) {
  const std::vector<std::string> hosts = hosts_of_ranks(world_), all = all_texts(world_, gpu);
  std::vector<std::string> gpus, firsts;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const auto first = std::find(firsts.begin(), firsts.end(), hosts[rank]);
    hosts_.push_back(static_cast<int>(first - firsts.begin()));
    if (first == firsts.end()) firsts.push_back(hosts[rank]);
    if (hosts[rank] == hosts[static_cast<std::size_t>(world_.rank())] && !all[rank].empty()) gpus.push_back(all[rank]);
  }
  double slowest = 0;
  if (reads()) {
    choose(gpus);
    std::vector<energy::Sensor*> of_cases, of_run;
    for (const Chosen& one : chosen_) {
      if (one.of_cases) of_cases.push_back(one.sensor.get());
      if (one.of_run) of_run.push_back(one.sensor.get());
      if (one.of_cases) slowest = std::max(slowest, one.interval_s);
    }
    sampler_ = std::make_unique<energy::Sampler>(of_cases);
    if (!of_run.empty()) {
      run_sampler_ = std::make_unique<energy::Sampler>(of_run);
      run_sampler_->start();
    }
    if (of_cases.empty() && of_run.empty())
      reason_ = reasons_.empty() ? "no sensor was selected" : fmt::format("{}", fmt::join(reasons_, "; "));
  }
  slowest_s_ = slowest_of_all(slowest);
  for (const std::string& why : all_texts(world_, reason_))
    if (reason_.empty() && !measures_cases()) reason_ = why;
}

// Again where other work kept the reading thread from its core.
void EnergyMeter::measure_idle() {
  if (!measures_cases()) return;
  const Waiting waiting("the idle power", 2 * most_of_idle * longest_idle_s);
  const double seconds = std::clamp(idle_updates * slowest_s_, shortest_idle_s, longest_idle_s);
  for (int turn = 0; turn < most_of_idle && slowest_of_all(idle_for(seconds)) > 0; ++turn) {
  }
  double slowest = 0;
  for (const Chosen& one : chosen_)
    if (one.of_cases) slowest = std::max(slowest, one.interval_s);
  slowest_s_ = slowest_of_all(slowest);
}

// 1 if a sensor's idle power is not known well, otherwise 0.
double EnergyMeter::idle_for(double seconds) {
  world_.barrier();
  begin();
  energy::Region region{now_seconds(), 0};
  sleep(seconds);
  region.end = now_seconds();
  end();
  return reads() && !note_idle(region) ? 1 : 0;
}

bool EnergyMeter::note_idle(const energy::Region& region) {
  std::size_t number = 0;
  bool is_sure = true;
  for (Chosen& one : chosen_) {
    if (!one.of_cases) continue;
    const energy::Sampled& sampled = sampled_.at(number++);
    one.state = combined(sampled.states);
    one.reason.clear();
    one.idle_w = -1;
    try {
      if (!sampled.problem.empty()) throw Error(sampled.problem);
      const double watts = sampled.track.mean_watts(region);
      if (sampled.track.uncertain_seconds(region) > uncertain_share * region.seconds()) {
        is_sure = false;
        one.reason = "the idle power is unknown: readings came late, as other work had the core";
        continue;
      }
      one.idle_w = watts;
      one.interval_s = std::min(one.interval_s, sampled.track.interval());
    } catch (const Error& error) {
      one.reason = error.what();
    }
  }
  return is_sure;
}

double EnergyMeter::wanted_seconds() const {
  return std::max(wish_.seconds, (static_cast<double>(fewest_updates) + 1) * slowest_s_);
}

double EnergyMeter::settling_seconds() const {
  return std::max(shortest_settling_s, settling_updates * slowest_s_);
}

void EnergyMeter::begin() {
  if (reads()) sampler_->start();
  world_.barrier();
  sleep(settling_seconds());
}

// Readings go on until the last rank's end.
void EnergyMeter::end() {
  world_.barrier();
  sleep(settling_seconds());
  if (reads()) sampled_ = sampler_->stop();
}

EnergyMeter::Rest::Rest(EnergyMeter* meter) : sampler_(meter == nullptr ? nullptr : meter->run_sampler_.get()) {
  if (sampler_ != nullptr) sampler_->pause();
}

EnergyMeter::Rest::~Rest() {
  if (sampler_ != nullptr) sampler_->resume();
}

void EnergyMeter::Rest::read_between() {
  if (sampler_ != nullptr) sampler_->read_paused();
}

Json EnergyMeter::report(const Chosen& chosen, const energy::Sampled& sampled, const energy::Region& region) const {
  const energy::SensorInfo& info = chosen.sensor->info();
  Json result{{"source", info.name},
              {"domain", to_string(info.domain)},
              {"of", info.of},
              {"reader", info.reader},
              {"kind", to_string(info.kind)},
              {"within", info.within.empty() ? Json(nullptr) : Json(info.within)},
              {"joules", nullptr},
              {"reason", nullptr}};
  try {
    if (!sampled.problem.empty()) throw Error(sampled.problem);
    const energy::Joules found = sampled.track.joules(region, fewest_updates);
    const bool has_idle = chosen.idle_w >= 0;
    result["joules"] = found.joules;
    result["seconds"] = region.seconds();
    result["mean_w"] = found.mean_w;
    result["peak_w"] = found.peak_w;
    result["peak_s"] = found.peak_s;
    result["idle_w"] = null_or(chosen.idle_w, has_idle);
    result["net_j"] = null_or(found.joules - chosen.idle_w * region.seconds(), has_idle);
    result["updates"] = found.updates;
    result["interval_s"] = found.interval_s;
    result["error_j"] = found.errors.all();
    result["errors"] = {{"edges_j", found.errors.edges},
                        {"quantum_j", found.errors.quantum},
                        {"sensor_j", null_or(found.errors.sensor, info.accuracy > 0)}};
    result["state"] = combined(sampled.states);
  } catch (const Error& error) {
    result["reason"] = error.what();
  }
  return result;
}

std::vector<Json> EnergyMeter::joules(const energy::Region& region) {
  Json mine = nullptr;
  if (reads()) {
    mine = Json::array();
    std::size_t number = 0;
    for (const Chosen& one : chosen_)
      if (one.of_cases) mine.push_back(report(one, sampled_.at(number++), region));
  }
  std::vector<Json> all;
  for (const std::string& text : gather_texts(world_, mine.dump(-1, ' ', false, Json::error_handler_t::replace)))
    all.push_back(Json::parse(text));
  return all;
}

Json EnergyMeter::source_json(const Chosen& chosen) const {
  const energy::SensorInfo& info = chosen.sensor->info();
  Json result{{"name", info.name},
              {"reader", info.reader},
              {"domain", to_string(info.domain)},
              {"of", info.of},
              {"kind", to_string(info.kind)},
              {"unit", info.unit},
              {"interval_s", info.interval_s},
              {"measured_interval_s", null_or(chosen.interval_s, chosen.of_cases && chosen.idle_w >= 0)},
              {"averaged_s", null_or(info.averaged_s, info.averaged_s > 0)},
              {"range", null_or(info.range, info.range > 0)},
              {"quantum", info.quantum},
              {"accuracy", null_or(info.accuracy, info.accuracy > 0)},
              {"within", info.within.empty() ? Json(nullptr) : Json(info.within)},
              {"used", chosen.of_cases ? "cases"
                       : chosen.of_run ? "run"
                                       : "no"},
              {"reason", chosen.reason.empty() ? Json(nullptr) : Json(chosen.reason)},
              {"idle_w", null_or(chosen.idle_w, chosen.idle_w >= 0)},
              {"state", chosen.state},
              {"run", nullptr}};
  return result;
}

std::vector<Json> EnergyMeter::sources() {
  Json mine = nullptr;
  if (reads()) {
    mine = Json::array();
    const std::vector<energy::Sampled> of_run = run_sampler_ ? run_sampler_->stop() : std::vector<energy::Sampled>{};
    std::size_t number = 0;
    for (const Chosen& one : chosen_) {
      Json source = source_json(one);
      if (one.of_run) {
        const auto& updates = of_run.at(number++).track.updates();
        if (updates.size() > 1) {
          const double seconds = updates.back().at - updates.front().at;
          const double joules = updates.back().joules - updates.front().joules;
          source["run"] = {{"joules", joules}, {"seconds", seconds}, {"mean_w", joules / seconds}};
        }
      }
      mine.push_back(std::move(source));
    }
  }
  run_sampler_.reset();
  std::vector<Json> all;
  for (const std::string& text : gather_texts(world_, mine.dump(-1, ' ', false, Json::error_handler_t::replace)))
    all.push_back(Json::parse(text));
  return all;
}

}  // namespace plumb
