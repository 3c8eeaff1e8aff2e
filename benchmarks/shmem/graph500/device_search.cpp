#include "benchmarks/shmem/graph500/device_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/embedded.hpp"
#include "world/watchdog.hpp"

namespace plumb::graph500 {

namespace {

constexpr std::uint64_t piece = 32;        // neighbours of a task, top-down
constexpr std::uint64_t long_piece = 512;  // and bottom-up
constexpr std::uint64_t edges_of_a_launch = std::uint64_t{1} << 20;
const std::string file_of_kernels = "benchmarks/shmem/graph500/graph500.cl";
constexpr std::uint32_t no_parent = ~std::uint32_t{0};

// Work items, by kind of device: a GPU's follow a row side by side, and none a long row alone.
struct Shape {
  Shape(const DeviceInfo& info, std::size_t lanes_asked)
      : lanes(lanes_asked > 0      ? lanes_asked
              : info.type == "gpu" ? 32
                                   : 1),
        group(std::max<std::size_t>(info.type == "gpu" ? 128 : 16, lanes)),
        groups((info.type == "gpu" ? 16 : 8) * std::max(1u, info.compute_units)) {}
  std::size_t lanes, group, groups;
  bool alone() const { return lanes == 1; }
  std::string options() const {
    return fmt::format("-DGROUP={} -DPIECE={} -DLANES={} -DSHORT={}UL -DLONG={}UL", group, piece, lanes,
                       alone() ? ~std::uint64_t{0} : std::uint64_t{lanes}, long_piece);
  }
  KernelRange range() const { return {group * groups, group}; }
};

std::uint64_t tasks_of(std::uint64_t ends, std::uint64_t vertices) {
  return ends / piece + vertices + 1;
}

class DeviceSearch final : public Search {
 public:
  DeviceSearch(Session& session, Team& team, const Graph& graph, const SearchPlan& plan)
      : team_(team),
        graph_(graph),
        layout_(graph.layout),
        alpha_(plan.alpha),
        beta_(plan.beta),
        shape_(session.device.info(), plan.lanes),
        all_ends_(team.all_reduce<std::uint64_t>(graph.neighbours.size(), Fold::sum)),
        queue_(session.device.make_queue()),
        parents_(layout_.count(), unreached),
        device_parents_(std::max<std::uint64_t>(layout_.count(), 1)),
        sums_(2 * shape_.groups) {
    copy_graph(session);
    build(session);
    if (team_.size() > 1) connect(session);
  }

  std::span<Parent> parents() override { return parents_; }

  void poison() override {
    std::fill(parents_.begin(), parents_.end(), unreached);
    std::fill(device_parents_.begin(), device_parents_.end(), no_parent);
    write(device_parents_, *parents_buffer_);
  }

  void fetch() override {
    queue_->read({parents_buffer_.get(), 0, 4 * device_parents_.size()},
                 reinterpret_cast<std::byte*>(device_parents_.data()));
    for (std::uint64_t local = 0; local < layout_.count(); ++local)
      parents_[local] = device_parents_[local] == no_parent ? unreached : static_cast<Parent>(device_parents_[local]);
  }

  // Drivers compile a kernel when it is first started: each direction alone starts all of them.
  void prepare(Vertex root) override {
    const double alpha = alpha_;
    for (const double of_one_direction : {0., 1e18}) {
      alpha_ = of_one_direction;
      poison();
      run(root);
    }
    alpha_ = alpha;
    poison();
  }

  void run(Vertex root) override {
    const Waiting waiting("a search on the device");
    start_->set(10, static_cast<std::uint32_t>(root));
    start_->set(0, level_.get());
    queue_->enqueue(*start_, shape_.range());
    bottom_up_levels_ = 0;
    std::uint64_t ends_left = all_ends_;
    bool bottom_up = false;
    Size level = agreed({1, layout_.is_mine(root) ? graph_.degree(root - layout_.first()) : 0});
    for (level.vertices = 1; level.vertices > 0; level = agreed(own_size())) {
      ends_left -= std::min(ends_left, level.ends);
      if (bottom_up)
        bottom_up = static_cast<double>(level.vertices) * beta_ >= static_cast<double>(layout_.vertices());
      else
        bottom_up = static_cast<double>(level.ends) * alpha_ > static_cast<double>(ends_left);
      if (bottom_up)
        look_up();
      else
        follow();
      gather();
      Waiting::progress();
    }
  }

  Json facts() const override { return {{"bottom_up_levels", bottom_up_levels_}}; }

