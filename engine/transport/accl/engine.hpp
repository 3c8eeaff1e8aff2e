// ACCL's engine in software, one a rank: takes commands, cuts messages into packets, holds what comes in receive
// buffers until a receive matches it by source, tag and sequence, and copies it out (eager); or has the sender write to
// the receive's address (rendezvous); or passes it to a kernel's stream. Operands of sends and results of receives may
// be streams, too; as in ACCL, such messages are eager at any size. Collectives are such messages in stages
// (collectives.hpp). Source: Meyer 2024, section 5.1.1; Xilinx/ACCL.
//
// The engine's work is done by whoever waits for it (advance()), and by a thread of the engine while nobody does.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "transport/accl/collectives.hpp"
#include "transport/accl/command.hpp"
#include "transport/accl/network.hpp"

namespace plumb::accl {

struct Settings {
  std::size_t packet = 1536;  // bytes, with the header
  std::uint32_t buffers = 16;
  std::size_t buffer_bytes = 1024;
  std::uint64_t eager_limit = 32 << 10;  // bytes of a message; above: rendezvous
  bool credit = true;                    // senders wait for receive buffers
  bool one_stream = false;               // of all ranks and lanes; its words are in the order of their arrival
};
constexpr std::size_t word_bytes = 64;  // of kernels' streams
constexpr std::size_t whole_words(std::uint64_t bytes) {
  return static_cast<std::size_t>((bytes + word_bytes - 1) / word_bytes * word_bytes);
}
// Tags of collectives' messages, which clients do not use.
constexpr std::uint32_t collective_tag = 0x80000000;

// This engine's ends of a kernel's pipes, which do not wait: commands come in words of 64 bytes (the last 4 of each are
// unused), and each is answered by a word of 4. Sends of a stream take their words from `data`.
struct KernelPipes {
  int commands = -1, statuses = -1, data = -1;
};

constexpr std::uint64_t all_eager = std::numeric_limits<std::uint64_t>::max();

class Engine : private Sink {
 public:
  // session: the same on all ranks.
  Engine(int rank, int size, const Settings& settings, std::unique_ptr<Network> network, std::uint32_t session);
  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Ticket::open counts the commands that are not complete; the ticket must outlive them. `words`: what a kernel puts
  // into its stream for this command, if its operand is one.
  void issue(const Command& command, Ticket& ticket, std::vector<std::byte> words = {});
  // A kernel of this rank that takes the next `bytes` of a stream from a rank: no command.
  void read_stream(int from, std::uint32_t stream, std::byte* to, std::uint64_t bytes, Ticket& ticket);
  // A kernel that issues commands itself; the pipes must outlive it here.
  void attach(const KernelPipes& pipes);
  void detach(const KernelPipes& pipes);
  // From now on a stream's words go into a pipe; -1: no more.
  void lead_stream(int from, std::uint32_t stream, int file);
  // Returns whether anything moved.
  bool advance();
  Counts counts();
  // Why this engine gave up, "" if it did not, or if another's fault made it; all commands then end with a status.
  std::string fault();
  // Begins again, without anything that was under way. All ranks' engines must have ended their commands; a barrier
  // must follow.
  void restart(std::uint32_t session);

 protected:
  struct Receive {
    std::uint32_t tag;
    std::byte* to;
    std::uint64_t length;
    Ticket* ticket;
    std::uint64_t address = 0;  // told to the sender of a rendezvous
    std::uint64_t received = 0;
    bool to_stream = false;  // and not to memory
    std::uint32_t stream = 0;
  };
  // A segment in a receive buffer.
  struct Segment {
    std::uint32_t tag = 0, buffer = 0;
    std::size_t bytes = 0;
    std::uint64_t length = 0;  // of its message
  };
  // The steps at which a wrong engine differs.
  virtual bool matches(const Receive& receive, const Segment& segment) const { return receive.tag == segment.tag; }
  virtual void copy_out(std::uint32_t buffer, std::byte* to, std::size_t bytes);
  // The stream of the kernel that receives.
  virtual std::uint32_t result_stream(std::uint32_t number) const { return number; }
  // The header word of a packet in the kernel's one stream, by which the kernel sorts.
  virtual Header header_of(const std::byte* words);
  virtual bool is_written(const Receive& receive) const { return receive.received == receive.length; }
  virtual void combine_parts(const Command& command, const Local& operands) { combine(command, operands); }
  std::byte* place_of(std::uint32_t buffer) { return pool_.data() + buffer * settings_.buffer_bytes; }

