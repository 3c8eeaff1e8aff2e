#include "benchmarks/apps/shallow_water/shallow_water.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "benchmarks/apps/shallow_water/flops.hpp"
#include "benchmarks/apps/shallow_water/pipeline.hpp"
#include "core/embedded.hpp"
#include "core/seconds.hpp"
#include "core/units.hpp"
#include "world/collect.hpp"
#include "world/watchdog.hpp"

namespace plumb::shallow_water {

namespace {

constexpr double printed_flops = 378;  // an element and step, implied by the seed's 4.5 TFLOP/s (plumb model)
constexpr double still_level = 0.5;    // m, case rest
constexpr double square = 10000;       // m, side of the rectangle
constexpr double tolerance = 2;        // roundings a stage; README.md
constexpr double hour = 3600, mega = 1e6, micro = 1e-6;

std::string text_of(const std::string& option, const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  if (!in || !(text << in.rdbuf())) throw UsageError(fmt::format("{} {}: the file cannot be read", option, path));
  return text.str();
}

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) words.push_back(word);
  return words;
}

double extent_of(const Mesh& mesh) {
  double low = mesh.points.front().x, high = low;
  for (const Point& p : mesh.points) {
    low = std::min({low, p.x, p.y});
    high = std::max({high, p.x, p.y});
  }
  return high - low;
}

}  // namespace

std::optional<BoardKernels> ShallowWater::board_kernels(BoardTool tool) const {
  if (tool != BoardTool::vpp) return std::nullopt;
  return pipeline_kernels();
}

Preset ShallowWater::preset(const std::string& name) const {
  if (name == "smoke") return {{"steps", "20"}, {"time-limit", "0.5"}};
  if (name == "full") return {{"size", "9"}, {"reference-steps", "10"}, {"time-limit", "20"}};
  return {{"size", "4"}, {"reference-steps", "20"}, {"time-limit", "5"}};
}

// Times that each triangle of the base mesh is cut into four.
int ShallowWater::refinements() const {
  const bool is_bay = mesh_.get() == "bay" && case_ != "annulus" && case_ != "manufactured";
  return static_cast<int>(refine_.get()) + (is_bay ? static_cast<int>(size_.get()) / 2 : 0);
}

// Of these before the mesh is partitioned. Owners that are dealt or read are those of all elements.
int ShallowWater::coarse_refinements(std::size_t elements, int ranks) const {
  const std::string& name = partitioner_.get();
  const auto enough = static_cast<std::size_t>(coarse_elements_.get()) * static_cast<std::size_t>(ranks);
  int times = 0;
  while (times < refinements() &&
         (elements << (2 * times) < enough || (name != "default" && name != "metis" && name != "rcb")))
    ++times;
  return times;
}

Mesh ShallowWater::make_base() const {
  const std::string& name = mesh_.get();
  const auto across = static_cast<std::uint32_t>(across_.get());
  Mesh mesh;
  if (case_ == "annulus" || name == "annulus") {
    const Ring ring;
    mesh = annulus(3 * across, across, ring.inner, ring.outer, [&](Point p) { return ring.depth(p); });
  } else if (name == "rectangle" || case_ == "manufactured") {
    mesh = rectangle(across, across, square, square, [](Point p) { return Plane().depth(p); });
  } else if (name == "bay") {
    const int triangles = size_ % 2 == 1 ? 3392 : 1696;
    const std::string file = fmt::format("benchmarks/apps/shallow_water/bay-{}.14", triangles);
    mesh = read_fort14(embedded_text(file), file, false);
  } else {
    mesh = read_fort14(text_of("--mesh", name), name, degrees_);
  }
  if (mesh.elements() > most_elements >> (2 * refinements()))
    throw UsageError(fmt::format("--refine {} gives more than {} elements", refinements(), most_elements));
  if (case_ == "manufactured") make_outer_edges_exact(mesh);
  for (auto& three : mesh.neighbours)
    for (std::int32_t& place : three)
      if (place == sea && (case_ == "closed" || case_ == "rest")) place = land;
  return mesh;
}

