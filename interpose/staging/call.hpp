// One MPI call with operands on a device: host memory that MPI works in, data read from the device before the call and
// written to it afterwards.
#pragma once

#include <mpi.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "interpose/memory/devices.hpp"
#include "interpose/memory/failure.hpp"
#include "interpose/memory/registry.hpp"
#include "interpose/peer/offers.hpp"
#include "interpose/peer/probed.hpp"
#include "interpose/staging/pieces.hpp"
#include "interpose/types/datatype.hpp"

namespace plumb::interpose {

// The memory itself if it is of a kind that the host may access; else null.
std::byte* direct(const DeviceMemory& memory);

// A command costs about as much as reading this many bytes.
constexpr std::size_t gap_worth_reading = 4096;

// `count` elements that begin `offset` bytes after an operand's address.
struct Part {
  std::ptrdiff_t offset = 0;
  MPI_Aint count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};
using Parts = std::vector<Part>;

// Arguments of a send.
struct Message {
  const void* address = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

// Arguments of a receive.
struct Room {
  void* address = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

// The bytes of its operands that a call has received.
enum class Receipt {
  all,     // a collective: all
  counted  // a receive: as many as in its status
};

class Call {
 public:
  // persistent: operands are read by read(), each time the request is started, not by stage().
  explicit Call(const char* name, Receipt receipt = Receipt::all, bool persistent = false)
      : name_(name), receipt_(receipt), persistent_(persistent) {}

  const char* name() const { return name_; }

  // The address to pass to MPI instead of an operand's: host memory of the same layout. `reads`: bytes that MPI may
  // read there; `writes`: bytes that it writes. An address that is not a device's is returned unchanged. Throws Error
  // when there is no such buffer, or memory is exhausted.
  void* stage(const void* address, const Parts& reads, const Parts& writes) {
    return stage_spans(address, reads, writes);
  }
  const void* in(const void* address, MPI_Aint count, MPI_Datatype type) {
    const Part part{0, count, type};
    return stage_spans(address, {&part, 1}, {});
  }
  void* out(void* address, MPI_Aint count, MPI_Datatype type) {
    const Part part{0, count, type};
    return stage_spans(address, {}, {&part, 1});
  }
  void* inout(void* address, MPI_Aint count, MPI_Datatype type) {
    const Part part{0, count, type};
    return stage_spans(address, {&part, 1}, {&part, 1});
  }

  // Memory of the host that lives as long as this call.
  std::byte* own_memory(std::size_t bytes) {
    own_.resize(bytes);
    return own_.data();
  }

  // stage() for a message that may be offered to its receiver or go in pieces instead, if it has at least `least`
  // bytes; carry_on() must follow once MPI has started it.
  Message message(const void* address, int count, MPI_Datatype type, int to, MPI_Comm comm, std::size_t least = 0);
  // Starts the messages of the pieces, if it goes so.
  void carry_on() {
    if (pieces_) pieces_->start();
  }
  bool in_pieces() const { return pieces_ != nullptr; }
  // out() for a message that may be offered. Memory of this call is used if the message is shorter than an envelope,
  // and if it is in several runs: MPICH refuses an envelope that ends within a number.
  Room room(void* address, int count, MPI_Datatype type);

