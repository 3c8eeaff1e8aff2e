#include "interpose/call.hpp"

#include <algorithm>
#include <array>

namespace plumb::interpose {

namespace {

// A command costs about what this many bytes do.
constexpr std::size_t gap_worth_reading = 4096;

Runs runs_of(const Parts& parts) {
  Runs runs;
  for (const Part& part : parts)
    if (part.count > 0) append(runs, part.type, part.offset, static_cast<std::size_t>(part.count));
  return runs;
}

// Bytes that the host may use where they are, if its user asked for such memory.
std::byte* direct(const DeviceMemory& memory) {
  const MemoryKind kind = memory.buffer->placement().kind;
  return kind == MemoryKind::host || kind == MemoryKind::svm ? memory.buffer->host_pointer() : nullptr;
}

std::size_t received_bytes(const MPI_Status& status) {
  MPI_Count bytes = 0;
  PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  return bytes == MPI_UNDEFINED ? 0 : static_cast<std::size_t>(bytes);
}

Span joined(const Span& a, const Span& b) {
  if (a.low == a.high) return b;
  if (b.low == b.high) return a;
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

}  // namespace

AddressRegistry& buffers() {
  static AddressRegistry& only = *std::make_unique<AddressRegistry>(device_addresses).release();
  return only;
}

// Operands of no bytes: each its own address, for MPI takes two that are equal for an operation in place.
void* Call::nowhere() {
  static std::array<std::byte, 8> places;
  return &places.at(nowheres_++ % places.size());
}

void* Call::stage(const void* address, const Parts& reads, const Parts& writes) {
  if (!is_device(address)) return const_cast<void*>(address);
  Runs read_runs = runs_of(reads);
  Runs write_runs = runs_of(writes);
  const Span span = joined(span_of(read_runs), span_of(write_runs));
  if (span.low == span.high) return nowhere();
  Place place = buffers().find(address, span.low, span.high);
  const std::ptrdiff_t base = static_cast<std::ptrdiff_t>(place.offset) - span.low;
  if (std::byte* bytes = direct(*place.memory)) {
    operands_.push_back({std::move(place.memory), {}, base, 0, {}, {}});
    return bytes + base;
  }
  Staging staging = place.memory->device->stage(static_cast<std::size_t>(span.high - span.low));
  std::byte* bytes = staging.bytes();
  operands_.push_back({std::move(place.memory), std::move(staging), base, span.low,
                       widened(std::move(read_runs), gap_worth_reading), std::move(write_runs)});
  if (!persistent_) read(operands_.back());
  return bytes - span.low;
}

void Call::read() {
  for (const Operand& operand : operands_) read(operand);
}

void Call::read(const Operand& operand) {
  if (operand.reads.empty()) return;
  Queue& queue = operand.staging.queue();
  for (const Run& run : operand.reads)
    queue.enqueue_read({operand.memory->buffer.get(), static_cast<std::size_t>(operand.base + run.offset), run.size},
                       operand.staging.bytes() + (run.offset - operand.low));
  queue.finish();
}

void Call::write(const MPI_Status& status) {
  for (const Operand& operand : operands_)
    if (!operand.writes.empty())
      write(operand,
            receipt_ == Receipt::counted ? first_bytes(operand.writes, received_bytes(status)) : operand.writes);
}

void Call::write(const Operand& operand, const Runs& runs) {
  Queue& queue = operand.staging.queue();
  for (const Run& run : runs)
    queue.enqueue_write(operand.staging.bytes() + (run.offset - operand.low),
                        {operand.memory->buffer.get(), static_cast<std::size_t>(operand.base + run.offset), run.size});
  queue.finish();
}

}  // namespace plumb::interpose
