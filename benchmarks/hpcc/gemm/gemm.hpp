// GEMM: C = alpha A B + beta C, each rank its own (HPCC FPGA's GEMM; HPC Challenge's DGEMM). README.md derives every
// metric and the bound of the error.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/hpcc/common/single_device.hpp"
#include "benchmarks/hpcc/gemm/compare.hpp"
#include "benchmarks/hpcc/gemm/form.hpp"
#include "benchmarks/hpcc/gemm/reference.hpp"
#include "measure/benchmark.hpp"

namespace plumb::gemm {

class Gemm : public Benchmark {
 public:
  std::string name() const override { return "gemm"; }
  std::string title() const override { return "product of dense matrices on one device"; }
  std::string source() const override {
    return "HPC Challenge DGEMM with HPCC FPGA's rules (Meyer, Kenter, Plessl; 2 n^3 flops, every rank its own "
           "matrices)";
  }
  bool takes_kernel_file() const override { return true; }
  std::optional<BoardKernels> board_kernels(BoardTool tool) const override;
  bool ranks_work_apart() const override { return true; }
  Preset preset(const std::string& name) const override;

  void check(const Plan& plan) const override;
  void check_device(const Plan& plan, const DeviceInfo& device) const override;
  std::vector<Group> groups(const Plan& plan) const override;
  void prepare(Session& session, const Case& measured) override;
  void reset(Session&, const Case&, std::uint64_t repetition, std::uint64_t count) override;
  void run(Session&, const Case&, Timed& timed) override;
  Validation validate(Session&, const Case&, std::uint64_t repetition, std::uint64_t count) override;
  Json facts() const override;
  void release() override;
  std::vector<Metric> metrics(const CaseResult& result, int ranks) const override;

 private:
  Parameter<std::int64_t> size_{*this, {"size", "rows and columns of the matrices", "elements"}, 4096, {1, 1 << 20}};
  Parameter<std::int64_t> rows_{*this, {"rows", "rows of A and C; default: --size", "elements"}, 0, {0, 1 << 20}};
  Parameter<std::int64_t> columns_{
      *this, {"columns", "columns of B and C; default: --size", "elements"}, 0, {0, 1 << 20}};
  Parameter<std::int64_t> inner_{
      *this, {"inner", "columns of A, rows of B; default: --size", "elements"}, 0, {0, 1 << 20}};
  Parameter<std::int64_t> size_in_blocks_{
      *this,
      {"size-in-blocks", "HPCC FPGA's size, in blocks of --block-size", "blocks", {"-m", "--DEFAULT_MATRIX_SIZE"}},
      0,
      {0, 1 << 16}};
  Choice type_{*this,
               {"type",
                "element type; tf32 is float multiplied by an NVIDIA GPU's matrix units",
                "",
                {"--DATA_TYPE"},
                "",
                {},
                Build{"", "", false, board_options}},
               "float",
               {"half", "bfloat16", "float", "double", "tf32"}};
  Parameter<double> alpha_{*this, {"alpha", "factor of A B"}, 0.5};
  Parameter<double> beta_{*this, {"beta", "factor of C"}, 2.0};
  hpcc::VariantChoice variant_{*this};
  Choice kernel_{*this,
                 {"kernel",
                  "variant nd_range: the kernels tuned for CPUs, those for GPUs or those for NVIDIA's Hopper GPUs "
                  "(runtime cuda); by default the device's"},
                 "default",
                 {"default", "cpu", "gpu", "hopper"}};
  Choice matrix_units_{
      *this,
      {"matrix-units", "kernels for GPUs: an NVIDIA GPU's matrix units where the type has some, or plain arithmetic"},
      "default",
      {"default", "off"}};
  Parameter<std::int64_t> block_size_{*this,
                                      {"block-size",
                                       "variant single_work_item: rows and columns of a block in local memory; 0 = 512 "
                                       "or what local memory holds",
                                       "elements",
                                       {"-b", "--BLOCK_SIZE"},
                                       "",
                                       {},
                                       Build{"b", "BLOCK"}},
                                      0,
                                      {0, 4096}};
  Parameter<std::int64_t> gemm_block_{*this,
                                      {"gemm-block",
                                       "variant single_work_item: rows and columns of a block in registers",
                                       "elements",
                                       {"--GEMM_BLOCK", "--GEMM_SIZE"},
                                       "",
                                       {},
                                       Build{"g", "GEMM_BLOCK"}},
                                      8,
                                      {1, 64}};
  Parameter<std::int64_t> global_mem_unroll_{*this,
                                             {"global-mem-unroll",
                                              "variant single_work_item: elements of global memory handled at a time",
                                              "elements",
                                              {"--GLOBAL_MEM_UNROLL"},
                                              "",
                                              {},
                                              Build{"u", "GLOBAL_MEM_UNROLL"}},
                                             8,
                                             {1, 256}};
  Parameter<std::int64_t> replications_{*this,
                                        {"replications",
                                         "variant single_work_item: kernels that share C's rows",
                                         "",
                                         {"-r", "--NUM_REPLICATIONS"},
                                         "",
                                         {},
                                         Build{"r"}},
                                        1,
                                        {1, 64}};
  Parameter<bool> replicate_inputs_{
      *this,
      {"replicate-inputs", "variant single_work_item: A and B once for each replication, in its memory bank"},
      false};

  Problem problem() const;
  void check_blocks() const;
  bool uses_gpu_kernel(const DeviceInfo& device) const;
  // For a device's local memory in bytes; 0 = unknown.
  Blocks blocks(std::uint64_t local_bytes) const;
  std::unique_ptr<Form> make_form(Session& session) const;
  std::unique_ptr<Form> make_gpu_form(Session& session) const;

  // Of the prepared case.
  Problem problem_;
  Slide slide_;
  Inputs inputs_;
  Signs signs_;  // of the inputs
  std::unique_ptr<Reference> reference_;
  std::unique_ptr<Form> form_;
  std::vector<std::byte> product_;
  double largest_error_ = 0;
};

}  // namespace plumb::gemm
