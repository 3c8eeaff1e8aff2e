#include "transport/accl/kernels.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/embedded.hpp"
#include "transport/pair/pair.hpp"
#include "world/collect.hpp"

namespace plumb::accl {

namespace {

constexpr const char* subject = "a kernel that schedules ACCL's transfers";
constexpr const char* remedy = "use --approach host-buffered";

bool is_in_hls(const Device& device) {
  return device.info().runtime == "hls";
}

const std::string& text_in(bool hls) {
  return embedded_text(hls ? "engine/transport/accl/accl_hls.cpp" : "engine/transport/accl/accl.cl");
}

// Connects the streams of a kernel in HLS C++, or names its io channels: `prefix` is that of their macros.
struct Connected {
  std::string defines;
  std::vector<StreamLink> streams;
};

void connect_kernel(Connected& made, const std::string& kernel, const std::string& prefix, const Pipes& pipes,
                    bool commands, bool data, bool data_leave) {
  const auto add = [&](const char* stream, const char* macro, const Pipe& pipe, bool leaves) {
    const std::string end = fmt::format("{}.{}", kernel, stream);
    made.streams.push_back(leaves ? StreamLink{end, pipe.name()} : StreamLink{pipe.name(), end});
    made.defines += fmt::format("#define {}_{} \"{}\"\n", prefix, macro, pipe.name());
  };
  if (commands) {
    add("commands", "COMMANDS", pipes.commands, true);
    add("statuses", "STATUSES", pipes.statuses, false);
  }
  if (data) add("data", "DATA", pipes.data, data_leave);
}

}  // namespace

Pipe::Pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
    throw Error(fmt::format("transport accl cannot make a pipe: {}", std::strerror(errno)));
  read_end_ = Descriptor(ends[0]);
  write_end_ = Descriptor(ends[1]);
}

std::string Pipe::name() const {
  return fmt::format("/proc/self/fd/{}", read_end_.get());
}

std::string why_no_commands(const DeviceInfo& info) {
  if (info.runtime == "hls" || (info.has(Feature::channels) && !emulation_of(info).empty())) return "";
  return "kernels of this device have no command stream to the software engine: use --approach host-buffered or "
         "host-streaming; or --runtime hls, or an emulated FPGA (plumb setup fpga-emulator)";
}

// --- lanes --------------------------------------------------------------------------------------

namespace {

// What accl.cl and accl_hls.cpp define for each lane.
LaneNames names_of_lane(bool in_hls) {
  LaneNames made{{"send_message", "receive_message"}, {"read_words", "send_by_engine", "receive_by_engine"}};
  for (const char* end : {"SEND", "RECEIVE"})
    for (const char* what : {"COMMANDS", "STATUSES", "DATA"}) made.macros.push_back(fmt::format("{}_{}", end, what));
  const std::vector<const char*> others =
      in_hls ? std::vector{"issue", "await_status", "send_words", "receive_words"}
             : std::vector{"command_of",       "send_commands",    "send_statuses", "send_data",
                           "receive_commands", "receive_statuses", "receive_data"};
  made.names.insert(made.names.end(), others.begin(), others.end());
  return made;
}

}  // namespace

// The kernels of one list of lanes and one text.
class LaneKernels::Circuit {
 public:
  Circuit(Engine& engine, std::uint32_t number) : engine_(engine), number_(number) {}
  ~Circuit() {
    for (const auto& pair : pairs_)
      for (const KernelPipes& one : pair->ends)
        if (one.commands >= 0) engine_.detach(one);
    for (const auto& [from, stream] : led_) engine_.lead_stream(from, stream, -1);
  }
  Circuit(const Circuit&) = delete;
  Circuit& operator=(const Circuit&) = delete;