Job ShallowWater::make_job(const Mesh& base) const {
  Job job;
  job.order = static_cast<int>(order_.get());
  job.type = parse_scalar_type(type_);
  job.overlaps = overlap_ == "on";
  job.max_elements = static_cast<std::uint32_t>(max_elements_.get());
  Physics& physics = job.physics;
  physics.coriolis = coriolis_;
  physics.friction = friction_ == "none" ? 0 : drag_.get();
  physics.friction_kind = friction_of(friction_);
  physics.minimum_depth = minimum_depth_;
  physics.tide = tide_.get().ends_with(".toml") ? read_tide(text_of("--tide", tide_), tide_, hour * ramp_)
                                                : tide_of(words_of(tide_), hour * ramp_);
  if (case_ == "annulus") {
    const Ring ring;
    physics.coriolis = 0;
    physics.friction = ring.friction;
    physics.friction_kind = Friction::linear;
    physics.tide = {{{ring.amplitude, ring.frequency, 0}}, 0};
  }
  if (case_ == "manufactured") job.solution = manufactured(physics, {}, square);
  const double more = case_ == "annulus" ? 0 : 1;
  // Refinement halves the sides of all triangles, and keeps their deepest corners.
  const double stable = std::ldexp(stable_step(base, physics, job.order, cfl_, more, more), -refinements());
  job.time_step = time_step_ > 0 ? time_step_.get() : stable;
  return job;
}

Owners ShallowWater::make_owners(const Mesh& mesh, int ranks, std::uint64_t seed) const {
  std::string name = partitioner_.get();
  if (name == "default") name = metis_is_here() ? "metis" : "rcb";
  if (name == "metis") return by_metis(mesh, ranks, neighbours_max_ > 0);
  if (name == "rcb") return bisected(mesh, ranks);
  if (name == "random") return scattered(mesh, ranks, seed);
  return read_owners(text_of("--partitioner", name), name, mesh.elements(), ranks);
}

const ShallowWater::Setup& ShallowWater::setup(int ranks, std::uint64_t seed) const {
  if (setup_ && setup_->ranks == ranks) return *setup_;
  Setup made;
  made.began = now_seconds();
  made.ranks = ranks;
  made.coarse = make_base();
  made.job = make_job(made.coarse);
  const int times = coarse_refinements(made.coarse.elements(), ranks);
  made.times = refinements() - times;
  made.coarse = refined(std::move(made.coarse), times);
  if (made.coarse.elements() < static_cast<std::size_t>(ranks))
    throw UsageError(fmt::format("{} ranks are more than the mesh's {} elements: --refine cuts each into four", ranks,
                                 made.coarse.elements()));
  made.owners = make_owners(made.coarse, ranks, seed);
  check_partition(made);
  made.stations = make_stations(made.coarse, made.times);
  made.steps = hours_ > 0 ? static_cast<std::uint64_t>(std::ceil(hour * hours_ / made.job.time_step))
                          : static_cast<std::uint64_t>(steps_.get());
  setup_ = std::make_unique<Setup>(std::move(made));
  home_.reset();
  return *setup_;
}

void ShallowWater::check_partition(const Setup& made) const {
  const auto shares = shares_of(made.owners, made.ranks);
  for (std::size_t rank = 0; rank < shares.size(); ++rank)
    if (shares[rank] == 0) throw UsageError(fmt::format("the partition leaves rank {} without elements", rank));
  for (int rank = 0; rank < made.ranks && neighbours_max_ > 0; ++rank)
    if (const auto near = part_of(made.coarse, made.owners, rank).neighbours.size();
        near > static_cast<std::size_t>(neighbours_max_.get()))
      throw UsageError(
          fmt::format("rank {} has {} neighbours, above --neighbours-max {}", rank, near, neighbours_max_.get()));
}

