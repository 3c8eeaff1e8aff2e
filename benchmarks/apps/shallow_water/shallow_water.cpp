#include "benchmarks/apps/shallow_water/shallow_water.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "benchmarks/apps/shallow_water/flops.hpp"
#include "benchmarks/apps/shallow_water/pipeline.hpp"
#include "core/embedded.hpp"
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

Preset ShallowWater::preset(const std::string& name) const {
  if (name == "smoke") return {{"steps", "20"}, {"time-limit", "0.5"}};
  if (name == "full") return {{"size", "9"}, {"reference-steps", "10"}, {"time-limit", "20"}};
  return {{"size", "4"}, {"reference-steps", "20"}, {"time-limit", "5"}};
}

Mesh ShallowWater::make_mesh() const {
  const std::string& name = mesh_.get();
  const auto across = static_cast<std::uint32_t>(across_.get());
  const int size = static_cast<int>(size_.get());
  const bool is_bay = name == "bay" && case_ != "annulus" && case_ != "manufactured";
  const int times = static_cast<int>(refine_.get()) + (is_bay ? size / 2 : 0);
  Mesh mesh;
  if (case_ == "annulus" || name == "annulus") {
    const Ring ring;
    mesh = annulus(3 * across, across, ring.inner, ring.outer, [&](Point p) { return ring.depth(p); });
  } else if (name == "rectangle" || case_ == "manufactured") {
    mesh = rectangle(across, across, square, square, [](Point p) { return Plane().depth(p); });
  } else if (is_bay) {
    const std::string file = fmt::format("benchmarks/apps/shallow_water/bay-{}.14", size % 2 == 1 ? 3392 : 1696);
    mesh = read_fort14(embedded_text(file), file, false);
  } else {
    mesh = read_fort14(text_of("--mesh", name), name, degrees_);
  }
  if (mesh.elements() > most_elements >> (2 * times))
    throw UsageError(fmt::format("--refine {} gives more than {} elements", times, most_elements));
  mesh = refined(std::move(mesh), times);
  if (case_ == "manufactured") make_outer_edges_exact(mesh);
  for (auto& three : mesh.neighbours)
    for (std::int32_t& place : three)
      if (place == sea && (case_ == "closed" || case_ == "rest")) place = land;
  return mesh;
}

Job ShallowWater::make_job(const Mesh& mesh) const {
  Job job;
  job.order = static_cast<int>(order_.get());
  job.type = parse_scalar_type(type_);
  job.overlaps = overlap_ == "on";
  job.max_elements = static_cast<std::uint32_t>(max_elements_.get());
  Physics& physics = job.physics;
  physics.coriolis = coriolis_;
  physics.friction = friction_ == "none" ? 0 : drag_.get();
  physics.friction_kind = friction_ == "none"     ? Friction::none
                          : friction_ == "linear" ? Friction::linear
                                                  : Friction::quadratic;
  physics.minimum_depth = minimum_depth_;
  physics.tide = tide_of(words_of(tide_), hour * ramp_);
  if (case_ == "annulus") {
    const Ring ring;
    physics.coriolis = 0;
    physics.friction = ring.friction;
    physics.friction_kind = Friction::linear;
    physics.tide = {{{ring.amplitude, ring.frequency, 0}}, 0};
  }
  if (case_ == "manufactured") job.solution = manufactured(physics, {}, square);
  job.time_step = time_step_ > 0 ? time_step_.get()
                                 : stable_step(mesh, physics, job.order, cfl_, case_ == "annulus" ? 0 : 1,
                                               case_ == "annulus" ? 0 : 1);
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
  made.ranks = ranks;
  made.mesh = make_mesh();
  if (made.mesh.elements() < static_cast<std::size_t>(ranks))
    throw UsageError(fmt::format("{} ranks are more than the mesh's {} elements: --refine cuts each into four", ranks,
                                 made.mesh.elements()));
  made.owners = make_owners(made.mesh, ranks, seed);
  const auto shares = shares_of(made.owners, ranks);
  for (std::size_t rank = 0; rank < shares.size(); ++rank)
    if (shares[rank] == 0) throw UsageError(fmt::format("the partition leaves rank {} without elements", rank));
  if (neighbours_max_ > 0)
    for (int rank = 0; rank < ranks; ++rank)
      if (const auto near = part_of(made.mesh, made.owners, rank).neighbours.size();
          near > static_cast<std::size_t>(neighbours_max_.get()))
        throw UsageError(
            fmt::format("rank {} has {} neighbours, above --neighbours-max {}", rank, near, neighbours_max_.get()));
  made.job = make_job(made.mesh);
  made.stations = make_stations(made.mesh);
  made.steps = hours_ > 0 ? static_cast<std::uint64_t>(std::ceil(hour * hours_ / made.job.time_step))
                          : static_cast<std::uint64_t>(steps_.get());
  setup_ = std::move(made);
  return *setup_;
}