  // `beside`: other kernels' text, in one program with those of all lanes; "" = a program for each lane.
  void build(Device& device, const std::vector<Lane>& lanes, Paths paths, const KernelSource& source,
             const std::string& kernel, const std::string& beside) {
    const bool hls = is_in_hls(device);
    std::vector<KernelSource> texts;
    for (const Lane& lane : lanes) texts.push_back(connect(hls, lane, paths, source, kernel));
    joined_ = !beside.empty();
    if (joined_)
      programs_.push_back(device.build(joined_source(hls, beside, source, texts, kernel, names_of_lane(hls))));
    else
      for (const KernelSource& text : texts) programs_.push_back(device.build(text));
  }
  // Of the lane's tags and streams: other circuits use others.
  std::uint32_t number_of(const Lane& lane) const {
    return number_ << lane_bits | static_cast<std::uint32_t>(lane.number);
  }
  Program& program(std::size_t lane) { return *programs_[joined_ ? 0 : lane]; }
  bool is_joined() const { return joined_; }

  bool under_way = false;

 private:
  static constexpr std::uint32_t lane_bits = 16;
  struct Pair {
    Pipes send, receive;
    KernelPipes ends[2];  // of the kernels that issue commands
  };

  KernelSource connect(bool hls, const Lane& lane, Paths paths, const KernelSource& source, const std::string& kernel) {
    const bool words = paths != Paths::memory, receives = paths != Paths::streaming;
    Pair& pair = *pairs_.emplace_back(std::make_unique<Pair>());
    Connected made;
    if (lane.send != nullptr) {
      connect_kernel(made, kernel + send_suffix, "SEND", pair.send, true, words, true);
      attach(pair.ends[0], pair.send);
    }
    if (lane.receive != nullptr) {
      connect_kernel(made, kernel + receive_suffix, "RECEIVE", pair.receive, receives, words, false);
      if (words) {
        led_.emplace_back(lane.receive->peer, number_of(lane));
        engine_.lead_stream(lane.receive->peer, number_of(lane), pair.receive.data.write_end());
      }
      if (receives) attach(pair.ends[1], pair.receive);
    }
    const std::string more = "#define PORT_MORE uint port_peer, uint port_number,\n";
    std::string own = words ? receives ? "#define OPERANDS\n" : "#define STREAMING\n" : "";
    if (!hls) own += made.defines;
    KernelSource whole = pair_source(lane, hls, own + text_in(hls), source, kernel);
    (hls ? whole.hls : whole.opencl).insert(0, more);
    if (hls) whole.streams.insert(whole.streams.end(), made.streams.begin(), made.streams.end());
    return whole;
  }

  void attach(KernelPipes& ends, const Pipes& pipes) {
    ends = {pipes.commands.read_end(), pipes.statuses.write_end(), pipes.data.read_end()};
    engine_.attach(ends);
  }

  Engine& engine_;
  std::uint32_t number_;
  bool joined_ = false;
  std::vector<std::pair<int, std::uint32_t>> led_;
  std::vector<std::unique_ptr<Pair>> pairs_;
  std::vector<std::unique_ptr<Program>> programs_;  // by lane, or one
};

namespace {

class LanesPort : public PairPort {
 public:
  LanesPort(const Exchange& exchange, const std::vector<Lane>& lanes, Device& device, LaneKernels::Circuit& circuit,
            const std::string& kernel)
      : PairPort(exchange), circuit_(circuit) {
    for (std::size_t i = 0; i < lanes.size(); ++i)
      for (const bool sends : {false, true}) {
        const Transfer* transfer = sends ? lanes[i].send : lanes[i].receive;
        if (transfer == nullptr) continue;
        add(device, circuit.program(i), lanes[i], kernel, sends,
            {static_cast<std::uint32_t>(transfer->peer), circuit.number_of(lanes[i])},
            circuit.is_joined() ? fmt::format("_{}", i) : "");
      }
  }
  Program& program() override { return circuit_.is_joined() ? circuit_.program(0) : Port::program(); }

 private:
  void begin_run() override {
    if (circuit_.under_way) throw Error("an exchange by kernels was started while another used them");
    circuit_.under_way = true;
  }
  void end_run(std::uint64_t) override { circuit_.under_way = false; }

  LaneKernels::Circuit& circuit_;
};

}  // namespace

LaneKernels::LaneKernels(World& world, Device& device, Engine& engine, Paths paths)
    : world_(world), device_(device), engine_(engine), paths_(paths) {}
