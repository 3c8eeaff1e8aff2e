// b_eff: effective bandwidth of a ring of devices, with messages of 1 B to 1 MiB (HPCC FPGA's b_eff; Rabenseifner's
// original). README.md derives every metric.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/hpcc/b_eff/messages.hpp"
#include "measure/benchmark.hpp"

namespace plumb::b_eff {

// Timed part: the whole transfer, or one of its sub-steps.
constexpr const char* launch_file = "benchmarks/hpcc/b_eff/launch_hls.cpp";  // kernel of part launch

class Part {
 public:
  virtual ~Part() = default;
  virtual void reset(std::uint64_t repetition, std::uint64_t count) = 0;
  virtual void run(std::uint64_t count) = 0;
  virtual Validation validate(std::uint64_t repetition, std::uint64_t count) = 0;
};

std::unique_ptr<Part> make_part(const std::string& name, Session& session, const Pattern& pattern);

class BEff : public Benchmark {
 public:
  std::string name() const override { return "b_eff"; }
  std::string title() const override { return "effective bandwidth of a ring of devices"; }
  std::string source() const override {
    return "HPC Challenge b_eff with HPCC FPGA's rules (Meyer, Kenter, Plessl; b_eff = mean over 2^0..2^20 B of the "
           "best bandwidth)";
  }
  bool needs_transport() const override { return true; }
  bool takes_kernel_file() const override { return true; }
  std::optional<BoardKernels> board_kernels(BoardTool tool) const override;
  ValidateWhen validate_when() const override { return ValidateWhen::each_repetition; }
  Preset preset(const std::string& name) const override;

  void check(const Plan& plan) const override;
  std::vector<Group> groups(const Plan& plan) const override;
  void prepare(Session& session, const Case& measured) override;
  std::uint64_t admissible_count(const Case& measured, std::uint64_t wanted) const override;
  void reset(Session&, const Case&, std::uint64_t repetition, std::uint64_t count) override {
    part_->reset(repetition, count);
  }
  void run(Session&, const Case&, Timed& timed) override { part_->run(timed.count()); }
  Validation validate(Session&, const Case&, std::uint64_t repetition, std::uint64_t count) override {
    return part_->validate(repetition, count);
  }
  void release() override { part_.reset(); }
  std::vector<Metric> metrics(const CaseResult& result, int ranks) const override;
  std::vector<Metric> aggregate(const std::vector<CaseResult>& results, int ranks) const override;

 private:
  Parameter<std::int64_t> min_size_{*this, {"min-size", "smallest message", "log2 B"}, 0, {0, 30}};
  Parameter<std::int64_t> max_size_{*this, {"max-size", "largest message", "log2 B", {"-m"}}, 20, {0, 30}};
  Choice ring_{*this, {"ring", "order of the ranks in the ring"}, "natural", {"natural", "random", "both"}};
  Choice form_{*this,
               {"form", "messages to both neighbours at once, back and forth between two, or many under way"},
               "exchange",
               {"exchange", "ping-pong", "batched"}};
  Parameter<std::int64_t> batch_{
      *this, {"batch", "form batched: messages of a neighbour under way together"}, 16, {1, 1024}};
  Choice part_choice_{*this,
                      {"part",
                       "part to time: the transfer, one of its sub-steps, or all of them beside each other; over ACCL "
                       "its engine's command without work, or copy from memory to a stream"},
                      "transfer",
                      {"transfer", "launch", "read", "exchange", "write", "all", "command", "copy"}};
  Parameter<std::int64_t> replications_{
      *this, {"replications", "messages to each neighbour at once", "", {"-r"}, "", {}, Build{"r"}}, 1, {1, 64}};
  Parameter<std::int64_t> loop_upper_{
      *this,
      {"loop-upper", "HPCC FPGA's loop length: its upper end (any of the four selects the formula)", "", {"-u"}},
      65536,
      {1, 1 << 30}};
  Parameter<std::int64_t> loop_lower_{
      *this, {"loop-lower", "HPCC FPGA's loop length: its lower end", "", {"-l"}}, 256, {1, 1 << 30}};
  Parameter<std::int64_t> loop_offset_{
      *this,
      {"loop-offset", "HPCC FPGA's loop length: message size up to which it stays at the upper end", "log2 B", {"-o"}},
      11,
      {0, 30}};
  Parameter<std::int64_t> loop_decrease_{
      *this,
      {"loop-decrease", "HPCC FPGA's loop length: sizes over which it falls to the lower end", "", {"-d"}},
      7,
      {1, 64}};

  bool by_formula() const;
  std::uint64_t fixed_count(int exponent) const;
  Traffic traffic() const;
  std::uint64_t most_rounds(int exponent) const;
  Pattern pattern(const std::string& ring, int exponent, const Plan& plan) const;
  Case make_case(const std::string& ring, const std::string& part, int exponent, const Plan& plan) const;
  Group make_group(const std::string& ring, const std::string& part, const Plan& plan) const;
  Metric bandwidth_mean(const std::vector<CaseResult>& results, const std::string& ring, const std::string& metric,
                        int ranks) const;

  std::unique_ptr<Part> part_;  // of the prepared case
};

}  // namespace plumb::b_eff
