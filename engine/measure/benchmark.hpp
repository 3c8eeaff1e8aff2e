// A benchmark is a declaration: name, parameters, cases and their work, preparation, the one timed function, validation
// and metrics. The engine does the rest.
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

class FilesBeside;  // record/beside.hpp, for benchmarks that write files
class Transport;    // transport/transport.hpp, for benchmarks that need one

// Work of one count on one rank. Zero: none of that kind.
struct Work {
  std::uint64_t bytes_read = 0, bytes_written = 0, bytes_sent = 0, messages = 0, updates = 0, edges = 0;
  double flops = 0;
};

// How often a case is repeated. --repetitions overrides `adaptive` and `fixed`.
struct CasePolicy {
  enum class Kind { adaptive, fixed, once };  // once: a second repetition is impossible or takes too long
  Kind kind = Kind::adaptive;
  std::uint64_t repetitions = 0;  // of kind fixed
  // Discarded repetitions, the first of them validated. 0: every repetition is kept and validated.
  std::uint64_t warm_ups = 1;
  double longest_seconds = 0;  // limit of a repetition, if above --timeout
};

// Data of a case in a type of the benchmark's own; copies share it.
class Payload {
 public:
  Payload() = default;
  template <class T>
  explicit Payload(T value) : type_(&typeid(T)), value_(std::make_shared<const T>(std::move(value))) {}

  // Throws Error if it has another type.
  template <class T>
  const T& as() const {
    if (type_ == nullptr || *type_ != typeid(T)) throw Error("this case belongs to another benchmark");
    return *static_cast<const T*>(value_.get());
  }

 private:
  const std::type_info* type_ = nullptr;
  std::shared_ptr<const void> value_;
};

// One measured point.
struct Case {
  std::string key;  // unique in a run: "natural/transfer/1024"
  // Variables of the case, in table order, for the record: {"ring": "natural", "message_bytes": 1024}. The benchmark's
  // own form of them is `payload`.
  Json labels;
  Work work;
  // Exact number of items that validate() must check on this rank in one repetition: items_to_check of the result of
  // the whole sample or its last operation, and `witnesses` of each operation before it (see measure/slide.hpp).
  std::uint64_t items_to_check = 0, witnesses = 0;
  std::uint64_t most_operations = 0;  // limit of operations per sample; 0 = none
  std::uint64_t fixed_count = 0;      // operations per sample; 0 = chosen by the engine
  CasePolicy policy = {};
  std::vector<std::string> phases = {};  // named parts of a sample (Timed::phase)
  bool laps = false;                     // record the time of each operation (Timed::lap)
  unsigned threads = 1;                  // threads that use Timed (Timed::thread)
  Payload payload = {};

  std::uint64_t items_of(std::uint64_t count) const { return items_to_check + witnesses * (count - 1); }
};

// Cases that share a set-up.
struct Group {
  std::string key;
  std::vector<Case> cases;
  // Upper bounds for one rank: device memory, largest single buffer, host memory, and messages of one round of an
  // exchange (which a transport without access to device memory stages on the host).
  std::uint64_t device_bytes = 0, largest_buffer_bytes = 0, host_bytes = 0, exchange_bytes = 0;
  std::uint64_t symmetric_bytes = 0;     // memory for one-sided access by other ranks, equal on all ranks
  std::vector<std::string> phases = {};  // of the recorded set-up (Timed::phase in prepare_group)
};

// Input of planning: rank, number of ranks, and the seed of all data and orders.
struct Plan {
  int rank = 0;
  int ranks = 1;
  std::uint64_t seed = 1;
};

// Everything passed to a benchmark. Valid for the whole run.
struct Session {
  World& world;
  Device& device;
  Transport* transport = nullptr;  // null for benchmarks without transport
  Placement memory;
  std::uint64_t seed = 1;
  std::string kernel_file = {};  // --kernel-file: a path; "" = the benchmark's own kernels
  bool kernels_by_sycl = false;  // --kernel-language sycl
  std::string sync = "clock";    // --sync, for benchmarks that start single operations of a sample together
  FilesBeside* files = nullptr;  // beside the record; null on other ranks than 0 and without a record

