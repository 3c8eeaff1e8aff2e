// Timed parts of b_eff: the transfer, or one sub-step of a staged transfer (seed 004, section 5.1.2), each by the
// transport's own code.
#include <fmt/format.h>

#include <cstring>

#include "benchmarks/hpcc/b_eff/b_eff.hpp"
#include "core/embedded.hpp"
#include "transport/accl/accl.hpp"
#include "transport/port.hpp"
#include "transport/staged.hpp"
#include "world/watchdog.hpp"

namespace plumb::b_eff {

namespace {

// Messages through a transport: the session's own, or its host leg only.
class TransferPart : public Part {
 public:
  TransferPart(Session& session, const Pattern& pattern, Transport& transport, const Placement& placement)
      : pattern_(pattern),
        seed_(session.seed),
        buffers_(session.device, placement, pattern.lanes(), pattern.lane_bytes()) {
    const Exchange exchange = make_exchange(pattern_, buffers_);
    exchange_ =
        session.kernel_file.empty() || transport.info().scheduled_by == "host"
            ? transport.compile(exchange)
            : exchange_by_port(exchange, transport.open_port(exchange, session.source(rounds_source()), rounds_kernel));
  }

  void reset(std::uint64_t repetition, std::uint64_t count) override {
    each_area([&](std::uint64_t lane, std::uint64_t area) {
      buffers_.poison(lane, area * pattern_.pitch(), expected(lane, area, repetition, count));
    });
    std::vector<std::byte> message(pattern_.bytes);
    for (std::uint64_t lane = 0; lane < pattern_.lanes(); ++lane)
      for (std::uint64_t turn = 0; turn < pattern_.window(); ++turn) {
        fill_message(message, message_of(pattern_, seed_, repetition, lane, turn));
        buffers_.put(pattern_.slots(buffers_.lane(lane)).at(turn), message);
      }
  }

  void run(std::uint64_t count) override { exchange_->run(0, count); }

  Validation validate(std::uint64_t repetition, std::uint64_t count) override {
    Validation found;
    found.reference =
        "every byte of the last messages, and the first bytes of each round's, recomputed from origin, lane, size and "
        "repetition";
    each_area([&](std::uint64_t lane, std::uint64_t area) {
      buffers_.check(lane, area * pattern_.pitch(), expected(lane, area, repetition, count), found);
    });
    return found;
  }

 private:
  template <class F>
  void each_area(F use) const {
    for (std::uint64_t lane = 0; lane < pattern_.lanes(); ++lane)
      for (std::uint64_t area = 0; area < pattern_.areas(); ++area) use(lane, area);
  }
  Expected expected(std::uint64_t lane, std::uint64_t area, std::uint64_t repetition, std::uint64_t count) const {
    return expected_in_area(pattern_, seed_, repetition, count, lane, area);
  }

  Pattern pattern_;
  std::uint64_t seed_;
  LaneBuffers buffers_;
  std::unique_ptr<CompiledExchange> exchange_;  // destroyed before the buffers in use
};

accl::EngineTransport& engine_of(Session& session) {
  auto* const transport = dynamic_cast<accl::EngineTransport*>(session.transport);
  if (transport != nullptr) return *transport;
  throw Unsupported(fmt::format("transport {} has no engine that takes commands: use accl-tcp or accl-udp",
                                session.transport->info().name));
}

void await(accl::Engine& engine, const accl::Ticket& ticket) {
  const Waiting waiting("commands of ACCL's engine");
  while (ticket.open.load(std::memory_order_acquire) > 0) engine.advance();
}

constexpr std::uint32_t part_stream = 0x4000'0000;  // numbers of this part's streams, apart from messages'

// Commands without work, each awaited (l_k of Meyer 2024, section 5.2.3), of the host or of a kernel. The engine counts
// them.
class CommandPart : public Part {
 public:
  explicit CommandPart(accl::EngineTransport& transport)
      : engine_(transport.engine()), kernel_(transport.command_kernel(part_stream)) {}

  void reset(std::uint64_t, std::uint64_t) override { before_ = engine_.counts().nops; }

  void run(std::uint64_t count) override {
    if (kernel_ != nullptr) {
      kernel_->start(count);
      return kernel_->finish();
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      engine_.issue({}, ticket_);
      await(engine_, ticket_);
    }
  }

  Validation validate(std::uint64_t, std::uint64_t count) override {
    Validation found;
    found.reference = "the engine's number of commands without work, and their status";
    found.items_checked = 1;
    const std::uint64_t executed = engine_.counts().nops - before_;
    found.wrong_items = executed == count && ticket_.status.load() == accl::status::done ? 0 : 1;
    found.error = static_cast<double>(found.wrong_items);
    if (found.wrong_items > 0) found.detail = fmt::format("{} commands were issued, {} executed", count, executed);
    return found;
  }

