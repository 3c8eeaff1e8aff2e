#include "transport/accl/accl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <random>

#include "core/json.hpp"
#include "transport/accl/kernels.hpp"
#include "transport/idle.hpp"
#include "transport/staged.hpp"
#include "transport/trade.hpp"
#include "transport/walk.hpp"
#include "world/collect.hpp"
#include "world/watchdog.hpp"

namespace plumb::accl {

namespace {

struct AcclOptions : Parameters {
  Choice preset{*this,
                {"accl-preset",
                 "transports accl-tcp, accl-udp: defaults of the options below, ACCL's or HPCC FPGA's "
                 "(16 buffers of 8 MiB, and that eager limit)"},
                "accl",
                {"accl", "hpcc-fpga"}};
  Parameter<std::int64_t> packet{*this,
                                 {"accl-packet",
                                  "transports accl-tcp, accl-udp: bytes of a packet with its header of "
                                  "64 bytes, a multiple of 64; ACCL's are 1536, 4096 or 8960",
                                  "B"},
                                 1536,
                                 {128, static_cast<std::int64_t>(largest_packet)}};
  Parameter<std::int64_t> buffers{
      *this, {"accl-buffers", "transports accl-tcp, accl-udp: receive buffers of a rank"}, 16, {1, 1 << 16}};
  Parameter<std::int64_t> buffer_size{
      *this,
      {"accl-buffer-size", "transports accl-tcp, accl-udp: bytes of a receive buffer", "B"},
      1024,
      {64, 1 << 30}};
  Parameter<std::int64_t> eager_limit{
      *this,
      {"accl-eager-limit", "transport accl-tcp: longer messages are written to the receiver's address (rendezvous)",
       "B"},
      32 << 10,
      {1, std::int64_t{1} << 32}};
  Choice credit{*this,
                {"accl-credit",
                 "transports accl-tcp, accl-udp: senders wait for receive buffers (not ACCL's: without, "
                 "packets over UDP are lost)"},
                "on",
                {"on", "off"}};
  Choice streams{
      *this,
      {"accl-streams",
       "transports accl-tcp, accl-udp, host-streaming: streams of a kernel, one for each lane from each rank; "
       "or one for all, whose messages are interleaved"},
      "lanes",
      {"lanes", "one"}};
  Choice operands{
      *this,
      {"accl-operands",
       "transports accl-tcp, accl-udp, host-buffered and device-buffered: kernels have their messages in memory; or in "
       "streams to and from the engine, whose receive buffers hold what was not received yet"},
      "memory",
      {"memory", "streams"}};
};

const RegisteredTransportOptions registered_accl_options("accl", [] { return std::make_unique<AcclOptions>(); });

constexpr const char* udp = "accl-udp";

Settings settings_of(const std::string& name, const AcclOptions& options, int ranks) {
  constexpr std::int64_t of_hpcc_fpga = 8 << 20;
  const bool hpcc_fpga = options.preset == "hpcc-fpga";
  Settings settings;
  settings.packet = static_cast<std::size_t>(options.packet.get());
  settings.buffers = static_cast<std::uint32_t>(options.buffers.get());
  const std::int64_t buffer = hpcc_fpga && !options.buffer_size.given() ? of_hpcc_fpga : options.buffer_size.get();
  std::int64_t limit = hpcc_fpga ? of_hpcc_fpga : options.eager_limit.get();
  if (options.eager_limit.given()) limit = options.eager_limit;
  settings.buffer_bytes = static_cast<std::size_t>(buffer);
  settings.credit = options.credit == "on";
  settings.one_stream = options.streams == "one";
  const bool by_streams = options.operands == "streams";
  if (settings.packet % header_bytes != 0)
    throw UsageError(fmt::format("--accl-packet {} must be a multiple of {} bytes", settings.packet, header_bytes));
  if (name == udp && options.eager_limit.given())
    throw UsageError(
        "transport accl-udp takes no --accl-eager-limit: all messages are eager, as UDP has no rendezvous");
  if (by_streams && options.eager_limit.given())
    throw UsageError(
        "--accl-operands streams takes no --accl-eager-limit: all messages are eager, as ACCL's rendezvous is from "
        "memory to memory");
  if (by_streams && settings.buffer_bytes % word_bytes != 0)
    throw UsageError(
        fmt::format("--accl-buffer-size {} must be a multiple of {} bytes, the words of streams", buffer, word_bytes));
  if (limit < buffer && options.eager_limit.given())
    throw UsageError(fmt::format("--accl-eager-limit {} must be at least a receive buffer, {} bytes", limit, buffer));
  if (settings.credit && settings.buffers < static_cast<std::uint32_t>(ranks))
    throw UsageError(
        fmt::format("--accl-buffers {} must be at least the {} ranks, of which each may send with a credit "
                    "of one buffer (--accl-credit off: without)",
                    settings.buffers, ranks));
  settings.eager_limit = name == udp || by_streams ? all_eager : static_cast<std::uint64_t>(std::max(limit, buffer));
  return settings;
}

Paths paths_of(const TransportInfo& info, const AcclOptions& options) {
  if (info.landing == "streaming") return Paths::streaming;
  return options.operands == "streams" ? Paths::operands : Paths::memory;
}

// A message of each round.
struct Message {
  int peer;
  std::uint32_t lane;
  std::uint64_t bytes;
  SlotCursor slots;
};

class AcclExchange : public WalkedExchange {
 public:
  AcclExchange(const Exchange& exchange, Engine& engine, Paths paths, std::vector<AcclExchange*>& others)
      : WalkedExchange(walk_by_step(exchange, "messages of ACCL's engine")),
        engine_(engine),
        paths_(paths),
        others_(others) {
    for (const Step& step : exchange.steps) {
      Messages& made = steps_.emplace_back();
      for (const Transfer& transfer : step.receives) made.receives.push_back(message_of(transfer));
      for (const Transfer& transfer : step.sends) made.sends.push_back(message_of(transfer));
    }
    others_.push_back(this);
  }
  ~AcclExchange() override { std::erase(others_, this); }
  AcclExchange(const AcclExchange&) = delete;
  AcclExchange& operator=(const AcclExchange&) = delete;