 private:
  struct Size {
    std::uint64_t vertices = 0, ends = 0;
  };

  std::unique_ptr<Buffer> buffer(Session& session, std::uint64_t bytes) const {
    return session.device.allocate(std::max<std::uint64_t>(bytes, 64), session.memory);
  }

  template <class T>
  void write(const std::vector<T>& values, Buffer& to) {
    if (!values.empty())
      queue_->write(reinterpret_cast<const std::byte*>(values.data()), {&to, 0, values.size() * sizeof(T)});
  }

  void copy_graph(Session& session) {
    const std::uint64_t bitmap = 4 * all_words(), own_bitmap = 4 * std::uint64_t{own_words()};
    begins_ = buffer(session, 8 * graph_.begins.size());
    neighbours_ = buffer(session, 4 * graph_.neighbours.size());
    tasks_ = buffer(session, 8 * tasks_of(graph_.neighbours.size(), layout_.count()));
    count_ = buffer(session, 4);
    for (auto* whole_map : {&level_, &tried_, &found_}) *whole_map = buffer(session, bitmap);
    for (auto* own_map : {&known_, &isolated_}) *own_map = buffer(session, own_bitmap);
    next_ = buffer(session, team_.size() == 1 ? bitmap : own_bitmap);  // alone, it and `level_` take turns
    parents_buffer_ = buffer(session, 4 * device_parents_.size());
    sums_buffer_ = buffer(session, 8 * sums_.size());
    write(graph_.begins, *begins_);
    write(graph_.neighbours, *neighbours_);
    // Vertices past the last one count as known, like those without edges.
    std::vector<std::uint32_t> isolated(own_words());
    for (std::uint64_t local = 0; local < 32 * isolated.size(); ++local)
      if (local >= layout_.count() || graph_.degree(local) == 0)
        isolated[local / 32] |= std::uint32_t{1} << (local % 32);
    write(isolated, *isolated_);
  }

  void build(Session& session) {
    program_ =
        session.device.build(session.source({file_of_kernels, embedded_text(file_of_kernels), shape_.options()}));
    start_ = program_->kernel("start");
    cut_ = program_->kernel("cut");
    follow_ = program_->kernel("follow");
    adopt_ = program_->kernel("adopt");
    look_up_ = program_->kernel("look_up");
    look_on_ = program_->kernel("look_on");
    unite_ = program_->kernel("unite");
    const auto vertices = static_cast<std::uint32_t>(layout_.count()),
               first = static_cast<std::uint32_t>(layout_.first());
    const std::uint32_t own = own_words(), at = own_at(), all = static_cast<std::uint32_t>(all_words());
    start_->set({level_.get(), tried_.get(), found_.get(), known_.get(), isolated_.get(), parents_buffer_.get(), all,
                 at, own, vertices, std::uint32_t{0}});
    cut_->set({level_.get(), begins_.get(), tasks_.get(), count_.get(), at, own});
    follow_->set({tasks_.get(), count_.get(), begins_.get(), neighbours_.get(), tried_.get(), found_.get(),
                  parents_buffer_.get(), first, vertices});
    adopt_->set({level_.get(), tried_.get(), found_.get(), known_.get(), next_.get(), begins_.get(), neighbours_.get(),
                 parents_buffer_.get(), sums_buffer_.get(), all, at, own});
    look_up_->set({level_.get(), tried_.get(), known_.get(), next_.get(), begins_.get(), neighbours_.get(),
                   parents_buffer_.get(), sums_buffer_.get(), tasks_.get(), count_.get(), at, own});
    look_on_->set({level_.get(), tried_.get(), known_.get(), next_.get(), begins_.get(), neighbours_.get(),
                   parents_buffer_.get(), sums_buffer_.get(), tasks_.get(), count_.get(), at});
  }

  // Bitmaps have whole 64-bit words for each rank, as those of the hosts.
  std::uint64_t all_words() const { return 2 * ((layout_.vertices() + 63) / 64); }
  std::uint32_t own_words() const { return static_cast<std::uint32_t>(2 * ((layout_.count() + 63) / 64)); }
  std::uint32_t own_at() const { return static_cast<std::uint32_t>(layout_.first() / 32); }

  void follow() {
    queue_->enqueue_write(reinterpret_cast<const std::byte*>(&zero_), {count_.get(), 0, 4});
    cut_->set(0, level_.get());
    queue_->enqueue(*cut_, shape_.range());
    queue_->enqueue(*follow_, shape_.range());
    exchange_found();
    adopt_->set(0, level_.get());
    adopt_->set(4, next_.get());
    queue_->enqueue(*adopt_, shape_.range());
  }

