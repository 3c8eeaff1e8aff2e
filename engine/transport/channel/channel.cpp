#include "transport/channel/channel.hpp"

#include <fmt/format.h>

#include "core/json.hpp"
#include "transport/channel/cables.hpp"
#include "transport/conduit.hpp"
#include "transport/pair/pair.hpp"
#include "transport/sockets.hpp"
#include "world/collect.hpp"

namespace plumb::channel {

namespace {

class ChannelPort : public PairPort {
 public:
  ChannelPort(const Exchange& exchange, Wiring& wiring, const KernelSource& source, const std::string& kernel,
              const std::string& beside)
      : PairPort(exchange) {
    const std::vector<Lane> lanes = lanes_of(exchange, "transport channel", "use --transport staged or pipelined");
    const Circuit& circuit = wiring.circuit(lanes, source, kernel, beside);
    if (!beside.empty()) program_ = circuit.front()->program.get();
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      pairs_.push_back(circuit[i].get());
      Program& own = program_ != nullptr ? *program_ : *circuit[i]->program;
      const std::string after = program_ != nullptr ? fmt::format("_{}", i) : "";
      for (const bool sends : {false, true})
        if ((sends ? lanes[i].send : lanes[i].receive) != nullptr)
          add(wiring.device(), own, lanes[i], kernel, sends, {}, after);
    }
  }
  Program& program() override { return program_ != nullptr ? *program_ : Port::program(); }

 private:
  void begin_run() override {
    for (const Pair* pair : pairs_)
      if (pair->under_way) throw Error("an exchange over a channel was started while another used its links");
    for (Pair* pair : pairs_) pair->under_way = true;
  }
  void end_run(std::uint64_t) override {
    for (Pair* pair : pairs_) pair->under_way = false;
  }

  std::vector<Pair*> pairs_;
  Program* program_ = nullptr;  // of all lanes
};

// Lanes 2 R and 2 R + 1 are a and b of replication R, whose ports are the board's from 4 R on: a sends by the first two
// to the last two of its neighbour, b the other way round (board.cl). "" if the cables lead there.
std::string misled(const std::vector<Lane>& lanes, const Cables& cables, const std::vector<Board>& boards, int rank) {
  for (const Lane& lane : lanes)
    for (int channel = 0; lane.send != nullptr && channel < static_cast<int>(channels_of_link); ++channel) {
      const int first = 4 * (lane.number / 2) + channel, second = first + 2;
      const bool forth = lane.number % 2 == 0;
      const std::string problem =
          cables.problem(boards[static_cast<std::size_t>(rank)], forth ? first : second,
                         boards[static_cast<std::size_t>(lane.send->peer)], forth ? second : first);
      if (!problem.empty()) return fmt::format("rank {} to rank {}: {}", rank, lane.send->peer, problem);
    }
  return "";
}

// Kernels of a bitstream, whose channels are those of the board, in one program for all exchanges. Cables determine who
// receives.
class BoardPort : public PairPort {
 public:
  BoardPort(const Exchange& exchange, const std::vector<Lane>& lanes, Device& device, Program& program, bool& under_way,
            const std::string& kernel)
      : PairPort(exchange), under_way_(under_way) {
    for (const Lane& lane : lanes)
      for (const bool sends : {false, true})
        if ((sends ? lane.send : lane.receive) != nullptr)
          add(device, program, lane, kernel, sends, {},
              fmt::format("_{}_{}", lane.number / 2, lane.number % 2 == 0 ? 'a' : 'b'));
  }

 private:
  void begin_run() override {
    if (under_way_) throw Error("an exchange over a board's channels was started while another used them");
    under_way_ = true;
  }
  void end_run(std::uint64_t) override { under_way_ = false; }

