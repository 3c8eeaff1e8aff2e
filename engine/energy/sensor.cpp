#include "energy/sensor.hpp"

#include <map>

#include "core/error.hpp"

namespace plumb::energy {

std::string to_string(Domain domain) {
  switch (domain) {
    case Domain::device:
      return "device";
    case Domain::package:
      return "package";
    case Domain::dram:
      return "dram";
    case Domain::node:
      return "node";
    case Domain::part:
      break;
  }
  return "part";
}

std::string to_string(Kind kind) {
  return kind == Kind::counter ? "counter" : "power";
}

double scale_of(const SensorInfo& info) {
  static const std::map<std::string, double> scales{{"uJ", 1e-6}, {"mJ", 1e-3}, {"J", 1.0},
                                                    {"uW", 1e-6}, {"mW", 1e-3}, {"W", 1.0}};
  const auto found = scales.find(info.unit);
  if (found == scales.end()) throw Error(info.name + " has the unknown unit " + info.unit);
  return found->second;
}

}  // namespace plumb::energy
