#include "benchmarks/shmem/npb/mg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <utility>

#include "benchmarks/shmem/npb/random46.hpp"
#include "world/collect.hpp"

namespace plumb::npb {

using mg::Extent;
using mg::Levels;
using mg::Three;

namespace {

enum MgPhase : std::size_t { resid, psinv, rprj3, interp, norm2u3, comm3, mg_rcomm };
constexpr std::size_t charges_of_sign = 10;
constexpr int gather_tag = 900;
constexpr std::int64_t largest_on_device = 1024;  // points of an axis
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// The first of a level's two links along an axis, to and from the lower and the upper neighbour.
std::size_t link_of(const Levels& levels, int level, int axis) {
  const auto cut = [&](int a) { return levels.grid[a] > 1 ? std::size_t{2} : 0; };
  std::size_t index = (level - levels.gathered - 1) * (cut(0) + cut(1) + cut(2));
  for (int a = 0; a < axis; ++a) index += cut(a);
  return index;
}

// The ten largest values offered, and of equal ones the first points'.
class Largest {
 public:
  void offer(const Charge& one) {
    if (found_.size() == charges_of_sign && !precedes(one, found_.back())) return;
    found_.insert(std::upper_bound(found_.begin(), found_.end(), one, precedes), one);
    if (found_.size() > charges_of_sign) found_.pop_back();
  }
  const std::vector<Charge>& found() const { return found_; }

 private:
  static bool precedes(const Charge& a, const Charge& b) {
    return a.value != b.value ? a.value > b.value : a.point < b.point;
  }
  std::vector<Charge> found_;
};

struct Extremes {
  Largest largest, smallest;  // the latter of negative values

