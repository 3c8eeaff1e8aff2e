#include "benchmarks/shmem/npb/device_mg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/embedded.hpp"

namespace plumb::npb::mg {

namespace {

const std::string file_of_mg = "benchmarks/shmem/npb/mg.cl";
constexpr int groups_of_squares = 256;

template <class T>
T pieces_of(T count, T length) {
  return (count + length - 1) / length;
}

std::int32_t of_axis(const Three& three, int axis) {
  return three[axis];
}

}  // namespace

Tile Tile::of(const DeviceInfo& info) {
  return info.type == "gpu" ? Tile{64, 4, 2, 32, 8} : Tile{16, 4, 2, 32, 8};
}

DeviceGrids::DeviceGrids(Session& session, const Levels& levels, const Stencil& smoother, int offset, const Tile& tile)
    : levels_(levels),
      smoother_(smoother),
      offset_(offset),
      rank_(session.world.rank()),
      ranks_(session.world.size()),
      tile_(tile),
      queue_(session.device.make_queue()) {
  const DeviceInfo& info = session.device.info();
  fewest_groups_ = 4 * std::max(1, static_cast<int>(info.compute_units));
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
  program_ = session.device.build(session.source(
      {file_of_mg, embedded_text(file_of_mg),
       fmt::format("-DTX={} -DTY={} -DROWS={} -DGROUP={}", tile_.x, tile_.y, tile_.rows, tile_.items())}));
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
      halos_[level][axis] = std::make_unique<DeviceExchange>(session, sends, 2 * pitch, receives, 2 * pitch, traffic_);
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

void DeviceGrids::enqueue(Kernel& kernel, int groups) {
  const auto items = static_cast<std::size_t>(tile_.items());
  queue_->enqueue(kernel, {static_cast<std::size_t>(groups) * items, items});
}

int DeviceGrids::deep_enough(int groups, int planes, int deepest) const {
  int depth = deepest;
  while (depth > 1 && groups * pieces_of(planes, depth) < fewest_groups_) depth /= 2;
  return depth;
}

void DeviceGrids::fill(Buffer& grid, double value) {
  const auto count = static_cast<std::int64_t>(grid.size() / sizeof(double));
  fill_->set({&grid, static_cast<std::uint32_t>(count), value});
  enqueue(*fill_, static_cast<int>(std::min<std::int64_t>(pieces_of(count, std::int64_t{tile_.items()}), 4096)));
}

void DeviceGrids::restart(const std::vector<double>& v) {
  for (auto* grids : {&u_, &r_})
    for (const auto& grid : *grids) fill(*grid, std::numeric_limits<double>::quiet_NaN());
  fill(*u_.back(), 0);
  queue_->write(reinterpret_cast<const std::byte*>(v.data()), {v_.get(), 0, v.size() * sizeof(double)});
  double inner = 0;
  queue_->read({r_.back().get(), levels_.boxes.back().at(1, 1, 1) * sizeof inner, sizeof inner},
               reinterpret_cast<std::byte*>(&inner));
  was_poisoned_ = std::isnan(inner);
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
  const int tiles = pieces_of(n[0], tile_.x) * pieces_of(n[1], tile_.y * tile_.rows);
  const int planes = last - first + 1, depth = deep_enough(tiles, planes, tile_.depth);
  stencil_->set({&from, &base, &to, n[0], n[1], n[2], first, last, depth, wraps(level), weights[0], weights[1],
                 weights[2], weights[3]});
  enqueue(*stencil_, tiles * pieces_of(planes, depth));
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
  const int tiles = pieces_of(part.size[0], tile_.x) * pieces_of(part.size[1], tile_.y);
  const int planes = last - first + 1, depth = deep_enough(tiles, planes, tile_.coarse_depth);
  restrict_->set({&grid(Field::r, level), &grid(Field::r, level - 1), fine.size[0], fine.size[1], to.size[0],
                  to.size[1], to.size[2], begin(0), begin(1), part.size[0], part.size[1], first, last, depth, shift(0),
                  shift(1), shift(2), wraps(level - 1)});
  enqueue(*restrict_, tiles * pieces_of(planes, depth));
}

void DeviceGrids::interpolate_to(int level, int first, int last) {
  if (last < first) return;
  const Extent &coarse = box(level - 1), &fine = box(level);
  const auto planes = [&](int axis, int from, int to) {  // of the coarse grid, to interpolate fine ones from
    return sources(coarse, fine, axis, to).first - sources(coarse, fine, axis, from).first + 1;
  };
  const int columns = (fine.size[0] + 2) * planes(1, 0, fine.size[1] + 1), high = planes(2, first, last);
  const int groups = pieces_of(columns, tile_.items()), depth = deep_enough(groups, high, tile_.coarse_depth);
  interpolate_->set({&grid(Field::u, level - 1), &grid(Field::u, level), coarse.size[0], coarse.size[1], fine.size[0],
                     fine.size[1], coarse.low[0], coarse.low[1], coarse.low[2], fine.low[0], fine.low[1], fine.low[2],
                     first, last, depth, std::int32_t{level == levels_.finest ? 1 : 0}});
  enqueue(*interpolate_, groups * pieces_of(high, depth));
}

void DeviceGrids::faces(Field field, int level, int axis, bool packs) {
  DeviceExchange& halo = exchange(level, axis);
  const Extent& own = box(level);
  Buffer& messages = packs ? halo.outgoing() : halo.incoming();
  const auto points = static_cast<int>(2 * face(own, axis));
  faces_->set({&grid(field, level), &messages, own.size[0], own.size[1], own.size[2], std::int32_t{axis},
               static_cast<std::uint32_t>(messages.size() / 2 / sizeof(double)), std::int32_t{packs ? 1 : 0}});
  enqueue(*faces_, pieces_of(points, tile_.items()));
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
  box_->set({&grid(Field::r, levels_.gathered), &messages, 1 << levels_.gathered, part.low[0] + 1, part.low[1] + 1,
             part.low[2] + 1, part.size[0], part.size[1], part.size[2], static_cast<std::uint32_t>(at),
             std::int32_t{packs ? 1 : 0}});
  enqueue(*box_, pieces_of(static_cast<int>(part.count()), tile_.items()));
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
    for (int axis = 0; axis < 3; ++axis) all.all += 4 * aligned(face(levels.boxes[level], axis) * sizeof(double));
  return all;
}

}  // namespace plumb::npb::mg
