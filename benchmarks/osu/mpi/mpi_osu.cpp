#include "benchmarks/osu/mpi/mpi_osu.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

#include "core/units.hpp"
#include "device/host_share.hpp"
#include "device/select.hpp"
#include "measure/implausible.hpp"
#include "record/beside.hpp"
#include "world/mpi.hpp"

namespace plumb::osu {

namespace {

constexpr double mega = 1e6, milli = 1e-3;
const std::string memory_letters = "HDBP";

// OSU's own numbers of operations and warm-ups, for messages up to 8192 B and for longer ones.
struct Counts {
  std::uint64_t iterations, warmup;
};
Counts osu_counts(const std::string& kind, std::uint64_t bytes) {
  const bool large = bytes > 8192;
  if (kind == "collective" || kind == "overlap") return large ? Counts{100, 10} : Counts{1000, 100};
  if (kind.ends_with("bandwidth") || kind == "message rate") return large ? Counts{20, 2} : Counts{100, 10};
  return large ? Counts{1000, 10} : Counts{10000, 100};
}

bool is_windowed(const std::string& kind) {
  return kind.ends_with("bandwidth") || kind == "message rate" || kind == "congestion";
}

bool is_one_sided(const std::string& kind) {
  return kind.starts_with("one-sided");
}

bool is_ping_pong(const std::string& kind) {
  return kind == "latency" || kind == "multi latency";
}

// Between two ranks, or pairs of ranks.
bool is_pairs(const std::string& kind) {
  return is_ping_pong(kind) || is_windowed(kind) || is_one_sided(kind) || kind == "exchange";
}

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// Digits only; otherwise none.
std::optional<std::uint64_t> whole(const std::string& text) {
  const auto written = read_written(text);
  if (!written || written->value < 0) return std::nullopt;
  return static_cast<std::uint64_t>(written->value);
}

// An option's text, and the sentence that refuses it.
struct Reading {
  const char* option;
  const char* form;
  std::string text;
  [[noreturn]] void refuse(const std::string& why = "") const {
    throw UsageError(fmt::format("--{} must be {}, not {}{}", option, form, text, why));
  }
  std::uint64_t number(const std::string& part, std::uint64_t low, std::uint64_t high) const {
    const auto value = whole(part);
    if (!value || *value < low || *value > high) refuse();
    return *value;
  }
  int count(const std::string& part, int low, int high) const {
    return static_cast<int>(number(part, static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high)));
  }
};

std::vector<std::int64_t> percentiles_in(const std::string& text) {
  const Reading reading{"tail-lat", "one to five percentiles, whole numbers from 0 to 100", text};
  std::vector<std::int64_t> percentiles;
  for (const std::string& part : parts_of(text.empty() ? "50,90,99" : text, ','))
    percentiles.push_back(reading.count(part, 0, 100));
  if (percentiles.empty() || percentiles.size() > 5) reading.refuse();
  return percentiles;
}

// -1: rotates.
int root_in(const std::string& text) {
  const Reading reading{"root-rank", "fixed:RANK or rotate", text};
  if (text == "rotate") return -1;
  if (!text.starts_with("fixed:")) reading.refuse();
  return reading.count(text.substr(6), 0, INT_MAX);
}

// With a line FROM,TO for each edge, in both directions; or a torus.
struct Neighbourhood {
  int dimensions = 1, radius = 1;
  std::vector<std::pair<int, int>> edges = {};
};
Neighbourhood neighbourhood_in(const std::string& text, int ranks) {
  const Reading reading{"neighborhood", "cart:DIMENSIONS:RADIUS with 1 to 8 and 1 to 64, or graph:FILE", text};
  const std::vector<std::string> parts = parts_of(text, ':');
  if (!text.starts_with("graph:")) {
    if (parts.size() != 3 || parts[0] != "cart") reading.refuse();
    return {reading.count(parts[1], 1, 8), reading.count(parts[2], 1, 64)};
  }
  std::ifstream file(text.substr(6));
  if (!file) reading.refuse(": there is no such file");
  Neighbourhood around{0, 0};
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) continue;
    const std::vector<std::string> ends = parts_of(line, ',');
    const auto from = whole(ends.front()), to = whole(ends.back());
    if (ends.size() != 2 || !from || !to || std::max(*from, *to) >= static_cast<std::uint64_t>(ranks))
      reading.refuse(fmt::format(": a line must be FROM,TO of {} ranks, not {}", ranks, line));
    around.edges.emplace_back(static_cast<int>(*from), static_cast<int>(*to));
  }
  if (around.edges.empty()) reading.refuse(": it has no edge");
  return around;
}

// Senders and receivers.
std::pair<int, int> threads_in(const std::string& text) {
  const Reading reading{"tests-or-threads", "[SENDERS:]RECEIVERS, 1 to 127 each", text};
  if (text.empty()) return {1, 2};
  const std::size_t colon = text.find(':');
  const bool both = colon != std::string::npos;
  return {both ? reading.count(text.substr(0, colon), 1, 127) : 1,
          reading.count(both ? text.substr(colon + 1) : text, 1, 127)};
}

std::uint64_t tests_in(const std::string& text) {
  return Reading{"tests-or-threads", "a number of calls of MPI_Test", text}.number(text.empty() ? "0" : text, 0,
                                                                                   1 << 20);
}

