// A benchmark is a declaration: what it is called, its parameters, its cases and their work, what to prepare, the one
// thing to time, how to validate it and which metrics follow. Everything else is the engine's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <vector>

#include "core/event.hpp"
#include "core/json.hpp"
#include "core/parameter.hpp"
#include "core/registry.hpp"
#include "device/device.hpp"
#include "measure/statistics.hpp"
#include "measure/timed.hpp"
#include "world/world.hpp"

namespace plumb {

class Transport;  // transport/transport.hpp: for those that have one

// What a case must do in one count on one rank. Zero = none of it.
struct Work {
  std::uint64_t bytes_read = 0, bytes_written = 0, bytes_sent = 0, messages = 0, updates = 0, edges = 0;
  double flops = 0;
};

// How often a case is repeated. --repetitions goes before `adaptive` and `fixed`.
struct CasePolicy {
  enum class Kind { adaptive, fixed, once };  // once: a second repetition is impossible, or too long to be of use
  Kind kind = Kind::adaptive;
  std::uint64_t repetitions = 0;  // of kind fixed
  // Repetitions before those that are kept, the first of them validated. None: each that is kept is validated.
  std::uint64_t warm_ups = 1;
  double longest_seconds = 0;  // that a repetition may take, where that is more than --timeout
};

// What a case is to its benchmark, in a type of the benchmark's own; copies share it.
class Payload {
 public:
  Payload() = default;
  template <class T>
  explicit Payload(T value) : type_(&typeid(T)), value_(std::make_shared<const T>(std::move(value))) {}

  // Throws Error when it was made of another type.
  template <class T>
  const T& as() const {
    if (type_ == nullptr || *type_ != typeid(T)) throw Error("this case is of another benchmark");
    return *static_cast<const T*>(value_.get());
  }

 private:
  const std::type_info* type_ = nullptr;
  std::shared_ptr<const void> value_;
};

// One measured point.
struct Case {
  std::string key;  // unique in a run: "natural/transfer/1024"
  // What varies, in table order, for the record: {"ring": "natural", "message_bytes": 1024}. The same for the benchmark
  // is in `payload`.
  Json labels;
  Work work;
  // What validate() must check on this rank in one repetition, no more and no less: so many items of what the whole
  // sample, or its last operation, leaves, and so many of each operation before that (see measure/slide.hpp).
  std::uint64_t items_to_check = 0, witnesses = 0;
  std::uint64_t most_operations = 0;  // that a sample may have; 0 = any number
  std::uint64_t fixed_count = 0;      // operations of a sample; 0 = the engine adapts it
  CasePolicy policy = {};
  std::vector<std::string> phases = {};  // named parts of a sample (Timed::phase)
  bool laps = false;                     // the time of each operation is kept (Timed::lap)
  unsigned threads = 1;                  // that tell something of a sample (Timed::thread)
  Payload payload = {};

  std::uint64_t items_of(std::uint64_t count) const { return items_to_check + witnesses * (count - 1); }
};

// Cases that share what is set up.
struct Group {
  std::string key;
  std::vector<Case> cases;
  // The most that one rank needs at a time: on the device, in its largest single buffer, on the host, and as messages
  // of one round of an exchange (which a transport without access to device memory keeps on the host as well).
  std::uint64_t device_bytes = 0, largest_buffer_bytes = 0, host_bytes = 0, exchange_bytes = 0;
  std::uint64_t symmetric_bytes = 0;     // memory that other ranks reach (one-sided), the same on every rank
  std::vector<std::string> phases = {};  // of its set-up, which is then recorded (Timed::phase in prepare_group)
};

// Who plans: a rank of so many, with the seed of all data and orders.
struct Plan {
  int rank = 0;
  int ranks = 1;
  std::uint64_t seed = 1;
};

// What a benchmark is given. Valid for the whole run.
struct Session {
  World& world;
  Device& device;
  Transport* transport = nullptr;  // null for benchmarks that need none
  Placement memory;
  std::uint64_t seed = 1;
  std::string kernel_file = {};  // --kernel-file: a path; "" = the benchmark's own kernels
  std::string sync = "clock";    // --sync, for benchmarks that start single operations of a sample together

