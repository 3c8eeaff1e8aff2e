// The engine's own options and the command line. Benchmarks declare theirs.
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
  Choice preset{*this,
                {"preset", "default options: smoke (under 10 s), standard or full"},
                "standard",
                {"smoke", "standard", "full"}};
  Parameter<std::string> runtime{
      *this, {"runtime", "runtime of the device (see --devices); default: the transport's"}, ""};
  Parameter<std::string> device{*this,
                                {"device",
                                 "device by index, by type (gpu, cpu, accelerator, native) or by a part of its name; "
                                 "several are distributed over the ranks of a host"},
                                ""};
  Parameter<std::string> device_map{*this,
                                    {"device-map",
                                     "devices of the ranks: index of each rank (2:0:3), of the ranks of each node "
                                     "(node=0:1), near to or far from the "
                                     "rank's cores on the PCI bus (near, far), or a file of lines NODE INDEX:INDEX"},
                                    ""};
  Parameter<bool> share_devices{
      *this, {"share-devices", "allow several ranks of a node on one device; they divide its memory"}, false};
  Parameter<std::string> memory{
      *this, {"memory", "memory of buffers: default, host, svm, ddr, hbm or plram, optionally with :BANK"}, "default"};
  Parameter<std::string> transport{*this,
                                   {"transport",
                                    "path of bytes between ranks (see --transports); default: staged for devices, the "
                                    "world's own for runtime native"},
                                   ""};
  Parameter<std::string> approach{*this,
                                  {"approach",
                                   "scheduling and landing of transfers, for transports with several approaches: "
                                   "host-buffered, device-buffered or device-streaming"},
                                  ""};
  Parameter<std::int64_t> repetitions{
      *this, {"repetitions", "fixed number of repetitions of each case; adaptive by default"}, 0, {1}};
  Parameter<std::int64_t> min_repetitions{
      *this, {"min-repetitions", "adaptive: minimum number of repetitions"}, 10, {6, 1000000}};
  Parameter<std::int64_t> max_repetitions{
      *this, {"max-repetitions", "adaptive: maximum number of repetitions"}, 1000, {6, 1000000}};
  Parameter<double> time_limit{*this, {"time-limit", "adaptive: time for one case", "s"}, 1.0, {0.001, 1e6}};
  Parameter<double> least_time{
      *this,
      {"least-time", "adaptive: least time for one case, so that its repetitions lie in several moments of the machine",
       "s"},
      0.0,
      {0, 1e6}};
  Parameter<double> confidence{
      *this,
      {"confidence", "adaptive: half width of the 95 % interval at which to stop, as a fraction of the median"},
      0.02,
      {1e-6, 1}};
  Parameter<std::int64_t> active_ranks{
      *this,
      {"active-ranks",
       "number of ranks that work while the others idle (HPCC's Single: 1), for independent problems; 0: all"},
      0,
      {0}};
  Choice sync{
      *this,
      {"sync",
       "start of repetitions: at an agreed time of a common clock, or after a barrier; for benchmarks that time "
       "each operation, barrier: one before each operation, once: one before all, under one clock"},
      "clock",
      {"clock", "barrier", "once"}};
  Parameter<std::int64_t> seed{*this, {"seed", "seed of all data and orders"}, 1, {0}};
  Parameter<double> timeout{*this, {"timeout", "longest wait before the run is aborted", "s"}, 60.0, {1, 1e6}};
  Parameter<std::string> kernel_file{*this,
                                     {"kernel-file",
                                      "kernels that replace the benchmark's, with the same names and signatures: "
                                      "OpenCL C, HLS C++, SPIR-V (runtime sycl) or "
                                      "a bitstream"},
                                     ""};
  Choice kernel_language{
      *this,
      {"kernel-language",
       "language of kernels' text on runtime sycl: OpenCL C by the device's driver, or the same text "
       "as SYCL's free functions by its run-time compiler"},
      "opencl",
      {"opencl", "sycl"}};
  Parameter<std::int64_t> sub_devices{
      *this,
      {"sub-devices", "equal parts of each CPU on runtime sycl, each shown as a device; 0: whole CPUs"},
      0,
      {0, 999999}};
  Choice sycl_memory{
      *this,
      {"sycl-memory",
       "memory of kind default on runtime sycl: usm, malloc_device; buffer, sycl::buffer with accessors"},
      "usm",
      {"usm", "buffer"}};
  Parameter<std::string> kernel_build{
      *this,
      {"kernel-build", "the build of the kernel file, for the record; plumb reads it in the manifest"},
      "unknown"};
  Parameter<std::string> parts{*this,
                               {"parts",
                                "limits of the cases, measured beside them: benchmarks with options, such as "
                                "'ceilings only=memory size=24; links ring=random'; chosen by plumb run"},
                               ""};
  Parameter<std::string> energy{*this,
                                {"energy",
                                 "energy of each case, by a repetition after its timing: auto (sensors that update "
                                 "within 0.1 s), off, or names of "
                                 "sensors or readers, such as rapl,nvml"},
                                "off"};
  Parameter<double> energy_time{
      *this, {"energy-time", "energy: least time of such a repetition", "s"}, 2.0, {0.01, 1e4}};
  Parameter<std::string> energy_root{*this, {"energy-root", "energy: root of sysfs, with the sensors' files"}, "/sys"};
  Parameter<bool> skip_validation{
      *this, {"skip-validation", "measure without checking results (recorded as such)"}, false};
  Parameter<bool> test{*this, {"test", "set up only, without a run"}, false};
  Parameter<bool> dry_run{
      *this, {"dry-run", "check the options and print the plan (cases, memory), without a run"}, false};
  Parameter<std::int64_t> ranks{*this, {"ranks", "with --dry-run: number of ranks to plan for"}, 0, {1}};
  Parameter<std::int64_t> local_ranks{
      *this,
      {"local-ranks",
       "with --dry-run: number of ranks on this host, whose memory is checked; 0: none. With --ranks: 1"},
      0,
      {0}};
  Parameter<std::string> record{
      *this, {"record", "file of the record, or none; default: BENCHMARK-TIME.json in this folder"}, ""};
  Choice format{*this, {"format", "content of standard output"}, "table", formats()};
  Choice progress{*this, {"progress", "content of standard error"}, "text", {"text", "json", "none"}};

  const TransportOptions of_transports;

  EngineOptions() { include(of_transports); }
  RunSettings settings() const;  // throws UsageError for contradictory options

 private:
  static std::vector<std::string> formats();  // of records, and `none`
};

struct CommandLine {
  enum class Action { help, version, list, devices, transports, describe, show, embedded, compile, run };
  Action action = Action::help;
  std::string benchmark = {};
  std::vector<std::string> words = {};               // after --embedded and --compile
  std::string show_record = {}, show_expected = {};  // arguments of --show
  bool json = false;                                 // --format json of --devices and --transports
};

// Reads the command line into the engine's options and, once the benchmark is known, its parameters. Throws UsageError.
// `benchmark` is null unless one was named.
CommandLine parse_command_line(int argc, const char* const* argv, EngineOptions& options,
                               std::unique_ptr<Benchmark>& benchmark);

std::string program_help(const std::string& program);
std::string benchmark_help(const std::string& program, const Benchmark& benchmark, const EngineOptions& options);
std::unique_ptr<Benchmark> make_benchmark(const std::string& name);

}  // namespace plumb