Marks ShallowWater::Setup::marks_of(int rank) const {
  Marks marks(owners.size());
  for (std::size_t e = 0; e < marks.size(); ++e) marks[e] = owners[e] == rank;
  return marks;
}

ShallowWater::Home ShallowWater::make_home(int rank) const {
  const Setup& all = *setup_;
  Home made{rank, refined(kept(all.coarse, with_edge_neighbours(all.coarse, all.marks_of(rank))), all.times), {}};
  Owners owners(made.region.numbers.size());
  for (std::size_t e = 0; e < owners.size(); ++e) owners[e] = all.owner_of(made.region.numbers[e]);
  made.part = part_of(made.region.mesh, owners, rank);
  return made;
}

const ShallowWater::Home& ShallowWater::home(int rank) const {
  if (!home_ || home_->rank != rank) home_ = std::make_unique<Home>(make_home(rank));
  return *home_;
}

void ShallowWater::check(const Plan& plan) const {
  const bool own_mesh = case_ == "annulus" || case_ == "manufactured";
  if (own_mesh && mesh_.given() && mesh_.get() != (case_ == "annulus" ? "annulus" : "rectangle"))
    throw UsageError(fmt::format("--case {} has a mesh of its own: omit --mesh", case_.get()));
  const Job& job = setup(plan.ranks, plan.seed).job;
  if (variant_ != "single_work_item") return;
  const std::vector<Part> parts = all_parts();
  for (std::size_t rank = 0; rank < parts.size(); ++rank)
    if (const std::string problem = too_large(parts[rank], rank, job); !problem.empty()) throw UsageError(problem);
}

std::vector<Part> ShallowWater::all_parts() const {
  std::vector<Part> parts;
  for (int rank = 0; rank < setup_->ranks; ++rank) parts.push_back(make_home(rank).part);
  return parts;
}

std::vector<Group> ShallowWater::groups(const Plan& plan) const {
  const Setup& all = setup(plan.ranks, plan.seed);
  const Job& job = all.job;
  const Part& part = home(plan.rank).part;
  const auto stages = static_cast<double>(stages_of(job.order).size());
  const std::size_t message = job.components() * size_of(job.type), elements = all.elements();
  Case one;
  one.key = fmt::format("{}/{}/p{}/{}", case_.get(), elements, job.order, type_.get());
  one.labels = {
      {"case", case_.get()}, {"elements", elements}, {"order", job.order}, {"type", type_.get()}, {"steps", all.steps}};
  one.work.flops = flops_of_step(job.order, job.physics) * part.own;
  one.work.updates = static_cast<std::uint64_t>(stages) * part.own;
  one.work.bytes_sent = static_cast<std::uint64_t>(stages) * part.sent() * message;
  one.work.messages = static_cast<std::uint64_t>(stages) * part.neighbours.size();
  one.items_to_check = part.own;
  one.fixed_count = all.steps;
  one.phases = {"wait"};
  Group group{"shallow_water", {one}};
  Job largest = job;
  largest.is_together = layout_ != "apart";
  const std::size_t of_part = device_bytes_of(largest, part.own, part.halo(), part.sent());
  // All that can affect own elements in a sample.
  const auto reached =
      static_cast<std::size_t>(std::ranges::count(all.around(plan.rank, all.steps * stages_of(job.order).size()), true))
      << (2 * all.times);
  const std::size_t of_whole = device_bytes_of(largest, reached, 0, 0);
  group.device_bytes = of_part + (plan.ranks > 1 ? of_whole : 0);
  group.largest_buffer_bytes = group.device_bytes / 2;
  group.host_bytes = (home_->region.numbers.size() + reached) * (400 + 5 * job.components() * sizeof(double));
  group.exchange_bytes = (part.sent() + part.halo()) * message;
  return {group};
}

