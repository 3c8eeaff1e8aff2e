// Transport `pipelined`: a message is sent in pieces, so that device-to-host copy, transfer and host-to-device copy
// overlap (seed 003, pipelining below MPI). Between ranks of one host the pieces are in memory that both map and pin,
// without a copy between. Messages too short to gain use `staged`.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "core/json.hpp"
#include "core/seconds.hpp"
#include "transport/conduit.hpp"
#include "transport/idle.hpp"
#include "transport/staged.hpp"
#include "transport/trade.hpp"
#include "transport/walk.hpp"
#include "world/collect.hpp"
#include "world/hosts.hpp"
#include "world/team.hpp"
#include "world/watchdog.hpp"

namespace plumb {

namespace {

const TransportInfo pipelined_info{"pipelined", "device to host, host to host, host to device, in overlapping pieces",
                                   "host", "buffered"};

constexpr unsigned usual_depth = 4;

// The messages of one transfer within a window of rounds, cut into pieces.
class Pieces {
 public:
  Pieces(const Slots& slots, std::size_t piece_bytes)
      : slots_(slots), piece_bytes_(piece_bytes), of_a_message_((slots.bytes() + piece_bytes - 1) / piece_bytes) {}

  void resize(std::size_t bytes) {
    slots_.view.size = bytes;
    of_a_message_ = (bytes + piece_bytes_ - 1) / piece_bytes_;
  }
  // Starts rounds first .. end - 1; their pieces are numbered from `base` on.
  void begin(std::uint64_t base, std::uint64_t first, std::uint64_t end) {
    base_ = base;
    first_ = first;
    end_ = base + (end - first) * of_a_message_;
  }
  std::uint64_t end() const { return end_; }
  BufferView view(std::uint64_t piece) const {
    const BufferView message = slots_.at(first_ + (piece - base_) / of_a_message_);
    const std::size_t offset = (piece - base_) % of_a_message_ * piece_bytes_;
    return {message.buffer, message.offset + offset, std::min(piece_bytes_, message.size - offset)};
  }

 private:
  Slots slots_;
  std::size_t piece_bytes_;
  std::uint64_t of_a_message_;
  std::uint64_t base_ = 0, first_ = 0, end_ = 0;
};

// Concurrent copies of pieces, each in its own queue to detect its completion.
class Copies {
 public:
  Copies(Device& device, unsigned depth) {
    for (unsigned i = 0; i < depth; ++i) queues_.push_back(device.make_queue());
  }
  Queue& queue(std::uint64_t piece) { return *queues_[piece % queues_.size()]; }
  bool full() const { return begun - done == queues_.size(); }
  bool next_done() { return done < begun && queue(done).finished(); }
  void follow(Queue& earlier) {
    for (auto& one : queues_) one->follow(earlier);
  }

  std::uint64_t begun = 0, done = 0;  // pieces

 private:
  std::vector<std::unique_ptr<Queue>> queues_;
};

class Sender {
 public:
  // number: index of the transfer in the step.
  Sender(Device& device, unsigned depth, Pieces pieces, std::unique_ptr<SendConduit> conduit, std::size_t number)
      : number(number), pieces_(std::move(pieces)), copies_(device, depth), conduit_(std::move(conduit)) {}
  void begin(std::uint64_t first, std::uint64_t end) { pieces_.begin(copies_.done, first, end); }
  void resize(std::size_t bytes) { pieces_.resize(bytes); }
  void follow(Queue& earlier) { copies_.follow(earlier); }

  // Returns whether any piece made progress.
  bool progress() {
    const std::uint64_t before = copies_.begun + copies_.done;
    for (; copies_.begun < pieces_.end() && !copies_.full() && conduit_->room(copies_.begun); ++copies_.begun)
      copies_.queue(copies_.begun).enqueue_read(pieces_.view(copies_.begun), conduit_->place(copies_.begun));
    for (; copies_.next_done(); ++copies_.done) conduit_->sent(copies_.done, pieces_.view(copies_.done).size);
    return copies_.begun + copies_.done > before;
  }
  bool complete() { return copies_.done == pieces_.end() && conduit_->idle(); }

  const std::size_t number;

