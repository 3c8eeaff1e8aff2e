// How bytes get from one rank's buffer to another's. A benchmark describes an exchange (who sends what to whom, in
// which steps); a transport compiles it once and then runs it a number of times.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/registry.hpp"
#include "device/device.hpp"
#include "world/world.hpp"

namespace plumb {

// Where the message of each round lies: a progression within one buffer. Round i has turn t = i + first; turns
// go through the areas, and through each of them a stride further on every lap, so turn t lies at
//   view.offset + t % areas * pitch + t / areas * stride
// Areas do not overlap. Slots of one area do where the stride is shorter than the message, but for the first `stride`
// bytes of each, which no later round overwrites: they bear witness to their round. Where a receive has the slots of a
// send, some turns ahead, so many rounds later is passed on what a round received.
struct Slots {
  BufferView view;  // of turn 0; its size is the message's
  std::uint64_t areas = 1;
  std::size_t pitch = 0, stride = 0;  // bytes
  std::uint64_t first = 0;            // turn of round 0

  std::size_t bytes() const { return view.size; }
  BufferView at(std::uint64_t round) const {
    const std::uint64_t turn = round + first;
    return {view.buffer, view.offset + turn % areas * pitch + turn / areas * stride, view.size};
  }
  // Rounds for which there is room, from round 0 on; 0 when areas overlap or end behind the buffer.
  std::uint64_t rounds() const;
};

// Whether some bytes may belong to both, in whatever rounds.
bool overlap(const Slots& a, const Slots& b);

// One message a round.
struct Transfer {
  int peer = 0;  // rank
  int lane = 0;  // pairs a send with its receive: same lane on both ranks
  Slots slots;
};

// Transfers that are under way together.
struct Step {
  std::vector<Transfer> sends;
  std::vector<Transfer> receives;
};

// What one rank does in a round: its steps, one after the other. With window > 1 that many rounds are under way
// together (their slots must not overlap), and a round count is a multiple of the window.
struct Exchange {
  std::vector<Step> steps;
  std::uint64_t window = 1;

  std::uint64_t rounds() const;         // for which all slots have room
  std::size_t largest_message() const;  // bytes
};

// Bytes of a step's messages, in the order of its transfers.
struct StepSizes {
  std::vector<std::size_t> sends, receives;
};

// An exchange made ready: requests, staging memory, kernels exist. Used for any number of runs, one at a time. Several
// may be under way together when their lanes are different and all ranks start, test and wait for them in one order.
class CompiledExchange {
 public:
  virtual ~CompiledExchange() = default;
  // Bytes of the messages of each step from the next start on, at most those compiled; slots stay where they are. Both
  // ends of a message must be given one size; 0 is one. Throws Error where there are more or fewer sizes than messages,
  // where one exceeds what was compiled, and during a run.
  virtual void set_sizes(const std::vector<StepSizes>& sizes) = 0;
  // Starts rounds first .. first + count - 1 and returns; they go on in test() and wait(). Throws Error where slots
  // have no room for them.
  virtual void start(std::uint64_t first, std::uint64_t count) = 0;
  // The same, but rounds begin when `queue` has done what it was given so far. The host waits for it only where the
  // transport's own work is the host's.
  virtual void start_after(Queue& queue, std::uint64_t first, std::uint64_t count) = 0;
  // What `queue` is given from now on begins when all rounds under way are complete on this rank. Returns before they
  // are where the transport's last work is a queue's; test() or wait() must still be called.
  virtual void precede(Queue& queue) = 0;
  // True when all rounds are complete on this rank. Waits for nobody; but where the transport's own calls are blocking,
  // it does one step of a round, and waits for the ranks of that step.
  virtual bool test() = 0;
  // Returns when all rounds are complete on this rank: received bytes are in their buffers, sent buffers are free.
  virtual void wait() = 0;