 private:
  using Operand = std::shared_ptr<const std::vector<std::byte>>;  // words of a stream; null: in memory
  struct Issued {
    Command command;
    Ticket* ticket;
    Operand words = {};
  };
  struct Send {
    Kind kind;
    std::uint32_t tag, stream;
    const std::byte* from;
    std::uint64_t length;
    Ticket* ticket;
    std::uint64_t address = 0, sent = 0;
    Operand words = {};
  };
  // Of a send whose last packet is in the batch, which needs its words.
  struct End {
    Ticket* ticket;
    Operand words;
  };
  struct Peer;
  struct Words {
    std::vector<std::byte> bytes;
    Peer* sender;  // on whose account they are; null: of a copy by this engine
  };
  struct Stream {
    std::deque<Receive> readers;
    std::deque<Words> packets;  // for which no kernel waits yet
    int file = -1;              // of the kernel's pipe
    std::size_t written = 0;    // of the first packet
  };
  // The kernel's one stream: how much of each message, by source and tag, is still to come.
  struct Shared {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> open;
    std::pair<std::uint32_t, std::uint32_t> last;
    std::vector<std::byte> words;  // of a packet
  };
  struct Led {
    std::size_t from;
    std::uint32_t number;
    int file;
  };
  // A command of a kernel, with the words that it sends.
  struct Order {
    Command command;
    Ticket ticket;
    std::vector<std::byte> data;
    std::size_t wanted = 0;
    bool is_executed = false;
  };
  struct AttachedKernel {
    KernelPipes pipes;
    std::vector<std::byte> came;  // of commands
    std::deque<std::unique_ptr<Order>> orders;
  };
  struct Collective {
    Command command;
    Ticket* ticket = nullptr;
    std::uint32_t tag = 0;
    Schedule schedule;
    std::size_t stage = 0;
    bool under_way = false;
    Ticket messages;  // of the stage
  };
  struct Address {
    std::uint32_t tag;
    std::uint64_t length, address;
  };
  // What this engine knows of another.
  struct Peer {
    std::deque<Header> controls;
    std::deque<Send> sends, writes;  // eager and streams; rendezvous with an address
    std::deque<Send> without_address;
    std::deque<Address> addresses;  // without a send
    std::vector<Packet> batch;      // under way to the network, `left` of them sent
    std::size_t left = 0;
    std::vector<End> ends;                                  // with the batch
    std::uint32_t sequence = 0, segments = 0, packets = 0;  // sent
    std::uint32_t freed = 0, taken = 0;                     // of these, at the peer
    std::uint32_t expected = 0;                             // sequence
    std::uint32_t own_freed = 0, own_taken = 0, told_freed = 0, told_taken = 0;
    std::uint32_t unheard = 0;  // accounts to be sent after the last packet
    bool is_closed = false;
    std::deque<Receive> receives, rendezvous;
    std::deque<Segment> segments_here;
    bool assembling = false;
    Segment segment;
    std::size_t segment_bytes = 0;  // of which are here
    std::vector<std::pair<std::uint32_t, Stream>> streams;
  };

  void serve(const std::stop_token& stop);
  bool progress();
  void execute(const Issued& issued);
  std::uint32_t configure(const Command& command);
  void start_send(const Issued& issued);
  void send_message(std::size_t to, Send send);
  void start_receive(std::size_t from, Receive receive);
  void copy(const Command& command, Ticket& ticket);
  void do_locally(const Command& command, const Local& one);
  void begin_collective(const Command& command, Ticket& ticket);
  bool advance_collectives();
  void begin_stage(Collective& collective);
  bool send_to(std::size_t number);
  void fill(std::size_t number);
  bool add_packet(std::size_t number, Send& send);
  void add(std::size_t number, Header header, const std::byte* payload);
  void tell_accounts(std::size_t number);
  void look_after();

  bool take(const Header& header, const std::byte* payload) override;
  void closed(int peer) override;
  bool take_eager(Peer& peer, const Header& header, const std::byte* payload);
  bool take_stream(Peer& sender, Stream& stream, const Header& header, const std::byte* payload);
  bool take_shared(Peer& sender, const Header& header, const std::byte* payload);
  void count_interleaving(const Header& header);
  void take_address(Peer& peer, const Header& header);
  void take_write(Peer& peer, const Header& header, const std::byte* payload);
  void match(Peer& peer, const Segment& segment);
  bool give(Peer& peer, Receive& receive, const Segment& segment);
  static Stream& stream_of(Peer& peer, std::uint32_t number);
  static bool pour(Stream& stream, const std::byte* bytes, std::size_t size, Peer* sender);
  static std::size_t feed(Stream& stream, const std::byte* bytes, std::size_t size);
  static bool put_into(Stream& stream, const std::byte* bytes, std::size_t size);
  bool serve_kernels();
  bool serve(AttachedKernel& kernel);
  bool drain(Stream& stream);
  static void pop(Stream& stream);
  std::vector<int> awaited_pipes();

  static void end(Ticket& ticket, std::uint32_t status);
  void fail(const std::string& why);
  void end_all();
  static bool is_busy(const Peer& peer);
  static double now();

  const std::uint32_t rank_;
  Settings settings_;
  const std::unique_ptr<Network> network_;
  std::uint32_t session_;
  const std::uint32_t window_, share_;  // packets and buffers that one sender may use

  std::mutex mutex_;  // of all below
  std::deque<Issued> commands_;
  std::deque<std::unique_ptr<Collective>> collectives_;
  std::uint32_t collective_number_ = 0;
  std::vector<std::unique_ptr<AttachedKernel>> kernels_;
  std::vector<Led> led_;
  Shared shared_;
  std::vector<Peer> peers_;
  std::vector<std::byte> pool_, moved_;  // receive buffers; a segment on its way from one to a stream
  std::vector<std::uint32_t> free_;
  Counts counts_;
  bool failed_ = false;
  std::string fault_;
  std::uint64_t addresses_ = 0, idle_ = 0;
  double last_account_ = 0;

  std::atomic<std::uint64_t> advanced_{0};  // by waiting clients
  std::jthread thread_;                     // last: uses the others
};

}  // namespace plumb::accl