 private:
  accl::Engine& engine_;
  std::unique_ptr<accl::CommandKernel> kernel_;  // null: the host issues them
  accl::Ticket ticket_;
  std::uint64_t before_ = 0;
};

// Copies in one direction between the device and pinned host memory, or by ACCL's engine from memory to a kernel's
// stream (l_m; where the host schedules it stands in for the kernel), as many at once as in the transfer. Each copy has
// its own source and target, one stride further in the source and two in the target, so that its remainder differs from
// the previous copy's.
class CopyPart : public Part {
 public:
  CopyPart(Session& session, const Pattern& pattern, CopyDirection direction,
           accl::EngineTransport* transport = nullptr)
      : engine_(transport == nullptr ? nullptr : &transport->engine()),
        pattern_(pattern),
        reads_(direction == CopyDirection::read),
        seed_(session.seed),
        device_(session.device, session.memory, pattern.lanes(), pattern.copies_bytes()),
        host_(session.device, {MemoryKind::host, {}}, pattern.lanes(), pattern.copies_bytes()) {
    for (std::uint64_t lane = 0; transport != nullptr && lane < pattern.lanes(); ++lane)
      if (auto kernel = transport->command_kernel(part_stream + static_cast<std::uint32_t>(lane)))
        kernels_.push_back(std::move(kernel));
    if (engine_ != nullptr && kernels_.empty() && pattern.lanes() > 0 &&
        whole(device_.lane(0)).host_pointer() == nullptr)
      throw Unsupported("the engine copies from memory that the host can address: use --runtime native");
    std::vector<StagingCopy> copies;
    for (std::uint64_t lane = 0; lane < pattern.lanes(); ++lane)
      copies.push_back({slots(device_, lane, pattern.stride() * (reads_ ? 1 : 2)),
                        slots(host_, lane, pattern.stride() * (reads_ ? 2 : 1))});
    leg_ = std::make_unique<CopyLeg>(session.device.make_queue(), direction, std::move(copies));
  }

  void reset(std::uint64_t repetition, std::uint64_t count) override {
    for (std::uint64_t lane = 0; lane < pattern_.lanes(); ++lane) {
      const std::vector<std::byte> bytes = source_bytes(lane, repetition, count);
      LaneBuffers& source = reads_ ? device_ : host_;
      source.put({&source.lane(lane), 0, bytes.size()}, bytes);
      target().poison(lane, 0, expected(lane, repetition, count));
    }
  }

  void run(std::uint64_t count) override {
    if (engine_ == nullptr) return leg_->run(0, count);
    if (!kernels_.empty()) return copy_by_kernels(count);
    for (std::uint64_t round = 0; round < count; ++round) {
      for (std::uint64_t lane = 0; lane < pattern_.lanes(); ++lane) copy_by_engine(lane, round);
      await(*engine_, ticket_);
    }
  }

  Validation validate(std::uint64_t repetition, std::uint64_t count) override {
    Validation found;
    found.reference = "every byte of the last copy, and the first bytes of each, recomputed from lane and repetition";
    for (std::uint64_t lane = 0; lane < pattern_.lanes(); ++lane)
      target().check(lane, 0, expected(lane, repetition, count), found);
    return found;
  }

 private:
  void copy_by_kernels(std::uint64_t count) {
    for (std::uint64_t lane = 0; lane < kernels_.size(); ++lane)
      kernels_[lane]->start(count, whole(device_.lane(lane)), pattern_.stride(), whole(host_.lane(lane)),
                            2 * pattern_.stride(), pattern_.bytes);
    for (const auto& kernel : kernels_) kernel->finish();
  }

  void copy_by_engine(std::uint64_t lane, std::uint64_t round) {
    const auto stream = static_cast<std::uint32_t>(lane);
    engine_->read_stream(pattern_.rank, stream, slots(host_, lane, 2 * pattern_.stride()).at(round).host_pointer(),
                         pattern_.bytes, ticket_);
    accl::Command copy;
    copy.call = accl::Call::copy;
    copy.elements = static_cast<std::uint32_t>(pattern_.bytes);
    copy.streams = accl::result_is_stream;
    copy.function = stream;
    copy.set_address(0, slots(device_, lane, pattern_.stride()).at(round).host_pointer());
    engine_->issue(copy, ticket_);
  }

  Slots slots(const LaneBuffers& buffers, std::uint64_t lane, std::size_t step) const {
    return {{&buffers.lane(lane), 0, pattern_.bytes}, 1, 0, step};
  }
  LaneBuffers& target() { return reads_ ? host_ : device_; }

