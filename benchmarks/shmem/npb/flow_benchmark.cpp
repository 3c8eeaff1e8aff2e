#include "benchmarks/shmem/npb/flow_benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/data.hpp"
#include "world/watchdog.hpp"

namespace plumb::npb {

namespace {

constexpr double seconds_of_a_plain_point = 1e-4;  // at most, of the serial solver and its norms

std::uint64_t cube(const ClassRow& row) {
  return static_cast<std::uint64_t>(row.size * row.size * row.size);
}

// Whether two points differ by more than `tolerance` of the largest values.
bool differs(const Point& a, const Point& b, const Point& largest, double tolerance) {
  for (std::size_t m = 0; m < variables; ++m)
    if (!(std::abs(a[m] - b[m]) <= tolerance * largest[m])) return true;
  return false;
}

Point largest_of(const WholeField& field) {
  Point largest{};
  for (const Point& point : field.points())
    for (std::size_t m = 0; m < variables; ++m) largest[m] = std::max(largest[m], std::abs(point[m]));
  return largest;
}

std::uint64_t differences(const WholeField& a, const WholeField& b, const Point& largest, double tolerance) {
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < a.points().size(); ++i)
    wrong += differs(a.points()[i], b.points()[i], largest, tolerance) ? 1 : 0;
  return wrong;
}

// The field that the seeded step starts from: the start, each value changed by up to 1 in 1000.
Point seeded(int n, const Place& at) {
  Point u = plain_start(n, at);
  std::uint64_t x = (static_cast<std::uint64_t>(at[2]) * n + at[1]) * n + at[0] + 1;
  for (double& value : u) {
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u + 0x9e3779b97f4a7c15u;
    value *= 1 + 1e-3 * (static_cast<double>(x >> 11) * 0x1p-52 - 1);
  }
  return u;
}

}  // namespace

const FlowKind& flow_kind(Method method) {
  static const std::vector<std::string> lines{"exch", "rhs", "xsolve", "ysolve", "zsolve", "add"};
  static const std::vector<std::string> sweeps{"exch", "rhs", "blts", "buts", "add"};
  static const std::string no_kernels =
      "BT, SP and LU have no kernels: their lines and sweeps depend row by row; npb_is and npb_mg have kernels";
  static const FlowKind kinds[]{{Method::bt,
                                 {"npb_bt", "NPB BT: flow, block-tridiagonal lines over tiles of all ranks", lines,
                                  "floating point", true, no_kernels},
                                 Cut::diagonal,
                                 {0, 28023.7, -17655.7, 3478.8},
                                 35,
                                 make_bt},
                                {Method::sp,
                                 {"npb_sp", "NPB SP: flow, scalar pentadiagonal lines over tiles of all ranks", lines,
                                  "floating point", true, no_kernels},
                                 Cut::diagonal,
                                 {-19272.4, 11484.5, -4683.91, 881.174},
                                 32,
                                 make_sp},
                                {Method::lu,
                                 {"npb_lu", "NPB LU: flow, pipelined sweeps of small messages (SSOR)", sweeps,
                                  "floating point", true, no_kernels},
                                 Cut::pencils,
                                 {-144010, 27770.9, -10923.3, 1984.77},
                                 10,
                                 make_lu}};
  return kinds[static_cast<std::size_t>(method)];
}

// Class A takes minutes for each form on two cores.
Preset FlowBenchmark::preset(const std::string& name) const {
  return name == "standard" ? Preset{{"class", "W"}} : Npb::preset(name);
}

double FlowBenchmark::operations(const ClassRow& row) const {
  const auto n = static_cast<double>(row.size);
  const auto& c = kind_.operations;
  return static_cast<double>(row.iterations) * (c[0] + n * (c[1] + n * (c[2] + n * c[3])));
}

void FlowBenchmark::change(ClassRow& row) const {
  if (grid_ > 0) row.size = grid_;
  if (dt_ > 0) row.dt = dt_;
}

