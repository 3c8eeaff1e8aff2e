#include "record/lookup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace plumb::lookup {

namespace {

const Json nothing;
const Json empty_list = Json::array();
const Json empty_table = Json::object();

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

}  // namespace

const Json& at(const Json& value, std::string_view key) {
  if (!value.is_object()) return nothing;
  const auto found = value.find(std::string(key));
  return found == value.end() ? nothing : *found;
}

const Json& at(const Json& value, std::initializer_list<const char*> path) {
  const Json* here = &value;
  for (const char* key : path) here = &at(*here, key);
  return *here;
}

const Json& list(const Json& value) {
  return value.is_array() ? value : empty_list;
}
const Json& table(const Json& value) {
  return value.is_object() ? value : empty_table;
}

std::string text(const Json& value, const std::string& otherwise) {
  return value.is_string() ? value.get<std::string>() : otherwise;
}

std::optional<double> number(const Json& value) {
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

std::optional<std::uint64_t> count(const Json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0) return std::nullopt;
  return static_cast<std::uint64_t>(value.get<std::int64_t>());
}

std::vector<double> numbers(const Json& value) {
  std::vector<double> result;
  for (const Json& element : list(value))
    if (element.is_number()) result.push_back(element.get<double>());
  return result;
}

std::string words(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<std::chrono::sys_seconds> moment(const Json& value) {
  using namespace std::chrono;
  int y = 0, hour = 0, minute = 0, second = 0;
  unsigned m = 0, d = 0;
  if (std::sscanf(text(value).c_str(), "%4d-%2u-%2uT%2d:%2d:%2d", &y, &m, &d, &hour, &minute, &second) != 6)
    return std::nullopt;
  const year_month_day date{year{y}, month{m}, day{d}};
  if (!date.ok()) return std::nullopt;
  return sys_days{date} + hours{hour} + minutes{minute} + seconds{second};
}

std::vector<std::string> host_names(const Json& record) {
  std::vector<std::string> names;
  for (const Json& host : list(at(record, "hosts"))) add_once(names, text(at(host, "name")));
  return names;
}

std::vector<std::string> device_names(const Json& record) {
  std::vector<std::string> names;
  for (const Json& rank : list(at(record, "ranks"))) add_once(names, text(at(rank, {"device", "name"})));
  return names;
}

std::optional<double> seconds_per_count(const Json& measured, const char* member) {
  const auto seconds = number(at(measured, {"summary", member}));
  const auto operations = count(at(measured, "count"));
  if (!seconds || !operations || *operations == 0) return std::nullopt;
  return *seconds / static_cast<double>(*operations);
}

std::vector<double> seconds_of_slowest_rank(const Json& measured) {
  const double counts = number(at(measured, "count")).value_or(1);
  std::vector<double> slowest;
  for (const Json& samples : list(at(measured, {"samples", "by_rank"}))) {
    const std::vector<double> seconds = numbers(samples);
    slowest.resize(std::max(slowest.size(), seconds.size()));
    for (std::size_t i = 0; i < seconds.size(); ++i) slowest[i] = std::max(slowest[i], seconds[i] / counts);
  }
  return slowest;
}

}  // namespace plumb::lookup