LaneKernels::~LaneKernels() = default;

std::unique_ptr<Port> LaneKernels::open_port(const Exchange& exchange, const KernelSource& source,
                                             const std::string& kernel, const std::string& beside) {
  if (!beside.empty() && paths_ == Paths::memory)
    throw Unsupported(
        "kernels that are joined to others have their messages in no memory of the engine's: use --accl-operands "
        "streams, or --approach device-streaming");
  const std::vector<Lane> lanes = lanes_of(exchange, subject, remedy);
  std::string key = fmt::format("{}\n{}\n{}\n{}\n{}\n", kernel, source.options, beside, source.opencl, source.hls);
  for (const Lane& lane : lanes)
    key += fmt::format("{} {} {}\n", lane.number, lane.receive != nullptr ? lane.receive->peer : -1,
                       lane.send != nullptr ? lane.send->peer : -1);
  // Numbers of circuits are in messages, so all ranks use a known one, or all make a new one.
  const auto known = known_.find(key);
  const std::uint32_t none = ~std::uint32_t{0};
  const std::vector<std::uint32_t> found = gather_values(world_, known == known_.end() ? none : known->second);
  const bool same = std::all_of(found.begin(), found.end(), [&](std::uint32_t one) { return one == found.front(); });
  std::uint32_t number = broadcast_value(world_, found.empty() || !same ? none : found.front());
  if (number == none) {
    number = static_cast<std::uint32_t>(circuits_.size());
    circuits_.push_back(std::make_unique<Circuit>(engine_, number));
    circuits_.back()->build(device_, lanes, paths_, source, kernel, beside);
    known_[key] = number;
    world_.barrier();
  }
  return std::make_unique<LanesPort>(exchange, lanes, device_, *circuits_[number], kernel);
}

// --- a kernel alone -----------------------------------------------------------------------------

CommandKernel::CommandKernel(Device& device, Engine& engine, int rank, std::uint32_t stream)
    : engine_(engine), rank_(rank), stream_(stream), nothing_(device.allocate(word_bytes, {})) {
  constexpr const char* kernel = "engine_commands";
  const bool hls = is_in_hls(device);
  Connected send, receive;
  connect_kernel(send, kernel, "SEND", pipes_, true, false, true);
  connect_kernel(receive, kernel, "RECEIVE", pipes_, false, true, false);
  KernelSource source{.name = "engine_commands", .opencl = ""};
  const std::string defines = "#define COMMANDS_ALONE\n";
  if (hls) {
    source.hls = defines + text_in(true);
    source.streams = send.streams;
    source.streams.insert(source.streams.end(), receive.streams.begin(), receive.streams.end());
  } else {
    source.opencl = defines + send.defines + receive.defines + text_in(false);
  }
  program_ = device.build(source);
  kernel_ = program_->kernel(kernel);
  queue_ = device.make_queue();
  ends_ = {pipes_.commands.read_end(), pipes_.statuses.write_end(), -1};
  engine_.attach(ends_);
  engine_.lead_stream(rank_, stream_, pipes_.data.write_end());
}

CommandKernel::~CommandKernel() {
  engine_.lead_stream(rank_, stream_, -1);
  engine_.detach(ends_);
}

void CommandKernel::start(std::uint64_t count) {
  const std::uint64_t none = 0;
  const Buffer* nothing = nothing_.get();
  start({count, none, stream_, nothing, none, nothing, none});
}

void CommandKernel::start(std::uint64_t count, const BufferView& from, std::size_t from_step, const BufferView& to,
                          std::size_t to_step, std::size_t bytes) {
  start({count, static_cast<std::uint64_t>(bytes), stream_, from, static_cast<std::uint64_t>(from_step), to,
         static_cast<std::uint64_t>(to_step)});
}

void CommandKernel::start(const std::vector<KernelArgument>& arguments) {
  kernel_->set(arguments);
  queue_->enqueue(*kernel_, {1, 1});
  queue_->finished();  // submits it
}

}  // namespace plumb::accl
