#include "interpose/collectives/device_reduction.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <mutex>

#include "device/opencl_c.hpp"
#include "interpose/collectives/collective_operands.hpp"
#include "interpose/collectives/device_exchange.hpp"
#include "interpose/staging/call.hpp"
#include "interpose/types/reduction_form.hpp"
#include "transport/idle.hpp"

namespace plumb::interpose {

namespace {

// MPI is faster for smaller operands.
std::size_t least_bytes() {
  static const std::size_t bytes = bytes_from("PLUMB_MPI_REDUCE_FROM", std::size_t{16} << 10);
  return bytes;
}

// A block is a message, whose count is of type int.
constexpr MPI_Aint most_numbers = std::numeric_limits<int>::max();

// Memory of a device, freed on destruction.
class Scratch {
 public:
  Scratch(const std::shared_ptr<OpenDevice>& device, std::size_t bytes) {
    auto memory = std::make_shared<DeviceMemory>();
    memory->device = device;
    memory->share(bytes);
    address_ = static_cast<std::byte*>(buffers().add(bytes, std::move(memory)));
  }
  ~Scratch() { buffers().remove(address_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::byte* address() const { return address_; }

 private:
  std::byte* address_;
};

// The numbers of an operand.
struct Operand {
  const void* address = nullptr;  // null or MPI_IN_PLACE: none
  std::size_t bytes = 0;
};

// The device of this rank's operands; null if their memory is unsuitable.
std::shared_ptr<OpenDevice> device_of(std::initializer_list<Operand> operands, const ReductionForm& form) {
  std::shared_ptr<OpenDevice> device;
  for (const auto& [address, bytes] : operands) {
    if (address == nullptr || address == MPI_IN_PLACE || bytes == 0) continue;
    if (!is_device(address)) return nullptr;
    const Place place = buffers().find(address, 0, static_cast<std::ptrdiff_t>(bytes));
    if (place.memory->handle.empty() || (device && device != place.memory->device)) return nullptr;
    device = place.memory->device;
  }
  return device && has_numbers(device->info(), form.type) ? device : nullptr;
}

// Whether all ranks have devices of one runtime (with an OpenCL driver: of one kind), whose kernels read each other's
// memory.
bool all_have_devices(const OpenDevice* own, MPI_Comm comm) {
  const auto number = [&] {
    if (own == nullptr) return 0;
    const std::string kind = own->info().runtime + (has_opencl_driver(own->info()) ? own->info().name : "");
    return 1 + static_cast<int>(std::hash<std::string>{}(kind) % 1000000);
  };
  const std::array<int, 2> mine{number(), -number()};
  std::array<int, 2> least{};
  PMPI_Allreduce(mine.data(), least.data(), 2, MPI_INT, MPI_MIN, comm);
  return least[0] > 0 && least[0] == -least[1];
}

// The kernels of all devices. Only one thread at a time sets the arguments of a kernel.
class Combiners {
 public:
  // Sets into[i] to operands[0][i], combined with operands[1][i], and so on; all are aligned to a number, and only the
  // first two may overlap `into`.
  void combine(OpenDevice& device, const ReductionForm& form, const BufferView& into,
               const std::vector<BufferView>& operands) {
    const Staging staging = device.stage(1);
    const std::uint64_t size = plumb::size_of(form.type), count = into.size / size;
    {
      const std::scoped_lock lock(mutex_);
      Kernel& kernel = kernel_of(device, form);
      for (std::size_t next = 1; next < operands.size(); ++next) {
        const BufferView &a = next == 1 ? operands[0] : into, &b = operands[next];
        kernel.set({into.buffer, into.offset / size, a.buffer, a.offset / size, b.buffer, b.offset / size, count});
        staging.queue().enqueue(kernel, combine_range(device.info(), count));
      }
    }
    wait_for(staging.queue(), device.info());
  }

 private:
  struct Combiner {
    std::unique_ptr<Program> program;
    std::unique_ptr<Kernel> kernel;
  };

  Kernel& kernel_of(OpenDevice& device, const ReductionForm& form) {
    Combiner& known = known_[{&device, form}];
    if (!known.kernel) {
      known.program = device.build(combine_source(form.type, form.operation));
      known.kernel = known.program->kernel("combine");
    }
    return *known.kernel;
  }

  std::mutex mutex_;
  std::map<std::pair<OpenDevice*, ReductionForm>, Combiner> known_;
};

Combiners& combiners() {
  static Combiners& only = *std::make_unique<Combiners>().release();
  return only;
}

BufferView view_at(const void* address, std::size_t bytes) {
  const Place place = buffers().find(address, 0, static_cast<std::ptrdiff_t>(bytes));
  return {place.memory->buffer.get(), place.offset, bytes};
}

void copy_within(OpenDevice& device, const void* from, void* to, std::size_t bytes) {
  if (bytes == 0 || from == to) return;
  const Staging staging = device.stage(1);
  staging.queue().enqueue_copy(view_at(from, bytes), view_at(to, bytes));
  wait_for(staging.queue(), device.info());
}

// Kernels address numbers by their index in a buffer.
bool is_aligned(const void* address, NumberType type) {
  return buffers().find(address, 0, 1).offset % size_of(type) == 0;
}

// A block for a neighbour, which reads it in place, or receives it as a message if it cannot.
class Sent {
 public:
  Sent(const std::byte* address, int count, std::size_t bytes, MPI_Datatype type, int to, MPI_Comm comm)
      : offer_(Offer::make(address, 0, bytes, to, comm)) {
    if (offer_)
      envelope_ = offer_->envelope();
    else
      envelope_.mark = {};
    PMPI_Isend(&envelope_, sizeof envelope_, MPI_BYTE, to, 0, comm, &requests_[0]);
    if (!offer_) MPI_Isend(address, count, type, to, 0, comm, &requests_[1]);
  }
  ~Sent() {
    MPI_Waitall(2, requests_.data(), MPI_STATUSES_IGNORE);
    if (offer_) offer_->settle();
  }
  Sent(const Sent&) = delete;
  Sent& operator=(const Sent&) = delete;

 private:
  std::unique_ptr<Offer> offer_;
  Envelope envelope_;
  std::array<MPI_Request, 2> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

// A part of an operand, in numbers; block i belongs to rank i.
struct Block {
  std::size_t first = 0;
  int count = 0;
};
using Blocks = std::vector<Block>;

Blocks blocks_of(const std::vector<int>& counts) {
  Blocks blocks;
  std::size_t first = 0;
  for (const int count : counts) {
    blocks.push_back({first, count});
    first += static_cast<std::size_t>(count);
  }
  return blocks;
}

// The first blocks are longer by one if necessary.
Blocks equal_blocks(int count, int ranks) {
  std::vector<int> counts;
  for (int i = 0; i < ranks; ++i) counts.push_back(count / ranks + (i < count % ranks ? 1 : 0));
  return blocks_of(counts);
}

// One reduction on this rank.
struct Reduction {
  MPI_Comm comm;
  std::shared_ptr<OpenDevice> device;
  ReductionForm form;
  MPI_Datatype type;
  Blocks blocks;

  std::size_t bytes_of(int count) const { return static_cast<std::size_t>(count) * plumb::size_of(form.type); }
  std::size_t bytes() const { return blocks.back().first * plumb::size_of(form.type) + bytes_of(blocks.back().count); }
  std::size_t largest() const {
    int most = 1;
    for (const Block& block : blocks) most = std::max(most, block.count);
    return bytes_of(most);
  }
};

// A block that another rank sends by Sent, to be read until destruction.
class Taken {
 public:
  Taken(const Reduction& it, int count, int from) {
    std::array<std::byte, sizeof(Envelope)> message{};
    code_ = PMPI_Recv(message.data(), sizeof(Envelope), MPI_BYTE, from, 0, it.comm, MPI_STATUS_IGNORE);
    if (code_ != MPI_SUCCESS) return;
    if (const auto envelope = Envelope::of(message.data(), message.size())) {
      in_place_.emplace(*envelope, it.device);
      return;
    }
    came_.emplace(it.device, it.bytes_of(count));
    came_bytes_ = it.bytes_of(count);
    code_ = MPI_Recv(came_->address(), count, it.type, from, 0, it.comm, MPI_STATUS_IGNORE);
  }
  int code() const { return code_; }
  BufferView bytes() const { return in_place_ ? in_place_->bytes() : view_at(came_->address(), came_bytes_); }

 private:
  int code_ = MPI_SUCCESS;
  std::optional<Taking> in_place_;
  std::optional<Scratch> came_;
  std::size_t came_bytes_ = 0;
};

// The ring. source: this rank's numbers, aligned in a buffer; whole: place of the whole result, also aligned, or null;
// may be `source`.
class Ring {
 public:
  Ring(const Reduction& its, const std::byte* source, std::byte* whole)
      : it_(its),
        source_(source),
        whole_(whole),
        rank_(rank_in(its.comm)),
        ranks_(plumb::interpose::size_of(its.comm)) {
    if (whole_ == nullptr) parts_ = std::make_unique<Scratch>(it_.device, 2 * it_.largest());
  }

  // Afterwards block `rank` is reduced over all ranks.
  int reduce_blocks() {
    std::unique_ptr<Sent> sent, sent_before;
    for (int step = 0; step < ranks_ - 1; ++step) {
      const int goes = around(rank_ - step - 1), comes = around(rank_ - step - 2);
      sent = send(step == 0 ? at(source_, goes) : combined(step - 1, goes), goes);
      if (const int code = take(comes, combined(step, comes), sent_before); code != MPI_SUCCESS) return code;
      sent_before = std::move(sent);
    }
    return MPI_SUCCESS;
  }
  int gather_to_all() const {
    for (int step = 0; step < ranks_ - 1; ++step) {
      const int goes = around(rank_ - step), comes = around(rank_ - step - 1);
      const int code = MPI_Sendrecv(at(whole_, goes), count(goes), it_.type, around(rank_ + 1), 0, at(whole_, comes),
                                    count(comes), it_.type, around(rank_ - 1), 0, it_.comm, MPI_STATUS_IGNORE);
      if (code != MPI_SUCCESS) return code;
    }
    return MPI_SUCCESS;
  }
  int gather_to(int root) const {
    if (rank_ != root) return MPI_Send(result(), count(rank_), it_.type, root, 0, it_.comm);
    for (int other = 0; other < ranks_; ++other) {
      if (other == root) continue;
      const int code = MPI_Recv(at(whole_, other), count(other), it_.type, other, 0, it_.comm, MPI_STATUS_IGNORE);
      if (code != MPI_SUCCESS) return code;
    }
    return MPI_SUCCESS;
  }
  // The place of block `rank` after reduce_blocks().
  std::byte* result() const { return combined(ranks_ - 2, rank_); }

 private:
  int around(int number) const { return (number % ranks_ + ranks_) % ranks_; }
  int count(int block) const { return it_.blocks[static_cast<std::size_t>(block)].count; }
  template <class Byte>
  Byte* at(Byte* operand, int block) const {
    return operand + it_.blocks[static_cast<std::size_t>(block)].first * plumb::size_of(it_.form.type);
  }
  // The place of a step's result; without `whole`, two places in turn.
  std::byte* combined(int step, int block) const {
    if (whole_ != nullptr) return at(whole_, block);
    return parts_->address() + static_cast<std::size_t>(step % 2) * it_.largest();
  }

  std::unique_ptr<Sent> send(const std::byte* address, int block) const {
    if (count(block) == 0) return nullptr;
    return std::make_unique<Sent>(address, count(block), it_.bytes_of(count(block)), it_.type, around(rank_ + 1),
                                  it_.comm);
  }

  // Receives a block from the previous rank and combines it with this rank's own into `into`, which `sent_before` has
  // left by then.
  int take(int block, std::byte* into, std::unique_ptr<Sent>& sent_before) {
    if (count(block) == 0) return MPI_SUCCESS;
    const std::size_t bytes = it_.bytes_of(count(block));
    const Taken taken(it_, count(block), around(rank_ - 1));
    if (taken.code() != MPI_SUCCESS) return taken.code();
    sent_before.reset();
    combiners().combine(*it_.device, it_.form, view_at(into, bytes),
                        {view_at(at(source_, block), bytes), taken.bytes()});
    return MPI_SUCCESS;
  }

  Reduction it_;
  const std::byte* source_;
  std::byte* whole_;
  int rank_, ranks_;
  std::unique_ptr<Scratch> parts_;
};

// In one step: each rank reads all of its result's numbers from all others, and waits for its device once. A ring
// moves fewer bytes between more than two ranks, and waits 2 (p - 1) times.
class AtOnce {
 public:
  // wanted[i]: the numbers of the operands that rank i's result is made of.
  AtOnce(const Reduction& its, const std::byte* source, Blocks wanted)
      : it_(its), source_(source), wanted_(std::move(wanted)), rank_(rank_in(its.comm)) {}

  // Combines in the order of ranks, so that all have the same result. `into` is aligned and overlaps no operand, which
  // others may still read.
  int reduce(std::byte* into) {
    std::vector<std::unique_ptr<Sent>> sent;
    for (std::size_t rank = 0; rank < wanted_.size(); ++rank)
      if (const Block& block = wanted_[rank]; block.count > 0 && static_cast<int>(rank) != rank_)
        sent.push_back(std::make_unique<Sent>(at(block), block.count, it_.bytes_of(block.count), it_.type,
                                              static_cast<int>(rank), it_.comm));
    if (own().count == 0) return MPI_SUCCESS;
    std::vector<std::unique_ptr<Taken>> taken;
    std::vector<BufferView> operands;
    for (int rank = 0; rank < static_cast<int>(wanted_.size()); ++rank) {
      if (rank == rank_) {
        operands.push_back(view_at(at(own()), it_.bytes_of(own().count)));
        continue;
      }
      taken.push_back(std::make_unique<Taken>(it_, own().count, rank));
      if (taken.back()->code() != MPI_SUCCESS) return taken.back()->code();
      operands.push_back(taken.back()->bytes());
    }
    combiners().combine(*it_.device, it_.form, view_at(into, it_.bytes_of(own().count)), operands);
    return MPI_SUCCESS;
  }

 private:
  const Block& own() const { return wanted_[static_cast<std::size_t>(rank_)]; }
  const std::byte* at(const Block& block) const { return source_ + block.first * plumb::size_of(it_.form.type); }

  Reduction it_;
  const std::byte* source_;
  Blocks wanted_;
  int rank_;
};

// The operand if kernels can read it in place, else a copy in `scratch`.
const std::byte* readable(const Reduction& it, const void* operand, std::optional<Scratch>& scratch) {
  if (is_aligned(operand, it.form.type)) return static_cast<const std::byte*>(operand);
  scratch.emplace(it.device, it.bytes());
  copy_within(*it.device, operand, scratch->address(), it.bytes());
  return scratch->address();
}

// Whether reading more bytes than in a ring, and copying a result that may not replace its operand yet, is faster than
// a ring's further waits. in_place: on all ranks alike.
bool goes_at_once(std::size_t bytes, int ranks, bool in_place) {
  static const std::size_t most = bytes_from("PLUMB_MPI_REDUCE_AT_ONCE_TO", std::size_t{1} << 20);
  const auto others = static_cast<std::size_t>(ranks - 1);
  const std::size_t beyond_ring = others * bytes - 2 * others * bytes / static_cast<std::size_t>(ranks);
  return beyond_ring + (in_place ? bytes : 0) <= most;
}

// bytes: of the result at `to`, which may be this rank's operand.
int reduce_at_once(const Reduction& it, const void* from, void* to, const Blocks& wanted, std::size_t bytes) {
  std::optional<Scratch> copy, result;
  const bool in_place = from == MPI_IN_PLACE;
  AtOnce step(it, readable(it, in_place ? to : from, copy), wanted);
  const bool direct = bytes == 0 || (!in_place && is_aligned(to, it.form.type));
  if (!direct) result.emplace(it.device, bytes);
  std::byte* into = direct ? static_cast<std::byte*>(to) : result->address();
  const int code = step.reduce(into);
  if (code == MPI_SUCCESS && !direct) copy_within(*it.device, into, to, bytes);
  return code;
}

// All of a reduction's numbers for its root, or for everyone.
Blocks whole_for(int root, int count, int ranks) {
  Blocks wanted(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    if (root == everyone || root == rank) wanted[static_cast<std::size_t>(rank)] = {0, count};
  return wanted;
}

// By the ring. gets: whether this rank has a result, at `to`.
int reduce_in_ring(const Reduction& it, const void* from, void* to, int root, bool gets) {
  std::optional<Scratch> copy, other;
  const std::byte* source = readable(it, from == MPI_IN_PLACE ? to : from, copy);
  std::byte* whole = nullptr;
  if (gets && is_aligned(to, it.form.type)) {
    whole = static_cast<std::byte*>(to);
  } else if (gets) {
    if (!copy) other.emplace(it.device, it.bytes());
    whole = copy ? copy->address() : other->address();
  }
  Ring ring(it, source, whole);
  int code = ring.reduce_blocks();
  if (code == MPI_SUCCESS) code = root == everyone ? ring.gather_to_all() : ring.gather_to(root);
  if (code == MPI_SUCCESS && gets) copy_within(*it.device, whole, to, it.bytes());
  return code;
}

}  // namespace

std::optional<int> reduce_on_devices(const void* from, void* to, MPI_Aint count, MPI_Datatype type, MPI_Op op, int root,
                                     MPI_Comm comm) {
  if (!peer_on || between_groups(comm) || size_of(comm) < 2 || count <= 0 || count > most_numbers) return {};
  const auto form = reduction_form(type, op);
  if (!form) return {};
  const std::size_t bytes = static_cast<std::size_t>(count) * size_of(form->type);
  if (bytes < least_bytes()) return {};
  const int ranks = size_of(comm);
  Reduction it{copy_of(comm), {}, *form, type, equal_blocks(static_cast<int>(count), ranks)};
  const bool gets = root == everyone || root == rank_in(comm);
  it.device = device_of({{from, bytes}, {gets ? to : nullptr, bytes}}, *form);
  if (!all_have_devices(it.device.get(), it.comm)) return {};
  if (goes_at_once(bytes, ranks, root == everyone && from == MPI_IN_PLACE))
    return reduce_at_once(it, from, to, whole_for(root, static_cast<int>(count), ranks), gets ? bytes : 0);
  return reduce_in_ring(it, from, to, root, gets);
}

std::optional<int> reduce_scatter_on_devices(const void* from, void* to, const std::vector<MPI_Aint>& counts,
                                             MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (!peer_on || between_groups(comm) || counts.size() < 2) return {};
  if (*std::max_element(counts.begin(), counts.end()) > most_numbers) return {};
  const auto form = reduction_form(type, op);
  if (!form) return {};
  Reduction it{copy_of(comm), {}, *form, type, blocks_of({counts.begin(), counts.end()})};
  if (it.bytes() == 0 || it.bytes() < least_bytes()) return {};
  const std::size_t given = it.bytes_of(static_cast<int>(counts[static_cast<std::size_t>(rank_in(comm))]));
  it.device = device_of({{from, it.bytes()}, {to, from == MPI_IN_PLACE ? it.bytes() : given}}, *form);
  if (!all_have_devices(it.device.get(), it.comm)) return {};
  if (goes_at_once(it.bytes(), size_of(comm), from == MPI_IN_PLACE))
    return reduce_at_once(it, from, to, it.blocks, given);

  std::optional<Scratch> copy;
  Ring ring(it, readable(it, from == MPI_IN_PLACE ? to : from, copy), nullptr);
  const int code = ring.reduce_blocks();
  if (code == MPI_SUCCESS) copy_within(*it.device, ring.result(), to, given);
  return code;
}

}  // namespace plumb::interpose