  void look_up() {
    ++bottom_up_levels_;
    queue_->enqueue_write(reinterpret_cast<const std::byte*>(&zero_), {count_.get(), 0, 4});
    for (Kernel* kernel : {look_up_.get(), look_on_.get()}) {
      kernel->set(0, level_.get());
      kernel->set(3, next_.get());
    }
    queue_->enqueue(*look_up_, shape_.range());
    if (!shape_.alone()) queue_->enqueue(*look_on_, shape_.range());
  }

  // The level that the last kernel found on this device.
  Size own_size() const {
    Size size;
    for (std::size_t group = 0; group < shape_.groups; ++group) {
      size.vertices += sums_[2 * group];
      size.ends += sums_[2 * group + 1];
    }
    return size;
  }

  Size agreed(Size mine) {
    if (team_.size() == 1) return mine;
    std::uint64_t sums[] = {mine.vertices, mine.ends};
    team_.all_reduce(std::span<std::uint64_t>(sums), Fold::sum);
    return {sums[0], sums[1]};
  }

  std::size_t words_of(int rank) const { return 2 * ((layout_.count_of(rank) + 63) / 64); }
  std::size_t first_word(int rank) const { return layout_.first_of(rank) / 32; }
  BufferView words(Buffer& bitmap, std::size_t first, std::size_t count) const {
    return {&bitmap, 4 * first, 4 * count};
  }

  // Found bits go to their owners, and the bits of a level from their owners to all; ranks without vertices take part
  // in neither.
  void connect(Session& session) {
    const int ranks = team_.size(), me = team_.rank();
    std::vector<DeviceExchange::Message> found, arrived, level, gathered;
    std::size_t found_bytes = 0, arrived_bytes = 0, gathered_bytes = 0;
    const std::size_t own = 4 * words_of(me);
    for (int distance = 1; distance < ranks; ++distance) {
      const int to = (me + distance) % ranks, from = (me + ranks - distance) % ranks;
      if (const std::size_t theirs = 4 * words_of(to); theirs > 0) {
        found.push_back({to, distance, found_bytes, theirs});
        found_bytes += aligned(theirs);
      }
      if (const std::size_t theirs = 4 * words_of(from); theirs > 0) {
        gathered.push_back({from, distance, gathered_bytes, theirs});
        gathered_bytes += aligned(theirs);
      }
      if (own == 0) continue;
      arrived.push_back({from, distance, arrived_bytes, own});
      arrived_bytes += aligned(own);
      level.push_back({to, distance, 0, own});
    }
    found_places_ = found;
    gathered_places_ = gathered;
    found_exchange_ = std::make_unique<DeviceExchange>(session, found, found_bytes, arrived, arrived_bytes, traffic_);
    level_exchange_ = std::make_unique<DeviceExchange>(session, level, own, gathered, gathered_bytes, traffic_);
    unite_->set({&found_exchange_->incoming(), found_.get(), static_cast<std::uint32_t>(ranks - 1),
                 static_cast<std::uint32_t>(aligned(own) / 4), own_at(), own_words()});
  }

  // Ors all ranks' bits into their owners'.
  void exchange_found() {
    if (team_.size() == 1) return;
    for (const DeviceExchange::Message& one : found_places_)
      queue_->enqueue_copy(words(*found_, first_word(one.peer), words_of(one.peer)),
                           {&found_exchange_->outgoing(), one.offset, one.bytes});
    found_exchange_->start(*queue_);
    found_exchange_->wait();
    queue_->enqueue(*unite_, shape_.range());
  }

  // Makes the level just found the last one, on all devices, and reads its size.
  void gather() {
    queue_->enqueue_read({sums_buffer_.get(), 0, 8 * sums_.size()}, reinterpret_cast<std::byte*>(sums_.data()));
    if (team_.size() == 1) {
      std::swap(level_, next_);
      queue_->finish();
      return;
    }
    if (own_words() > 0) {
      queue_->enqueue_copy(words(*next_, 0, own_words()), words(level_exchange_->outgoing(), 0, own_words()));
      queue_->enqueue_copy(words(*next_, 0, own_words()), words(*level_, own_at(), own_words()));
    }
    level_exchange_->start(*queue_);
    level_exchange_->wait();
    for (const DeviceExchange::Message& one : gathered_places_)
      queue_->enqueue_copy({&level_exchange_->incoming(), one.offset, one.bytes},
                           words(*level_, first_word(one.peer), words_of(one.peer)));
    queue_->finish();
  }

