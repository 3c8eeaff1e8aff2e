#include "energy/tool.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "core/error.hpp"

namespace plumb::energy {

namespace {

constexpr double usual_interval_s = 1;
constexpr const char* longest_call = "timeout 10 ";  // of one reading: a controller may not answer

// The line of a failed program's output that gives the reason: the first one under its name, as curl's, which has
// advice after it; otherwise the last one.
std::string reason_in(const std::string& output, const std::string& program) {
  std::istringstream lines(output);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(program + ": ")) return line.substr(program.size() + 2);
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace

std::string output_of(const std::string& command) {
  std::FILE* pipe = ::popen((longest_call + command + " 2>&1").c_str(), "re");
  if (pipe == nullptr) throw Error(command + " cannot be started");
  std::string text;
  std::array<char, 4096> bytes;
  while (const std::size_t size = std::fread(bytes.data(), 1, bytes.size(), pipe)) text.append(bytes.data(), size);
  const int status = ::pclose(pipe);
  if (status == 0) return text;
  const std::string program = command.substr(0, command.find(' '));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 124) throw Error(program + " did not answer within 10 s");
  throw Error(fmt::format("{} failed: {}", program, reason_in(text, program)));
}

bool has_program(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

double ToolSensor::read() {
  return parse_(output_of(command_));
}

void add_tool(SensorInfo info, const std::string& command, ToolSensor::Parse parse, Found& found) {
  auto sensor = std::make_unique<ToolSensor>(std::move(info), command, std::move(parse));
  try {
    sensor->read();
    found.sensors.push_back(std::move(sensor));
  } catch (const Error& error) {
    if (found.reason.empty()) found.reason = error.what();
  }
}

SensorInfo tool_info(const std::string& reader, const std::string& what, Domain domain) {
  SensorInfo info;
  info.name = reader + ":" + what;
  info.reader = reader;
  info.domain = domain;
  info.of = what;
  info.kind = Kind::power;
  info.unit = "W";
  info.interval_s = usual_interval_s;
  info.quantum = 0.1;
  return info;
}

double number_before(const std::string& output, const std::string& words, const std::string& unit) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(words) == std::string::npos) continue;
    const std::size_t colon = line.find(':'), end = line.find(unit, colon == std::string::npos ? 0 : colon);
    if (colon == std::string::npos || end == std::string::npos) continue;
    char* rest = nullptr;
    const std::string text = line.substr(colon + 1, end - colon - 1);
    const double value = std::strtod(text.c_str(), &rest);
    if (rest != text.c_str()) return value;
  }
  throw Error(fmt::format("the output has no \"{}\" in {}", words, unit));
}

}  // namespace plumb::energy
