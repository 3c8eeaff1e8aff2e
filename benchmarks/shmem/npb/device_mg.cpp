#include "benchmarks/shmem/npb/device_mg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/embedded.hpp"

namespace plumb::npb::mg {

namespace {

const std::string file_of_mg = "benchmarks/shmem/npb/mg.cl";
constexpr int deepest_piece = 32;  // planes that a group goes up
constexpr std::size_t groups_of_squares = 256;

std::int32_t of_axis(const Three& three, int axis) {
  return three[static_cast<std::size_t>(axis)];
}

}  // namespace

DeviceGrids::DeviceGrids(Session& session, const Levels& levels, const Stencil& smoother, int offset)
    : levels_(levels),
      smoother_(smoother),
      offset_(offset),
      rank_(session.world.rank()),
      ranks_(session.world.size()),
      queue_(session.device.make_queue()) {
  const DeviceInfo& info = session.device.info();
  tile_x_ = info.type == "gpu" ? 32 : 16;
  tile_y_ = info.type == "gpu" ? 8 : 4;
  fewest_groups_ = std::size_t{info.type == "gpu" ? 16u : 4u} * std::max(1u, info.compute_units);
  Placement own = session.memory;
  own.shared = false;
  for (const Extent& box : levels_.boxes)
    for (auto* grids : {&u_, &r_}) grids->push_back(session.device.allocate(box.room() * sizeof(double), own));
  v_ = session.device.allocate(levels_.boxes.back().room() * sizeof(double), own);
  sums_ = session.device.allocate(groups_of_squares * sizeof(double), own);
  build(session);
  compile(session);
}

void DeviceGrids::build(Session& session) {
  program_ = session.device.build(
      session.source({file_of_mg, embedded_text(file_of_mg),
                      fmt::format("-DTX={} -DTY={} -DGROUP={}", tile_x_, tile_y_, tile_x_ * tile_y_)}));
  for (const auto& [kernel, name] : {std::pair{&fill_, "fill"},
                                     {&stencil_, "stencil"},
                                     {&restrict_, "restrict_to"},
                                     {&interpolate_, "interpolate"},
                                     {&faces_, "faces"},
                                     {&box_, "box"},
                                     {&squares_, "squares"}})
    *kernel = program_->kernel(name);
}

// A lane goes down, another up. The gathered level's lanes go to the ranks at each distance.
void DeviceGrids::compile(Session& session) {
  using Message = DeviceExchange::Message;
  const Three place = Levels::place_of(rank_, levels_.grid);
  halos_.resize(levels_.boxes.size());
  for (int level = levels_.gathered + 1; level <= levels_.finest; ++level)
    for (int axis = 0; axis < 3; ++axis) {
      if (of_axis(levels_.grid, axis) == 1) continue;
      const int down = neighbour(place, levels_.grid, axis, -1), up = neighbour(place, levels_.grid, axis, 1);
      const std::size_t bytes = face(box(level), axis) * sizeof(double), pitch = aligned(bytes);
      const std::vector<Message> sends{{down, 0, 0, bytes}, {up, 1, pitch, bytes}};
      const std::vector<Message> receives{{up, 0, pitch, bytes}, {down, 1, 0, bytes}};
      halos_[static_cast<std::size_t>(level)][static_cast<std::size_t>(axis)] =
          std::make_unique<DeviceExchange>(session, sends, 2 * pitch, receives, 2 * pitch, traffic_);
    }
  if (ranks_ == 1) return;
  std::vector<Message> sends, receives;
  const std::size_t own = levels_.part.count() * sizeof(double);
  std::size_t all = 0;
  for (int i = 1; i < ranks_; ++i) {
    const int to = (rank_ + i) % ranks_, from = (rank_ + ranks_ - i) % ranks_;
    const std::size_t theirs = Levels(1 << levels_.finest, from, ranks_).part.count() * sizeof(double);
    sends.push_back({to, i - 1, 0, own});
    receives.push_back({from, i - 1, all, theirs});
    all += aligned(theirs);
  }
  gather_ = std::make_unique<DeviceExchange>(session, sends, own, receives, all, traffic_);
}

void DeviceGrids::enqueue(Kernel& kernel, std::size_t groups) {
  const auto items = static_cast<std::size_t>(tile_x_ * tile_y_);
  queue_->enqueue(kernel, {groups * items, items});
}

// Rows of points, each in pieces of a group's items.
void DeviceGrids::enqueue_rows(Kernel& kernel, int points, int rows) {
  const int items = tile_x_ * tile_y_;
  enqueue(kernel, static_cast<std::size_t>((points + items - 1) / items) * static_cast<std::size_t>(rows));
}

void DeviceGrids::fill(Buffer& grid, double value) {
  const std::size_t count = grid.size() / sizeof(double), items = static_cast<std::size_t>(tile_x_ * tile_y_);
  fill_->set({&grid, static_cast<std::uint32_t>(count), value});
  enqueue(*fill_, std::min<std::size_t>((count + items - 1) / items, 4096));
}

void DeviceGrids::restart(const std::vector<double>& v) {
  for (auto* grids : {&u_, &r_})
    for (const auto& grid : *grids) fill(*grid, std::numeric_limits<double>::quiet_NaN());
  fill(*u_.back(), 0);
  queue_->write(reinterpret_cast<const std::byte*>(v.data()), {v_.get(), 0, v.size() * sizeof(double)});
}

// Axes of which the level's part is the whole.
int DeviceGrids::wraps(int level) const {
  int axes = 0;
  for (int axis = 0; axis < 3; ++axis)
    if (level <= levels_.gathered || of_axis(levels_.grid, axis) == 1) axes |= 1 << axis;
  return axes;
}

void DeviceGrids::stencil(const Buffer& from, const Buffer& base, Buffer& to, int level, int first, int last,
                          const Stencil& weights) {
  if (last < first) return;
  const Three& n = box(level).size;
  const auto tiles = static_cast<std::size_t>((n[0] + tile_x_ - 1) / tile_x_ * ((n[1] + tile_y_ - 1) / tile_y_));
  const int planes = last - first + 1;
  int depth = deepest_piece;
  const auto pieces = [&] { return static_cast<std::size_t>((planes + depth - 1) / depth); };
  while (depth > 1 && tiles * pieces() < fewest_groups_) depth /= 2;
  stencil_->set({&from, &base, &to, n[0], n[1], n[2], first, last, depth, wraps(level), weights[0], weights[1],
                 weights[2], weights[3]});
  enqueue(*stencil_, tiles * pieces());
}

void DeviceGrids::residual(int level, int first, int last) {
  Stencil minus_a = operator_a;
  for (double& weight : minus_a) weight = -weight;
  Buffer& r = grid(Field::r, level);
  stencil(grid(Field::u, level), level == levels_.finest ? *v_ : r, r, level, first, last, minus_a);
}

void DeviceGrids::smooth(int level, int first, int last) {
  Buffer& u = grid(Field::u, level);
  stencil(grid(Field::r, level), u, u, level, first, last, smoother_);
}

void DeviceGrids::restrict_from(int level, const Extent& part, int first, int last) {
  if (last < first) return;
  const Extent &fine = box(level), &to = box(level - 1);
  const auto begin = [&](int axis) { return of_axis(part.low, axis) - of_axis(to.low, axis) + 1; };
  const auto shift = [&](int axis) { return 2 * of_axis(to.low, axis) + offset_ - of_axis(fine.low, axis) + 1; };
  restrict_->set({&grid(Field::r, level), &grid(Field::r, level - 1), fine.size[0], fine.size[1], to.size[0],
                  to.size[1], to.size[2], begin(0), begin(1), part.size[0], part.size[1], first, last, shift(0),
                  shift(1), shift(2), wraps(level - 1)});
  enqueue_rows(*restrict_, part.size[0], part.size[1] * (last - first + 1));
}

void DeviceGrids::interpolate_to(int level, int first, int last) {
  if (last < first) return;
  const Extent &coarse = box(level - 1), &fine = box(level);
  interpolate_->set({&grid(Field::u, level - 1), &grid(Field::u, level), coarse.size[0], coarse.size[1], fine.size[0],
                     fine.size[1], coarse.low[0], coarse.low[1], coarse.low[2], fine.low[0], fine.low[1], fine.low[2],
                     first, std::int32_t{level == levels_.finest ? 1 : 0}});
  enqueue_rows(*interpolate_, fine.size[0] + 2, (fine.size[1] + 2) * (last - first + 1));
}

void DeviceGrids::faces(Field field, int level, int axis, bool packs) {
  DeviceExchange& halo = exchange(level, axis);
  const Extent& own = box(level);
  Buffer& messages = packs ? halo.outgoing() : halo.incoming();
  const std::size_t points = 2 * face(own, axis), items = static_cast<std::size_t>(tile_x_ * tile_y_);
  faces_->set({&grid(field, level), &messages, own.size[0], own.size[1], own.size[2], std::int32_t{axis},
               static_cast<std::uint32_t>(messages.size() / 2 / sizeof(double)), std::int32_t{packs ? 1 : 0}});
  enqueue(*faces_, (points + items - 1) / items);
}

void DeviceGrids::post_halo(Field field, int level, int axis) {
  faces(field, level, axis, true);
  exchange(level, axis).start(*queue_);
}

void DeviceGrids::take_halo(Field field, int level, int axis) {
  queue_->finished();  // submits what does not need it
  exchange(level, axis).wait();
  faces(field, level, axis, false);
}

// Between the gathered level and a message at number `at`.
void DeviceGrids::copy_part(const Extent& part, Buffer& messages, std::size_t at, bool packs) {
  const std::size_t items = static_cast<std::size_t>(tile_x_ * tile_y_);
  box_->set({&grid(Field::r, levels_.gathered), &messages, 1 << levels_.gathered, part.low[0] + 1, part.low[1] + 1,
             part.low[2] + 1, part.size[0], part.size[1], part.size[2], static_cast<std::uint32_t>(at),
             std::int32_t{packs ? 1 : 0}});
  enqueue(*box_, (part.count() + items - 1) / items);
}

void DeviceGrids::gather() {
  copy_part(levels_.part, gather_->outgoing(), 0, true);
  gather_->start(*queue_);
  gather_->wait();
  std::size_t at = 0;
  for (int i = 1; i < ranks_; ++i) {
    const Extent part = Levels(1 << levels_.finest, (rank_ + ranks_ - i) % ranks_, ranks_).part;
    copy_part(part, gather_->incoming(), at / sizeof(double), false);
    at += aligned(part.count() * sizeof(double));
  }
}

double DeviceGrids::squares() {
  const Three& n = box(levels_.finest).size;
  squares_->set({r_.back().get(), sums_.get(), n[0], n[1], n[2]});
  enqueue(*squares_, groups_of_squares);
  std::vector<double> sums(groups_of_squares);
  queue_->read(whole(*sums_), reinterpret_cast<std::byte*>(sums.data()));
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

void DeviceGrids::fetch(std::vector<double>& u, std::vector<double>& r, std::vector<double>& v) {
  for (const auto& [buffer, values] : {std::pair{u_.back().get(), &u}, {r_.back().get(), &r}, {v_.get(), &v}})
    queue_->read({buffer, 0, values->size() * sizeof(double)}, reinterpret_cast<std::byte*>(values->data()));
}

DeviceBytes DeviceGrids::bytes(const Levels& levels, int ranks) {
  DeviceBytes all;
  all.largest_buffer = levels.boxes.back().room() * sizeof(double);
  all.all = all.largest_buffer + 65536;
  for (const Extent& box : levels.boxes) all.all += 2 * box.room() * sizeof(double);
  for (int level = levels.gathered + 1; level <= levels.finest && ranks > 1; ++level)
    for (int axis = 0; axis < 3; ++axis)
      all.all += 4 * aligned(face(levels.boxes[static_cast<std::size_t>(level)], axis) * sizeof(double));
  return all;
}

}  // namespace plumb::npb::mg
