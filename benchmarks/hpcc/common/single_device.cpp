#include "benchmarks/hpcc/common/single_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace plumb::hpcc {

std::string to_string(Variant variant) {
  switch (variant) {
    case Variant::single_work_item:
      return "single_work_item";
    case Variant::nd_range:
      return "nd_range";
    default:
      return "library";
  }
}

VariantChoice::VariantChoice(Parameters& owner)
    : Choice(owner,
             {"variant",
              "form of the kernels: one work item in a pipeline (FPGAs), many work items, or an optimised library; "
              "default: by device"},
             "default", {"default", "single_work_item", "nd_range", "library"}) {}

Variant VariantChoice::on(const DeviceInfo& device) const {
  for (const Variant variant : {Variant::single_work_item, Variant::nd_range, Variant::library})
    if (*this == to_string(variant)) return variant;
  return device.type == "accelerator" ? Variant::single_work_item : Variant::nd_range;
}

void require_type(const DeviceInfo& device, ScalarType type) {
  const bool lacks = (type == ScalarType::f16 && !device.has(Feature::fp16)) ||
                     (type == ScalarType::f64 && !device.has(Feature::fp64));
  if (lacks) throw Unsupported(fmt::format("{} does not support {}", device.name, to_string(type)));
}

std::vector<Metric> parallel_metrics(const std::string& name, const std::string& unit, double scale, double amount,
                                     const CaseResult& result, int ranks) {
  const auto rate = [&](double seconds) { return amount / scale / seconds; };
  const std::string each = ranks == 1 ? "one rank" : fmt::format("{} ranks at once", ranks);
  std::vector<Metric> metrics{
      {name, rate(result.best_seconds()) * ranks, unit, each + ", time of the slowest in the best repetition"},
      {name + "_median", rate(result.median_seconds()) * ranks, unit,
       each + ", median over repetitions of the slowest's time"}};
  const std::vector<double>& best = result.rank_best_seconds;
  if (ranks == 1 || best.empty()) return metrics;
  const auto slowest = std::max_element(best.begin(), best.end());
  double sum = 0;
  for (const double seconds : best) sum += rate(seconds);
  metrics.push_back({name + "_per_rank", sum / static_cast<double>(best.size()), unit,
                     "mean over ranks, each by its own best repetition"});
  metrics.push_back({name + "_slowest_rank", rate(*slowest), unit,
                     fmt::format("rank {}, by its best repetition", slowest - best.begin())});
  return metrics;
}

}  // namespace plumb::hpcc
