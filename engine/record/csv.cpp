#include "record/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "record/lookup.hpp"

namespace plumb {

using lookup::at;
using lookup::list;
using lookup::text;

namespace {

// A column: name, and value for a case (null = empty field).
struct CsvColumn {
  std::string name;
  std::function<Json(const Json& measured)> value;
};

std::string joined(const std::vector<std::string>& names) {
  std::string result;
  for (const std::string& name : names) result += (result.empty() ? "" : "; ") + name;
  return result;
}

Json text_or_null(const std::string& value) {
  return value.empty() ? Json(nullptr) : Json(value);
}

// Numbers in the shortest form that reads back exactly; text quoted as RFC 4180 requires.
std::string field(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number_float()) return std::isfinite(value.get<double>()) ? fmt::format("{}", value.get<double>()) : "";
  std::string content =
      value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (content.find_first_of(",\"\r\n") == std::string::npos) return content;
  std::string quoted = "\"";
  for (const char c : content) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

// "bandwidth_per_rank", "GB/s" -> "bandwidth_per_rank_GB_per_s", a valid identifier.
std::string with_unit(const std::string& name, const std::string& unit) {
  if (unit.empty()) return name;
  std::string result = name + "_";
  for (const char c : unit)
    result += c == '/' ? std::string("_per_") : c == '%' ? std::string("percent") : std::string(1, c);
  std::replace(result.begin(), result.end(), ' ', '_');
  return result;
}

std::vector<CsvColumn> run_columns(const Json& record) {
  const auto same = [](std::string name, Json value) {
    return CsvColumn{std::move(name), [value = std::move(value)](const Json&) { return value; }};
  };
  return {same("benchmark", at(record, {"benchmark", "name"})),
          same("started", at(record, "started")),
          same("host", text_or_null(joined(lookup::host_names(record)))),
          same("ranks", at(record, {"world", "ranks"})),
          same("world_library", at(record, {"world", "library"})),
          same("device", text_or_null(joined(lookup::device_names(record)))),
          same("transport", at(record, {"transport", "name"})),
          same("memory", at(record, {"memory", "kind"}))};
}

std::vector<std::string> label_names(const Json& cases) {
  std::vector<std::string> names;
  for (const Json& measured : cases)
    for (const auto& [name, value] : lookup::table(at(measured, "labels")).items())
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

CsvColumn member_column(const char* name) {
  return {name, [name](const Json& measured) { return at(measured, name); }};
}

// Beside the times and rates of a run without a board.
std::vector<CsvColumn> emulated_column(const Json& record) {
  const Json emulated = at(record, "emulated");
  if (emulated.is_null()) return {};
  return {{"emulated", [emulated](const Json&) { return emulated; }}};
}

CsvColumn outcome_column(const char* name, const char* member) {
  return {name, [member](const Json& measured) { return at(measured, {"outcome", member}); }};
}

CsvColumn seconds_column(const char* name, const char* member) {
  return {name, [member](const Json& measured) {
            const auto seconds = lookup::seconds_per_count(measured, member);
            return seconds ? Json(*seconds) : Json(nullptr);
          }};
}

// A bound of the median's interval, of one count.
CsvColumn interval_column(const char* name, std::size_t end) {
  return {name, [end](const Json& measured) {
            const auto interval = lookup::numbers(at(measured, {"summary", "ci95_median_s"}));
            const auto operations = lookup::count(at(measured, "count"));
            if (interval.size() != 2 || !operations || *operations == 0) return Json(nullptr);
            return Json(interval[end] / static_cast<double>(*operations));
          }};
}

std::vector<CsvColumn> metric_columns(const Json& cases) {
  std::vector<CsvColumn> columns;
  for (const Json& measured : cases)
    for (const Json& metric : list(at(measured, "metrics"))) {
      const std::string name = with_unit(text(at(metric, "name"), "unnamed"), text(at(metric, "unit")));
      const auto same = [&](const CsvColumn& column) { return column.name == name; };
      if (std::any_of(columns.begin(), columns.end(), same)) continue;
      columns.push_back({name, [name](const Json& row) {
                           for (const Json& candidate : list(at(row, "metrics")))
                             if (with_unit(text(at(candidate, "name"), "unnamed"), text(at(candidate, "unit"))) == name)
                               return at(candidate, "value");
                           return Json(nullptr);
                         }});
    }
  return columns;
}

CsvColumn expected_column(const Json& expected, const char* name) {
  return {name, [&expected, name](const Json& measured) {
            return at(at(at(expected, "cases"), text(at(measured, "key"))), name);
          }};
}

void append(std::vector<CsvColumn>& columns, std::vector<CsvColumn> more) {
  for (CsvColumn& column : more) columns.push_back(std::move(column));
}

std::vector<CsvColumn> all_columns(const Json& record, const Json& expected) {
  const Json& cases = list(at(record, "cases"));
  std::vector<CsvColumn> columns = run_columns(record);
  std::vector<CsvColumn> fixed{member_column("key"), member_column("count"), member_column("repetitions"),
                               outcome_column("outcome", "status"), outcome_column("reason", "reason")};
  append(fixed, emulated_column(record));
  append(fixed, {seconds_column("min_per_count_s", "min_s"), seconds_column("median_per_count_s", "median_s"),
                 seconds_column("mean_per_count_s", "mean_s"), seconds_column("max_per_count_s", "max_s"),
                 interval_column("ci95_low_per_count_s", 0), interval_column("ci95_high_per_count_s", 1)});
  append(fixed, metric_columns(cases));
  for (const char* name : {"expected_s", "ratio", "verdict", "bound"}) fixed.push_back(expected_column(expected, name));
  const auto taken = [&](const std::vector<CsvColumn>& in, const std::string& name) {
    return std::any_of(in.begin(), in.end(), [&](const CsvColumn& column) { return column.name == name; });
  };
  for (const std::string& label : label_names(cases)) {
    const std::string name = taken(columns, label) || taken(fixed, label) ? "label_" + label : label;
    columns.push_back({name, [label](const Json& measured) { return at(at(measured, "labels"), label); }});
  }
  append(columns, std::move(fixed));
  return columns;
}

}  // namespace

std::string csv_form(const Json& record, const Json& expected) {
  const std::vector<CsvColumn> columns = all_columns(record, expected);
  std::string result;
  const auto row = [&](const auto& content) {
    for (std::size_t i = 0; i < columns.size(); ++i) result += (i == 0 ? "" : ",") + field(content(columns[i]));
    result += "\n";
  };
  row([](const CsvColumn& column) { return Json(column.name); });
  for (const Json& measured : list(at(record, "cases")))
    row([&](const CsvColumn& column) { return column.value(measured); });
  return result;
}

}  // namespace plumb