void ShallowWater::check(const Plan& plan) const {
  const bool own_mesh = case_ == "annulus" || case_ == "manufactured";
  if (own_mesh && mesh_.given() && mesh_.get() != (case_ == "annulus" ? "annulus" : "rectangle"))
    throw UsageError(fmt::format("--case {} has a mesh of its own: omit --mesh", case_.get()));
  const Job& job = setup(plan.ranks, plan.seed).job;
  if (variant_ != "single_work_item") return;
  const std::vector<Part> parts = all_parts();
  for (std::size_t rank = 0; rank < parts.size(); ++rank)
    if (parts[rank].global.size() > job.max_elements) throw UsageError(too_many_elements(parts[rank], rank, job));
}

std::vector<Part> ShallowWater::all_parts() const {
  std::vector<Part> parts;
  for (int rank = 0; rank < setup_->ranks; ++rank) parts.push_back(part_of(setup_->mesh, setup_->owners, rank));
  return parts;
}

std::vector<Group> ShallowWater::groups(const Plan& plan) const {
  const Setup& all = setup(plan.ranks, plan.seed);
  const Job& job = all.job;
  const Part part = part_of(all.mesh, all.owners, plan.rank);
  const auto stages = static_cast<double>(stages_of(job.order).size());
  const std::size_t message = job.components() * size_of(job.type), elements = all.mesh.elements();
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
  const std::size_t of_part = device_bytes_of(job, part.own, part.halo(), part.sent());
  const std::size_t of_whole = device_bytes_of(job, elements, 0, 0);
  group.device_bytes = of_part + (plan.ranks > 1 ? of_whole : 0);
  group.largest_buffer_bytes = group.device_bytes / 2;
  group.host_bytes = elements * (400 + 5 * job.components() * sizeof(double));
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
  std::vector<int> everyone(static_cast<std::size_t>(session.world.size()));
  for (std::size_t i = 0; i < everyone.size(); ++i) everyone[i] = static_cast<int>(i);
  all_ = session.world.team(everyone);
  const std::size_t components = all.job.components();
  start_.assign(all.mesh.elements() * components, 0.0);
  const Solution known = exact();
  const double extent = extent_of(all.mesh);
  const bool still = case_ == "tide";
  for (std::size_t e = 0; e < all.mesh.elements() && !still; ++e)
    project_on(
        all.mesh, e, all.job.order, [&](Point p) { return known.state ? known.state(p, 0) : waves_at(p, extent); },
        &start_[e * components]);
  if (all.job.type == ScalarType::f32)
    for (double& one : start_) one = static_cast<float>(one);
  expected_.clear();
  learnt_count_ = 0;
  off_ = 0;
  facts_ = partition_facts();
  facts_["variant"] = hpcc::to_string(variant);
  run_reference();
  solver_ = make_solver(session, all.mesh, all.job, part_of(all.mesh, all.owners, session.world.rank()));
  facts_["streamed"] = solver_->is_streamed();
}

std::uint64_t ShallowWater::compared_steps() const {
  return std::min(setup_->steps, static_cast<std::uint64_t>(reference_steps_.get()));
}

// An unstable simulation is an error, not a wrong answer: the reference tells, alike on all ranks.
void ShallowWater::run_reference() {
  const Job& job = setup_->job;
  reference_ = start_;
  Reference reference(setup_->mesh, job.physics, job.order, job.solution);
  reference_seen_ = {};
  const auto look_at = [&](std::uint64_t step) {
    std::vector<Seen> seen;
    for (const Station& one : setup_->stations)
      seen.push_back(seen_at(setup_->mesh, job.order, one, &reference_[one.element * job.components()]));
    reference_seen_.steps.push_back(step);
    reference_seen_.seen.push_back(seen);
  };
  look_at(0);
  const Waiting waiting("the reference's steps");
  for (std::uint64_t step = 0; step < compared_steps(); ++step) {
    const auto [height, element] = reference.step(reference_, static_cast<double>(step) * job.time_step, job.time_step);
    Waiting::progress();
    if (!(height >= minimum_depth_))
      throw Error(dry_sentence(static_cast<std::int64_t>(element), static_cast<std::int64_t>(step) + 1));
    look_at(step + 1);
  }
}

