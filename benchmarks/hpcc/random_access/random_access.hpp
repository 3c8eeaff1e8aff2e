// RandomAccess: updates of random words of a large table, by HPCC's rules as adapted by HPCC FPGA. README.md derives
// every metric and the validation's bound.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/hpcc/common/single_device.hpp"
#include "benchmarks/hpcc/random_access/kernels.hpp"
#include "benchmarks/hpcc/random_access/replication.hpp"
#include "benchmarks/hpcc/random_access/table.hpp"
#include "device/host_memory.hpp"
#include "measure/benchmark.hpp"

namespace plumb::random_access {

class RandomAccess : public Benchmark {
 public:
  std::string name() const override { return "random_access"; }
  std::string title() const override { return "updates of random words of a large table"; }
  std::string source() const override {
    return "HPC Challenge RandomAccess with HPCC FPGA's rules (Meyer, Kenter, Plessl; 4n updates of n words, at most 1 "
           "% "
           "of them wrong)";
  }
  Preset preset(const std::string& name) const override;
  bool takes_kernel_file() const override { return true; }
  std::optional<BoardKernels> board_kernels(BoardTool tool) const override;
  bool ranks_work_apart() const override { return table_ == "own"; }

  void check(const Plan& plan) const override;
  std::vector<Group> groups(const Plan& plan) const override;
  void prepare(Session& session, const Case& measured) override;
  void reset(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t count) override;
  void run(Session& session, const Case& measured, Timed& timed) override;
  Validation validate(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t count) override;
  Json facts() const override;
  void release() override;
  std::vector<Metric> metrics(const CaseResult& result, int ranks) const override;

 private:
  hpcc::VariantChoice variant_{*this};
  Parameter<std::int64_t> size_{
      *this,
      {"size", "words (8 B) of a rank's table", "log2 words", {"-d", "--DEFAULT_ARRAY_LENGTH_LOG"}},
      27,
      {4, 36}};
  Choice table_{*this,
                {"table", "a table for each rank, or one distributed over all ranks (HPCC FPGA)"},
                "own",
                {"own", "shared"}};
  Choice updates_{
      *this,
      {"updates", "method of updating a word: read and write (may lose updates), or atomics of 64 or 32 bits"},
      "both",
      {"both", "buffered", "atomic", "atomic32"}};
  Choice stream_{*this,
                 {"stream",
                  "the random words: HPCC's polynomial, or its linear congruential generator",
                  "",
                  {},
                  "",
                  {},
                  Build{"", "", false, stream_options}},
                 "polynomial",
                 {"polynomial", "lcg"}};
  Parameter<std::int64_t> replications_{*this,
                                        {"replications",
                                         "parts of a rank's table, each with its own kernel and buffer",
                                         "",
                                         {"-r", "--NUM_REPLICATIONS"},
                                         "",
                                         {},
                                         Build{"r"}},
                                        1,
                                        {1, 32}};
  Parameter<std::int64_t> buffer_log_{
      *this,
      {"buffer-log",
       "updates that a generator computes before it applies the first of them; -1: by form",
       "log2",
       {"--HPCC_FPGA_RA_DEVICE_BUFFER_SIZE_LOG"},
       "",
       {},
       Build{"b", "BUFFER_LOG"}},
      -1,
      {-1, 10}};
  Parameter<std::int64_t> rng_count_log_{*this,
                                         {"rng-count-log",
                                          "single_work_item: generators of a replication",
                                          "log2",
                                          {"-g", "--HPCC_FPGA_RA_RNG_COUNT_LOG"},
                                          "",
                                          {},
                                          Build{"g", "RNG_COUNT_LOG"}},
                                         5,
                                         {0, 8}};
  Parameter<std::int64_t> rng_distance_{*this,
                                        {"rng-distance",
                                         "single_work_item: distance of generators in their shared register",
                                         "",
                                         {"--HPCC_FPGA_RA_RNG_DISTANCE"},
                                         "",
                                         {},
                                         Build{"d", "RNG_DISTANCE"}},
                                        5,
                                        {1, 64}};
  Parameter<bool> ivdep_{*this,
                         {"ivdep",
                          "single_work_item: let reads overtake writes (for a bitstream: as it was built)",
                          "",
                          {"--HPCC_FPGA_RA_INTEL_USE_PRAGMA_IVDEP"},
                          "",
                          {},
                          Build{"ivdep", "", false, ivdep_options}},
                         false};
  Parameter<std::int64_t> work_items_{
      *this, {"work-items", "nd_range: generators, each a work item; 0: by device"}, 0, {0, 1 << 26}};
  Parameter<std::int64_t> group_size_{
      *this, {"group-size", "nd_range: work items of a group; 0: by device"}, 0, {0, 1024}};

  bool is_shared() const { return table_ == "shared"; }
  Task task(int rank, int ranks) const;
  std::vector<Updates> kinds() const;
  Case make_case(Updates kind, const Plan& plan) const;
  KernelForm form(const DeviceInfo& device, Updates kind, const Task& task) const;
  std::uint64_t work_items(const DeviceInfo& device, const KernelForm& form, const Task& task) const;
  std::uint64_t look_ahead(const DeviceInfo& device, const KernelForm& form, std::uint64_t words) const;

  Task own_;
  KernelForm form_;
  Shares shares_;
  std::vector<std::unique_ptr<Replication>> replications_of_rank_;
  std::unique_ptr<Buffer> staging_;
  HostBytes copy_;  // of the rank's words, for validation
};

}  // namespace plumb::random_access
