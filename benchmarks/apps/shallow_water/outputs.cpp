// What a simulation leaves beside its record: stations, snapshots, the mesh and its partition.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

#include "benchmarks/apps/shallow_water/shallow_water.hpp"
#include "record/beside.hpp"
#include "world/watchdog.hpp"

namespace plumb::shallow_water {

namespace {

constexpr double hour_seconds = 3600;
constexpr double off_tide_single = 1e-4, off_tide_double = 1e-10;  // levels at stations, of the tide's height
// Case annulus: what p >= 1 must reach on this many elements after this many periods. The error falls with the square
// of the triangles' sides at least, so fewer elements may be as many times farther off.
constexpr double off_amplitude = 0.02, off_degrees = 1, settled_periods = 10, settled_elements = 24576;

double height_of(const Tide& tide) {
  double height = 0;
  for (const Constituent& one : tide.constituents) height += std::abs(one.amplitude);
  return height;
}

}  // namespace

std::vector<Station> ShallowWater::make_stations(const Mesh& mesh, int times) const {
  if (!station_.get().empty()) return stations_at(mesh, times, station_);
  if (case_ != "annulus" && mesh_.get() != "annulus") return usual_stations(mesh, times);
  const Ring ring;
  std::vector<Point> wanted;
  for (int i = 0; i < 4; ++i) wanted.push_back(detail::on_ring(std::lerp(ring.inner, ring.outer, i / 3.0), i / 4.0));
  return stations_near(mesh, times, wanted);
}

// Steps at which a sample halts, and whether a snapshot is taken: the begin, each simulated hour, snapshots, the last
// step compared with the reference, the end.
std::map<std::uint64_t, bool> ShallowWater::halts() const {
  const std::uint64_t steps = setup_->steps, parts = static_cast<std::uint64_t>(snapshots_.get());
  std::map<std::uint64_t, bool> found{{0, parts > 0}, {compared_steps(), false}, {steps, false}};
  for (std::uint64_t hour = 1;; ++hour) {
    const double step = std::ceil(static_cast<double>(hour) * hour_seconds / setup_->job.time_step);
    if (step > static_cast<double>(steps)) break;
    found.emplace(static_cast<std::uint64_t>(step), false);
  }
  for (std::uint64_t i = 1; i <= parts; ++i) found[steps * i / parts] = true;
  return found;
}

Coefficients ShallowWater::start_of_own() const {
  const std::size_t components = setup_->job.components();
  Coefficients own;
  for (std::uint32_t i = 0; i < solver_->part().own; ++i) {
    const auto begin = start_.begin() + static_cast<std::ptrdiff_t>(solver_->part().index[i] * components);
    own.insert(own.end(), begin, begin + static_cast<std::ptrdiff_t>(components));
  }
  return own;
}

// The sample once more, with halts; what it ends with must be `own` again, bit for bit.
void ShallowWater::observe(Session& session, const std::vector<std::byte>& own) {
  const std::map<std::uint64_t, bool> all = halts();
  const std::uint64_t end = setup_->steps;
  const bool files = all_->all_reduce(std::int64_t{session.files != nullptr}, Fold::maximum) != 0;
  const bool walks = all.size() > 2;  // otherwise the state is that of the end
  seen_ = {};
  strayed_.clear();
  early_ = own;
  if (walks) solver_->reset(start_);
  std::uint64_t at = 0;
  for (const auto& [step, shoots] : all) {
    if (walks) solver_->advance(at, step, nullptr);
    Waiting::progress();
    at = step;
    look(step);
    if (walks && step == compared_steps()) early_ = solver_->bytes(step);
    if (walks && step == end && solver_->bytes(step) != own)
      strayed_ = "a sample with halts for the stations ends with other bits";
    if (files && shoots)
      write_snapshot(session, step, step == 0 ? start_of_own() : solver_->as_doubles(solver_->bytes(step)));
  }
  share(seen_);
  write_files(session);
  judge_stations();
}

// Each station by the rank that has its element.
void ShallowWater::look(std::uint64_t step) {
  const Setup& all = *setup_;
  const Part& part = solver_->part();
  const std::size_t components = all.job.components();
  std::vector<Seen> seen(all.stations.size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const Station& station = all.stations[i];
    if (all.owner_of(station.element) != home_->rank) continue;
    const auto index = static_cast<std::uint32_t>(home_->region.index_of(station.element));
    const auto local = static_cast<std::uint32_t>(std::ranges::find(part.index, index) - part.index.begin());
    const auto at_begin = start_.begin() + static_cast<std::ptrdiff_t>(index * components);
    const Coefficients element = step > 0 ? solver_->element(local, step)
                                          : Coefficients(at_begin, at_begin + static_cast<std::ptrdiff_t>(components));
    seen[i] = seen_at(all.job.order, station, element.data());
  }
  seen_.steps.push_back(step);
  seen_.seen.push_back(seen);
}

// Each rank has seen its own stations only, and 0 elsewhere.
void ShallowWater::share(Sightings& sightings) const {
  std::vector<double> flat;
  for (const auto& row : sightings.seen)
    for (const Seen& one : row) flat.insert(flat.end(), {one.level, one.u, one.v});
  all_->all_reduce(std::span(flat), Fold::sum);
  auto next = flat.begin();
  for (auto& row : sightings.seen)
    for (Seen& one : row) {
      one = {next[0], next[1], next[2]};
      next += 3;
    }
}

// Mean level and velocities of each element, by number, as float.
void ShallowWater::write_snapshot(Session& session, std::uint64_t step, const Coefficients& own) {
  const Setup& all = *setup_;
  const std::size_t components = all.job.components(), basis = basis_of(all.job.order);
  const Part& part = solver_->part();
  std::vector<std::uint32_t> order(part.own);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return part.index[i]; });
  std::vector<float> mine;
  for (const std::uint32_t i : order) {
    const double* of = &own[i * components];
    double depth = of[0];
    for (int k = 0; k < 3; ++k) depth += home_->region.mesh.depth(part.index[i], k) / 3;
    for (const double value : {of[0], of[basis] / depth, of[2 * basis] / depth})
      mine.push_back(static_cast<float>(value));
  }
  const auto by_rank = all_->gather(std::as_bytes(std::span(mine)), 0);
  if (session.files == nullptr) return;
  constexpr std::size_t bytes = fields * sizeof(float);
  std::vector<std::size_t> next(by_rank.size());
  std::string text;
  for (std::uint32_t number = 0; number < all.elements(); ++number) {
    const auto rank = static_cast<std::size_t>(all.owner_of(number));
    text.append(reinterpret_cast<const char*>(&by_rank[rank][next[rank]]), bytes);
    next[rank] += bytes;
  }
  if (step == 0)
    session.files->write("states.npy",
                         npy_head({static_cast<std::size_t>(snapshots_.get()) + 1, all.elements(), fields}));
  session.files->append("states.npy", text);
  facts_["snapshot_steps"].push_back(step);
}

