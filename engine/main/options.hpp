// The engine's own options and the command line. Benchmarks' options come from their declarations.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/parameter.hpp"
#include "measure/benchmark.hpp"
#include "measure/runner.hpp"
#include "transport/transport.hpp"

namespace plumb {

class EngineOptions : public Parameters {
 public:
  Choice preset{
      *this, {"preset", "how thorough: smoke under 10 s, standard, full"}, "standard", {"smoke", "standard", "full"}};
  Parameter<std::string> runtime{
      *this, {"runtime", "runtime that drives the device (see --devices); by default that of the transport"}, ""};
  Parameter<std::string> device{*this,
                                {"device",
                                 "device by index, by type (gpu, cpu, accelerator, native) or by a part of its name; "
                                 "several are dealt out to the ranks of a host"},
                                ""};
  Parameter<std::string> device_map{*this, {"device-map", "device index of each rank, as 2:0:3"}, ""};
  Parameter<std::string> memory{
      *this,
      {"memory", "where buffers lie: default, host, svm, ddr, hbm or plram, with :BANK where there are banks"},
      "default"};
  Parameter<std::string> transport{*this,
                                   {"transport",
                                    "how bytes get from rank to rank (see --transports); staged for devices, the "
                                    "world's own for runtime native"},
                                   ""};
  Parameter<std::string> approach{*this,
                                  {"approach",
                                   "who starts a transfer and where it lands, of a transport that has several: "
                                   "host-buffered, device-buffered or device-streaming"},
                                  ""};
  Parameter<std::int64_t> repetitions{
      *this, {"repetitions", "exactly so many repetitions of each case; adaptive when not given"}, 0, {1}};
  Parameter<std::int64_t> min_repetitions{*this, {"min-repetitions", "adaptive: at least so many"}, 10, {6, 1000000}};
  Parameter<std::int64_t> max_repetitions{*this, {"max-repetitions", "adaptive: at most so many"}, 1000, {6, 1000000}};
  Parameter<double> time_limit{*this, {"time-limit", "adaptive: time for one case", "s"}, 1.0, {0.001, 1e6}};
  Parameter<double> confidence{
      *this,
      {"confidence", "adaptive: stop when the 95 % interval of the median is within ± this part of it"},
      0.02,
      {1e-6, 1}};
  Parameter<std::int64_t> active_ranks{
      *this,
      {"active-ranks",
       "the first so many ranks work, the rest idle (HPCC's Single: 1), where each has a problem of its own; 0: all"},
      0,
      {0}};
  Choice sync{*this,
              {"sync",
               "how repetitions start together: at an agreed time on a common clock, or after a barrier; of benchmarks "
               "that time each operation, barrier: one before each, once: one before them all, under one clock"},
              "clock",
              {"clock", "barrier", "once"}};
  Parameter<std::int64_t> seed{*this, {"seed", "of all data and orders"}, 1, {0}};
  Parameter<double> timeout{*this, {"timeout", "the longest wait before the run is given up", "s"}, 60.0, {1, 1e6}};
  Parameter<std::string> kernel_file{
      *this,
      {"kernel-file",
       "your own kernels in place of the benchmark's, of the same names and signatures: OpenCL C, or a bitstream"},
      ""};
  Parameter<std::string> parts{*this,
                               {"parts",
                                "what the cases are made of, measured beside them: benchmarks with their options, as "
                                "'ceilings only=memory size=24; links ring=random'; plumb run chooses them"},
                               ""};
  Parameter<bool> skip_validation{
      *this, {"skip-validation", "measure without checking results (recorded as such)"}, false};
  Parameter<bool> test{*this, {"test", "set everything up, run nothing"}, false};
  Parameter<bool> dry_run{
      *this, {"dry-run", "check the options and print the plan (cases, memory), without a run"}, false};
  Parameter<std::int64_t> ranks{
      *this, {"ranks", "with --dry-run: plan for so many ranks instead of those present"}, 0, {1}};
  Parameter<std::int64_t> local_ranks{
      *this,
      {"local-ranks",
       "with --dry-run: so many of the ranks share this host, whose memory is checked; 0: none. With --ranks: 1"},
      0,
      {0}};
  Parameter<std::string> record{
      *this, {"record", "file of the record, or none; BENCHMARK-TIME.json in this folder when not given"}, ""};
  Choice format{*this, {"format", "content of standard output"}, "table", formats()};
  Choice progress{*this, {"progress", "content of standard error"}, "text", {"text", "json", "none"}};

  const TransportOptions of_transports;

  EngineOptions() { include(of_transports); }
  RunSettings settings() const;  // throws UsageError when options contradict each other

 private:
  static std::vector<std::string> formats();  // of records, and none
};

struct CommandLine {
  enum class Action { help, version, list, devices, transports, describe, show, run };
  Action action = Action::help;
  std::string benchmark = {};
  std::string show_record = {}, show_expected = {};  // of --show
  bool json = false;                                 // --format json of --devices and --transports
};

// Reads the command line into the engine's options and, once the benchmark is known, into its parameters.
// Throws UsageError. `benchmark` is null unless one was named.
CommandLine parse_command_line(int argc, const char* const* argv, EngineOptions& options,
                               std::unique_ptr<Benchmark>& benchmark);

std::string program_help(const std::string& program);
std::string benchmark_help(const std::string& program, const Benchmark& benchmark, const EngineOptions& options);
std::unique_ptr<Benchmark> make_benchmark(const std::string& name);

}  // namespace plumb
