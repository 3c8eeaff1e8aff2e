#include "interpose/collectives/device_exchange.hpp"

#include <fmt/format.h>

#include <limits>
#include <memory>

#include "interpose/memory/seat.hpp"
#include "transport/idle.hpp"

namespace plumb::interpose {

namespace {

// Smaller blocks are staged, which is faster.
std::size_t least_block() {
  static const std::size_t bytes = bytes_from("PLUMB_MPI_COLLECTIVE_FROM", std::size_t{16} << 10);
  return bytes;
}

// Deletes the attribute.
int end_copy(MPI_Comm, int, void* value, void*) {
  const std::unique_ptr<MPI_Comm> copy(static_cast<MPI_Comm*>(value));
  return is_finalizing() ? MPI_SUCCESS : PMPI_Comm_free(copy.get());
}

template <class Address>
Address at(Address operand, const Part& part) {
  using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<Address>>, const std::byte*, std::byte*>;
  return static_cast<Byte>(operand) + part.offset;
}

bool has(const Parts& parts, int rank) {
  if (parts.empty()) return false;
  const Part& part = parts[static_cast<std::size_t>(rank)];
  return part.count > 0 && bytes_of(part.count, part.type) > 0;
}

const Part& of(const Parts& parts, int rank) {
  return parts[static_cast<std::size_t>(rank)];
}

// The place of a part that is one run on a device.
std::optional<Place> whole_piece(const void* operand, const Part& part, std::size_t& bytes) {
  if (!is_device(operand)) return {};
  Runs runs;
  append(runs, part.type, part.offset, static_cast<std::size_t>(part.count));
  if (runs.size() != 1) return {};
  bytes = runs[0].size;
  return buffers().find(operand, runs[0].offset, runs[0].offset + static_cast<std::ptrdiff_t>(bytes));
}

// The copy of a rank's own block, under way beside the messages: each wait for a device costs as much as a short
// message.
class OwnCopy {
 public:
  OwnCopy() = default;
  ~OwnCopy() { wait(); }
  OwnCopy(const OwnCopy&) = delete;
  OwnCopy& operator=(const OwnCopy&) = delete;

  int start(const Blocks& blocks, int rank, MPI_Comm comm) {
    const Part &sent = of(blocks.sends, rank), &received = of(blocks.receives, rank);
    std::size_t bytes = 0, room = 0;
    const auto from = whole_piece(blocks.from, sent, bytes), to = whole_piece(blocks.to, received, room);
    if (!from || !to || from->memory->device != to->memory->device || bytes > room)
      return MPI_Sendrecv(at(blocks.from, sent), static_cast<int>(sent.count), sent.type, rank, 0,
                          at(blocks.to, received), static_cast<int>(received.count), received.type, rank, 0, comm,
                          MPI_STATUS_IGNORE);
    device_ = from->memory->device;
    staging_.emplace(device_->stage(1));
    staging_->queue().enqueue_copy({from->memory->buffer.get(), from->offset, bytes},
                                   {to->memory->buffer.get(), to->offset, bytes});
    return MPI_SUCCESS;
  }
  void wait() {
    if (staging_) wait_for(staging_->queue(), device_->info());
    staging_.reset();
  }

 private:
  std::shared_ptr<OpenDevice> device_;
  std::optional<Staging> staging_;
};

// A block is one message, whose count is of type int.
void check_counts(const Parts& parts) {
  for (const Part& part : parts)
    if (part.count > std::numeric_limits<int>::max())
      throw Error(
          fmt::format("a block must have at most 2147483647 elements, not {}; use a larger datatype", part.count));
}

}  // namespace

MPI_Comm copy_of(MPI_Comm comm) {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_copy, &made, nullptr);
    return made;
  }();
  void* known = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, key, static_cast<void*>(&known), &found);
  if (found != 0) return *static_cast<MPI_Comm*>(known);
  auto copy = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  PMPI_Comm_dup(comm, copy.get());
  const MPI_Comm result = *copy;
  PMPI_Comm_set_attr(comm, key, copy.release());
  return result;
}

Parts roots_part(const Part& part, int root, MPI_Comm comm) {
  Parts parts(static_cast<std::size_t>(size_of(comm)));
  parts[static_cast<std::size_t>(root)] = part;
  return parts;
}

Blocks bcast_blocks(void* data, const Part& part, int root, MPI_Comm comm) {
  const int rank = rank_in(comm);
  if (rank != root) return {nullptr, {}, data, roots_part(part, root, comm)};
  return {data, Parts(static_cast<std::size_t>(size_of(comm)), part), nullptr, {}};
}

Blocks allgather_blocks(const Source& from, void* to, Parts parts, MPI_Comm comm) {
  const auto own = static_cast<std::size_t>(rank_in(comm)), ranks = parts.size();
  if (from.address != MPI_IN_PLACE)
    return {from.address, Parts(ranks, {0, from.count, from.type}), to, std::move(parts)};
  Parts sends(ranks, parts[own]);
  sends[own].count = 0;
  return {to, std::move(sends), to, std::move(parts)};
}

bool exchanges_on_devices(const void* from, const void* to, std::optional<std::size_t> bytes, MPI_Comm comm) {
  if (!peer_on || (bytes && *bytes < least_block()) || between_groups(comm) || size_of(comm) < 2) return false;
  const int own = is_device(from) || is_device(to) ? 1 : 0;
  int any = 0;
  PMPI_Allreduce(&own, &any, 1, MPI_INT, MPI_MAX, copy_of(comm));
  return any != 0;
}

int exchange_blocks(const Blocks& blocks, MPI_Comm comm) {
  check_counts(blocks.sends);
  check_counts(blocks.receives);
  const MPI_Comm copy = copy_of(comm);
  const int rank = rank_in(comm), ranks = size_of(comm);
  std::vector<MPI_Request> requests;
  int code = MPI_SUCCESS;
  for (int step = 1; step < ranks && code == MPI_SUCCESS; ++step) {
    const int last = (rank + ranks - step) % ranks;
    if (!has(blocks.receives, last)) continue;
    const Part& part = of(blocks.receives, last);
    code = MPI_Irecv(at(blocks.to, part), static_cast<int>(part.count), part.type, last, 0, copy,
                     &requests.emplace_back(MPI_REQUEST_NULL));
  }
  for (int step = 1; step < ranks && code == MPI_SUCCESS; ++step) {
    const int next = (rank + step) % ranks;
    if (!has(blocks.sends, next)) continue;
    const Part& part = of(blocks.sends, next);
    code = MPI_Isend(at(blocks.from, part), static_cast<int>(part.count), part.type, next, 0, copy,
                     &requests.emplace_back(MPI_REQUEST_NULL));
  }
  OwnCopy own;
  if (code == MPI_SUCCESS && has(blocks.sends, rank) && has(blocks.receives, rank))
    code = own.start(blocks, rank, copy);
  const int completed = MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  own.wait();
  return code == MPI_SUCCESS ? completed : code;
}

}  // namespace plumb::interpose