  bool& under_way_;
};

const TransportInfo channel_info{"channel", "from FPGA to FPGA over serial links (Intel's external channels)", "device",
                                 "streaming"};

const TransportInfo vnx_info{"vnx", "from FPGA to FPGA by frames over UDP (VNx), which may get lost", "device",
                             "streaming"};

struct ChannelOptions : Parameters {
  Parameter<std::int64_t> relay_port{
      *this,
      {"relay-port",
       "transport channel between hosts: the first of 64 ports a rank that its neighbours connect to; 0 = any"},
      0,
      {0, 65535}};
  Parameter<std::string> cables{
      *this,
      {"cables",
       "transport channel with a bitstream: n00:acl0:ch0=n01:acl0:ch2,…; plumb reads them in the system file"},
      ""};
};

const RegisteredTransportOptions registered_channel_options("channel",
                                                            [] { return std::make_unique<ChannelOptions>(); });

struct VnxOptions : Parameters {
  Parameter<std::int64_t> frame{
      *this,
      {"vnx-frame", "transport vnx: bytes of a frame, a multiple of 64; HPCC FPGA's are 8192", "B"},
      1408,
      {64, 8960}};
};

const RegisteredTransportOptions registered_vnx_options("vnx", [] { return std::make_unique<VnxOptions>(); });

std::size_t frame_of(const TransportWish& wish) {
  const auto frame = static_cast<std::size_t>(wish.of<VnxOptions>("vnx").frame);
  if (frame % 64 != 0) throw UsageError(fmt::format("--vnx-frame {} must be a multiple of 64 bytes", frame));
  return frame;
}

// frame: of vnx, else 0.
class ChannelTransport : public Transport, public KernelJoiner {
 public:
  ChannelTransport(World& world, Device& device, const TransportWish& wish, std::size_t frame)
      : world_(world),
        frame_(frame),
        wiring_(world, device, wish.of<ConduitOptions>("conduit").through == "world",
                static_cast<std::uint16_t>(wish.of<ChannelOptions>("channel").relay_port), frame),
        cables_(wish.of<ChannelOptions>("channel").cables) {}
  const TransportInfo& info() const override { return frame_ > 0 ? vnx_info : channel_info; }
  Json facts() const override {
    Json facts{{"channel_width_bytes", channel_width}, {"channels_of_link", channels_of_link}};
    if (frame_ > 0) facts["frame_bytes"] = frame_;
    return facts;
  }
  std::unique_ptr<CompiledExchange> compile(const Exchange& exchange) override {
    return exchange_by_port(exchange, open_port(exchange, rounds_source(), rounds_kernel));
  }
  std::unique_ptr<Port> open_port(const Exchange& exchange, const KernelSource& source,
                                  const std::string& kernel) override {
    return open_port_beside("", exchange, source, kernel);
  }
  std::unique_ptr<Port> open_port_beside(const std::string& beside, const Exchange& exchange,
                                         const KernelSource& source, const std::string& kernel) override {
    check_exchange(exchange, world_);
    if (!source.binary.empty() && frame_ > 0)
      throw Unsupported("transport vnx takes no bitstream: it is emulated only; use --transport channel or staged");
    if (!source.binary.empty()) {
      const std::vector<Lane> lanes = lanes_of(exchange, "transport channel", "use --transport staged or pipelined");
      const AgreedText problem = first_text(world_, misled(lanes, cables_, boards(), world_.rank()));
      if (!problem.text.empty()) throw Unsupported(problem.text);
      if (board_ == nullptr) board_ = wiring_.device().build(source);
      return std::make_unique<BoardPort>(exchange, lanes, wiring_.device(), *board_, board_under_way_, kernel);
    }
    if (emulation_of(wiring_.device().info()).empty())
      throw Unsupported(
          "a board's channels are in its bitstream: give --kernel-file FILE.aocx (plumb synth b_eff makes one)");
    return std::make_unique<ChannelPort>(exchange, wiring_, source, kernel, beside);
  }

 protected:
  // All ranks wire their links together.
  std::unique_ptr<CompiledExchange> compile_in(Team&, const Exchange&) override {
    throw Unsupported("transport channel does not support teams: all ranks wire its links together");
  }

 private:
  // Collective.
  std::vector<Board> boards() {
    std::vector<int> devices;
    for (const std::string& one : all_texts(world_, std::to_string(wiring_.device().info().ordinal)))
      devices.push_back(std::stoi(one));
    return boards_of(all_texts(world_, own_host_name()), devices);
  }

  World& world_;
  std::size_t frame_;
  Wiring wiring_;
  Cables cables_;                   // as the system file has them
  std::unique_ptr<Program> board_;  // of a bitstream
  bool board_under_way_ = false;
};

std::string unfit_device(const DeviceInfo& info) {
  if (info.runtime == "hls") return "";
  if (!info.has(Feature::channels))
    return "it needs an FPGA with Intel's channels (cl_intel_channels): plumb setup fpga-emulator, then --runtime "
           "fpga-emulator, or HLS C++ with --runtime hls";
  return "";
}

// On boards frames are a network layer's beside the kernels, in their bitstream: there is none.
std::string unfit_for_frames(const DeviceInfo& info) {
  if (info.runtime == "hls" || (info.has(Feature::channels) && !emulation_of(info).empty())) return "";
  return "it is emulated only, as no bitstream here has VNx's network layer: use --transport staged or pipelined; or "
         "--runtime hls, or an emulated FPGA (plumb setup fpga-emulator)";
}

TransportEntry entry(const TransportInfo& info) {
  TransportEntry entry;
  entry.info = info;
  entry.reason = [](const World&) { return std::string(); };
  entry.device_reason = info.name == vnx_info.name ? unfit_for_frames : unfit_device;
  entry.runtime = "opencl";
  entry.make = [name = info.name](World& world, Device& device, const TransportWish& wish) {
    info_of(find_transport(name), wish.approach);
    return std::make_unique<ChannelTransport>(world, device, wish, name == vnx_info.name ? frame_of(wish) : 0);
  };
  return entry;
}

const RegisteredTransport registered_channel("channel", entry(channel_info));
const RegisteredTransport registered_vnx("vnx", entry(vnx_info));

}  // namespace

}  // namespace plumb::channel
