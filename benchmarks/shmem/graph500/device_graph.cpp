#include "benchmarks/shmem/graph500/device_graph.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/embedded.hpp"
#include "world/watchdog.hpp"

namespace plumb::graph500 {

namespace {

constexpr std::uint64_t piece = 32;        // neighbours of a task, top-down
constexpr std::uint64_t long_piece = 512;  // and bottom-up
constexpr std::uint64_t edges_of_a_launch = std::uint64_t{1} << 20;
constexpr std::uint64_t edges_of_a_message = std::uint64_t{1} << 20, least_of_a_message = message_alignment / 4;
const std::string file_of_kernels = "benchmarks/shmem/graph500/graph500.cl";

// Whole messages of edges, each of them aligned.
std::uint64_t message_edges(const GraphPlan& plan, int ranks) {
  const std::uint64_t share = std::max<std::uint64_t>(share_of(plan.edges(), 0, ranks).count, 1);
  return std::min((share + least_of_a_message - 1) / least_of_a_message * least_of_a_message, edges_of_a_message);
}

}  // namespace

Shape::Shape(const DeviceInfo& info, std::size_t lanes_asked)
    : lanes(lanes_asked > 0      ? lanes_asked
            : info.type == "gpu" ? 32
                                 : 1),
      group(std::max<std::size_t>(info.type == "gpu" ? 128 : 16, lanes)),
      groups((info.type == "gpu" ? 16 : 8) * std::max(1u, info.compute_units)),
      channels(info.has(Feature::channels)) {}

std::string Shape::options() const {
  return fmt::format("-DGROUP={} -DPIECE={} -DLANES={} -DSHORT={}UL -DLONG={}UL{}", group, piece, lanes,
                     alone() ? ~std::uint64_t{0} : std::uint64_t{lanes}, long_piece, channels ? " -DCHANNELS" : "");
}

std::uint64_t tasks_of(std::uint64_t ends, std::uint64_t vertices) {
  return ends / piece + vertices + 1;
}

// The shares of all ranks, a message of each at a time, in this rank's memory.
class DeviceGraph::Pieces {
 public:
  explicit Pieces(DeviceGraph& graph)
      : graph_(graph),
        edges_(graph.team_.size() == 1 ? std::max<std::uint64_t>(graph.share_.count, 1)
                                       : message_edges(graph.plan_, graph.team_.size())) {
    const int ranks = graph.team_.size(), me = graph.team_.rank();
    if (ranks == 1) return;
    const std::size_t bytes = aligned((graph.delta_ > 0 ? 12 : 8) * edges_);
    std::vector<DeviceExchange::Message> sends, receives;
    for (int distance = 1; distance < ranks; ++distance) {
      sends.push_back({(me + distance) % ranks, distance, 0, bytes});
      receives.push_back({(me + ranks - distance) % ranks, distance, receives.size() * bytes, bytes});
      from_.push_back(receives.back().peer);
    }
    exchange_ =
        std::make_unique<DeviceExchange>(graph.session_, sends, bytes, receives, bytes * receives.size(), traffic_);
    bytes_ = bytes;
  }

  std::uint64_t rounds() const { return (of(0).count + edges_ - 1) / edges_; }

  // Calls take(edges, weights, count) for each rank's edges of a round.
  template <class Take>
  void run(std::uint64_t round, Take take) {
    if (exchange_) {
      const auto [mine, some] = part(graph_.team_.rank(), round);
      Buffer& outgoing = exchange_->outgoing();
      if (some > 0) graph_.queue_->enqueue_copy({graph_.edges_.get(), 8 * mine, 8 * some}, {&outgoing, 0, 8 * some});
      if (some > 0 && graph_.delta_ > 0)
        graph_.queue_->enqueue_copy({graph_.weights_.get(), 4 * mine, 4 * some}, {&outgoing, 8 * edges_, 4 * some});
      exchange_->start(*graph_.queue_);
    }
    const auto [mine, some] = part(graph_.team_.rank(), round);
    if (some > 0) take({graph_.edges_.get(), 8 * mine, 8 * some}, {graph_.weights_.get(), 4 * mine, 4 * some}, some);
    if (!exchange_) return;
    exchange_->wait();
    for (std::size_t i = 0; i < from_.size(); ++i) {
      const std::uint64_t count = part(from_[i], round).second;
      Buffer& incoming = exchange_->incoming();
      if (count > 0) take({&incoming, i * bytes_, 8 * count}, {&incoming, i * bytes_ + 8 * edges_, 4 * count}, count);
    }
    graph_.queue_->finish();  // before the next messages arrive
  }

 private:
  EdgeRange of(int rank) const { return share_of(graph_.plan_.edges(), rank, graph_.team_.size()); }
  // Place in the rank's share, and number.
  std::pair<std::uint64_t, std::uint64_t> part(int rank, std::uint64_t round) const {
    const std::uint64_t begin = std::min(of(rank).count, round * edges_);
    return {begin, std::min(edges_, of(rank).count - begin)};
  }

