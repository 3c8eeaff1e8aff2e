// The form `osu`: the columns of OSU's tests, a block per test, for scripts that read them. Over OpenSHMEM: "#
// OSU OpenSHMEM Put Test", then size and latency, bandwidth, rate, overlap or operations, by test. Over
// MPI: the text of version 7.5, with the run's -f, -c and -z.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <sstream>

#include "record/emulated.hpp"
#include "record/forms.hpp"
#include "record/lookup.hpp"
#include "record/tests_form.hpp"

namespace plumb::osu {

using lookup::at;
using lookup::text;
using namespace tests_form;

namespace {

// Columns beside the size: a heading, its metric, and when it is there.
enum class When { always, full, rate };
struct Column {
  std::string heading;
  std::string metric;
  When when = When::always;
};
using Columns = std::vector<Column>;
using Kinds = std::map<std::string, Columns>;

struct OsuTest {
  const char* title;
  Columns columns;
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

// A figure in a column of this width.
std::string figure(const Json& measured, const std::string& name, int wide) {
  const auto value = metric(measured, name);
  return value ? fmt::format("{:>{}.2f}", *value, wide) : fmt::format("{:>{}}", "N/A", wide);
}

std::string osu_line(const Json& measured, const OsuTest& test) {
  if (std::string reason = excuse(measured); !reason.empty()) return reason;
  std::string line = fmt::format("{:<22}", size_of(measured));
  for (const Column& column : test.columns) line += figure(measured, column.metric, 20);
  return line + "\n";
}

std::string shmem_form(const Json& record) {
  std::string result;
  for (const TestBlock& block : blocks_of(record)) {
    const Json& labels = at(*block.cases.front(), "labels");
    const OsuTest& test = osu_test(text(at(labels, "kind")));
    const bool operations = at(labels, "operation").is_string();
    result += fmt::format("# OSU OpenSHMEM {} {} Test\n# PEs: {}, memory: {}\n", block.test, test.title,
                          lookup::words(at(record, {"world", "ranks"})), text(at(labels, "memory"), "heap")) +
              emulated_comment(record);
    std::string heading = fmt::format("{:<22}", operations ? "# Operation" : "# Size");
    for (const Column& column : test.columns) heading += fmt::format("{:>20}", column.heading);
    result += heading + "\n";
    for (const Json* measured : block.cases) result += osu_line(*measured, test);
    result += "\n";
  }
  return result;
}

// --- over MPI

constexpr int width = 18;  // of a column; the size has 10

// Values of a test's text, from the record of its run.
struct MpiBlock {
  const Json& record;
  const TestBlock& block;
  const Json& first = *block.cases.front();
  std::string kind = text(at(first, {"labels", "kind"}));
  bool sized = at(first, {"labels", "bytes"}).is_number();
  const Json& option(const char* name) const { return at(record, {"parameters", name}); }
  bool has_holes() const { return metric(first, "transmitted").has_value(); }
  bool sweeps_windows() const { return at(first, {"labels", "window"}).is_number(); }
  bool has(const char* name) const { return option(name).is_boolean() && option(name).get<bool>(); }
  bool has_findings() const { return has("validation") || option("validation") == Json("column"); }
  bool has_rates() const { return lookup::count(option("print-rate")).value_or(1) != 0; }
  bool is_bandwidth() const { return kind.ends_with("bandwidth") || kind == "message rate" || kind == "congestion"; }
};

Columns mpi_columns(const MpiBlock& b) {
  static const Kinds kinds{{"message rate", {{"MB/s", "bandwidth"}, {"Messages/s", "message_rate", When::rate}}},
                           {"overlap",
                            {{"Overall(us)", "latency"},
                             {"Compute(us)", "compute"},
                             {"Coll. Init(us)", "initiation", When::full},
                             {"MPI_Test(us)", "test", When::full},
                             {"MPI_Wait(us)", "wait", When::full},
                             {"Pure Comm.(us)", "pure_communication"},
                             {"Min Comm.(us)", "pure_communication_min", When::full},
                             {"Max Comm.(us)", "pure_communication_max", When::full},
                             {"Overlap(%)", "overlap"}}}};
  const auto found = kinds.find(b.kind);
  if (found == kinds.end()) {
    if (b.is_bandwidth()) return {{"Bandwidth (MB/s)", "bandwidth"}};
    return {{b.kind.starts_with("one-sided") ? "Latency (us)" : "Avg Latency(us)", "latency"}};
  }
  Columns columns = found->second;
  std::erase_if(columns, [&](const Column& one) {
    return (one.when == When::full && !b.has("full")) || (one.when == When::rate && !b.has_rates());
  });
  return columns;
}

// The percentiles of -z, with their headings.
Columns mpi_tails(const MpiBlock& b) {
  Columns columns;
  std::istringstream percentiles(text(b.option("tail-lat")));
  for (std::string percentile; std::getline(percentiles, percentile, ',');)
    columns.push_back({fmt::format("P{} Tail {}", percentile, b.is_bandwidth() ? "BW(MB/s)" : "Lat(us)"),
                       fmt::format("{}_p{}", b.is_bandwidth() ? "bandwidth" : "latency", percentile)});
  return columns;
}

// Without a size, the first column's heading is the comment's.
std::string mpi_heading(const MpiBlock& b) {
  std::string line;
  bool first = true;
  for (const Column& column : mpi_columns(b)) {
    if (first && !b.sized)
      line = "# " + column.heading;
    else
      line += fmt::format("{}{:>{}}", first ? "# Size    " : "", column.heading, width);
    first = false;
  }
  if (b.kind == "collective" && b.has("full"))
    line += fmt::format("{:>{}}{:>{}}{:>12}", "Min Latency(us)", width, "Max Latency(us)", width, "Iterations");
  if (b.has_findings()) line += fmt::format("{:>{}}", "Validation", width);
  for (const Column& column : mpi_tails(b)) line += fmt::format("{:>{}}", column.heading, width);
  if (b.has_holes()) line += fmt::format("{:>{}}", "Transmit Size", width);
  return line + "\n";
}

std::string mpi_line(const MpiBlock& b, const Json& measured) {
  const bool failed = text(at(measured, {"outcome", "status"})) == "failed";
  if (const std::string reason = excuse(measured); !reason.empty() && !(failed && b.has_findings())) return reason;
  std::string line = b.sized ? fmt::format("{:<10}", size_of(measured)) : "";
  for (const Column& column : mpi_columns(b))
    line += figure(measured, column.metric, !line.empty() ? width : static_cast<int>(column.heading.size()) + 2);
  if (b.kind == "collective" && b.has("full"))
    line += figure(measured, "latency_min", width) + figure(measured, "latency_max", width) +
            fmt::format("{:>12}", lookup::count(at(measured, "count")).value_or(0) *
                                      lookup::count(at(measured, "repetitions")).value_or(0));
  if (b.has_findings()) line += fmt::format("{:>{}}", failed ? "Fail" : "Pass", width);
  for (const Column& column : mpi_tails(b)) line += figure(measured, column.metric, width);
  if (b.has_holes()) line += fmt::format("{:>{}.0f}", metric(measured, "transmitted").value_or(0), width);
  return line + "\n";
}

std::string upper(std::string word) {
  std::ranges::transform(word, word.begin(), [](unsigned char letter) { return std::toupper(letter); });
  return word;
}

// The text without columns.
std::string startup_line(const MpiBlock& b) {
  const std::string ranks = lookup::words(at(b.record, {"world", "ranks"}));
  if (b.kind == "hello") return fmt::format("This is a test with {} processes\n", ranks);
  const auto whole = [&](const char* name) { return std::llround(metric(b.first, name).value_or(0)); };
  return fmt::format("nprocs: {}, min: {} ms, max: {} ms, avg: {} ms\n", ranks, whole("latency_min"),
                     whole("latency_max"), whole("latency"));
}

// A matrix of figures: a line a size, a column a window.
std::string window_matrix(const MpiBlock& b, const char* name) {
  std::map<std::int64_t, std::map<std::int64_t, std::string>> lines;  // by size, by window
  std::string heading = "#";
  for (const Json* measured : b.block.cases) {
    const auto window = lookup::count(at(*measured, {"labels", "window"})).value_or(0);
    auto& line = lines[lookup::count(at(*measured, {"labels", "bytes"})).value_or(0)];
    line[window] = "  " + figure(*measured, name, 10);
  }
  for (const auto& [window, value] : lines.begin()->second) heading += fmt::format("  {:>10}", window);
  std::string result = heading + "\n";
  for (const auto& [size, line] : lines) {
    result += fmt::format("{:<7}", size);
    for (const auto& [window, value] : line) result += value;
    result += "\n";
  }
  return result;
}

// The sweep of windows (-V): two matrices.
std::string window_sweep(const MpiBlock& b) {
  std::string result = "\n# Uni-directional Bandwidth (MB/sec)\n" + window_matrix(b, "bandwidth");
  if (b.has_rates()) result += "\n# Message Rate Profile\n" + window_matrix(b, "message_rate");
  for (const Json* measured : b.block.cases) result += excuse(*measured);
  return result;
}

std::string mpi_block(const MpiBlock& b) {
  std::string title = text(at(b.first, {"facts", "title"}), "OSU MPI% " + b.block.test);
  if (const std::size_t where = title.find('%'); where != std::string::npos)
    title.replace(where, 1, text(at(b.first, {"facts", "device"})));
  std::string head = fmt::format("\n# {} v7.5\n", title) + emulated_comment(b.record);
  if (b.kind == "overlap") head += "# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n\n";
  if (b.kind == "message rate")
    head += fmt::format("# [ pairs: {} ] [ window size: {} ]\n", lookup::words(at(b.first, {"facts", "pairs"})),
                        b.sweeps_windows() ? "varied" : lookup::words(b.option("window-size")));
  for (const auto& [name, heading] :
       {std::pair("window_creation", "Window creation"), std::pair("synchronization", "Synchronization")})
    if (const std::string is = text(at(b.first, {"facts", name})); !is.empty())
      head += fmt::format("# {}: {}\n", heading, is);
  static const std::map<std::string, const char*> memories{
      {"H", "HOST (H)"}, {"D", "DEVICE (D)"}, {"B", "HBM (B)"}, {"P", "PLRAM (P)"}};
  if (const std::string from = text(at(b.first, {"labels", "from"})); !from.empty())
    head += fmt::format("# Send Buffer on {} and Receive Buffer on {}\n", memories.at(from),
                        memories.at(text(at(b.first, {"labels", "to"}))));
  if (const std::string type = text(at(b.first, {"labels", "type"})); b.sized && !type.empty())
    head += fmt::format("# Datatype: {}.\n", upper(type));
  if (b.kind == "init" || b.kind == "hello") {
    const std::string reason = excuse(b.first);
    return head + (reason.empty() ? startup_line(b) : reason);
  }
  if (b.sweeps_windows()) return head + window_sweep(b);
  head += mpi_heading(b);
  for (const Json* measured : b.block.cases) head += mpi_line(b, *measured);
  return head;
}

std::string osu_form(const Json& record) {
  if (text(at(record, {"benchmark", "name"})) == "osu_shmem") return shmem_form(record);
  std::string result;
  TestBlock sweep;  // the blocks of a sweep of windows are one
  const auto finish_sweep = [&] {
    if (!sweep.cases.empty()) result += mpi_block({record, sweep});
    sweep.cases.clear();
  };
  for (const TestBlock& block : blocks_of(record)) {
    const MpiBlock mpi{record, block};
    const auto type_of = [](const Json* one) { return at(*one, {"labels", "type"}); };
    if (sweep.test != block.test || (!sweep.cases.empty() && type_of(sweep.cases[0]) != type_of(block.cases[0])))
      finish_sweep();
    if (!mpi.sweeps_windows()) {
      result += mpi_block(mpi);
      continue;
    }
    sweep.test = block.test;
    sweep.cases.insert(sweep.cases.end(), block.cases.begin(), block.cases.end());
  }
  finish_sweep();
  return result;
}

bool is_osu(const std::string& benchmark) {
  return benchmark == "osu" || benchmark.starts_with("osu_");
}

const RegisteredForm registered_form("osu", {"osu's tests", is_osu, osu_form});

}  // namespace

}  // namespace plumb::osu
