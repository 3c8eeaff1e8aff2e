// peer, device-streaming: its port. One persistent kernel per lane runs all rounds, without the host.
#include <fmt/format.h>

#include <algorithm>

#include "transport/peer/kernels.hpp"
#include "transport/port.hpp"

namespace plumb::peer {

namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};  // a message that is not sent on is never awaited

enum Role : std::uint32_t { sends = 1, receives = 2, receives_first = 4, passes_on = 8 };

// Rounds for which a received message stays in its place before another may arrive: the sender of round i waits until
// the receiver has sent on the message of round i - lag. A message received by receive[i] and sent on by send[i +
// ahead] stays for `ahead` of as many rounds as areas; unless slots are passed on one by one, only the end of the
// previous round is known.
std::uint64_t lag_of(const Lane& lane) {
  if (lane.send == nullptr || lane.receive == nullptr) return never;
  const Slots &in = lane.receive->slots, &out = lane.send->slots;
  if (!overlap(in, out)) return never;
  const bool passed_on = in.view.offset == out.view.offset && in.areas == out.areas && in.pitch == out.pitch &&
                         in.stride == out.stride && in.first > out.first && in.first - out.first < in.areas;
  return passed_on ? in.areas - (in.first - out.first) : 1;
}

constexpr const char* subject = "approach device-streaming of transport peer";
constexpr const char* remedy = "use --approach device-buffered";

// State of a lane's kernel in addition to its end.
struct LaneFlags {
  std::unique_ptr<Flags> own;
  std::unique_ptr<Patience> patience;              // separate: PoCL crashes if two queues use one pinned buffer
  std::vector<KernelArgument> slots[2];            // source and destination slots; the turn of round 0 is last
  const Buffer *right = nullptr, *left = nullptr;  // the neighbours' flags of this lane
  std::uint32_t roles = 0;
  std::uint64_t lag = never;  // of the receiving rank
};

class PeerPort : public Port {
 public:
  PeerPort(const Exchange& exchange, const KernelSource& source, const std::string& kernel,
           std::unique_ptr<Neighbours> neighbours)
      : Port(exchange), neighbours_(std::move(neighbours)), shape_(shape_of(neighbours_->device().info())) {
    const std::vector<Lane> lanes = lanes_of(exchange, subject, remedy);
    std::vector<std::vector<Slots>> remote;  // of each step's sends
    for (const Step& step : exchange.steps) remote.push_back(remote_slots(step, *neighbours_));
    program_ = neighbours_->device().build(with_port(source));
    for (const Lane& lane : lanes) {
      ends_.push_back(end_of(lane, kernel));
      lanes_.push_back(flags_of(lane, lane.send != nullptr ? remote[lane.send_step][lane.send_number] : Slots{}));
    }
    trade_flags(lanes);
    const DeviceInfo& info = neighbours_->device().info();
    if (info.type != "gpu" && info.compute_units < ends_.size()) keep_order();
  }
  ~PeerPort() override {
    ends_.clear();
    neighbours_.reset();
  }

 private:
  KernelSource with_port(const KernelSource& source) const {
    KernelSource all = kernels("port.cl", shape_.options);
    all.name = source.name;
    all.opencl += source.opencl;
    all.options += " " + source.options;
    return all;
  }

  std::vector<KernelArgument> arguments(std::size_t number, std::uint64_t first, std::uint64_t) override {
    const LaneFlags& lane = lanes_[number];
    std::vector<KernelArgument> all{ends_[number].bytes,
                                    serial_,
                                    lane.roles,
                                    lane.lag,
                                    shape_.looks,
                                    &lane.own->buffer(),
                                    lane.right,
                                    lane.left,
                                    &lane.patience->buffer()};
    for (const auto& slots : lane.slots) {
      all.insert(all.end(), slots.begin(), slots.end());
      all.back() = std::get<std::uint64_t>(slots.back()) + first;
    }
    return all;
  }
  void end_run(std::uint64_t count) override {
    for (const LaneFlags& lane : lanes_) lane.patience->check();
    serial_ += count + 1;
  }

  End end_of(const Lane& lane, const std::string& kernel) {
    End end;
    end.lane = lane;
    end.lane.send = end.lane.receive = nullptr;  // the exchange may be destroyed
    end.sends = lane.send != nullptr;
    end.receives = lane.receive != nullptr;
    end.bytes = (end.sends ? lane.send : lane.receive)->slots.bytes();
    // Groups poll flags of their own number.
    if (end.sends && end.receives && groups_for(shape_, lane.receive->slots.bytes()) != groups_for(shape_, end.bytes))
      throw Unsupported(fmt::format("{} has about one size for what a lane sends and receives; {}", subject, remedy));
    end.queue = neighbours_->device().make_urgent_queue();  // else its kernels wait for all groups of others
    end.kernel = program_->kernel(kernel);
    end.range = range_for(shape_, end.bytes);
    return end;
  }

  LaneFlags flags_of(const Lane& lane, const Slots& remote) {
    LaneFlags result;
    const Slots& own = (lane.send != nullptr ? lane.send : lane.receive)->slots;
    std::size_t which = 0;
    for (const Slots& slots : {own, lane.send != nullptr ? remote : own})
      result.slots[which++] = {slots.view.buffer,
                               static_cast<std::uint64_t>(slots.view.offset),
                               slots.areas,
                               static_cast<std::uint64_t>(slots.pitch),
                               static_cast<std::uint64_t>(slots.stride),
                               slots.first};
    const bool first = lane.order == Lane::Order::receive_first || lane.send == nullptr;
    result.roles = (lane.send != nullptr ? sends : 0u) | (lane.receive != nullptr ? receives : 0u) |
                   (lane.receive != nullptr && first ? receives_first : 0u) | (lag_of(lane) != never ? passes_on : 0u);
    result.own = std::make_unique<Flags>(neighbours_->device(), 3 * groups_for(shape_, own.bytes()));
    result.patience = std::make_unique<Patience>(neighbours_->device());
    return result;
  }

  // Each rank sends the positions of its flags to the rank before it (which sets `arrived` and needs the lag) and the
  // rank after it (which sets `credit`).
  void trade_flags(const std::vector<Lane>& lanes) {
    Step step;
    std::vector<std::string> for_senders, for_receivers;
    std::vector<LaneFlags*> sending, receiving;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const std::string offer = neighbours_->offer(lanes_[i].own->view());
      lanes_[i].right = lanes_[i].left = &lanes_[i].own->buffer();
      if (lanes[i].send != nullptr) {
        step.sends.push_back(*lanes[i].send);
        for_receivers.push_back(offer);
        sending.push_back(&lanes_[i]);
      }
      if (lanes[i].receive != nullptr) {
        step.receives.push_back(*lanes[i].receive);
        for_senders.push_back(packed({std::to_string(lag_of(lanes[i])), offer}));
        receiving.push_back(&lanes_[i]);
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
  LaunchShape shape_;
  std::unique_ptr<Program> program_;
  std::vector<LaneFlags> lanes_;  // parallel to ends_
  std::uint64_t serial_ = 1;
};

}  // namespace

std::unique_ptr<Port> open_port(const Exchange& exchange, const KernelSource& source, const std::string& kernel,
                                std::unique_ptr<Neighbours> neighbours) {
  return std::make_unique<PeerPort>(exchange, source, kernel, std::move(neighbours));
}

}  // namespace plumb::peer