  // The benchmark's source or, with --kernel-file, the user's (text or a vendor's binary), with the same options.
  // Throws UsageError if the file cannot be read.
  KernelSource source(KernelSource own) const;
};

// Contents of --kernel-file. Throws UsageError if it cannot be read.
std::vector<char> read_kernel_file(const std::string& path);

// Result of validating one repetition on one rank; the engine reduces over ranks. Fails if the error is negative or
// above the tolerance, too many items are wrong, or the number of items checked differs from the case's.
struct Validation {
  double error = 0;  // in the benchmark's own measure; passes if 0 <= error <= tolerance (never for NaN)
  double tolerance = 0;
  std::uint64_t items_checked = 0;
  std::uint64_t wrong_items = 0;
  std::uint64_t allowed_wrong_items = 0;  // allowed by the benchmark's rules (lost updates of RandomAccess)
  std::string reference;                  // reference solution
  std::string detail;                     // of the first wrong item: position, actual, expected; "" if none
};

// A figure derived from work and samples. `convention` defines it, in a clause.
struct Metric {
  std::string name;
  double value = 0;  // NaN with `reason` if undefined
  std::string unit;
  std::string convention;
  std::string reason = {};
  bool table = true;       // shown in the text table
  std::string group = {};  // for aggregates of one group
};

Json to_json(const Metric& metric);

// Reduction over ranks, ignoring NaN; NaN if there are no values. A metric's convention names the rule.
enum class RankRule { sum, slowest, mean };
double reduced(const std::vector<double>& by_rank, RankRule rule);

// Measurements of a case, on rank 0.
struct CaseResult {
  const Case* measured = nullptr;
  std::uint64_t count = 1;
  Summary summary;  // of the slowest rank of each repetition, seconds per sample
  bool passed = false;
  std::map<std::string, double> tallies;                            // sums over ranks and repetitions
  std::vector<double> rank_best_seconds = {};                       // each rank's best time of one count
  std::map<std::string, std::vector<double>> tallies_by_rank = {};  // over the repetitions
  std::map<std::string, std::vector<double>> phases_by_rank = {};   // median seconds per sample; NaN if absent
  std::vector<Work> work_by_rank = {};                              // of one count
  std::optional<Summary> laps = {};                                 // of one operation, over all ranks, in seconds
  std::vector<std::vector<double>> laps_by_rank = {};               // seconds of each operation, in order

  double best_seconds() const { return summary.min / static_cast<double>(count); }       // of one count
  double median_seconds() const { return summary.median / static_cast<double>(count); }  // of one count
};

// When the engine calls validate(); first_and_last: and after each repetition in which a rank is faster by a tenth than
// in all that were validated.
enum class ValidateWhen { each_repetition, first_and_last };

// A bitstream's kernels: one source, OpenCL C (.cl) or HLS C++ (.cpp, for v++ alone), whose kernels a board has once
// for each replication. Names hold values of build parameters: "gemm{replication}",
// "update_{replication}_g{rng-count-log}".
struct BoardKernels {
  struct Argument {
    std::string name;
    int bank = 0;  // among those of its replication
  };
  struct Kernel {
    std::string name;                 // compiled once and linked several times
    std::string numbered;             // compiled for each replication, with -DREPLICATION
    std::vector<Argument> arguments;  // pointers to global memory
  };
  struct Stream {
    std::string from, to;  // numbered kernel, point, port
    int depth = 0;         // elements that it must hold; 0: the tool's own number
  };