  void offer(std::int64_t point, double value) {
    largest.offer({point, value});
    smallest.offer({point, -value});
  }
  std::vector<Charge> charges() const {
    std::vector<Charge> all;
    for (const Charge& one : largest.found()) all.push_back({one.point, 1});
    for (const Charge& one : smallest.found()) all.push_back({one.point, -1});
    std::sort(all.begin(), all.end(), [](const Charge& a, const Charge& b) { return a.point < b.point; });
    return all;
  }
};

}  // namespace

double Mg::operations(const ClassRow& row) const {
  return 58 * static_cast<double>(row.iterations) * std::pow(static_cast<double>(row.size), 3);
}

void Mg::change(ClassRow& row) const {
  if (grid_ > 0) row.size = grid_;
}

void Mg::check_problem(const ClassRow& row, int ranks) const {
  if (row.size < 8 || !std::has_single_bit(static_cast<std::uint64_t>(row.size)))
    throw UsageError(
        fmt::format("a grid of {} points an axis cannot be halved down to 2: --grid must be a power of two, "
                    "at least 8",
                    row.size));
  if (on_device() && row.size > largest_on_device)
    throw UsageError(fmt::format("--variant device counts points in 32 bits: --grid is at most {}, not {}",
                                 largest_on_device, row.size));
  if (on_device()) tile({});
  if (mg::least_size(static_cast<int>(row.size), ranks) >= 2) return;
  int most = ranks - 1;
  while (mg::least_size(static_cast<int>(row.size), most) < 2) --most;
  throw UsageError(
      fmt::format("{} points an axis are too few for {} ranks, each with 2 points at least: at most {} ranks", row.size,
                  ranks, most));
}

// The official norm, the norm again, the charges, and each point of v and r.
std::uint64_t Mg::items(const ClassRow& row, const Plan& plan) const {
  const Levels levels(static_cast<int>(row.size), plan.rank, plan.ranks);
  return row.official.size() + 1 + 2 * charges_of_sign + 2 * levels.boxes.back().count();
}

Links Mg::links(const ClassRow& row, int rank, int ranks) const {
  const Levels levels(static_cast<int>(row.size), rank, ranks);
  const Three place = Levels::place_of(rank, levels.grid);
  Links all;
  for (int level = levels.gathered + 1; level <= levels.finest; ++level)
    for (int axis = 0; axis < 3; ++axis) {
      if (levels.grid[axis] == 1) continue;
      const std::size_t bytes = sizeof(double) * face(levels.boxes[level], axis);
      const int tag = (level * 3 + axis) * 2;
      for (const int by : {-1, 1}) {  // what goes down comes from above
        const int peer = mg::neighbour(place, levels.grid, axis, by);
        all.outgoing.push_back({peer, tag + (by > 0 ? 1 : 0), bytes});
        all.incoming.push_back({peer, tag + (by > 0 ? 0 : 1), bytes});
      }
    }
  for (int i = 1; i < ranks; ++i) {
    const int to = (rank + i) % ranks, from = (rank + ranks - i) % ranks;
    const Levels other(static_cast<int>(row.size), from, ranks);
    all.outgoing.push_back({to, gather_tag, sizeof(double) * std::max<std::size_t>(1, levels.part.count())});
    all.incoming.push_back({from, gather_tag, sizeof(double) * std::max<std::size_t>(1, other.part.count())});
  }
  return all;
}

std::uint64_t Mg::host_bytes(const ClassRow& row, const Plan& plan) const {
  const Levels levels(static_cast<int>(row.size), plan.rank, plan.ranks);
  std::uint64_t points = levels.boxes.back().room() + 4 * row.size * row.size;
  for (const Extent& box : levels.boxes) points += 2 * box.room();
  return sizeof(double) * points;
}

DeviceBytes Mg::device_bytes(const ClassRow& row, const Plan& plan) const {
  return mg::DeviceGrids::bytes(Levels(static_cast<int>(row.size), plan.rank, plan.ranks), plan.ranks);
}

// Three halos of each distributed level, one more of the finest at the start, and the gathered level to all.
Volume Mg::volume(const ClassRow& row, int ranks) const {
  Volume all;
  for (int rank = 0; rank < ranks && ranks > 1; ++rank) {
    const Levels levels(static_cast<int>(row.size), rank, ranks);
    for (int level = levels.gathered + 1; level <= levels.finest; ++level)
      for (int axis = 0; axis < 3; ++axis) {
        if (levels.grid[axis] == 1) continue;
        const double messages = 2 * (3 + (level == levels.finest ? 1 / static_cast<double>(row.iterations) : 0));
        all.messages += messages;
        all.bytes += messages * sizeof(double) * static_cast<double>(face(levels.boxes[level], axis));
      }
    all.messages += ranks - 1;
    all.bytes += sizeof(double) * static_cast<double>(levels.part.count()) * (ranks - 1);
  }
  return all;
}

mg::Stencil Mg::smoother() const {
  return row_.largest == 0 ? mg::smoother_of_small : mg::smoother_of_large;
}

void Mg::set_up(Session& session) {
  row_ = problem();
  levels_ = std::make_unique<Levels>(static_cast<int>(row_.size), rank(), ranks());
  u_.clear();
  r_.clear();
  for (const Extent& box : levels_->boxes)  // of the device's the finest is fetched
    for (auto* grids : {&u_, &r_}) grids->emplace_back(on_device() && &box != &levels_->boxes.back() ? 0 : box.room());
  if (on_device())
    device_ = std::make_unique<mg::DeviceGrids>(session, *levels_, smoother(), offset(), tile(session.device.info()));
  v_.resize(levels_->boxes.back().room());
  scratch_.resize(2 * levels_->boxes.back().row() + 2 * row_.size + 16);
  find_charges();
}

mg::Tile Mg::tile(const DeviceInfo& info) const {
  if (tile_.get() == "default") return mg::Tile::of(info);
  mg::Tile tile{};
  char more = 0;
  const int found = std::sscanf(tile_.get().c_str(), "%dx%dx%dx%dx%d%c", &tile.x, &tile.y, &tile.rows, &tile.depth,
                                &tile.coarse_depth, &more);
  const auto [least, most] = std::minmax({tile.x, tile.y, tile.rows, tile.depth, tile.coarse_depth});
  if (found != 5 || least < 1 || most > 1024)
    throw UsageError(fmt::format("--tile must be five numbers of 1 to 1024 such as 64x4x2x32x8, not {}", tile_.get()));
  return tile;
}

// Each rank searches its own points; the extremes of all follow from those of each.
void Mg::find_charges() {
  const Extent& own = levels_->boxes.back();
  Extremes mine, all;
  for (int k = 0; k < own.size[2]; ++k)
    for (int j = 0; j < own.size[1]; ++j) {
      std::int64_t point = ((own.low[2] + k) * row_.size + own.low[1] + j) * row_.size + own.low[0];
      Random46 random(usual_seed, point);
      for (int i = 0; i < own.size[0]; ++i) mine.offer(point++, random.next());
    }
  for (const auto list : {&Extremes::largest, &Extremes::smallest})
    for (const Charge& one : team().all_gather(std::span<const Charge>((mine.*list).found()))) (all.*list).offer(one);
  charges_ = all.charges();
}

void Mg::restart() {
  for (auto* grids : {&u_, &r_})
    for (auto& grid : *grids) std::fill(grid.begin(), grid.end(), not_a_number);
  std::fill(u_.back().begin(), u_.back().end(), 0.0);
  std::fill(v_.begin(), v_.end(), 0.0);
  const Extent& own = levels_->boxes.back();
  for (const Charge& charge : charges_) {
    std::int64_t rest = charge.point;
    Three local{};
    bool is_own = true;
    for (int a = 0; a < 3; ++a, rest /= row_.size) {
      local[a] = static_cast<int>(rest % row_.size) - own.low[a] + 1;
      is_own = is_own && local[a] >= 1 && local[a] <= own.size[a];
    }
    if (is_own) v_[own.at(local[0], local[1], local[2])] = charge.value;
  }
  norm_ = not_a_number;
  pending_.reset();
  if (device_) device_->restart(v_);
}

void Mg::iterate(std::uint64_t iteration) {
  const int finest = levels_->finest;
  if (iteration <= 1) residual(finest, v_);
  for (int level = finest; level > 1; --level) restrict_from(level);
  device_ ? device_->clear(1) : std::fill(u_[1].begin(), u_[1].end(), 0.0);
  smooth(1);
  for (int level = 2; level <= finest; ++level) {
    interpolate_to(level);
    residual(level, level == finest ? v_ : r_[level]);
    smooth(level);
  }
  residual(finest, v_);
  if (iteration == 0) finish_halo();
  if (device_) device_->finish();
}

void Mg::finish() {
  finish_halo();
  const Extent& own = levels_->boxes.back();
  double squares = device_ ? device_->squares() : 0;
  if (!device_) {
    const Part now = part(norm2u3);
    for (int k = 1; k <= own.size[2]; ++k)
      for (int j = 1; j <= own.size[1]; ++j) {
        const double* row = r_.back().data() + own.at(1, j, k);
        double of_row = 0;
        for (int i = 0; i < own.size[0]; ++i) of_row += row[i] * row[i];
        squares += of_row;
      }
  }
  const Part now = part(mg_rcomm);
  norm_ = std::sqrt(sum(squares) / std::pow(static_cast<double>(row_.size), 3));
}

double Mg::sum(double mine) {
  all_reduce(std::span(&mine, 1), Fold::sum);
  return mine;
}

// Planes that need no halo first, the others once it is there. Those inside follow one another.
void Mg::sweep(std::size_t phase, int first, int last, const std::function<bool(int)>& is_inside,
               const std::function<void(int, int)>& planes) {
  int low = first, high = last;
  while (pending_ && low <= last && !is_inside(low)) ++low;
  while (pending_ && high >= low && !is_inside(high)) --high;
  {
    const Part now = part(phase);
    planes(low, high);
  }
  if (!pending_) return;
  finish_halo();
  const Part now = part(phase);
  planes(first, low - 1);
  planes(high + 1, last);
}

void Mg::residual(int level, const std::vector<double>& right_side) {
  const Extent& own = box(level);
  sweep(
      resid, 1, own.size[2], [&](int k) { return k > 1 && k < own.size[2]; },
      [&](int first, int last) {
        if (device_) return device_->residual(level, first, last);
        for (int k = first; k <= last; ++k)
          mg::residual(own, data(u_, level), right_side.data(), data(r_, level), k, scratch_.data());
      });
  start_halo(mg::Field::r, level);
}

void Mg::smooth(int level) {
  const Extent& own = box(level);
  const mg::Stencil stencil = smoother();
  sweep(
      psinv, 1, own.size[2], [&](int k) { return k > 1 && k < own.size[2]; },
      [&](int first, int last) {
        if (device_) return device_->smooth(level, first, last);
        for (int k = first; k <= last; ++k)
          mg::smooth(own, stencil, data(r_, level), data(u_, level), k, scratch_.data());
      });
  start_halo(mg::Field::u, level);
}

void Mg::restrict_from(int level) {
  const Extent &fine = box(level), &to = box(level - 1);
  const bool gathers = level == levels_->gathered + 1 && ranks() > 1;
  const Extent& part = gathers ? levels_->part : to;
  const int begin = part.low[2] - to.low[2] + 1;
  sweep(
      rprj3, begin, begin + part.size[2] - 1,
      [&](int k) {
        const int at = 2 * (k - 1 + to.low[2]) + offset() - fine.low[2] + 1;
        return at > 1 && at < fine.size[2];
      },
      [&](int first, int last) {
        if (device_) return device_->restrict_from(level, part, first, last);
        for (int k = first; k <= last; ++k)
          mg::restrict_to(fine, data(r_, level), to, part, data(r_, level - 1), k, offset(), scratch_.data());
      });
  if (gathers) device_ ? device_->gather() : gather();
  start_halo(mg::Field::r, level - 1);
}

void Mg::interpolate_to(int level) {
  const Extent &coarse = box(level - 1), &fine = box(level);
  sweep(
      interp, 0, fine.size[2] + 1,
      [&](int k) {
        const mg::Pair pair = mg::sources(coarse, fine, 2, k);
        return pair.first >= 1 && pair.last <= coarse.size[2];
      },
      [&](int first, int last) {
        if (device_) return device_->interpolate_to(level, first, last);
        for (int k = first; k <= last; ++k)
          mg::interpolate(coarse, data(u_, level - 1), fine, data(u_, level), k, level == levels_->finest,
                          scratch_.data());
      });
}

// Each rank's part of the finest gathered level, to all ranks.
void Mg::gather() {
  const Part now = part(comm3);
  const Extent& whole = box(levels_->gathered);
  double* const grid = data(r_, levels_->gathered);
  const int others = ranks() - 1;
  const std::size_t first = link_of(*levels_, levels_->finest + 1, 0);
  const auto each_row = [&](const Extent& of, auto use) {
    for (int k = 1; k <= of.size[2]; ++k)
      for (int j = 1; j <= of.size[1]; ++j)
        use(grid + whole.at(of.low[0] + 1, of.low[1] + j, of.low[2] + k), of.size[0]);
  };
  for (int i = 0; i < others; ++i) messages().expect(first + i);
  for (int i = 0; i < others; ++i) {
    double* to = messages().outgoing_as<double>(first + i).data();
    each_row(levels_->part, [&](const double* row, int length) { to = std::copy_n(row, length, to); });
    messages().post(first + i);
  }
  messages().meet();
  for (int i = 0; i < others; ++i) {
    const double* from = messages().take_as<double>(first + i).data();
    const int peer = (rank() + ranks() - i - 1) % ranks();
    each_row(Levels(static_cast<int>(row_.size), peer, ranks()).part, [&](double* row, int length) {
      std::copy_n(from, length, row);
      from += length;
    });
  }
}

// A device's kernels write the images of an axis that is not cut themselves.
void Mg::start_halo(mg::Field field, int level) {
  const Part now = part(comm3);
  for (int axis = 0; axis < 3; ++axis) {
    if (!is_cut(level, axis)) {
      if (!device_) wrap(data(field, level), box(level), axis);
      continue;
    }
    device_ ? device_->post_halo(field, level, axis) : post_halo(data(field, level), level, axis);
    if (axis == 2)
      pending_ = {field, level};
    else
      take_halo(field, level, axis);
  }
}

void Mg::finish_halo() {
  if (!pending_) return;
  const Part now = part(comm3);
  const auto [field, level] = *std::exchange(pending_, std::nullopt);
  take_halo(field, level, 2);
}

// Calls use(offset, length) for the rows of a face: points at index `at` of an axis, with the halos of the axes before.
template <class Use>
void Mg::for_rows(const Extent& box, int axis, int at, Use use) const {
  const int around = passes_edges_on() ? 0 : 1;
  const auto range = [&](int a, int halo) {
    return axis == a ? std::pair{at, at} : std::pair{halo, box.size[a] + 1 - halo};
  };
  const auto [first_i, last_i] = range(0, around);
  const auto [first_j, last_j] = range(1, axis == 0 ? 1 : around);
  const auto [first_k, last_k] = range(2, 1);
  for (int k = first_k; k <= last_k; ++k)
    for (int j = first_j; j <= last_j; ++j) use(box.at(first_i, j, k), last_i - first_i + 1);
}

void Mg::wrap(double* grid, const Extent& box, int axis) {
  const int n = box.size[axis];
  const std::size_t across = n * (axis == 0 ? 1 : axis == 1 ? box.row() : box.plane());
  for_rows(box, axis, 1,
           [&](std::size_t at, std::size_t length) { std::copy_n(grid + at, length, grid + at + across); });
  for_rows(box, axis, 0,
           [&](std::size_t at, std::size_t length) { std::copy_n(grid + at + across, length, grid + at); });
}

void Mg::post_halo(const double* grid, int level, int axis) {
  const Extent& own = box(level);
  const std::size_t first = link_of(*levels_, level, axis);
  for (const std::size_t way : {0, 1}) messages().expect(first + way);
  for (const std::size_t way : {0, 1}) {
    double* to = messages().outgoing_as<double>(first + way).data();
    for_rows(own, axis, way == 0 ? 1 : own.size[axis],
             [&](std::size_t at, std::size_t length) { to = std::copy_n(grid + at, length, to); });
    messages().post(first + way);
  }
}

void Mg::take_halo(mg::Field field, int level, int axis) {
  if (device_) return device_->take_halo(field, level, axis);
  messages().meet();
  const std::size_t first = link_of(*levels_, level, axis);
  for (const std::size_t way : {0, 1})
    unpack(messages().take_as<double>(first + way), data(field, level), box(level), axis,
           way == 0 ? 0 : box(level).size[axis] + 1);
}

void Mg::unpack(std::span<const double> message, double* grid, const Extent& own, int axis, int at) {
  const double* from = message.data();
  for_rows(own, axis, at, [&](std::size_t to, std::size_t length) {
    std::copy_n(from, length, grid + to);
    from += length;
  });
}

void Mg::check(Checks& checks, std::uint64_t) {
  if (device_) device_->fetch(u_.back(), r_.back(), v_);
  checks.found.reference = "the official norm, a serial search for the charges, r from u point by point";
  for (const double official : row_.official) checks.close("the norm of the residual", norm_, official);
  Random46 random;
  Extremes extremes;
  const std::int64_t points = row_.size * row_.size * row_.size;
  for (std::int64_t point = 0; point < points; ++point) extremes.offer(point, random.next());
  const std::vector<Charge> charges = extremes.charges();
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < 2 * charges_of_sign; ++i) wrong += charges_[i] == charges[i] ? 0 : 1;
  checks.count("charges", 2 * charges_of_sign, wrong);
  check_residual(checks);
  if (!device_ || device_->was_poisoned()) return;
  checks.found.error = not_a_number;
  checks.found.detail = "the device does not hold what was written before the repetition";
}

