// The head of the table: environment and rules of measurement.
#include <fmt/format.h>

#include <algorithm>

#include "core/units.hpp"
#include "record/lookup.hpp"
#include "record/table.hpp"

namespace plumb::table_parts {

using layout::Page;
using lookup::at;
using lookup::count;
using lookup::list;
using lookup::number;
using lookup::text;

namespace {

constexpr std::size_t most_names = 4;

// Joins non-empty items with commas.
std::string joined(const std::vector<std::string>& parts) {
  std::string result;
  for (const std::string& part : parts)
    if (!part.empty()) result += (result.empty() ? "" : ", ") + part;
  return result;
}

std::string with(const std::string& before, const std::string& value, const std::string& after = "") {
  return value.empty() ? "" : before + value + after;
}

// Items that differ only in a number or a name, in order of appearance.
struct Alike {
  std::string what;
  std::vector<std::size_t> members;
};

void add_alike(std::vector<Alike>& all, const std::string& what, std::size_t member) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Alike& alike) { return alike.what == what; });
  if (found == all.end())
    all.push_back({what, {member}});
  else
    found->members.push_back(member);
}

std::string date_text(const Json& record) {
  std::string date = text(at(record, "started"));
  if (const std::size_t t = date.find('T'); t != std::string::npos) date[t] = ' ';
  if (date.ends_with('Z')) date.replace(date.size() - 1, 1, " UTC");
  const auto started = lookup::moment(at(record, "started")), finished = lookup::moment(at(record, "finished"));
  if (started && finished) date += fmt::format(", took {} s", (*finished - *started).count());
  return date;
}

std::string program_text(const Json& program) {
  const Json& dirty = at(program, "dirty");
  const bool changed = dirty.is_boolean() && dirty.get<bool>();
  return joined({text(at(program, "name")) + with(" ", text(at(program, "version"))),
                 with("commit ", text(at(program, "commit")), changed ? " with changes" : ""),
                 with("", text(at(program, "build_type")), " build"), text(at(program, "compiler"))});
}

std::string host_text(const Json& host) {
  const auto cores = count(at(host, "cores")), memory = count(at(host, "memory_bytes"));
  return joined({text(at(host, "cpu")), cores ? layout::counted(*cores, "core") : "",
                 memory ? format_bytes(*memory) : "", text(at(host, "os")), with("kernel ", text(at(host, "kernel"))),
                 with("governor ", text(at(host, "governor")))});
}

void write_hosts(Page& page, const Json& hosts) {
  std::vector<Alike> alike;
  for (std::size_t i = 0; i < hosts.size(); ++i) add_alike(alike, host_text(hosts[i]), i);
  for (const Alike& group : alike) {
    std::vector<std::string> names;
    for (const std::size_t i : group.members) names.push_back(text(at(hosts[i], "name"), "unnamed"));
    page.entry(names.size() == 1 ? "host" : "hosts", layout::enumerate(names, most_names) + with(": ", group.what));
  }
}

std::string world_text(const Json& world) {
  const auto ranks = count(at(world, "ranks")), nodes = count(at(world, "nodes"));
  std::string who = ranks ? layout::counted(*ranks, "rank") : "";
  if (nodes) who += " on " + layout::counted(*nodes, "node");
  std::string library = text(at(world, "library"));
  if (library == "none") library.clear();
  const std::string standard = text(at(world, "standard"));
  return joined({who, library.empty() ? with("world ", text(at(world, "kind"))) : library + with(" (", standard, ")")});
}

std::string device_text(const Json& device) {
  const auto units = count(at(device, "compute_units"));
  const std::string details =
      joined({text(at(device, "runtime")), text(at(device, "platform")), text(at(device, "type")),
              units ? layout::counted(*units, "compute unit") : "", with("driver ", text(at(device, "driver")))});
  return text(at(device, "name"), "unnamed") + with(" (", details, ")");
}

// Indices of the devices of these ranks.
std::string device_indices(const Json& ranks, const std::vector<std::size_t>& members) {
  std::vector<std::size_t> indices;
  for (const std::size_t i : members)
    if (const auto index = count(at(ranks[i], {"device", "index"}))) indices.push_back(*index);
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  if (indices.empty()) return "";
  return fmt::format(", device{} {}", indices.size() == 1 ? "" : "s", layout::ranges(indices));
}

void write_devices(Page& page, const Json& ranks) {
  std::vector<Alike> alike;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (at(ranks[i], "device").is_object()) add_alike(alike, device_text(at(ranks[i], "device")), i);
  for (const Alike& group : alike) {
    std::vector<std::size_t> numbers;
    for (const std::size_t i : group.members) numbers.push_back(count(at(ranks[i], "rank")).value_or(i));
    const std::string who = group.members.size() == ranks.size() && ranks.size() > 1
                                ? "all ranks"
                                : fmt::format("rank{} {}", numbers.size() == 1 ? "" : "s", layout::ranges(numbers));
    page.entry("device", who + ": " + group.what + device_indices(ranks, group.members));
  }
}