  std::string source;        // an embedded file
  std::string options = {};  // of the compiler, beside the build parameters'
  std::vector<Kernel> kernels = {};
  std::vector<Stream> streams = {};
  std::vector<std::string> includes = {};                                      // embedded files, by their last names
  int channels = 0;                                                            // io channels of a replication, each way
  int banks = 1;                                                               // memory banks of a replication
  bool own_banks = true;                                                       // that no other replication uses
  std::map<std::string, std::string> run = {{"variant", "single_work_item"}};  // options of runs with these kernels
};

// Tools that build bitstreams: Intel's aoc, Xilinx's v++.
enum class BoardTool { aoc, vpp };

// Option values by name, overridden by the user's.
using Preset = std::map<std::string, std::string>;

class Benchmark : public Parameters {
 public:
  virtual std::string name() const = 0;
  virtual std::string title() const = 0;   // one line
  virtual std::string source() const = 0;  // reference of its rules
  // Name of the benchmark that runs all tests of a suite, if this is one of them; "" otherwise.
  virtual std::string family() const { return ""; }
  virtual bool needs_transport() const { return false; }
  // Whether it times each operation of a sample, so that --sync once makes a difference.
  virtual bool times_operations() const { return false; }
  // Whether the benchmark uses device memory; otherwise its device is this process (native) unless one is named.
  virtual bool needs_device() const { return true; }
  virtual ValidateWhen validate_when() const { return ValidateWhen::first_and_last; }
  virtual Preset preset(const std::string& name) const = 0;  // smoke (under 10 s on two cores), standard, full

  virtual bool takes_kernel_file() const { return false; }
  // Its kernels for boards, if it has some for that tool. The parameters with About::build are fixed in a bitstream.
  virtual std::optional<BoardKernels> board_kernels(BoardTool) const { return std::nullopt; }
  // Whether each rank solves a problem of its own, without communication from prepare() to validate(), so that some
  // ranks may idle (--active-ranks).
  virtual bool ranks_work_apart() const { return false; }
  // Whether several threads of a rank communicate concurrently; called before the world starts.
  virtual bool threads_communicate() const { return false; }

  // Constraints between options; throws UsageError. Called before any device is opened.
  virtual void check(const Plan&) const {}
  // Constraints between options and the selected device; throws UsageError. Called before the device is opened.
  virtual void check_device(const Plan&, const DeviceInfo&) const {}
  // Cases by group for this rank, by arithmetic alone.
  virtual std::vector<Group> groups(const Plan& plan) const = 0;

  // Untimed set-up of a group, then of one case. Throws Unsupported if the device cannot run it.
  virtual void prepare_group(Session&, const Group&, Timed&) {}
  virtual void prepare(Session&, const Case&) = 0;
  // The smallest count >= `wanted` that this case can validate, within most_operations.
  virtual std::uint64_t admissible_count(const Case&, std::uint64_t wanted) const { return wanted; }
  // Untimed, before each repetition: restores inputs, poisons outputs.
  virtual void reset(Session&, const Case&, std::uint64_t repetition, std::uint64_t count) = 0;
  // Timed: executes timed.count() operations, complete on return.
  virtual void run(Session&, const Case&, Timed&) = 0;
  virtual Validation validate(Session&, const Case&, std::uint64_t repetition, std::uint64_t count) = 0;
  // Decisions of preparing and findings of validating the case, for the record: {"variant": "nd_range", "library":
  // "CLBlast 1.5.2"}. Called once, after the case.
  virtual Json facts() const { return Json::object(); }
  // After the last repetition: releases the resources of prepare().
  virtual void release() {}
  // After a group's last case, before the world ends: releases the resources of prepare_group().
  virtual void release_group() {}

  virtual std::vector<Metric> metrics(const CaseResult&, int ranks) const = 0;
  virtual std::vector<Metric> aggregate(const std::vector<CaseResult>&, int) const { return {}; }
};

using BenchmarkFactory = std::function<std::unique_ptr<Benchmark>()>;
using RegisteredBenchmark = Registered<BenchmarkFactory>;

}  // namespace plumb
