#include "benchmarks/shmem/graph500/graph500.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include "benchmarks/shmem/graph500/device_search.hpp"
#include "benchmarks/shmem/graph500/edges_file.hpp"
#include "core/data.hpp"
#include "measure/clock.hpp"
#include "world/collect.hpp"

namespace plumb::graph500 {

namespace {

const std::map<std::string, int> classes{{"toy", 26},    {"mini", 29},  {"small", 32},
                                         {"medium", 36}, {"large", 39}, {"huge", 42}};
constexpr std::size_t candidates_at_a_time = 256;
constexpr std::uint32_t most_levels_told = 64;  // in the record, each with its size

enum Phase : std::size_t { generation, construction };

std::optional<std::uint64_t> whole(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

int scale_of(const std::string& text) {
  if (const auto found = classes.find(text); found != classes.end()) return found->second;
  const auto value = whole(text);
  if (!value || *value < 1 || *value > 48)
    throw UsageError(fmt::format("--scale must be 1 to {}, or toy, mini, small, medium, large or huge, not '{}'",
                                 largest_scale, text));
  return static_cast<int>(*value);
}

std::pair<std::uint64_t, std::uint64_t> seeds_of(const std::string& text) {
  const std::size_t comma = text.find(',');
  const auto first = whole(std::string_view(text).substr(0, comma));
  const auto second = comma == std::string::npos ? std::nullopt : whole(std::string_view(text).substr(comma + 1));
  if (!first || !second) throw UsageError(fmt::format("--seeds must be two whole numbers such as 2,3, not '{}'", text));
  return {*first, *second};
}

bool has_messages() {
  return best_courier() == "messages";
}

}  // namespace

Preset Graph500::preset(const std::string& name) const {
  if (name == "smoke") return {{"scale", "12"}, {"roots", "16"}};
  return {{"scale", name == "full" ? "22" : "16"}};
}

GraphPlan Graph500::plan() const {
  const auto [first, second] = seeds_of(seeds_);
  GraphPlan plan{scale_of(scale_), static_cast<std::uint64_t>(edge_factor_.get()), first, second, generator_ == "2.1"};
  if (graph_kind_.get() == "erdos-renyi") {
    plan.kind = GraphPlan::Kind::erdos_renyi;
  } else if (graph_kind_.get() != "kronecker") {
    plan.kind = GraphPlan::Kind::file;
    plan.file = graph_kind_;
    plan.edges_of_file = edges_of_file(plan.file, weighted());
  }
  return plan;
}

std::vector<Graph500::Kind> Graph500::kinds() const {
  std::vector<Kind> all;
  const bool messages = has_messages(), any = variant_ == "all";
  const auto add = [&](const char* kernel, std::initializer_list<const char*> variants) {
    for (const std::string variant : variants)
      if (any ? (messages || variant != "messages") && (threads_.given() || variant != "threaded")
              : variant_ == variant)
        all.push_back({kernel, variant});
  };
  if (!(kernel_ == "sssp")) {
    add("bfs", {"put-atomic", "threaded", "bucketed", "messages", "direction-optimising"});
    if (on_device()) all.push_back({"bfs", "device"});
  }
  if (kernel_ == "bfs") return all;
  const std::size_t others = all.size();
  add("sssp", {"bucketed", "messages"});
  if (all.size() == others) all.push_back({"sssp", on_device() ? variant_.get() : best_courier()});
  return all;
}

void Graph500::check(const Plan& asked) const {
  const GraphPlan graph = plan();
  if (graph.scale > largest_scale)
    throw UsageError(fmt::format("--scale {} needs vertices of more than 32 bits; at most {} is possible here",
                                 graph.scale, largest_scale));
  if (variant_ == "messages" && !has_messages()) throw UsageError("--variant messages needs MPI: run it in world mpi");
  if (kernel_ == "sssp" && variant_.given() && !(variant_ == "all" || variant_ == kinds().front().variant))
    throw UsageError(
        fmt::format("--kernel sssp has the variants bucketed, messages and device, not {}", variant_.get()));
  if (on_device() && graph.scale > largest_device_scale)
    throw UsageError(
        fmt::format("--variant device has vertices of at most {} bits, not {}", largest_device_scale, graph.scale));
  if (graph.kind == GraphPlan::Kind::file) check_edges_file(graph.file, graph.vertices(), weighted());
  if (graph.kind == GraphPlan::Kind::file && write_edges_.given())
    throw UsageError("--write-edges writes edges that are made, not those of a file");
  if (graph.kind != GraphPlan::Kind::kronecker && generator_.given())
    throw UsageError("--generator is for --graph kronecker");
  if (lanes_.given() && !on_device()) throw UsageError("--lanes is for --variant device");
  if (discoveries_.given() && !on_device()) throw UsageError("--discoveries is for --variant device");
  static_cast<void>(asked);
}

void Graph500::check_device(const Plan&, const DeviceInfo& info) const {
  if (on_device() && info.runtime == "native")
    throw UsageError("--variant device needs a device that compiles kernels: --runtime opencl or cuda");
}

std::vector<Group> Graph500::groups(const Plan& asked) const {
  const GraphPlan graph = plan();
  const std::uint64_t edges = share_of(graph.edges(), asked.rank, asked.ranks).count;
  const std::uint64_t vertices = Layout(graph.vertices(), asked.rank, asked.ranks).count();
  Json factor = graph.edge_factor;
  if (graph.kind == GraphPlan::Kind::file)
    factor = static_cast<double>(graph.edges()) / static_cast<double>(graph.vertices());
  std::vector<Group> all;
  for (const Kind& kind : kinds()) {
    Group group;
    group.key = kind.name();
    if (all.empty()) group.phases = {"generation", "construction"};
    for (std::size_t i = 0; i < static_cast<std::size_t>(roots_.get()); ++i) {
      Case one;
      one.key = fmt::format("{}/{}/{}", kind.kernel, kind.variant, i);
      one.labels = {{"kernel", kind.kernel},
                    {"variant", kind.variant},
                    {"scale", graph.scale},
                    {"edge_factor", factor},
                    {"search", i}};
      one.items_to_check = edges + 2 * vertices;  // the list, the tree, the graph
      one.fixed_count = 1;
      one.policy.kind = CasePolicy::Kind::once;
      one.payload = Payload(Point{kind, i});
      group.cases.push_back(std::move(one));
    }
    if (kind.variant == "device") {
      const DeviceBytes needed = device_bytes(graph, asked.ranks, weighted());
      group.device_bytes = needed.all;
      group.largest_buffer_bytes = needed.largest_buffer;
      // Two bitmaps; or a bitmap and all distances.
      group.exchange_bytes = kind.kernel == "sssp" ? 5 * graph.vertices() : graph.vertices() / 4;
    }
    group.symmetric_bytes = symmetric_bytes(kind.variant, Layout(graph.vertices(), 0, asked.ranks));
    group.host_bytes = construction_bytes(graph, asked.ranks, weighted()) +
                       Validator::bytes(graph, asked.ranks, weighted()) +
                       (weighted() ? graph.vertices() * sizeof(float) : 0);
    all.push_back(std::move(group));
  }
  return all;
}

EdgeList Graph500::list(const EdgeRange& share) const {
  EdgeList list;
  list.edges.resize(share.count);
  if (weighted()) list.weights.resize(share.count);
  Generator(plan()).make(share, list.edges, list.weights);
  return list;
}

// This rank's share of the list, checked if it is read: check() has not seen all of a long file.
EdgeList Graph500::made_list(World& world, Timed& timed) const {
  const GraphPlan graph = plan();
  const EdgeRange share = share_of(graph.edges(), world.rank(), world.size());
  EdgeList edges;
  {
    const auto phase = timed.phase(generation);
    edges = list(share);
  }
  if (graph.kind != GraphPlan::Kind::file) return edges;
  const std::string wrong = wrong_edge(edges.edges, edges.weights, graph.vertices(), share.first);
  if (const AgreedText failed = first_text(world, wrong); failed.rank >= 0)
    throw Error(graph.file + ": " + failed.text);
  return edges;
}

// The device makes a Kronecker graph's list; others are copied to it, untimed.
void Graph500::build_on_device(Session& session, Timed& timed) {
  const GraphPlan graph = plan();
  const float delta = weighted() ? static_cast<float>(delta_.get()) : 0;
  const std::size_t lanes = whole(lanes_.get()).value_or(0);
  device_graph_ = std::make_unique<DeviceGraph>(session, *team_, graph, delta, lanes);
  if (graph.kind == GraphPlan::Kind::kronecker) {
    const auto phase = timed.phase(generation);
    device_graph_->generate();
  } else {
    device_graph_->take(made_list(session.world, timed));
  }
  team_->barrier();
  {
    const auto phase = timed.phase(construction);
    device_graph_->construct();
    team_->barrier();
  }
  graph_ = std::make_unique<Graph>(device_graph_->fetch());
  // What follows could not be run, on the host or on the device.
  const auto& begins = graph_->begins;
  const auto row = std::adjacent_find(begins.begin(), begins.end(), std::greater<>());
  const std::string wrong =
      row == begins.end() ? ""
                          : fmt::format("kernel 1 left the row of vertex {} ending before it begins",
                                        graph_->layout.first() + static_cast<std::uint64_t>(row - begins.begin()));
  if (const AgreedText failed = first_text(session.world, wrong); failed.rank >= 0) throw Error(failed.text);
}

void Graph500::build(Session& session, Timed& timed) {
  World& world = session.world;
  std::vector<int> ranks(static_cast<std::size_t>(world.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  team_ = world.team(ranks);
  const GraphPlan graph = plan();
  if (write_edges_.given()) {
    const std::string problem = write_edges(write_edges_, graph, share_of(graph.edges(), world.rank(), world.size()));
    if (const AgreedText failed = first_text(world, problem); failed.rank >= 0) throw Error(failed.text);
  }
  if (on_device()) {
    build_on_device(session, timed);
  } else {
    const EdgeList edges = made_list(world, timed);
    team_->barrier();
    const auto phase = timed.phase(construction);
    graph_ = std::make_unique<Graph>(construct(*team_, graph.vertices(), edges.edges, edges.weights));
    if (weighted()) divide(*graph_, static_cast<float>(delta_.get()));
    team_->barrier();
  }
  validator_ =
      std::make_unique<Validator>(*team_, Layout(graph.vertices(), world.rank(), world.size()), graph, weighted());
  graph_findings_ = validator_->check(*graph_);
  find_roots();
}

// As in the reference: candidates in turn, except taken ones and those without edges other than loops. The one after
// the last is the warm-up's, so that no search repeats it; a graph that has no more takes the last one. A wrong graph
// may have lost all edges: every candidate is a root of it, and fails.
void Graph500::find_roots() {
  const bool is_wrong = team_->all_reduce(graph_findings_.wrong, Fold::sum) > 0;
  const GraphPlan asked = plan();
  const Generator generator(asked);
  const Layout& layout = graph_->layout;
  const auto wanted = static_cast<std::size_t>(roots_.get()) + 1;
  roots_found_.clear();
  for (std::uint64_t k = 0; k < asked.vertices() && roots_found_.size() < wanted; k += candidates_at_a_time) {
    const std::size_t some = std::min<std::uint64_t>(candidates_at_a_time, asked.vertices() - k);
    std::vector<Vertex> candidates(some);
    std::vector<std::uint64_t> usable(some);
    for (std::size_t i = 0; i < some; ++i) {
      const Vertex vertex = candidates[i] = generator.root_candidate(k + i);
      usable[i] = layout.is_mine(vertex) && (is_wrong || graph_->degree(vertex - layout.first()) > 0) ? 1 : 0;
    }
    team_->all_reduce(std::span(usable), Fold::maximum);
    for (std::size_t i = 0; i < some && roots_found_.size() < wanted; ++i)
      if (usable[i] != 0 && std::find(roots_found_.begin(), roots_found_.end(), candidates[i]) == roots_found_.end())
        roots_found_.push_back(candidates[i]);
  }
  if (roots_found_.empty()) return;
  warm_up_root_ = roots_found_.back();
  if (roots_found_.size() == wanted) roots_found_.pop_back();
}

void Graph500::prepare_group(Session& session, const Group& group, Timed& timed) {
  ++groups_begun_;
  if (!graph_) build(session, timed);
  const Kind& kind = group.cases.front().payload.as<Point>().kind;
  const SearchPlan plan{kind.variant, kind.kernel == "sssp" ? delta_.get() : 0, alpha_.get(),
                        beta_.get(),  static_cast<int>(threads_.get()),         discoveries_.get()};
  search_.reset();
  if (kind.variant != "device")
    search_ = make_search(session.world, plan);
  else if (plan.delta > 0)
    search_ = make_device_paths(session, *team_, *graph_, *device_graph_, plan);
  else
    search_ = make_device_search(session, *team_, *graph_, *device_graph_, plan);
  if (roots_found_.empty()) return;
  search_->prepare(warm_up_root_);
  search_->poison();
  search(*search_, warm_up_root_);
}

std::unique_ptr<Search> Graph500::make_search(World& world, const SearchPlan& plan) {
  return graph500::make_search(world, *team_, *graph_, plan);
}

void Graph500::prepare(Session&, const Case& measured) {
  const std::size_t index = measured.payload.as<Point>().index;
  if (index >= roots_found_.size())
    throw Unsupported(fmt::format("the graph has {} vertices to start from, and {} searches were asked for",
                                  roots_found_.size(), roots_.get()));
  root_ = roots_found_[index];
}

void Graph500::reset(Session&, const Case&, std::uint64_t, std::uint64_t) {
  search_->poison();
}

Traversed Graph500::traversed(std::span<const Parent> parents) const {
  Traversed all;
  for (std::uint64_t local = 0; local < parents.size(); ++local) {
    if (parents[local] == unreached) continue;
    all.edges += graph_->degree(local);  // each edge counts at both of its ends
    all.loops += graph_->loops[local];
  }
  return all;
}

void Graph500::run(Session&, const Case&, Timed& timed) {
  search(*search_, root_);
  const Timed::Pause pause(timed);
  search_->fetch();
  told_ = traversed(search_->parents());
  const double edges = static_cast<double>(told_.edges) / 2;
  timed.tally("edges", edges);
  timed.tally("edges_and_loops", edges + static_cast<double>(told_.loops));
}

std::uint64_t Graph500::hash_of(std::span<const float> distances) const {
  std::uint64_t sum = 0;
  for (std::uint64_t local = 0; local < distances.size(); ++local)
    sum += mix64((graph_->layout.first() + local) << 32 | std::bit_cast<std::uint32_t>(distances[local]));
  return sum;
}

Validation Graph500::validate(Session&, const Case&, std::uint64_t, std::uint64_t) {
  const double begin = now_seconds();
  tree_ = validator_->check(root_, search_->parents(), search_->distances());
  std::uint64_t counts[] = {told_.edges,   2 * tree_.traversed.edges,    told_.loops, tree_.traversed.loops,
                            tree_.reached, hash_of(search_->distances())};
  team_->all_reduce(std::span<std::uint64_t>(counts), Fold::sum);
  if (counts[0] != counts[1] || counts[2] != counts[3])
    tree_.note(fmt::format("{} edges and {} loops were told, and the tree has {} and {}", counts[0] / 2, counts[2],
                           counts[1] / 2, counts[3]));
  if (tree_.levels > 0) team_->all_reduce(std::span<std::uint64_t>(tree_.level_ends), Fold::sum);
  tree_.reached = counts[4];
  distances_hash_ = counts[5];
  validation_seconds_ = now_seconds() - begin;
  Validation validation;
  validation.items_checked = tree_.checked + graph_findings_.checked;
  validation.wrong_items = tree_.wrong + graph_findings_.wrong;
  validation.error = static_cast<double>(validation.wrong_items);
  validation.reference = "the list of edges, made apart from the graph's";
  validation.detail = graph_findings_.wrong > 0 ? graph_findings_.detail : tree_.detail;
  return validation;
}

Json Graph500::facts() const {
  Json all = search_ ? search_->facts() : Json::object();
  all.update(Json{{"root", root_}, {"vertices_reached", tree_.reached}, {"validation_seconds", validation_seconds_}});
  if (search_ && distances_hash_ != 0)
    all["distances_hash"] = fmt::format("{:016x}", distances_hash_);  // equal for equal bits
  else
    all["levels"] = tree_.levels;
  if (distances_hash_ == 0 && tree_.levels <= most_levels_told)
    all.update(Json{{"level_vertices", tree_.level_vertices}, {"level_ends", tree_.level_ends}});
  return all;
}

// All groups search one graph; the last one releases it.
void Graph500::release_group() {
  search_.reset();
  if (groups_begun_ < kinds().size()) return;
  validator_.reset();
  graph_.reset();
  device_graph_.reset();
  team_.reset();
}

std::vector<Metric> Graph500::metrics(const CaseResult& result, int) const {
  const double seconds = result.best_seconds();
  return {{"TEPS", result.tallies.at("edges") / seconds, "TEPS",
           "edges of the list with both ends in the tree, without loops / t of the slowest rank (reference 3.0)"},
          {"TEPS_and_loops", result.tallies.at("edges_and_loops") / seconds, "TEPS",
           "edges of the list with both ends in the tree / t of the slowest rank (specification)"}};
}

Statistics statistics_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size(), last = n - 1;
  const auto half_way = [&](std::size_t a, std::size_t b) { return (values[a] + values[b]) / 2; };
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {values.front(),
          half_way(last / 4, n / 4),
          half_way(last / 2, n / 2),
          half_way(last - last / 4, last - n / 4),
          values.back(),
          mean,
          n > 1 ? std::sqrt(squares / static_cast<double>(last)) : std::numeric_limits<double>::quiet_NaN()};
}

Statistics rates_of(const std::vector<double>& seconds_of_one) {
  const Statistics inverse = statistics_of(seconds_of_one);
  const double deviation =
      inverse.deviation / (inverse.mean * inverse.mean * std::sqrt(static_cast<double>(seconds_of_one.size()) - 1));
  return {1 / inverse.maximum, 1 / inverse.third_quartile, 1 / inverse.median, 1 / inverse.first_quartile,
          1 / inverse.minimum, 1 / inverse.mean,           deviation};
}

std::vector<Metric> Graph500::aggregate(const std::vector<CaseResult>& results, int) const {
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> by_variant;  // t/m by both counts
  for (const CaseResult& result : results) {
    if (!result.passed || result.summary.samples == 0) continue;
    auto& [edges, loops] = by_variant[result.measured->payload.as<Point>().kind.name()];
    edges.push_back(result.best_seconds() / result.tallies.at("edges"));
    loops.push_back(result.best_seconds() / result.tallies.at("edges_and_loops"));
  }
  std::vector<Metric> all;
  for (const auto& [variant, counted] : by_variant) {
    const Statistics rates = rates_of(counted.first);
    const auto add = [&](const char* name, double value, const char* convention) {
      all.push_back({name, value, "TEPS", convention});
      all.back().group = variant;
      if (std::isnan(value)) all.back().reason = "there is one search only";
    };
    add("harmonic_mean_TEPS", rates.mean, "of all searches; edges without loops (reference 3.0)");
    add("harmonic_stddev_TEPS", rates.deviation, "s / (mean^2 sqrt(n - 1)), mean and s of t/m (Norris 1940)");
    add("min_TEPS", rates.minimum, "of all searches");
    add("firstquartile_TEPS", rates.first_quartile, "inverse of the third quartile of t/m");
    add("median_TEPS", rates.median, "inverse of the median of t/m");
    add("thirdquartile_TEPS", rates.third_quartile, "inverse of the first quartile of t/m");
    add("max_TEPS", rates.maximum, "of all searches");
    add("harmonic_mean_TEPS_and_loops", rates_of(counted.second).mean, "of all searches; all edges (specification)");
  }
  return all;
}

namespace {

const RegisteredBenchmark registered_graph500("graph500", [] { return std::make_unique<Graph500>(); });

}  // namespace

}  // namespace plumb::graph500