struct Counted {
  std::vector<std::string> events;
  std::string path;
};
Counted counted_in(const std::string& text) {
  if (text.empty()) return {};
  const std::size_t colon = text.find(':');
  Counted counted{parts_of(text.substr(0, colon), ','), colon == std::string::npos ? "" : text.substr(colon + 1)};
  if (counted.events.empty() || counted.path.empty()) Reading{"papi", "EVENT[,EVENT…]:FILE", text}.refuse();
  return counted;
}

// Of both sides.
std::pair<char, char> letters_in(const std::string& text) {
  const std::vector<std::string> parts = parts_of(text, ',');
  const auto is_letter = [](const std::string& part) {
    return part.size() == 1 && memory_letters.find(part) != std::string::npos;
  };
  if (parts.empty() || parts.size() > 2 || !std::ranges::all_of(parts, is_letter))
    Reading{"where", "two of H, D, B and P", text}.refuse();
  return {parts.front()[0], parts.back()[0]};
}

struct Buffers {
  bool single = false;
  std::uint64_t rotate = 0;  // bytes; 0: none
};
Buffers buffers_in(const std::string& text) {
  const Reading reading{"buffer-num", "single, multiple or rotate[:BYTES]", text};
  if (text == "multiple" || text == "single") return {text == "single", 0};
  if (text == "rotate") return {false, std::max<std::uint64_t>(2 * host_share().cache_bytes, 1 << 24)};
  if (!text.starts_with("rotate:")) reading.refuse();
  return {false, reading.number(text.substr(7), 1, std::uint64_t{1} << 34)};
}

bool takes_where(const Titled& test) {
  return is_pairs(test.kind) && test.row.element_bytes > 0 && !test.thread_multiple;
}

// Tests whose messages may have holes.
bool takes_layout(const Titled& test) {
  return test.row.element_bytes > 0 && !test.reduces && !test.partitioned && !is_one_sided(test.kind);
}

// --pairs; 0: as many as there are, or "all".
int pairs_in(const std::string& text) {
  if (text.empty() || text == "all") return 0;
  return Reading{"pairs", "a number of pairs or all", text}.count(text, 1, INT_MAX);
}

constexpr std::size_t most_windows = 8;

// FPGA_MAPPING=2:0:3: the number of each rank's device; none without it. Throws UsageError if it has too few.
std::vector<std::string> device_mapping(int ranks) {
  const char* mapping = std::getenv("FPGA_MAPPING");
  if (mapping == nullptr || *mapping == 0) return std::vector<std::string>(static_cast<std::size_t>(ranks));
  const std::vector<std::string> numbers = parts_of(mapping, ':');
  if (!std::ranges::all_of(numbers, [](const std::string& number) { return whole(number).has_value(); }) ||
      numbers.size() < static_cast<std::size_t>(ranks))
    throw UsageError(fmt::format("FPGA_MAPPING must be a number of a device for each of {} ranks, with colons, not {}",
                                 ranks, mapping));
  return numbers;
}

// Whether libplumb-mpi-device moves data from device to device.
bool goes_past_hosts() {
  const char* transport = std::getenv("PLUMB_MPI_TRANSPORT");
  return transport != nullptr && std::string(transport) == "peer";
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// What overlapped: `own` are the ranks' times of an operation, `tallies(name)` of its parts.
template <class Tallies>
void add_overlap(std::vector<Metric>& list, const std::vector<double>& own, Tallies tallies) {
  const double compute = mean_of(tallies("compute_s")), alone = mean_of(tallies("alone_s"));
  const auto add = [&](const char* name, double seconds, const char* what, bool table = false) {
    list.push_back({name, seconds / micro, "us", what, "", table});
  };
  add("compute", compute, "computing, without looks at the request; mean of the ranks", true);
  add("initiation", mean_of(tallies("init_s")), "the call that begins; mean of the ranks");
  add("test", mean_of(tallies("test_s")), "looks at the request; mean of the ranks");
  add("wait", mean_of(tallies("wait_s")), "MPI_Wait; mean of the ranks");
  add("pure_communication", alone, "the collective alone, complete; mean of the ranks", true);
  add("pure_communication_min", std::ranges::min(tallies("alone_s")), "of the ranks' means the least");
  add("pure_communication_max", std::ranges::max(tallies("alone_s")), "of the ranks' means the largest");
  list.push_back({"overlap", std::max(0.0, 100 * (1 - (mean_of(own) - compute) / alone)), "%",
                  "100 (1 - (t - compute) / pure communication), not below 0"});
}

// Seconds of each operation on its slowest rank, in ascending order.
std::vector<double> slowest_laps(const CaseResult& result) {
  std::vector<std::vector<double>> by_rank = result.laps_by_rank;
  std::erase_if(by_rank, [](const auto& laps) { return laps.empty(); });
  std::vector<double> slowest = slowest_of_each(by_rank);
  std::ranges::sort(slowest);
  return slowest;
}

}  // namespace

const std::vector<Titled>& mpi_table() {
  static const std::vector<Titled> table = [] {
    std::vector<Titled> all;
    for (const auto& rows : {pt2pt_rows(), one_sided_rows(), collective_rows(), startup_rows()})
      all.insert(all.end(), rows.begin(), rows.end());
    return all;
  }();
  return table;
}

