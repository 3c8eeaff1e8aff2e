// Transports move bytes between ranks' buffers. A benchmark describes an exchange (transfers between ranks, in steps);
// a transport compiles it once and then runs it many times.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/parameter.hpp"
#include "core/registry.hpp"
#include "device/device.hpp"
#include "world/world.hpp"

namespace plumb {

// Where the message of each round lies: a progression within one buffer. Round i has turn t = i + first; turns
// go through the areas, and through each of them a stride further on every lap, so turn t lies at
//   view.offset + t % areas * pitch + t / areas * stride
// Areas do not overlap. Slots of one area overlap if the stride is shorter than the message, except the first `stride`
// bytes of each, which no later round overwrites: they are the round's witness. If a receive uses the slots of a send
// some turns ahead, its messages are sent on that many rounds later.
struct Slots {
  BufferView view;  // of turn 0, with the size of a message
  std::uint64_t areas = 1;
  std::size_t pitch = 0, stride = 0;  // bytes
  std::uint64_t first = 0;            // turn of round 0

  std::size_t bytes() const { return view.size; }
  BufferView at(std::uint64_t round) const {
    const std::uint64_t turn = round + first;
    return {view.buffer, view.offset + turn % areas * pitch + turn / areas * stride, view.size};
  }
  // Rounds with room, from round 0 on; 0 if areas overlap or exceed the buffer.
  std::uint64_t rounds() const;
};

// Whether they overlap in any rounds.
bool overlap(const Slots& a, const Slots& b);

// One message a round.
struct Transfer {
  int peer = 0;  // rank
  int lane = 0;  // pairs a send with its receive: same lane on both ranks
  Slots slots;
};

// Concurrent transfers.
struct Step {
  std::vector<Transfer> sends;
  std::vector<Transfer> receives;
};

// One rank's part of a round: its steps, one after the other. With window > 1 that many rounds are concurrent (without
// overlap of their slots), and the number of rounds is a multiple of the window.
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

// Parts of an exchange that some transports execute one after the other: device to host, host to host, host to device.
enum class Leg : std::size_t { read, between_hosts, write };

class LegWatch {
 public:
  virtual ~LegWatch() = default;
  virtual void begin(Leg leg) = 0;
  virtual void end(Leg leg) = 0;
};

// A compiled exchange, with its requests, staging memory and kernels, for any number of runs, one at a time. Several
// may run concurrently if their lanes differ and all ranks start, test and wait for them in the same order.
class CompiledExchange {
 public:
  virtual ~CompiledExchange() = default;
  // Sets the messages' bytes of each step from the next start on, at most those compiled; slots keep their places. Both
  // ends of a message must use the same size, which may be 0. Throws Error for a wrong number of sizes, for a size
  // above the compiled one, and during a run.
  virtual void set_sizes(const std::vector<StepSizes>& sizes) = 0;
  // Starts rounds first .. first + count - 1 and returns; test() and wait() advance them. Throws Error if slots lack
  // room.
  virtual void start(std::uint64_t first, std::uint64_t count) = 0;
  // Likewise, but rounds begin after the commands already in `queue`. The host waits for it only if the host does the
  // transport's work.
  virtual void start_after(Queue& queue, std::uint64_t first, std::uint64_t count) = 0;
  // Commands enqueued in `queue` from now on begin when all started rounds are complete on this rank. May return before
  // that if a queue does the transport's last work; test() or wait() must still be called.
  virtual void precede(Queue& queue) = 0;
  // Returns whether all rounds are complete on this rank, without waiting; a transport with blocking calls executes one
  // step of a round, and waits for that step's ranks.
  virtual bool test() = 0;
  // Returns when all rounds are complete on this rank: received bytes are in their buffers, sent buffers may be reused.
  virtual void wait() = 0;
  // From the next start on, tells the beginning and the end of each leg, as the host observes them. Does nothing if the
  // transport has no legs. The watch must outlive the exchange's last run.
  virtual void tell_legs(LegWatch&) {}

