// FFT: batches of one-dimensional complex transforms (HPC Challenge's FFT with HPCC FPGA's rules; seed 004, section
// 3.1.4). README.md derives every metric and the bound of the validation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/hpcc/fft/form.hpp"
#include "benchmarks/hpcc/fft/plan.hpp"

namespace plumb::fft {

// "10", "9,17" or "3-20,24" -> log2 of the points, in order; throws UsageError.
std::vector<int> parse_sizes(const std::string& text);

// A kernel, its share of the batch and its buffers: HPCC FPGA's replication.
struct Replication {
  std::uint64_t first = 0, transforms = 0;
  std::unique_ptr<Buffer> from, to;
  std::unique_ptr<Form> form;
};

class Fft : public Benchmark {
 public:
  std::string name() const override { return "fft"; }
  std::string title() const override { return "batches of one-dimensional complex Fourier transforms"; }
  std::string source() const override {
    return "HPC Challenge FFT with HPCC FPGA's rules (Meyer, Kenter, Plessl; 5 n log2(n) operations a transform)";
  }
  Preset preset(const std::string& name) const override;
  bool takes_kernel_file() const override { return true; }
  std::optional<BoardKernels> board_kernels(BoardTool tool) const override;
  bool ranks_work_apart() const override { return true; }

  void check(const Plan& plan) const override;
  void check_device(const Plan& plan, const DeviceInfo& device) const override;
  std::vector<Group> groups(const Plan& plan) const override;
  void prepare(Session& session, const Case& measured) override;
  void reset(Session& session, const Case&, std::uint64_t repetition, std::uint64_t count) override;
  void run(Session& session, const Case&, Timed& timed) override;
  Validation validate(Session& session, const Case&, std::uint64_t repetition, std::uint64_t count) override;
  Json facts() const override { return facts_; }
  void release() override;
  std::vector<Metric> metrics(const CaseResult& result, int ranks) const override;

 private:
  Parameter<std::string> sizes_{*this,
                                {"size",
                                 "points of a transform: a list of numbers and ranges",
                                 "log2",
                                 {"--LOG_FFT_SIZE"},
                                 "",
                                 {},
                                 Build{"s", "LOG_POINTS"}},
                                "10,17"};
  Choice type_{*this,
               {"type", "type of re and im", "", {}, "", {}, Build{"", "", false, type_options}},
               "float",
               {"float", "double"}};
  Parameter<bool> inverse_{*this, {"inverse", "transform backwards (not scaled by 1/n)"}, false};
  Parameter<std::int64_t> batch_{
      *this, {"batch", "transforms of a rank; 0 = as many as fill --data", "", {"-b"}}, 0, {0, std::int64_t{1} << 31}};
  Parameter<std::int64_t> data_{
      *this, {"data", "batch 0: data of a rank before the transform", "MiB"}, 256, {1, std::int64_t{1} << 20}};
  Parameter<std::int64_t> replications_{*this,
                                        {"replications",
                                         "kernels at once, each with its share of the batch",
                                         "",
                                         {"-r", "--NUM_REPLICATIONS"},
                                         "",
                                         {},
                                         Build{"r"}},
                                        1,
                                        {1, 64}};
  hpcc::VariantChoice variant_{*this};
  Choice kernel_{*this,
                 {"kernel", "variant nd_range: which of its kernels; by default by device"},
                 "default",
                 {"default", "cpu", "gpu"}};
  Parameter<std::int64_t> unroll_{
      *this,
      {"unroll",
       "points at a time: in a cycle of single_work_item, of a work item of kernel gpu; 0 = 8, or by size",
       "",
       {"--FFT_UNROLL"},
       "",
       {},
       Build{"u", "LOG_UNROLL", true}},
      0,
      {0, 16}};
  Parameter<std::int64_t> chunk_{*this,
                                 {"chunk", "kernel gpu above one pass: data between passes at a time; 0 = all", "MiB"},
                                 0,
                                 {0, std::int64_t{1} << 20}};

  Parameter<std::int64_t> local_{
      *this,
      {"local", "kernel gpu: largest transform that a group holds whole in local memory; 0 = by device (CUDA: 128)",
       "KiB"},
      0,
      {0, 1024}};

  ScalarType type() const { return parse_scalar_type(type_); }
  Shape shape_of(int log_points) const { return {type(), log_points, inverse_}; }
  std::uint64_t batch_of(const Shape& shape) const;
  Group make_group(int log_points) const;
  std::unique_ptr<Form> make_form(Session& session, const Job& job);
  // Through the staging buffer, in pieces of whole transforms: `each` receives each piece's position and bytes.
  template <class Each>
  void in_pieces(const Slide::Range& range, Each each) const;
  void check_last(const Replication& replication, Validation& found) const;
  void check_others(const Replication& replication, std::uint64_t count, Validation& found) const;
  std::uint64_t first_point(const Replication& replication, std::size_t byte) const {
    return replication.first * shape_.points() + byte / (2 * size_of(shape_.type));
  }

  Shape shape_;
  Slide slide_;
  Provenance identity_;
  std::vector<Replication> replications_of_rank_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Buffer> staging_;  // pinned
  std::unique_ptr<Checker> checker_;
  Json facts_ = Json::object();
};

}  // namespace plumb::fft