Osu::Osu(std::string test) : Table(1, 4194304), test_(std::move(test)) {
  for (const Titled& one : mpi_table()) {
    if (!test_.empty() && one.row.name != test_) continue;
    tests_.push_back({one.row.name, one.kind, {one.row}});
    titled_[one.row.name] = &one;
  }
}

std::string Osu::title() const {
  const auto is_osus = [](const auto& one) { return one.second->title.starts_with("OSU"); };
  if (test_.empty()) return fmt::format("OSU's {} tests over MPI", std::ranges::count_if(titled_, is_osus));
  std::string title = titled_.at(test_)->title;
  return title.replace(title.find('%'), 1, "");
}

Preset Osu::preset(const std::string& name) const {
  if (name == "smoke")
    return {{"time-limit", "0.01"}, {"min-repetitions", "6"}, {"size-factor", "8192"}, {"maxsize", "8192"}};
  if (name == "full") return {{"time-limit", "1"}};
  return {{"time-limit", "0.05"}, {"min-repetitions", "6"}, {"maxsize", test_.empty() ? "1048576" : "4194304"}};
}

// OSU's own range of sizes: collectives end at 1 MiB, and latencies of messages start with empty ones.
Osu::Sizes Osu::sizes(const Titled& test) const {
  const bool collective = !is_pairs(test.kind);
  Sizes sizes{static_cast<std::uint64_t>(minsize_.get()), static_cast<std::uint64_t>(maxsize_.get())};
  if (collective) sizes.maximum = std::min<std::uint64_t>(sizes.maximum, 1 << 20);
  if (is_ping_pong(test.kind) && !test.partitioned && !minsize_.given()) sizes.minimum = 0;
  const std::string& text = message_size_;
  if (text.empty()) return sizes;
  const Reading reading{"message-size", "[MIN:]MAX, at most 2^30 B", text};
  constexpr std::uint64_t longest = std::uint64_t{1} << 30;
  const std::size_t colon = text.find(':');
  const std::string low = colon == std::string::npos ? "" : text.substr(0, colon);
  const std::string high = colon == std::string::npos ? text : text.substr(colon + 1);
  if (!low.empty()) sizes.minimum = reading.number(low, 0, longest);
  if (!high.empty()) sizes.maximum = reading.number(high, 0, longest);
  if (sizes.minimum > sizes.maximum || (low.empty() && high.empty())) reading.refuse();
  return sizes;
}

std::vector<std::size_t> Osu::types_of(const Titled& test) const {
  const bool all = type_.get() == "all";
  std::vector<std::string> names = all ? std::vector<std::string>{} : parts_of(type_, ',');
  if (type_.get().empty())
    names = {test.single ? "mpi_long_long" : test.reduces || test.gathers ? "mpi_int" : "mpi_char"};
  const Operation& operation = operation_called(operation_);
  std::vector<std::size_t> places;
  for (const std::string& name : names) type_called(name);
  for (std::size_t i = 0; i < types().size(); ++i) {
    const Type& type = types()[i];
    if (!all && std::ranges::find(names, type.name) == names.end()) continue;
    const Type& computed = type.reduced == MPI_DATATYPE_NULL ? type : type_called("mpi_signed_char");
    std::string reason = test.reduces ? refusal(operation, computed) : "";
    if (test.gathers && (type.bytes < 4 || type.kind == Type::Kind::logical))
      reason = fmt::format("sums of many {} are not exact", type.name);
    if (test.gathers && reason.empty()) reason = refusal(operation_called("sum"), type);
    if (test.whole_numbers && !type.is_whole()) reason = fmt::format("MPI has no compare-and-swap of {}", type.name);
    if (reason.empty())
      places.push_back(i);
    else if (!all && !test_.empty())
      throw UsageError(reason);
  }
  return places;
}

// An option without a use in a test is refused if only that test is selected.
void Osu::check_options(const Titled& test) const {
  const bool windowed = is_windowed(test.kind), overlap = test.kind == "overlap";
  const bool collective = test.kind == "collective" || overlap;
  const bool rotates = buffers_in(buffers_).rotate > 0 && test.row.element_bytes > 0 && !is_one_sided(test.kind);
  const struct {
    const ParameterBase& option;
    bool has;
    const char* reason;
  } rules[]{{window_, windowed, "has one message under way at a time"},
            {buffers_, windowed || rotates, "has no window of messages"},
            {vary_window_, test.kind == "message rate", "has one window"},
            {compute_target_, overlap, "computes nothing beside"},
            {array_size_, overlap, "computes nothing beside"},
            {ddt_, takes_layout(test), "sends whole elements"},
            {session_, test.row.element_bytes > 0 || collective, "communicates nothing"},
            {pairs_, test.pairs || (pairs_.get() == "all" && takes_where(test)), "has two ranks"},
            {print_rate_, test.kind == "message rate", "reports no rate"},
            {operation_, test.reduces, "reduces nothing"},
            {library_, test.kind == "collective", "is no blocking collective"},
            {root_, test.rooted, "has no root to choose"},
            {in_place_, collective, "is no collective"},
            {full_, collective, "is no collective"},
            {tests_or_threads_, overlap || test.threads, "computes nothing beside, and has one thread"},
            {partitions_, test.partitioned, "has messages in one part"},
            {where_, takes_where(test),
             test.thread_multiple ? "has several threads, whose buffers lie in host memory"
                                  : "has one place for all buffers (-d says which)"},
            {device_runtime_, takes_where(test) || collective, "has its buffers in host memory"},
            {window_kind_, is_one_sided(test.kind), "is not one-sided"},
            {window_sync_, is_one_sided(test.kind), "is not one-sided"},
            {neighbours_, test.neighbours, "is not among neighbours"},
            {message_size_, test.row.element_bytes > 0 && !test.single, "sends nothing"},
            {type_, test.row.element_bytes > 0, "sends nothing"}};
  for (const auto& rule : rules)
    if (rule.option.given() && !rule.has)
      throw UsageError(fmt::format("{} {}: it takes no --{}", test.row.name, rule.reason, rule.option.name()));
}

