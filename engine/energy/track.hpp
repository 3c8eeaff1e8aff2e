// Readings of one sensor over time, and the joules of a region of that time. docs/energy.md derives the rules.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "energy/sensor.hpp"

namespace plumb::energy {

// Seconds on one clock.
struct Region {
  double begin = 0, end = 0;
  double seconds() const { return end - begin; }
};

// Errors in joules, largest values each.
struct Errors {
  double edges = 0;    // position of the region between updates
  double quantum = 0;  // steps of the readings
  double sensor = 0;   // its stated accuracy; 0 if it states none
  double all() const { return edges + quantum + sensor; }
};

struct Joules {
  double joules = 0, mean_w = 0, peak_w = 0;
  double peak_s = 0;        // the peak is a mean over this time
  std::size_t updates = 0;  // within the region
  double interval_s = 0;    // between updates, measured
  Errors errors;
};

// An update of a sensor: at `at` (known to within `late`) it had counted `joules` since the track's first one. Of
// counters and mean powers; of instantaneous powers `watts`. By the readings alone it came after `since`, until `seen`.
struct Update {
  double at = 0, late = 0, joules = 0, watts = 0;
  double since = 0, seen = 0;
};

class Track {
 public:
  explicit Track(SensorInfo info);
  virtual ~Track() = default;

  // A reading that began and ended at these times. Readings are in order of time.
  void add(double begin, double end, double raw);
  const SensorInfo& info() const { return info_; }
  const std::vector<Update>& updates() const { return updates_; }
  double interval() const;  // between updates: their median, but the nominal one without three updates
  std::size_t updates_in(const Region& region) const;
  // By which the times of the first and the last update in the region are not known, together.
  double uncertain_seconds(const Region& region) const;

  // Throws Error with the reason: fewer than `fewest` updates in the region, a counter that stood still or ran back,
  // readings that end before the region.
  Joules joules(const Region& region, std::size_t fewest) const;
  double mean_watts(const Region& region) const { return joules(region, 1).mean_w; }

 protected:
  // Raw units counted from one reading to the next, past the end of the range. Virtual for tests with wrong ones.
  virtual double step(double before, double after);
  virtual double joules_per_unit() const { return scale_; }

 private:
  struct Edge {
    double joules, error;
  };
  struct Rates {
    double least, most;
  };
  double earliest(double begin) const;
  void forget_interval();
  void add_counter(double begin, double end, double raw);
  void add_power(double begin, double end, double raw);
  std::size_t after(double time) const;     // the first update later than `time`
  double rate(std::size_t interval) const;  // W between updates interval-1 and interval
  Edge counted_before(double time, bool from_left) const;
  Joules of_counter(const Region& region) const;
  Joules of_power(const Region& region) const;
  double peak(const Region& region, double window) const;
  double counted_at(double time) const;

  SensorInfo info_;
  double scale_ = 1;
  std::vector<Update> updates_;
  double last_raw_ = 0, last_begin_ = 0, last_end_ = 0;
  bool any_ = false, keeps_interval_ = true;
  std::string problem_;
};

}  // namespace plumb::energy
