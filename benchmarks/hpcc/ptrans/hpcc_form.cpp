#include "benchmarks/hpcc/ptrans/hpcc_form.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "benchmarks/hpcc/common/hpcc_form.hpp"
#include "core/scalar.hpp"
#include "core/units.hpp"
#include "record/lookup.hpp"

namespace plumb {

using lookup::at;
using lookup::list;
using lookup::text;

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr double arrays = 3;

// Of one operation, maximum over ranks of each repetition's phase.
std::vector<double> phase_seconds_of(const Json& measured, const char* phase) {
  const auto count = static_cast<double>(lookup::count(at(measured, "count")).value_or(1));
  std::vector<double> longest;
  for (const Json& of_rank : list(at(measured, {"phases", phase, "by_rank"}))) {
    std::size_t repetition = 0;
    for (const Json& seconds : list(of_rank)) {
      const double value = lookup::number(seconds).value_or(0) / count;
      if (repetition == longest.size()) longest.push_back(0);
      longest[repetition] = std::max(longest[repetition], value);
      ++repetition;
    }
  }
  return longest;
}

struct Times {
  double least = none, mean = none;
};

Times times_of(const std::vector<double>& seconds, bool wrong) {
  if (seconds.empty() || wrong) return {};
  return {*std::min_element(seconds.begin(), seconds.end()),
          std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size())};
}

void add_times(Json& results, const std::string& name, const Times& times) {
  results["min_" + name] = quantity("s", times.least);
  results["avg_" + name] = quantity("s", times.mean);
}

void add_rates(Json& results, const std::string& name, const char* unit, double amount, const Times& times) {
  results["max_" + name] = quantity(unit, amount / times.least / giga);
  results["avg_" + name] = quantity(unit, amount / times.mean / giga);
}

Json as_timings(const std::vector<double>& seconds) {
  Json timings = Json::array();
  for (const double value : seconds) timings.push_back(quantity("s", value));
  return timings;
}

Json torus(const Json& measured) {
  unsigned rows = 0, columns = 0;
  if (std::sscanf(text(at(measured, {"labels", "grid"})).c_str(), "%u x %u", &rows, &columns) != 2) return nullptr;
  return {{"P", rows}, {"Q", columns}};
}

}  // namespace

Json ptrans_hpcc_form(const Json& record) {
  const Json& cases = list(at(record, "cases"));
  const Json& measured = cases.empty() ? at(cases, "") : cases.front();
  const bool wrong = text(at(measured, {"outcome", "status"})) == "failed";
  const std::string type = text(at(measured, {"labels", "type"}), "float");
  const double size = lookup::number(at(measured, {"labels", "size"})).value_or(0), items = size * size;
  const double bytes = arrays * items * static_cast<double>(size_of(parse_scalar_type(type)));
  const std::vector<double> calculation = phase_seconds_of(measured, "kernel");
  const std::vector<double> transfer = phase_seconds_of(measured, "exchange");
  const Times whole = times_of(lookup::seconds_of_slowest_rank(measured), wrong);
  const Times calc = times_of(calculation, wrong), sent = times_of(transfer, wrong);
  Json results = Json::object();
  add_times(results, "t", whole);
  add_times(results, "calc_t", calc);
  add_times(results, "transfer_t", sent);
  add_rates(results, "calc_flops", "GFLOP/s", items, calc);
  add_rates(results, "mem_bandwidth", "GB/s", bytes, calc);
  add_rates(results, "transfer_bandwidth", "GB/s", bytes, sent);
  const bool diagonal = text(at(measured, {"labels", "distribution"})) == "diagonal";
  return {{"name", "PTRANS"},
          {"results", std::move(results)},
          {"timings", {{"calculation", as_timings(calculation)}, {"transfer", as_timings(transfer)}}},
          {"errors",
           {{"max_error", at(measured, {"validation", "error"})}, {"epsilon", epsilon_of(parse_scalar_type(type))}}},
          {"settings",
           {{"Matrix Size", at(measured, {"labels", "size"})},
            {"Block Size", at(measured, {"labels", "block"})},
            {"Data Type", type},
            {"Data Handler", diagonal ? "DIAG" : "PQ"},
            {"FPGA Torus", torus(measured)}}}};
}

namespace {

const RegisteredHpccParts registered_ptrans_form("ptrans", ptrans_hpcc_form);

}  // namespace

}  // namespace plumb
