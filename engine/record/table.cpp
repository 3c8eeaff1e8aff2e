#include "record/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "record/lookup.hpp"

namespace plumb {

using layout::Page;
using lookup::at;
using lookup::count;
using lookup::list;
using lookup::number;
using lookup::text;

namespace {

// Prefixes an aggregate's name with its group's, if there are several groups.
std::string aggregate_name(const Json& metric, bool several_groups) {
  const std::string group = text(at(metric, "group"));
  return text(at(metric, "name"), "unnamed") + (several_groups && !group.empty() ? " (" + group + ")" : "");
}

bool in_several_groups(const Json& metrics) {
  std::vector<std::string> groups;
  for (const Json& metric : metrics)
    if (const std::string group = text(at(metric, "group")); !group.empty()) groups.push_back(group);
  return std::any_of(groups.begin(), groups.end(), [&](const std::string& group) { return group != groups.front(); });
}

std::string aggregate_text(const Json& metric) {
  const std::string convention = text(at(metric, "convention"));
  if (const auto value = number(at(metric, "value")))
    return layout::format_value(*value) + " " + text(at(metric, "unit")) +
           (at(metric, "emulated") == Json(true) ? " (emulated)" : "") + (convention.empty() ? "" : ": " + convention);
  return "none: " + text(at(metric, "reason"), "no reason is given");
}

void write_aggregates(Page& page, const Json& metrics) {
  const bool several = in_several_groups(metrics);
  std::size_t width = 0;
  for (const Json& metric : metrics) width = std::max(width, layout::shown_width(aggregate_name(metric, several)));
  for (const Json& metric : metrics) page.entry(aggregate_name(metric, several), aggregate_text(metric), width + 2);
}

// Warnings of cases, merged: the first one's text, and the number of cases.
struct Doubt {
  std::string code, first;
  std::size_t cases = 0;
};

// By code, without those covered by the run's own warnings (a killed run has none).
std::vector<Doubt> doubts_of_cases(const Json& cases, const Json& run_warnings) {
  std::vector<Doubt> doubts;
  for (const Json& measured : cases)
    for (const Json& warning : list(at(measured, "warnings"))) {
      const std::string code = text(at(warning, "code"), "unnamed");
      const bool said = std::any_of(run_warnings.begin(), run_warnings.end(),
                                    [&](const Json& of_run) { return text(at(of_run, "code")) == code; });
      if (said) continue;
      auto doubt = std::find_if(doubts.begin(), doubts.end(), [&](const Doubt& known) { return known.code == code; });
      if (doubt == doubts.end())
        doubt = doubts.insert(doubt, {code, text(at(measured, "key")) + ": " + text(at(warning, "text")), 0});
      ++doubt->cases;
    }
  return doubts;
}

void write_warnings(Page& page, const Json& record) {
  const Json& warnings = list(at(record, "warnings"));
  for (const Json& warning : warnings)
    page.entry("warning", text(at(warning, "code"), "unnamed") + ": " + text(at(warning, "text")));
  for (const Doubt& doubt : doubts_of_cases(list(at(record, "cases")), warnings))
    page.entry(
        "warning",
        fmt::format("{}: {}{}", doubt.code, doubt.first,
                    doubt.cases > 1 ? fmt::format(" (and {} more)", layout::counted(doubt.cases - 1, "case")) : ""));
}

// Number of cases by stopping rule.
std::string stop_text(const Json& cases) {
  static constexpr std::array<std::pair<const char*, const char*>, 5> rules{
      {{"confidence", "with an interval narrow enough"},
       {"repetitions", "at the limit of repetitions"},
       {"time", "at the time limit"},
       {"fixed", "after the number of repetitions asked for"},
       {"once", "after one repetition"}}};
  std::string said;
  for (const auto& [reason, words] : rules) {
    const auto ended = std::count_if(cases.begin(), cases.end(), [reason = reason](const Json& measured) {
      return text(at(measured, {"stop", "reason"})) == reason;
    });
    if (ended > 0)
      said += fmt::format("{}{} {}", said.empty() ? "" : ", ", layout::counted(static_cast<std::size_t>(ended), "case"),
                          words);
  }
  return said;
}

std::string clock_text(const Json& sync) {
  const auto late = count(at(sync, "late_starts")), starts = count(at(sync, "starts"));
  double residual = 0;
  for (const double seconds : lookup::numbers(at(sync, "residual_s")))
    residual = std::max(residual, std::fabs(seconds));
  std::string said;
  if (list(at(sync, "residual_s")).size() > 1)
    said = "the ranks' clocks agreed within " + format_seconds(residual) + " at the end";
  if (late && starts)
    said += fmt::format("{}{} of {} starts were late{}", said.empty() ? "" : "; ", *late, *starts,
                        *late > 0 ? " and done again" : "");
  return said;
}

std::string outcome_counts(const Json& cases) {
  std::string said;
  for (const char* status : {"passed", "failed", "error", "unsupported", "skipped"}) {
    const auto of_it = std::count_if(cases.begin(), cases.end(), [&](const Json& measured) {
      return text(at(measured, {"outcome", "status"})) == status;
    });
    if (of_it > 0) said += fmt::format("{}{} {}", said.empty() ? "" : ", ", of_it, status);
  }
  return layout::counted(cases.size(), "case") + (said.empty() ? "" : ": " + said);
}

void write_outcome(Page& page, const Json& record) {
  const Json& cases = list(at(record, "cases"));
  const std::string status = text(at(record, "status")), reason = text(at(record, "reason"));
  const std::string here =
      fmt::format("{} of {} planned cases are here", cases.size(), lookup::words(at(record, "planned_cases")));
  if (status == "running")
    page.entry("unfinished", "the run did not finish (killed, or still running): " + here);
  else if (status == "aborted")
    page.entry("unfinished", "the run did not finish" + (reason.empty() ? "" : " (" + reason + ")") + ": " + here);
  const std::string outcome = text(at(record, {"outcome", "status"}), "unknown, as the run did not finish");
  const std::string why = text(at(record, {"outcome", "reason"}));
  page.entry("outcome", outcome + (why.empty() ? "" : ": " + why) + " (" + outcome_counts(cases) + ")");
}

}  // namespace

std::string table_form(const Json& record, const Json& expected) {
  Page page;
  table_parts::write_head(page, record);
  page.blank();
  table_parts::write_cases(page, record, expected);
  page.blank();
  write_aggregates(page, list(at(record, "metrics")));
  page.blank();
  write_warnings(page, record);
  page.entry("stopped", stop_text(list(at(record, "cases"))));
  page.entry("clocks", clock_text(at(record, "clock_sync")));
  write_outcome(page, record);
  return page.text();
}

}  // namespace plumb
