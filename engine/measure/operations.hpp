// Tables of operations: a library's functions, or the tests of a suite, as one benchmark. A row is data: an operation
// and its element type. A pattern (ping-pong, window, all ranks at once, one to many) runs it at a setting and checks
// the result. Each table defines its settings: which ranks, size, memory.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/units.hpp"
#include "measure/benchmark.hpp"

namespace plumb::operations {

// Work and needs of an operation at a setting, by arithmetic alone.
struct Needs {
  Work work;                         // of one count on this rank
  std::uint64_t moved = 0;           // bytes that one count moves between ranks, in total; 0 without data
  std::uint64_t items_to_check = 0;  // on this rank
  std::uint64_t symmetric_bytes = 0;
  std::uint64_t memory = 0;           // bytes of buffers on this rank, if known
  std::uint64_t fixed_count = 0;      // operations per sample; 0 = chosen by the engine
  bool once = false;                  // one repetition only
  std::uint64_t count_multiple = 1;   // divisor of the operations per sample
  std::uint64_t most_operations = 0;  // upper limit per sample; 0 = none
  bool laps = false;                  // times each operation
  unsigned threads = 1;               // threads that use Timed
};

// A prepared operation. All members are collective.
class Pattern {
 public:
  virtual ~Pattern() = default;
  virtual void reset(std::uint64_t repetition, std::uint64_t count) = 0;
  virtual void run(std::uint64_t count) = 0;
  // Likewise, for patterns with laps, phases or pauses.
  virtual void run_timed(Timed& timed) { run(timed.count()); }
  virtual Validation validate(std::uint64_t repetition, std::uint64_t count) = 0;
  // Accumulated seconds and number of operations begun but not awaited.
  struct Injection {
    double seconds = 0, operations = 0;
  };
  virtual Injection injection() { return {}; }
  // Findings of validation other than right and wrong, for the record; of the active rank.
  //   completion: how the end of operations was proven before the clock stopped, or why it is not;
  // overlaps: minimum over ranks of foreign atomics seen between own ones, if atomicity was tested;
  //   atomicity: why it is not proven, if these are too few.
  virtual Json facts() const { return Json::object(); }
  // Seconds of an operation timed outside of the run (shmem_init, before anything can be measured).
  virtual std::optional<double> seconds_elsewhere() const { return std::nullopt; }
};

template <class Setting>
struct Row {
  std::string name;               // "int_put"
  std::string kind;               // "put", "reduction", …
  std::string set;                // name of the table that contains it
  std::size_t element_bytes = 0;  // 0 = an operation without sizes
  bool threads = false;           // several threads may run it
  std::string missing = {};       // why this library lacks it; "" = available
  std::string fault = {};         // known fault of this library; "" = none
  std::function<Needs(const Setting&)> needs = {};
  std::function<std::unique_ptr<Pattern>(const Setting&)> make = {};
};

// A test of a suite: the rows it runs, a case each. Tests of several rows have no sizes.
template <class Setting>
struct Test {
  std::string name;  // "osu_oshm_put"
  std::string kind;  // reported quantity
  std::vector<Row<Setting>> rows;
};

// Size passed to operations without sizes.
inline constexpr std::uint64_t no_size = 8;

// minimum, minimum * factor, … up to maximum, in bytes.
std::vector<std::uint64_t> growing_sizes(std::uint64_t minimum, std::uint64_t maximum, std::uint64_t factor);

// Names selected by a comma-separated list of names, prefixes or patterns with *. All for an empty list. Throws
// UsageError for an entry that selects none.
std::vector<std::string> names_picked(const std::string& selection, const std::vector<std::string>& known);

// Options common to all tables.
class Options : public Benchmark {
 public:
  bool needs_device() const override { return false; }

 protected:
  Options(std::int64_t smallest, std::int64_t largest);
  // Throws UsageError for fewer than two ranks, and for a minimum size above the maximum.
  void check_between_ranks(const Plan& plan) const;
  std::vector<std::uint64_t> swept_sizes() const;

  Parameter<std::string> only_{
      *this,
      {"only", "only tests of this name, or whose names begin so or match a pattern with *; several with commas"},
      ""};
  Parameter<std::int64_t> minsize_, maxsize_;
  Parameter<std::int64_t> size_factor_{*this, {"size-factor", "from one message size to the next"}, 2, {2, 1 << 20}};
  Parameter<bool> known_faults_{*this, {"known-faults", "also run what this library is known to break on"}, false};
};

// "injection", from the tallies left by Benchmark::run; none if absent.
void add_injection(std::vector<Metric>& metrics, const CaseResult& result, double unit, const char* name);

// A benchmark with a table of rows as tests.
template <class Setting>
class Table : public Options {
 public:
  using Row = operations::Row<Setting>;
  using Test = operations::Test<Setting>;