  // Reads the operands from the device.
  void read();
  // Writes received data to the device; once, unless persistent.
  void write(const MPI_Status& status) {
    start_write(status);
    finish_write();
  }
  // The same for calls that are completed together: a copy from another rank's device may be under way afterwards,
  // until finish_write() or write_finished(), which does not wait.
  void start_write(const MPI_Status& status);
  bool write_finished();
  void finish_write();
  // Replaces the size of an envelope, or of the empty message in place of a probed one, by that of the message.
  void correct(MPI_Status& status) const {
    if (probed_)
      probed_->describe(status);
    else if (taken_)
      PMPI_Status_set_elements_x(&status, MPI_BYTE, static_cast<MPI_Count>(*taken_));
  }
  // The source to pass to MPI: MPI_PROC_NULL if a probe has already received the message. For a persistent receive
  // takes_probed() decides at each start.
  int source(int from, int tag, MPI_Comm comm);
  bool takes_probed();
  // The same for a message handle of MPI_Mprobe.
  void receive_probed(MPI_Message message);
  // Whether the program may reuse the memory being sent; settle() waits for that.
  bool settled() { return (!offer_ || offer_->settled()) && (!pieces_ || pieces_->settled()); }
  void settle() {
    if (offer_) offer_->settle();
    if (pieces_) pieces_->settle();
  }
  bool offers() const { return offer_ || pieces_; }
  // Whether the waiting thread should leave its core to threads of the device (transport/idle.hpp).
  bool yields() const;
  // MPI_Recv, leaving the core to threads of the device until the message is there, if yields().
  int receive(const Room& room, int source, int tag, MPI_Comm comm, MPI_Status* status) const;
  bool done() const { return operands_.empty(); }
  // Whether data may arrive for a device.
  bool brings() const;
  // Whether what it receives may be in pieces, or another rank's offer.
  bool may_take_offered() const;

 private:
  struct Operand {
    std::shared_ptr<DeviceMemory> memory = {};  // null: of the host
    std::optional<Staging> staging = {};        // none: MPI uses the memory itself
    std::ptrdiff_t base = 0;                    // offset in the buffer of the operand's address; may be negative
    std::byte* host = nullptr;                  // passed to MPI instead of that address
    Runs reads = {}, writes = {};
  };
  void* stage_spans(const void* address, std::span<const Part> reads, std::span<const Part> writes);
  void* empty_address();
  static void read(const Operand& operand);
  static void write(const Operand& operand, const Runs& runs);
  const Operand* receiver() const;
  void save_beginning();
  void restore_beginning(const Operand& operand, std::size_t from) const;
  bool take_offered(std::size_t received);
  void deliver(const std::byte* content, std::size_t bytes);
  void take(const Operand& operand, const Envelope& envelope);
  static void take_pieces(const Operand& operand, const Envelope& envelope);
  static void unpack(const Operand& operand, const std::byte* packed, std::size_t bytes);

  const char* name_;
  Receipt receipt_;
  bool persistent_;
  std::size_t empty_addresses_ = 0;  // addresses returned by empty_address()
  std::vector<Operand> operands_;
  std::vector<std::byte> own_;
  std::unique_ptr<Offer> offer_;
  std::shared_ptr<Pieces> pieces_;
  std::optional<std::uint64_t> taken_;  // bytes of a message that came by an envelope
  std::optional<Taking> taking_;        // what receiver()'s queue copies at present
  std::optional<ProbedMessage> probed_;
  // `beginning_` or `packed_room_` if MPI receives there instead of in the operand.
  std::byte* packed_ = nullptr;
  std::unique_ptr<std::byte[]> packed_room_;
  // The first bytes of the program's own memory, restored after an envelope that is longer than its message.
  std::array<std::byte, sizeof(Envelope)> beginning_{};
  struct {
    int from = MPI_PROC_NULL, tag = 0;
    MPI_Comm comm = MPI_COMM_NULL;
  } pattern_;  // of a persistent receive
};

// A blocking call: work(call) stages its operands and returns the code of MPI's function.
template <class Work>
int run_call(const char* name, Work&& work) {
  return or_abort(name, [&] {
    Call call(name);
    const int code = work(call);
    if (code == MPI_SUCCESS) call.carry_on();
    if (code == MPI_SUCCESS) call.write({});
    call.settle();
    return code;
  });
}

// A blocking receive: work(call, status) fills a status, which is the caller's unless ignored.
template <class Work>
int run_receive(const char* name, MPI_Status* status, Work&& work) {
  return or_abort(name, [&] {
    Call call(name, Receipt::counted);
    MPI_Status own;
    MPI_Status* filled = status == MPI_STATUS_IGNORE ? &own : status;
    const int code = work(call, filled);
    if (code == MPI_SUCCESS) call.write(*filled);
    call.correct(*filled);
    call.settle();
    return code;
  });
}

}  // namespace plumb::interpose
