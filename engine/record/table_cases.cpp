// The case table and the notes below it.
#include <fmt/format.h>

#include <algorithm>

#include "core/units.hpp"
#include "record/lookup.hpp"
#include "record/table.hpp"

namespace plumb::table_parts {

using layout::Column;
using layout::Page;
using lookup::at;
using lookup::list;
using lookup::number;
using lookup::text;

namespace {

constexpr std::size_t most_keys = 3;
constexpr double usual_confidence = 0.02;

std::string key_of(const Json& measured) {
  return text(at(measured, "key"), "unnamed case");
}
std::string status_of(const Json& measured) {
  return text(at(measured, {"outcome", "status"}), "-");
}

// Half of the interval's width over the median, from the summary.
std::optional<double> half_width(const Json& measured) {
  const auto interval = lookup::numbers(at(measured, {"summary", "ci95_median_s"}));
  const auto median = number(at(measured, {"summary", "median_s"}));
  if (interval.size() != 2 || !median || *median <= 0) return std::nullopt;
  return (interval[1] - interval[0]) / 2 / *median;
}

double wanted_width(const Json& record) {
  return number(at(record, {"measuring", "confidence"})).value_or(usual_confidence);
}

// Measured, but with a half width unknown or above the target.
bool unsteady(const Json& measured, double wanted) {
  if (!at(measured, "summary").is_object() || text(at(measured, "policy")) == "once") return false;
  const auto width = half_width(measured);
  return !width || *width > wanted;
}

struct MetricKind {
  std::string name, unit;
  bool emulated = false;
};

const Json& find_metric(const Json& measured, const MetricKind& kind) {
  for (const Json& metric : list(at(measured, "metrics")))
    if (text(at(metric, "name")) == kind.name && text(at(metric, "unit")) == kind.unit) return metric;
  static const Json none;
  return none;
}

// Columns of the table, over all cases, in order.
std::vector<MetricKind> table_metrics(const Json& cases) {
  std::vector<MetricKind> kinds;
  for (const Json& measured : cases)
    for (const Json& metric : list(at(measured, "metrics"))) {
      const Json& shown = at(metric, "table");
      if (!shown.is_boolean() || !shown.get<bool>()) continue;
      const MetricKind kind{text(at(metric, "name")), text(at(metric, "unit")), at(metric, "emulated") == Json(true)};
      const auto same = [&](const MetricKind& known) { return known.name == kind.name && known.unit == kind.unit; };
      if (std::none_of(kinds.begin(), kinds.end(), same)) kinds.push_back(kind);
    }
  return kinds;
}

// One column of the table: `cell` formats a case.
template <class Cell>
Column column(const Json& cases, std::string heading, const std::string& unit, bool right, const Cell& cell) {
  Column result{std::move(heading), layout::printable(unit), right, {}};
  for (const Json& measured : cases) result.cells.push_back(cell(measured));
  return result;
}

Column label_column(const Json& cases, const std::string& name) {
  const bool numeric = std::all_of(cases.begin(), cases.end(), [&](const Json& measured) {
    const Json& value = at(at(measured, "labels"), name);
    return value.is_number() || value.is_null();
  });
  return column(cases, label_heading(name), "", numeric,
                [&](const Json& measured) { return label_value(name, at(at(measured, "labels"), name)); });
}

Column metric_column(const Json& cases, const MetricKind& kind, double wanted) {
  std::string heading = kind.name;
  std::replace(heading.begin(), heading.end(), '_', ' ');
  const std::string unit = kind.unit + (kind.emulated ? " (emulated)" : "");
  return column(cases, layout::printable(heading), unit, true, [&](const Json& measured) {
    const auto value = number(at(find_metric(measured, kind), "value"));
    return (value && unsteady(measured, wanted) ? "~" : "") + layout::format_value(value);
  });
}

std::string format_ratio(std::optional<double> ratio) {
  if (!ratio) return "-";
  return *ratio < 1000 ? fmt::format("{:.2f}", *ratio) : layout::format_value(*ratio);
}

// Whether cases were judged by parts, which gives three verdicts.
bool by_parts(const Json& expected) {
  return at(expected, "state").is_string();
}

void add_expectation(std::vector<Column>& columns, const Json& cases, const Json& expected) {
  const auto judged = [&](const Json& measured) -> const Json& { return at(at(expected, "cases"), key_of(measured)); };
  columns.push_back(column(cases, "expected", "us", true, [&](const Json& measured) {
    const auto seconds = number(at(judged(measured), "expected_s"));
    return seconds ? layout::format_value(*seconds / micro) : "-";
  }));
  columns.push_back(column(cases, "ratio", "", true,
                           [&](const Json& measured) { return format_ratio(number(at(judged(measured), "ratio"))); }));
  const auto word = [&](const char* heading, const char* name) {
    columns.push_back(column(cases, heading, "", false, [&, name](const Json& measured) {
      return layout::printable(text(at(judged(measured), name), "-"));
    }));
  };
  word(by_parts(expected) ? "efficiency" : "verdict", "verdict");
  if (by_parts(expected))
    for (const char* name : {"state", "promise"}) word(name, name);
  columns.push_back(column(cases, "bound", "", false, [&](const Json& measured) {
    return layout::printable(text(at(judged(measured), "bound"), "-"));
  }));
}

std::vector<Column> case_columns(const Json& record, const Json& expected) {
  const Json& cases = list(at(record, "cases"));
  std::vector<Column> columns;
  for (const std::string& name : split_labels(record).varying) columns.push_back(label_column(cases, name));
  if (columns.empty())
    columns.push_back(column(cases, "case", "", false, [](const Json& c) { return layout::printable(key_of(c)); }));
  // Omitted with verdicts, for lack of room; in the record.
  for (const char* name : {"count", "repetitions"})
    if (!by_parts(expected))
      columns.push_back(column(cases, name, "", true, [&](const Json& c) { return lookup::words(at(c, name)); }));
  const double wanted = wanted_width(record);
  for (const MetricKind& kind : table_metrics(cases)) columns.push_back(metric_column(cases, kind, wanted));
  if (expected.is_object()) add_expectation(columns, cases, expected);
  columns.push_back(column(cases, "outcome", "", false, [](const Json& c) { return layout::printable(status_of(c)); }));
  return columns;
}

// Keys of cases with the same note.
struct Note {
  std::string name, text;
  std::vector<std::string> keys;
};

void add_note(std::vector<Note>& notes, const std::string& name, const std::string& said, const std::string& key) {
  const auto same = [&](const Note& note) { return note.name == name && note.text == said; };
  const auto found = std::find_if(notes.begin(), notes.end(), same);
  if (found == notes.end())
    notes.push_back({name, said, {key}});
  else
    found->keys.push_back(key);
}

std::string reason_of(const Json& measured) {
  std::string reason = text(at(measured, {"outcome", "reason"}), "no reason is given");
  if (const std::size_t log = reason.find('\n'); log != std::string::npos)
    reason = reason.substr(0, log) + " (the record has the log)";
  const std::string detail = text(at(measured, {"validation", "detail"}));
  if (!detail.empty() && reason.find(detail) == std::string::npos) reason += "; " + detail;
  return reason;
}

// Reasons of cases that did not pass, and of undefined metrics of passed ones; the slowest rank for metrics of the
// slowest rank (by their conventions' first words).
std::vector<Note> case_notes(const Json& cases) {
  std::vector<Note> notes;
  for (const Json& measured : cases) {
    const std::string status = status_of(measured);
    if (status != "passed") {
      add_note(notes, status, reason_of(measured), key_of(measured));
      continue;
    }
    for (const Json& metric : list(at(measured, "metrics")))
      if (text(at(metric, "name")).ends_with("_slowest_rank"))
        add_note(notes, "slowest", text(at(metric, "convention")), key_of(measured));
      else if (!number(at(metric, "value")))
        add_note(notes, "no value", text(at(metric, "name")) + ": " + text(at(metric, "reason"), "no reason is given"),
                 key_of(measured));
  }
  return notes;
}

void write_unsteady(Page& page, const Json& record) {
  const double wanted = wanted_width(record);
  std::size_t marked = 0;
  double widest = 0;
  std::string where;
  for (const Json& measured : list(at(record, "cases"))) {
    if (!unsteady(measured, wanted)) continue;
    ++marked;
    const double width = half_width(measured).value_or(0);
    if (width > widest) {
      widest = width;
      where = key_of(measured);
    }
  }
  if (marked == 0) return;
  std::string said = fmt::format(
      "in {} the 95 % interval of the median is wider than {:.3g} % to each side, or unknown "
      "(fewer than 6 repetitions)",
      layout::counted(marked, "case"), wanted * 100);
  if (!where.empty()) said += fmt::format("; widest: {:.3g} % ({})", widest * 100, where);
  page.entry("~", said);
}

void write_expectation(Page& page, const Json& record, const Json& expected) {
  if (!expected.is_object()) return;
  const Json& cases = list(at(record, "cases"));
  std::string counts;
  for (const char* verdict : {"ok", "slow", "fast", "ambiguous"}) {
    const auto judged = std::count_if(cases.begin(), cases.end(), [&](const Json& measured) {
      return text(at(at(at(expected, "cases"), key_of(measured)), "verdict")) == verdict;
    });
    if (judged > 0) counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", judged, verdict);
  }
  page.entry(by_parts(expected) ? "efficiency" : "expected",
             fmt::format("time of one count, model \"{}\", system \"{}\": {}", text(at(expected, "model"), "unnamed"),
                         text(at(expected, "system"), "unnamed"), counts.empty() ? "no verdict" : counts));
  for (const char* name : {"state", "promise"})
    if (const std::string said = text(at(expected, name)); !said.empty()) page.entry(name, layout::printable(said));
  page.entry("ratio", "measured median time of one count over the expected time (above 1: slower)");
  std::vector<Note> notes;
  for (const auto& [key, reason] : lookup::table(at(expected, "without")).items())
    add_note(notes, at(at(expected, "cases"), key).is_object() ? "no verdict" : "no model", text(reason), key);
  for (const Json& measured : cases)
    if (const std::string why = text(at(at(at(expected, "cases"), key_of(measured)), "why")); !why.empty())
      add_note(notes, "ambiguous", why, key_of(measured));
  for (const Note& note : notes) page.entry(note.name, layout::enumerate(note.keys, most_keys) + ": " + note.text);
}

}  // namespace

void write_cases(Page& page, const Json& record, const Json& expected) {
  const Json& cases = list(at(record, "cases"));
  if (cases.empty()) {
    page.line("  no case was finished");
    return;
  }
  page.block(layout::grid(case_columns(record, expected)));
  page.blank();
  write_unsteady(page, record);
  write_expectation(page, record, expected);
  for (const Note& note : case_notes(cases))
    page.entry(note.name, layout::enumerate(note.keys, most_keys) + ": " + note.text);
}

}  // namespace plumb::table_parts