void FlowBenchmark::check_problem(const ClassRow& row, int ranks) const {
  if (row.size < 6) throw UsageError(fmt::format("--grid must be at least 6, not {}", row.size));
  const auto n = static_cast<int>(row.size);
  if (Tiling(kind_.cut, n, ranks).fits()) return;
  throw UsageError(fmt::format(
      "{} ranks cut a grid of {} points an axis into tiles of fewer than 2; {} ranks fit, and no more than {}", ranks,
      n, most_ranks(kind_.cut, n, ranks), most_ranks(kind_.cut, n, n * n / 4)));
}

// Its own points of the start; on rank 0 all points of a seeded step and of the final field, and the official values.
std::uint64_t FlowBenchmark::items(const ClassRow& row, const Plan& plan) const {
  const Tiling tiling(kind_.cut, static_cast<int>(row.size), plan.ranks);
  std::uint64_t own = 0;
  for (const Place& place : tiling.tiles_of(plan.rank)) own += tiling.box(place).points();
  return own + (plan.rank == 0 ? 2 * cube(row) + row.official.size() : 0);
}

Links FlowBenchmark::links(const ClassRow& row, int rank, int ranks) const {
  const auto flow = kind_.make(Scheme(static_cast<int>(row.size), row.dt), ranks, rank);
  return {flow->outgoing(), flow->incoming()};
}

std::uint64_t FlowBenchmark::host_bytes(const ClassRow& row, const Plan& plan) const {
  const Tiling tiling(kind_.cut, static_cast<int>(row.size), plan.ranks);
  std::uint64_t points = 0;
  for (const Place& place : tiling.tiles_of(plan.rank)) {
    const Box box = tiling.box(place);
    points += std::uint64_t{1} * (box.count[0] + 4) * (box.count[1] + 4) * (box.count[2] + 4);
  }
  // Three fields, rows kept, ingredients; on rank 0 four fields of the cube.
  return points * sizeof(double) * (15 + (plan.ranks > 1 ? 36 : 0)) +
         (plan.rank == 0 ? 4 * cube(row) * sizeof(Point) : 0);
}

// Each plane between two slabs is crossed by all inner lines, and by two planes of faces both ways. A rank of BT and SP
// sends both ways in each direction: its tiles' faces together, and a carry from each slab but the last. LU's pencils
// send their neighbours a face and n - 2 edges.
Volume FlowBenchmark::volume(const ClassRow& row, int ranks) const {
  const auto n = static_cast<double>(row.size);
  const auto [x, y, z] = Tiling(kind_.cut, static_cast<int>(row.size), ranks).tiles();
  Volume all;
  all.bytes =
      sizeof(double) * (x + y + z - 3) * (kind_.carried * (n - 2) * (n - 2) + 2 * Tile::margin * variables * n * n);
  if (kind_.cut == Cut::pencils) all.messages = 2 * (n - 1) * ((x - 1) * y + (y - 1) * x);
  for (const int slabs : {x, y, z})
    if (kind_.cut == Cut::diagonal && slabs > 1) all.messages += 2. * ranks * slabs;
  return all;
}

void FlowBenchmark::set_up(Session&) {
  const ClassRow row = problem();
  flow_ = kind_.make(scheme(row), ranks(), rank());
  flow_->begin();
  const Waiting waiting("rank 0's serial step", 60 + static_cast<double>(cube(row)) * seconds_of_a_plain_point);
  wrong_start_ = wrong_start();
  wrong_step_ = wrong_step();
  world().barrier();
}

void FlowBenchmark::run_part(std::size_t phase, const std::function<void()>& work) {
  const Part now = part(phase);
  work();
}

void FlowBenchmark::iterate(std::uint64_t iteration) {
  if (iteration < 2) flow_->open(&messages(), iteration == 0 ? 1 : static_cast<std::uint64_t>(problem().iterations));
  flow_->step([this](std::size_t phase, const std::function<void()>& work) { run_part(phase, work); });
}