 private:
  struct Messages {
    std::vector<Message> sends, receives;
  };

  static Message message_of(const Transfer& transfer) {
    if (transfer.slots.bytes() > std::numeric_limits<std::uint32_t>::max())
      throw Unsupported("a message of ACCL holds less than 4 GiB");
    return {transfer.peer, static_cast<std::uint32_t>(transfer.lane), transfer.slots.bytes(),
            SlotCursor(transfer.slots.view.host_pointer(), transfer.slots)};
  }

  void start_step(std::size_t step, std::uint64_t first, std::uint64_t end) override {
    for (auto* list : {&steps_[step].sends, &steps_[step].receives})
      for (Message& message : *list) message.slots.seek(first);
    for (std::uint64_t round = first; round < end; ++round) {
      for (Message& message : steps_[step].receives) receive(message);
      for (Message& message : steps_[step].sends) send(message);
    }
    engine_.advance();
  }

  void receive(Message& message) {
    std::byte* const to = message.slots.take();
    if (paths_ != Paths::memory) engine_.read_stream(message.peer, message.lane, to, message.bytes, ticket_);
    if (paths_ == Paths::streaming) return;
    Command command = command_of(Call::recv, message);
    if (paths_ == Paths::operands)
      command.streams = result_is_stream;
    else
      command.set_address(2, to);
    engine_.issue(command, ticket_);
  }

  void send(Message& message) {
    const std::byte* const from = message.slots.take();
    Command command = command_of(Call::send, message);
    if (paths_ == Paths::operands) {
      command.streams = operand_is_stream;
      return engine_.issue(command, ticket_, in_words(from, message.bytes));
    }
    command.set_address(0, from);
    if (paths_ == Paths::streaming) command.streams = result_is_stream;
    engine_.issue(command, ticket_);
  }

  static std::vector<std::byte> in_words(const std::byte* from, std::uint64_t bytes) {
    std::vector<std::byte> words(whole_words(bytes));
    std::copy_n(from, bytes, words.begin());
    return words;
  }

  static Command command_of(Call call, const Message& message) {
    Command command;
    command.call = call;
    command.elements = static_cast<std::uint32_t>(message.bytes);
    command.peer = static_cast<std::uint32_t>(message.peer);
    command.function = command.tag = message.lane;
    return command;
  }

  bool test_step(std::size_t) override {
    moved_ = engine_.advance() || moved_;
    return ticket_.open.load(std::memory_order_acquire) == 0;
  }

  // Steps of other exchanges go on, too: their messages may occupy the receive buffers that this one's need.
  void wait_step(std::size_t step) override {
    Idle idle(true);
    for (std::uint64_t looks = 1; !test_step(step); ++looks) {
      if (looks % 16 != 0) continue;
      for (AcclExchange* other : others_)
        if (other != this) other->test();
      if (moved_) {
        moved_ = false;
        idle.moved();
        Waiting::progress();
      } else {
        idle.look();
      }
    }
  }

