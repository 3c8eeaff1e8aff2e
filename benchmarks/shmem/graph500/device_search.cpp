#include "benchmarks/shmem/graph500/device_search.hpp"

#include <algorithm>
#include <cstring>

#include "benchmarks/shmem/graph500/discoveries.hpp"
#include "measure/clock.hpp"
#include "transport/transport.hpp"
#include "world/watchdog.hpp"

namespace plumb::graph500 {

namespace {

constexpr std::size_t levels_timed = 64;

class DeviceSearch final : public Search {
 public:
  DeviceSearch(Session& session, Team& team, const Graph& graph, DeviceGraph& on_device, const SearchPlan& plan)
      : team_(team),
        graph_(graph),
        on_device_(on_device),
        layout_(graph.layout),
        alpha_(plan.alpha),
        beta_(plan.beta),
        shape_(on_device.shape()),
        all_ends_(team.all_reduce<std::uint64_t>(graph.neighbours.size(), Fold::sum)),
        queue_(session.device.make_queue()),
        parents_(layout_.count(), unreached),
        device_parents_(std::max<std::uint64_t>(layout_.count(), 1)) {
    allocate(session);
    if (team_.size() > 1 && plan.discoveries == "kernels") open_discoveries(session);
    set_kernels();
    if (shape_.channels)
      for (auto* const queue : {&reading_, &expanding_}) *queue = session.device.make_queue();
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
    start_->set(9, static_cast<std::uint32_t>(root));
    queue_->enqueue(*start_, shape_.range());
    bottom_up_levels_ = 0;
    exchange_seconds_ = 0;
    level_seconds_.clear();
    std::uint64_t ends_left = all_ends_;
    bool bottom_up = false;
    Size level = agreed({1, layout_.is_mine(root) ? graph_.degree(root - layout_.first()) : 0});
    level.vertices = 1;
    for (std::uint32_t turn = 0; level.vertices > 0; turn = 1 - turn) {
      const double begin = now_seconds();
      ends_left -= std::min(ends_left, level.ends);
      if (bottom_up)
        bottom_up = static_cast<double>(level.vertices) * beta_ >= static_cast<double>(layout_.vertices());
      else
        bottom_up = static_cast<double>(level.ends) * alpha_ > static_cast<double>(ends_left);
      if (shape_.channels)
        pass_on(turn);
      else if (bottom_up)
        look_up(turn);
      else
        follow(turn);
      level = found_by_all(turn, discoveries_ && !bottom_up);
      level_seconds_.push_back(now_seconds() - begin);
      Waiting::progress();
    }
    for (const auto& exchange : exchanges_)
      if (exchange) exchange->wait();
  }

  Json facts() const override {
    Json all{{"bottom_up_levels", bottom_up_levels_}, {"form", shape_.channels ? "channels" : "work items"}};
    if (level_seconds_.size() <= levels_timed) all["level_seconds"] = level_seconds_;
    if (exchanges_[0]) {
      all["exchange_seconds"] = exchange_seconds_;
      all["discoveries"] = discoveries_ ? "by kernels" : "by bitmaps";
    }
    return all;
  }

 private:
  struct Size {
    std::uint64_t vertices = 0, ends = 0;
  };
  // Of a level, as kernels add it up.
  struct Totals {
    std::uint32_t tasks = 0, vertices = 0, ends_low = 0, ends_high = 0;
  };

  std::unique_ptr<Buffer> buffer(Session& session, std::uint64_t bytes) const {
    return session.device.allocate(std::max<std::uint64_t>(bytes, 64), session.memory);
  }

  template <class T>
  void write(const std::vector<T>& values, Buffer& to) {
    if (!values.empty())
      queue_->write(reinterpret_cast<const std::byte*>(values.data()), {&to, 0, values.size() * sizeof(T)});
  }

  void allocate(Session& session) {
    const std::uint64_t own_bitmap = 4 * std::uint64_t{own_words()};
    tasks_ = buffer(session, 8 * tasks_of(graph_.neighbours.size(), layout_.vertices()));
    totals_ = buffer(session, 2 * sizeof(Totals));
    told_ = allocate_host(session.device, sizeof(Totals));
    levels_ = buffer(session, 2 * pitch());
    for (auto* own_map : {&known_, &isolated_}) *own_map = buffer(session, own_bitmap);
    parents_buffer_ = buffer(session, 4 * device_parents_.size());
    // Vertices past the last one count as known, like those without edges.
    std::vector<std::uint32_t> isolated(own_words());
    for (std::uint64_t local = 0; local < 32 * isolated.size(); ++local)
      if (local >= layout_.count() || graph_.degree(local) == 0)
        isolated[local / 32] |= std::uint32_t{1} << (local % 32);
    write(isolated, *isolated_);
  }