std::optional<WholeField> FlowBenchmark::gathered() {
  std::vector<Point> own;
  for (const Tile& tile : flow_->tiles()) tile.box().for_each([&](const Place& at) { own.push_back(tile.state(at)); });
  const auto parts = world().gather(std::as_bytes(std::span<const Point>(own)), 0);
  if (rank() > 0) return std::nullopt;
  WholeField field(flow_->scheme().n);
  for (int from = 0; from < ranks(); ++from) {
    const std::byte* next = parts[from].data();
    for (const Place& place : flow_->tiling().tiles_of(from))
      flow_->tiling().box(place).for_each([&](const Place& at) {
        std::memcpy(&field.at(at), next, sizeof(Point));
        next += sizeof(Point);
      });
  }
  return field;
}

std::uint64_t FlowBenchmark::wrong_start() {
  flow_->restart();
  std::uint64_t wrong = 0;
  for (const Tile& tile : flow_->tiles())
    tile.box().for_each([&](const Place& at) {
      const Point should_be = plain_start(flow_->scheme().n, at);
      Point size;
      for (std::size_t m = 0; m < variables; ++m) size[m] = 1 + std::abs(should_be[m]);
      wrong += differs(tile.state(at), should_be, size, 1e-12) ? 1 : 0;
    });
  return wrong;
}

// A step from the seeded field, beside the serial solver's.
std::uint64_t FlowBenchmark::wrong_step() {
  const ClassRow row = problem();
  const auto n = static_cast<int>(row.size);
  for (Tile& tile : flow_->tiles()) tile.box().for_each([&](const Place& at) { tile.set_state(at, seeded(n, at)); });
  flow_->open(&messages(), 1);
  flow_->step([this](std::size_t phase, const std::function<void()>& work) { run_part(phase, work); });
  messages().complete();
  std::optional<WholeField> is = gathered();
  if (!is) return 0;
  const Box cube = Box::cube(n);
  if (!seeded_) {
    seeded_.emplace(n);
    cube.for_each([&](const Place& at) { seeded_->at(at) = seeded(n, at); });
    plain_step(kind_.method, row.dt, *seeded_);
  }
  // Relative to the step's largest changes.
  Point largest{};
  cube.for_each([&](const Place& at) {
    const Point before = seeded(n, at);
    for (std::size_t m = 0; m < variables; ++m)
      largest[m] = std::max(largest[m], std::abs(seeded_->at(at)[m] - before[m]));
  });
  return differences(*is, *seeded_, largest, 1e-9);
}

void FlowBenchmark::check(Checks& checks, std::uint64_t) {
  const ClassRow row = problem();
  const Plan plan{rank(), ranks()};
  const std::uint64_t on_zero = rank() == 0 ? 2 * cube(row) + row.official.size() : 0;
  checks.found.reference = "official norms; residual, start and a seeded step by a serial solver of its own";
  checks.count("points of the start", items(row, plan) - on_zero, wrong_start_);
  const std::optional<WholeField> field = gathered();
  if (!field) return;
  checks.count("points of a seeded step", cube(row), wrong_step_, "beside the serial solver's");
  if (!final_) final_ = field;
  checks.count("final points", cube(row), differences(*field, *final_, largest_of(*final_), 1e-11),
               "beside the first repetition's");
  const Norms norms = norms_of(*field);
  for (std::size_t i = 0; i < row.official.size(); ++i) {
    const double is = i < 5 ? norms.residual[i] : i < 10 ? norms.error[i - 5] : norms.integral;
    const char* what = i < 5    ? "the residual's norm of variable"
                       : i < 10 ? "the error's norm of variable"
                                : "the surface integral";
    checks.close(i < 10 ? fmt::format("{} {}", what, i % 5 + 1) : what, is, row.official[i]);
  }
}

namespace {

const RegisteredBenchmark registered_flows[] = {
    {"npb_bt", [] { return std::make_unique<FlowBenchmark>(Method::bt); }},
    {"npb_sp", [] { return std::make_unique<FlowBenchmark>(Method::sp); }},
    {"npb_lu", [] { return std::make_unique<FlowBenchmark>(Method::lu); }},
};

}  // namespace

}  // namespace plumb::npb
