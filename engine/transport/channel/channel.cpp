#include "transport/channel/channel.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/json.hpp"
#include "transport/walk.hpp"

namespace plumb::channel {

namespace {

// One of a lane's two kernels, ready to run.
struct LaneKernel {
  Pair* pair = nullptr;
  std::unique_ptr<Queue> queue;  // its own: it runs beside the others
  std::unique_ptr<Kernel> kernel;
  bool sends = false;
  std::size_t step = 0, number = 0;  // of its transfer
  std::uint64_t bytes = 0;
  std::uint32_t order = 0;
  std::vector<KernelArgument> slots;
};

class ChannelExchange : public WalkedExchange {
 public:
  ChannelExchange(const Exchange& exchange, Wiring& wiring)
      : WalkedExchange(walk_by_rounds(exchange, all_rounds, "kernels that exchange with a neighbour over channels")),
        window_(exchange.window) {
    const std::vector<Lane> lanes = lanes_of(exchange);
    const Circuit& circuit = wiring.circuit(lanes);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (lanes[i].receive != nullptr) add(wiring.device(), *circuit[i], lanes[i], false);
      if (lanes[i].send != nullptr) add(wiring.device(), *circuit[i], lanes[i], true);
    }
  }

 private:
  void start_step(std::size_t, std::uint64_t first, std::uint64_t end) override {
    for (const LaneKernel& lane : kernels_)
      if (lane.pair->under_way) throw Error("an exchange over a channel was started while another used its links");
    for (LaneKernel& lane : kernels_) {
      std::vector<KernelArgument> arguments{lane.bytes, first, (end - first) / window_, window_, lane.order};
      arguments.insert(arguments.end(), lane.slots.begin(), lane.slots.end());
      lane.kernel->set(arguments);
      lane.queue->enqueue(*lane.kernel, {1, 1});
      lane.queue->finished();  // starts it
    }
    set_under_way(true);
  }

  bool test_step(std::size_t) override {
    for (LaneKernel& lane : kernels_)
      if (!lane.queue->finished()) return false;
    set_under_way(false);
    return true;
  }

  void wait_step(std::size_t) override {
    for (LaneKernel& lane : kernels_) lane.queue->finish();
    set_under_way(false);
  }

  void resize(const std::vector<StepSizes>& sizes) override {
    for (LaneKernel& lane : kernels_)
      lane.bytes = lane.sends ? sizes[lane.step].sends[lane.number] : sizes[lane.step].receives[lane.number];
  }
  bool follow(Queue& queue) override {
    for (LaneKernel& lane : kernels_) lane.queue->follow(queue);
    return true;
  }
  bool lead(Queue& queue) override {
    for (LaneKernel& lane : kernels_) queue.follow(*lane.queue);
    return true;
  }

  void add(Device& device, Pair& pair, const Lane& lane, bool sends) {
    const Transfer& transfer = sends ? *lane.send : *lane.receive;
    LaneKernel result;
    result.sends = sends;
    result.step = sends ? lane.send_step : lane.receive_step;
    result.number = sends ? lane.send_number : lane.receive_number;
    result.pair = &pair;
    result.queue = device.make_queue();
    result.kernel = pair.program->kernel(sends ? "send_messages" : "receive_messages");
    const Slots& slots = transfer.slots;
    result.bytes = slots.bytes();
    result.order = static_cast<std::uint32_t>(lane.order);
    result.slots = {slots.view.buffer,
                    static_cast<std::uint64_t>(slots.view.offset),
                    slots.areas,
                    static_cast<std::uint64_t>(slots.pitch),
                    static_cast<std::uint64_t>(slots.stride),
                    slots.first};
    kernels_.push_back(std::move(result));
  }

  void set_under_way(bool running) {
    for (const LaneKernel& lane : kernels_) lane.pair->under_way = running;
  }

  std::uint64_t window_;
  std::vector<LaneKernel> kernels_;
};

const TransportInfo channel_info{"channel", "from FPGA to FPGA over serial links (Intel's external channels)", "device",
                                 "streaming"};

class ChannelTransport : public Transport {
 public:
  ChannelTransport(World& world, Device& device, const TransportWish& wish)
      : world_(world), wiring_(world, device, wish.through == "world", wish.relay_port) {}
  const TransportInfo& info() const override { return channel_info; }
  Json facts() const override {
    return {{"channel_width_bytes", channel_width}, {"channels_of_link", channels_of_link}};
  }
  std::unique_ptr<CompiledExchange> compile(const Exchange& exchange) override {
    check_exchange(exchange, world_);
    return std::make_unique<ChannelExchange>(exchange, wiring_);
  }

 private:
  World& world_;
  Wiring wiring_;
};

std::string unfit_device(const DeviceInfo& info) {
  if (!info.has(Feature::channels))
    return "it needs an FPGA with Intel's channels (cl_intel_channels): plumb setup fpga-emulator, then --runtime "
           "fpga-emulator";
  if (info.platform.find("Emulation") == std::string::npos)
    return "its links are those of the FPGA emulator so far; a board's need its bitstream and cables";
  return "";
}

TransportEntry entry() {
  TransportEntry entry;
  entry.info = channel_info;
  entry.reason = [](const World&) { return std::string(); };
  entry.device_reason = unfit_device;
  entry.runtime = "opencl";
  entry.make = [](World& world, Device& device, const TransportWish& wish) {
    info_of(find_transport("channel"), wish.approach);
    return std::make_unique<ChannelTransport>(world, device, wish);
  };
  return entry;
}

const RegisteredTransport registered_channel("channel", entry());

}  // namespace

}  // namespace plumb::channel