  void run(std::uint64_t first, std::uint64_t count) {
    start(first, count);
    wait();
  }
};

class Port;

struct TransportInfo {
  std::string name;
  std::string summary;       // one line
  std::string scheduled_by;  // "host" or "device": starts the transfers
  std::string landing;       // "buffered" or "streaming": landing of the data
};

// A transport refers to its world and its device for its lifetime.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual const TransportInfo& info() const = 0;
  // The transport between hosts within this one; null if there is none.
  virtual Transport* host_leg() { return nullptr; }
  // Measurements and decisions of the transport, for the record; an object.
  virtual Json facts() const;
  // Collective: every rank of the world compiles its part, possibly empty, at the same time; exchanges are destroyed in
  // the same order on all ranks, before their buffers. Throws Unsupported with the reason if this transport cannot
  // access the views.
  virtual std::unique_ptr<CompiledExchange> compile(const Exchange& exchange) = 0;
  // Likewise among a team, which must outlive the exchange: only members compile, and a transfer's peer is a place in
  // the team. Ranks may use different teams at the same time (the rows of a grid). Throws Error on a rank that is not a
  // member, and for an invalid place.
  std::unique_ptr<CompiledExchange> compile(const Exchange& exchange, Team& team);
  // Likewise for the caller's kernel `kernel` of `source`, which runs all rounds (port.hpp). Throws Unsupported, naming
  // transports with a port, if this one has none.
  virtual std::unique_ptr<Port> open_port(const Exchange& exchange, const KernelSource& source,
                                          const std::string& kernel);

 protected:
  // By a team's members only; peers are ranks of the world. Default: compile(), for transports whose ranks wait only
  // for their peers while compiling.
  virtual std::unique_ptr<CompiledExchange> compile_in(Team& team, const Exchange& exchange);
};

// Approach as named in options: "host-buffered", "device-streaming".
std::string approach(const TransportInfo& info);

// Options of one transport, or of a part of several: declared in its file, and registered under its name.
using TransportOptionsMaker = std::function<std::unique_ptr<Parameters>()>;
using RegisteredTransportOptions = Registered<TransportOptionsMaker>;

// All of them, as options of a program.
class TransportOptions : public Parameters {
 public:
  TransportOptions();
  const Parameters& of(const std::string& name) const { return *by_name_.at(name); }

 private:
  std::map<std::string, std::unique_ptr<Parameters>> by_name_;
};

// User's settings for a transport.
struct TransportWish {
  std::string approach = {};                  // "" = the transport's choice
  const TransportOptions* options = nullptr;  // null = their defaults

  // Those registered under `name`, of type T.
  template <class Options>
  const Options& of(const std::string& name) const {
    static const Options defaults;
    return options == nullptr ? defaults : dynamic_cast<const Options&>(options->of(name));
  }
};

// A transport's registry entry.
struct TransportEntry {
  TransportInfo info;              // of its default approach
  bool needs_host_memory = false;  // buffers must have a host_pointer(), so `native` is its default runtime
  // Reason why it cannot work in this world ("" = it can), without a device.
  std::function<std::string(const World&)> reason;
  // Collective: every rank makes its transport at the same time. Throws Unsupported with the reason if the device or
  // the wish rules it out.
  std::function<std::unique_ptr<Transport>(World&, Device&, const TransportWish&)> make;
  std::vector<TransportInfo> others = {};  // further approaches: same name, different scheduled_by and landing
  bool shares_buffers = false;             // buffers must be shared between processes (Placement::shared)
  std::string runtime = {};                // default; "" = native if it needs host memory, otherwise opencl
  // Reason why it cannot work on a device, before that is opened; null = works on any.
  std::function<std::string(const DeviceInfo&)> device_reason = {};
};

// The entry's description for an approach, "" = the default. Throws UsageError listing the approaches.
const TransportInfo& info_of(const TransportEntry& entry, const std::string& approach);
std::string default_runtime(const TransportEntry& entry);

using RegisteredTransport = Registered<TransportEntry>;

// The entry of that name; throws UsageError listing the names.
const TransportEntry& find_transport(const std::string& name);
// The transport between this world's ranks for host memory, named by the world.
std::unique_ptr<Transport> make_host_transport(World& world, Device& device);

// Throws Error for an invalid exchange: slots past a buffer's end, invalid peers, windows.
void check_exchange(const Exchange& exchange, const World& world);

}  // namespace plumb