Solution ShallowWater::exact() const {
  if (case_ == "manufactured") return setup_->job.solution;
  if (case_ == "annulus") return Ring().solution(setup_->job.physics.gravity);
  if (case_ == "rest") return {[](Point, double) { return Fields{still_level, 0, 0}; }, nullptr};
  return {};
}

void ShallowWater::prepare(Session& session, const Case&) {
  const Setup& all = setup(session.world.size(), session.seed);
  hpcc::require_type(session.device.info(), all.job.type);
  const hpcc::Variant variant = variant_.on(session.device.info());
  if (variant == hpcc::Variant::library) throw Unsupported("no library computes shallow water");
  setup_->job.in_pipeline = variant == hpcc::Variant::single_work_item;
  if (all.job.in_pipeline) check_pipeline(session, all.job, all_parts());
  setup_->job.border_apart = session.device.info().type == "gpu";  // a CPU's cores are the same for both queues
  setup_->job.is_persistent = schedule_ == "device" && !all.job.in_pipeline;
  choose_layout(session.device.info());
  std::vector<int> everyone(static_cast<std::size_t>(session.world.size()));
  for (std::size_t i = 0; i < everyone.size(); ++i) everyone[i] = static_cast<int>(i);
  all_ = session.world.team(everyone);
  const Home& mine = home(session.world.rank());
  start_ = start_on(mine.region.mesh);
  expected_.clear();
  learnt_count_ = 0;
  off_ = 0;
  facts_ = partition_facts(session.world);
  facts_["variant"] = hpcc::to_string(variant);
  const double before = now_seconds();
  run_reference();
  const double referred = now_seconds() - before;
  solver_ = make_solver(session, mine.region.mesh, all.job, mine.part);
  facts_["streamed"] = solver_->is_streamed();
  if (!all.job.in_pipeline) facts_["schedule"] = schedule_.get();
  facts_["border_apart"] = solver_->has_border_apart();
  if (!all.job.in_pipeline) facts_["layout"] = all.job.is_together ? "together" : "apart";
  facts_["ready_s"] = now_seconds() - all.began - referred;
}

// A neighbour is read by few wide loads. Native's kernels have no other layout.
void ShallowWater::choose_layout(const DeviceInfo& device) {
  const bool is_native = device.runtime == "native";
  if (layout_ == "together" && setup_->job.in_pipeline)
    throw Unsupported("--layout together is not of kernels in a pipeline: omit it");
  if (layout_ == "apart" && is_native) throw Unsupported("--layout apart is not of native's kernels: omit it");
  setup_->job.is_together = !setup_->job.in_pipeline && layout_ != "apart";
}

// Coefficients of a mesh's elements at time 0.
Coefficients ShallowWater::start_on(const Mesh& mesh) const {
  const Job& job = setup_->job;
  Coefficients start(mesh.elements() * job.components(), 0.0);
  const Solution known = exact();
  const double extent = extent_of(setup_->coarse);
  const bool still = case_ == "tide";
  for (std::size_t e = 0; e < mesh.elements() && !still; ++e)
    project_on(
        mesh, e, job.order, [&](Point p) { return known.state ? known.state(p, 0) : waves_at(p, extent); },
        &start[e * job.components()]);
  if (job.type == ScalarType::f32)
    for (double& one : start) one = static_cast<float>(one);
  return start;
}

std::uint64_t ShallowWater::compared_steps() const {
  return std::min(setup_->steps, static_cast<std::uint64_t>(reference_steps_.get()));
}