std::string transport_text(const Json& transport) {
  const std::string name = text(at(transport, "name"));
  if (name.empty()) return "";
  return joined({name + with(" (", text(at(transport, "summary")), ")"),
                 with("between hosts ", text(at(transport, "host_leg"))),
                 with("scheduled by the ", text(at(transport, "scheduled_by"))), text(at(transport, "landing"))});
}

std::string memory_text(const Json& memory) {
  const Json& bank = at(memory, "bank");
  return text(at(memory, "kind")) + (bank.is_null() ? "" : ", bank " + lookup::words(bank));
}

std::string policy_text(const Json& measuring) {
  std::string policy = text(at(measuring, "policy"));
  const auto least = count(at(measuring, "min_repetitions")), most = count(at(measuring, "max_repetitions"));
  if (policy == "once") return "each case once";
  if (policy == "fixed")
    return least && most && *least == *most ? layout::counted(*most, "repetition") + " a case"
                                            : "a fixed number of repetitions";
  const auto confidence = number(at(measuring, "confidence")), limit = number(at(measuring, "time_limit_s"));
  if (policy != "adaptive" || !least || !most || !confidence || !limit) return policy;
  return fmt::format(
      "{} to {} repetitions a case, until the 95 % interval of the median is within {:.3g} % of it, for "
      "at most {:.3g} s",
      *least, *most, *confidence * 100, *limit);
}

std::string sync_text(const std::string& sync) {
  if (sync == "clock") return "ranks start at an agreed time";
  return sync == "barrier" ? "ranks start after a barrier" : sync;
}

std::string measuring_text(const Json& measuring) {
  const Json& validate = at(measuring, "validate");
  const auto seed = count(at(measuring, "seed"));
  return joined({policy_text(measuring), sync_text(text(at(measuring, "sync"))),
                 with("preset ", text(at(measuring, "preset"))), seed ? fmt::format("seed {}", *seed) : "",
                 validate.is_boolean() && !validate.get<bool>() ? "RESULTS NOT VALIDATED" : ""});
}

std::string command_text(const Json& command) {
  std::string line;
  for (const Json& word : list(command)) {
    const std::string argument = lookup::words(word);
    const bool quoted = argument.empty() || argument.find_first_of(" \t\n'\"") != std::string::npos;
    line += (line.empty() ? "" : " ") + (quoted ? "\"" + argument + "\"" : argument);
  }
  return line;
}

// Parameters given as logarithms, or in another form than the value's.
std::string sizes_text(const Json& understood) {
  std::vector<std::string> parts;
  for (const auto& [name, size] : lookup::table(understood).items())
    parts.push_back(fmt::format("--{} is {}", layout::printable(name), layout::printable(text(size))));
  return joined(parts);
}

std::string constant_labels_text(const Labels& labels) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : labels.constant)
    parts.push_back(label_heading(name) + " " + label_value(name, value));
  return joined(parts);
}

}  // namespace

// With one case all labels are constant; the last one stays a column to identify the row.
Labels split_labels(const Json& record) {
  Labels labels;
  const Json& cases = list(at(record, "cases"));
  std::vector<std::string> names;
  for (const Json& measured : cases)
    for (const auto& [name, value] : lookup::table(at(measured, "labels")).items())
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  for (const std::string& name : names) {
    const Json& first = at(at(cases[0], "labels"), name);
    const bool constant = std::all_of(cases.begin(), cases.end(),
                                      [&](const Json& measured) { return at(at(measured, "labels"), name) == first; });
    if (constant && (!labels.varying.empty() || name != names.back()))
      labels.constant.emplace_back(name, first);
    else
      labels.varying.push_back(name);
  }
  return labels;
}

std::string label_heading(const std::string& name) {
  std::string heading = name.ends_with("_bytes") ? name.substr(0, name.size() - 6) : name;
  std::replace(heading.begin(), heading.end(), '_', ' ');
  return layout::printable(heading);
}

std::string label_value(const std::string& name, const Json& value) {
  const auto bytes = count(value);
  if (name.ends_with("_bytes") && bytes) return format_bytes(*bytes);
  return layout::printable(lookup::words(value));
}

void write_head(Page& page, const Json& record) {
  const Json& benchmark = at(record, "benchmark");
  page.line(text(at(benchmark, "name"), "unnamed benchmark") + with(": ", text(at(benchmark, "title"))));
  page.entry("date", date_text(record));
  page.entry("program", program_text(at(record, "program")));
  write_hosts(page, list(at(record, "hosts")));
  page.entry("world", world_text(at(record, "world")));
  if (const auto active = count(at(record, {"measuring", "active_ranks"})))
    page.entry("active", fmt::format("{}; the rest idle", layout::counted(*active, "rank")));
  write_devices(page, list(at(record, "ranks")));
  page.entry("transport", transport_text(at(record, "transport")));
  page.entry("emulated", text(at(record, "emulated")));
  page.entry("memory", memory_text(at(record, "memory")));
  page.entry("measuring", measuring_text(at(record, "measuring")));
  page.entry("command", command_text(at(record, "command")));
  page.entry("sizes", sizes_text(at(record, "understood")));
  page.entry("all cases", constant_labels_text(split_labels(record)));
}

}  // namespace plumb::table_parts