 private:
  Pieces pieces_;
  Copies copies_;
  std::unique_ptr<SendConduit> conduit_;
};

class Receiver {
 public:
  // number: index of the transfer in the step.
  Receiver(Device& device, unsigned depth, Pieces pieces, std::unique_ptr<ReceiveConduit> conduit, std::size_t number)
      : number(number), pieces_(std::move(pieces)), copies_(device, depth), conduit_(std::move(conduit)) {}
  void begin(std::uint64_t first, std::uint64_t end) {
    pieces_.begin(copies_.done, first, end);
    for (std::uint64_t piece = copies_.done; piece < pieces_.end(); ++piece)
      conduit_->expect(piece, pieces_.view(piece).size);
  }

  void resize(std::size_t bytes) { pieces_.resize(bytes); }
  void follow(Queue& earlier) { copies_.follow(earlier); }

  bool progress() {
    const std::uint64_t before = copies_.begun + copies_.done;
    for (; copies_.begun < pieces_.end() && !copies_.full() && conduit_->arrived(copies_.begun); ++copies_.begun)
      copies_.queue(copies_.begun).enqueue_write(conduit_->place(copies_.begun), pieces_.view(copies_.begun));
    for (; copies_.next_done(); ++copies_.done) conduit_->emptied(copies_.done);
    return copies_.begun + copies_.done > before;
  }
  bool complete() const { return copies_.done == pieces_.end(); }

  const std::size_t number;

 private:
  Pieces pieces_;
  Copies copies_;
  std::unique_ptr<ReceiveConduit> conduit_;
};

struct PipelinedStep {
  std::vector<std::unique_ptr<Sender>> sends;
  std::vector<std::unique_ptr<Receiver>> receives;
};

class PipelinedExchange : public WalkedExchange {
 public:
  PipelinedExchange(const Exchange& exchange, std::vector<PipelinedStep> steps, bool shares_cores)
      : WalkedExchange(walk_by_step(exchange, "pieces of messages")), steps_(std::move(steps)), idle_(shares_cores) {}

 private:
  void start_step(std::size_t step, std::uint64_t first, std::uint64_t end) override {
    for (auto& receive : steps_[step].receives) receive->begin(first, end);
    for (auto& send : steps_[step].sends) send->begin(first, end);
  }

  bool test_step(std::size_t step) override {
    bool complete = true;
    moved_ = false;
    for (auto& send : steps_[step].sends) {
      moved_ = send->progress() || moved_;
      complete = send->complete() && complete;
    }
    for (auto& receive : steps_[step].receives) {
      moved_ = receive->progress() || moved_;
      complete = receive->complete() && complete;
    }
    return complete;
  }

  void wait_step(std::size_t step) override {
    while (!test_step(step)) {
      if (moved_) {
        Waiting::progress();
        idle_.moved();
      } else {
        idle_.look();
      }
    }
  }

  void resize(const std::vector<StepSizes>& sizes) override {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      for (auto& send : steps_[i].sends) send->resize(sizes[i].sends[send->number]);
      for (auto& receive : steps_[i].receives) receive->resize(sizes[i].receives[receive->number]);
    }
  }

  bool follow(Queue& queue) override {
    for (PipelinedStep& step : steps_) {
      for (auto& send : step.sends) send->follow(queue);
      for (auto& receive : step.receives) receive->follow(queue);
    }
    return true;
  }

  std::vector<PipelinedStep> steps_;
  Idle idle_;
  bool moved_ = false;
};

// Messages of at least this size are cut into pieces of that size; 0: staged.
struct Crossover {
  std::size_t from = 0, piece = 0;
  bool by_segment = true;  // between ranks of one host; otherwise as between hosts
};

// The maximum over all ranks.
template <class T>
T largest_of_all(World& world, T value) {
  const std::vector<T> all = gather_values(world, value);
  return broadcast_value(world, all.empty() ? value : *std::max_element(all.begin(), all.end()));
}

struct PipelinedOptions : Parameters {
  Parameter<std::int64_t> chunk{
      *this,
      {"pipeline-chunk", "transport pipelined: size of the pieces of a message; 0: what it measures to be best", "KiB"},
      0,
      {0, 1 << 20}};
  Parameter<std::int64_t> depth{
      *this, {"pipeline-depth", "transport pipelined: pieces under way together; 0 = 4"}, 0, {0, 64}};
};

const RegisteredTransportOptions registered_pipelined_options("pipelined",
                                                              [] { return std::make_unique<PipelinedOptions>(); });

class PipelinedTransport : public Transport {
 public:
  PipelinedTransport(World& world, Device& device, const PipelinedOptions& options, const std::string& through)
      : world_(world),
        device_(device),
        host_(make_host_transport(world, device)),
        depth_(options.depth > 0 ? static_cast<unsigned>(options.depth) : usual_depth),
        shares_cores_(device.info().type != "gpu") {
    find_near();
    if (options.chunk > 0)
      choices_ = {{0, static_cast<std::size_t>(options.chunk) << 10, through != "world"}};
    else
      measure_choices(through);
  }

