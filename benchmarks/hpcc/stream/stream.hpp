// STREAM: sustained bandwidth of a device's memory and of its link to the host, by McCalpin's four operations as in
// HPCC FPGA, and BabelStream's Dot. README.md derives every metric and the validation.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "benchmarks/hpcc/stream/replication.hpp"

namespace plumb::stream {

// The record in HPCC FPGA's JSON shape: {name, results, timings, errors, settings}, from the record alone. Operations
// under HPCC FPGA's names (PCI_write, Copy, Scale, Add, Triad, PCI_read; Dot is ours):
//   results.<Op>_best_rate  MB/s of all ranks; <Op>_min_t, _avg_t, _max_t  s; of the slowest rank of each repetition
//   timings.<Op>            the same times, one an operation and repetition
//   errors                  {a,b,c}_{average_error,average_relative_error}: of the arrays as Triad, Scale and Add leave
//                           them, 0 where every element was right, else null; {a,b,c}_expected is null, for each
//                           element has its own; epsilon of the type
//   settings                "Array Size", "Data Type", "Kernel Type" (Single or Separate)
Json stream_hpcc_form(const Json& record);

class Stream : public Benchmark {
 public:
  std::string name() const override { return "stream"; }
  std::string title() const override { return "sustained bandwidth of memory and of the link to the host"; }
  std::string source() const override {
    return "McCalpin's STREAM 5.10 with HPCC FPGA's rules (Meyer, Kenter, Plessl); Dot as in BabelStream";
  }
  bool takes_kernel_file() const override { return true; }
  std::optional<BoardKernels> board_kernels(BoardTool tool) const override;
  bool ranks_work_apart() const override { return true; }
  Preset preset(const std::string& name) const override;

  void check(const Plan& plan) const override;
  void check_device(const Plan& plan, const DeviceInfo& device) const override;
  std::vector<Group> groups(const Plan& plan) const override;
  void prepare_group(Session& session, const Group& group, Timed&) override;
  void prepare(Session& session, const Case& measured) override;
  void reset(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t count) override;
  void run(Session& session, const Case& measured, Timed& timed) override;
  Validation validate(Session& session, const Case& measured, std::uint64_t repetition, std::uint64_t count) override;
  Json facts() const override;
  std::vector<Metric> metrics(const CaseResult& result, int ranks) const override;

 private:
  Parameter<std::int64_t> elements_{
      *this,
      {"elements", "length of each array on each rank", "", {"-s", "--DEFAULT_ARRAY_LENGTH"}},
      std::int64_t{1} << 27,
      {1, std::int64_t{1} << 36}};
  Choice type_{*this,
               {"type", "type of the numbers", "", {"--DATA_TYPE"}, "", {}, Build{"", "", false, type_options}},
               "float",
               {"half", "float", "double"}};
  Choice operation_{*this,
                    {"operation", "operation to measure"},
                    "all",
                    {"all", "write", "copy", "scale", "add", "triad", "dot", "read"}};
  hpcc::VariantChoice variant_{*this};
  Parameter<std::int64_t> replications_{*this,
                                        {"replications",
                                         "parts of the arrays, each with its own bank, queue and kernel",
                                         "",
                                         {"-r", "--NUM_REPLICATIONS"},
                                         "",
                                         {},
                                         Build{"r"}},
                                        1,
                                        {1, 256}};
  Parameter<std::int64_t> vector_{
      *this,
      {"vector",
       "numbers of a vector: 1, 2, 4, 8 or 16; default: 16 for one work item, 32 B on a CPU, 16 B on a GPU",
       "",
       {"--VECTOR_COUNT"},
       "",
       {},
       Build{"v", "VECTOR_COUNT"}},
      0,
      {0, 16}};
  Parameter<std::int64_t> unroll_{*this,
                                  {"unroll",
                                   "single_work_item: vectors a cycle",
                                   "",
                                   {"--GLOBAL_MEM_UNROLL"},
                                   "",
                                   {},
                                   Build{"u", "GLOBAL_MEM_UNROLL"}},
                                  1,
                                  {1, 1024}};
  Parameter<std::int64_t> local_buffer_{*this,
                                        {"local-buffer",
                                         "single_work_item: vectors kept on the chip between reading and writing",
                                         "",
                                         {"--DEVICE_BUFFER_SIZE"},
                                         "",
                                         {},
                                         Build{"b", "DEVICE_BUFFER_SIZE"}},
                                        512,
                                        {1, 1 << 20}};
  Parameter<std::int64_t> group_size_{
      *this,
      {"group-size", "nd_range: work items of a group, a power of two; by default 1 on a CPU, 256 on a GPU"},
      0,
      {0, 1024}};
  Parameter<std::int64_t> groups_{
      *this,
      {"groups",
       "nd_range: groups of work items; by default 32 a core of a CPU; on a GPU one vector for each work item, "
       "and for Dot 8 a compute unit"},
      0,
      {0, 1 << 30}};

  ScalarType type() const { return parse_scalar_type(type_); }
  KernelForm form_on(const DeviceInfo& device) const;
  Extent extent(std::uint64_t replication, std::uint64_t vector) const;
  Case make_case(const Operation& operation) const;
  void build(Session& session);
  Contents contents_of(const Session& session, std::uint64_t replication, std::uint64_t repetition) const;

  KernelForm form_;                      // on the device of this run
  std::unique_ptr<Program> program_;     // null until a case needs kernels
  std::deque<Replication> replicas_;     // declared after the program, whose kernels they hold
  const Operation* measured_ = nullptr;  // of the prepared case
};

}  // namespace plumb::stream