// An unstable simulation is an error, not a wrong answer: the reference tells all ranks. A stage reaches one element
// further, so each rank computes what can affect its own.
void ShallowWater::run_reference() {
  const Setup& all = *setup_;
  const Job& job = all.job;
  const int rank = home_->rank;
  const Region region = refined(kept(all.coarse, all.around(rank, stages(compared_steps()))), all.times);
  Marks own(region.numbers.size());
  for (std::size_t e = 0; e < own.size(); ++e) own[e] = all.owner_of(region.numbers[e]) == rank;
  Coefficients state = start_on(region.mesh);
  Reference reference(region.mesh, job.physics, job.order, job.solution, own);
  reference_seen_ = {};
  const auto look_at = [&](std::uint64_t step) {
    std::vector<Seen> seen(all.stations.size());
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (const Station& one = all.stations[i]; all.owner_of(one.element) == rank)
        seen[i] = seen_at(job.order, one, &state[region.index_of(one.element) * job.components()]);
    reference_seen_.steps.push_back(step);
    reference_seen_.seen.push_back(seen);
  };
  look_at(0);
  Located<std::int64_t> dry{INT64_MAX, INT64_MAX};
  const Waiting waiting("the reference's steps");
  for (std::uint64_t step = 0; step < compared_steps() && dry.value == INT64_MAX; ++step) {
    const auto [height, element] = reference.step(state, static_cast<double>(step) * job.time_step, job.time_step);
    Waiting::progress();
    if (!(height >= minimum_depth_)) dry = {static_cast<std::int64_t>(step) + 1, region.numbers[element]};
    look_at(step + 1);
  }
  refuse_dry(dry);
  share(reference_seen_);
  reference_.clear();
  for (std::uint32_t i = 0; i < home_->part.own; ++i) {
    const double* of = &state[region.index_of(home_->region.numbers[home_->part.index[i]]) * job.components()];
    reference_.insert(reference_.end(), of, of + job.components());
  }
}

// Throws on all ranks if one of them has an element that is too shallow, the first of all (step, number).
void ShallowWater::refuse_dry(Located<std::int64_t> dry) const {
  dry = all_->all_reduce(dry, Fold::minimum);
  if (dry.value == INT64_MAX) return;
  throw Error(
      fmt::format("the simulation is unstable or falls dry: H of element {} fell below --minimum-depth {} m in step "
                  "{}; a smaller --cfl or --time-step may help",
                  dry.place + 1, minimum_depth_.get(), dry.value));
}

Json ShallowWater::partition_facts(World& world) const {
  const Setup& all = *setup_;
  const Part& part = home_->part;
  Json mine = {{"elements", part.own},
               {"core", part.core},
               {"sent", part.sent()},
               {"received", part.halo()},
               {"external_edges", part.external()},
               {"neighbours", part.neighbours.size()}};
  Json to = Json::array();
  for (const Neighbour& near : part.neighbours) to.push_back({near.rank, near.sends.size()});
  std::size_t most = 0;
  Json parts = Json::array();
  std::vector<Shared> shared;
  for (const std::string& text : all_texts(world, Json{mine, to}.dump())) {
    const Json one = Json::parse(text);
    parts.push_back(one[0]);
    shared.push_back({one[0]["elements"].get<std::uint32_t>()});
    most = std::max<std::size_t>(most, shared.back().elements);
    for (const Json& pair : one[1]) shared.back().sent[pair[0].get<int>()] = pair[1].get<std::uint32_t>();
  }
  return {{"partitioner", partitioner_.get() == "default" ? (metis_is_here() ? "metis" : "rcb") : partitioner_.get()},
          {"partitioned_elements", all.coarse.elements()},
          {"time_step_s", all.job.time_step},
          {"stages", stages_of(all.job.order).size()},
          {"flops_per_element_and_step", flops_of_step(all.job.order, all.job.physics)},
          {"overlap", all.job.overlaps},
          {"graph", graph_of(shared)},
          {"partitions", parts},
          {"imbalance", static_cast<double>(most) * all.ranks / static_cast<double>(all.elements())}};
}

