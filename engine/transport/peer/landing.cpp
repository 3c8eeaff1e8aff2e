// peer, device-buffered: a kernel writes each message into a landing place of the neighbour and sets a flag there; the
// neighbour's kernel waits for the flag and copies the message to its destination. The host starts both in each round:
// on a GPU one kernel, as a launch takes longer than a short message.
#include <algorithm>
#include <span>

#include "transport/peer/kernels.hpp"
#include "transport/walk.hpp"

namespace plumb::peer {

namespace {

constexpr std::uint64_t landings = 2;         // per transfer: one is filled while the other is emptied
constexpr std::uint64_t rounds_at_once = 64;  // enqueued before waiting

// One end of a transfer. The receiver's buffer holds the places; flags are in the waiting rank's memory.
struct End {
  Slots slots;
  std::unique_ptr<Flags> flags;     // polled by this rank
  std::unique_ptr<Buffer> landing;  // in the receiver's memory
  BufferView there;                 // the sender's view of it
  const Buffer* flags_there = nullptr;
  KernelRange range;         // for the longest message: every message sets all groups' flags
  std::uint64_t serial = 0;  // messages, over the lifetime
  std::size_t place_bytes = 0;
};

struct LandingStep {
  std::vector<End> sends, receives;
};

// A message to or from a landing place, as kernel move_all has it.
struct Move {
  const Buffer* from;
  std::uint64_t from_at;
  const Buffer* to;
  std::uint64_t to_at, bytes;
  const Buffer* awaited;
  std::uint64_t wanted;
  const Buffer* raised;
  std::uint64_t value;
  KernelRange range;
  bool puts;
};
constexpr std::size_t most_moves = 4;  // of a kernel

class LandingExchange : public WalkedExchange {
 public:
  LandingExchange(const Exchange& exchange, std::unique_ptr<Neighbours> neighbours)
      : WalkedExchange(walk_by_rounds(exchange, rounds_at_once,
                                      "kernels that put into a neighbour's memory and take from their own")),
        neighbours_(std::move(neighbours)),
        shape_(shape_of(neighbours_->device().info())),
        patience_(neighbours_->device()),
        program_(neighbours_->device().build(kernels("landing.cl", shape_.options))),
        kernel_(program_->kernel("move_all")),
        queue_(neighbours_->device().make_urgent_queue()),  // else its kernels wait for all groups of others
        window_(exchange.window) {
    for (const Step& step : exchange.steps) steps_.push_back(compile(step));
  }
  ~LandingExchange() override {
    queue_.reset();
    neighbours_.reset();
  }
  LandingExchange(const LandingExchange&) = delete;
  LandingExchange& operator=(const LandingExchange&) = delete;

 private:
  LandingStep compile(const Step& step) {
    LandingStep result;
    std::vector<std::string> of_receivers, of_senders;
    for (const Transfer& transfer : step.receives) {
      End end = make_end(transfer);
      end.landing = neighbours_->device().allocate(landings * end.place_bytes, {MemoryKind::automatic, {}, true});
      of_receivers.push_back(packed({neighbours_->offer(whole(*end.landing)), neighbours_->offer(end.flags->view())}));
      result.receives.push_back(std::move(end));
    }
    for (const Transfer& transfer : step.sends) {
      End end = make_end(transfer);
      of_senders.push_back(neighbours_->offer(end.flags->view()));
      result.sends.push_back(std::move(end));
    }
    const auto to_sends = trade(neighbours_->world(), step.receives, of_receivers, step.sends);
    const auto to_receives = trade(neighbours_->world(), step.sends, of_senders, step.receives);
    for (std::size_t i = 0; i < step.sends.size(); ++i) join(step, i, to_sends[i], result);
    for (std::size_t i = 0; i < step.receives.size(); ++i)
      if (step.receives[i].peer != neighbours_->world().rank())
        result.receives[i].flags_there = neighbours_->open(to_receives[i]).buffer;
    return result;
  }

  End make_end(const Transfer& transfer) {
    End end;
    end.slots = transfer.slots;
    end.place_bytes = (transfer.slots.bytes() + 4095) / 4096 * 4096;
    end.range = range_for(shape_, transfer.slots.bytes());
    end.flags = std::make_unique<Flags>(neighbours_->device(), groups_for(shape_, transfer.slots.bytes()));
    return end;
  }

