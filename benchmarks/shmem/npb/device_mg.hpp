// npb_mg's levels in a device's memory, worked on by kernels (mg.cl); halos by the session's transport.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "benchmarks/shmem/device_exchange.hpp"
#include "benchmarks/shmem/npb/mg_grid.hpp"
#include "measure/benchmark.hpp"

namespace plumb::npb::mg {

enum class Field { u, r };

// How kernels divide a level.
struct Tile {
  int x, y;                 // work items of a group
  int rows;                 // points of an item along y, in the stencil
  int depth, coarse_depth;  // planes that a group goes up at most: in the stencil, of the coarse grid

  static Tile of(const DeviceInfo& info);
  int items() const { return x * y; }
};

class DeviceGrids {
 public:
  // Collective. `offset`: of coarse point j on fine point 2j + 1.
  DeviceGrids(Session& session, const Levels& levels, const Stencil& smoother, int offset, const Tile& tile);

  // The finest u is 0, v as given (with halo); all else is not a number.
  void restart(const std::vector<double>& v);
  // Whether r was no number after the last restart: if the device takes nothing any more, its memory is an earlier one.
  bool was_poisoned() const { return was_poisoned_; }
  void clear(int level) { fill(grid(Field::u, level), 0); }

  // Planes first ... last of a level, as on the host; nothing if last < first.
  void residual(int level, int first, int last);
  void smooth(int level, int first, int last);
  void restrict_from(int level, const Extent& part, int first, int last);
  void interpolate_to(int level, int first, int last);

  // The halo of an axis that is cut: the messages leave, and are taken.
  void post_halo(Field field, int level, int axis);
  void take_halo(Field field, int level, int axis);
  void gather();  // each rank's part of r's finest gathered level, to all ranks

  double squares();  // the sum over the finest r
  void finish() { queue_->finish(); }
  // The finest u, r and v.
  void fetch(std::vector<double>& u, std::vector<double>& r, std::vector<double>& v);

  const Traffic& traffic() const { return traffic_; }
  static DeviceBytes bytes(const Levels& levels, int ranks);

 private:
  const Extent& box(int level) const { return levels_.boxes[level]; }
  Buffer& grid(Field field, int level) { return *(field == Field::u ? u_ : r_)[level]; }
  int wraps(int level) const;
  DeviceExchange& exchange(int level, int axis) { return *halos_[level][axis]; }
  void build(Session& session);
  void compile(Session& session);
  void stencil(const Buffer& from, const Buffer& base, Buffer& to, int level, int first, int last,
               const Stencil& weights);
  void enqueue(Kernel& kernel, int groups);
  // Planes that a group goes up, of so many groups beside each other: fewer where some of the device would be idle.
  int deep_enough(int groups, int planes, int deepest) const;
  void faces(Field field, int level, int axis, bool packs);
  void fill(Buffer& grid, double value);
  void copy_part(const Extent& part, Buffer& messages, std::size_t at, bool packs);

  Levels levels_;
  Stencil smoother_;
  int offset_, rank_, ranks_;
  Tile tile_;
  Traffic traffic_;
  bool was_poisoned_ = false;
  int fewest_groups_;  // that keep the device busy
  std::unique_ptr<Queue> queue_;
  std::vector<std::unique_ptr<Buffer>> u_, r_;  // by level
  std::unique_ptr<Buffer> v_, sums_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> fill_, stencil_, restrict_, interpolate_, faces_, box_, squares_;
  std::vector<std::array<std::unique_ptr<DeviceExchange>, 3>> halos_;  // by level and axis
  std::unique_ptr<DeviceExchange> gather_;
};

}  // namespace plumb::npb::mg
