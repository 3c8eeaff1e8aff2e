#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/mutants/mutants.hpp"
#include "tests/mutants/spoiled_device.hpp"
#include "transport/transport.hpp"

namespace plumb::mutants {

namespace {

// Reads and writes a slot in any memory.
std::vector<std::byte> read_slot(Device& device, const BufferView& view) {
  std::vector<std::byte> bytes(view.size);
  if (const std::byte* host = view.host_pointer())
    std::memcpy(bytes.data(), host, view.size);
  else
    device.make_queue()->read(view, bytes.data());
  return bytes;
}

void write_slot(Device& device, const BufferView& view, const std::vector<std::byte>& bytes) {
  if (std::byte* host = view.host_pointer())
    std::memcpy(host, bytes.data(), view.size);
  else
    device.make_queue()->write(bytes.data(), view);
}

// Slots that the last step's receives fill in a round.
std::vector<BufferView> received_in(const Exchange& exchange, std::uint64_t round) {
  std::vector<BufferView> slots;
  for (const Step& step : exchange.steps)
    for (const Transfer& receive : step.receives) slots.push_back(receive.slots.at(round));
  return slots;
}

// A compiled exchange that acts in wait(); start() only records.
class Spoiled : public CompiledExchange {
 public:
  using Run = std::function<void(Wrapped&, std::uint64_t first, std::uint64_t count)>;
  Spoiled(Wrapped wrapped, Run run) : wrapped_(std::move(wrapped)), run_(std::move(run)) {}
  ~Spoiled() override { wrapped_.compiled->wait(); }  // of a mutant that does not wait
  Spoiled(const Spoiled&) = delete;
  Spoiled& operator=(const Spoiled&) = delete;
  void set_sizes(const std::vector<StepSizes>& sizes) override { wrapped_.compiled->set_sizes(sizes); }
  void start(std::uint64_t first, std::uint64_t count) override {
    first_ = first;
    count_ = count;
  }
  void start_after(Queue& queue, std::uint64_t first, std::uint64_t count) override {
    queue.finish();
    start(first, count);
  }
  void precede(Queue&) override { wait(); }
  bool test() override {
    wait();
    return true;
  }
  void wait() override {
    if (count_ > 0) run_(wrapped_, first_, count_);
    count_ = 0;
  }

