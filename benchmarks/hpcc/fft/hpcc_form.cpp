#include "benchmarks/hpcc/fft/hpcc_form.hpp"

#include <algorithm>
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

// The first case with samples; null if there is none.
const Json& measured_case(const Json& record) {
  static const Json none = nullptr;
  for (const Json& measured : list(at(record, "cases")))
    if (!lookup::seconds_of_slowest_rank(measured).empty()) return measured;
  return none;
}

Json fft_results(const Json& record, const Json& measured, const std::vector<double>& seconds) {
  if (seconds.empty() || text(at(measured, {"outcome", "status"})) == "failed") {
    const double none = std::numeric_limits<double>::quiet_NaN();
    Json results{{"t_avg", quantity("s", none)}, {"t_min", quantity("s", none)}};
    for (const char* rate : {"gflops_avg", "gflops_min"}) {
      results[rate] = quantity("GFLOP/s", none);
      results[rate]["reason"] = seconds.empty() ? "nothing was measured" : "the transforms were wrong";
    }
    return results;
  }
  const double ranks = lookup::number(at(record, {"world", "ranks"})).value_or(1);
  const double flops = ranks * lookup::number(at(measured, {"work", "flops"})).value_or(0);
  const double batch = lookup::number(at(measured, {"labels", "batch"})).value_or(1);
  const double best = *std::min_element(seconds.begin(), seconds.end());
  const double mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
  return {{"gflops_avg", quantity("GFLOP/s", flops / mean / giga)},
          {"gflops_min", quantity("GFLOP/s", flops / best / giga)},
          {"t_avg", quantity("s", mean / batch)},
          {"t_min", quantity("s", best / batch)}};
}

}  // namespace

Json fft_hpcc_form(const Json& record) {
  const Json& measured = measured_case(record);
  const std::vector<double> seconds = lookup::seconds_of_slowest_rank(measured);
  Json execution = Json::array();
  for (const double value : seconds) execution.push_back(quantity("s", value));
  const std::string type = text(at(record, {"parameters", "type"}), "float");
  const auto points = lookup::count(at(measured, {"labels", "points"})).value_or(0);
  return {{"name", "FFT"},
          {"results", fft_results(record, measured, seconds)},
          {"timings", {{"execution", std::move(execution)}}},
          {"errors",
           {{"residual", at(measured, {"validation", "error"})}, {"epsilon", epsilon_of(parse_scalar_type(type))}}},
          {"settings",
           {{"FFT Size", points},
            {"Batch Size", lookup::count(at(measured, {"labels", "batch"})).value_or(0)},
            {"Inverse", at(record, {"parameters", "inverse"})},
            {"Data Type", type}}}};
}

namespace {

const RegisteredHpccParts registered_fft_form("fft", fft_hpcc_form);

}  // namespace

}  // namespace plumb
