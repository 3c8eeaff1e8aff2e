// The form `osu`: the columns of OSU's OpenSHMEM tests, a block for each test, for scripts that read those:
// "# OSU OpenSHMEM Put Test", then size and latency, bandwidth, rate, overlap or operations, as the test has them.
#include <fmt/format.h>

#include <map>

#include "record/forms.hpp"
#include "record/lookup.hpp"
#include "record/tests_form.hpp"

namespace plumb::osu {

using lookup::at;
using lookup::text;
using namespace tests_form;

namespace {

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

std::string osu_form(const Json& record) {
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

const RegisteredForm registered_form("osu",
                                     {"osu_shmem",
                                      [](const std::string& benchmark) { return benchmark == "osu_shmem"; }, osu_form});

}  // namespace

}  // namespace plumb::osu