 private:
  Wrapped wrapped_;
  Run run_;
  std::uint64_t first_ = 0, count_ = 0;
};

Mutation spoiled(const std::string& name, const std::function<Spoiled::Run()>& make_run) {
  Mutation mutation;
  mutation.name = name;
  mutation.wrap = [make_run](Wrapped wrapped) { return std::make_unique<Spoiled>(std::move(wrapped), make_run()); };
  return mutation;
}

// One byte of one message of one rank (the last; with ping-pong an odd one has no partner), flipped after half of the
// rounds: later rounds pass it on.
Mutation flip(int percent) {
  return spoiled("flip-" + std::to_string(percent), [percent] {
    return [percent](Wrapped& w, std::uint64_t first, std::uint64_t count) {
      const std::uint64_t window = w.exchange.window;
      const std::uint64_t before = std::max(window, count / 2 / window * window);
      w.compiled->run(first, before);
      const auto slots = received_in(w.exchange, first + before - 1);
      if (!slots.empty() && w.world.rank() == std::max(0, w.world.size() / 2 * 2 - 1)) {
        auto bytes = read_slot(w.device, slots.front());
        bytes[bytes.size() * static_cast<std::size_t>(percent) / 100] ^= std::byte{0x10};
        write_slot(w.device, slots.front(), bytes);
      }
      if (count > before) w.compiled->run(first + before, count - before);
    };
  });
}

// The message of the previous repetition is delivered again in place of the last one.
Mutation stale() {
  return spoiled("stale", [] {
    return
        [kept = std::vector<std::vector<std::byte>>{}](Wrapped& w, std::uint64_t first, std::uint64_t count) mutable {
          w.compiled->run(first, count);
          const auto slots = received_in(w.exchange, first + count - 1);
          std::vector<std::vector<std::byte>> fresh;
          for (std::size_t i = 0; i < slots.size(); ++i) {
            fresh.push_back(read_slot(w.device, slots[i]));
            if (!kept.empty()) write_slot(w.device, slots[i], kept[i]);
          }
          kept = std::move(fresh);
        };
  });
}

// Runs some of a run's windows of rounds, by their number and the total, and omits the others.
using Made = std::function<bool(std::uint64_t window, std::uint64_t windows)>;

Mutation some_rounds(const std::string& name, const Made& made) {
  return spoiled(name, [made] {
    return [made](Wrapped& w, std::uint64_t first, std::uint64_t count) {
      const std::uint64_t of_window = w.exchange.window, windows = count / of_window;
      for (std::uint64_t begin = 0; begin < windows;) {
        std::uint64_t end = begin;
        while (end < windows && made(end, windows)) ++end;
        if (end > begin) w.compiled->run(first + begin * of_window, (end - begin) * of_window);
        begin = end + 1;
      }
    };
  });
}

std::vector<Mutation> rounds_left_out() {
  std::vector<Mutation> list{
      some_rounds("nothing", [](auto, auto) { return false; }),
      some_rounds("half", [](auto i, auto n) { return i < n / 2; }),
      some_rounds("first-only", [](auto i, auto) { return i == 0; }),
      some_rounds("last-only", [](auto i, auto n) { return i + 1 == n; }),
      some_rounds("every-second", [](auto i, auto) { return i % 2 == 0; }),
      some_rounds("all-but-first", [](auto i, auto) { return i > 0; }),
      some_rounds("all-but-one", [](auto i, auto n) { return i != n / 2; }),
      some_rounds("all-but-last", [](auto i, auto n) { return i + 1 < n; }),
  };
  for (const std::uint64_t m : {2u, 3u, 4u, 6u, 8u, 16u})
    list.push_back(some_rounds("count-mod-" + std::to_string(m), [m](auto i, auto n) { return i < n % m; }));
  return list;
}

// Reports messages as received while they are in transit; the next repetition waits for them first.
Mutation not_awaited() {
  return spoiled("not-awaited", [] {
    return [under_way = false](Wrapped& w, std::uint64_t first, std::uint64_t count) mutable {
      if (under_way) w.compiled->wait();
      w.compiled->start(first, count);
      under_way = true;
    };
  });
}

Exchange for_each_transfer(Exchange exchange, const std::function<void(Transfer&, bool sends)>& change) {
  for (Step& step : exchange.steps) {
    for (Transfer& transfer : step.sends) change(transfer, true);
    for (Transfer& transfer : step.receives) change(transfer, false);
  }
  return exchange;
}

// The last byte of every message is not sent; a message of one byte is not sent at all.
Mutation last_byte() {
  Mutation mutation;
  mutation.name = "last-byte";
  mutation.alter = [](const Exchange& exchange, const World&) {
    bool empty = false;
    Exchange shorter = for_each_transfer(
        exchange, [&](Transfer& transfer, bool) { empty = --transfer.slots.view.size == 0 || empty; });
    if (empty) shorter.steps.clear();
    return shorter;
  };
  return mutation;
}

// Messages for the right neighbour go to the left one, and vice versa.
Mutation swapped() {
  Mutation mutation;
  mutation.name = "swapped";
  mutation.alter = [](const Exchange& exchange, const World&) {
    Exchange result = exchange;
    for (Step& step : result.steps)
      for (std::size_t i = 0; i + 1 < step.sends.size(); i += 2)
        std::swap(step.sends[i].slots, step.sends[i + 1].slots);
    return result;
  };
  return mutation;
}

// Receives are posted in the reverse order of their sends.
Mutation receives_reversed() {
  Mutation mutation;
  mutation.name = "receives-reversed";
  mutation.alter = [](const Exchange& exchange, const World&) {
    Exchange result = exchange;
    for (Step& step : result.steps) std::reverse(step.receives.begin(), step.receives.end());
    return result;
  };
  return mutation;
}

// The message is taken from the slot that this round fills.
Mutation next_slot() {
  Mutation mutation;
  mutation.name = "next-slot";
  mutation.alter = [](const Exchange& exchange, const World&) {
    return for_each_transfer(exchange, [](Transfer& transfer, bool sends) {
      if (sends) ++transfer.slots.first;
    });
  };
  return mutation;
}

// Every message travels twice as far around the (natural) ring: it arrives from the wrong rank.
Mutation wrong_rank() {
  Mutation mutation;
  mutation.name = "wrong-rank";
  mutation.alter = [](const Exchange& exchange, const World& world) {
    const int ranks = world.size(), rank = world.rank();
    return for_each_transfer(exchange,
                             [&](Transfer& t, bool) { t.peer = ((2 * t.peer - rank) % ranks + ranks) % ranks; });
  };
  return mutation;
}

// Omits some writes to the device (or reads from it).
class ForgetfulQueue : public ServedQueue {
 public:
  ForgetfulQueue(std::unique_ptr<Queue> real, bool writes, std::uint64_t every)
      : ServedQueue(std::move(real)), writes_(writes), every_(every) {}
  void enqueue_read(const BufferView& from, std::byte* to) override {
    if (writes_ || !forgets()) real().enqueue_read(from, to);
  }
  void enqueue_write(const std::byte* from, const BufferView& to) override {
    if (!writes_ || !forgets()) real().enqueue_write(from, to);
  }

