#include "benchmarks/hpcc/b_eff/hpcc_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/hpcc/common/hpcc_form.hpp"
#include "record/lookup.hpp"

namespace plumb {

using lookup::at;
using lookup::list;
using lookup::text;

namespace {

// Cases by log2 of the message size.
using Sizes = std::map<int, const Json*>;

Sizes sizes_in(const Json& record, const std::string& ring) {
  Sizes sizes;
  for (const Json& measured : list(at(record, "cases"))) {
    const Json& labels = at(measured, "labels");
    const auto bytes = lookup::count(at(labels, "message_bytes"));
    if (text(at(labels, "part")) != "transfer" || text(at(labels, "ring")) != ring) continue;
    if (bytes && std::has_single_bit(*bytes)) sizes[std::countr_zero(*bytes)] = &measured;
  }
  return sizes;
}

Sizes transfers(const Json& record) {
  Sizes natural = sizes_in(record, "natural");
  return natural.empty() ? sizes_in(record, "random") : natural;
}

// Seconds of every repetition on every rank; empty if any rank has none.
std::vector<std::vector<double>> seconds_by_rank(const Json& measured) {
  std::vector<std::vector<double>> ranks;
  for (const Json& samples : list(at(measured, {"samples", "by_rank"}))) {
    ranks.push_back(lookup::numbers(samples));
    if (ranks.back().empty()) return {};
  }
  return ranks;
}

Json rank_timings(const std::vector<std::vector<double>>& ranks, std::uint64_t count, int size) {
  Json result = Json::array();
  for (const std::vector<double>& seconds : ranks) {
    Json timings = Json::array();
    for (const double value : seconds) timings.push_back({{"unit", "s"}, {"value", value}});
    result.push_back({{"looplength", count}, {"messageSize", size}, {"timings", std::move(timings)}});
  }
  return result;
}

// Null for a size without samples.
Json size_timings(const Json& record, const Json& measured, int size) {
  const auto ranks = seconds_by_rank(measured);
  if (ranks.empty()) return nullptr;
  double slowest = 0;
  for (const std::vector<double>& seconds : ranks)
    slowest = std::max(slowest, *std::min_element(seconds.begin(), seconds.end()));
  const std::uint64_t count = lookup::count(at(measured, "count")).value_or(1);
  const auto replications = lookup::count(at(record, {"parameters", "replications"})).value_or(1);
  const double bytes =
      static_cast<double>(ranks.size() * replications * count) * static_cast<double>(std::uint64_t{1} << size);
  return {{"maxCalcBW", slowest > 0 ? finite_or_null(bytes / slowest) : Json(nullptr)},
          {"maxMinCalculationTime", slowest},
          {"timings", rank_timings(ranks, count, size)}};
}

Json b_eff_result(const Sizes& sizes, const Json& timings) {
  const auto wrong = std::count_if(sizes.begin(), sizes.end(), [](const auto& size) {
    return text(at(*size.second, {"outcome", "status"})) == "failed";
  });
  double sum = 0;
  for (const auto& [size, of_it] : timings.items()) sum += lookup::number(at(of_it, "maxCalcBW")).value_or(0);
  const bool given = wrong == 0 && !timings.empty();
  Json result{{"unit", "B/s"},
              {"value", given ? finite_or_null(sum / static_cast<double>(timings.size())) : Json(nullptr)}};
  if (wrong > 0) result["reason"] = fmt::format("the content of {} of {} message sizes was wrong", wrong, sizes.size());
  if (wrong == 0 && timings.empty()) result["reason"] = "no message size was measured";
  return result;
}

Json errors_of(const Sizes& sizes) {
  std::uint64_t wrong = 0, checked = 0;
  Json by_size = Json::object();
  for (const auto& [size, measured] : sizes) {
    const Json& validation = at(*measured, "validation");
    const auto items = lookup::count(at(validation, "wrong_items"));
    if (!items || at(validation, "performed") != Json(true)) continue;
    by_size[std::to_string(size)] = *items;
    wrong += *items;
    for (const Json& bytes : list(at(validation, "items_checked"))) checked += lookup::count(bytes).value_or(0);
  }
  Json errors{{"wrong_bytes", wrong}, {"checked_bytes", checked}};
  errors.update(by_size);
  return errors;
}

// The maximum of a member over the sizes, as HPCC FPGA has a single value.
std::uint64_t largest(const Sizes& sizes, const char* member) {
  std::uint64_t most = 0;
  for (const auto& [size, measured] : sizes) most = std::max(most, lookup::count(at(*measured, member)).value_or(0));
  return most;
}

Json settings_of(const Sizes& sizes) {
  Json range = nullptr;
  if (!sizes.empty()) range = fmt::format("2^{} - 2^{}", sizes.begin()->first, sizes.rbegin()->first);
  return {{"Loop Length", largest(sizes, "count")},
          {"Message Sizes", std::move(range)},
          {"Repetitions", largest(sizes, "repetitions")}};
}

}  // namespace

Json b_eff_hpcc_form(const Json& record) {
  const Sizes sizes = transfers(record);
  Json timings = Json::object();
  for (const auto& [size, measured] : sizes)
    if (Json of_it = size_timings(record, *measured, size); !of_it.is_null())
      timings[std::to_string(size)] = std::move(of_it);
  Json result = b_eff_result(sizes, timings);
  return {{"name", "effective bandwidth"},
          {"results", {{"b_eff", std::move(result)}}},
          {"timings", std::move(timings)},
          {"errors", errors_of(sizes)},
          {"settings", settings_of(sizes)}};
}

namespace {

const RegisteredHpccParts registered_b_eff_form("b_eff", b_eff_hpcc_form);

}  // namespace

}  // namespace plumb
