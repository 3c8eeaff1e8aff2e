#include "transport/accl/engine.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

namespace plumb::accl {

namespace {

constexpr std::uint64_t idle_before_accounts = 8;  // passes without work
constexpr int nap_ms = 1;

std::uint32_t at_least_one(std::uint32_t value) {
  return std::max<std::uint32_t>(1, value);
}

}  // namespace

Engine::Engine(int rank, int size, const Settings& settings, std::unique_ptr<Network> network, std::uint32_t session)
    : rank_(static_cast<std::uint32_t>(rank)),
      settings_(settings),
      network_(std::move(network)),
      session_(session),
      window_(network_->window()),
      share_(at_least_one(settings.buffers / static_cast<std::uint32_t>(size))),
      peers_(static_cast<std::size_t>(size)),
      pool_(settings.buffers * settings.buffer_bytes),
      moved_(settings.buffer_bytes) {
  restart(session);
  thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
}

Engine::~Engine() {
  thread_.request_stop();
  thread_.join();
}

void Engine::issue(const Command& command, Ticket& ticket, std::vector<std::byte> words) {
  ticket.open.fetch_add(1, std::memory_order_relaxed);
  Operand operand;
  if (!words.empty()) operand = std::make_shared<const std::vector<std::byte>>(std::move(words));
  const std::lock_guard lock(mutex_);
  commands_.push_back({command, &ticket, std::move(operand)});
}

bool Engine::advance() {
  advanced_.fetch_add(1, std::memory_order_relaxed);
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock.owns_lock() && progress();
}

Counts Engine::counts() {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::string Engine::fault() {
  const std::lock_guard lock(mutex_);
  return fault_;
}

void Engine::restart(std::uint32_t session) {
  const std::lock_guard lock(mutex_);
  end_all();
  for (Peer& peer : peers_) {
    const bool is_closed = peer.is_closed;
    peer = Peer();
    peer.is_closed = is_closed;
  }
  free_.clear();
  for (std::uint32_t i = settings_.buffers; i-- > 0;) free_.push_back(i);
  for (const Led& led : led_) stream_of(peers_[led.from], led.number).file = led.file;
  shared_ = {};
  collective_number_ = 0;
  session_ = session;
  failed_ = false;
  fault_.clear();
}

// A client that waits does the engine's work with less delay: then the thread only looks now and then.
void Engine::serve(const std::stop_token& stop) {
  for (std::uint64_t seen = 0; !stop.stop_requested();) {
    const std::uint64_t advanced = advanced_.load(std::memory_order_relaxed);
    if (advanced != seen) {
      seen = advanced;
      std::this_thread::sleep_for(std::chrono::milliseconds(nap_ms));
      continue;
    }
    std::vector<int> others;
    {
      const std::lock_guard lock(mutex_);
      if (progress()) continue;
      others = awaited_pipes();
    }
    network_->wait(nap_ms, others);
  }
}

bool Engine::progress() {
  bool moved = !commands_.empty();
  for (; !commands_.empty(); commands_.pop_front()) execute(commands_.front());
  if (!kernels_.empty() || !led_.empty()) moved = serve_kernels() || moved;
  if (!collectives_.empty()) moved = advance_collectives() || moved;
  for (std::size_t i = 0; i < peers_.size(); ++i) moved = send_to(i) || moved;
  moved = network_->receive(*this) || moved;
  idle_ = moved ? 0 : idle_ + 1;
  if (failed_ || idle_ >= idle_before_accounts) look_after();
  if (failed_) end_all();
  return moved;
}

void Engine::end(Ticket& ticket, std::uint32_t status) {
  if (status != status::done) ticket.status.fetch_or(status, std::memory_order_relaxed);
  ticket.open.fetch_sub(1, std::memory_order_release);
}

// The commands end at the end of this pass, as some are in use.
void Engine::fail(const std::string& why) {
  if (failed_) return;
  failed_ = true;
  fault_ = why;
  last_account_ = 0;  // the others are told at once
}

void Engine::end_all() {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    Peer& peer = peers_[i];
    if (peer.left < peer.batch.size()) network_->abandon(static_cast<int>(i), peer.batch[peer.left]);
    peer.batch.clear();
    peer.left = 0;
    for (const End& one : std::exchange(peer.ends, {})) end(*one.ticket, status::packets_out_of_sequence);
    for (auto* list : {&peer.sends, &peer.writes, &peer.without_address})
      for (const Send& send : std::exchange(*list, {})) end(*send.ticket, status::packets_out_of_sequence);
    for (auto* list : {&peer.receives, &peer.rendezvous})
      for (const Receive& receive : std::exchange(*list, {})) end(*receive.ticket, status::packets_out_of_sequence);
    for (auto& [number, stream] : peer.streams)
      for (const Receive& reader : std::exchange(stream.readers, {}))
        end(*reader.ticket, status::packets_out_of_sequence);
  }
  for (const auto& one : std::exchange(collectives_, {})) end(*one->ticket, status::packets_out_of_sequence);
}

double Engine::now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace plumb::accl
