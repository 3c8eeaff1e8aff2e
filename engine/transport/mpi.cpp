// Transport `mpi`: non-blocking MPI sends and receives on memory that the host can address.
#include "transport/mpi_messages.hpp"

#include <fmt/format.h>

#include <climits>
#include <limits>
#include <vector>

#include "transport/walk.hpp"

namespace plumb {

namespace {

const TransportInfo mpi_transport_info{"mpi", "MPI between host memories, without a device's memory", "host",
                                       "buffered"};

struct Message {
  SlotCursor slots;
  int length = 0;
  int peer = 0;
  int tag = 0;
};

struct Messages {
  std::vector<Message> sends, receives;
  std::uint64_t round = never;  // round of the cursors
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

  void seek(std::uint64_t first) {
    for (auto* list : {&sends, &receives})
      for (Message& message : *list) message.slots.seek(first);
    round = first;
  }
};

Message make_message(const Transfer& transfer, const MessageAddress& address) {
  const std::size_t size = transfer.slots.bytes();
  if (size > INT_MAX) throw Unsupported(fmt::format("one MPI message holds at most {} bytes", INT_MAX));
  return {SlotCursor(address(transfer.slots.view), transfer.slots), static_cast<int>(size), transfer.peer,
          transfer.lane};
}

// The hot loop is start_step(): few instructions beside the MPI calls.
class MpiExchange final : public WalkedExchange {
 public:
  MpiExchange(const Exchange& exchange, MPI_Comm communicator, const MessageAddress& address)
      : WalkedExchange(walk_by_step(exchange, "messages of an exchange")), communicator_(communicator) {
    std::size_t most = 0;
    for (const Step& step : exchange.steps) {
      Messages messages;
      for (const Transfer& transfer : step.receives) messages.receives.push_back(make_message(transfer, address));
      for (const Transfer& transfer : step.sends) messages.sends.push_back(make_message(transfer, address));
      most = std::max(most, (messages.sends.size() + messages.receives.size()) * exchange.window);
      steps_.push_back(std::move(messages));
    }
    requests_.resize(most, MPI_REQUEST_NULL);
  }

 private:
  friend class WalkedExchange;  // its loop calls the steps directly

  void walk_to_end() override { walk_to_end_by(*this); }

  // Receives first, so no message is unexpected.
  void start_step(std::size_t number, std::uint64_t first, std::uint64_t end) override {
    Messages& step = steps_[number];
    if (step.round != first) step.seek(first);
    step.round = end;
    MPI_Request* request = requests_.data();
    for (std::uint64_t round = first; round < end; ++round)
      for (Message& m : step.receives)
        checked(MPI_Irecv(m.slots.take(), m.length, MPI_BYTE, m.peer, m.tag, communicator_, request++), "receive");
    for (std::uint64_t round = first; round < end; ++round)
      for (Message& m : step.sends)
        checked(MPI_Isend(m.slots.take(), m.length, MPI_BYTE, m.peer, m.tag, communicator_, request++), "send");
    active_ = static_cast<int>(request - requests_.data());
  }

  bool test_step(std::size_t) override {
    int done = 0;
    checked(MPI_Testall(active_, requests_.data(), &done, MPI_STATUSES_IGNORE), "test for messages");
    return done != 0;
  }

  void wait_step(std::size_t) override {
    checked(MPI_Waitall(active_, requests_.data(), MPI_STATUSES_IGNORE), "wait for messages");
  }

  void resize(const std::vector<StepSizes>& sizes) override {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      for (std::size_t k = 0; k < steps_[i].sends.size(); ++k)
        steps_[i].sends[k].length = static_cast<int>(sizes[i].sends[k]);
      for (std::size_t k = 0; k < steps_[i].receives.size(); ++k)
        steps_[i].receives[k].length = static_cast<int>(sizes[i].receives[k]);
    }
  }

  static void checked(int code, const char* action) {
    if (code != MPI_SUCCESS) [[unlikely]]
      check_mpi(code, action);
  }

  MPI_Comm communicator_;
  std::vector<Messages> steps_;
  std::vector<MPI_Request> requests_;
  int active_ = 0;
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