std::string Osu::misfit(const Titled& test, int ranks) const {
  if (!is_pairs(test.kind)) return "";
  if (test.kind == "congestion") return Hosts::found().misfit();
  if (!test.pairs) return ranks == 2 ? "" : fmt::format("it is between two ranks, not {}", ranks);
  if (ranks % 2 != 0) return fmt::format("it needs an even number of ranks, not {}", ranks);
  return 2 * pairs_in(pairs_) > ranks
             ? fmt::format("--pairs {} needs {} ranks, not {}", pairs_.get(), 2 * pairs_in(pairs_), ranks)
             : "";
}

void Osu::check(const Plan& plan) const {
  if (plan.ranks < 2)
    throw UsageError(fmt::format("{0} measures between ranks: it needs two or more (plumb run {0} -n 2)", name()));
  if (minsize_.get() > maxsize_.get())
    throw UsageError(fmt::format("--minsize {} is above --maxsize {}", minsize_.get(), maxsize_.get()));
  Counters::check(counted_in(papi_).events);
  percentiles_in(tail_);
  neighbourhood_in(neighbours_, plan.ranks);
  device_mapping(plan.ranks);
  if (validation_warmup_.given() && validation_ == "none")
    throw UsageError("--validation-warmup goes with --validation (-c)");
  if (pairs_in(pairs_) == 0 && pairs_.given() && where_.given())
    throw UsageError("--pairs all and --where: give one of them");
  if (vary_window_ && window_.given()) throw UsageError("--vary-window and --window-size: give one of them");
  if (!memory_limit_.get().empty() && whole(memory_limit_).value_or(0) == 0)
    throw UsageError(fmt::format("--memory-limit must be a number of bytes, not {}", memory_limit_.get()));
  if (session_ && MpiSession::missing()) throw UsageError(std::string("--session: ") + MpiSession::missing());
  if (const int root = root_in(root_); root >= plan.ranks)
    throw UsageError(fmt::format("--root-rank {}: there are {} ranks", root_.get(), plan.ranks));
  if (osu_counts_ && (iterations_.given() || warmup_.given()))
    throw UsageError("--osu-counts and --iterations or --warmup: give one of them");
  for (const Test& test : tests_) {
    const Titled& titled = *titled_.at(test.name);
    sizes(titled);
    types_of(titled);
    wishes_for(titled, 1, 0, plan.ranks);
    if (test_.empty()) continue;
    check_options(titled);
    if (const std::string reason = misfit(titled, plan.ranks); !reason.empty())
      throw UsageError(fmt::format("{}: {}", test.name, reason));
    if (const std::string reason = hindrance(titled.row); !reason.empty())
      throw UsageError(fmt::format("{}: {}", test.name, reason));
  }
}

Wishes Osu::wishes_for(const Titled& test, std::uint64_t bytes, std::size_t place, int ranks) const {
  Wishes wishes;
  const Spot& spot = spots_[place];
  wishes.window = is_windowed(test.kind) ? spot.window > 0 ? std::uint64_t{1} << (spot.window - 1)
                                                           : static_cast<std::uint64_t>(window_.get())
                                         : 1;
  const Buffers buffers = buffers_in(buffers_);
  wishes.one_source = buffers.single;
  wishes.pairs = pairs_in(pairs_);
  wishes.type = &types()[spot.type];
  if (takes_layout(test) && bytes > 0)
    if (const Layout layout = Layout::read(ddt_); !layout.kind.empty())
      wishes.layout = std::make_shared<const Layout>(layout.in_bytes(*wishes.type));
  wishes.sliding = {wishes.layout ? wishes.layout->period : 1, buffers.rotate};
  wishes.operation = test.reduces ? &operation_called(operation_) : nullptr;
  wishes.root = test.rooted ? root_in(root_) : 0;
  wishes.in_place = in_place_;
  wishes.iterations = static_cast<std::uint64_t>(iterations_.get());
  wishes.warmup = static_cast<std::uint64_t>(warmup_.get());
  if (osu_counts_) {
    const Counts counts = osu_counts(test.kind, bytes);
    wishes.iterations = counts.iterations;
    wishes.warmup = counts.warmup;
  }
  wishes.warmup += static_cast<std::uint64_t>(validation_warmup_.get());
  if (test.threads) {
    std::tie(wishes.senders, wishes.receivers) = threads_in(tests_or_threads_);
  } else if (test.kind == "overlap") {
    wishes.tests = tests_in(tests_or_threads_);
  }
  wishes.partitions = static_cast<std::uint64_t>(partitions_.get());
  const auto [from, to] = spot.letters.empty() ? letters_in(where_) : std::pair(spot.letters[0], spot.letters[1]);
  const bool on_device = device_runtime_.given() && !where_.given() && spot.letters.empty();
  wishes.from = {on_device ? 'D' : from, device_runtime_, ""};
  wishes.to = {on_device ? 'D' : to, device_runtime_, ""};
  wishes.window_kind = wishes.on_devices() && !window_kind_.given() ? "create" : window_kind_.get();
  wishes.window_sync = window_sync_.given() || !test.both_ways ? window_sync_.get() : "pscw";
  if (test.neighbours) {
    const Neighbourhood around = neighbourhood_in(neighbours_, ranks);
    wishes.dimensions = around.dimensions;
    wishes.radius = around.radius;
    wishes.edges = around.edges;
  }
  return wishes;
}

