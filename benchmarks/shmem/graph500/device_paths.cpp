// Shortest paths on devices: delta-stepping by kernels, as in delta_stepping.hpp.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "benchmarks/shmem/graph500/device_search.hpp"
#include "transport/transport.hpp"
#include "world/watchdog.hpp"

namespace plumb::graph500 {

namespace {

enum class Edges : std::uint32_t { light, heavy, reached, level };  // for cut_paths

// Each device has the distances of all vertices. Before their edges are relaxed, the chosen vertices' bits and their
// owners' distances go to all devices.
class DevicePaths final : public Search {
 public:
  DevicePaths(Session& session, Team& team, const Graph& graph, DeviceGraph& on_device, const SearchPlan& plan)
      : team_(team),
        graph_(graph),
        layout_(graph.layout),
        on_device_(on_device),
        per_bucket_(static_cast<float>(1 / plan.delta)),
        range_(on_device.shape().range()),
        queue_(session.device.make_queue()),
        parents_(layout_.count(), unreached),
        distances_(layout_.count()),
        raw_(std::max<std::uint64_t>(layout_.count(), 1)) {
    allocate(session);
    set_kernels();
    if (team_.size() > 1) connect(session);
  }

  std::span<Parent> parents() override { return parents_; }
  std::span<float> distances() override { return distances_; }

  void poison() override {
    Search::poison();
    std::fill(raw_.begin(), raw_.end(), no_parent);  // as a distance, not a number
    for (const BufferView& to : {BufferView{parents_buffer_.get(), 0, 4 * raw_.size()}, own_distances()})
      if (to.size > 0) queue_->write(reinterpret_cast<const std::byte*>(raw_.data()), to);
  }

  void fetch() override {
    if (layout_.count() == 0) return;
    queue_->read(own_distances(), reinterpret_cast<std::byte*>(distances_.data()));
    queue_->read({parents_buffer_.get(), 0, 4 * raw_.size()}, reinterpret_cast<std::byte*>(raw_.data()));
    for (std::uint64_t local = 0; local < layout_.count(); ++local)
      parents_[local] = raw_[local] == no_parent ? unreached : static_cast<Parent>(raw_[local]);
  }

  void run(Vertex root) override {
    const Waiting waiting("a search for shortest paths on the device");
    start_->set(9, static_cast<std::uint32_t>(root));
    queue_->enqueue(*start_, range_);
    buckets_ = rounds_ = 0;
    bool settled = false;  // whether vertices of the bucket have heavy edges to be relaxed
    for (std::uint32_t bucket = 0;;) {
      const Found found = chosen(bucket);
      if (found.vertices > 0) {
        relax(Edges::light);
        if (!settled) ++buckets_;
        settled = true;
      } else if (settled) {
        // Rounding may leave a heavy edge in its bucket: the search begins there again.
        relax(Edges::heavy);
        settled = false;
      } else {
        if (found.bucket == no_bucket) break;
        bucket = found.bucket;
        Waiting::progress();
      }
    }
    join();
    if (exchange_) exchange_->wait();
  }

  Json facts() const override { return {{"buckets", buckets_}, {"rounds", rounds_}}; }

 private:
  static constexpr std::uint32_t no_bucket = ~std::uint32_t{0};
  // As kernels count it: `vertices` of the level, or without a parent; the least bucket that is not empty.
  struct Found {
    std::uint64_t vertices = 0;
    std::uint32_t bucket = no_bucket;
  };
  struct Totals {
    std::uint32_t tasks = 0, vertices = 0, bucket = 0;
  };

  std::unique_ptr<Buffer> buffer(Session& session, std::uint64_t bytes) const {
    return session.device.allocate(std::max<std::uint64_t>(bytes, 64), session.memory);
  }
  std::uint32_t all_words() const { return static_cast<std::uint32_t>(2 * ((layout_.vertices() + 63) / 64)); }
  std::uint32_t own_words() const { return static_cast<std::uint32_t>(2 * ((layout_.count() + 63) / 64)); }
  std::uint32_t own_at() const { return static_cast<std::uint32_t>(layout_.first() / 32); }
  BufferView own_distances() const { return {distances_buffer_.get(), 4 * layout_.first(), 4 * layout_.count()}; }

  void allocate(Session& session) {
    tasks_ = buffer(session, 8 * tasks_of(graph_.neighbours.size(), layout_.vertices()));
    totals_ = buffer(session, sizeof(Totals));
    told_ = allocate_host(session.device, sizeof(Totals));
    distances_buffer_ = buffer(session, 4 * 32 * std::uint64_t{all_words()});
    parents_buffer_ = buffer(session, 4 * raw_.size());
    for (auto* const bits : {&level_, &settled_}) *bits = buffer(session, 4 * std::uint64_t{all_words()});
    waiting_ = buffer(session, 4 * std::uint64_t{own_words()});
  }

