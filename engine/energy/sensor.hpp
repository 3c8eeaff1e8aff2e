// Sensors of energy and power of this host: one reader per source (a file of this folder), all behind this interface.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "core/registry.hpp"

namespace plumb::energy {

// What a sensor covers. `part`: a part of another domain (cores of a package), or of unknown extent; never added up.
enum class Domain { device, package, dram, node, part };
enum class Kind { counter, power };

std::string to_string(Domain domain);
std::string to_string(Kind kind);

struct SensorInfo {
  std::string name;    // unique on its host: "rapl:package-0"
  std::string reader;  // "rapl"
  Domain domain = Domain::part;
  std::string of;  // the thing in its domain: a PCI address, "0" of package 0; equal for two sensors of one thing
  Kind kind = Kind::counter;
  std::string unit;         // of raw readings: uJ, mJ, J, uW, mW, W
  double interval_s = 0;    // between updates
  double averaged_s = 0;    // power: mean over this time before an update; 0: at that instant
  double range = 0;         // counter: raw value after which it starts at zero again; 0: never
  double quantum = 1;       // smallest step of raw readings
  double accuracy = 0;      // relative, as its source states; 0: unknown
  double poll_s = 0;        // between readings; 0: by the interval
  std::string within = {};  // name of the sensor that contains this one; "": none
};

// Joules or watts of one raw unit; throws Error for an unknown unit.
double scale_of(const SensorInfo& info);

class Sensor {
 public:
  virtual ~Sensor() = default;
  const SensorInfo& info() const { return info_; }
  // Of counters in `range`; throws Error with the reason.
  virtual double read() = 0;
  // Power limit in W ("limit_w"), clocks in MHz ("clock_mhz"), reasons of throttling ("throttled": list of words);
  // empty where there are none. Never throws.
  virtual Json state() { return Json::object(); }

 protected:
  explicit Sensor(SensorInfo info) : info_(std::move(info)) {}

 private:
  SensorInfo info_;
};

// Where readers look.
struct Place {
  std::string root = "/sys";  // of sysfs
  bool named = false;         // the user named this reader: tools are started only then
};

struct Found {
  std::vector<std::unique_ptr<Sensor>> sensors = {};
  std::string reason = {};  // why there are none, or not all
};

// A reader never throws.
using Reader = std::function<Found(const Place&)>;
using RegisteredReader = Registered<Reader>;

}  // namespace plumb::energy