  void resize(const std::vector<StepSizes>& sizes) override {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      for (std::size_t k = 0; k < steps_[i].sends.size(); ++k) steps_[i].sends[k].bytes = sizes[i].sends[k];
      for (std::size_t k = 0; k < steps_[i].receives.size(); ++k) steps_[i].receives[k].bytes = sizes[i].receives[k];
    }
  }

  Engine& engine_;
  Paths paths_;
  bool moved_ = false;
  std::vector<AcclExchange*>& others_;
  std::vector<Messages> steps_;
  Ticket ticket_;
};

class AcclTransport : public EngineTransport, public KernelJoiner {
 public:
  AcclTransport(TransportInfo info, World& world, Device& device, const AcclOptions& options, const Makers& makers)
      : info_(std::move(info)),
        world_(world),
        device_(device),
        settings_(settings_of(info_.name, options, world.size())),
        paths_(paths_of(info_, options)) {
    const Settings& settings = settings_;
    const bool by_udp = info_.name.find(udp) != std::string::npos;
    auto network = by_udp ? make_udp_network(world, settings.packet) : make_tcp_network(world, settings.packet);
    if (makers.network) network = makers.network(std::move(network));
    const std::uint32_t session = next_session();
    engine_ = makers.engine
                  ? makers.engine(world.rank(), world.size(), settings, std::move(network), session)
                  : std::make_unique<Engine>(world.rank(), world.size(), settings, std::move(network), session);
    world.barrier();  // before that no engine takes packets of this session
    if (by_kernels()) kernels_ = std::make_unique<LaneKernels>(world, device, *engine_, paths_);
  }
  const TransportInfo& info() const override { return info_; }
  Engine& engine() override { return *engine_; }
  std::unique_ptr<CommandKernel> command_kernel(std::uint32_t stream) override {
    if (!by_kernels()) return nullptr;
    return std::make_unique<CommandKernel>(device_, *engine_, world_.rank(), stream);
  }

  Json facts() const override {
    const bool rendezvous = settings_.eager_limit != all_eager;
    return {{"engine", "software"},
            {"packet_bytes", settings_.packet},
            {"buffers", settings_.buffers},
            {"buffer_bytes", settings_.buffer_bytes},
            {"eager_limit_bytes", rendezvous ? Json(settings_.eager_limit) : Json(nullptr)},
            {"rendezvous", rendezvous                  ? "over TCP; ACCL has it over RDMA only"
                           : paths_ == Paths::operands ? "none from streams"
                                                       : "none over UDP"},
            {"credit", settings_.credit},
            {"streams", settings_.one_stream ? "one" : "lanes"},
            {"operands", operands()}};
  }

  Json counted() override {
    const Counts counts = engine_->counts();
    Counts sum;
    for (const Counts& one : gather_values(world_, difference(counts, before_))) sum = added(sum, one);
    before_ = counts;
    if (sum.messages == 0) return nullptr;
    const auto a_message = [&](std::uint64_t value) {
      return static_cast<double>(value) / static_cast<double>(sum.messages);
    };
    Json told{{"messages", sum.messages},
              {"eager", sum.eager},
              {"rendezvous", sum.rendezvous},
              {"commands_per_message", a_message(sum.commands - sum.nops)},
              {"copies_per_message", a_message(sum.copies)},
              {"packets_per_message", a_message(sum.packets)},
              {"bytes_per_message", a_message(sum.bytes)},
              {"credit_packets", sum.credit_packets}};
    if (settings_.one_stream) told["interleaved_packets"] = sum.interleaved;
    return told;
  }

  std::string problem() override {
    const AgreedText agreed = first_text(world_, engine_->fault());
    if (agreed.rank < 0) return "";
    engine_->restart(next_session());
    world_.barrier();
    return fmt::format("rank {}: {}", agreed.rank, agreed.text);
  }

  std::unique_ptr<CompiledExchange> compile(const Exchange& exchange) override {
    if (by_kernels()) return exchange_by_port(exchange, open_port(exchange, rounds_source(), rounds_kernel));
    check_exchange(exchange, world_);
    bool on_host = true;
    for (const Step& step : exchange.steps)
      for (const auto* list : {&step.sends, &step.receives})
        for (const Transfer& transfer : *list) on_host = on_host && transfer.slots.view.host_pointer() != nullptr;
    if (!on_host) return compile_staged(exchange, device_, *this);
    return std::make_unique<AcclExchange>(exchange, *engine_, paths_, exchanges_);
  }
  std::unique_ptr<Port> open_port(const Exchange& exchange, const KernelSource& source,
                                  const std::string& kernel) override {
    if (!by_kernels()) return Transport::open_port(exchange, source, kernel);
    check_exchange(exchange, world_);
    return awaited(world_, [&] { return kernels_->open_port(exchange, source, kernel); });
  }
  std::unique_ptr<Port> open_port_beside(const std::string& beside, const Exchange& exchange,
                                         const KernelSource& source, const std::string& kernel) override {
    if (!by_kernels()) return Transport::open_port(exchange, source, kernel);
    check_exchange(exchange, world_);
    return awaited(world_, [&] { return kernels_->open_port(exchange, source, kernel, beside); });
  }

