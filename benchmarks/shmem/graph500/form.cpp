// The form `graph500`: reference 3.0's output, to the character, for scripts and submissions that read it.
#include <fmt/printf.h>

#include <map>

#include "benchmarks/shmem/graph500/graph500.hpp"
#include "record/forms.hpp"
#include "record/lookup.hpp"

namespace plumb::graph500 {

namespace {

using lookup::at;
using lookup::number;

// The searches of one kernel.
struct Searches {
  std::vector<double> seconds, edges, validation_seconds;
  std::vector<double> seconds_of_edge() const {
    std::vector<double> all;
    for (std::size_t i = 0; i < seconds.size(); ++i) all.push_back(seconds[i] / edges[i]);
    return all;
  }
};

std::string line(const std::string& key, const std::string& value) {
  return fmt::format("{:<32}{}\n", key + ":", value);
}
std::string short_number(double value) {
  return fmt::sprintf("%g", value);
}
std::string long_number(double value) {
  return fmt::sprintf("%.11g", value);
}

std::string statistics_lines(const std::string& kernel, const std::string& what, const Statistics& values,
                             std::string (*words)(double)) {
  return line(kernel + "min_" + what, words(values.minimum)) +
         line(kernel + "firstquartile_" + what, words(values.first_quartile)) +
         line(kernel + "median_" + what, words(values.median)) +
         line(kernel + "thirdquartile_" + what, words(values.third_quartile)) +
         line(kernel + "max_" + what, words(values.maximum)) + line(kernel + "mean_" + what, words(values.mean)) +
         line(kernel + "stddev_" + what, words(values.deviation));
}

std::string rate_lines(const std::string& kernel, const Statistics& rates) {
  return line(kernel + "min_TEPS", short_number(rates.minimum)) +
         line(kernel + "firstquartile_TEPS", short_number(rates.first_quartile)) +
         line(kernel + "median_TEPS", short_number(rates.median)) +
         line(kernel + "thirdquartile_TEPS", short_number(rates.third_quartile)) +
         line(kernel + "max_TEPS", short_number(rates.maximum)) +
         fmt::format("{:<29}!  {}\n", kernel + "harmonic_mean_TEPS:", short_number(rates.mean)) +
         line(kernel + "harmonic_stddev_TEPS", short_number(rates.deviation));
}

double set_up_seconds(const Json& record, const std::string& phase) {
  double slowest = 0;
  for (const Json& one : lookup::list(at(record, "set_ups")))
    if (lookup::text(at(one, "phase")) == phase)
      for (const double seconds : lookup::numbers(at(one, "by_rank"))) slowest = std::max(slowest, seconds);
  return slowest;
}

// By variant, then by kernel in the reference's order: bfs, sssp.
using Variants = std::map<std::string, std::map<std::string, Searches>>;

std::string variant_text(const Json& record, const std::map<std::string, Searches>& kernels) {
  const Json& first = at(record, "cases").front();
  const auto number_of = [](const Json& value) { return short_number(number(value).value_or(0)); };
  std::string text = line("SCALE", number_of(at(first, {"labels", "scale"}))) +
                     line("edgefactor", number_of(at(first, {"labels", "edge_factor"}))) +
                     line("NBFS", std::to_string(kernels.begin()->second.seconds.size())) +
                     line("graph_generation", short_number(set_up_seconds(record, "generation"))) +
                     line("num_mpi_processes", number_of(at(record, {"world", "ranks"}))) +
                     line("construction_time", short_number(set_up_seconds(record, "construction")));
  const auto prefix = [](const std::string& kernel) { return fmt::format("{:<5}", kernel); };
  for (const auto& [kernel, searches] : kernels)
    text += statistics_lines(prefix(kernel), "time", statistics_of(searches.seconds), short_number);
  text += statistics_lines("", "nedge", statistics_of(kernels.begin()->second.edges), long_number);
  for (const auto& [kernel, searches] : kernels)
    text += rate_lines(prefix(kernel), rates_of(searches.seconds_of_edge()));
  for (const auto& [kernel, searches] : kernels)
    text += statistics_lines(prefix(kernel), "validate", statistics_of(searches.validation_seconds), short_number);
  return text;
}

// With one variant for each kernel, the text is one, as the reference's.
void merge_kernels(Variants& variants) {
  std::map<std::string, Searches> all;
  std::size_t kinds = 0;
  for (const auto& [variant, kernels] : variants) {
    kinds += kernels.size();
    all.insert(kernels.begin(), kernels.end());
  }
  if (all.size() == kinds) variants = {{"", all}};
}

std::string graph500_form(const Json& record) {
  Variants variants;
  for (const Json& one : lookup::list(at(record, "cases"))) {
    const std::string status = lookup::text(at(one, {"outcome", "status"}));
    if (status == "unsupported") continue;  // fewer roots than requested
    const std::vector<double> seconds = lookup::seconds_of_slowest_rank(one);
    const auto edges = number(at(one, {"tallies", "edges"}));
    if (status != "passed" || seconds.empty() || !edges) return "No results printed for invalid run.\n";
    Searches& searches =
        variants[lookup::text(at(one, {"labels", "variant"}))][lookup::text(at(one, {"labels", "kernel"}))];
    searches.seconds.push_back(seconds.front());
    searches.edges.push_back(*edges);
    searches.validation_seconds.push_back(number(at(one, {"facts", "validation_seconds"})).value_or(-1));
  }
  if (variants.empty()) return "No results printed for invalid run.\n";
  merge_kernels(variants);
  std::string text;
  for (const auto& [variant, kernels] : variants) {
    if (variants.size() > 1) text += fmt::format("# {}\n", variant);
    text += variant_text(record, kernels);
  }
  return text;
}

const RegisteredForm registered_graph500_form("graph500",
                                              {"graph500",
                                               [](const std::string& benchmark) { return benchmark == "graph500"; },
                                               graph500_form, false});

}  // namespace

}  // namespace plumb::graph500