  void open_discoveries(Session& session) {
    if (shape_.channels) throw Unsupported("kernels joined by channels exchange bitmaps: use --discoveries bitmaps");
    discoveries_ = Discoveries::open(session, team_, on_device_, own_words());
  }

  void set_kernels() {
    Program& program = on_device_.program();
    start_ = program.kernel("start");
    cut_ = program.kernel("cut");
    follow_ = program.kernel("follow");
    look_up_ = program.kernel("look_up");
    look_on_ = program.kernel("look_on");
    const std::uint32_t own = own_words(), at = own_at(), all = static_cast<std::uint32_t>(all_words()), turn = 0;
    Buffer *const begins = on_device_.rows().bounds.get(), *const neighbours = on_device_.rows().ends.get();
    Buffer *const list_begins = on_device_.lists().bounds.get(), *const lists = on_device_.lists().ends.get();
    start_->set({level(0), known_.get(), isolated_.get(), parents_buffer_.get(), totals_.get(), all, at, own,
                 static_cast<std::uint32_t>(layout_.count()), std::uint32_t{0}});
    // Without an exchange of bitmaps it clears the bits of all.
    cut_->set({level(0), level(1), list_begins, tasks_.get(), totals_.get(), turn, all, discoveries_ ? 0 : at,
               discoveries_ ? all : own});
    follow_->set(arguments_of_follow(turn));
    look_up_->set({level(0), level(1), known_.get(), begins, neighbours, parents_buffer_.get(), tasks_.get(),
                   totals_.get(), turn, at, own});
    look_on_->set({level(0), level(1), known_.get(), begins, neighbours, parents_buffer_.get(), tasks_.get(),
                   totals_.get(), turn, at});
    if (!shape_.channels) return;
    reader_ = program.kernel("reader");
    expander_ = program.kernel("expander");
    filter_ = program.kernel("filter");
    reader_->set({level(0), all});
    expander_->set({list_begins, lists});
    filter_->set({begins, known_.get(), level(1), parents_buffer_.get(), totals_.get(), turn, at, own});
  }

  // Bitmaps have whole 64-bit words for each rank, as those of the hosts.
  std::uint64_t all_words() const { return 2 * ((layout_.vertices() + 63) / 64); }
  std::uint32_t own_words() const { return static_cast<std::uint32_t>(2 * ((layout_.count() + 63) / 64)); }
  std::uint32_t own_at() const { return static_cast<std::uint32_t>(layout_.first() / 32); }

  // The bitmaps of two levels lie in one buffer and take turns.
  std::size_t pitch() const { return aligned(4 * all_words()); }
  BufferView level(std::uint32_t turn) const { return {levels_.get(), turn * pitch(), 4 * all_words()}; }

  std::vector<KernelArgument> arguments_of_follow(std::uint32_t turn) const {
    return {tasks_.get(),
            totals_.get(),
            on_device_.lists().bounds.get(),
            on_device_.lists().ends.get(),
            on_device_.rows().bounds.get(),
            known_.get(),
            level(1 - turn),
            parents_buffer_.get(),
            turn,
            own_at()};
  }

  void follow(std::uint32_t turn) {
    cut_->set(0, level(turn));
    cut_->set(1, level(1 - turn));
    cut_->set(5, turn);
    queue_->enqueue(*cut_, shape_.range());
    if (discoveries_) return discoveries_->run(*queue_, arguments_of_follow(turn));
    follow_->set(6, level(1 - turn));
    follow_->set(8, turn);
    queue_->enqueue(*follow_, shape_.range());
  }

  // Down only. The filter ends last, so the level's queue tells when all have ended.
  void pass_on(std::uint32_t turn) {
    reader_->set(0, level(turn));
    filter_->set(2, level(1 - turn));
    filter_->set(5, turn);
    reading_->follow(*queue_);
    reading_->enqueue(*reader_, {1, 1});
    expanding_->enqueue(*expander_, {1, 1});
    queue_->enqueue(*filter_, {1, 1});
    for (Queue* const queue : {reading_.get(), expanding_.get(), queue_.get()}) queue->finished();  // submits
  }

