// Transport `mpi`: non-blocking MPI sends and receives on memory that the host can address.
#include "transport/mpi_messages.hpp"

#include <fmt/format.h>

#include <climits>
#include <vector>

#include "world/watchdog.hpp"

namespace plumb {

namespace {

const TransportInfo mpi_transport_info{"mpi", "MPI between host memories, without a device's memory", "host",
                                       "buffered"};

// A transfer with its slots as addresses, and the slot that is next.
struct Message {
  std::vector<std::byte*> slots;
  int length = 0;
  int peer = 0;
  int tag = 0;
  std::size_t next = 0;

  std::byte* take() {
    std::byte* slot = slots[next];
    if (++next == slots.size()) next = 0;
    return slot;
  }
};

struct Messages {
  std::vector<Message> sends, receives;
};

Message make_message(const Transfer& transfer, const MessageAddress& address) {
  Message message;
  for (const BufferView& view : transfer.slots) message.slots.push_back(address(view));
  const std::size_t size = transfer.slots.front().size;
  if (size > INT_MAX) throw Unsupported(fmt::format("one MPI message holds at most {} bytes", INT_MAX));
  message.length = static_cast<int>(size);
  message.peer = transfer.peer;
  message.tag = transfer.lane;
  return message;
}

// The hot loop is advance(): as few instructions as the MPI calls themselves allow.
class MpiExchange : public CompiledExchange {
 public:
  MpiExchange(const Exchange& exchange, MPI_Comm communicator, const MessageAddress& address)
      : communicator_(communicator), window_(exchange.window) {
    std::size_t most = 0;
    for (const Step& step : exchange.steps) {
      Messages messages;
      for (const Transfer& transfer : step.receives) messages.receives.push_back(make_message(transfer, address));
      for (const Transfer& transfer : step.sends) messages.sends.push_back(make_message(transfer, address));
      most = std::max(most, (messages.sends.size() + messages.receives.size()) * window_);
      steps_.push_back(std::move(messages));
    }
    requests_.resize(most, MPI_REQUEST_NULL);
  }

  void start(std::uint64_t first, std::uint64_t count) override {
    for (Messages& step : steps_) {
      for (Message& message : step.receives) message.next = first % message.slots.size();
      for (Message& message : step.sends) message.next = first % message.slots.size();
    }
    remaining_ = steps_.empty() ? 0 : count;
    step_ = 0;
    if (remaining_ > 0) post();
  }

  bool test() override {
    while (remaining_ > 0) {
      int done = 0;
      checked(MPI_Testall(active_, requests_.data(), &done, MPI_STATUSES_IGNORE), "test for messages");
      if (done == 0) return false;
      advance();
    }
    return true;
  }

  void wait() override {
    const Waiting waiting("messages of an exchange");
    while (remaining_ > 0) {
      checked(MPI_Waitall(active_, requests_.data(), MPI_STATUSES_IGNORE), "wait for messages");
      if ((remaining_ & 1023) == 0) Waiting::progress();
      advance();
    }
  }

 private:
  static void checked(int code, const char* action) {
    if (code != MPI_SUCCESS) [[unlikely]]
      check_mpi(code, action);
  }

  // Receives first, so that no message arrives before its place is known.
  void post() {
    Messages& step = steps_[step_];
    MPI_Request* request = requests_.data();
    for (std::uint64_t round = 0; round < window_; ++round)
      for (Message& m : step.receives)
        checked(MPI_Irecv(m.take(), m.length, MPI_BYTE, m.peer, m.tag, communicator_, request++), "receive");
    for (std::uint64_t round = 0; round < window_; ++round)
      for (Message& m : step.sends)
        checked(MPI_Isend(m.take(), m.length, MPI_BYTE, m.peer, m.tag, communicator_, request++), "send");
    active_ = static_cast<int>(request - requests_.data());
  }

  void advance() {
    if (++step_ == steps_.size()) {
      step_ = 0;
      remaining_ -= std::min(remaining_, window_);
    }
    if (remaining_ > 0) post();
  }

  MPI_Comm communicator_;
  std::uint64_t window_;
  std::vector<Messages> steps_;
  std::vector<MPI_Request> requests_;
  int active_ = 0;
  std::uint64_t remaining_ = 0;
  std::size_t step_ = 0;
};

std::byte* host_address(const BufferView& view) {
  if (view.host_pointer() == nullptr)
    throw Unsupported(
        "transport mpi needs memory that the host can address, but this buffer lies in device memory; "
        "use --transport staged, or --runtime native");
  return view.host_pointer();
}

class MpiTransport : public Transport {
 public:
  explicit MpiTransport(World& world) : world_(world), communicator_(transport_communicator(world)) {}
  const TransportInfo& info() const override { return mpi_transport_info; }
  std::unique_ptr<CompiledExchange> compile(const Exchange& exchange) override {
    check_exchange(exchange, world_);
    return compile_mpi(exchange, communicator_, host_address);
  }

 private:
  World& world_;
  MPI_Comm communicator_;
};

const RegisteredTransport registered_mpi("mpi", {mpi_transport_info, true,
                                                 [](const World& world) -> std::string {
                                                   return world.info().kind == "mpi" ? "" : "it needs a world over MPI";
                                                 },
                                                 [](World& world, Device&, const TransportWish&) {
                                                   return std::make_unique<MpiTransport>(world);
                                                 }});

}  // namespace

std::unique_ptr<CompiledExchange> compile_mpi(const Exchange& exchange, MPI_Comm communicator,
                                              const MessageAddress& address) {
  return std::make_unique<MpiExchange>(exchange, communicator, address);
}

}  // namespace plumb
