// peer, device-streaming: one persistent kernel a lane exchanges all rounds of a run, with no host in the loop.
#include <fmt/format.h>

#include <algorithm>

#include "transport/peer/kernels.hpp"
#include "transport/walk.hpp"

namespace plumb::peer {

namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};  // a place that is not sent on is never waited for

enum Role : std::uint32_t { sends = 1, receives = 2, receives_first = 4, passes_on = 8 };

// What a lane does in a round: one send and one receive at most, in this order or the other.
struct Lane {
  const Transfer* send = nullptr;
  const Transfer* receive = nullptr;
  std::size_t step = 0, number = 0;  // of the send
  Slots remote;                      // where it goes
  bool receive_first = false;
};

// For how many rounds a received message stays in its place until another may come: the sender of round i waits until
// the receiver has sent on what it sent in round i - lag. What receive[i] brings and send[i + ahead] takes on stays for
// `ahead` rounds of as many as there are areas; where slots are not passed on one by one, only the round before is
// known to be over.
std::uint64_t lag_of(const Lane& lane) {
  if (lane.send == nullptr || lane.receive == nullptr) return never;
  const Slots &in = lane.receive->slots, &out = lane.send->slots;
  if (!overlap(in, out)) return never;
  const bool passed_on = in.view.offset == out.view.offset && in.areas == out.areas && in.pitch == out.pitch &&
                         in.stride == out.stride && in.first > out.first && in.first - out.first < in.areas;
  return passed_on ? in.areas - (in.first - out.first) : 1;
}

// The lanes of an exchange; throws Unsupported where rounds of one lane depend on another's.
std::vector<Lane> lanes_of(const Exchange& exchange, Neighbours& neighbours) {
  std::map<int, Lane> lanes;
  const auto refuse = [](const std::string& what) {
    throw Unsupported(
        fmt::format("approach device-streaming of transport peer {}; use --approach device-buffered", what));
  };
  for (std::size_t number = 0; number < exchange.steps.size(); ++number) {
    const Step& step = exchange.steps[number];
    const std::vector<Slots> remote = remote_slots(step, neighbours);
    for (const Transfer& receive : step.receives) {
      Lane& lane = lanes[receive.lane];
      if (lane.receive != nullptr) refuse("has one receive a lane in a round");
      lane.receive = &receive;
      lane.receive_first = lane.send == nullptr;
    }
    for (std::size_t i = 0; i < step.sends.size(); ++i) {
      Lane& lane = lanes[step.sends[i].lane];
      if (lane.send != nullptr) refuse("has one send a lane in a round");
      lane.send = &step.sends[i];
      lane.step = number;
      lane.number = i;
      lane.remote = remote[i];
      if (lane.receive != nullptr && std::any_of(step.receives.begin(), step.receives.end(),
                                                 [&](const Transfer& r) { return &r == lane.receive; }))
        lane.receive_first = false;  // of one step: the send need not wait
    }
  }
  std::vector<Lane> list;
  for (auto& [number, lane] : lanes) {
    if (lane.send != nullptr && lane.receive != nullptr && lane.send->slots.bytes() != lane.receive->slots.bytes())
      refuse("has one size for what a lane sends and receives");  // groups look at flags of their own number
    list.push_back(std::move(lane));
  }
  if (exchange.steps.size() > 1 && list.size() > 1) {
    for (const Lane& a : list)
      for (const Lane& b : list)
        if (&a != &b && a.send != nullptr && b.receive != nullptr && overlap(a.send->slots, b.receive->slots))
          refuse("sends on what came in the same lane only");
  }
  return list;
}

// A lane ready to run: its kernel's arguments but for those of a run.
struct LaneKernel {
  std::unique_ptr<Queue> queue;
  std::unique_ptr<Kernel> kernel;
  std::unique_ptr<Flags> flags;
  std::unique_ptr<Patience> patience;              // its own: PoCL crashes where two queues have one pinned buffer
  std::vector<KernelArgument> slots;               // where it sends from, and where to
  const Buffer *right = nullptr, *left = nullptr;  // the neighbours' flags of this lane
  std::size_t bytes = 0;
  std::uint32_t roles = 0;
  std::uint64_t lag = never;         // of the rank that it sends to
  KernelRange range;                 // of the longest message
  std::size_t step = 0, number = 0;  // of its send, where it has one (roles)
};

class StreamExchange : public WalkedExchange {
 public:
  StreamExchange(const Exchange& exchange, std::unique_ptr<Neighbours> neighbours)
      : WalkedExchange(walk_by_rounds(exchange, all_rounds, "kernels that exchange with a neighbour")),
        neighbours_(std::move(neighbours)),
        shape_(shape_of(neighbours_->device().info())),
        program_(neighbours_->device().build(kernels(shape_.options))),
        window_(exchange.window) {
    const std::vector<Lane> lanes = lanes_of(exchange, *neighbours_);
    for (const Lane& lane : lanes) kernels_.push_back(make_kernel(lane));
    trade_flags(lanes);
  }
  ~StreamExchange() override {
    for (LaneKernel& lane : kernels_) lane.queue.reset();
    neighbours_.reset();
  }
  StreamExchange(const StreamExchange&) = delete;
  StreamExchange& operator=(const StreamExchange&) = delete;

