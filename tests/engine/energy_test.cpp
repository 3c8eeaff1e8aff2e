// Energy: joules of a region against the exact integral of a power, in simulated time (Track) and in real time (a
// tree of sysfs whose counters a thread advances, read by the meter itself). The wrong ones stand beside the right
// ones.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numbers>
#include <random>
#include <thread>

#include "core/seconds.hpp"
#include "device/device.hpp"
#include "energy/sampler.hpp"
#include "energy/track.hpp"
#include "measure/energy_meter.hpp"
#include "measure/runner.hpp"

namespace plumb {

namespace {

using energy::Joules;
using energy::Kind;
using energy::Region;
using energy::SensorInfo;
using energy::Track;
using Watts = std::function<double(double)>;

double exact(const Watts& watts, double begin, double end) {
  constexpr int steps = 20000;
  const double width = (end - begin) / steps;
  double sum = 0;
  for (int i = 0; i < steps; ++i) sum += watts(begin + (i + 0.5) * width);
  return sum * width;
}

SensorInfo counter(double interval, double range = 0) {
  SensorInfo info;
  info.name = "rapl:package-0";
  info.reader = "rapl";
  info.unit = "uJ";
  info.interval_s = interval;
  info.range = range;
  info.quantum = 61;
  return info;
}

// Readings every `poll` seconds with some jitter, of a sensor updated every `info.interval_s` from a random moment on.
struct Play {
  SensorInfo info;
  Watts watts;
  double from = 0, to = 4, poll = 2e-3, offset = 0.3;  // offset: share of an interval
  double start = 0;                                    // raw
  double updates_s = 0;                                // between updates; 0: as the sensor states

  template <class T = Track>
  T track(unsigned seed = 1) const {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> jitter(0.7, 1.6);
    T track(info);
    const double interval = updates_s > 0 ? updates_s : info.interval_s;
    double joules = 0, updated = from - interval * offset, value = start;
    for (double now = from; now < to; now += poll * jitter(random)) {
      while (updated + interval <= now) {
        joules += exact_of(updated, updated + interval);
        updated += interval;
        value = info.kind == Kind::counter ? raw_of(joules) : watts(updated) / energy::scale_of(info);
      }
      track.add(now, now + 20e-6, value);
    }
    return track;
  }
  double exact_of(double begin, double end) const {
    const int steps = std::max(4, static_cast<int>((end - begin) / 2e-4));
    double sum = 0;
    for (int i = 0; i < steps; ++i) sum += watts(begin + (i + 0.5) * (end - begin) / steps);
    return sum * (end - begin) / steps;
  }
  double raw_of(double joules) const {
    const double raw = start + std::floor(joules / energy::scale_of(info) / info.quantum) * info.quantum;
    return info.range > 0 ? std::fmod(raw, info.range) : raw;
  }
};

// Idle at 40 W, set-up at 90 W until 0.8 s, quiet, at work from 1 s to 3 s, quiet again.
double at_work(double t) {
  if (t < 0.8) return 90;
  if (t < 1 || t >= 3) return 40;
  return 250 + 50 * std::sin(20 * t);
}

constexpr Region work{1, 3};

double off(double joules, double exactly) {
  return std::abs(joules / exactly - 1);
}

}  // namespace

class TrackOfCounter : public ::testing::TestWithParam<double> {};

TEST_P(TrackOfCounter, MeasuresStepsRampsAndBursts) {
  const std::vector<Watts> curves{at_work, [](double t) { return 30 + 60 * t; },
                                  [](double t) { return t > 1 && t < 3 && std::fmod(t, 0.37) < 0.1 ? 400.0 : 35.0; }};
  for (const Watts& watts : curves) {
    const Joules found = Play{counter(GetParam()), watts}.track().joules(work, 20);
    const double exactly = exact(watts, work.begin, work.end);
    EXPECT_LT(off(found.joules, exactly), 0.01) << GetParam();
    EXPECT_LE(std::abs(found.joules - exactly), found.errors.all());
    EXPECT_NEAR(found.interval_s, std::max(GetParam(), 2e-3), 0.4 * std::max(GetParam(), 4e-3));
  }
}
INSTANTIATE_TEST_SUITE_P(Intervals, TrackOfCounter, ::testing::Values(1e-3, 20e-3, 60e-3, 95e-3));

TEST(Track, CountsPastTheEndOfTheRange) {
  Play play{counter(1e-3, 150e6), at_work};
  play.start = 149.9e6;  // twice in the region
  EXPECT_LT(off(play.track().joules(work, 20).joules, exact(at_work, 1, 3)), 0.01);
}

// Bursts, a ramp and a wave, each of a random height.
Watts random_curve(std::mt19937& random) {
  std::uniform_real_distribution<double> share(0, 1);
  const double low = 20 + 80 * share(random), high = low + 400 * share(random), period = 0.05 + share(random);
  const double duty = share(random), phase = share(random), ramp = 40 * share(random), wave = 30 * share(random);
  return [=](double t) {
    const double burst = std::fmod(t + phase, period) < duty * period ? high : low;
    return burst + ramp * t + wave * (1 + std::sin(17 * t));
  };
}

Region random_region(std::mt19937& random) {
  std::uniform_real_distribution<double> share(0, 0.1);
  return {1 + share(random), 3 + share(random)};
}

bool holds(const Joules& found, const Watts& watts, const Region& region) {
  return std::abs(found.joules - exact(watts, region.begin, region.end)) <= found.errors.all();
}

TEST(Track, StatesAnErrorThatHolds) {
  std::mt19937 random(7);
  int inside = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const Watts watts = random_curve(random);
    SensorInfo info = counter(std::vector{1e-3, 10e-3, 50e-3, 95e-3}[seed % 4]);
    if (seed % 3 == 2) {
      info.kind = Kind::power;
      info.unit = "mW";
    }
    Play play{info, watts};
    play.offset = std::uniform_real_distribution<double>(0, 1)(random);
    const Region region = random_region(random);
    const Joules found = play.track(seed).joules(region, 20);
    if (holds(found, watts, region)) ++inside;
    EXPECT_LT(found.errors.all(), 0.25 * exact(watts, region.begin, region.end)) << seed;  // and is not beyond use
  }
  EXPECT_GE(inside, 95);
}

