#include "transport/channel/channel.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/json.hpp"
#include "transport/conduit.hpp"

namespace plumb::channel {

namespace {

class ChannelPort : public Port {
 public:
  ChannelPort(const Exchange& exchange, Wiring& wiring, const KernelSource& source, const std::string& kernel)
      : Port(exchange) {
    const std::vector<Lane> lanes = lanes_of(exchange, "transport channel", "use --transport staged or pipelined");
    const Circuit& circuit = wiring.circuit(lanes, source, kernel);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (lanes[i].receive != nullptr) add(wiring.device(), *circuit[i], lanes[i], kernel + "_receive", false);
      if (lanes[i].send != nullptr) add(wiring.device(), *circuit[i], lanes[i], kernel + "_send", true);
    }
  }

 private:
  void begin_run() override {
    for (const Pair* pair : pairs_)
      if (pair->under_way) throw Error("an exchange over a channel was started while another used its links");
    for (Pair* pair : pairs_) pair->under_way = true;
  }
  void end_run(std::uint64_t) override {
    for (Pair* pair : pairs_) pair->under_way = false;
  }

  std::vector<KernelArgument> arguments(std::size_t number, std::uint64_t first, std::uint64_t) override {
    std::vector<KernelArgument> all{ends_[number].bytes, static_cast<std::uint32_t>(ends_[number].lane.order)};
    all.insert(all.end(), slots_[number].begin(), slots_[number].end());
    all.back() = std::get<std::uint64_t>(all.back()) + first;
    return all;
  }

  void add(Device& device, Pair& pair, const Lane& lane, const std::string& kernel, bool sends) {
    const Slots& slots = (sends ? lane.send : lane.receive)->slots;
    End end;
    end.lane = lane;
    end.lane.send = end.lane.receive = nullptr;  // the exchange may be destroyed
    end.sends = sends;
    end.receives = !sends;
    end.bytes = slots.bytes();
    end.queue = device.make_queue();
    end.kernel = pair.program->kernel(kernel);
    end.range = {1, 1};
    ends_.push_back(std::move(end));
    slots_.push_back({slots.view.buffer, static_cast<std::uint64_t>(slots.view.offset), slots.areas,
                      static_cast<std::uint64_t>(slots.pitch), static_cast<std::uint64_t>(slots.stride), slots.first});
    if (std::find(pairs_.begin(), pairs_.end(), &pair) == pairs_.end()) pairs_.push_back(&pair);
  }

  std::vector<std::vector<KernelArgument>> slots_;  // parallel to ends_
  std::vector<Pair*> pairs_;
};

const TransportInfo channel_info{"channel", "from FPGA to FPGA over serial links (Intel's external channels)", "device",
                                 "streaming"};

struct ChannelOptions : Parameters {
  Parameter<std::int64_t> relay_port{
      *this,
      {"relay-port",
       "transport channel between hosts: the first of 64 ports a rank that its neighbours connect to; 0 = any"},
      0,
      {0, 65535}};
};

const RegisteredTransportOptions registered_channel_options("channel",
                                                            [] { return std::make_unique<ChannelOptions>(); });

class ChannelTransport : public Transport {
 public:
  ChannelTransport(World& world, Device& device, const TransportWish& wish)
      : world_(world),
        wiring_(world, device, wish.of<ConduitOptions>("conduit").through == "world",
                static_cast<std::uint16_t>(wish.of<ChannelOptions>("channel").relay_port)) {}
  const TransportInfo& info() const override { return channel_info; }
  Json facts() const override {
    return {{"channel_width_bytes", channel_width}, {"channels_of_link", channels_of_link}};
  }
  std::unique_ptr<CompiledExchange> compile(const Exchange& exchange) override {
    return exchange_by_port(exchange, open_port(exchange, rounds_source(), rounds_kernel));
  }
  std::unique_ptr<Port> open_port(const Exchange& exchange, const KernelSource& source,
                                  const std::string& kernel) override {
    check_exchange(exchange, world_);
    return std::make_unique<ChannelPort>(exchange, wiring_, source, kernel);
  }

 protected:
  // All ranks wire their links together.
  std::unique_ptr<CompiledExchange> compile_in(Team&, const Exchange&) override {
    throw Unsupported("transport channel does not support teams: all ranks wire its links together");
  }

 private:
  World& world_;
  Wiring wiring_;
};

std::string unfit_device(const DeviceInfo& info) {
  if (info.runtime == "hls") return "";
  if (!info.has(Feature::channels))
    return "it needs an FPGA with Intel's channels (cl_intel_channels): plumb setup fpga-emulator, then --runtime "
           "fpga-emulator, or HLS C++ with --runtime hls";
  if (info.platform.find("Emulation") == std::string::npos)
    return "it supports the FPGA emulator only; a board needs its bitstream and cables";
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