 protected:
  std::unique_ptr<CompiledExchange> compile_in(Team& team, const Exchange& exchange) override {
    if (by_kernels())
      throw Unsupported("kernels that schedule ACCL's transfers are connected by all ranks together, not by a team");
    return Transport::compile_in(team, exchange);
  }

 private:
  // Of the approaches that have a choice.
  Json operands() const {
    return paths_ == Paths::streaming ? Json(nullptr) : Json(paths_ == Paths::operands ? "streams" : "memory");
  }
  bool by_kernels() const { return info_.scheduled_by == "device"; }
  std::uint32_t next_session() { return broadcast_value(world_, std::random_device{}()); }

  static Counts difference(const Counts& one, const Counts& other) {
    return {one.commands - other.commands,
            one.nops - other.nops,
            one.messages - other.messages,
            one.eager - other.eager,
            one.rendezvous - other.rendezvous,
            one.copies - other.copies,
            one.combinations - other.combinations,
            one.packets - other.packets,
            one.bytes - other.bytes,
            one.credit_packets - other.credit_packets,
            one.interleaved - other.interleaved};
  }
  static Counts added(const Counts& one, const Counts& other) { return difference(one, difference({}, other)); }

  TransportInfo info_;
  World& world_;
  Device& device_;
  Settings settings_;
  Paths paths_;
  std::vector<AcclExchange*> exchanges_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<LaneKernels> kernels_;  // null: the host schedules
  Counts before_;
};

TransportInfo info_with(const std::string& name, const char* scheduled_by, const char* landing) {
  return {name, fmt::format("a software engine of ACCL, its packets over {}", name == udp ? "UDP" : "TCP"),
          scheduled_by, landing};
}

void check_wish(const std::string& name, const World& world, const TransportWish& wish) {
  const AcclOptions& options = wish.of<AcclOptions>("accl");
  settings_of(name, options, world.size());
  const TransportEntry own = accl_entry(name);
  const TransportInfo& info = info_of(own, wish.approach);
  if (options.streams == "one" && approach(info) != "host-streaming")
    throw UsageError(fmt::format(
        "--accl-streams one is of --approach host-streaming: {}",
        info.scheduled_by == "device" ? "kernels on a device have a stream for each lane" : "it uses no streams"));
  if (options.operands == "streams" && info.landing == "streaming")
    throw UsageError(fmt::format("--accl-operands streams is of --approach {}-buffered: {} has streams without it",
                                 info.scheduled_by, approach(info)));
}

const RegisteredTransport registered_accl_tcp("accl-tcp", accl_entry("accl-tcp"));
const RegisteredTransport registered_accl_udp(udp, accl_entry(udp));

Emulation emulation(const std::string& name) {
  return {fmt::format("transport {} is a software engine of ACCL", name),
          [name](const World& world, const TransportWish& wish) { check_wish(name, world, wish); }};
}
const RegisteredEmulation registered_tcp_emulation("accl-tcp", emulation("accl-tcp"));
const RegisteredEmulation registered_udp_emulation(udp, emulation(udp));

}  // namespace

TransportEntry accl_entry(const std::string& name, const Makers& makers) {
  TransportEntry entry;
  entry.info = info_with(name, "host", "buffered");
  for (const auto& [scheduled_by, landing] :
       {std::pair{"host", "streaming"}, {"device", "buffered"}, {"device", "streaming"}})
    entry.others.push_back(info_with(name, scheduled_by, landing));
  entry.runtime = "native";
  entry.reason = [](const World&) { return std::string(); };
  entry.make = [name, makers](World& world, Device& device, const TransportWish& wish) {
    check_wish(name, world, wish);
    const TransportEntry own = accl_entry(name);
    const TransportInfo& info = info_of(own, wish.approach);
    const std::string reason = info.scheduled_by == "device" ? why_no_commands(device.info()) : "";
    if (!reason.empty()) throw Unsupported(fmt::format("transport {} ({}): {}", name, wish.approach, reason));
    return std::make_unique<AcclTransport>(info, world, device, wish.of<AcclOptions>("accl"), makers);
  };
  return entry;
}

}  // namespace plumb::accl