 private:
  bool forgets() { return ++commands_ % every_ == 0; }
  bool writes_;
  std::uint64_t every_;
  std::uint64_t commands_ = 0;
};

// Reports writes (or reads) as complete, and does each when the next one comes: a waiter reads old
// bytes, or has its place overwritten before it was read.
class HastyQueue : public ServedQueue {
 public:
  HastyQueue(std::unique_ptr<Queue> real, bool writes) : ServedQueue(std::move(real)), writes_(writes) {}
  void enqueue_read(const BufferView& from, std::byte* to) override {
    if (writes_) return real().enqueue_read(from, to);
    instead([this, from, to] { real().read(from, to); });
  }
  void enqueue_write(const std::byte* from, const BufferView& to) override {
    if (!writes_) return real().enqueue_write(from, to);
    instead([this, from, to] { real().write(from, to); });
  }

 private:
  void instead(std::function<void()> command) {
    if (due_) due_();
    due_ = std::move(command);
  }
  bool writes_;
  std::function<void()> due_;
};

// Of two consecutive pieces, the second is also stored in the place of the first.
class MisplacingQueue : public ServedQueue {
 public:
  using Last = std::pair<const std::byte*, BufferView>;
  MisplacingQueue(std::unique_ptr<Queue> real, std::shared_ptr<Last> last)
      : ServedQueue(std::move(real)), last_(std::move(last)) {}
  void enqueue_write(const std::byte* from, const BufferView& to) override {
    const Last before = *last_;
    *last_ = {from, to};
    real().enqueue_write(from, to);
    if (before.first == nullptr || before.second.size != to.size || before.second.offset == to.offset) return;
    real().enqueue_write(from, before.second);
    *last_ = {};
  }