Setting Osu::setting(const Plan& plan, const Point& point) const {
  Wishes& wishes = wishes_[{point.test->name, point.bytes, point.place}];
  if (wishes.type == nullptr) wishes = wishes_for(*titled_.at(point.test->name), point.bytes, point.place, plan.ranks);
  wishes.times_each = sync_ != "once";
  wishes.barrier_each = sync_ == "barrier";
  std::uint64_t bytes = point.bytes;
  if (wishes.layout) {
    bytes -= bytes % wishes.layout->period;
    if (comm_ != MPI_COMM_NULL && !wishes.derived) {
      wishes.derived = std::make_shared<const Derived>(*wishes.layout, *wishes.type, bytes);
      wishes.type = &wishes.derived->type;
    }
  }
  return {plan.rank, plan.ranks, bytes, plan.seed, &wishes, comm_};
}

std::vector<Spot> Osu::spots_of(const Titled& test) const {
  std::vector<std::string> pairs{""};
  if (pairs_.get() == "all" && takes_where(test)) {
    pairs.clear();
    for (const char from : memory_letters)
      for (const char to : memory_letters) pairs.push_back(std::string{from, to});
  }
  const bool sweeps = vary_window_ && test.kind == "message rate";
  std::vector<Spot> spots;
  for (const std::size_t type : types_of(test))
    for (const std::string& pair : pairs)
      for (std::size_t window = sweeps ? 1 : 0; window <= (sweeps ? most_windows : 0); ++window)
        spots.push_back({type, window, pair});
  return spots;
}

std::vector<std::uint64_t> Osu::sizes_of(const Titled& test, const Type& type, int ranks) const {
  if (test.single) return {type.bytes};
  const Sizes range = sizes(test);
  const std::uint64_t parts = test.portions      ? static_cast<std::uint64_t>(ranks)
                              : test.partitioned ? static_cast<std::uint64_t>(partitions_.get())
                                                 : 1;
  const std::uint64_t period = takes_layout(test) ? Layout::read(ddt_).in_bytes(type).period : 1;
  std::vector<std::uint64_t> sizes;
  if (range.minimum == 0) sizes.push_back(0);
  const std::uint64_t first = std::max<std::uint64_t>(range.minimum, 1);
  for (const std::uint64_t size :
       operations::growing_sizes(first, range.maximum, static_cast<std::uint64_t>(size_factor_.get())))
    if (size >= std::max(type.bytes * parts, period) && (!test.partitioned || size % parts == 0)) sizes.push_back(size);
  return sizes;
}

void Osu::leave_out_large(Group& group, const Plan& plan) const {
  if (memory_limit_.get().empty()) return;
  const std::uint64_t limit = *whole(memory_limit_);
  std::erase_if(group.cases, [&](const Case& one) {
    for (int rank = 0; rank < plan.ranks; ++rank)
      if (point_of(one).row->needs(setting({rank, plan.ranks, plan.seed}, point_of(one))).memory > limit) return true;
    return false;
  });
}

std::vector<Group> Osu::groups(const Plan& plan) const {
  const std::vector<std::string> picked = operations::names_picked(only_, names());
  std::vector<Group> groups;
  for (const Test& test : tests_) {
    const Titled& titled = *titled_.at(test.name);
    if (std::ranges::find(picked, test.name) == picked.end() || !misfit(titled, plan.ranks).empty()) continue;
    const bool several_types = types_of(titled).size() > 1;
    for (const Spot& spot : spots_of(titled)) {
      const Type& type = types()[spot.type];
      std::string prefix = several_types ? type.name + "/" : "";
      Json labels{{"type", type.name}};
      if (spot.window > 0) {
        labels["window"] = 1 << (spot.window - 1);
        prefix += fmt::format("window-{}/", 1 << (spot.window - 1));
      }
      if (!spot.letters.empty()) {
        labels["from"] = spot.letters.substr(0, 1);
        labels["to"] = spot.letters.substr(1);
        prefix += fmt::format("{}-{}/", spot.letters[0], spot.letters[1]);
      }
      spots_.push_back(spot);
      Group group = group_of(test, plan, sizes_of(titled, type, plan.ranks), prefix, labels, spots_.size() - 1);
      leave_out_large(group, plan);
      for (Case& one : group.cases)
        if (one.fixed_count > 0) one.policy = {CasePolicy::Kind::fixed, 1};
      if (!group.cases.empty()) groups.push_back(std::move(group));
    }
  }
  if (groups.empty() && !memory_limit_.get().empty())
    throw UsageError(fmt::format("--memory-limit {} leaves no size of any test", memory_limit_.get()));
  return groups;
}