 private:
  void start_step(std::size_t, std::uint64_t first, std::uint64_t end) override {
    for (LaneKernel& lane : kernels_) {
      std::vector<KernelArgument> arguments{static_cast<std::uint64_t>(lane.bytes),
                                            first,
                                            end - first,
                                            window_,
                                            serial_,
                                            lane.roles,
                                            lane.lag,
                                            shape_.looks,
                                            &lane.flags->buffer(),
                                            lane.right,
                                            lane.left,
                                            &lane.patience->buffer()};
      arguments.insert(arguments.end(), lane.slots.begin(), lane.slots.end());
      lane.kernel->set(arguments);
      lane.queue->enqueue(*lane.kernel, lane.range);
      lane.queue->finished();  // starts it
    }
    serial_ += end - first + 1;
  }

  bool test_step(std::size_t) override {
    for (LaneKernel& lane : kernels_)
      if (!lane.queue->finished()) return false;
    for (const LaneKernel& lane : kernels_) lane.patience->check();
    return true;
  }
  void wait_step(std::size_t) override {
    for (LaneKernel& lane : kernels_) lane.queue->finish();
    for (const LaneKernel& lane : kernels_) lane.patience->check();
  }

  void resize(const std::vector<StepSizes>& sizes) override {
    for (LaneKernel& lane : kernels_)
      if ((lane.roles & sends) != 0) lane.bytes = sizes[lane.step].sends[lane.number];
  }
  bool follow(Queue& queue) override {
    for (LaneKernel& lane : kernels_) lane.queue->follow(queue);
    return true;
  }
  bool lead(Queue& queue) override {
    for (LaneKernel& lane : kernels_) queue.follow(*lane.queue);
    return true;
  }

  LaneKernel make_kernel(const Lane& lane) {
    LaneKernel result;
    Device& device = neighbours_->device();
    const Slots& own = lane.send != nullptr ? lane.send->slots : lane.receive->slots;
    for (const Slots& slots : {own, lane.send != nullptr ? lane.remote : own})
      result.slots.insert(result.slots.end(), {slots.view.buffer, static_cast<std::uint64_t>(slots.view.offset),
                                               slots.areas, static_cast<std::uint64_t>(slots.pitch),
                                               static_cast<std::uint64_t>(slots.stride), slots.first});
    result.bytes = own.bytes();
    result.range = range_for(shape_, result.bytes);
    result.roles = (lane.send != nullptr ? sends : 0u) | (lane.receive != nullptr ? receives : 0u) |
                   (lane.receive != nullptr && lane.receive_first ? receives_first : 0u) |
                   (lag_of(lane) != never ? passes_on : 0u);
    result.flags = std::make_unique<Flags>(device, 3 * groups_for(shape_, result.bytes));  // arrived, credit, put
    result.patience = std::make_unique<Patience>(device);
    result.queue = device.make_queue();
    result.kernel = program_->kernel("stream");
    result.step = lane.step;
    result.number = lane.number;
    return result;
  }

  // Each rank tells its lanes' flags to the rank that sends to it (who raises `arrived` there, and must know the lag)
  // and to the rank that it sends to (who grants credit there).
  void trade_flags(const std::vector<Lane>& lanes) {
    Step step;
    std::vector<std::string> for_senders, for_receivers;
    std::vector<LaneKernel*> sending, receiving;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const std::string offer = neighbours_->offer(kernels_[i].flags->view());
      kernels_[i].right = kernels_[i].left = &kernels_[i].flags->buffer();
      if (lanes[i].send != nullptr) {
        step.sends.push_back(*lanes[i].send);
        for_receivers.push_back(offer);
        sending.push_back(&kernels_[i]);
      }
      if (lanes[i].receive != nullptr) {
        step.receives.push_back(*lanes[i].receive);
        for_senders.push_back(packed({std::to_string(lag_of(lanes[i])), offer}));
        receiving.push_back(&kernels_[i]);
      }
    }
    World& world = neighbours_->world();
    const auto of_receivers = trade(world, step.receives, for_senders, step.sends);
    for (std::size_t i = 0; i < sending.size(); ++i) {
      const std::vector<std::string> parts = unpacked(of_receivers[i]);
      sending[i]->lag = std::stoull(parts.at(0));
      if (step.sends[i].peer != world.rank()) sending[i]->right = neighbours_->open(parts.at(1)).buffer;
    }
    const auto of_senders = trade(world, step.sends, for_receivers, step.receives);
    for (std::size_t i = 0; i < receiving.size(); ++i)
      if (step.receives[i].peer != world.rank()) receiving[i]->left = neighbours_->open(of_senders[i]).buffer;
  }

  std::unique_ptr<Neighbours> neighbours_;
  Shape shape_;
  std::unique_ptr<Program> program_;
  std::uint64_t window_;
  std::vector<LaneKernel> kernels_;
  std::uint64_t serial_ = 1;
};

}  // namespace

std::unique_ptr<CompiledExchange> compile_stream(const Exchange& exchange, std::unique_ptr<Neighbours> neighbours) {
  return std::make_unique<StreamExchange>(exchange, std::move(neighbours));
}

}  // namespace plumb::peer
