// STREAM's part of a record in HPCC FPGA's JSON format.

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/hpcc/common/hpcc_form.hpp"
#include "benchmarks/hpcc/stream/stream.hpp"
#include "core/scalar.hpp"
#include "record/lookup.hpp"

namespace plumb::stream {

using lookup::at;
using lookup::list;
using lookup::text;

namespace {

const std::vector<std::pair<std::string, std::string>> names{
    {"write", "PCI_write"}, {"copy", "Copy"}, {"scale", "Scale"},  {"add", "Add"},
    {"triad", "Triad"},     {"dot", "Dot"},   {"read", "PCI_read"}};

// Null if not measured.
const Json& case_of(const Json& record, const std::string& operation) {
  static const Json none = nullptr;
  for (const Json& measured : list(at(record, "cases")))
    if (text(at(measured, {"labels", "operation"})) == operation) return measured;
  return none;
}

// A wrong result has no speed.
void add_results(Json& results, const std::string& name, const Json& measured, const std::vector<double>& seconds,
                 double ranks) {
  const auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
  const double bytes = lookup::number(at(measured, {"work", "bytes_read"})).value_or(0) +
                       lookup::number(at(measured, {"work", "bytes_written"})).value_or(0);
  const bool wrong = text(at(measured, {"outcome", "status"})) == "failed";
  const double mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
  const auto add = [&](const char* what, const char* unit, double value) {
    results[name + what] = quantity(unit, wrong ? std::numeric_limits<double>::quiet_NaN() : value);
  };
  add("_best_rate", "MB/s", ranks * bytes / *least / 1e6);
  add("_min_t", "s", *least);
  add("_avg_t", "s", mean);
  add("_max_t", "s", *most);
}

Json errors_of(const Json& record, ScalarType type) {
  Json errors = Json::object();
  for (const auto& [array, operation] : {std::pair{"a", "triad"}, std::pair{"b", "scale"}, std::pair{"c", "add"}}) {
    const bool exact = text(at(case_of(record, operation), {"outcome", "status"})) == "passed";
    const std::string key = array;
    errors[key + "_expected"] = nullptr;
    for (const char* error : {"_average_error", "_average_relative_error"})
      errors[key + error] = exact ? Json(0.0) : Json(nullptr);
  }
  errors["epsilon"] = epsilon_of(type);
  return errors;
}

}  // namespace

Json stream_hpcc_form(const Json& record) {
  const double ranks = lookup::number(at(record, {"world", "ranks"})).value_or(1);
  const std::string type = text(at(record, {"parameters", "type"}), "float");
  Json results = Json::object(), timings = Json::object();
  std::string variant;
  for (const auto& [operation, name] : names) {
    const Json& measured = case_of(record, operation);
    const std::vector<double> seconds = lookup::seconds_of_slowest_rank(measured);
    if (seconds.empty()) continue;
    variant = text(at(measured, {"facts", "variant"}));
    add_results(results, name, measured, seconds, ranks);
    for (const double value : seconds) timings[name].push_back(quantity("s", value));
  }
  return {{"name", "STREAM"},
          {"results", std::move(results)},
          {"timings", std::move(timings)},
          {"errors", errors_of(record, parse_scalar_type(type))},
          {"settings",
           {{"Array Size", lookup::count(at(record, {"parameters", "elements"})).value_or(0)},
            {"Data Type", type},
            {"Kernel Type", variant == "single_work_item" ? "Single" : "Separate"}}}};
}

namespace {

const RegisteredHpccParts registered_stream_form("stream", stream_hpcc_form);

}  // namespace

}  // namespace plumb::stream