  void look_up(std::uint32_t turn) {
    ++bottom_up_levels_;
    for (Kernel* kernel : {look_up_.get(), look_on_.get()}) {
      kernel->set(0, level(turn));
      kernel->set(1, level(1 - turn));
      kernel->set(8, turn);
    }
    queue_->enqueue(*look_up_, shape_.range());
    if (!shape_.alone()) queue_->enqueue(*look_on_, shape_.range());
  }

  Size agreed(Size mine) {
    if (team_.size() == 1) return mine;
    std::uint64_t sums[] = {mine.vertices, mine.ends};
    team_.all_reduce(std::span<std::uint64_t>(sums), Fold::sum);
    return {sums[0], sums[1]};
  }

  std::size_t words_of(int rank) const { return 2 * ((layout_.count_of(rank) + 63) / 64); }
  std::size_t first_word(int rank) const { return layout_.first_of(rank) / 32; }

  // The bits of a level go from their owners into the bitmaps of all; ranks without vertices send none.
  void connect(Session& session) {
    const int ranks = team_.size(), me = team_.rank();
    for (std::uint32_t turn = 0; turn < 2; ++turn) {
      const auto bits_of = [&](int rank) {
        return Slots{{levels_.get(), turn * pitch() + 4 * first_word(rank), 4 * words_of(rank)}};
      };
      Step step;
      for (int distance = 1; distance < ranks; ++distance) {
        const int to = (me + distance) % ranks, from = (me + ranks - distance) % ranks;
        if (words_of(me) > 0) step.sends.push_back({to, distance, bits_of(me)});
        if (words_of(from) > 0) step.receives.push_back({from, distance, bits_of(from)});
      }
      exchanges_[turn] = session.transport->compile({{step}});
    }
  }

  // The level that was found in a turn, whose bits are on their way to all devices: what follows in the queue waits for
  // them, if it can. Meanwhile ranks agree on its size.
  Size found_by_all(std::uint32_t turn, bool is_sent) {
    queue_->enqueue_read({totals_.get(), turn * sizeof(Totals), sizeof(Totals)}, told_->host_pointer());
    CompiledExchange* const exchange = is_sent ? nullptr : exchanges_[1 - turn].get();
    if (exchanges_[turn]) exchanges_[turn]->wait();  // the last one's end was seen by the queue alone
    if (exchange != nullptr) exchange->start_after(*queue_, 0, 1);
    queue_->finish();
    const double begin = now_seconds();
    Totals mine;
    std::memcpy(&mine, told_->host_pointer(), sizeof mine);
    const Size all = agreed({mine.vertices, std::uint64_t{mine.ends_high} << 32 | mine.ends_low});
    if (exchange != nullptr) exchange->precede(*queue_);
    exchange_seconds_ += now_seconds() - begin;
    return all;
  }

  Team& team_;
  const Graph& graph_;
  DeviceGraph& on_device_;
  const Layout& layout_;
  double alpha_, beta_;
  Shape shape_;
  std::uint64_t all_ends_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Buffer> tasks_, parents_buffer_;
  std::unique_ptr<Buffer> totals_, told_;              // of both turns; the last turn's, on the host
  std::unique_ptr<Buffer> levels_, known_, isolated_;  // bitmaps
  std::unique_ptr<Kernel> start_, cut_, follow_, look_up_, look_on_;
  std::unique_ptr<Kernel> reader_, expander_, filter_;  // of FPGAs, with queues for the first two
  std::unique_ptr<Queue> reading_, expanding_;
  std::unique_ptr<CompiledExchange> exchanges_[2];  // into each; null on one rank; end before the buffers
  std::unique_ptr<Discoveries> discoveries_;        // null unless kernels send what they find
  std::vector<Parent> parents_;
  std::vector<std::uint32_t> device_parents_;
  int bottom_up_levels_ = 0;
  double exchange_seconds_ = 0;
  std::vector<double> level_seconds_;
};

}  // namespace

std::unique_ptr<Search> make_device_search(Session& session, Team& team, const Graph& graph, DeviceGraph& on_device,
                                           const SearchPlan& plan) {
  return std::make_unique<DeviceSearch>(session, team, graph, on_device, plan);
}

}  // namespace plumb::graph500