std::string ShallowWater::dry_sentence(std::int64_t element, std::int64_t step) const {
  return fmt::format(
      "the simulation is unstable or falls dry: H of element {} fell below --minimum-depth {} m in step {}; a smaller "
      "--cfl or --time-step may help",
      element + 1, minimum_depth_.get(), step);
}

Json ShallowWater::partition_facts() const {
  const Setup& all = *setup_;
  Json facts = {
      {"partitioner", partitioner_.get() == "default" ? (metis_is_here() ? "metis" : "rcb") : partitioner_.get()},
      {"time_step_s", all.job.time_step},
      {"stages", stages_of(all.job.order).size()},
      {"flops_per_element_and_step", flops_of_step(all.job.order, all.job.physics)},
      {"overlap", all.job.overlaps},
      {"graph", graph_of(all.mesh, all.owners, all.ranks)}};
  Json parts = Json::array();
  std::size_t most = 0;
  for (const Part& part : all_parts()) {
    most = std::max<std::size_t>(most, part.own);
    parts.push_back({{"elements", part.own},
                     {"core", part.core},
                     {"sent", part.sent()},
                     {"received", part.halo()},
                     {"external_edges", part.external()},
                     {"neighbours", part.neighbours.size()}});
  }
  facts["partitions"] = parts;
  facts["imbalance"] = static_cast<double>(most) * all.ranks / static_cast<double>(all.mesh.elements());
  return facts;
}

// Largest difference of own elements' coefficients, in roundings of the field's largest value.
double ShallowWater::off_reference(const Coefficients& own, const Coefficients& reference) const {
  const Job& job = setup_->job;
  const std::size_t components = job.components(), basis = basis_of(job.order);
  double level = 1e-3, flow = 0, deepest = 0;
  for (std::size_t e = 0; e < setup_->mesh.elements(); ++e) {
    const double* of = &reference[e * components];
    level = std::max(level, std::abs(of[0]));
    flow = std::max({flow, std::abs(of[basis]), std::abs(of[2 * basis])});
    for (int k = 0; k < 3; ++k) deepest = std::max(deepest, setup_->mesh.depth(e, k));
  }
  const double of_level = level, of_flow = flow + std::sqrt(job.physics.gravity * (deepest + level)) * level;
  const double unit = job.type == ScalarType::f32 ? 0x1p-23 : 0x1p-52;
  double off = 0;
  const std::vector<std::uint32_t>& global = solver_->part().global;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::size_t c = i % components;
    const double difference = std::abs(own[i] - reference[global[i / components] * components + c]) /
                              (unit * (c < basis ? of_level : of_flow));
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
    const std::uint32_t e = solver_->part().global[i];
    const double area = setup_->mesh.area(e), before = start_[e * components];
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
    const double area = setup_->mesh.area(solver_->part().global[i]), level = own[i * components];
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
        setup_->mesh, solver_->part().global[i], setup_->job.order, [&](Point p) { return known.state(p, t); },
        one.data());
    largest[0] = std::max(largest[0], std::abs(own[i * components] - one[0]));
    largest[1] = std::max(largest[1], std::abs(one[0]));
  }
  all_->all_reduce(std::span(largest), Fold::maximum);
  return largest[0] / largest[1];
}