// Largest difference of own elements' coefficients, in roundings of the field's largest value.
double ShallowWater::off_reference(const Coefficients& own, const Coefficients& reference) const {
  const Job& job = setup_->job;
  const std::size_t components = job.components(), basis = basis_of(job.order);
  std::array<double, 3> largest{1e-3, 0, 0};  // level, flow, depth
  for (std::uint32_t i = 0; i < solver_->part().own; ++i) {
    const double* of = &reference[i * components];
    largest[0] = std::max(largest[0], std::abs(of[0]));
    largest[1] = std::max({largest[1], std::abs(of[basis]), std::abs(of[2 * basis])});
    for (int k = 0; k < 3; ++k)
      largest[2] = std::max(largest[2], home_->region.mesh.depth(solver_->part().index[i], k));
  }
  all_->all_reduce(std::span<double>(largest), Fold::maximum);
  const auto [level, flow, deepest] = largest;
  const double of_flow = flow + std::sqrt(job.physics.gravity * (deepest + level)) * level;
  const double unit = job.type == ScalarType::f32 ? 0x1p-23 : 0x1p-52;
  double off = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const double difference = std::abs(own[i] - reference[i]) / (unit * (i % components < basis ? level : of_flow));
    if (!(difference <= off)) off = difference;
  }
  return off;
}

// The volume's change, in roundings of the largest level everywhere.
double ShallowWater::off_volume(Session&, const Coefficients& own) const {
  const std::size_t components = setup_->job.components();
  std::vector<double> sums(2, 0.0);
  double level = 0;
  for (std::uint32_t i = 0; i < solver_->part().own; ++i) {
    const std::uint32_t e = solver_->part().index[i];
    const double area = home_->region.mesh.area(e), before = start_[e * components];
    sums[0] += area * (own[i * components] - before);
    sums[1] += area;
    level = std::max({level, std::abs(before), std::abs(own[i * components])});
  }
  all_->all_reduce(std::span(sums), Fold::sum);
  level = all_->all_reduce(level, Fold::maximum);
  const double unit = setup_->job.type == ScalarType::f32 ? 0x1p-23 : 0x1p-52;
  return std::abs(sums[0]) / (sums[1] * level * unit);
}

// Root of the mean square of all elements' mean levels, over the area, in m.
double ShallowWater::level_rms(const Coefficients& own) const {
  const std::size_t components = setup_->job.components();
  std::vector<double> sums(2, 0.0);
  for (std::uint32_t i = 0; i < solver_->part().own; ++i) {
    const double area = home_->region.mesh.area(solver_->part().index[i]), level = own[i * components];
    sums[0] += area * level * level;
    sums[1] += area;
  }
  all_->all_reduce(std::span(sums), Fold::sum);
  return std::sqrt(sums[0] / sums[1]);
}

// The largest difference of an element's mean level from the exact solution's, of the latter's largest.
double ShallowWater::off_exact(const Coefficients& own, double t) const {
  const Solution known = exact();
  const std::size_t components = setup_->job.components();
  Coefficients one(components);
  std::vector<double> largest(2, 0.0);
  for (std::uint32_t i = 0; i < solver_->part().own; ++i) {
    project_on(
        home_->region.mesh, solver_->part().index[i], setup_->job.order, [&](Point p) { return known.state(p, t); },
        one.data());
    largest[0] = std::max(largest[0], std::abs(own[i * components] - one[0]));
    largest[1] = std::max(largest[1], std::abs(one[0]));
  }
  all_->all_reduce(std::span(largest), Fold::maximum);
  return largest[0] / largest[1];
}