 private:
  std::shared_ptr<Last> last_;  // of all queues of the device
};

Mutation with_queues(const std::string& name, const MakeQueue& make) {
  Mutation mutation;
  mutation.name = name;
  mutation.device = [make](Device& real, const World&) { return std::make_unique<SpoiledDevice>(real, make); };
  return mutation;
}

// A piece of a kernel's text, and its replacement.
struct Replacement {
  std::string piece, instead;
};

// The kernels' text with each piece replaced at all of its places; throws if there is none, as the mutant would be
// void.
void replace_all(std::string& text, const std::vector<Replacement>& replacements, const std::string& name) {
  for (const auto& [piece, instead] : replacements) {
    std::size_t at = text.find(piece);
    if (at == std::string::npos) throw Error(name + " does not hold what a mutant replaces: " + piece);
    for (; at != std::string::npos; at = text.find(piece, at + instead.size())) text.replace(at, piece.size(), instead);
  }
}

// A transport, in one approach or ("") in each, with altered kernels, in OpenCL C and, where they differ, in HLS C++.
// They have LAST_RANK, which is 1 there and 0 elsewhere.
Mutation with_kernels(const std::string& name, const std::string& approach,
                      const std::vector<Replacement>& replacements, const std::vector<Replacement>& in_hls = {}) {
  Mutation mutation;
  mutation.name = name;
  mutation.approach = approach;
  mutation.device = [replacements, in_hls](Device& real, const World& world) {
    const std::string last = world.rank() == world.size() - 1 ? " -DLAST_RANK=1" : " -DLAST_RANK=0";
    const bool is_hls = real.info().runtime == "hls";
    return std::make_unique<SpoiledDevice>(real, MakeQueue{}, [=](KernelSource result) {
      replace_all(is_hls ? result.hls : result.opencl, is_hls ? in_hls : replacements, result.name);
      result.options += last;
      return result;
    });
  };
  return mutation;
}

// Defects of the persistent kernel.
std::vector<Mutation> wrong_streams() {
  const std::string copy = "copy_part(port.out.slot, port.in.slot, port.begin, port.end);";
  const std::string cursors = "port.out = turn_of(port_from";
  const std::string approach = "device-streaming";
  return {
      // The flag of a message is raised before its bytes arrive: they come in the next round.
      with_kernels("stream-flag-before-data", approach,
                   {{cursors, "cursor out_before, in_before; " + cursors},
                    {copy,
                     "if (i > 0) copy_part(out_before.slot, in_before.slot, port.begin, port.end); "
                     "out_before = port.out; in_before = port.in;"}}),
      with_kernels("stream-slice-lost", approach,
                   {{copy,
                     "const ulong fewer = port_bytes - (port_bytes + 3) / 4; copy_part(port.out.slot, port.in.slot, "
                     "slice_of(fewer, get_group_id(0)), slice_of(fewer, get_group_id(0) + 1));"}}),
      with_kernels(
          "stream-slots-swapped", approach,
          {{copy,
            "cursor next = port.in; next_turn(&next); copy_part(port.out.slot, next.slot, port.begin, port.end);"}}),
      // Sends a slot after the next message has overwritten it.
      with_kernels(
          "stream-slot-reused-early", approach,
          {{copy,
            "cursor next = port.out; next_turn(&next); copy_part(next.slot, port.out.slot, port.begin, port.end); " +
                copy}}),
      // A slow group, and none waits for the groups before and behind it. Detectable with several groups: on GPUs, from
      // 16 KiB.
      with_kernels(
          "stream-neighbours-ignored", approach,
          {{"const ulong touched = groups_touched(bytes, to_stride);", "const ulong touched = 1;"},
           {copy, "if (get_group_id(0) % 2 == 1) for (uint k = 0; k < 100; ++k) acquire_system(port.flags.arrived); " +
                      copy}}),
      // No wait for credit, and the last rank forwards a message only when the one that arrives in its area two
      // rounds later is there.
      with_kernels(
          "stream-credit-ignored", approach,
          {{"((i) >= port.lag ? (i) - port.lag + 1 : 0)", "(port.lag & 0)"},
           {copy, "if (LAST_RANK && i + 2 < count) { AWAIT(port.flags.arrived, port.serial + i + 3); } " + copy}})};
}

// Defects of the kernel that puts into a landing place, and takes from there.
std::vector<Mutation> wrong_landings() {
  const std::string await = "AWAIT(OF_MOVE(awaited) + flag, OF_MOVE(wanted));";
  const std::string length = "bytes = OF_MOVE(bytes),";
  const std::string place = "OF_MOVE(to) + OF_MOVE(to_at);";
  const std::string approach = "device-buffered";
  const std::string early =
      " if (LAST_RANK) {"
      "  *(volatile __global ulong*)(OF_MOVE(raised) + flag) = OF_MOVE(value);"
      "  while (acquire_system(OF_MOVE(awaited) + flag) < OF_MOVE(value));"
      "} ";
  return {
      // The last rank raises the flag, and puts the bytes when the place has been emptied.
      with_kernels("landing-flag-before-data", approach, {{await, await + early}}),
      with_kernels("landing-slice-lost", approach, {{length, "bytes = OF_MOVE(bytes) - (OF_MOVE(bytes) + 3) / 4,"}}),
      with_kernels("landing-place-swapped", approach, {{place, "OF_MOVE(to) + (move < puts ? 0 : OF_MOVE(to_at));"}})};
}

Mutation forgetful(const std::string& name, bool writes, std::uint64_t every) {
  return with_queues(name, [writes, every](std::unique_ptr<Queue> real) {
    return std::make_unique<ForgetfulQueue>(std::move(real), writes, every);
  });
}

Mutation hasty(const std::string& name, bool writes) {
  return with_queues(
      name, [writes](std::unique_ptr<Queue> real) { return std::make_unique<HastyQueue>(std::move(real), writes); });
}

Mutation piece_misplaced() {
  return with_queues("piece-misplaced",
                     [last = std::make_shared<MisplacingQueue::Last>()](std::unique_ptr<Queue> real) {
                       return std::make_unique<MisplacingQueue>(std::move(real), last);
                     });
}

class MutantTransport : public Transport {
 public:
  MutantTransport(World& world, Device& device, const TransportWish& wish, Mutation mutation, const std::string& base,
                  TransportInfo info)
      : world_(world), device_(device), mutation_(std::move(mutation)), info_(std::move(info)) {
    if (mutation_.device) altered_device_ = mutation_.device(device, world);
    real_ = find_transport(base).make(world, altered_device_ ? *altered_device_ : device, wish);
  }
  const TransportInfo& info() const override { return info_; }
  Transport* host_leg() override { return real_->host_leg(); }
  std::unique_ptr<CompiledExchange> compile(const Exchange& exchange) override {
    described_.push_back(std::make_unique<Exchange>(exchange));
    auto compiled = real_->compile(mutation_.alter ? mutation_.alter(exchange, world_) : exchange);
    if (!mutation_.wrap) return compiled;
    return mutation_.wrap({world_, device_, *described_.back(), std::move(compiled)});
  }

