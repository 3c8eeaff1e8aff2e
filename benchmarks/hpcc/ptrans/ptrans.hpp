// PTRANS: C = B + A^T of matrices distributed in blocks over all ranks' devices (HPCC FPGA's PTRANS, seed 004, section
// 4.1.2; HPC Challenge's PTRANS). README.md derives every metric and describes the validation.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/hpcc/ptrans/transposition.hpp"
#include "measure/benchmark.hpp"

namespace plumb::ptrans {

class Ptrans : public Benchmark {
 public:
  std::string name() const override { return "ptrans"; }
  std::string title() const override { return "transposition of a matrix that many devices share"; }
  std::string source() const override {
    return "HPC Challenge PTRANS with HPCC FPGA's rules (Meyer, Kenter, Plessl; C = B + A^T, n^2 flops)";
  }
  bool needs_transport() const override { return true; }
  bool takes_kernel_file() const override { return true; }
  std::optional<BoardKernels> board_kernels(BoardTool tool) const override;
  Preset preset(const std::string& name) const override;

  void check(const Plan& plan) const override;
  void check_device(const Plan& plan, const DeviceInfo& device) const override;
  std::vector<Group> groups(const Plan& plan) const override;
  void prepare(Session& session, const Case& measured) override;
  void reset(Session&, const Case&, std::uint64_t repetition, std::uint64_t count) override {
    transposition_->reset(repetition, count);
  }
  void run(Session&, const Case&, Timed& timed) override { transposition_->run(timed); }
  Validation validate(Session&, const Case&, std::uint64_t repetition, std::uint64_t count) override {
    return transposition_->validate(repetition, count);
  }
  Json facts() const override;
  void release() override { transposition_.reset(); }
  std::vector<Metric> metrics(const CaseResult& result, int ranks) const override;

 private:
  Parameter<std::int64_t> size_{*this, {"size", "rows and columns of the matrices", "elements"}, 4096, {1, 1 << 20}};
  Parameter<std::int64_t> size_in_blocks_{
      *this,
      {"size-in-blocks", "HPCC FPGA's size, in blocks of --block-size", "blocks", {"-m", "--DEFAULT_MATRIX_SIZE"}},
      0,
      {0, 1 << 16}};
  Parameter<std::int64_t> block_size_{
      *this,
      {"block-size", "rows and columns of the distributed blocks", "elements", {"-b", "--BLOCK_SIZE"}},
      512,
      {1, 1 << 20}};
  Choice type_{*this,
               {"type", "type of the numbers", "", {"--DATA_TYPE"}, "", {}, Build{"", "", false, board_options}},
               "float",
               {"half", "float", "double"}};
  Choice kernel_{*this,
                 {"kernel", "OpenCL devices: the kernel for CPUs or that for GPUs; by default the device's"},
                 "default",
                 {"default", "cpu", "gpu"}};
  Choice distribution_{
      *this,
      {"distribution", "pq: block-cyclic over a grid of ranks; diagonal: mirrored blocks on ranks in pairs"},
      "pq",
      {"pq", "diagonal"}};
  Parameter<std::int64_t> grid_rows_{
      *this,
      {"grid-rows", "distribution pq: rows of the grid of ranks (P); 0 = the grid nearest to a square", "", {"-p"}},
      0,
      {0, 1 << 20}};
  Parameter<std::int64_t> grid_columns_{
      *this, {"grid-columns", "distribution pq: its columns (Q); 0 = by ranks and rows", ""}, 0, {0, 1 << 20}};
  Parameter<std::int64_t> stages_{
      *this, {"stages", "stages of a rank's exchange: kernels run while the next stage is exchanged"}, 4, {1, 64}};
  Parameter<bool> no_overlap_{
      *this, {"no-overlap", "exchange everything first, in one part, then run the kernels"}, false};

  Problem problem() const;
  Grid grid(int ranks) const;
  std::string wished_grid() const;
  Distribution distribution(int ranks) const;
  Course course() const;
  void check_partners(const Session& session) const;

  std::unique_ptr<Transposition> transposition_;  // of the prepared case
  Json facts_;
};

}  // namespace plumb::ptrans
