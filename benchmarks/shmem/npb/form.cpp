// The form `npb`: the official block of each case, for scripts that read it.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/version.hpp"
#include "record/emulated.hpp"
#include "record/forms.hpp"
#include "record/lookup.hpp"

namespace plumb::npb {

namespace {

using lookup::at;

std::string line(const std::string& key, const std::string& value) {
  return fmt::format(" {:<16}={:>25}\n", key, value);
}

std::string metric_text(const Json& measured, const std::string& name) {
  for (const Json& metric : lookup::list(at(measured, "metrics")))
    if (lookup::text(at(metric, "name")) == name)
      if (const auto value = lookup::number(at(metric, "value"))) return fmt::format("{:.2f}", *value);
  return "-";
}

std::string block(const std::string& benchmark, const Json& record, const Json& measured) {
  const auto label = [&](const char* name) { return lookup::words(at(measured, {"labels", name})); };
  const std::string letters = benchmark.substr(benchmark.find('_') + 1, 2);
  std::string title;
  for (const char letter : letters) title += static_cast<char>(letter - 'a' + 'A');
  const std::string ranks = lookup::words(at(record, {"world", "ranks"}));
  const bool passed = lookup::text(at(measured, {"outcome", "status"})) == "passed";
  const std::string verified = passed && label("class") == "U" ? "NOT PERFORMED"
                               : passed                        ? "SUCCESSFUL"
                                                               : "UNSUCCESSFUL";
  return fmt::format("\n\n {} Benchmark Completed{}\n", title, title == "IS" ? "" : ".") +
         line("Class", label("class")) + line("Size", label("size")) + line("Iterations", label("iterations")) +
         line("Time in seconds", metric_text(measured, "time")) + line("Total processes", ranks) +
         line("Active procs", ranks) + line("Mop/s total", metric_text(measured, "mops_total")) +
         line("Mop/s/process", metric_text(measured, "mops_per_rank")) +
         line("Operation type", label("operation_type")) + line("Verification", verified) +
         line("Version", lookup::words(at(record, {"program", "version"})));
}

std::string npb_form(const Json& record) {
  const std::string benchmark = lookup::text(at(record, {"benchmark", "name"}));
  const Json& cases = lookup::list(at(record, "cases"));
  std::string text;
  for (const Json& measured : cases) {
    if (cases.size() > 1) text += fmt::format("# {}\n", lookup::text(at(measured, {"labels", "form"})));
    text += emulated_comment(record) + block(benchmark, record, measured);
  }
  return text;
}

const RegisteredForm registered_npb_form("npb",
                                         {"npb_is, npb_ep, npb_mg, npb_bt, npb_sp and npb_lu",
                                          [](const std::string& benchmark) { return benchmark.starts_with("npb_"); },
                                          npb_form});

}  // namespace

}  // namespace plumb::npb