void ShallowWater::write_files(Session& session) {
  const Setup& all = *setup_;
  Json stations = Json::array();
  for (const Station& one : all.stations)
    stations.push_back({{"x_m", one.at.x}, {"y_m", one.at.y}, {"element", one.element + 1}});
  facts_["stations"] = stations;
  if (session.files == nullptr) return;
  session.files->write("stations.csv", stations_csv(all.stations, seen_, reference_seen_, all.job.time_step));
  session.files->write("graph", facts_["graph"].get<std::string>());
  if (!write_mesh_ && snapshots_ == 0) return;
  session.files->write(
      "mesh.14", write_fort14(refined(all.coarse, all.times), fmt::format("shallow_water --mesh {}", mesh_.get())));
  std::string owners;
  for (std::uint32_t number = 0; number < all.elements(); ++number) owners += fmt::format("{}\n", all.owner_of(number));
  session.files->write("part", owners);
}

// Levels at stations must be the reference's, as far as it went; and those of a settled tide in a ring the analytic
// ones.
void ShallowWater::judge_stations() {
  const Job& job = setup_->job;
  if (const double height = height_of(job.physics.tide); height > 0) {
    const double off = off_levels(seen_, reference_seen_) / height;
    facts_["stations_off_tide"] = finite_or_null(off);
    const double limit = job.type == ScalarType::f32 ? off_tide_single : off_tide_double;
    if (!(off <= limit) && strayed_.empty())
      strayed_ = fmt::format("levels at stations are off by {:.3g} of the tide, above {}", off, limit);
  }
  const double period = 2 * std::numbers::pi / Ring().frequency;
  const double periods = static_cast<double>(setup_->steps) * job.time_step / period;
  if (case_ != "annulus" || periods < 1) return;
  double amplitude = 0, degrees = 0;
  for (std::size_t i = 0; i < setup_->stations.size(); ++i) {
    const Point p = setup_->stations[i].at;
    const std::complex<double> right = Ring().level(std::hypot(p.x, p.y), job.physics.gravity);
    const auto seen =
        tide_seen(seen_, i, Ring().frequency, job.time_step, (periods - std::min(2.0, std::floor(periods))) * period);
    amplitude = std::max(amplitude, std::abs(std::abs(seen / right) - 1));
    degrees = std::max(degrees, std::abs(std::arg(seen / right)) * 180 / std::numbers::pi);
  }
  facts_["tide_amplitude_off"] = finite_or_null(amplitude);
  facts_["tide_phase_off_degrees"] = finite_or_null(degrees);
  const double times = std::max(1.0, settled_elements / static_cast<double>(setup_->elements()));
  const bool must = job.order > 0 && periods >= settled_periods;
  const bool fits = amplitude <= times * off_amplitude && degrees <= times * off_degrees;
  if (must && !fits && strayed_.empty())
    strayed_ =
        fmt::format("the tide at stations is off by {:.3g} of its amplitude and {:.3g} degrees", amplitude, degrees);
}

}  // namespace plumb::shallow_water
