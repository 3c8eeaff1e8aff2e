// Shallow water with exchanges and steps that are wrong on the host's side. Each is a separate benchmark,
// mutant-shallow-water-NAME. Wrong kernels are in kernels/shallow_water.py, wrong transports in wrong_transports.cpp.
#include "benchmarks/apps/shallow_water/shallow_water.hpp"
#include "tests/mutants/late_device.hpp"

namespace plumb::shallow_water {

namespace {

constexpr std::uint64_t wrong_round = 7;  // of a sample, of mutants that are wrong once
constexpr double late = 36000;            // s, after the reference's steps

enum class Wrong {
  nothing,
  halo_old,
  halo_old_once,
  message_lost_once,
  last_not_sent,
  neighbours_swapped,
  tide_phase,
  step_skipped,
  stage_skipped,
  border_before_wait,
  core_beside_border,
  border_beside_core,
  sent_before_packed,
  station_of_another_place,
  tide_turned_late
};

// The queue of the solver that runs as late as it may, while the other one runs at once; apart: both are usual ones.
enum class Late { none, apart, core, border };

class WrongSolver : public Solver {
 public:
  WrongSolver(Session& session, Transport* transport, const Mesh& mesh, const Job& job, Part part, Wrong wrong)
      : Solver(session, transport, mesh, job, std::move(part)), wrong_(wrong) {
    physics_ = job.physics;
    for (Constituent& one : physics_.tide.constituents) one.phase = 0;
  }
  Coefficients element(std::uint32_t number, std::uint64_t steps) override {
    const std::uint32_t other = wrong_ == Wrong::station_of_another_place ? (number + 1) % this->part().own : number;
    return Solver::element(other, steps);
  }

 protected:
  using Bytes = std::vector<std::byte>;

  void exchange_begin() override {
    if (wrong_ == Wrong::last_not_sent && !this->part().neighbours.empty()) {
      // The last element of the first message keeps what the round before sent.
      const std::size_t at = (this->part().neighbours[0].sends.size() - 1) * element_bytes();
      Bytes now(element_bytes());
      border().read({&outgoing(), at, now.size()}, now.data());
      if (!before_.empty()) border().write(before_.data(), {&outgoing(), at, now.size()});
      before_ = now;
    }
    if (wrong_ == Wrong::sent_before_packed)
      exchange().start(0, 1);
    else
      Solver::exchange_begin();
  }

  void exchange_end() override {
    if (wrong_ == Wrong::border_before_wait) return;  // the next stage waits for it
    Solver::exchange_end();
    ++round_;
    const bool once = round_ == wrong_round;
    if (wrong_ == Wrong::neighbours_swapped) return swap_neighbours();
    if (wrong_ != Wrong::halo_old && wrong_ != Wrong::halo_old_once && wrong_ != Wrong::message_lost_once) return;
    Bytes now(incoming().size());
    border().read(whole(incoming()), now.data());
    if (!before_.empty() && wrong_ == Wrong::halo_old) border().write(before_.data(), whole(incoming()));
    if (!before_.empty() && wrong_ == Wrong::halo_old_once && once) border().write(before_.data(), whole(incoming()));
    if (!before_.empty() && wrong_ == Wrong::message_lost_once && once && !this->part().neighbours.empty())
      border().write(before_.data(), {&incoming(), 0, this->part().neighbours[0].receives * element_bytes()});
    before_ = now;
  }

  void follow_border() override {
    if (wrong_ != Wrong::core_beside_border) Solver::follow_border();
  }
  void follow_core() override {
    if (wrong_ != Wrong::border_beside_core) Solver::follow_core();
  }
  double sea_level(double t) const override {
    if (wrong_ == Wrong::tide_turned_late && t > late) return -Solver::sea_level(t);
    return wrong_ == Wrong::tide_phase ? physics_.tide.level(t) : Solver::sea_level(t);
  }
  bool skips(std::uint64_t step, std::size_t index) const override {
    if (step != 5) return false;
    return wrong_ == Wrong::step_skipped || (wrong_ == Wrong::stage_skipped && index == 1);
  }

