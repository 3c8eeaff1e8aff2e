// Kernels' streams: of words that other ranks put, and of copies by this engine. A kernel either is code of this
// process that reads by read_stream(), or has a pipe, by which it may issue commands as well.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "transport/accl/engine.hpp"

namespace plumb::accl {

namespace {

// Appends what a pipe holds, up to `size` bytes; returns whether there was anything.
bool append_from(int file, std::vector<std::byte>& bytes, std::size_t size) {
  const std::size_t before = bytes.size();
  bytes.resize(before + size);
  const ssize_t came = read(file, bytes.data() + before, size);
  bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(0, came)));
  return came > 0;
}

}  // namespace

void Engine::read_stream(int from, std::uint32_t number, std::byte* to, std::uint64_t bytes, Ticket& ticket) {
  ticket.open.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  if (failed_) return end(ticket, status::packets_out_of_sequence);
  Stream& stream = stream_of(peers_[static_cast<std::size_t>(from)], number);
  stream.readers.push_back({0, to, bytes, &ticket});
  feed(stream, nullptr, 0);
  while (!stream.packets.empty() && !stream.readers.empty()) {
    std::vector<std::byte>& packet = stream.packets.front().bytes;
    packet.erase(packet.begin(),
                 packet.begin() + static_cast<std::ptrdiff_t>(feed(stream, packet.data(), packet.size())));
    if (!packet.empty()) break;
    pop(stream);
  }
}

// The first packet, to its sender's account.
void Engine::pop(Stream& stream) {
  if (Peer* sender = stream.packets.front().sender) ++sender->own_taken;
  stream.packets.pop_front();
}

Engine::Stream& Engine::stream_of(Peer& peer, std::uint32_t number) {
  for (auto& [known, stream] : peer.streams)
    if (known == number) return stream;
  return peer.streams.emplace_back(number, Stream()).second;
}

// Gives bytes to the kernels that wait; returns how many they took.
std::size_t Engine::feed(Stream& stream, const std::byte* bytes, std::size_t size) {
  std::size_t taken = 0;
  while (!stream.readers.empty()) {
    Receive& reader = stream.readers.front();
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(size - taken, reader.length - reader.received));
    if (part > 0) std::memcpy(reader.to + reader.received, bytes + taken, part);
    reader.received += part;
    taken += part;
    if (reader.received < reader.length) break;
    end(*reader.ticket, status::done);
    stream.readers.pop_front();
  }
  return taken;
}

// Gives bytes to the kernels that wait, and keeps the rest for those to come; returns whether all were taken at once.
bool Engine::pour(Stream& stream, const std::byte* bytes, std::size_t size, Peer* sender) {
  const std::size_t taken = stream.packets.empty() ? feed(stream, bytes, size) : 0;
  if (taken == size) return true;
  stream.packets.push_back({{bytes + taken, bytes + size}, sender});
  return false;
}

// Of a copy: false without a kernel for all of it.
bool Engine::put_into(Stream& stream, const std::byte* bytes, std::size_t size) {
  if (stream.file < 0) return feed(stream, bytes, size) == size;
  stream.packets.push_back({{bytes, bytes + size}, nullptr});
  return true;
}

bool Engine::take_stream(Peer& sender, Stream& stream, const Header& header, const std::byte* payload) {
  if (!settings_.credit && stream.packets.size() >= window_) {
    if (network_->is_reliable()) return false;
    fail(fmt::format("a packet from rank {} was lost: its stream is full (--accl-credit prevents it)", header.source));
    return true;
  }
  if (pour(stream, payload, header.bytes, &sender)) ++sender.own_taken;
  return true;
}

// One stream for the words of all ranks and lanes, each packet behind its header word: messages of several senders are
// interleaved (Meyer 2024, section 5.1.1). The kernel sorts them by source and tag; whatever it takes them for, the
// engine's accounts are with the sender.
bool Engine::take_shared(Peer& sender, const Header& header, const std::byte* payload) {
  std::vector<std::byte>& words = shared_.words;
  words.assign(word_bytes + whole_words(header.bytes), std::byte{0});
  std::memcpy(words.data(), &header, sizeof header);
  std::memcpy(words.data() + word_bytes, payload, header.bytes);
  const Header sorted = header_of(words.data());
  Stream& stream = stream_of(peers_[sorted.source], sorted.tag);
  if (!take_stream(sender, stream, header, words.data() + word_bytes)) return false;
  count_interleaving(header);
  return true;
}

