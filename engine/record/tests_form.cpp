#include "record/tests_form.hpp"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <vector>

#include "core/error.hpp"
#include "record/forms.hpp"
#include "record/lookup.hpp"

namespace plumb {

using lookup::at;
using lookup::list;
using lookup::text;

namespace {

void need_benchmark(const Json& record, const std::string& form) {
  const std::string benchmark = benchmark_of_form(form);
  const std::string is = text(at(record, {"benchmark", "name"}), "?");
  if (is != benchmark)
    throw UsageError(fmt::format("the form {} is for {}, and this is a record of {}", form, benchmark, is));
}

// Consecutive cases of one test.
struct TestBlock {
  std::string test;
  std::vector<const Json*> cases;
};

std::vector<TestBlock> blocks_of(const Json& record) {
  std::vector<TestBlock> blocks;
  std::string last;
  for (const Json& measured : list(at(record, "cases"))) {
    const std::string group = text(at(measured, "group"));
    if (blocks.empty() || group != last) blocks.push_back({text(at(measured, {"labels", "test"}), group), {}});
    last = group;
    blocks.back().cases.push_back(&measured);
  }
  return blocks;
}

// What the first column names: an operation, or a size.
std::string size_of(const Json& measured) {
  const std::string operation = text(at(measured, {"labels", "operation"}));
  if (!operation.empty()) return operation;
  const auto bytes = lookup::count(at(measured, {"labels", "bytes"}));
  return bytes ? std::to_string(*bytes) : "N/A";
}

std::optional<double> metric(const Json& measured, const std::string& name) {
  for (const Json& one : list(at(measured, "metrics")))
    if (text(at(one, "name")) == name) return lookup::number(at(one, "value"));
  return std::nullopt;
}

// Why there are no figures, as a comment; "" where there are.
std::string excuse(const Json& measured) {
  const std::string status = text(at(measured, {"outcome", "status"}), "?");
  if (at(measured, "summary").is_object() && (status == "passed" || status == "skipped")) return "";
  return fmt::format("# {}: {}: {}\n", size_of(measured), status, text(at(measured, {"outcome", "reason"})));
}

std::string shoms_line(const Json& measured) {
  if (std::string reason = excuse(measured); !reason.empty()) return reason;
  constexpr double nano = 1e-9;
  const auto seconds = [&](const char* member) { return lookup::seconds_per_count(measured, member).value_or(0); };
  const auto operations =
      lookup::count(at(measured, "count")).value_or(1) * lookup::count(at(measured, "repetitions")).value_or(0);
  // The record's rate is of the best repetition, SHOMS' of the average.
  std::string rate = "N/A";
  if (const auto best = metric(measured, "bandwidth"); best && seconds("mean_s") > 0)
    rate = fmt::format("{:.2f}", *best * 1e3 * seconds("min_s") / seconds("mean_s"));
  return fmt::format("{:>12} {:>14} {:>16.2f} {:>16.2f} {:>16.2f} {:>22}\n", size_of(measured), operations,
                     seconds("min_s") / nano, seconds("max_s") / nano, seconds("mean_s") / nano, rate);
}

// What OSU's tests print beside the size: a heading and the metric that it shows.
struct OsuColumn {
  const char* heading;
  const char* metric;
};
struct OsuTest {
  const char* title;
  std::vector<OsuColumn> columns;
};

const OsuTest& osu_test(const std::string& kind) {
  static const std::map<std::string, OsuTest> tests{
      {"latency", {"Latency", {{"Latency (us)", "latency"}, {"Injection (us)", "injection"}}}},
      {"bandwidth", {"Bandwidth", {{"Bandwidth (MB/s)", "bandwidth"}}}},
      {"message rate", {"Message Rate", {{"Messages/s", "message_rate"}}}},
      {"overlap",
       {"Overlap",
        {{"Overall(us)", "latency"},
         {"Compute(us)", "compute"},
         {"Pure Comm.(us)", "pure_communication"},
         {"Overlap(%)", "overlap"}}}},
      {"atomic", {"Atomic", {{"Million ops/s", "operation_rate"}, {"Latency (us)", "latency"}}}},
      {"collective", {"Collective", {{"Avg Latency(us)", "latency"}}}}};
  static const OsuTest unknown{"", {{"Latency (us)", "latency"}}};
  const auto found = tests.find(kind);
  return found == tests.end() ? unknown : found->second;
}

std::string osu_line(const Json& measured, const OsuTest& test) {
  if (std::string reason = excuse(measured); !reason.empty()) return reason;
  std::string line = fmt::format("{:<22}", size_of(measured));
  for (const OsuColumn& column : test.columns) {
    const auto value = metric(measured, column.metric);
    line += value ? fmt::format("{:>20.2f}", *value) : fmt::format("{:>20}", "N/A");
  }
  return line + "\n";
}

}  // namespace

std::string shoms_form(const Json& record) {
  need_benchmark(record, "shoms");
  const std::string rule(96, '-');
  std::string result;
  for (const TestBlock& block : blocks_of(record)) {
    result += fmt::format("#{}\n# Benchmarking {}\n# #processes = {}\n", rule, block.test,
                          lookup::words(at(record, {"world", "ranks"})));
    const Json& labels = at(*block.cases.front(), "labels");
    if (at(labels, "core_0").is_number())
      result +=
          fmt::format("# cores = {} {}\n", lookup::words(at(labels, "core_0")), lookup::words(at(labels, "core_1")));
    result += fmt::format("#{}\n{:>12} {:>14} {:>16} {:>16} {:>16} {:>22}\n", rule, "#bytes", "#repetitions",
                          "t_min[nsec]", "t_max[nsec]", "t_avg[nsec]", "Bw_aggregated[MB/sec]");
    for (const Json* measured : block.cases) result += shoms_line(*measured);
    result += "\n";
  }
  return result;
}

std::string osu_form(const Json& record) {
  need_benchmark(record, "osu");
  std::string result;
  for (const TestBlock& block : blocks_of(record)) {
    const Json& labels = at(*block.cases.front(), "labels");
    const OsuTest& test = osu_test(text(at(labels, "kind")));
    const bool operations = at(labels, "operation").is_string();
    result += fmt::format("# OSU OpenSHMEM {} {} Test\n# PEs: {}, memory: {}\n", block.test, test.title,
                          lookup::words(at(record, {"world", "ranks"})), text(at(labels, "memory"), "heap"));
    std::string heading = fmt::format("{:<22}", operations ? "# Operation" : "# Size");
    for (const OsuColumn& column : test.columns) heading += fmt::format("{:>20}", column.heading);
    result += heading + "\n";
    for (const Json* measured : block.cases) result += osu_line(*measured, test);
    result += "\n";
  }
  return result;
}

}  // namespace plumb