  const TransportInfo& info() const override { return pipelined_info; }
  Transport* host_leg() override { return host_.get(); }

  Json facts() const override {
    Json pieces = Json::array();
    for (const Crossover& choice : choices_)
      pieces.push_back({{"from_bytes", choice.from},
                        {"piece_bytes", choice.piece},
                        {"through", choice.by_segment ? "segment" : "world"}});
    const auto others = static_cast<std::int64_t>(std::count(near_.begin(), near_.end(), true));
    return {{"depth", depth_}, {"pieces", pieces}, {"measured_to_bytes", measured_to_}, {"ranks_of_host", others}};
  }

  std::unique_ptr<CompiledExchange> compile(const Exchange& exchange) override {
    return compile_together(exchange, largest_of_all(world_, exchange.largest_message()), [this] { world_.barrier(); });
  }

 protected:
  std::unique_ptr<CompiledExchange> compile_in(Team& team, const Exchange& exchange) override {
    const std::uint64_t size = team.all_reduce(std::uint64_t{exchange.largest_message()}, Fold::maximum);
    return compile_together(exchange, size, [&team] { team.barrier(); });
  }

 private:
  // largest: maximum message of the compiling ranks; barrier: among them.
  template <class Barrier>
  std::unique_ptr<CompiledExchange> compile_together(const Exchange& exchange, std::size_t largest, Barrier barrier) {
    check_exchange(exchange, world_);
    Crossover way = choices_.front();
    for (const Crossover& choice : choices_)
      if (choice.from <= largest) way = choice;
    return awaited(world_, [&] { return compile_with(exchange, way, largest, barrier); });
  }

  template <class Barrier>
  std::unique_ptr<CompiledExchange> compile_with(const Exchange& exchange, const Crossover& way, std::size_t largest,
                                                 Barrier barrier) {
    if (way.piece == 0) return compile_staged(exchange, device_, *host_);
    const ConduitShape shape{std::min(way.piece, largest), depth_};
    std::vector<PipelinedStep> steps;
    for (const Step& step : exchange.steps) steps.push_back(compile_step(step, shape, way.by_segment));
    barrier();  // all have opened the shared memory: now an owner may close it
    return std::make_unique<PipelinedExchange>(exchange, std::move(steps), shares_cores_);
  }

  // Ranks reachable through shared host memory.
  void find_near() {
    const std::vector<std::string> hosts = hosts_of_ranks(world_);
    const std::string& here = hosts[static_cast<std::size_t>(world_.rank())];
    for (const std::string& host : hosts) near_.push_back(host == here);
  }

  // Transfers of one path, with their positions in the step.
  struct OneWay {
    Step step;
    std::vector<std::size_t> sends, receives;
  };

  PipelinedStep compile_step(const Step& step, const ConduitShape& shape, bool by_segment) {
    OneWay near, far;
    const auto of = [&](const Transfer& transfer) -> OneWay& {
      return by_segment && near_[static_cast<std::size_t>(transfer.peer)] ? near : far;
    };
    for (std::size_t i = 0; i < step.sends.size(); ++i) {
      of(step.sends[i]).step.sends.push_back(step.sends[i]);
      of(step.sends[i]).sends.push_back(i);
    }
    for (std::size_t i = 0; i < step.receives.size(); ++i) {
      of(step.receives[i]).step.receives.push_back(step.receives[i]);
      of(step.receives[i]).receives.push_back(i);
    }
    PipelinedStep result;
    add(result, near, segment_conduits(near.step, world_, device_, shape), shape);
    add(result, far, world_conduits(far.step, *host_, device_, shape), shape);
    return result;
  }

  void add(PipelinedStep& result, const OneWay& way, Conduits conduits, const ConduitShape& shape) {
    const auto pieces = [&](const Transfer& transfer) { return Pieces(transfer.slots, shape.piece_bytes); };
    for (std::size_t i = 0; i < way.sends.size(); ++i)
      result.sends.push_back(std::make_unique<Sender>(device_, depth_, pieces(way.step.sends[i]),
                                                      std::move(conduits.sends[i]), way.sends[i]));
    for (std::size_t i = 0; i < way.receives.size(); ++i)
      result.receives.push_back(std::make_unique<Receiver>(device_, depth_, pieces(way.step.receives[i]),
                                                           std::move(conduits.receives[i]), way.receives[i]));
  }

