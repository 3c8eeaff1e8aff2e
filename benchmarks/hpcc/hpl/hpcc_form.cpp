#include "benchmarks/hpcc/hpl/hpcc_form.hpp"

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

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

// Per repetition, the time of the rank slowest in the phase; empty if no rank had it.
std::vector<double> longest_of(const Json& measured, const char* phase) {
  std::vector<double> longest;
  for (const Json& of_rank : list(at(measured, {"phases", phase, "by_rank"}))) {
    std::size_t repetition = 0;
    for (const Json& seconds : list(of_rank)) {
      if (repetition == longest.size()) longest.push_back(0);
      longest[repetition] = std::max(longest[repetition], lookup::number(seconds).value_or(0));
      ++repetition;
    }
  }
  return longest;
}

// name_mean, name_min and the rate: null if not measured, or wrong.
void add_part(Json& results, const std::string& time, const std::string& rate, double flops,
              const std::vector<double>& seconds, bool wrong) {
  double least = missing, mean = missing;
  if (!seconds.empty() && !wrong) {
    least = *std::min_element(seconds.begin(), seconds.end());
    mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
  }
  results[time + "_mean"] = quantity("s", mean);
  results[time + "_min"] = quantity("s", least);
  results[rate] = quantity("GFLOP/s", flops / least / giga);
}

Json as_list(const std::vector<double>& seconds) {
  Json timings = Json::array();
  for (const double value : seconds) timings.push_back(quantity("s", value));
  return timings;
}

Json grid_of(const Json& measured) {
  unsigned rows = 0, columns = 0;
  if (std::sscanf(text(at(measured, {"labels", "grid"})).c_str(), "%ux%u", &rows, &columns) != 2) return nullptr;
  return {{"P", rows}, {"Q", columns}};
}

}  // namespace

Json hpl_hpcc_form(const Json& record) {
  const Json& cases = list(at(record, "cases"));
  const Json& measured = cases.empty() ? at(cases, "") : cases.front();
  const bool wrong = text(at(measured, {"outcome", "status"})) == "failed";
  const std::string type = text(at(measured, {"labels", "type"}), "double");
  const bool dominant = text(at(measured, {"labels", "matrix"})) == "dominant";
  const double n = lookup::number(at(measured, {"labels", "n"})).value_or(0);
  const double lu = 2 * n * n * n / 3, solves = 2 * n * n;
  const std::vector<double> gefa = longest_of(measured, "factorisation"), gesl = longest_of(measured, "solve");
  Json results = Json::object();
  add_part(results, "t", "gflops", lu + solves, lookup::seconds_of_slowest_rank(measured), wrong);
  add_part(results, "tlu", "gflops_lu", lu, gefa, wrong);
  add_part(results, "tsl", "gflops_sl", solves, gesl, wrong);
  return {{"name", "LINPACK"},
          {"results", std::move(results)},
          {"timings", {{"gefa", as_list(gefa)}, {"gesl", as_list(gesl)}}},
          {"errors",
           {{"residual", nullptr},
            {"residual_norm",
             dominant ? at(measured, {"facts", "normalised_error"}) : at(measured, {"validation", "error"})},
            {"epsilon", epsilon_of(parse_scalar_type(type))}}},
          {"settings",
           {{"Matrix Size", at(measured, {"labels", "n"})},
            {"Block Size", at(measured, {"labels", "block"})},
            {"Emulate", at(record, "emulated").is_string()},
            {"Diagonally Dominant", dominant},
            {"Data Type", type},
            {"FPGA Torus", grid_of(measured)}}}};
}

namespace {

const RegisteredHpccParts registered_hpl_form("hpl", hpl_hpcc_form);

}  // namespace

}  // namespace plumb