void Osu::prepare(Session& session, const Case& measured) {
  if (session_ && !own_session_) own_session_ = std::make_unique<MpiSession>();
  comm_ = own_session_ ? own_session_->communicator() : transport_communicator(session.world);
  sync_ = session.sync;
  prepared_ = titled_.at(point_of(measured).test->name);
  ranks_ = session.world.size();
  const Point& point = point_of(measured);
  setting({session.world.rank(), ranks_, session.seed}, point);
  Wishes& wishes = wishes_.at({point.test->name, point.bytes, point.place});
  prepare_reports(session);
  if (library_ == "nccl" && prepared_->kind == "collective") {
    if (!nccl_) nccl_ = std::make_unique<NcclCollectives>(session.world, session.device);
    wishes.nccl = nccl_.get();
    wishes.from = wishes.to = {.own = &session.device};
  }
  const bool on_devices = wishes.on_devices();
  if (on_devices) wishes.from.device = wishes.to.device = device_of(session);
  wishes.from.touched = wishes.to.touched = !no_touch_;
  if (compute_target_ != "cpu" && prepared_->kind == "overlap") {
    if (session.device.info().runtime == "native")
      throw Unsupported("the device that computes is the run's: --runtime opencl, cuda or sycl names one");
    wishes.computes = &session.device;
    wishes.host_computes = compute_target_ == "both";
    wishes.array = static_cast<std::uint64_t>(array_size_.get());
  }
  std::exception_ptr problem;
  double roof = 0;
  try {
    Table::prepare(session, measured);
    const bool within = wishes.from.letter != 'H' && wishes.to.letter != 'H' && goes_past_hosts();
    if (on_devices && roof_.get() == 0)
      roof = std::max(copying_roof(wishes.from, within), copying_roof(wishes.to, within));
  } catch (const Error&) {
    problem = std::current_exception();
  }
  if (on_devices) MPI_Allreduce(MPI_IN_PLACE, &roof, 1, MPI_DOUBLE, MPI_MAX, comm_);
  sample_ = 0;
  fastest_Bps_ = 0;
  roof_Bps_ = roof_.get() > 0 && on_devices ? roof_.get() * giga : 2 * roof;
  if (problem) std::rethrow_exception(problem);
}

// For --graph and --papi: the file beside the record, and counters. Throws Unsupported.
void Osu::prepare_reports(const Session& session) {
  files_ = session.files;
  if (graph_ != "none" && sync_ == "once")
    throw Unsupported("--graph draws single operations, and --sync once times none");
  if (graph_ != "none" && session.world.rank() == 0 && files_ == nullptr)
    throw Unsupported("--graph needs a record, whose file it draws: --record FILE");
  if (papi_.get().empty() || counters_) return;
  const Counted counted = counted_in(papi_);
  counters_.emplace(counted.events);
  if (session.world.rank() != 0) return;
  counts_.open(counted.path);
  if (!counts_) throw Unsupported(fmt::format("--papi: {} cannot be written", counted.path));
  counts_ << "test type bytes sample rank operations " << fmt::format("{}\n", fmt::join(counted.events, " "));
}

bool Osu::has_device_buffers() const {
  const bool all_pairs = pairs_.given() && pairs_in(pairs_) == 0;
  return device_runtime_.given() || all_pairs || letters_in(where_) != std::pair('H', 'H');
}

void Osu::check_device(const Plan& plan, const DeviceInfo&) const {
  const std::string number = device_mapping(plan.ranks)[static_cast<std::size_t>(plan.rank)];
  if (number.empty() || !has_device_buffers()) return;
  const std::string said =
      fmt::format("FPGA_MAPPING {}, {} for rank {}", std::getenv("FPGA_MAPPING"), number, plan.rank);
  const std::string runtime = DeviceCatalogue().numbered(number, said).runtime;
  if (runtime != device_runtime_.get())
    throw UsageError(
        fmt::format("{}: that device belongs to runtime {}, but -d is {}", said, runtime, device_runtime_.get()));
}

// The number of this rank's device, which is the same in libplumb-mpi-device: FPGA_MAPPING's, or that of the run's
// (--device, --device-map) if it has the buffers' runtime; "": the ranks of a host take the devices in turn.
std::string Osu::device_of(const Session& session) const {
  const std::string mapped = device_mapping(ranks_)[static_cast<std::size_t>(session.world.rank())];
  const DeviceInfo& own = session.device.info();
  return mapped.empty() && own.runtime == device_runtime_.get() ? std::to_string(own.index) : mapped;
}

