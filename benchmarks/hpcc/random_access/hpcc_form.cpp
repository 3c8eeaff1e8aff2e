#include "benchmarks/hpcc/random_access/hpcc_form.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "benchmarks/hpcc/common/hpcc_form.hpp"
#include "record/lookup.hpp"

namespace plumb {

using lookup::at;
using lookup::list;
using lookup::text;

namespace {

const Json& chosen_case(const Json& record) {
  const Json& cases = list(at(record, "cases"));
  for (const Json& measured : cases)
    if (text(at(measured, {"labels", "updates"})) == "buffered" && at(measured, "summary").is_object()) return measured;
  for (const Json& measured : cases)
    if (at(measured, "summary").is_object()) return measured;
  return at(record, "none");
}

// Seconds of each repetition, mean over ranks; empty unless all ranks have the same number.
std::vector<double> mean_over_ranks(const Json& measured) {
  std::vector<double> means;
  const Json& ranks = list(at(measured, {"samples", "by_rank"}));
  for (const Json& samples : ranks) {
    const std::vector<double> seconds = lookup::numbers(samples);
    if (means.empty()) means.resize(seconds.size());
    if (seconds.size() != means.size()) return {};
    for (std::size_t i = 0; i < seconds.size(); ++i) means[i] += seconds[i] / static_cast<double>(ranks.size());
  }
  return means;
}

double updates_of_all_ranks(const Json& record, const Json& measured) {
  const auto bytes = lookup::count(at(measured, {"labels", "table_bytes"})).value_or(0);
  const bool is_shared = text(at(record, {"parameters", "table"})) == "shared";
  const auto tables = is_shared ? 1 : lookup::count(at(record, {"world", "ranks"})).value_or(0);
  const std::uint64_t words = bytes / sizeof(std::uint64_t);
  return 4.0 * static_cast<double>(words) * static_cast<double>(tables);
}

Json random_access_results(const Json& record, const Json& measured, const std::vector<double>& seconds) {
  const bool wrong = text(at(measured, {"outcome", "status"})) == "failed";
  const bool given = !wrong && !seconds.empty();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double least = given ? *std::min_element(seconds.begin(), seconds.end()) : nan;
  const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  const double mean = given ? sum / static_cast<double>(seconds.size()) : nan;
  const double rate = updates_of_all_ranks(record, measured) / 1e9 / least;
  const auto result = [&](const char* unit, double value) {
    Json entry{{"unit", unit}, {"value", finite_or_null(value)}};
    if (!given) entry["reason"] = wrong ? "the table was wrong" : "nothing was measured";
    return entry;
  };
  return {{"guops", result("GUOP/s", rate)}, {"t_min", result("s", least)}, {"t_mean", result("s", mean)}};
}

Json error_ratio(const Json& measured) {
  const Json& validation = at(measured, "validation");
  if (at(validation, "performed") != Json(true)) return nullptr;
  return at(validation, "error");
}

Json power_of_two(const Json& exponent) {
  const auto log2 = lookup::count(exponent);
  return log2 && *log2 < 64 ? Json(std::uint64_t{1} << *log2) : Json(nullptr);
}

}  // namespace

Json random_access_hpcc_form(const Json& record) {
  const Json& measured = chosen_case(record);
  const std::vector<double> seconds = mean_over_ranks(measured);
  Json execution = Json::array();
  for (const double value : seconds) execution.push_back({{"unit", "s"}, {"value", value}});
  return {{"name", "random access"},
          {"results", random_access_results(record, measured, seconds)},
          {"timings", {{"execution", std::move(execution)}}},
          {"errors", {{"ratio", error_ratio(measured)}}},
          {"settings",
           {{"Array Size", power_of_two(at(record, {"parameters", "size"}))},
            {"#RNGs", power_of_two(at(record, {"parameters", "rng-count-log"}))}}}};
}

namespace {

const RegisteredHpccParts registered_random_access_form("random_access", random_access_hpcc_form);

}  // namespace

}  // namespace plumb
