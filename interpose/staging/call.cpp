#include "interpose/staging/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <numeric>

#include "transport/idle.hpp"

namespace plumb::interpose {

namespace {

// A message with more runs is unpacked on the host, at once.
constexpr std::size_t most_copies = 64;

Runs runs_of(std::span<const Part> parts) {
  Runs runs;
  for (const Part& part : parts)
    if (part.count > 0) append(runs, part.type, part.offset, static_cast<std::size_t>(part.count));
  return runs;
}

// 0 for a cancelled receive, whose status has no count.
std::size_t received_bytes(const MPI_Status& status) {
  int cancelled = 0;
  PMPI_Test_cancelled(&status, &cancelled);
  if (cancelled != 0) return 0;
  MPI_Count bytes = 0;
  PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  return bytes == MPI_UNDEFINED ? 0 : static_cast<std::size_t>(bytes);
}

Span joined(const Span& a, const Span& b) {
  if (a.low == a.high) return b;
  if (b.low == b.high) return a;
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

std::size_t size_of(const Runs& runs) {
  return std::accumulate(runs.begin(), runs.end(), std::size_t{0},
                         [](std::size_t sum, const Run& run) { return sum + run.size; });
}

// MPI has checked the size of the envelope only.
void check_room(const Runs& runs, std::size_t bytes) {
  if (const std::size_t room = size_of(runs); room < bytes)
    throw Error(
        fmt::format("a message of {} bytes exceeds its receive buffer of {} bytes; increase the count", bytes, room));
}

}  // namespace

std::byte* direct(const DeviceMemory& memory) {
  const MemoryKind kind = memory.buffer->placement().kind;
  return kind == MemoryKind::host || kind == MemoryKind::svm ? memory.buffer->host_pointer() : nullptr;
}

// An address for an operand of no bytes, different for each: MPI takes equal addresses for an operation in place.
void* Call::empty_address() {
  static std::array<std::byte, 8> places;
  return &places.at(empty_addresses_++ % places.size());
}

void* Call::stage_spans(const void* address, std::span<const Part> reads, std::span<const Part> writes) {
  auto* bytes = static_cast<std::byte*>(const_cast<void*>(address));
  if (!is_device(address)) {
    if (offers_on && receipt_ == Receipt::counted && !writes.empty())
      operands_.push_back({.host = bytes, .writes = runs_of(writes)});
    return bytes;
  }
  Runs read_runs = runs_of(reads);
  Runs write_runs = runs_of(writes);
  const Span span = joined(span_of(read_runs), span_of(write_runs));
  if (span.low == span.high) return empty_address();
  Place place = buffers().find(address, span.low, span.high);
  const std::ptrdiff_t base = static_cast<std::ptrdiff_t>(place.offset) - span.low;
  if (std::byte* direct_bytes = direct(*place.memory)) {
    bytes = direct_bytes + base;
    operands_.push_back(
        {.memory = std::move(place.memory), .base = base, .host = bytes, .writes = std::move(write_runs)});
    return bytes;
  }
  Staging staging = place.memory->device->stage(static_cast<std::size_t>(span.high - span.low));
  bytes = staging.bytes() - span.low;
  operands_.push_back({std::move(place.memory), std::move(staging), base, bytes,
                       widened(std::move(read_runs), gap_worth_reading), std::move(write_runs)});
  if (!persistent_) read(operands_.back());
  return bytes;
}

Message Call::message(const void* address, int count, MPI_Datatype type, int to, MPI_Comm comm, std::size_t least) {
  if (is_device(address) && may_be_offered(count, type)) {
    const Part part{0, count, type};
    const Runs runs = runs_of({&part, 1});
    if (runs.size() == 1 && runs[0].size >= least) {
      offer_ = Offer::make(address, runs[0].offset, runs[0].size, to, comm);
      if (!offer_) pieces_ = Pieces::make(address, runs[0].offset, runs[0].size, to, comm);
    }
    if (offer_) return {&offer_->envelope(), sizeof(Envelope), MPI_BYTE};
    if (pieces_) return {&pieces_->envelope(), sizeof(Envelope), MPI_BYTE};
  }
  return {in(address, count, type), count, type};
}

Room Call::room(void* address, int count, MPI_Datatype type) {
  void* staged = out(address, count, type);
  if (!offers_on) return {staged, count, type};
  const Operand* operand = receiver();
  const std::size_t bytes = operand == nullptr ? 0 : size_of(operand->writes);
  if (bytes < beginning_.size()) {
    packed_ = beginning_.data();
    return {packed_, static_cast<int>(beginning_.size()), MPI_PACKED};
  }
  if (operand->writes.size() > 1 && bytes <= INT_MAX) {
    packed_room_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    packed_ = packed_room_.get();
    return {packed_, static_cast<int>(bytes), MPI_PACKED};
  }
  if (!persistent_) save_beginning();
  return {staged, count, type};
}

void Call::save_beginning() {
  const Operand* operand = receiver();
  if (packed_ != nullptr || operand == nullptr || operand->staging) return;
  std::byte* to = beginning_.data();
  for (const Run& run : first_bytes(operand->writes, beginning_.size())) {
    std::memcpy(to, operand->host + run.offset, run.size);
    to += run.size;
  }
}

void Call::restore_beginning(const Operand& operand, std::size_t from) const {
  std::size_t at = 0;
  for (const Run& run : first_bytes(operand.writes, beginning_.size())) {
    const std::size_t kept = std::min(run.size, from - std::min(from, at));  // bytes of the message
    std::memcpy(operand.host + run.offset + kept, beginning_.data() + at + kept, run.size - kept);
    at += run.size;
  }
}

bool Call::yields() const {
  return std::any_of(operands_.begin(), operands_.end(), [](const Operand& operand) {
    const Span span = span_of(operand.writes);
    const auto room = static_cast<std::size_t>(span.high - span.low);
    const bool may_be_short = room <= short_message || may_be_offered(room);
    return operand.staging && may_be_short && operand.memory->device->shares_cores();
  });
}

bool Call::may_take_offered() const {
  const Operand* operand = receiver();
  return operand != nullptr && may_be_offered(size_of(operand->writes));
}

int Call::receive(const Room& room, int source, int tag, MPI_Comm comm, MPI_Status* status) const {
  // From nobody it ends at once, and in MPICH the status of a request would differ.
  if (source == MPI_PROC_NULL || !yields())
    return PMPI_Recv(room.address, room.count, room.type, source, tag, comm, status);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = PMPI_Irecv(room.address, room.count, room.type, source, tag, comm, &request);
  Idle idle(true);
  for (int done = 0; code == MPI_SUCCESS;) {
    code = PMPI_Test(&request, &done, status);
    if (done != 0) break;
    idle.look();
  }
  return code;
}

int Call::source(int from, int tag, MPI_Comm comm) {
  if (!offers_on) return from;
  pattern_ = {from, tag, comm};
  return !persistent_ && takes_probed() ? MPI_PROC_NULL : from;
}

bool Call::takes_probed() {
  probed_ = take_probed(pattern_.from, pattern_.tag, pattern_.comm);
  return probed_.has_value();
}

void Call::receive_probed(MPI_Message message) {
  if (offers_on) probed_ = take_probed(message);
}

void Call::read() {
  taken_.reset();
  if (offers_on && receipt_ == Receipt::counted) save_beginning();
  for (const Operand& operand : operands_) read(operand);
}

void Call::read(const Operand& operand) {
  if (operand.reads.empty() || !operand.staging) return;
  Queue& queue = operand.staging->queue();
  for (const Run& run : operand.reads)
    queue.enqueue_read({operand.memory->buffer.get(), static_cast<std::size_t>(operand.base + run.offset), run.size},
                       operand.host + run.offset);
  finish_on(queue, *operand.memory->device);
}

bool Call::brings() const {
  return std::any_of(operands_.begin(), operands_.end(),
                     [](const Operand& operand) { return operand.memory && !operand.writes.empty(); });
}

bool Call::write_finished() {
  if (!taking_) return true;
  if (!receiver()->staging->queue().finished()) return false;
  taking_.reset();
  return true;
}

void Call::finish_write() {
  if (!taking_) return;
  wait_for(receiver()->staging->queue(), taking_->device().info());
  taking_.reset();
}

void Call::start_write(const MPI_Status& status) {
  if (probed_) return deliver(probed_->content.data(), probed_->content.size());
  if (packed_ != nullptr) return deliver(packed_, received_bytes(status));
  const bool is_counted = receipt_ == Receipt::counted;
  const std::size_t received = is_counted ? received_bytes(status) : 0;
  if (offers_on && is_counted && take_offered(received)) return;
  for (const Operand& operand : operands_) {
    if (!operand.staging || operand.writes.empty()) continue;
    if (is_counted && received < size_of(operand.writes))
      write(operand, first_bytes(operand.writes, received));
    else
      write(operand, operand.writes);
  }
  if (!persistent_) operands_.clear();
}

void Call::write(const Operand& operand, const Runs& runs) {
  if (!operand.staging) return;
  Queue& queue = operand.staging->queue();
  for (const Run& run : runs)
    queue.enqueue_write(operand.host + run.offset,
                        {operand.memory->buffer.get(), static_cast<std::size_t>(operand.base + run.offset), run.size});
  finish_on(queue, *operand.memory->device);
}

const Call::Operand* Call::receiver() const {
  const auto receives = [](const Operand& operand) { return !operand.writes.empty(); };
  const auto operand = std::find_if(operands_.begin(), operands_.end(), receives);
  return operand == operands_.end() ? nullptr : &*operand;
}

// True if an envelope came instead of the message; the message is then in its place.
bool Call::take_offered(std::size_t received) {
  const Operand* operand = receiver();
  if (operand == nullptr || received != sizeof(Envelope)) return false;
  std::array<std::byte, sizeof(Envelope)> bytes{};
  std::byte* to = bytes.data();
  for (const Run& run : first_bytes(operand->writes, bytes.size())) {
    std::memcpy(to, operand->host + run.offset, run.size);
    to += run.size;
  }
  const auto envelope = Envelope::of(bytes.data(), bytes.size());
  if (!envelope) return false;
  if (!operand->staging && envelope->bytes < sizeof(Envelope)) restore_beginning(*operand, envelope->bytes);
  take(*operand, *envelope);
  taken_ = envelope->bytes;
  return true;
}

// Delivers a message, or the message of an envelope, that MPI received elsewhere than in its place.
void Call::deliver(const std::byte* content, std::size_t bytes) {
  const auto envelope = Envelope::of(content, bytes);
  const Operand* operand = receiver();
  if (operand == nullptr) {
    check_room({}, envelope ? envelope->bytes : bytes);
  } else if (envelope) {
    take(*operand, *envelope);
    taken_ = envelope->bytes;
  } else {
    unpack(*operand, content, bytes);
  }
}

void Call::take(const Operand& operand, const Envelope& envelope) {
  if (envelope.piece != 0) return take_pieces(operand, envelope);
  const Runs runs = first_bytes(operand.writes, envelope.bytes);
  check_room(runs, envelope.bytes);
  taking_.emplace(envelope, operand.memory ? operand.memory->device : nullptr);
  const bool is_near = operand.staging && &taking_->device() == operand.memory->device.get();
  BufferView from = taking_->bytes();
  if (is_near && runs.size() <= most_copies) {
    Queue& queue = operand.staging->queue();
    for (const Run& run : runs) {
      queue.enqueue_copy({from.buffer, from.offset, run.size},
                         {operand.memory->buffer.get(), static_cast<std::size_t>(operand.base + run.offset), run.size});
      from.offset += run.size;
    }
    return;
  }
  const Staging packed = taking_->device().stage(from.size);
  packed.queue().read(from, packed.bytes());
  taking_.reset();
  unpack(operand, packed.bytes(), from.size);
}

// Into its place, if that is one run; each piece goes to the device while the next ones come.
void Call::take_pieces(const Operand& operand, const Envelope& envelope) {
  const Runs runs = first_bytes(operand.writes, envelope.bytes);
  check_room(runs, envelope.bytes);
  const bool yields = operand.staging && operand.memory->device->shares_cores();
  if (runs.size() > 1) {
    const auto packed = std::make_unique_for_overwrite<std::byte[]>(envelope.bytes);
    receive_pieces(envelope, packed.get(), yields, [](std::size_t, std::size_t) {});
    return unpack(operand, packed.get(), envelope.bytes);
  }
  const Run& run = runs.front();
  std::byte* const to = operand.host + run.offset;
  receive_pieces(envelope, to, yields, [&](std::size_t at, std::size_t bytes) {
    if (!operand.staging) return;
    const auto offset = static_cast<std::size_t>(operand.base + run.offset) + at;
    operand.staging->queue().enqueue_write(to + at, {operand.memory->buffer.get(), offset, bytes});
  });
  if (operand.staging) finish_on(operand.staging->queue(), *operand.memory->device);
}

// Copies the bytes of a message into the runs of its receiver.
void Call::unpack(const Operand& operand, const std::byte* packed, std::size_t bytes) {
  const Runs runs = first_bytes(operand.writes, bytes);
  check_room(runs, bytes);
  for (const Run& run : runs) {
    std::memcpy(operand.host + run.offset, packed, run.size);
    packed += run.size;
  }
  write(operand, runs);
}

}  // namespace plumb::interpose