// Of a steady power, whose joules tell the true time of each update: as often as the counter states, or less.
TEST(Track, KnowsHowOldAnUpdateMayBe) {
  constexpr double watts = 100;
  for (const double updates_s : {1e-3, 2e-3, 3e-3, 5e-3, 10e-3}) {
    Play play{counter(1e-3), [](double) { return watts; }};
    play.updates_s = updates_s;
    play.poll = energy::poll_of(play.info);
    const auto updates = play.track().updates();
    const double first = play.from - play.offset * updates_s;
    ASSERT_GT(updates.size(), 100u);
    for (std::size_t i = 1; i < updates.size(); ++i)
      ASSERT_NEAR(updates[i].at, first + updates[i].joules / watts, updates[i].late + 2e-6) << updates_s;
  }
}

// A counter that is updated less often than it states: what its updates' ages are is told by its readings alone.
TEST(Track, StatesAnErrorThatHoldsForASlowerCounter) {
  std::mt19937 random(11);
  int inside = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Play play{counter(1e-3), random_curve(random)};
    play.updates_s = std::vector{2e-3, 3e-3, 5e-3, 10e-3}[seed % 4];
    play.poll = energy::poll_of(play.info);
    play.offset = std::uniform_real_distribution<double>(0, 1)(random);
    const Region region = random_region(random);
    if (holds(play.track(seed).joules(region, 20), play.watts, region)) ++inside;
  }
  EXPECT_GE(inside, 95);
}

// A thread that loses its core for 0.3 s after it has read: the update is of the reading's begin, or any time up to its
// end.
TEST(Track, KnowsReadingsThatReturnLate) {
  Track track(counter(1e-3));
  const auto read = [&](double begin, double end) { track.add(begin, end, 50e6 * begin); };
  for (double t = 0; t < 0.999; t += 2e-3) read(t, t);
  read(1, 1.3);
  for (double t = 1.302; t < 4; t += 2e-3) read(t, t);
  EXPECT_GT(track.uncertain_seconds({1.1, 2}), 0.14);
  EXPECT_LT(track.uncertain_seconds({2, 3}), 0.01);
  const Joules found = track.joules({1.2, 3}, 20);
  EXPECT_LE(std::abs(found.joules - 90), found.errors.all());
}

