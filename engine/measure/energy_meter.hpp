// Energy of a run's cases: finds the sensors of all hosts, reads them around repetitions, and reports joules by domain.
// One rank of each host reads, so a sensor that ranks share counts once. docs/energy.md has the method.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "energy/sampler.hpp"
#include "measure/benchmark.hpp"
#include "world/world.hpp"

namespace plumb {

// --energy, --energy-time, --energy-root.
struct EnergyWish {
  std::string sensors = "off";  // off, auto, or names of sensors and readers
  double seconds = 2;           // of a region
  std::string root = "/sys";

  bool off() const { return sensors == "off"; }
  bool automatic() const { return sensors == "auto"; }
};

// Throws UsageError for names that no reader has.
void check_energy_names(const std::string& sensors);

class EnergyMeter {
 public:
  static constexpr std::size_t fewest_updates = 20;
  static constexpr double longest_added_s = 3;  // to a case, of `auto`

  // Collective. Throws UsageError, the same on all ranks, if a host lacks a named sensor.
  EnergyMeter(World& world, EnergyWish wish);
  ~EnergyMeter();

  // Collective, once: selects the sensors. `gpu` is the PCI address of this rank's device, "" if it has none.
  void select(const std::string& gpu);
  // Collective, after it: the sensors' power while all ranks sleep.
  void measure_idle();
  // Whether any host measures cases; the same on all ranks.
  bool measures_cases() const { return slowest_s_ > 0; }
  double wanted_seconds() const;  // of a region
  double settling_seconds() const;
  const EnergyWish& wish() const { return wish_; }

  // Collective: before a repetition and after it. All ranks sleep at once, so that the power around it is steady.
  void begin();
  void end();
  // The readings of the whole run rest while repetitions are timed, but for those that are due between two of them.
  class Rest {
   public:
    explicit Rest(EnergyMeter* meter);  // null: of no meter
    ~Rest();
    Rest(const Rest&) = delete;
    Rest& operator=(const Rest&) = delete;
    void read_between();

   private:
    energy::Sampler* sampler_;
  };

  // Collective, after end(): joules of the region on this process's clock. On rank 0 [rank] of the readers' reports,
  // null for other ranks; elsewhere empty.
  std::vector<Json> joules(const energy::Region& region);

  // Collective: ends the readings of sensors of the whole run. On rank 0 the sources of all ranks' hosts ([rank], null
  // for ranks that do not read).
  std::vector<Json> sources();
  // Of each rank, an index: the same for ranks of one host, in order of their first ranks.
  const std::vector<int>& hosts() const { return hosts_; }
  // Why no case is measured, or "".
  const std::string& reason() const { return reason_; }

 private:
  struct Chosen {
    std::unique_ptr<energy::Sensor> sensor;
    bool of_cases = false, of_run = false;
    double interval_s = 0, idle_w = -1;  // measured; idle: negative if unknown
    std::string reason = {};
    Json state = Json::object();
  };
  bool reads() const { return world_.local_rank() == 0; }
  std::string find();
  void choose(const std::vector<std::string>& gpus);
  double idle_for(double seconds);
  bool note_idle(const energy::Region& region);
  double slowest_of_all(double mine);
  void sleep(double seconds) const;
  Json report(const Chosen& chosen, const energy::Sampled& sampled, const energy::Region& region) const;
  Json source_json(const Chosen& chosen) const;

  World& world_;
  EnergyWish wish_;
  std::vector<Chosen> chosen_;
  std::vector<std::string> reasons_;  // of readers without sensors
  std::unique_ptr<energy::Sampler> sampler_, run_sampler_;
  std::vector<energy::Sampled> sampled_;
  std::vector<int> hosts_;
  double slowest_s_ = 0;
  std::string reason_;
};

// Energy of a case on rank 0: reports of the ranks that read, sums over disjoint domains, and the metrics derived from
// them. `hosts`: of each rank.
struct EnergyOfCase {
  Json region;                         // begin (UNIX time), seconds, count, repetition
  std::vector<Json> reports;           // [rank]
  std::vector<int> hosts;              // [rank]
  std::vector<Work> work;              // [rank], of one count
  double count = 1, best_seconds = 0;  // of the timed repetitions: one count, slowest rank; 0: none
};
Json to_json(const EnergyOfCase& energy);

// Names (by position) of the domains that add up to all that was measured, each thing once. Domains within a measured
// one, and second sensors of a thing, are left out.
std::vector<std::size_t> disjoint(const Json& domains);

}  // namespace plumb
