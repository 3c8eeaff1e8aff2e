// npb_mg: V-cycles of multigrid on a periodic cube.
#pragma once

#include "benchmarks/shmem/npb/device_mg.hpp"
#include "benchmarks/shmem/npb/mg_grid.hpp"
#include "benchmarks/shmem/npb/npb.hpp"

namespace plumb::npb {

// A point of the finest grid with a charge of +1 or -1.
struct Charge {
  std::int64_t point = 0;  // (z n + y) n + x
  double value = 0;
  bool operator==(const Charge&) const = default;
};

class Mg : public Npb {
 public:
  Mg()
      : Npb({"npb_mg",
             "V-cycles of multigrid for a Poisson equation on a periodic cube",
             {"resid", "psinv", "rprj3", "interp", "norm2u3", "comm3", "rcomm"}}) {}

 protected:
  double operations(const ClassRow& row) const override;
  void change(ClassRow& row) const override;
  void check_problem(const ClassRow& row, int ranks) const override;
  std::uint64_t items(const ClassRow& row, const Plan& plan) const override;
  Links links(const ClassRow& row, int rank, int ranks) const override;
  std::uint64_t host_bytes(const ClassRow& row, const Plan& plan) const override;
  DeviceBytes device_bytes(const ClassRow& row, const Plan& plan) const override;
  Volume volume(const ClassRow& row, int ranks) const override;
  const Traffic* device_traffic() const override { return device_ ? &device_->traffic() : nullptr; }
  void set_up(Session& session) override;
  void restart() override;
  void iterate(std::uint64_t iteration) override;
  void finish() override;
  void check(Checks& checks, std::uint64_t repetition) override;
  void tear_down() override;

  // Replaced by mutants.
  virtual mg::Stencil smoother() const;
  virtual int offset() const { return 1; }  // of coarse point j on fine point 2j + 1
  virtual bool passes_edges_on() const { return true; }
  virtual void unpack(std::span<const double> message, double* grid, const mg::Extent& own, int axis, int at);
  virtual double sum(double mine);

  ClassRow row_;

 private:
  using Grids = std::vector<std::vector<double>>;

  const mg::Extent& box(int level) const { return levels_->boxes[level]; }
  static double* data(Grids& grids, int level) { return grids[level].data(); }
  double* data(mg::Field field, int level) { return data(field == mg::Field::u ? u_ : r_, level); }
  bool is_cut(int level, int axis) const { return level > levels_->gathered && levels_->grid[axis] > 1; }
  void residual(int level, const std::vector<double>& right_side);
  void smooth(int level);
  void restrict_from(int level);
  void interpolate_to(int level);
  void gather();

  // A grid's halo is filled axis by axis, so that edges and corners pass on. Along z the messages travel until the next
  // sweep, which first computes the planes that need no halo.
  void start_halo(mg::Field field, int level);
  void finish_halo();
  void wrap(double* grid, const mg::Extent& box, int axis);
  void post_halo(const double* grid, int level, int axis);
  void take_halo(mg::Field field, int level, int axis);
  template <class Use>
  void for_rows(const mg::Extent& box, int axis, int at, Use use) const;
  void sweep(std::size_t phase, int first, int last, const std::function<bool(int)>& is_inside,
             const std::function<void(int, int)>& planes);

  mg::Tile tile(const DeviceInfo& info) const;
  void find_charges();
  void check_residual(Checks& checks);

  Parameter<std::int64_t> grid_{
      *this, {"grid", "points of an axis, without official values; 0: the class's"}, 0, {0, 1 << 14}};
  Parameter<std::string> tile_{*this,
                               {"tile",
                                "variant device: work items of a group along x and y, points of an item, planes of a "
                                "group, and of the coarse grid, such as 64x4x2x32x8"},
                               "default"};

  std::unique_ptr<mg::Levels> levels_;
  Grids u_, r_;  // by level
  std::vector<double> v_, scratch_;
  std::vector<Charge> charges_;  // of all ranks
  double norm_ = 0;
  std::optional<std::pair<mg::Field, int>> pending_;  // a level's grid whose halo along z is under way
  std::unique_ptr<mg::DeviceGrids> device_;           // variant device: the grids are there
};

}  // namespace plumb::npb
