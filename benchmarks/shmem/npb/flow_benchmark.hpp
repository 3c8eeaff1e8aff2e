// npb_bt, npb_sp and npb_lu: one flow, three methods.
#pragma once

#include <optional>

#include "benchmarks/shmem/npb/flow.hpp"
#include "benchmarks/shmem/npb/flow_check.hpp"
#include "benchmarks/shmem/npb/lanes.hpp"
#include "benchmarks/shmem/npb/npb.hpp"

namespace plumb::npb {

// Constants of a method.
struct FlowKind {
  Method method;
  Facts facts;
  Cut cut;
  std::array<double, 4> operations;  // a step's: polynomial in the points of an axis, from the constant on
  int carried;                       // numbers a line passes on forward and back
  std::unique_ptr<Flow> (*make)(const Scheme&, int ranks, int rank);
};
const FlowKind& flow_kind(Method method);

class FlowBenchmark : public Npb {
 public:
  explicit FlowBenchmark(Method method) : Npb(flow_kind(method).facts), kind_(flow_kind(method)) {}
  Preset preset(const std::string& name) const override;
  // "lanes": numbers of a vector, which holds a row's points or lines side by side.
  Json facts() const override { return {{"lanes", host_lanes()}}; }

 protected:
  double operations(const ClassRow& row) const override;
  void change(ClassRow& row) const override;
  void check_problem(const ClassRow& row, int ranks) const override;
  std::uint64_t items(const ClassRow& row, const Plan& plan) const override;
  Links links(const ClassRow& row, int rank, int ranks) const override;
  std::uint64_t host_bytes(const ClassRow& row, const Plan& plan) const override;
  Volume volume(const ClassRow& row, int ranks) const override;
  void set_up(Session& session) override;
  void restart() override { flow_->restart(); }
  void iterate(std::uint64_t iteration) override;
  void check(Checks& checks, std::uint64_t repetition) override;
  void tear_down() override { flow_.reset(); }

  // Replaced by mutants: numbers and parts of a step.
  virtual Scheme scheme(const ClassRow& row) const { return Scheme(static_cast<int>(row.size), row.dt); }
  virtual void run_part(std::size_t phase, const std::function<void()>& work);
  Flow& flow() { return *flow_; }

 private:
  // A field of all ranks' tiles, on rank 0; elsewhere none.
  std::optional<WholeField> gathered();
  std::uint64_t wrong_start();
  std::uint64_t wrong_step();

  Parameter<std::int64_t> grid_{
      *this, {"grid", "points of an axis, without official values; 0: the class's"}, 0, {0, 1024}};
  Parameter<double> dt_{*this, {"dt", "time step, without official values; 0: the class's"}, 0, {0, 1}};

  const FlowKind& kind_;
  std::unique_ptr<Flow> flow_;
  std::uint64_t wrong_start_ = 0, wrong_step_ = 0;
  std::optional<WholeField> seeded_, final_;  // of the serial solver, and of the first repetition; on rank 0
};

}  // namespace plumb::npb