// Own elements' bytes after a sample by the same kernels on all elements that can affect them, in one part. Empty where
// the form has no room for these.
std::vector<std::byte> ShallowWater::unpartitioned(Session& session, std::uint64_t count) {
  const Setup& all = *setup_;
  const Region region = refined(kept(all.coarse, all.around(home_->rank, stages(count))), all.times);
  const std::size_t size = all.job.components() * size_of(all.job.type), elements = region.numbers.size();
  Job job = all.job;
  job.max_elements = std::max(job.max_elements, static_cast<std::uint32_t>(elements));
  if (job.in_pipeline && local_bytes_of(job) > session.device.info().local_bytes) return {};
  Solver solver(session, nullptr, region.mesh, job, part_of(region.mesh, Owners(elements), 0));
  solver.reset(start_on(region.mesh));
  solver.advance(0, count, nullptr);
  const std::vector<std::byte> bytes = solver.bytes(count);
  std::vector<std::byte> own;
  for (std::uint32_t i = 0; i < solver_->part().own; ++i) {
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(region.index_of(number_of(i)) * size);
    own.insert(own.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
  }
  return own;
}

// Seconds of a sample of own elements alone, with land instead of other ranks' elements: the best of some, of the
// slowest rank. What it computes is no result.
double ShallowWater::without_exchange_s(Session& session, std::uint64_t count) {
  constexpr int probes = 3;
  Marks own(home_->region.numbers.size());
  for (std::uint32_t i = 0; i < solver_->part().own; ++i) own[solver_->part().index[i]] = true;
  const Region region = kept(home_->region.mesh, own);
  const Coefficients start = start_on(region.mesh);
  Solver solver(session, nullptr, region.mesh, setup_->job, part_of(region.mesh, Owners(own.size()), 0));
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < probes; ++i) {
    solver.reset(start);
    all_->barrier();
    const double begin = now_seconds();
    solver.advance(0, count, nullptr);
    best = std::min(best, all_->all_reduce(now_seconds() - begin, Fold::maximum));
  }
  return best;
}

// What a sample must leave: without a partition, bit for bit, and by the reference, for as many steps as asked for.
void ShallowWater::learn(Session& session, std::uint64_t count, const std::vector<std::byte>& own) {
  const auto names = all_texts(session.world, session.device.info().runtime + session.device.info().name);
  const bool alike = std::ranges::all_of(names, [&](const std::string& one) { return one == names.front(); });
  expected_.clear();
  if (setup_->ranks > 1 && alike) expected_ = unpartitioned(session, count);
  facts_["compared_with_unpartitioned"] = all_->all_reduce(std::int64_t{expected_.empty() ? 0 : 1}, Fold::minimum) != 0;
  if (expected_.empty()) expected_ = own;
  observe(session, own);
  off_ = off_reference(solver_->as_doubles(early_), reference_) / static_cast<double>(stages(compared_steps()));
  if (solver_->is_streamed()) facts_["without_exchange_s"] = without_exchange_s(session, count);
  learnt_count_ = count;
  facts_["reference_steps"] = compared_steps();
}

Validation ShallowWater::validate(Session& session, const Case&, std::uint64_t, std::uint64_t count) {
  Located<std::int64_t> dry = solver_->first_dry();
  if (dry.value != INT64_MAX) dry.place = home_->region.numbers[static_cast<std::size_t>(dry.place)];
  refuse_dry(dry);
  const std::vector<std::byte> own = solver_->bytes(count);
  if (learnt_count_ != count) learn(session, count, own);
  const Coefficients values = solver_->as_doubles(own);
  Validation validation;
  validation.tolerance = tolerance;
  validation.error = off_;
  validation.reference =
      "the mesh by edges in double on the host, in roundings a stage; and the same kernels without a partition, bit "
      "for "
      "bit";
  const std::size_t size = own.size() / solver_->part().own;
  for (std::uint32_t i = 0; i < solver_->part().own; ++i) {
    ++validation.items_checked;
    if (std::equal(own.begin() + static_cast<std::ptrdiff_t>(i * size),
                   own.begin() + static_cast<std::ptrdiff_t>((i + 1) * size),
                   expected_.begin() + static_cast<std::ptrdiff_t>(i * size)))
      continue;
    if (validation.wrong_items++ == 0)
      validation.detail = fmt::format(
          "the bits of element {} differ from those without a partition or of another repetition", number_of(i) + 1);
  }
  const auto roundings = static_cast<double>(stages(count));
  if (case_ == "closed") {
    const double off = off_volume(session, values) / roundings;
    facts_["volume_roundings_per_stage"] = finite_or_null(off);
    if (!(off <= validation.error)) validation.error = off;
  }
  if (case_ == "rest") {
    const double off = off_reference(values, start_of_own()) / roundings;
    facts_["rest_roundings_per_stage"] = finite_or_null(off);
    if (!(off <= validation.error)) validation.error = off;
  }
  if (exact().state)
    facts_["level_off_exact"] = finite_or_null(off_exact(values, static_cast<double>(count) * setup_->job.time_step));
  facts_["reference_roundings_per_stage"] = finite_or_null(off_);
  facts_["level_rms_m"] = finite_or_null(level_rms(values));
  const std::string problem =
      solver_->was_poisoned() ? strayed_ : "the device does not hold what was written before the repetition";
  if (!problem.empty()) {
    validation.error = std::numeric_limits<double>::quiet_NaN();
    if (validation.detail.empty()) validation.detail = problem;
  }
  if (!(validation.error <= tolerance) && validation.detail.empty())
    validation.detail = fmt::format("elements are off by {:.3g} roundings a stage", validation.error);
  return validation;
}