// Bytes a second over a rank's link, in one direction, at this time of an operation.
double Osu::link_rate(const Case& measured, double seconds) const {
  const Point& point = point_of(measured);
  const Titled& test = *titled_.at(point.test->name);
  const double bytes = static_cast<double>(point.bytes);
  if (is_windowed(test.kind))
    return bytes * static_cast<double>(wishes_for(test, 1, point.place, ranks_).window) / seconds;
  if (is_ping_pong(test.kind)) return 2 * bytes / seconds;
  if (is_one_sided(test.kind)) return bytes / seconds;
  return test.bus ? test.bus(ranks_) * bytes * (test.blocks ? ranks_ : 1) / seconds : 0;
}

// Before the world ends: datatypes and the session.
void Osu::release_group() {
  wishes_.clear();
  own_session_.reset();
  nccl_.reset();
  comm_ = MPI_COMM_NULL;
}

void Osu::run(Session&, const Case& measured, Timed& timed) {
  if (counters_) counters_->start();
  const double begin = now_seconds();
  pattern_->run_timed(timed);
  const double seconds = now_seconds() - begin - timed.paused_seconds();
  tell(timed);
  timed.tally("own_s", seconds / static_cast<double>(timed.count()));
  const Timed::Pause pause(timed);
  if (measured.work.messages > 0)  // others wait, or do not even that
    fastest_Bps_ = std::max(fastest_Bps_, link_rate(measured, seconds / static_cast<double>(timed.count())));
  ++sample_;
  if (counters_) report_counts(measured, timed.count(), counters_->stop());
  if (graph_ != "none") report_laps(timed.laps(begin), timed.count());
}

// Of --graph: each operation of the latest sample on its slowest rank.
void Osu::report_laps(std::vector<double> own, std::uint64_t count) {
  std::vector<double> slowest(count);
  own.resize(count);
  MPI_Reduce(own.data(), slowest.data(), static_cast<int>(count), MPI_DOUBLE, MPI_MAX, 0, comm_);
  if (files_ == nullptr) return;
  std::string text = "operation,us\n";
  for (std::size_t i = 0; i < slowest.size(); ++i) text += fmt::format("{},{:.4f}\n", i, slowest[i] / micro);
  files_->write("operations.csv", text);
}

// Of --papi: a line for each rank.
void Osu::report_counts(const Case& measured, std::uint64_t count, const std::vector<double>& own) {
  const std::size_t events = own.size();
  std::vector<double> all(events * static_cast<std::size_t>(ranks_));
  MPI_Gather(own.data(), static_cast<int>(events), MPI_DOUBLE, all.data(), static_cast<int>(events), MPI_DOUBLE, 0,
             comm_);
  if (!counts_.is_open()) return;
  const Point& point = point_of(measured);
  for (int rank = 0; rank < ranks_; ++rank) {
    counts_ << fmt::format("{} {} {} {} {} {}", point.test->name, types()[spots_[point.place].type].name, point.bytes,
                           sample_, rank, count);
    for (std::size_t i = 0; i < events; ++i)
      counts_ << fmt::format(" {:.0f}", all[static_cast<std::size_t>(rank) * events + i]);
    counts_ << "\n";
  }
  counts_.flush();
}

Validation Osu::validate(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t count) {
  if (roof_Bps_ > 0) hold_against_roof();
  return Table::validate(session, measured, repetition, count);
}

// Throws Implausible on all ranks once a sample was faster than its link on one of them: a copy was left out.
void Osu::hold_against_roof() const {
  double fastest = fastest_Bps_;
  MPI_Allreduce(MPI_IN_PLACE, &fastest, 1, MPI_DOUBLE, MPI_MAX, comm_);
  if (fastest > roof_Bps_)
    throw Implausible(fmt::format(
        "{:.4g} GB/s are above the roof of the link, {:.4g} GB/s ({}): data did not go over it", fastest / giga,
        roof_Bps_ / giga, roof_.get() > 0 ? "--roof" : "twice the fastest copy of a device's"));
}

std::size_t Osu::pairs_of(const Titled& test, int ranks) const {
  if (test.kind == "congestion") return Hosts::found().pairs();
  if (!test.pairs) return 1;
  return static_cast<std::size_t>(pairs_in(pairs_) > 0 ? pairs_in(pairs_) : ranks / 2);
}

Json Osu::facts() const {
  Json facts = Table::facts();
  if (prepared_ == nullptr) return facts;
  facts["title"] = prepared_->title;
  if (device_runtime_.given() || letters_in(where_) != std::pair('H', 'H'))
    facts["device"] = device_runtime_ == "opencl" ? "-OPENCL"
                      : device_runtime_ == "cuda" ? "-CUDA"
                      : device_runtime_ == "sycl" ? "-SYCL"
                                                  : "";
  if (nccl_) facts["library"] = NcclCollectives::library();
  if (no_touch_) facts["touched"] = false;
  if (roof_Bps_ > 0) facts["roof_GBps"] = roof_Bps_ / giga;
  if (prepared_->kind == "message rate") facts["pairs"] = pairs_of(*prepared_, ranks_);
  return facts;
}

