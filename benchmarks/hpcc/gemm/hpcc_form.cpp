#include "benchmarks/hpcc/gemm/hpcc_form.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
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

Json gemm_results(const Json& record, const Json& measured, const std::vector<double>& seconds) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  if (seconds.empty() || text(at(measured, {"outcome", "status"})) == "failed")
    return {{"gflops", quantity("GFLOP/s", none)}, {"t_min", quantity("s", none)}, {"t_mean", quantity("s", none)}};
  const double best = *std::min_element(seconds.begin(), seconds.end());
  const double mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
  const double flops = lookup::number(at(measured, {"work", "flops"})).value_or(0);
  const double ranks = lookup::number(at(record, {"world", "ranks"})).value_or(1);
  return {{"gflops", quantity("GFLOP/s", flops * ranks / best / giga)},
          {"t_min", quantity("s", best)},
          {"t_mean", quantity("s", mean)}};
}

// Of the stored element type, as in HPCC FPGA.
Json epsilon_in(const Json& parameters) {
  const std::string type = text(at(parameters, "type"), "float");
  return epsilon_of(parse_scalar_type(type == "tf32" ? "float" : type));
}

}  // namespace

Json gemm_hpcc_form(const Json& record) {
  const Json& cases = list(at(record, "cases"));
  const Json& measured = cases.empty() ? at(cases, "") : cases.front();
  const Json& parameters = at(record, "parameters");
  const std::vector<double> seconds = lookup::seconds_of_slowest_rank(measured);
  Json timings = Json::array();
  for (const double value : seconds) timings.push_back(quantity("s", value));
  return {{"name", "GEMM"},
          {"results", gemm_results(record, measured, seconds)},
          {"timings", {{"execution", std::move(timings)}}},
          {"errors",
           {{"residual", at(measured, {"facts", "largest_error"})},
            {"residual_norm", at(measured, {"validation", "error"})},
            {"epsilon", epsilon_in(parameters)}}},
          {"settings",
           {{"Matrix Size", at(measured, {"labels", "rows"})},
            {"Block Size", at(measured, {"facts", "block_size"})},
            {"Data Type", at(parameters, "type")},
            {"Replicate Inputs", at(parameters, "replicate-inputs")}}}};
}

namespace {

const RegisteredHpccParts registered_gemm_form("gemm", gemm_hpcc_form);

}  // namespace

}  // namespace plumb