// What a sample must leave: by the same kernels on the whole mesh, bit for bit, and by the reference, for as many steps
// as asked for.
void ShallowWater::learn(Session& session, std::uint64_t count, const std::vector<std::byte>& own) {
  const Setup& all = *setup_;
  const std::size_t components = all.job.components(), size = components * size_of(all.job.type);
  const auto names = all_texts(session.world, session.device.info().runtime + session.device.info().name);
  const bool alike = std::ranges::all_of(names, [&](const std::string& one) { return one == names.front(); });
  expected_ = own;
  Job job = all.job;
  job.max_elements = std::max(job.max_elements, static_cast<std::uint32_t>(all.mesh.elements()));
  const bool has_room = !job.in_pipeline || local_bytes_of(job) <= session.device.info().local_bytes;
  const bool compared = all.ranks > 1 && alike && has_room;
  if (compared) {
    Solver whole(session, nullptr, all.mesh, job, part_of(all.mesh, Owners(all.mesh.elements()), 0));
    whole.reset(start_);
    whole.advance(0, count, nullptr);
    const std::vector<std::byte> bytes = whole.bytes(count);
    for (std::uint32_t i = 0; i < solver_->part().own; ++i)
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(solver_->part().global[i] * size), size,
                  expected_.begin() + static_cast<std::ptrdiff_t>(i * size));
  }
  const std::uint64_t steps = compared_steps();
  observe(session, own);
  off_ = off_reference(solver_->as_doubles(early_), reference_) /
         static_cast<double>(steps * stages_of(all.job.order).size());
  learnt_count_ = count;
  facts_["reference_steps"] = steps;
  facts_["compared_with_unpartitioned"] = compared;
}

Validation ShallowWater::validate(Session& session, const Case&, std::uint64_t, std::uint64_t count) {
  const Setup& all = *setup_;
  const Located<std::int64_t> dry = all_->all_reduce(solver_->first_dry(), Fold::minimum);
  if (dry.value != INT64_MAX) throw Error(dry_sentence(dry.place, dry.value));
  const std::vector<std::byte> own = solver_->bytes(count);
  if (learnt_count_ != count) learn(session, count, own);
  const Coefficients values = solver_->as_doubles(own);
  Validation validation;
  validation.tolerance = tolerance;
  validation.error = off_;
  validation.reference =
      "the whole mesh by edges in double on the host, in roundings a stage; and the same kernels on the whole mesh, "
      "bit for bit";
  const std::size_t size = own.size() / solver_->part().own;
  for (std::uint32_t i = 0; i < solver_->part().own; ++i) {
    ++validation.items_checked;
    if (std::equal(own.begin() + static_cast<std::ptrdiff_t>(i * size),
                   own.begin() + static_cast<std::ptrdiff_t>((i + 1) * size),
                   expected_.begin() + static_cast<std::ptrdiff_t>(i * size)))
      continue;
    if (validation.wrong_items++ == 0)
      validation.detail =
          fmt::format("the bits of element {} differ from those without a partition or of another repetition",
                      solver_->part().global[i] + 1);
  }
  const double roundings = static_cast<double>(count * stages_of(all.job.order).size());
  if (case_ == "closed") {
    const double off = off_volume(session, values) / roundings;
    facts_["volume_roundings_per_stage"] = finite_or_null(off);
    if (!(off <= validation.error)) validation.error = off;
  }
  if (case_ == "rest") {
    Coefficients still(start_);
    const double off = off_reference(values, still) / roundings;
    facts_["rest_roundings_per_stage"] = finite_or_null(off);
    if (!(off <= validation.error)) validation.error = off;
  }
  if (exact().state)
    facts_["level_off_exact"] = finite_or_null(off_exact(values, static_cast<double>(count) * all.job.time_step));
  facts_["reference_roundings_per_stage"] = finite_or_null(off_);
  facts_["level_rms_m"] = finite_or_null(level_rms(values));
  if (!strayed_.empty()) {
    validation.error = std::numeric_limits<double>::quiet_NaN();
    if (validation.detail.empty()) validation.detail = strayed_;
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
  const auto elements = static_cast<double>(setup_->mesh.elements());
  const auto stages = static_cast<double>(stages_of(job.order).size());
  const double best = result.best_seconds(), median = result.median_seconds();
  const double flops = flops_of_step(job.order, job.physics) * elements;
  double waits = 0;
  if (const auto found = result.phases_by_rank.find("wait"); found != result.phases_by_rank.end())
    for (const double seconds : found->second)
      if (seconds > waits) waits = seconds;
  const bool streamed = facts_.value("streamed", false);
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
      {"communication",
       streamed ? std::numeric_limits<double>::quiet_NaN() : 100 * waits / (median * static_cast<double>(result.count)),
       "%",
       "waiting for the exchange, on the rank where it is longest, over the sample; median repetition. It includes a "
       "device's work that the host waits for",
       streamed ? "kernels wait for messages by themselves" : ""}};
}

namespace {

const RegisteredBenchmark registered_shallow_water("shallow_water", [] { return std::make_unique<ShallowWater>(); });

}  // namespace

}  // namespace plumb::shallow_water