  Team& team_;
  const Graph& graph_;
  const Layout& layout_;
  double alpha_, beta_;
  Shape shape_;
  std::uint64_t all_ends_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Buffer> begins_, neighbours_, tasks_, count_, parents_buffer_, sums_buffer_;
  std::unique_ptr<Buffer> level_, tried_, found_, known_, next_, isolated_;  // bitmaps
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> start_, cut_, follow_, adopt_, look_up_, look_on_, unite_;
  Traffic traffic_;
  std::vector<DeviceExchange::Message> found_places_, gathered_places_;
  std::unique_ptr<DeviceExchange> found_exchange_, level_exchange_;  // null on one rank
  std::vector<Parent> parents_;
  std::vector<std::uint32_t> device_parents_;
  std::vector<std::uint64_t> sums_;  // by group: vertices and ends of the level found
  int bottom_up_levels_ = 0;
  const std::uint32_t zero_ = 0;
};

}  // namespace

std::unique_ptr<Search> make_device_search(Session& session, Team& team, const Graph& graph, const SearchPlan& plan) {
  return std::make_unique<DeviceSearch>(session, team, graph, plan);
}

EdgeList list_by_device(Session& session, const GraphPlan& plan, const EdgeRange& range, bool weighted) {
  const Generator generator(plan);
  const Shape shape(session.device.info(), 0);
  const auto program = session.device.build(session.source(
      {file_of_kernels, embedded_text(file_of_kernels),
       shape.options() + fmt::format(" -DSCALE={} -DLEAST_DRAW={}UL -DSCRAMBLE_0={}UL -DSCRAMBLE_1={}UL", plan.scale,
                                     generator.least_draw(), generator.scramble()[0], generator.scramble()[1])}));
  std::vector<std::uint64_t> powers;  // an edge's draws begin 2^64 steps after those of the one before
  for (std::size_t bit = 0; bit < 64; ++bit)
    for (const auto& row : Random::power(64 + bit)) powers.insert(powers.end(), row.begin(), row.end());
  const std::uint64_t at_once = std::min(std::max<std::uint64_t>(range.count, 1), edges_of_a_launch);
  const auto buffer = [&](std::uint64_t bytes) { return session.device.allocate(bytes + 64, session.memory); };
  const auto powers_buffer = buffer(8 * powers.size()), origin = buffer(sizeof(Random::State)),
             edges = buffer(sizeof(Edge) * at_once), weights = buffer(sizeof(float) * at_once);
  const auto queue = session.device.make_queue();
  queue->write(reinterpret_cast<const std::byte*>(powers.data()), {powers_buffer.get(), 0, 8 * powers.size()});
  queue->write(reinterpret_cast<const std::byte*>(&generator.start().state()),
               {origin.get(), 0, sizeof(Random::State)});
  const auto kernel = program->kernel("generate");
  EdgeList list;
  list.edges.resize(range.count);
  list.weights.resize(weighted ? range.count : 0);
  for (std::uint64_t done = 0; done < range.count; done += at_once) {
    const std::uint64_t some = std::min(at_once, range.count - done);
    kernel->set({powers_buffer.get(), origin.get(), edges.get(), weights.get(), range.first + done, some,
                 std::uint32_t{weighted ? 1u : 0u}});
    queue->enqueue(*kernel, shape.range());
    queue->enqueue_read({edges.get(), 0, sizeof(Edge) * some}, reinterpret_cast<std::byte*>(&list.edges[done]));
    if (weighted)
      queue->enqueue_read({weights.get(), 0, sizeof(float) * some}, reinterpret_cast<std::byte*>(&list.weights[done]));
    queue->finish();
  }
  return list;
}

DeviceBytes device_bytes(const GraphPlan& plan, int ranks) {
  const auto all = static_cast<std::uint64_t>(ranks);
  const Layout layout(plan.vertices(), 0, ranks);
  // Ranks' rows differ; none has more than all ends.
  const std::uint64_t ends = std::min(2 * plan.edges(), 3 * (2 * plan.edges() / all));
  const std::uint64_t largest = std::max(4 * ends, 8 * tasks_of(ends, layout.count()));
  // Bitmaps of all vertices, and the messages that carry them.
  const std::uint64_t bitmaps = plan.vertices() + (all > 1 ? plan.vertices() / 2 + 4 * message_alignment * all : 0);
  return {4 * ends + 8 * tasks_of(ends, layout.count()) + 12 * layout.count() + bitmaps, largest};
}

}  // namespace plumb::graph500