  std::vector<std::byte> source_bytes(std::uint64_t lane, std::uint64_t repetition, std::uint64_t count) const {
    std::vector<std::byte> bytes(pattern_.bytes + (count - 1) * pattern_.stride());
    fill_message(bytes, {seed_, static_cast<std::uint64_t>(pattern_.rank), lane, pattern_.bytes, repetition});
    return bytes;
  }

  Expected expected(std::uint64_t lane, std::uint64_t repetition, std::uint64_t count) const {
    const std::vector<std::byte> source = source_bytes(lane, repetition, count);
    const std::size_t stride = pattern_.stride(), target_stride = 2 * stride;
    Expected expected;
    for (std::uint64_t copy = 0; copy < count; ++copy) {
      const std::size_t kept = copy + 1 == count ? pattern_.bytes : pattern_.kept_of_copy();
      expected.add({copy * target_stride, kept, copy});
      std::memcpy(expected.bytes.data() + copy * target_stride, source.data() + copy * stride, kept);
    }
    return expected;
  }

  accl::Engine* engine_;                                       // null: copies by the device's queue
  std::vector<std::unique_ptr<accl::CommandKernel>> kernels_;  // by lane, where kernels schedule
  accl::Ticket ticket_;
  Pattern pattern_;
  bool reads_;
  std::uint64_t seed_;
  LaneBuffers device_, host_;
  std::unique_ptr<CopyLeg> leg_;
};

// Kernels of one work item in sequence, each awaited: the host's cost of learning that data is ready. Each increments a
// counter in device memory, which detects omitted launches.
class LaunchPart : public Part {
 public:
  explicit LaunchPart(Session& session)
      : seed_(session.seed),
        counter_(session.device.allocate(sizeof(std::uint64_t), {})),
        queue_(session.device.make_queue()) {
    KernelSource source;
    source.name = "b_eff launch";
    source.opencl = "__kernel void count_launch(__global ulong* counter) { counter[0] += 1; }\n";
    source.hls = embedded_text(launch_file);
    source.native = {{"count_launch", [](std::span<const KernelArgument> arguments, const KernelRange&) {
                        const Buffer* buffer = std::get<const Buffer*>(arguments[0]);
                        std::uint64_t value = 0;
                        std::memcpy(&value, buffer->host_pointer(), sizeof value);
                        ++value;
                        std::memcpy(buffer->host_pointer(), &value, sizeof value);
                      }}};
    program_ = session.device.build(session.device.info().runtime == "xrt" ? session.source(source) : source);
    kernel_ = program_->kernel("count_launch");
    kernel_->set({static_cast<const Buffer*>(counter_.get())});
  }

  void reset(std::uint64_t repetition, std::uint64_t) override {
    const std::uint64_t first = start_value(repetition);
    queue_->write(reinterpret_cast<const std::byte*>(&first), whole(*counter_));
  }

  void run(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      queue_->enqueue(*kernel_, {1, 1});
      queue_->finish();
    }
  }

  Validation validate(std::uint64_t repetition, std::uint64_t count) override {
    std::uint64_t value = 0;
    queue_->read(whole(*counter_), reinterpret_cast<std::byte*>(&value));
    const std::uint64_t launched = value - start_value(repetition);
    Validation found;
    found.reference = "a counter on the device, incremented by each launch";
    found.items_checked = 1;
    found.wrong_items = launched == count ? 0 : 1;
    found.error = static_cast<double>(found.wrong_items);
    if (found.wrong_items > 0) found.detail = fmt::format("{} kernels were launched, but {} ran", count, launched);
    return found;
  }

 private:
  std::uint64_t start_value(std::uint64_t repetition) const { return mix64(seed_ + repetition); }

  std::uint64_t seed_;
  std::unique_ptr<Buffer> counter_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> kernel_;
};

Transport& host_leg_of(Session& session) {
  Transport* leg = session.transport->host_leg();
  if (leg != nullptr) return *leg;
  throw Unsupported(
      fmt::format("transport {} has no sub-steps: its transfer is a single step", session.transport->info().name));
}

}  // namespace

std::unique_ptr<Part> make_part(const std::string& name, Session& session, const Pattern& pattern) {
  if (name == "transfer") return std::make_unique<TransferPart>(session, pattern, *session.transport, session.memory);
  if (name == "command") return std::make_unique<CommandPart>(engine_of(session));
  if (name == "copy") return std::make_unique<CopyPart>(session, pattern, CopyDirection::read, &engine_of(session));
  Transport& host = host_leg_of(session);
  if (name == "launch") return std::make_unique<LaunchPart>(session);
  if (name == "exchange")
    return std::make_unique<TransferPart>(session, pattern, host, Placement{MemoryKind::host, {}});
  return std::make_unique<CopyPart>(session, pattern, name == "read" ? CopyDirection::read : CopyDirection::write);
}

}  // namespace plumb::b_eff
