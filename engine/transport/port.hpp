// The port of a transport: its device side as source, for kernels that run all rounds of an exchange. A benchmark's
// kernel text is compiled after the port's, once for each lane of the exchange:
//
//   PORT_KERNEL(name)(ulong count, ..., PORT) {      own parameters first
//     PORT_OPEN;                                     before any other
//     for (ulong i = 0; i < count; ++i) {
//       PORT_SEND(i);       the message of round i leaves its slot, as soon as there is room for it at its receiver
//       PORT_RECEIVE(i);    waits until the messages of all rounds up to i are in their slots
//       if (PORT_COMPUTES) ...                       work on what came
//     }
//     PORT_CLOSE;                                    after all
//   }
//
// Rounds count from 0 in each run; they are sent and received in order, by all work items of a group together.
// PORT_EXPECT(i) replaces PORT_RECEIVE(i) if messages are read only by later sends: the kernel then waits once for
// both. PORT_RECEIVES_FIRST is true if the lane receives before it sends in a round. Each of these may end the kernel
// on a timeout. With one kernel per direction (`channel`), the text is compiled for each of them, and a call for the
// other direction waits for that kernel; PORT_COMPUTES is true in one of them. Kernels that channels join to others
// (KernelJoiner) call send_message(message, port_bytes), after PORT_SENDING, or receive_message(...) instead;
// LANE is the lane's place, and PORT_SPACE the address space of messages (__global unless the text beside defines it).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transport/transport.hpp"

namespace plumb {

// A lane's part of a round: at most one send and one receive.
struct Lane {
  // Order of the two; values of PORT_RECEIVES_FIRST's `order`.
  enum class Order : std::uint32_t { together = 0, receive_first = 1, send_first = 2 };

  int number = 0;
  const Transfer* send = nullptr;  // within the exchange
  const Transfer* receive = nullptr;
  std::size_t send_step = 0, send_number = 0, receive_step = 0, receive_number = 0;  // positions in the exchange
  Order order = Order::together;
};
// The lanes of an exchange, by number. Throws Unsupported for exchanges that independent kernels of lanes cannot run:
// "SUBJECT has one send a lane in a round; REMEDY".
std::vector<Lane> lanes_of(const Exchange& exchange, const std::string& subject, const std::string& remedy);

// The compiled kernels of one exchange. One run at a time.
class Port {
 public:
  // A kernel's own arguments, before the port's, by lane number.
  using OwnArguments = std::function<std::vector<KernelArgument>(int lane)>;

  virtual ~Port() = default;
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  // Starts all lanes' kernels for rounds first .. first + count - 1, and returns. Throws Error if slots lack room.
  void start(std::uint64_t first, std::uint64_t count, const OwnArguments& own);
  // True if complete or not started. Throws Error if a kernel timed out.
  bool finished();
  void finish();
  // As for exchanges (transport.hpp).
  void set_sizes(const std::vector<StepSizes>& sizes);
  // Of all lanes' kernels: they must be resident at the same time.
  std::uint64_t groups() const;
  void follow(Queue& earlier);
  void lead(Queue& later);
  // The program of all lanes' kernels and those beside them. Throws Error without any beside.
  virtual Program& program() { throw Error("this port has a program for each lane"); }

 protected:
  // One kernel of a lane, for both directions or one.
  struct End {
    Lane lane;
    bool sends = false, receives = false;
    std::uint64_t bytes = 0;  // of a message
    std::unique_ptr<Queue> queue;
    std::unique_ptr<Kernel> kernel;
    KernelRange range;
  };
  virtual std::vector<KernelArgument> arguments(std::size_t end, std::uint64_t first, std::uint64_t count) = 0;
  virtual void begin_run() {}
  virtual void end_run(std::uint64_t /*count*/) {}

  explicit Port(const Exchange& exchange);
  // For devices that have not a place for each lane's kernel: they begin in the order of their start, which is the same
  // on all ranks; kernels that wait for an event begin in any. So what they follow is complete before they start.
  void keep_order() { keeps_order_ = true; }
  std::vector<End> ends_;

 private:
  void complete();
  std::uint64_t most_, count_ = 0;
  bool one_at_a_time_;
  bool keeps_order_ = false, running_ = false;
};

// An exchange by kernels that only send and receive, for transports with only a port.
std::unique_ptr<CompiledExchange> exchange_by_port(const Exchange& exchange, std::unique_ptr<Port> port);
// Source and name of these kernels.
KernelSource rounds_source();
constexpr const char* rounds_kernel = "rounds";

// A transport that takes further kernels into one program with those of all lanes, so that channels on the device join
// them.
class KernelJoiner {
 public:
  virtual ~KernelJoiner() = default;
  // As Transport::open_port(). `beside`: the others' text, in the language that is built, before the lanes'.
  virtual std::unique_ptr<Port> open_port_beside(const std::string& beside, const Exchange& exchange,
                                                 const KernelSource& source, const std::string& kernel) = 0;
};

}  // namespace plumb
