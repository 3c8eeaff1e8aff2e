// Shallow water on an unstructured mesh over all ranks' devices (seed 004, section 5.2). README.md in this folder has
// the equations, derives every metric, and describes the validation.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/apps/shallow_water/solver.hpp"
#include "benchmarks/apps/shallow_water/stations.hpp"
#include "benchmarks/hpcc/common/single_device.hpp"
#include "measure/benchmark.hpp"

namespace plumb::shallow_water {

class ShallowWater : public Benchmark {
 public:
  std::string name() const override { return "shallow_water"; }
  std::string title() const override { return "tides on an unstructured mesh that many devices share"; }
  std::string source() const override {
    return "Meyer 2024, chapter 5; Faj, Kenter, Faghih-Naini, Plessl, Aizinger, PASC 2023 (discontinuous Galerkin)";
  }
  bool needs_transport() const override { return true; }
  bool takes_kernel_file() const override { return true; }
  std::optional<BoardKernels> board_kernels(BoardTool tool) const override;
  ValidateWhen validate_when() const override { return ValidateWhen::each_repetition; }
  Preset preset(const std::string& name) const override;

  void check(const Plan& plan) const override;
  std::vector<Group> groups(const Plan& plan) const override;
  void prepare(Session& session, const Case&) override;
  void reset(Session&, const Case&, std::uint64_t, std::uint64_t) override { solver_->reset(start_); }
  void run(Session&, const Case&, Timed& timed) override { solver_->advance(0, timed.count(), &timed); }
  Validation validate(Session& session, const Case&, std::uint64_t repetition, std::uint64_t count) override;
  Json facts() const override { return facts_; }
  void release() override;
  std::vector<Metric> metrics(const CaseResult& result, int ranks) const override;

 protected:
  // For mutants of the tests.
  virtual std::unique_ptr<Solver> make_solver(Session& session, const Mesh& mesh, const Job& job, Part part) const {
    return std::make_unique<Solver>(session, session.world.size() > 1 ? session.transport : nullptr, mesh, job,
                                    std::move(part));
  }

 private:
  Parameter<std::string> mesh_{*this, {"mesh", "bay, rectangle, annulus, or a file: ADCIRC's fort.14"}, "bay"};
  Parameter<std::int64_t> size_{*this, {"size", "mesh bay: k of its 1,696 * 2^k elements"}, 0, {0, 18}};
  Parameter<std::int64_t> refine_{*this, {"refine", "times that each triangle is cut into four"}, 0, {0, 10}};
  Parameter<std::int64_t> across_{
      *this, {"across", "meshes rectangle and annulus: quadrilaterals in the shorter direction"}, 16, {2, 4096}};
  Parameter<bool> degrees_{*this, {"degrees", "coordinates of the file are longitude and latitude"}, false};
  Choice case_{
      *this,
      {"case",
       "waves: waves everywhere and the tide; tide: from rest; rest: a level of 0.5 m; closed: waves, all edges land; "
       "manufactured: a known solution with sources; annulus: a tide in a ring"},
      "waves",
      {"waves", "tide", "rest", "closed", "manufactured", "annulus"}};
  Parameter<std::int64_t> order_{*this,
                                 {"order",
                                  "p: 0 constant, 1 linear, 2 quadratic in each element",
                                  "",
                                  {},
                                  "",
                                  {},
                                  Build{"p", "ORDER", false, {}, true}},
                                 1,
                                 {0, 2}};
  Choice type_{*this,
               {"type",
                "type of the numbers",
                "",
                {},
                "",
                {},
                Build{"", "", false, [](const std::string& type) { return "-DREAL=" + type; }}},
               "float",
               {"float", "double"}};
  Parameter<std::int64_t> steps_{*this, {"steps", "time steps of a sample"}, 100, {1, 1 << 30}};
  Parameter<double> hours_{
      *this, {"hours", "simulated time of a sample instead of --steps; 0 = by --steps", "h"}, 0, {0, 1e6}};
  Parameter<double> cfl_{*this, {"cfl", "share of the longest stable step"}, 0.5, {1e-6, 10}};
  Parameter<double> time_step_{*this, {"time-step", "of the simulation; 0 = by --cfl", "s"}, 0, {0, 1e6}};
  Parameter<std::string> partitioner_{
      *this,
      {"partitioner",
       "default (metis where it is installed, otherwise rcb), metis, rcb, random, or a METIS .part file"},
      "default"};
  Parameter<std::int64_t> coarse_elements_{
      *this,
      {"coarse-elements",
       "metis, rcb: a mesh is partitioned once it has so many elements a rank; each rank refines its part by itself"},
      2048,
      {1, 1 << 29}};
  hpcc::VariantChoice variant_{*this};
  Parameter<std::int64_t> max_elements_{
      *this,
      {"max-elements",
       "single_work_item: elements of a rank, with those it receives, in local memory",
       "",
       {},
       "",
       {},
       Build{"e", "MAX_ELEMENTS"}},
      8192,
      {1, 1 << 24}};
  Parameter<std::int64_t> neighbours_max_{
      *this, {"neighbours-max", "most neighbours of a rank; metis then seeks few (MINCONN); 0 = any"}, 0, {0, 4096}};
  Choice overlap_{*this, {"overlap", "compute core elements during the exchange"}, "on", {"on", "off"}};
  Choice schedule_{*this,
                   {"schedule",
                    "host: kernels are started in each stage; device: one for all steps of a sample, which exchanges "
                    "through the port of a transport (peer)"},
                   "host",
                   {"host", "device"}};
  Choice layout_{*this,
                 {"layout",
                  "of a state on the device: apart, a value of each element after the other; together, four values of "
                  "an element side by side; default: together, but in a pipeline"},
                 "default",
                 {"default", "apart", "together"}};
  Choice friction_{*this,
                   {"friction",
                    "none; linear: tau = --drag; quadratic: tau = --drag |u|/H",
                    "",
                    {},
                    "",
                    {},
                    Build{"", "", false, friction_options}},
                   "quadratic",
                   {"none", "linear", "quadratic"}};
  Parameter<double> drag_{*this, {"drag", "coefficient of friction; 1/s if linear"}, 0.003, {0, 10}};
  Parameter<double> coriolis_{*this, {"coriolis", "parameter f", "1/s"}, 6.4e-5, {-1e-3, 1e-3}};
  Parameter<std::string> tide_{
      *this, {"tide", "constituents at sea edges, of O1, K1, N2, M2, S2, or a file, .toml"}, "O1,K1,N2,M2,S2"};
  Parameter<double> ramp_{*this, {"ramp", "the tide grows to its height in this time", "h"}, 12, {0, 1e4}};
  Parameter<double> minimum_depth_{
      *this, {"minimum-depth", "H below it is an error: nothing falls dry", "m"}, 0.05, {0, 1e3}};
  Parameter<std::int64_t> reference_steps_{
      *this, {"reference-steps", "steps compared with the reference, at most"}, 100, {1, 1 << 30}};
  Parameter<std::string> station_{
      *this, {"station", "places whose level and velocity are written, x,y;x,y (default: four)", "m"}, ""};
  Parameter<std::int64_t> snapshots_{
      *this,
      {"snapshots", "states written beside the record, with the mesh, after the first; 0 = none"},
      0,
      {0, 10000}};
  Parameter<bool> write_mesh_{*this, {"write-mesh", "write the mesh and its partition beside the record"}, false};