std::vector<Metric> Osu::latency_metrics(const Titled& test, const Point& point, const CaseResult& result,
                                         const std::vector<double>& own, int ranks) const {
  const bool ping_pong = is_ping_pong(test.kind);
  const double scale = micro * (ping_pong ? 2 : 1);
  std::vector<Metric> list;
  const char* whose = ping_pong ? "half of a round trip; mean of the repetitions, mean of the ranks that begin"
                                : "mean of the repetitions, mean of the ranks";
  list.push_back({"latency", mean_of(own) / scale, "us", whose});
  if (own.size() > 1) {
    list.push_back({"latency_min", std::ranges::min(own) / scale, "us", "of the ranks' means the least", "", false});
    list.push_back({"latency_max", std::ranges::max(own) / scale, "us", "of the ranks' means the largest", "", false});
  }
  list.push_back({"latency_slowest", result.median_seconds() / scale, "us",
                  "slowest rank of each repetition; their median", "", false});
  const double factor = test.bus ? test.bus(ranks) : 0;
  if (factor <= 0 || point.bytes == 0 || point.row->element_bytes == 0) return list;
  const double bytes = static_cast<double>(point.bytes) * (test.blocks ? ranks : 1);
  const double seconds = result.median_seconds();
  list.push_back(
      {"algbw", bytes / seconds / giga, "GB/s", "size of the whole operand / median time of the slowest rank"});
  list.push_back({"busbw", factor * bytes / seconds / giga, "GB/s",
                  fmt::format("{:.4g} algbw: what must go over each rank's link", factor)});
  return list;
}

std::vector<Metric> Osu::init_metrics(const CaseResult& result) const {
  const std::vector<double>& seconds = result.rank_best_seconds;
  std::vector<Metric> list;
  list.push_back({"latency", mean_of(seconds) / milli, "ms", "MPI_Init; mean of the ranks"});
  list.push_back({"latency_min", std::ranges::min(seconds) / milli, "ms", "MPI_Init; of the ranks the least"});
  list.push_back({"latency_max", std::ranges::max(seconds) / milli, "ms", "MPI_Init; of the ranks the largest"});
  list.push_back({"from_process_start", mean_of(result.tallies_by_rank.at("from_process_start_s")) / milli, "ms",
                  "from the process's start to MPI_Init's end; mean of the ranks"});
  return list;
}

std::vector<Metric> Osu::metrics(const CaseResult& result, int ranks) const {
  const Point& point = point_of(*result.measured);
  const Titled& test = *titled_.at(point.test->name);
  if (test.kind == "init") return init_metrics(result);
  const std::size_t pairs = pairs_of(test, ranks);
  // Means of the repetitions, of the ranks whose times count: those that begin, or all.
  const auto tallies = [&](const char* name) {
    std::vector<double> means;
    for (int rank = 0; rank < ranks; ++rank)
      if (test.kind == "congestion" ? Hosts::found().on_first(rank)
                                    : !is_pairs(test.kind) || rank < static_cast<int>(pairs))
        means.push_back(result.tallies_by_rank.at(name)[rank] / static_cast<double>(result.summary.samples));
    return means;
  };
  const std::vector<double> own = tallies("own_s");
  std::vector<Metric> list;
  std::vector<double> slowest = slowest_laps(result);
  double moved = 0;  // bytes of an operation, of all pairs
  const Layout layout =
      takes_layout(test) && point.bytes > 0 ? Layout::read(ddt_).in_bytes(types()[spots_[point.place].type]) : Layout{};
  const std::uint64_t transmitted = layout.kind.empty() ? point.bytes : layout.sent_of(point.bytes);
  if (is_windowed(test.kind)) {
    const std::size_t number = spots_[point.place].window;
    const double window = number > 0 ? std::exp2(number - 1) : static_cast<double>(window_.get());
    moved = static_cast<double>(transmitted) * window * (test.both_ways ? 2 : 1) * static_cast<double>(pairs);
    list.push_back({"bandwidth", moved / mean_of(own) / mega, "MB/s",
                    "bytes of all pairs / mean time of those that send; mean of the repetitions"});
    if (test.kind == "message rate")
      list.push_back({"message_rate", window * static_cast<double>(pairs) / mean_of(own), "messages/s",
                      "messages of all pairs / the same time"});
    operations::add_injection(list, result, micro, "us");
  } else {
    list = latency_metrics(test, point, result, own, ranks);
  }
  if (test.kind == "overlap") add_overlap(list, own, tallies);
  if (!layout.kind.empty())
    list.push_back(
        {"transmitted", static_cast<double>(transmitted), "B", "of a message, without its holes", "", false});
  if (slowest.empty()) return list;
  for (const std::int64_t percentile : percentiles_in(tail_)) {
    const double seconds = quantile(slowest, static_cast<double>(percentile) / 100);
    const bool ping_pong = is_ping_pong(test.kind);
    if (moved > 0)
      list.push_back({fmt::format("bandwidth_p{}", percentile), moved / seconds / mega, "MB/s",
                      "at this percentile of the times of single windows, of the slowest rank", "", false});
    else
      list.push_back({fmt::format("latency_p{}", percentile), seconds / micro / (ping_pong ? 2 : 1), "us",
                      "percentile of single operations, of the slowest rank in each", "", false});
  }
  return list;
}

namespace {

// Each test by its own name, and all together.
const bool registered_osu = [] {
  auto& registry = Registry<BenchmarkFactory>::instance();
  registry.add("osu", [] { return std::make_unique<Osu>(); });
  for (const Titled& one : mpi_table())
    registry.add(one.row.name, [name = one.row.name] { return std::make_unique<Osu>(name); });
  return true;
}();

}  // namespace

}  // namespace plumb::osu