 private:
  World& world_;
  Device& device_;
  Mutation mutation_;
  TransportInfo info_;
  std::unique_ptr<Device> altered_device_;
  std::unique_ptr<Transport> real_;
  std::vector<std::unique_ptr<Exchange>> described_;
};

}  // namespace

void register_wrong_transports() {
  const std::vector<std::string> both{"mpi", "staged"};
  for (const Mutation& mutation : {flip(10), flip(50), flip(90), stale(), last_byte(), swapped(), wrong_rank()})
    register_mutation(mutation, both);
  for (const Mutation& mutation : rounds_left_out())
    register_mutation(mutation, {"mpi", "staged", "pipelined", "peer", "nccl", "mpi-device", "channel", "vnx"});
  register_wrong_engines();
  for (const auto& mutations : {rounds_left_out(), {flip(50), stale(), last_byte(), swapped(), wrong_rank()}})
    for (const Mutation& mutation : mutations) register_mutation(mutation, {"accl-tcp", "accl-udp"});
  // Right, but for an engine that takes whatever comes first.
  for (const char* base : {"accl-tcp", "wrong-tag-ignored-accl-tcp"}) register_mutation(receives_reversed(), {base});
  register_mutation(forgetful("write-skipped", true, 1), {"staged"});
  register_mutation(forgetful("read-skipped", false, 1), {"staged"});
  register_mutation(forgetful("write-lost-now-and-then", true, 13), {"staged"});
  for (const Mutation& mutation :
       {flip(50), wrong_rank(), forgetful("piece-lost", true, 13), hasty("flag-before-data", false),
        hasty("place-reused-early", true), piece_misplaced()})
    register_mutation(mutation, {"pipelined"});
  for (const Mutation& mutation : {flip(50), wrong_rank(), stale(), last_byte()}) register_mutation(mutation, {"peer"});
  for (const Mutation& mutation : {flip(50), stale(), last_byte(), swapped(), wrong_rank(), not_awaited(), next_slot()})
    register_mutation(mutation, {"nccl", "mpi-device"});
  for (const auto& mutations : {wrong_streams(), wrong_landings()})
    for (const Mutation& mutation : mutations) register_mutation(mutation, {"peer"});
  // A chunk lost for good leaves its receiver waiting; these terminate.
  const std::string out_pair =
      "write_channel_intel(out0, load(message, at, bytes));\n"
      "    write_channel_intel(out1, load(message, at + CHANNEL_WIDTH, bytes));";
  const std::string swapped_pair =
      "write_channel_intel(out0, load(message, at + CHANNEL_WIDTH, bytes));\n"
      "    write_channel_intel(out1, load(message, at, bytes));";
  const std::string first = "store(read_channel_intel(in0), message, at, bytes);";
  const std::string begin = "void receive_message(PORT_SPACE uchar* message, ulong bytes) {\n";
  const std::string second = "store(read_channel_intel(in1), message, at + CHANNEL_WIDTH, bytes);";
  const std::string last_of_all = "if (at + CHANNELS * CHANNEL_WIDTH >= bytes) store(kept, message, 0, bytes);\n";
  for (const Mutation& mutation :
       {flip(50), wrong_rank(),
        with_kernels("chunk-order-swapped", "", {{out_pair, swapped_pair}},
                     {{"out0.write({load(message, at, bytes), last});",
                       "out0.write({load(message, at + CHANNEL_WIDTH, bytes), last});"},
                      {"out1.write({load(message, at + CHANNEL_WIDTH, bytes), last});",
                       "out1.write({load(message, at, bytes), last});"}}),
        with_kernels(
            "chunk-lost", "",
            {{first,
              "const chunk c = read_channel_intel(in0);\n"
              "if (at + CHANNELS * CHANNEL_WIDTH < bytes) store(c, message, at, bytes);"}},
            {{"store(first.data, message, at, bytes);", "if (!first.last) store(first.data, message, at, bytes);"}}),
        // Announces a chunk to the sender before its slot holds it.
        with_kernels("token-before-data", "",
                     {{"TELL(received);", ""},
                      {begin, begin + "chunk kept; TELL(received);\n"},
                      {first,
                       "const chunk c = read_channel_intel(in0);\n"
                       "if (at > 0) store(c, message, at, bytes); else kept = c;\n"},
                      {second, second + last_of_all}})})
    register_mutation(mutation, {"channel"});
}

void register_mutation(const Mutation& mutation, const std::vector<std::string>& bases) {
  for (const std::string& base : bases) {
    TransportEntry entry = find_transport(base);
    if (!mutation.approach.empty()) {
      entry.info = info_of(entry, mutation.approach);
      entry.others.clear();
    }
    const auto rename = [&](TransportInfo& info) {
      info.name = "mutant-" + mutation.name + "-" + base;
      info.summary = "wrong on purpose: " + mutation.name;
    };
    rename(entry.info);
    for (TransportInfo& other : entry.others) rename(other);
    entry.make = [mutation, base, name = entry.info.name](World& world, Device& device, const TransportWish& wish) {
      TransportWish own = wish;
      own.approach = approach(info_of(find_transport(name), wish.approach));
      return std::make_unique<MutantTransport>(world, device, own, mutation, base,
                                               info_of(find_transport(name), own.approach));
    };
    Registry<TransportEntry>::instance().add(entry.info.name, entry);
  }
}

}  // namespace plumb::mutants