Header Engine::header_of(const std::byte* words) {
  Header header;
  std::memcpy(static_cast<void*>(&header), words, sizeof header);
  return header;
}

void Engine::count_interleaving(const Header& header) {
  const std::pair message{header.source, header.tag};
  if (shared_.last != message && shared_.open[shared_.last] > 0) ++counts_.interleaved;
  std::uint64_t& left = shared_.open[message];
  left = (left == 0 ? header.length : left) - header.bytes;
  shared_.last = message;
}

// --- kernels with pipes -------------------------------------------------------------------------

void Engine::attach(const KernelPipes& pipes) {
  const std::lock_guard lock(mutex_);
  auto& made = *kernels_.emplace_back(std::make_unique<AttachedKernel>());
  made.pipes = pipes;
}

void Engine::detach(const KernelPipes& pipes) {
  const std::lock_guard lock(mutex_);
  std::erase_if(kernels_, [&](const auto& one) { return one->pipes.commands == pipes.commands; });
}

void Engine::lead_stream(int from, std::uint32_t number, int file) {
  const std::lock_guard lock(mutex_);
  const Led led{static_cast<std::size_t>(from), number, file};
  std::erase_if(led_, [&](const Led& one) { return one.from == led.from && one.number == number; });
  stream_of(peers_[led.from], number).file = file;
  if (file >= 0) led_.push_back(led);
}

bool Engine::serve_kernels() {
  bool moved = false;
  for (const auto& kernel : kernels_) moved = serve(*kernel) || moved;
  for (const Led& led : led_) moved = drain(stream_of(peers_[led.from], led.number)) || moved;
  return moved;
}

// Takes a kernel's commands in order, each with the words that it sends, and tells it the status of each.
bool Engine::serve(AttachedKernel& kernel) {
  constexpr std::size_t commands_at_once = 16;
  bool moved = append_from(kernel.pipes.commands, kernel.came, commands_at_once * word_bytes);
  for (; kernel.came.size() >= word_bytes; kernel.came.erase(kernel.came.begin(), kernel.came.begin() + word_bytes)) {
    auto& order = *kernel.orders.emplace_back(std::make_unique<Order>());
    std::memcpy(static_cast<void*>(&order.command), kernel.came.data(), sizeof order.command);
    order.ticket.open = 1;
    if (order.command.call == Call::send && (order.command.streams & operand_is_stream) != 0 && kernel.pipes.data >= 0)
      order.wanted = whole_words(bytes_of(order.command));
  }
  for (const auto& order : kernel.orders) {
    if (order->is_executed) continue;
    while (order->data.size() < order->wanted &&
           append_from(kernel.pipes.data, order->data, order->wanted - order->data.size()))
      moved = true;
    if (order->data.size() < order->wanted) break;
    order->is_executed = moved = true;
    Operand words;
    if (order->wanted > 0) words = std::make_shared<const std::vector<std::byte>>(std::move(order->data));
    execute({order->command, &order->ticket, std::move(words)});
  }
  for (; !kernel.orders.empty() && kernel.orders.front()->ticket.open == 0; kernel.orders.pop_front()) {
    const std::uint32_t status = kernel.orders.front()->ticket.status;
    if (write(kernel.pipes.statuses, &status, sizeof status) != sizeof status) break;
    moved = true;
  }
  return moved;
}

// Words of 64 bytes, the last of a packet filled with zeros.
bool Engine::drain(Stream& stream) {
  bool moved = false;
  while (!stream.packets.empty()) {
    Words& packet = stream.packets.front();
    packet.bytes.resize(whole_words(packet.bytes.size()));
    while (stream.written < packet.bytes.size()) {
      const std::size_t size = std::min<std::size_t>(PIPE_BUF, packet.bytes.size() - stream.written);
      const ssize_t written = write(stream.file, packet.bytes.data() + stream.written, size);
      if (written <= 0) return moved;
      stream.written += static_cast<std::size_t>(written);
      moved = true;
    }
    pop(stream);
    stream.written = 0;
  }
  return moved;
}

// Pipes that bring work; words that no command asked for are none.
std::vector<int> Engine::awaited_pipes() {
  std::vector<int> files;
  for (const auto& kernel : kernels_) {
    files.push_back(kernel->pipes.commands);
    const bool collects = std::any_of(kernel->orders.begin(), kernel->orders.end(),
                                      [](const auto& order) { return !order->is_executed; });
    if (collects) files.push_back(kernel->pipes.data);
  }
  return files;
}

}  // namespace plumb::accl