  void prepare(Session& session, const Case& measured) override {
    const Point& point = point_of(measured);
    if (const std::string reason = hindrance(*point.row); !reason.empty()) throw Unsupported(reason);
    const Setting setting = this->setting({session.world.rank(), session.world.size(), session.seed}, point);
    multiple_ = point.row->needs(setting).count_multiple;
    pattern_ = point.row->make(setting);
  }
  std::uint64_t admissible_count(const Case&, std::uint64_t wanted) const override {
    return (wanted + multiple_ - 1) / multiple_ * multiple_;
  }
  void reset(Session&, const Case&, std::uint64_t repetition, std::uint64_t count) override {
    pattern_->reset(repetition, count);
  }
  void run(Session&, const Case&, Timed& timed) override {
    pattern_->run_timed(timed);
    tell(timed);
  }
  Validation validate(Session&, const Case&, std::uint64_t repetition, std::uint64_t count) override {
    return pattern_->validate(repetition, count);
  }
  Json facts() const override { return pattern_ ? pattern_->facts() : Json::object(); }
  void release() override { pattern_.reset(); }

 protected:
  using Options::Options;

  // Payload of a case.
  struct Point {
    const Test* test = nullptr;
    const Row* row = nullptr;
    std::uint64_t bytes = no_size;
    std::size_t place = 0;  // of the benchmark, if tests run at several places
  };
  static const Point& point_of(const Case& measured) { return measured.payload.template as<Point>(); }

  virtual Setting setting(const Plan& plan, const Point& point) const = 0;
  // Reason why a row cannot run here, or "".
  virtual std::string hindrance(const Row& row) const {
    if (!row.missing.empty()) return row.missing;
    return row.fault.empty() || known_faults_ ? "" : row.fault + "; --known-faults runs it";
  }

  // The pattern's tallies of the latest sample.
  void tell(Timed& timed) const {
    if (const auto elsewhere = pattern_->seconds_elsewhere()) timed.instead(*elsewhere);
    const auto [seconds, operations] = pattern_->injection();
    if (operations == 0) return;
    timed.tally("injection_s", seconds);
    timed.tally("injections", operations);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Test& test : tests_) names.push_back(test.name);
    return names;
  }

  // A test's cases: keys begin with `prefix`; labels are test and kind, then `labels`, then operation or bytes.
  Group group_of(const Test& test, const Plan& plan, const std::vector<std::uint64_t>& sizes, std::string prefix,
                 const Json& labels, std::size_t place = 0) const {
    Group group;
    group.key = std::move(prefix) + test.name;
    for (const Row& row : test.rows)
      for (const std::uint64_t bytes : row.element_bytes == 0 ? std::vector<std::uint64_t>{no_size} : sizes)
        if (bytes == 0 || bytes >= row.element_bytes) add_case(group, {&test, &row, bytes, place}, plan, labels);
    return group;
  }

  std::vector<Test> tests_;           // the table
  std::unique_ptr<Pattern> pattern_;  // of the prepared case

 private:
  void add_case(Group& group, const Point& point, const Plan& plan, const Json& labels) const {
    const auto& [test, row, bytes, place] = point;
    Case& one = group.cases.emplace_back();
    one.key = group.key;
    one.labels = {{"test", test->name}, {"kind", test->kind}};
    one.labels.update(labels);
    one.payload = Payload(point);
    if (test->rows.size() > 1) {
      one.key += "/" + row->name;
      one.labels["operation"] = row->name;
    } else if (row->element_bytes > 0) {
      one.key += fmt::format("/{}", bytes);
      one.labels["bytes"] = bytes;
    }
    if (!hindrance(*row).empty()) return;
    const Needs needs = row->needs(setting(plan, point));
    one.work = needs.work;
    one.items_to_check = needs.items_to_check;
    one.fixed_count = needs.fixed_count;
    one.most_operations = needs.most_operations;
    one.laps = needs.laps;
    one.threads = needs.threads;
    if (needs.once) one.policy.kind = CasePolicy::Kind::once;
    group.symmetric_bytes = std::max(group.symmetric_bytes, needs.symmetric_bytes);
    group.host_bytes = std::max({group.host_bytes, bytes, needs.memory});
  }

  std::uint64_t multiple_ = 1;
};

}  // namespace plumb::operations