  // The benchmark's own source, or with --kernel-file the user's in its place, under the same options: text, or a
  // vendor's binary. Throws UsageError when the file cannot be read.
  KernelSource source(KernelSource own) const;
};

// The bytes of --kernel-file. Throws UsageError when it cannot be read.
std::vector<char> read_kernel_file(const std::string& path);

// What one rank found in one repetition. All ranks' are reduced by the engine. Fails when the error is above its
// tolerance or negative, more items are wrong than may be, or not all were checked.
struct Validation {
  double error = 0;  // in the benchmark's own measure; passes when 0 <= error <= tolerance (NaN never does)
  double tolerance = 0;
  std::uint64_t items_checked = 0;
  std::uint64_t wrong_items = 0;
  std::uint64_t allowed_wrong_items = 0;  // by the benchmark's rules (updates that RandomAccess may lose)
  std::string reference;                  // what it was compared with
  std::string detail;                     // of the first wrong item: where, is, should be; "" when none
};

// A figure derived from work and samples. `convention` says how, in a clause.
struct Metric {
  std::string name;
  double value = 0;  // NaN when it cannot be given; then `reason`
  std::string unit;
  std::string convention;
  std::string reason = {};
  bool table = true;       // shown in the text table
  std::string group = {};  // for aggregates of one group
};

Json to_json(const Metric& metric);

// One figure of all ranks', NaN left out; NaN when there is none. A metric's convention names the rule.
enum class RankRule { sum, slowest, mean };
double reduced(const std::vector<double>& by_rank, RankRule rule);

// What was measured of a case, on rank 0.
struct CaseResult {
  const Case* measured = nullptr;
  std::uint64_t count = 1;
  Summary summary;  // of the slowest rank of each repetition, seconds a sample
  bool passed = false;
  std::map<std::string, double> tallies;                            // the sum over ranks and repetitions
  std::vector<double> rank_best_seconds = {};                       // each rank's own best of one count
  std::map<std::string, std::vector<double>> tallies_by_rank = {};  // over the repetitions
  std::map<std::string, std::vector<double>> phases_by_rank = {};  // median seconds of a sample; NaN where it never was
  std::vector<Work> work_by_rank = {};                             // of one count
  std::optional<Summary> laps = {};                                // of one operation, of all ranks, in seconds
  std::vector<std::vector<double>> laps_by_rank = {};              // seconds of each operation, in their order

  double best_seconds() const { return summary.min / static_cast<double>(count); }       // of one count
  double median_seconds() const { return summary.median / static_cast<double>(count); }  // of one count
};

// When the engine calls validate().
enum class ValidateWhen { each_repetition, first_and_last };

// Option values by name, applied before the user's own.
using Preset = std::map<std::string, std::string>;

class Benchmark : public Parameters {
 public:
  virtual std::string name() const = 0;
  virtual std::string title() const = 0;   // one line
  virtual std::string source() const = 0;  // where its rules are written
  // The benchmark that runs all of a suite's tests, where this is one of them by its own name; "" = it stands alone.
  virtual std::string family() const { return ""; }
  virtual bool needs_transport() const { return false; }
  // Whether it works on a device's memory; else its device is this process (native), unless one is named.
  virtual bool needs_device() const { return true; }
  virtual ValidateWhen validate_when() const { return ValidateWhen::first_and_last; }
  virtual Preset preset(const std::string& name) const = 0;  // smoke (under 10 s on two cores), standard, full

  virtual bool takes_kernel_file() const { return false; }
  // Whether each rank has a problem of its own from prepare() to validate(), without a word to the others: then some
  // may idle (--active-ranks).
  virtual bool ranks_work_apart() const { return false; }
  // Whether several threads of a rank communicate at once; asked before the world starts, from the options alone.
  virtual bool threads_communicate() const { return false; }

  // Constraints between options; throws UsageError. Called before any device is touched.
  virtual void check(const Plan&) const {}
  // Constraints between options and the device that was chosen, before it is opened; throws UsageError.
  virtual void check_device(const Plan&, const DeviceInfo&) const {}
  // Cases by group for this rank; pure arithmetic, no device.
  virtual std::vector<Group> groups(const Plan& plan) const = 0;

  // Untimed: what a group's cases share; then what one case needs. Throws Unsupported where the device cannot.
  virtual void prepare_group(Session&, const Group&, Timed&) {}
  virtual void prepare(Session&, const Case&) = 0;
  // The nearest count not below `wanted` that this case can validate. Asked within most_operations.
  virtual std::uint64_t admissible_count(const Case&, std::uint64_t wanted) const { return wanted; }
  // Untimed, before each repetition: restore inputs, poison outputs.
  virtual void reset(Session&, const Case&, std::uint64_t repetition, std::uint64_t count) = 0;
  // Timed: timed.count() operations, complete on return.
  virtual void run(Session&, const Case&, Timed&) = 0;
  virtual Validation validate(Session&, const Case&, std::uint64_t repetition, std::uint64_t count) = 0;
  // What was decided while preparing the case, and found while validating it, for the record: {"variant": "nd_range",
  // "library": "CLBlast 1.5.2"}. Asked for once, when the case is over.
  virtual Json facts() const { return Json::object(); }
  // After the last repetition: give back what prepare took.
  virtual void release() {}
  // After a group's last case, before the next group and before the world ends: give back what prepare_group took.
  virtual void release_group() {}

  virtual std::vector<Metric> metrics(const CaseResult&, int ranks) const = 0;
  virtual std::vector<Metric> aggregate(const std::vector<CaseResult>&, int) const { return {}; }
};

using BenchmarkFactory = std::function<std::unique_ptr<Benchmark>()>;
using RegisteredBenchmark = Registered<BenchmarkFactory>;

}  // namespace plumb
