// One MPI call with operands on a device: where MPI works instead, what is read before it and written after it.
#pragma once

#include <mpi.h>

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "interpose/memory/devices.hpp"
#include "interpose/memory/failure.hpp"
#include "interpose/memory/registry.hpp"
#include "interpose/peer/offers.hpp"
#include "interpose/peer/probed.hpp"
#include "interpose/types/datatype.hpp"

namespace plumb::interpose {

// Bytes that the host may use where they are, if its user asked for such memory; else null.
std::byte* direct(const DeviceMemory& memory);

// A command costs about what this many bytes do.
constexpr std::size_t gap_worth_reading = 4096;

// `count` elements that begin `offset` bytes after an operand's address.
struct Part {
  std::ptrdiff_t offset = 0;
  MPI_Aint count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};
using Parts = std::vector<Part>;

// What MPI is given to send.
struct Message {
  const void* address = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

// Where MPI is to receive.
struct Room {
  void* address = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

// Which bytes of its operands a call has received.
enum class Receipt {
  all,     // a collective: what it names
  counted  // a receive: as many as its status says
};

class Call {
 public:
  // persistent: its operands are read by read(), each time that it is started, and not at once.
  explicit Call(const char* name, Receipt receipt = Receipt::all, bool persistent = false)
      : name_(name), receipt_(receipt), persistent_(persistent) {}

  const char* name() const { return name_; }

  // The address to give MPI in place of an operand's: of memory of the host that is laid out alike. `reads` are the
  // bytes that the call may take from there, `writes` those that it puts there. An address that is of no device stays
  // as it is. Throws Error when there is no such buffer, or no room.
  void* stage(const void* address, const Parts& reads, const Parts& writes);
  const void* in(const void* address, MPI_Aint count, MPI_Datatype type) {
    return stage(address, {{0, count, type}}, {});
  }
  void* out(void* address, MPI_Aint count, MPI_Datatype type) { return stage(address, {}, {{0, count, type}}); }
  void* inout(void* address, MPI_Aint count, MPI_Datatype type) {
    return stage(address, {{0, count, type}}, {{0, count, type}});
  }

  // Memory of the host that lasts as long as this call.
  std::byte* own_memory(std::size_t bytes) {
    own_.resize(bytes);
    return own_.data();
  }

  // stage() for a message that may be offered to its receiver instead, when it has `least` bytes.
  Message message(const void* address, int count, MPI_Datatype type, int to, MPI_Comm comm, std::size_t least = 0);
  // out() for a message that may be offered: memory of this call where there is less room than for an envelope, and
  // where a message lies in pieces, for MPICH refuses an envelope whose end is not that of a number.
  Room room(void* address, int count, MPI_Datatype type);

  // Operands from the device.
  void read();
  // What arrived to the device; once, unless it is persistent.
  void write(const MPI_Status& status);
  // MPI's status of an envelope, or of nothing in the place of a message that was probed, becomes the message's.
  void correct(MPI_Status& status) const {
    if (probed_)
      probed_->describe(status);
    else if (taken_)
      PMPI_Status_set_elements_x(&status, MPI_BYTE, static_cast<MPI_Count>(*taken_));
  }
  // The rank that MPI is to receive from: none, where the message was taken from MPI when it was probed. A persistent
  // receive finds that out each time it is started, by takes_probed().
  int source(int from, int tag, MPI_Comm comm);
  bool takes_probed();
  // The same of the message that MPI_Mprobe gave a handle.
  void receive_probed(MPI_Message message);
  // Whether the program may use what it sends again; settle() waits until it may.
  bool settled() { return !offer_ || offer_->settled(); }
  void settle() {
    if (offer_) offer_->settle();
  }
  bool offers() const { return offer_ != nullptr; }
  // Whether who waits for this call leaves its core to the device's threads meanwhile (transport/idle.hpp).
  bool yields() const;
  // Waits so for the message that this call is about to receive.
  void await(int from, int tag, MPI_Comm comm) const;
  bool done() const { return operands_.empty(); }
  // Whether anything may arrive for a device.
  bool brings() const;

 private:
  struct Operand {
    std::shared_ptr<DeviceMemory> memory = {};  // null: of the host
    std::optional<Staging> staging = {};        // none: MPI works where the bytes lie
    std::ptrdiff_t base = 0;                    // offset in the buffer of the operand's address; may be negative
    std::byte* host = nullptr;                  // what MPI is given for that address
    Runs reads = {}, writes = {};
  };
  void* nowhere();
  static void finish(Queue& queue, const Operand& operand);
  static void read(const Operand& operand);
  static void write(const Operand& operand, const Runs& runs);
  const Operand* receiver() const;
  void save_beginning();
  void restore_beginning(const Operand& operand, std::size_t from) const;
  bool take_offered(const MPI_Status& status);
  void deliver(const std::byte* content, std::size_t bytes);
  static void take(const Operand& operand, const Envelope& envelope);
  static void unpack(const Operand& operand, const std::byte* packed, std::size_t bytes);

  const char* name_;
  Receipt receipt_;
  bool persistent_;
  std::size_t nowheres_ = 0;  // addresses that nowhere() gave
  std::vector<Operand> operands_;
  std::vector<std::byte> own_;
  std::unique_ptr<Offer> offer_;
  std::optional<std::uint64_t> taken_;  // bytes of a message that was offered to this call
  std::optional<ProbedMessage> probed_;
  // Where MPI receives what belongs elsewhere, if it does: `beginning_` or `packed_room_`.
  std::byte* packed_ = nullptr;
  std::unique_ptr<std::byte[]> packed_room_;
  // Of the program's own memory, what was there before an envelope that is longer than its message.
  std::array<std::byte, sizeof(Envelope)> beginning_{};
  struct {
    int from = MPI_PROC_NULL, tag = 0;
    MPI_Comm comm = MPI_COMM_NULL;
  } pattern_;  // of a persistent receive
};

// A blocking call: work(call) stages its operands and returns what PMPI's function did. `status`, where the call
// has one, is what that function wrote.
template <class Work>
int run_call(const char* name, Work&& work) {
  return or_abort(name, [&] {
    Call call(name);
    const int code = work(call);
    if (code == MPI_SUCCESS) call.write({});
    call.settle();
    return code;
  });
}

// A blocking receive: work(call, status) fills a status, which the caller gets where he wants one.
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
