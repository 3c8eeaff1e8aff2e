// Vendors' tools that print a power.
#pragma once

#include <functional>
#include <string>

#include "energy/sensor.hpp"

namespace plumb::energy {

// Standard output of a command line of the shell. Throws Error with the status and the last line of the errors.
std::string output_of(const std::string& command);
// Whether the search path has this program.
bool has_program(const std::string& program);

// A power in W that a tool prints, slow, so `auto` uses it for the whole run at most.
class ToolSensor : public Sensor {
 public:
  using Parse = std::function<double(const std::string& output)>;  // throws Error
  ToolSensor(SensorInfo info, std::string command, Parse parse)
      : Sensor(std::move(info)), command_(std::move(command)), parse_(std::move(parse)) {}
  double read() override;

 private:
  std::string command_;
  Parse parse_;
};

// Adds the sensor if its first reading succeeds; otherwise sets the reason.
void add_tool(SensorInfo info, const std::string& command, ToolSensor::Parse parse, Found& found);
// Info of a power in W updated about once a second.
SensorInfo tool_info(const std::string& reader, const std::string& what, Domain domain);

// The number before `unit` in the first line that contains `words`. Throws Error without one.
double number_before(const std::string& output, const std::string& words, const std::string& unit);

}  // namespace plumb::energy