// Planes of u from all ranks in turn, without halos; r = v - A u at this rank's points by the definition of A.
void Mg::check_residual(Checks& checks) {
  const Extent& own = levels_->boxes.back();
  const int n = static_cast<int>(row_.size);
  std::vector<Extent> boxes;
  for (int rank = 0; rank < ranks(); ++rank) boxes.push_back(Levels(n, rank, ranks()).boxes.back());
  const auto has = [](const Extent& box, int z) { return z >= box.low[2] && z < box.low[2] + box.size[2]; };
  const auto plane_of = [&](int z) {
    std::vector<double> mine, plane(std::size_t{1} * n * n);
    for (int j = 1; has(own, z) && j <= own.size[1]; ++j) {
      const double* row = u_.back().data() + own.at(1, j, z - own.low[2] + 1);
      mine.insert(mine.end(), row, row + own.size[0]);
    }
    const std::vector<double> all = team().all_gather(std::span<const double>(mine));
    const double* from = all.data();
    for (const Extent& box : boxes)
      for (int j = 0; has(box, z) && j < box.size[1]; ++j, from += box.size[0])
        std::copy_n(from, box.size[0], plane.begin() + (box.low[1] + j) * n + box.low[0]);
    return plane;
  };
  std::array<std::vector<double>, 3> planes{plane_of(n - 1), plane_of(0), {}};
  std::uint64_t wrong_v = 0, wrong_r = 0;
  double squares = 0;
  std::string detail;
  for (int z = 0; z < n; ++z, std::rotate(planes.begin(), planes.begin() + 1, planes.end())) {
    planes[2] = plane_of((z + 1) % n);
    for (int y = own.low[1]; has(own, z) && y < own.low[1] + own.size[1]; ++y) {
      double of_row = 0;  // one sum of 512^3 points would be off by 4e-11
      for (int x = own.low[0]; x < own.low[0] + own.size[0]; ++x) {
        double sums[4] = {};
        for (int dz = -1; dz <= 1; ++dz)
          for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx)
              sums[dx * dx + dy * dy + dz * dz] += planes[dz + 1][(y + dy + n) % n * n + (x + dx + n) % n];
        double v = 0;
        for (const Charge& charge : charges_)
          if (charge.point == (z * row_.size + y) * row_.size + x) v = charge.value;
        const std::size_t at = own.at(x - own.low[0] + 1, y - own.low[1] + 1, z - own.low[2] + 1);
        const double is = r_.back()[at], should_be = v + 8.0 / 3 * sums[0] - sums[2] / 6 - sums[3] / 12;
        wrong_v += v_[at] == v ? 0 : 1;
        if (!(std::abs(is - should_be) <= 1e-13) && wrong_r++ == 0)
          detail = fmt::format("at ({}, {}, {}) it is {:.14g}, should be {:.14g}", x, y, z, is, should_be);
        of_row += is * is;
      }
      squares += of_row;
    }
  }
  checks.count("v", own.count(), wrong_v);
  checks.count("r", own.count(), wrong_r, detail);
  double all = 0;
  for (const double one : gather_values(world(), squares)) all += one;
  checks.within("the norm again", norm_, std::sqrt(broadcast_value(world(), all) / std::pow(n, 3)), 1e-11);
}

void Mg::tear_down() {
  device_.reset();
  u_.clear();
  r_.clear();
  v_ = {};
  levels_.reset();
}

namespace {

const RegisteredBenchmark registered_mg("npb_mg", [] { return std::make_unique<Mg>(); });

}  // namespace

}  // namespace plumb::npb