  void set_kernels() {
    Program& program = on_device_.program();
    start_ = program.kernel("start_paths");
    choose_ = program.kernel("choose");
    cut_ = program.kernel("cut_paths");
    relax_ = program.kernel("relax");
    join_ = program.kernel("join");
    find_orphans_ = program.kernel("find_orphans");
    const DeviceGraph::Adjacency& lists = on_device_.lists();
    const std::uint32_t own = own_words(), at = own_at(), all = all_words(), none = 0;
    const auto own_vertices = static_cast<std::uint32_t>(layout_.count());
    start_->set({distances_buffer_.get(), waiting_.get(), settled_.get(), parents_buffer_.get(), totals_.get(), all, at,
                 own, own_vertices, none});
    choose_->set({distances_buffer_.get(), waiting_.get(), level_.get(), totals_.get(), none, per_bucket_, at, own});
    cut_->set({level_.get(), settled_.get(), distances_buffer_.get(), lists.bounds.get(), tasks_.get(), totals_.get(),
               none, all});
    relax_->set({tasks_.get(), totals_.get(), lists.bounds.get(), lists.ends.get(), lists.weights.get(),
                 distances_buffer_.get(), waiting_.get(), none, at});
    join_->set({tasks_.get(), totals_.get(), lists.bounds.get(), lists.ends.get(), lists.weights.get(),
                distances_buffer_.get(), parents_buffer_.get(), none, at});
    find_orphans_->set(
        {distances_buffer_.get(), parents_buffer_.get(), level_.get(), totals_.get(), at, own, own_vertices});
  }

  // Bits and distances of a rank's vertices, from it to all others. Ranks without vertices send none.
  void connect(Session& session) {
    const int ranks = team_.size(), me = team_.rank();
    const auto add = [&](std::vector<Transfer>& to, int peer, int of, int distance) {
      const std::uint64_t first = layout_.first_of(of), count = layout_.count_of(of);
      if (count == 0) return;
      to.push_back({peer, 2 * distance, Slots{{level_.get(), first / 8, 8 * ((count + 63) / 64)}}});
      to.push_back({peer, 2 * distance + 1, Slots{{distances_buffer_.get(), 4 * first, 4 * count}}});
    };
    Step step;
    for (int distance = 1; distance < ranks; ++distance) {
      add(step.sends, (me + distance) % ranks, me, distance);
      add(step.receives, (me + ranks - distance) % ranks, (me + ranks - distance) % ranks, distance);
    }
    exchange_ = session.transport->compile({{step}});
  }

  void relax(Edges kind) {
    ++rounds_;
    cut_->set(6, static_cast<std::uint32_t>(kind));
    relax_->set(7, static_cast<std::uint32_t>(kind));
    queue_->enqueue(*cut_, range_);
    queue_->enqueue(*relax_, range_);
  }

  Found chosen(std::uint32_t bucket) {
    choose_->set(4, bucket);
    queue_->enqueue(*choose_, range_);
    return agreed();
  }

  // What all ranks' kernels counted. What they chose is on its way to all devices, and what follows in the queue waits
  // for it, if it can.
  Found agreed() {
    queue_->enqueue_read({totals_.get(), 0, sizeof(Totals)}, told_->host_pointer());
    if (exchange_) {
      exchange_->wait();  // the last one's end was seen by the queue alone
      exchange_->start_after(*queue_, 0, 1);
    }
    queue_->finish();
    Totals mine;
    std::memcpy(&mine, told_->host_pointer(), sizeof mine);
    Found found{mine.vertices, mine.bucket};
    if (!exchange_) return found;
    found.vertices = team_.all_reduce(found.vertices, Fold::sum);
    found.bucket = static_cast<std::uint32_t>(team_.all_reduce(std::uint64_t{found.bucket}, Fold::minimum));
    exchange_->precede(*queue_);
    return found;
  }

  void join() {
    find_parents(Edges::reached);
    std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
    for (;;) {
      queue_->enqueue(*find_orphans_, range_);
      const std::uint64_t orphans = agreed().vertices;
      if (orphans == 0 || orphans == last) break;  // the second with a wrong kernel only
      last = orphans;
      find_parents(Edges::level);
    }
    queue_->finish();
  }

  void find_parents(Edges kind) {
    cut_->set(6, static_cast<std::uint32_t>(kind));
    join_->set(7, std::uint32_t{kind == Edges::level ? 1u : 0u});
    queue_->enqueue(*cut_, range_);
    queue_->enqueue(*join_, range_);
  }

  Team& team_;
  const Graph& graph_;
  const Layout& layout_;
  DeviceGraph& on_device_;
  float per_bucket_;
  KernelRange range_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Buffer> tasks_, totals_, told_, distances_buffer_, parents_buffer_;
  std::unique_ptr<Buffer> level_, settled_, waiting_;  // bitmaps; the last one of own vertices
  std::unique_ptr<Kernel> start_, choose_, cut_, relax_, join_, find_orphans_;
  std::unique_ptr<CompiledExchange> exchange_;  // null on one rank; ends before the buffers
  std::vector<Parent> parents_;
  std::vector<float> distances_;
  std::vector<std::uint32_t> raw_;
  std::uint64_t buckets_ = 0, rounds_ = 0;
};

}  // namespace

std::unique_ptr<Search> make_device_paths(Session& session, Team& team, const Graph& graph, DeviceGraph& on_device,
                                          const SearchPlan& plan) {
  return std::make_unique<DevicePaths>(session, team, graph, on_device, plan);
}

}  // namespace plumb::graph500
