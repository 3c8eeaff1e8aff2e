#include "interpose/staging/pieces.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "interpose/memory/seat.hpp"
#include "transport/idle.hpp"

namespace plumb::interpose {

namespace {

// Limit on the host memory of messages that are not taken yet.
constexpr std::size_t most_bytes = std::size_t{1} << 30;

MPI_Comm pieces_comm = MPI_COMM_NULL;
std::uint64_t tags = 1;  // number of tags that MPI has

// The messages that this process has started.
class Started {
 public:
  // False if too many bytes are not taken yet; `alone`: also if any message is not.
  bool has_room(std::size_t bytes, bool alone) {
    end(false);
    const std::scoped_lock lock(mutex_);
    return bytes_ + bytes <= most_bytes && (!alone || messages_.empty());
  }
  void add(std::shared_ptr<Pieces> message) {
    const std::scoped_lock lock(mutex_);
    bytes_ += message->bytes();
    messages_.push_back(std::move(message));
  }
  // Those in use by their calls are left to these.
  void end(bool until_all) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(messages_, [&](const std::shared_ptr<Pieces>& message) {
      if (message.use_count() > 1) return false;
      while (!message->taken())
        if (!until_all) return false;
      bytes_ -= message->bytes();
      return true;
    });
  }

 private:
  std::mutex mutex_;
  std::size_t bytes_ = 0;
  std::vector<std::shared_ptr<Pieces>> messages_;
};

// Never destroyed: a driver may be unloaded before.
Started& started() {
  static Started& only = *std::make_unique<Started>().release();
  return only;
}

std::uint64_t next_tag() {
  static std::atomic<std::uint64_t> next = 0;
  return next++ % tags;
}

std::size_t piece_bytes() {
  static const std::size_t bytes = std::max<std::size_t>(bytes_from("PLUMB_MPI_PIECE", std::size_t{512} << 10), 1);
  return bytes;
}

}  // namespace

void finish_on(Queue& queue, const OpenDevice& device) {
  if (device.shares_cores())
    queue.finish();
  else
    wait_for(queue, device.info());
}

void begin_pieces() {
  if (pieces_from == 0) return;
  PMPI_Comm_dup(MPI_COMM_WORLD, &pieces_comm);
  const int* most = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&most), &found);
  if (found != 0) tags = static_cast<std::uint64_t>(*most) + 1;
}

void end_pieces(bool until_all) {
  started().end(until_all);
}

std::shared_ptr<Pieces> Pieces::make(const void* address, std::ptrdiff_t first, std::size_t bytes, int to,
                                     MPI_Comm comm) {
  if (pieces_from == 0 || bytes < pieces_from || bytes <= piece_bytes()) return nullptr;
  const int rank = partner_of(to, comm).rank;
  if (rank < 0 || rank == this_seat().rank) return nullptr;
  Place place = buffers().find(address, first, first + static_cast<std::ptrdiff_t>(bytes));
  // A device on this process's cores overlaps with the receiver only, and messages after the first do so whole.
  if (!started().has_room(bytes, place.memory->device->shares_cores())) return nullptr;
  const MemoryKind kind = place.memory->buffer->placement().kind;
  const bool is_host = kind == MemoryKind::host || kind == MemoryKind::svm;
  if (is_host && place.memory->buffer->host_pointer() != nullptr) return nullptr;
  Envelope envelope;
  envelope.bytes = bytes;
  envelope.entry = next_tag();
  envelope.process = static_cast<std::uint64_t>(this_seat().rank);
  envelope.piece = piece_bytes();
  auto made = std::make_shared<Pieces>(std::move(place), envelope, rank);
  started().add(made);
  return made;
}

Pieces::Pieces(Place place, const Envelope& envelope, int to)
    : place_(std::move(place)), staging_(place_.memory->device->stage(envelope.bytes)), envelope_(envelope), to_(to) {}

void Pieces::read(std::size_t piece, Queue& queue) {
  const std::size_t at = piece * envelope_.piece;
  queue.enqueue_read({place_.memory->buffer.get(), place_.offset + at, size_of(piece)}, staging_.bytes() + at);
}

void Pieces::start() {
  const auto begin = std::chrono::steady_clock::now();
  const Staging second = place_.memory->device->stage(1);
  const std::array<Queue*, 2> queues{&staging_.queue(), &second.queue()};
  requests_.resize(count(), MPI_REQUEST_NULL);
  read(0, *queues[0]);
  for (std::size_t piece = 0; piece < count(); ++piece) {
    if (piece + 1 < count()) read(piece + 1, *queues[(piece + 1) % 2]);
    finish_on(*queues[piece % 2], *place_.memory->device);
    PMPI_Isend(staging_.bytes() + piece * envelope_.piece, static_cast<int>(size_of(piece)), MPI_BYTE, to_,
               static_cast<int>(envelope_.entry), pieces_comm, &requests_[piece]);
  }
  until_ = std::chrono::steady_clock::now() + (std::chrono::steady_clock::now() - begin);
}

bool Pieces::settled() {
  if (!taken() && std::chrono::steady_clock::now() < until_) return false;
  place_.memory.reset();  // which the program may free from now on
  return true;
}

bool Pieces::taken() {
  int all = 0;
  PMPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all, MPI_STATUSES_IGNORE);
  return all != 0;
}

void Pieces::settle() {
  Idle idle(true);
  while (!settled()) idle.look();
}

void receive_pieces(const Envelope& envelope, std::byte* to, bool yields,
                    const std::function<void(std::size_t offset, std::size_t bytes)>& arrived) {
  const std::size_t count = (envelope.bytes + envelope.piece - 1) / envelope.piece;
  const auto size_of = [&](std::size_t at) { return std::min(envelope.piece, envelope.bytes - at); };
  std::vector<MPI_Request> requests(count, MPI_REQUEST_NULL);
  for (std::size_t piece = 0; piece < count; ++piece) {
    const std::size_t at = piece * envelope.piece;
    PMPI_Irecv(to + at, static_cast<int>(size_of(at)), MPI_BYTE, static_cast<int>(envelope.process),
               static_cast<int>(envelope.entry), pieces_comm, &requests[piece]);
  }
  for (std::size_t piece = 0; piece < count; ++piece) {
    Idle idle(yields);
    for (int done = 0; PMPI_Test(&requests[piece], &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0;) idle.look();
    const std::size_t at = piece * envelope.piece;
    arrived(at, size_of(at));
  }
}

}  // namespace plumb::interpose