  DeviceGraph& graph_;
  std::uint64_t edges_;    // of a message
  std::size_t bytes_ = 0;  // of a message: edges, then weights
  std::vector<int> from_;  // rank of each message
  Traffic traffic_;
  std::unique_ptr<DeviceExchange> exchange_;  // null on one rank
};

DeviceGraph::DeviceGraph(Session& session, Team& team, const GraphPlan& plan, float delta, std::size_t lanes)
    : session_(session),
      team_(team),
      plan_(plan),
      layout_(plan.vertices(), team.rank(), team.size()),
      delta_(delta),
      shape_(session.device.info(), lanes),
      program_(session.device.build(source())),
      queue_(session.device.make_queue()),
      zero_(program_->kernel("zero")),
      place_ends_(program_->kernel("place_ends")),
      sum_stretches_(program_->kernel("sum_stretches")),
      add_stretches_(program_->kernel("add_stretches")),
      bound_stretches_(program_->kernel("bound_stretches")),
      share_(share_of(plan.edges(), team.rank(), team.size())),
      edges_(buffer(8 * share_.count)),
      weights_(buffer(delta > 0 ? 4 * share_.count : 0)) {}

std::unique_ptr<Buffer> DeviceGraph::buffer(std::uint64_t bytes) const {
  return session_.device.allocate(std::max<std::uint64_t>(bytes, 64), session_.memory);
}

KernelSource DeviceGraph::source() const {
  return session_.source({file_of_kernels, embedded_text(file_of_kernels), options(plan_)});
}

std::string DeviceGraph::options(const GraphPlan& plan) const {
  std::string all = shape_.options() + fmt::format(" -DBINS={}", delta_ > 0 ? 2 : 1);
  if (plan.kind != GraphPlan::Kind::kronecker) return all;
  const Generator generator(plan);
  return all + fmt::format(" -DSCALE={} -DLEAST_DRAW={}UL -DSCRAMBLE_0={}UL -DSCRAMBLE_1={}UL", plan.scale,
                           generator.least_draw(), generator.scramble()[0], generator.scramble()[1]);
}

void DeviceGraph::generate() {
  const Waiting waiting("the list of edges on the device");
  const Generator generator(plan_);
  std::vector<std::uint64_t> powers;  // an edge's draws begin 2^64 steps after those of the one before
  for (std::size_t bit = 0; bit < 64; ++bit)
    for (const auto& row : Random::power(64 + bit)) powers.insert(powers.end(), row.begin(), row.end());
  const auto powers_buffer = buffer(8 * powers.size()), origin = buffer(sizeof(Random::State));
  queue_->write(reinterpret_cast<const std::byte*>(powers.data()), {powers_buffer.get(), 0, 8 * powers.size()});
  queue_->write(reinterpret_cast<const std::byte*>(&generator.start().state()),
                {origin.get(), 0, sizeof(Random::State)});
  const auto kernel = program_->kernel("generate");
  for (std::uint64_t done = 0; done < share_.count; done += edges_of_a_launch) {
    const std::uint64_t some = std::min(edges_of_a_launch, share_.count - done);
    const BufferView weights = delta_ > 0 ? BufferView{weights_.get(), 4 * done, 4 * some} : whole(*weights_);
    kernel->set({powers_buffer.get(), origin.get(), BufferView{edges_.get(), 8 * done, 8 * some}, weights,
                 share_.first + done, some, std::uint32_t{delta_ > 0 ? 1u : 0u}});
    queue_->enqueue(*kernel, shape_.range());
    queue_->finish();
    Waiting::progress();
  }
}

void DeviceGraph::take(const EdgeList& list) {
  if (list.edges.empty()) return;
  std::vector<std::uint32_t> ends;
  ends.reserve(2 * list.edges.size());
  for (const Edge& edge : list.edges)
    for (const Vertex end : {edge.from, edge.to}) ends.push_back(static_cast<std::uint32_t>(end));
  queue_->write(reinterpret_cast<const std::byte*>(ends.data()), {edges_.get(), 0, 4 * ends.size()});
  if (delta_ > 0)
    queue_->write(reinterpret_cast<const std::byte*>(list.weights.data()),
                  {weights_.get(), 0, 4 * list.weights.size()});
}

void DeviceGraph::make_bins(Adjacency& all, std::uint64_t keys) {
  all.bins = (delta_ > 0 ? 2 : 1) * keys;
  all.bounds = buffer(8 * (all.bins + 1));
}

// Of `places` in turn: rows' bins, then lists'.
void DeviceGraph::place(Adjacency& all, bool turned, bool fill, const BufferView& edges, const BufferView& weights,
                        std::uint64_t count) {
  const std::size_t at = turned ? aligned(4 * rows_.bins) : 0;
  const BufferView places{places_.get(), at, 4 * std::max<std::uint64_t>(all.bins, 1)};
  const Buffer* const ends = fill ? all.ends.get() : all.bounds.get();
  const Buffer* const end_weights = fill && delta_ > 0 ? all.weights.get() : all.bounds.get();
  place_ends_->set({edges, delta_ > 0 ? weights : edges, places, all.bounds.get(), ends, end_weights, loops_.get(),
                    count, static_cast<std::uint32_t>(layout_.first()), static_cast<std::uint32_t>(layout_.count()),
                    delta_, std::uint32_t{turned ? 1u : 0u}, std::uint32_t{fill ? 1u : 0u}});
  queue_->enqueue(*place_ends_, shape_.range());
}

void DeviceGraph::place(Pieces& pieces, bool fill) {
  for (std::uint64_t round = 0; round < pieces.rounds(); ++round) {
    pieces.run(round, [&](const BufferView& edges, const BufferView& weights, std::uint64_t count) {
      place(rows_, false, fill, edges, weights, count);
      if (team_.size() > 1) place(lists_, true, fill, edges, weights, count);
    });
    Waiting::progress();
  }
}

void DeviceGraph::bound(Adjacency& all) {
  const std::size_t at = &all == &lists_ ? aligned(4 * rows_.bins) : 0;
  const BufferView places{places_.get(), at, 4 * std::max<std::uint64_t>(all.bins, 1)};
  sum_stretches_->set({places, sums_.get(), all.bins});
  add_stretches_->set({sums_.get(), static_cast<std::uint32_t>(shape_.groups)});
  bound_stretches_->set({places, sums_.get(), all.bounds.get(), all.bins});
  queue_->enqueue(*sum_stretches_, shape_.range());
  queue_->enqueue(*add_stretches_, {1, 1});
  queue_->enqueue(*bound_stretches_, shape_.range());
  queue_->read({all.bounds.get(), 8 * all.bins, 8}, reinterpret_cast<std::byte*>(&all.count));
  all.ends = buffer(4 * all.count);
  if (delta_ > 0) all.weights = buffer(4 * all.count);
}

void DeviceGraph::construct() {
  const Waiting waiting("kernel 1 on the device");
  const bool has_lists = team_.size() > 1;
  make_bins(rows_, layout_.count());
  if (has_lists) make_bins(lists_, layout_.vertices());
  places_ = buffer(aligned(4 * rows_.bins) + 4 * lists_.bins);
  loops_ = buffer(4 * layout_.count());
  sums_ = buffer(8 * shape_.groups);
  for (Buffer* const words : {places_.get(), loops_.get()}) {
    zero_->set({words, std::uint64_t{words->size() / 4}});
    queue_->enqueue(*zero_, shape_.range());
  }
  Pieces pieces(*this);
  place(pieces, false);
  bound(rows_);
  if (has_lists) bound(lists_);
  place(pieces, true);
  queue_->finish();
  for (auto* const done : {&edges_, &weights_, &places_, &sums_}) done->reset();
}

Graph DeviceGraph::fetch() {
  Graph graph{layout_, {}, {}, {}};
  const auto read = [&](auto& into, std::uint64_t count, const Buffer& from) {
    into.resize(count);
    const std::uint64_t bytes = count * sizeof(into[0]);
    if (bytes > 0) queue_->read({const_cast<Buffer*>(&from), 0, bytes}, reinterpret_cast<std::byte*>(into.data()));
  };
  std::vector<std::uint64_t> bounds;
  read(bounds, rows_.bins + 1, *rows_.bounds);
  const std::uint64_t step = delta_ > 0 ? 2 : 1;
  for (std::uint64_t local = 0; local <= layout_.count(); ++local) graph.begins.push_back(bounds[step * local]);
  read(graph.neighbours, rows_.count, *rows_.ends);
  if (delta_ > 0) read(graph.weights, rows_.count, *rows_.weights);
  read(graph.loops, layout_.count(), *loops_);
  return graph;
}

DeviceBytes device_bytes(const GraphPlan& plan, int ranks, bool weighted) {
  const auto all = static_cast<std::uint64_t>(ranks);
  const Layout layout(plan.vertices(), 0, ranks);
  const std::uint64_t of_end = weighted ? 8 : 4, bins = weighted ? 2 : 1, share = plan.edges() / all + 1;
  // Ranks' rows differ; none has more than all ends.
  const std::uint64_t ends = std::min(2 * plan.edges(), 3 * (2 * plan.edges() / all));
  const std::uint64_t keys = layout.count() + 1 + (all > 1 ? plan.vertices() + 1 : 0);
  const std::uint64_t adjacency = (all > 1 ? 2 : 1) * of_end * ends + 8 * bins * keys;
  const std::uint64_t messages = all > 1 ? all * aligned(12 * message_edges(plan, ranks)) : 0;
  const std::uint64_t first = 2 * of_end * share + 4 * bins * keys + messages;  // the list, and kernel 1's data
  const std::uint64_t tasks = 8 * tasks_of(ends, plan.vertices());
  const std::uint64_t packets = all > 1 ? std::uint64_t{4} << 20 : 0;  // discoveries.hpp
  const std::uint64_t search = packets + tasks + 4 * layout.count() + (weighted ? 5 : 1) * plan.vertices();
  return {adjacency + 4 * layout.count() + std::max(first, search) + 8 * message_alignment,
          std::max({4 * ends, tasks, 8 * share, 8 * (bins * plan.vertices() + 1)})};
}

}  // namespace plumb::graph500