  void run(std::uint64_t first, std::uint64_t count) {
    start(first, count);
    wait();
  }
};

class Port;

struct TransportInfo {
  std::string name;
  std::string summary;       // one line
  std::string scheduled_by;  // "host" or "device": who starts a transfer
  std::string landing;       // "buffered" or "streaming": where it lands
};

// A transport knows its world and its device for as long as it lives.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual const TransportInfo& info() const = 0;
  // The transport that carries bytes between hosts within this one; null when there is none.
  virtual Transport* host_leg() { return nullptr; }
  // What it found out about itself and decided by, for the record; an object.
  virtual Json facts() const;
  // Collective: every rank of the world compiles its part at the same time, be it empty; and exchanges end their lives
  // in the same order on all ranks, before the buffers that they use. Throws Unsupported with the reason when the views
  // lie where this transport cannot reach.
  virtual std::unique_ptr<CompiledExchange> compile(const Exchange& exchange) = 0;
  // The same among a team, which must outlive it: the members alone compile, and a transfer's peer is a place in the
  // team. Ranks may do so each with a team of its own (the rows of a grid). Throws Error on a rank that is no member,
  // and for a place that the team has not.
  std::unique_ptr<CompiledExchange> compile(const Exchange& exchange, Team& team);
  // The same for a kernel of the caller's that makes all rounds by itself (port.hpp): `kernel` of `source`. Throws
  // Unsupported where this transport has no port, and says which have one.
  virtual std::unique_ptr<Port> open_port(const Exchange& exchange, const KernelSource& source,
                                          const std::string& kernel);

 protected:
  // By a team's members alone; peers are ranks of the world. As compile() where this transport's ranks wait for nobody
  // but their peers while they compile.
  virtual std::unique_ptr<CompiledExchange> compile_in(Team& team, const Exchange& exchange);
};

// Who starts a transfer and where it lands, as users name it: "host-buffered", "device-streaming".
std::string approach(const TransportInfo& info);

// What a user wishes of a transport; 0 and "" leave it to the transport.
struct TransportWish {
  std::string approach = {};
  std::size_t chunk_bytes = 0;   // of what is sent in pieces
  unsigned depth = 0;            // pieces of a message under way together
  std::string through = {};      // between ranks of one host: "segment" (shared memory) or "world"; else the faster
  std::uint16_t relay_port = 0;  // the first that other hosts' ranks connect to; 0 = any that is free
};

// What registers a transport.
struct TransportEntry {
  TransportInfo info;              // of its usual approach
  bool needs_host_memory = false;  // its buffers must have a host_pointer(), so `native` is its default runtime
  // Why it cannot work in this world ("" = it can), known before any device is touched.
  std::function<std::string(const World&)> reason;
  // Collective: every rank makes its own at the same time. Throws Unsupported with the reason when the device, or what
  // was wished, rules it out.
  std::function<std::unique_ptr<Transport>(World&, Device&, const TransportWish&)> make;
  std::vector<TransportInfo> others = {};  // further approaches: the same name, other scheduled_by and landing
  bool shares_buffers = false;             // its buffers must be shared between processes (Placement::shared)
  std::string runtime = {};                // default; "" = native where it needs host memory, else opencl
  // Why it cannot work on such a device, known before the device is opened; null = on any.
  std::function<std::string(const DeviceInfo&)> device_reason = {};
};

// The entry's description for an approach; the usual one for "". Throws UsageError naming those there are.
const TransportInfo& info_of(const TransportEntry& entry, const std::string& approach);
std::string default_runtime(const TransportEntry& entry);

using RegisteredTransport = Registered<TransportEntry>;

// The entry of that name; throws UsageError naming those there are.
const TransportEntry& find_transport(const std::string& name);
// The transport that moves host memory between this world's ranks, named by the world.
std::unique_ptr<Transport> make_host_transport(World& world, Device& device);

// Throws UsageError-free Error when an exchange is not well formed: slots behind a buffer's end, a peer that is no
// rank, windows.
void check_exchange(const Exchange& exchange, const World& world);

}  // namespace plumb