void ShallowWater::release() {
  solver_.reset();
  reference_.clear();
  all_.reset();
}

std::vector<Metric> ShallowWater::metrics(const CaseResult& result, int) const {
  const Job& job = setup_->job;
  const auto elements = static_cast<double>(setup_->elements());
  const auto stages = static_cast<double>(stages_of(job.order).size());
  const double best = result.best_seconds(), median = result.median_seconds();
  const double flops = flops_of_step(job.order, job.physics) * elements;
  double sent = 0;
  for (const Work& work : result.work_by_rank) sent += static_cast<double>(work.bytes_sent);
  return {
      {"time_step", best / micro, "us", "of one step; best repetition, slowest rank"},
      {"time_step_median", median / micro, "us", "the same, median repetition", "", false},
      {"steps", 1 / best, "1/s", "steps over the time; best repetition, slowest rank", "", false},
      {"updates", elements * stages / best / mega, "M/s", "elements times stages over the time of a step; all ranks"},
      {"flops", flops / best / giga, "GFLOP/s",
       fmt::format("{} operations an element and step, without redundant work, over the time",
                   flops_of_step(job.order, job.physics))},
      {"flops_printed", printed_flops * elements / best / giga, "GFLOP/s",
       "the same of 378 operations, which the source's figures imply", "", false},
      {"bytes", sent, "B", "sent in a step by all ranks", "", false},
      {"simulated", job.time_step / best, "", "simulated over wall time"},
      communication(result)};
}

// Kernels that wait by themselves are compared with a sample that needs no messages; otherwise the host's waits count.
Metric ShallowWater::communication(const CaseResult& result) const {
  const double sample = result.summary.median;
  if (facts_.value("streamed", false)) {
    const Json found = facts_.value("without_exchange_s", Json());
    const bool known = found.is_number();
    return {
        "communication",
        known ? 100 * std::max(0.0, 1 - found.get<double>() / sample) : std::numeric_limits<double>::quiet_NaN(), "%",
        "1 - t(no exchange)/t: what a sample takes longer than one of each rank's elements alone; median repetition",
        known ? "" : "the sample without exchange is part of the validation"};
  }
  double waits = 0;
  if (const auto found = result.phases_by_rank.find("wait"); found != result.phases_by_rank.end())
    for (const double seconds : found->second)
      if (seconds > waits) waits = seconds;
  return {"communication", 100 * waits / sample, "%",
          "waiting for the exchange, on the rank where it is longest, over the sample; median repetition. It includes "
          "a device's work that the host waits for"};
}

namespace {

const RegisteredBenchmark registered_shallow_water("shallow_water", [] { return std::make_unique<ShallowWater>(); });

}  // namespace

}  // namespace plumb::shallow_water