  // Measures messages to both neighbours of a ring of all ranks, staged and in pieces of several sizes, and keeps the
  // fastest for each message size. Both ends must agree, so times are those of the slowest rank. Shared memory lacks
  // large pages on many systems, where MPI may be faster: both paths are measured.
  void measure_choices(const std::string& through) {
    constexpr std::size_t kib = std::size_t{1} << 10;
    std::vector<Crossover> candidates;
    if (through != "world")
      for (const std::size_t piece : {64 * kib, 256 * kib, 1024 * kib, 4096 * kib})
        candidates.push_back({0, piece, true});
    if (through != "segment")
      for (const std::size_t piece : {256 * kib, 1024 * kib}) candidates.push_back({0, piece, false});
    choices_ = {{0, 0}};
    double spent = 0;
    for (std::size_t size = 16 * kib; size <= 16384 * kib && spent < longest_tuning; size *= 2) {
      Crossover best{size, 0};
      const Shift shift(world_, device_, size);
      double best_time = time_of(shift, best, spent) * gain_needed;
      for (const Crossover& candidate : candidates) {
        if (candidate.piece > 2 * size) continue;  // at most one piece, up to the next size
        const double time = time_of(shift, candidate, spent);
        if (time < best_time) {
          best_time = time;
          best = {size, candidate.piece, candidate.by_segment};
        }
      }
      const Crossover& last = choices_.back();
      if (best.piece != last.piece || best.by_segment != last.by_segment) choices_.push_back(best);
      measured_to_ = size;
    }
  }
  static constexpr double longest_tuning = 0.6;                            // seconds
  static constexpr std::uint64_t bytes_in_a_row = std::uint64_t{8} << 20;  // sent by a rank
  static constexpr double gain_needed = 0.97;                              // of staged's time: smaller gains are noise

  // One message to each neighbour, one from each, at the same time; between two ranks both are with the same one.
  struct Shift {
    std::vector<std::unique_ptr<Buffer>> buffers;
    Exchange exchange{{Step{}}};
    Shift(World& world, Device& device, std::size_t size) {
      const int ranks = world.size(), right = (world.rank() + 1) % ranks, left = (world.rank() + ranks - 1) % ranks;
      const auto buffer = [&] {
        buffers.push_back(device.allocate(size, {}));
        return Slots{whole(*buffers.back())};
      };
      Step& step = exchange.steps[0];
      step.sends = {{right, 0, buffer()}, {left, 1, buffer()}};
      step.receives = {{left, 0, buffer()}, {right, 1, buffer()}};
    }
    std::size_t bytes_sent() const { return 2 * exchange.largest_message(); }
  };

  // Seconds of a shift, the mean of several in a row, the fastest row, of the slowest rank. Adds the time taken to
  // `spent`.
  double time_of(const Shift& shift, const Crossover& way, double& spent) {
    const double begin = now_seconds();
    const auto compiled =
        compile_with(shift.exchange, way, shift.exchange.largest_message(), [this] { world_.barrier(); });
    const std::uint64_t row = std::clamp<std::uint64_t>(bytes_in_a_row / shift.bytes_sent(), 1, 8);
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 4; ++i) {
      world_.barrier();
      const double start = now_seconds();
      compiled->run(0, row);
      best = std::min(best, (now_seconds() - start) / static_cast<double>(row));
    }
    spent += largest_of_all(world_, now_seconds() - begin);
    return largest_of_all(world_, best);
  }

  World& world_;
  Device& device_;
  std::unique_ptr<Transport> host_;
  unsigned depth_;
  bool shares_cores_;
  std::vector<bool> near_;          // by rank
  std::vector<Crossover> choices_;  // by message size, from 0 on
  std::size_t measured_to_ = 0;     // bytes; longer messages have the last choice
};

const RegisteredTransport registered_pipelined("pipelined",
                                               {pipelined_info, false, [](const World&) -> std::string { return ""; },
                                                [](World& world, Device& device, const TransportWish& wish) {
                                                  return std::make_unique<PipelinedTransport>(
                                                      world, device, wish.of<PipelinedOptions>("pipelined"),
                                                      wish.of<ConduitOptions>("conduit").through);
                                                }});

}  // namespace

}  // namespace plumb