  // Connects send i of the step with its receiver's landing place; messages to this rank itself have both ends here.
  void join(const Step& step, std::size_t i, const std::string& offer, LandingStep& result) {
    End& send = result.sends[i];
    if (step.sends[i].peer != neighbours_->world().rank()) {
      const std::vector<std::string> parts = unpacked(offer);
      send.there = neighbours_->open(parts.at(0));
      send.flags_there = neighbours_->open(parts.at(1)).buffer;
      return;
    }
    for (std::size_t k = 0; k < step.receives.size(); ++k) {
      if (step.receives[k].peer != step.sends[i].peer || step.receives[k].lane != step.sends[i].lane) continue;
      End& receive = result.receives[k];
      send.there = whole(*receive.landing);
      send.flags_there = &receive.flags->buffer();
      receive.flags_there = &send.flags->buffer();
    }
  }

  void start_step(std::size_t, std::uint64_t first, std::uint64_t end) override {
    for (; first < end; first += window_)
      for (LandingStep& step : steps_)
        for (std::uint64_t round = first; round < first + window_; ++round) enqueue_round(step, round);
  }
  bool test_step(std::size_t) override {
    if (!queue_->finished()) return false;
    patience_.check();
    return true;
  }
  void wait_step(std::size_t) override {
    queue_->finish();
    patience_.check();
  }

  void resize(const std::vector<StepSizes>& sizes) override {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      for (std::size_t k = 0; k < sizes[i].sends.size(); ++k) steps_[i].sends[k].slots.view.size = sizes[i].sends[k];
      for (std::size_t k = 0; k < sizes[i].receives.size(); ++k)
        steps_[i].receives[k].slots.view.size = sizes[i].receives[k];
    }
  }
  bool follow(Queue& queue) override {
    queue_->follow(queue);
    return true;
  }
  bool lead(Queue& queue) override {
    queue.follow(*queue_);
    return true;
  }

  // Sends before receives: no rank waits for a message before sending its own. Groups of a CPU's kernel may run in any
  // order, so there each has a kernel of its own.
  void enqueue_round(LandingStep& step, std::uint64_t round) {
    std::vector<Move> moves;
    for (End& end : step.sends) moves.push_back(put(end, round));
    for (End& end : step.receives) moves.push_back(take(end, round));
    const std::size_t at_once = neighbours_->device().info().type == "gpu" ? most_moves : 1;
    for (std::size_t i = 0; i < moves.size(); i += at_once)
      enqueue(std::span(moves).subspan(i, std::min(at_once, moves.size() - i)));
  }

  static Move put(End& end, std::uint64_t round) {
    const BufferView from = end.slots.at(round);
    const std::uint64_t serial = ++end.serial;
    return {from.buffer,
            from.offset,
            end.there.buffer,
            end.there.offset + serial % landings * end.place_bytes,
            from.size,
            &end.flags->buffer(),
            serial > landings ? serial - landings : 0,
            end.flags_there,
            serial,
            end.range,
            true};
  }
  static Move take(End& end, std::uint64_t round) {
    const BufferView to = end.slots.at(round);
    const std::uint64_t serial = ++end.serial;
    return {end.landing.get(),
            serial % landings * end.place_bytes,
            to.buffer,
            to.offset,
            to.size,
            &end.flags->buffer(),
            serial,
            end.flags_there,
            serial,
            end.range,
            false};
  }

  // Moves that are not there have no groups.
  void enqueue(std::span<const Move> moves) {
    std::vector<KernelArgument> arguments;
    std::size_t groups = 0, items = 1;
    for (std::size_t i = 0; i < most_moves; ++i) {
      const Move& move = moves[std::min(i, moves.size() - 1)];
      const std::size_t own = i < moves.size() ? move.range.global / move.range.local : 0;
      const KernelArgument one[]{move.from,    move.from_at, move.to,     move.to_at, move.bytes,
                                 move.awaited, move.wanted,  move.raised, move.value, static_cast<std::uint32_t>(own)};
      arguments.insert(arguments.end(), std::begin(one), std::end(one));
      groups += own;
      items = std::max(items, move.range.local);
    }
    const auto puts = std::count_if(moves.begin(), moves.end(), [](const Move& move) { return move.puts; });
    arguments.insert(arguments.end(), {static_cast<std::uint32_t>(puts), shape_.looks, &patience_.buffer()});
    kernel_->set(arguments);
    queue_->enqueue(*kernel_, {groups * items, items});
  }

  std::unique_ptr<Neighbours> neighbours_;
  LaunchShape shape_;
  Patience patience_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Queue> queue_;
  std::vector<LandingStep> steps_;
  std::uint64_t window_;
};

}  // namespace

std::unique_ptr<CompiledExchange> compile_landing(const Exchange& exchange, std::unique_ptr<Neighbours> neighbours) {
  return std::make_unique<LandingExchange>(exchange, std::move(neighbours));
}

}  // namespace plumb::peer