 private:
  void swap_neighbours() {
    const auto& near = this->part().neighbours;
    if (near.size() < 2) return;
    const std::size_t bytes = std::min(near[0].receives, near[1].receives) * element_bytes();
    Bytes one(bytes), other(bytes);
    const BufferView first{&incoming(), near[0].first_received * element_bytes(), bytes};
    const BufferView second{&incoming(), near[1].first_received * element_bytes(), bytes};
    border().read(first, one.data());
    border().read(second, other.data());
    border().write(other.data(), first);
    border().write(one.data(), second);
  }

  Wrong wrong_;
  Physics physics_;
  std::uint64_t round_ = 0;
  Bytes before_;
};

class WrongShallowWater : public ShallowWater {
 public:
  WrongShallowWater(std::string name, Wrong wrong, Late late) : name_(std::move(name)), wrong_(wrong), late_(late) {}
  std::string name() const override { return name_; }
  // Queues of the transport are late as well, so that they do not wait for those of the solver.
  void prepare_group(Session& session, const Group& group, Timed& timed) override {
    ShallowWater::prepare_group(session, group, timed);
    if (late_ == Late::none || late_ == Late::apart) return;
    device_ = std::make_unique<mutants::LateDevice>(session.device, late_ == Late::core, late_ == Late::border);
    others_ = std::make_unique<mutants::LateDevice>(session.device, true, true);
    transport_ = find_transport(session.transport->info().name).make(session.world, *others_, {});
  }
  void prepare(Session& session, const Case& measured) override {
    if (!device_) return ShallowWater::prepare(session, measured);
    Session late{session.world, *device_, transport_.get(), session.memory, session.seed, session.kernel_file};
    ShallowWater::prepare(late, measured);
  }

 protected:
  std::unique_ptr<Solver> make_solver(Session& session, const Mesh& mesh, const Job& job, Part part) const override {
    Job own = job;
    own.border_apart = late_ != Late::none;
    return std::make_unique<WrongSolver>(session, session.world.size() > 1 ? session.transport : nullptr, mesh, own,
                                         std::move(part), wrong_);
  }

 private:
  std::string name_;
  Wrong wrong_;
  Late late_;
  std::unique_ptr<Device> device_, others_;
  std::unique_ptr<Transport> transport_;
};

RegisteredBenchmark wrong_shallow_water(const std::string& name, Wrong wrong, Late late = Late::none) {
  const std::string all = "mutant-shallow-water-" + name;
  return {all, [all, wrong, late] { return std::make_unique<WrongShallowWater>(all, wrong, late); }};
}

const RegisteredBenchmark all_wrong_shallow_water[] = {
    wrong_shallow_water("halo-one-stage-old", Wrong::halo_old),
    wrong_shallow_water("halo-old-once", Wrong::halo_old_once),
    wrong_shallow_water("message-lost-once", Wrong::message_lost_once),
    wrong_shallow_water("last-element-not-sent", Wrong::last_not_sent),
    wrong_shallow_water("neighbours-swapped", Wrong::neighbours_swapped),
    wrong_shallow_water("tide-phase-dropped", Wrong::tide_phase),
    wrong_shallow_water("step-skipped", Wrong::step_skipped),
    wrong_shallow_water("stage-skipped", Wrong::stage_skipped),
    wrong_shallow_water("border-before-wait", Wrong::border_before_wait),
    wrong_shallow_water("core-beside-border", Wrong::core_beside_border, Late::border),
    wrong_shallow_water("border-beside-core", Wrong::border_beside_core, Late::core),
    wrong_shallow_water("sent-before-packed", Wrong::sent_before_packed, Late::border),
    wrong_shallow_water("late-core", Wrong::nothing, Late::core),      // right
    wrong_shallow_water("late-border", Wrong::nothing, Late::border),  // right
    wrong_shallow_water("border-apart", Wrong::nothing, Late::apart),  // right
    wrong_shallow_water("station-of-another-place", Wrong::station_of_another_place),
    wrong_shallow_water("tide-turned-late", Wrong::tide_turned_late),
};

}  // namespace

}  // namespace plumb::shallow_water