  // The mesh that is partitioned; ranks cut its triangles into four `times` times.
  struct Setup {
    int ranks = 0, times = 0;
    Mesh coarse;
    Owners owners;  // of its elements
    Job job;
    std::vector<Station> stations;
    std::uint64_t steps = 0;  // of a sample
    double began = 0;

    std::size_t elements() const { return coarse.elements() << (2 * times); }
    int owner_of(std::uint32_t number) const { return owners[number >> (2 * times)]; }
    Marks marks_of(int rank) const;
    // A rank's elements and, around them, those within `layers` edges, and more. Without edges to others all are here.
    Marks around(int rank, std::uint64_t layers) const { return with_layers(coarse, marks_of(rank), layers, times); }
  };
  // What a rank holds: its elements and their neighbours.
  struct Home {
    int rank = 0;
    Region region;
    Part part;
  };
  const Setup& setup(int ranks, std::uint64_t seed) const;
  const Home& home(int rank) const;
  void choose_layout(const DeviceInfo& device);
  Home make_home(int rank) const;
  std::vector<Part> all_parts() const;
  Mesh make_base() const;
  int refinements() const;
  int coarse_refinements(std::size_t elements, int ranks) const;
  void check_partition(const Setup& made) const;
  Job make_job(const Mesh& base) const;
  Owners make_owners(const Mesh& mesh, int ranks, std::uint64_t seed) const;
  Solution exact() const;
  void learn(Session& session, std::uint64_t count, const std::vector<std::byte>& own);
  Coefficients start_on(const Mesh& mesh) const;
  std::uint64_t stages(std::uint64_t steps) const { return steps * stages_of(setup_->job.order).size(); }
  std::uint32_t number_of(std::size_t own) const { return home_->region.numbers[solver_->part().index[own]]; }
  std::vector<std::byte> unpartitioned(Session& session, std::uint64_t count);
  double without_exchange_s(Session& session, std::uint64_t count);
  Metric communication(const CaseResult& result) const;
  double off_reference(const Coefficients& own, const Coefficients& reference) const;
  double off_exact(const Coefficients& own, double t) const;
  double off_volume(Session& session, const Coefficients& own) const;
  double level_rms(const Coefficients& own) const;
  std::uint64_t compared_steps() const;
  std::vector<Station> make_stations(const Mesh& mesh, int times) const;
  std::map<std::uint64_t, bool> halts() const;
  Coefficients start_of_own() const;
  void observe(Session& session, const std::vector<std::byte>& own);
  void look(std::uint64_t step);
  void share(Sightings& sightings) const;
  void write_snapshot(Session& session, std::uint64_t step, const Coefficients& own);
  void write_files(Session& session);
  void judge_stations();
  void run_reference();
  void refuse_dry(Located<std::int64_t> dry) const;
  Json partition_facts(World& world) const;

  mutable std::unique_ptr<Setup> setup_;
  mutable std::unique_ptr<Home> home_;
  // Of the prepared case.
  Coefficients start_, reference_;  // of the elements held; of own elements after compared_steps()
  std::unique_ptr<Solver> solver_;
  std::unique_ptr<Team> all_;
  std::vector<std::byte> expected_;  // own elements' bytes after a sample
  std::uint64_t learnt_count_ = 0;
  double off_ = 0;  // from the reference
  Sightings seen_, reference_seen_;
  std::vector<std::byte> early_;  // own elements' bytes after compared_steps()
  std::string strayed_;           // what was wrong at the stations, or with a sample that halts for them
  Json facts_ = Json::object();
};

}  // namespace plumb::shallow_water