TEST(Track, IntegratesPower) {
  SensorInfo info = counter(20e-3);
  info.kind = Kind::power;
  info.unit = "mW";
  info.quantum = 1;
  const Joules found = Play{info, at_work}.track().joules(work, 20);
  EXPECT_LT(off(found.joules, exact(at_work, 1, 3)), 0.01);
  EXPECT_NEAR(found.mean_w, exact(at_work, 1, 3) / 2, 3);
  EXPECT_NEAR(found.peak_w, 295, 8);
}

TEST(Track, GivesReasonsWhereItCannotTell) {
  const auto reason = [](const Track& track, const Region& region) -> std::string {
    try {
      track.joules(region, 20);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(reason(Play{counter(95e-3), at_work}.track(), {1, 1.5}),
              ::testing::HasSubstr("updates of rapl:package-0"));
  EXPECT_THAT(reason(Play{counter(1e-3), [](double) { return 0.0; }}.track(), work),
              ::testing::HasSubstr("stood still"));
  EXPECT_THAT(reason(Play{counter(1e-3), at_work}.track(), {3.9, 4.5}), ::testing::HasSubstr("both sides"));
  Track back(counter(1e-3));
  for (int i = 0; i < 50; ++i) back.add(0.1 * i, 0.1 * i, i < 25 ? 1000.0 * i : 1000.0 * (40 - i));
  EXPECT_THAT(reason(back, {1, 4}), ::testing::HasSubstr("ran back from"));
}

namespace {

// Tracks made wrong on purpose.
struct WithoutWrap : Track {
  using Track::Track;
  double step(double before, double after) override { return after - before; }
};
struct InMilliwatts : Track {
  using Track::Track;
  double joules_per_unit() const override { return 1e-3 * Track::joules_per_unit(); }
};

}  // namespace

TEST(TrackMutants, AreSeen) {
  const double exactly = exact(at_work, work.begin, work.end);
  Play wraps{counter(1e-3, 150e6), at_work};
  wraps.start = 149.9e6;
  EXPECT_GT(off(wraps.track<WithoutWrap>().joules(work, 20).joules, exactly), 0.01);
  const Play play{counter(60e-3), at_work};
  EXPECT_GT(off(play.track<InMilliwatts>().joules(work, 20).joules, exactly), 0.01);
  // Region shifted by one interval, and with the set-up within.
  EXPECT_GT(off(play.track().joules({work.begin - 60e-3, work.end - 60e-3}, 20).joules, exactly), 0.01);
  EXPECT_GT(off(play.track().joules({0.5, work.end}, 20).joules, exactly), 0.01);
  // A stale sample: every third update is not seen, and the one before is held as the power until the next.
  SensorInfo power = counter(95e-3);
  power.kind = Kind::power;
  power.unit = "mW";
  const Watts bursts = [](double t) { return std::fmod(t, 0.285) < 0.12 ? 400.0 : 35.0; };
  const Watts stale = [&](double t) { return bursts(t - std::fmod(t, 0.285)); };
  EXPECT_GT(off(Play{power, stale}.track().joules(work, 20).joules, exact(bursts, 1, 3)), 0.01);
}

namespace {

Json domain(const std::string& source, const std::string& name, const std::string& of, double joules, int host = 0) {
  return {{"host", host},
          {"source", source},
          {"reader", source.substr(0, source.find(':'))},
          {"domain", name},
          {"of", of},
          {"kind", "counter"},
          {"within", nullptr},
          {"interval_s", 0.01},
          {"joules", joules},
          {"error_j", 1.0},
          {"mean_w", joules / 2},
          {"peak_w", joules},
          {"net_j", joules / 2}};
}

double together(const Json& domains) {
  double sum = 0;
  for (const std::size_t i : disjoint(domains)) sum += domains[i].at("joules").get<double>();
  return sum;
}

}  // namespace

TEST(Disjoint, AddsEachThingOnce) {
  Json core = domain("rapl:package-0/core", "part", "0", 60);
  core["within"] = "rapl:package-0";
  const Json package = domain("rapl:package-0", "package", "0", 100),
             other = domain("rapl:package-1", "package", "1", 90);
  const Json dram = domain("rapl:package-0/dram", "dram", "0", 20),
             gpu = domain("nvml:0000:18:00.0", "device", "0000:18:00.0", 500);
  EXPECT_EQ(together({package, core, other, dram, gpu}), 710);
  Json psys = domain("rapl:psys", "node", "0", 250), inner = package;
  inner["within"] = "rapl:psys";
  EXPECT_EQ(together({inner, core, psys, gpu}), 750);  // psys has the package, but not the board
  EXPECT_EQ(together({inner, psys, gpu, domain("ipmitool:node", "node", "0", 900)}), 900);  // the whole node's meter
  // Two sensors of one board: the counter alone. Boards of two hosts with the same address: both.
  Json power = gpu;
  power["kind"] = "power";
  power["source"] = "nvml:0000:18:00.0/power";
  EXPECT_EQ(together({power, gpu}), 500);
  EXPECT_EQ(together({gpu, domain("nvml:0000:18:00.0", "device", "0000:18:00.0", 400, 1)}), 900);
  // Two readers of the packages: one of them.
  EXPECT_EQ(together({package, other, domain("pm_counters:cpu_energy", "package", "all", 191)}), 190);
  Json absent = gpu;
  absent["joules"] = nullptr;
  EXPECT_EQ(together({absent, package}), 100);
  EXPECT_EQ(together(Json::array()), 0);
}

// Wrong: every entry adds up, as by a list without domains, and a shared board by each of its ranks.
TEST(DisjointMutants, AreSeen) {
  Json core = domain("rapl:package-0/core", "part", "0", 60);
  const Json package = domain("rapl:package-0", "package", "0", 100);
  core["domain"] = "package";
  core["of"] = "core";
  EXPECT_NE(together({package, core}), 100);
  EXPECT_NE(together({domain("nvml:a", "device", "a", 500, 0), domain("nvml:a", "device", "a", 500, 1)}), 500);
}

namespace {

void put(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path beside = path.string() + ".new";
  std::ofstream(beside) << text << "\n";
  std::filesystem::rename(beside, path);
}

// A tree with a package and its cores, played in real time until the end of the scope.
class Tree {
 public:
  explicit Tree(Watts watts, double range = 200e6, double start = 199e6)
      : root_(std::filesystem::temp_directory_path() /
              fmt::format("plumbline-energy-{}-{}", ::getpid(), now_seconds())),
        watts_(std::move(watts)),
        range_(range),
        raw_(start) {
    zone("intel-rapl:0", "package-0");
    zone("intel-rapl:0:0", "core");
    thread_ = std::thread([this] { play(); });
  }
  ~Tree() {
    stops_ = true;
    thread_.join();
    std::filesystem::remove_all(root_);
  }
  std::string root() const { return root_; }
  void stand_still() { stands_ = true; }
  // Seconds within this time by which updates came later than they were due, on a machine that others use.
  double late(double begin, double end) const {
    const std::scoped_lock lock(mutex_);
    double sum = 0;
    for (std::size_t i = 1; i < updates_.size(); ++i)
      if (updates_[i - 1] < end && updates_[i] > begin) sum += std::max(0.0, updates_[i] - updates_[i - 1] - 2 * due);
    return sum;
  }

 private:
  static constexpr double due = 0.002;  // between two updates

  void zone(const std::string& folder, const std::string& name) {
    const auto path = root_ / "class" / "powercap" / folder;
    std::filesystem::create_directories(path);
    put(path / "name", name);
    put(path / "max_energy_range_uj", fmt::format("{:.0f}", range_));
    put(path / "energy_uj", fmt::format("{:.0f}", raw_));
  }
  void play() {
    double then = now_seconds();
    while (!stops_) {
      std::this_thread::sleep_for(std::chrono::duration<double>(due));
      const double now = now_seconds();
      if (!stands_) raw_ = std::fmod(raw_ + exact(watts_, then, now) * 1e6, range_);
      then = now;
      put(root_ / "class/powercap/intel-rapl:0/energy_uj", fmt::format("{:.0f}", raw_));
      put(root_ / "class/powercap/intel-rapl:0:0/energy_uj", fmt::format("{:.0f}", raw_ / 2));
      const std::scoped_lock lock(mutex_);
      updates_.push_back(now_seconds());
    }
  }

  std::filesystem::path root_;
  Watts watts_;
  double range_, raw_;
  mutable std::mutex mutex_;
  std::vector<double> updates_;
  std::atomic<bool> stops_{false}, stands_{false};
  std::thread thread_;
};

struct Metered {
  Region region;
  Json report;  // of the package
};

Metered metered(EnergyMeter& meter, double seconds) {
  meter.begin();
  Metered result;
  result.region.begin = now_seconds();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  result.region.end = now_seconds();
  meter.end();
  result.report = meter.joules(result.region).at(0).at(0);
  return result;
}

}  // namespace

TEST(EnergyMeter, MeasuresARegionInRealTime) {
  const double zero = now_seconds();
  std::atomic<double> work_begins{1e300};
  const Watts watts = [&](double t) { return t < work_begins ? 50.0 : 200 + 80 * std::sin(9 * (t - zero)); };
  Tree tree(watts);
  const auto world = make_serial_world();
  EnergyMeter meter(*world, {"auto", 0.5, tree.root()});
  meter.select("");
  const double idle_begin = now_seconds();
  meter.measure_idle();
  const double idle_end = now_seconds();
  ASSERT_TRUE(meter.measures_cases()) << meter.reason();
  work_begins = now_seconds() + meter.settling_seconds();
  const Metered found = metered(meter, 0.6);
  const double exactly = exact(watts, found.region.begin, found.region.end);
  ASSERT_TRUE(found.report.at("joules").is_number()) << found.report;
  EXPECT_LT(off(found.report.at("joules"), exactly), 0.02) << found.report;  // of a short region; 1 % is of 2 s
  // Unknown only where other work had the reading thread's core in each of three seconds, which is said.
  const bool knows_idle = found.report.at("idle_w").is_number();
  if (knows_idle) {
    const double idle_off_w = 5 + 50 * tree.late(idle_begin, idle_end);  // it idled for a second
    EXPECT_NEAR(found.report.at("idle_w"), 50, idle_off_w);
    EXPECT_NEAR(found.report.at("net_j").get<double>(), exactly - 50 * found.region.seconds(),
                0.02 * exactly + idle_off_w * found.region.seconds());
    // The mutant that never subtracts idle power.
    EXPECT_GT(off(found.report.at("joules"), found.report.at("net_j")), 0.01);
  }
  EXPECT_EQ(found.report.at("source"), "rapl:package-0");

  tree.stand_still();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_THAT(metered(meter, 0.1).report.at("reason").get<std::string>(), ::testing::HasSubstr("stood still"));
  const Json sources = meter.sources().at(0);  // and this machine's GPUs
  const auto part = std::find_if(sources.begin(), sources.end(),
                                 [](const Json& source) { return source.at("reason") == "a part of rapl:package-0"; });
  ASSERT_NE(part, sources.end()) << sources;
  EXPECT_EQ(part->at("used"), "no");
  const auto whole = std::find_if(sources.begin(), sources.end(),
                                  [](const Json& source) { return source.at("name") == "rapl:package-0"; });
  ASSERT_NE(whole, sources.end()) << sources;
  if (!knows_idle) EXPECT_THAT(whole->at("reason").get<std::string>(), ::testing::HasSubstr("idle power is unknown"));
}

TEST(EnergyMeter, NeedsNoSensorUnlessNamed) {
  const auto world = make_serial_world();
  EnergyMeter meter(*world, {"auto", 2, "/nonexistent"});
  meter.select("");
  meter.measure_idle();
  EXPECT_FALSE(meter.measures_cases());
  EXPECT_THAT(meter.reason(), ::testing::HasSubstr("/nonexistent/class/powercap has no intel-rapl zones"));
  EXPECT_THROW(EnergyMeter(*world, {"rapl", 2, "/nonexistent"}), UsageError);
  EXPECT_THROW(check_energy_names("rapl,watts"), UsageError);
  EXPECT_NO_THROW(check_energy_names("rapl:package-0,nvml"));
}

namespace {

// Times of all readings and of all calls of run(), on one clock.
struct Seen {
  std::mutex mutex;
  std::vector<Region> readings, slow_readings, runs;
} seen;

class Witness : public energy::Sensor {
 public:
  Witness(const std::string& name, Kind kind, double interval, std::vector<Region>& readings)
      : Sensor(info_of(name, kind, interval)), readings_(readings) {}
  double read() override {
    const double begin = now_seconds();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::lock_guard lock(seen.mutex);
    readings_.push_back({begin, now_seconds()});
    return info().kind == Kind::counter ? std::floor(begin * 1e8) : 50e6;
  }

 private:
  static SensorInfo info_of(const std::string& name, Kind kind, double interval) {
    SensorInfo info;
    info.name = "witness:" + name;
    info.reader = "witness";
    info.domain = energy::Domain::node;
    info.of = name;
    info.kind = kind;
    info.unit = kind == Kind::counter ? "uJ" : "uW";
    info.interval_s = interval;
    return info;
  }
  std::vector<Region>& readings_;
};

// Here only where a test asks for it.
const energy::RegisteredReader witness("witness", [](const energy::Place& place) {
  energy::Found found;
  if (place.root != "witness") return found;
  found.sensors.push_back(std::make_unique<Witness>("fast", Kind::counter, 0.01, seen.readings));
  found.sensors.push_back(std::make_unique<Witness>("slow", Kind::power, 0.15, seen.slow_readings));
  return found;
});

class Spins : public Benchmark {
 public:
  std::string name() const override { return "spins"; }
  std::string title() const override { return "a known time an operation"; }
  std::string source() const override { return "a test"; }
  Preset preset(const std::string&) const override { return {}; }
  std::vector<Group> groups(const Plan&) const override {
    Case one;
    one.key = "one";
    one.labels = {{"case", "one"}};
    one.work.edges = 1;
    one.items_to_check = 1;
    return {{"first", {one}}};
  }
  void prepare(Session&, const Case&) override {}
  void reset(Session&, const Case&, std::uint64_t, std::uint64_t) override {}
  void run(Session&, const Case&, Timed& timed) override {
    const double begin = now_seconds();
    for (const double end = begin + 2e-3 * static_cast<double>(timed.count()); now_seconds() < end;)
      ;
    const std::lock_guard lock(seen.mutex);
    seen.runs.push_back({begin, now_seconds()});
  }
  std::vector<Metric> metrics(const CaseResult&, int) const override { return {}; }
  Validation validate(Session&, const Case&, std::uint64_t, std::uint64_t) override {
    Validation validation;
    validation.items_checked = 1;
    return validation;
  }
};

std::size_t readings_in(const std::vector<Region>& readings, const Region& run) {
  return static_cast<std::size_t>(std::count_if(
      readings.begin(), readings.end(), [&](const Region& one) { return one.end > run.begin && one.begin < run.end; }));
}

}  // namespace

// Times are those of a run without --energy, as no reader runs while they are taken: neither that of cases, nor that of
// sensors which are read over the whole run.
TEST(EnergyMeter, ReadsNothingWhileRepetitionsAreTimed) {
  const auto world = make_serial_world();
  const auto runtime = Registry<RuntimeFactory>::instance().find("native")->operator()();
  const auto device = runtime->open(runtime->infos().front());
  Session session{*world, *device, nullptr, {}};
  RunSettings settings;
  settings.policy.fixed = 30;
  settings.target_sample = settings.longest_sample = 20e-3;
  settings.energy = {"auto", 0.4, "witness"};
  EnergyMeter meter(*world, settings.energy);
  meter.select("");
  meter.measure_idle();
  Spins spins;
  const auto listener = make_listener("none");
  const Json record = run_benchmark(spins, spins.groups({0, 1, 1}), session, settings, gather_places(*world),
                                    Json::object(), "", *listener, &meter)
                          .record;
  const Json& energy = record.at("cases").at(0).at("energy");
  ASSERT_TRUE(energy.contains("region")) << energy;
  std::size_t timed = 0, metered = 0;
  for (const Region& run : seen.runs) {
    const bool is_metered = run.seconds() > 0.2;
    ++(is_metered ? metered : timed);
    if (is_metered) EXPECT_GE(readings_in(seen.readings, run), 20u);
    if (!is_metered) EXPECT_EQ(readings_in(seen.readings, run), 0u);
  }
  EXPECT_GE(metered, 1u);
  // Those kept stand before the metered ones; warm-ups and probes of the loop's length before them.
  ASSERT_GE(timed, 30u);
  for (std::size_t i = timed - 30; i < timed; ++i) EXPECT_EQ(readings_in(seen.slow_readings, seen.runs[i]), 0u) << i;
  const Region kept{seen.runs[timed - 30].begin, seen.runs[timed - 1].end};
  EXPECT_GE(readings_in(seen.slow_readings, kept), 3u);  // between two of them
}

}  // namespace plumb
