// Transport `staged`: read from the device, exchange between hosts, write to the device, one after the other: HPCC
// FPGA's base implementation (seed 004, section 4.1.1.1), through pinned memory.
#include "transport/staged.hpp"

#include <algorithm>
#include <array>

#include "transport/idle.hpp"
#include "world/watchdog.hpp"

namespace plumb {

namespace {

const TransportInfo staged_info{"staged", "device to host, host to host, host to device, one after the other", "host",
                                "buffered"};

constexpr std::size_t staging_alignment = 4096;

std::size_t aligned(std::size_t bytes) {
  return (bytes + staging_alignment - 1) / staging_alignment * staging_alignment;
}

// Gives each transfer pinned places on the host: the copies between, and the transfers of the host leg.
std::vector<StagingCopy> stage(const std::vector<Transfer>& transfers, Device& device, std::uint64_t window,
                               StagingBuffers& staging, std::vector<Transfer>& host_transfers) {
  std::vector<StagingCopy> copies;
  for (const Transfer& transfer : transfers) {
    const std::size_t size = transfer.slots.front().size;
    staging.push_back(allocate_host(device, window * aligned(size)));
    std::vector<BufferView> host;
    for (std::uint64_t i = 0; i < window; ++i) host.push_back({staging.back().get(), i * aligned(size), size});
    copies.push_back({transfer.slots, host});
    host_transfers.push_back({transfer.peer, transfer.lane, host});
  }
  return copies;
}

class StagedTransport : public Transport {
 public:
  StagedTransport(World& world, Device& device)
      : world_(world), device_(device), host_(make_host_transport(world, device)) {}
  const TransportInfo& info() const override { return staged_info; }
  Transport* host_leg() override { return host_.get(); }
  std::unique_ptr<CompiledExchange> compile(const Exchange& exchange) override {
    check_exchange(exchange, world_);
    return compile_staged(exchange, device_, *host_);
  }

 private:
  World& world_;
  Device& device_;
  std::unique_ptr<Transport> host_;
};

const RegisteredTransport registered_staged("staged",
                                            {staged_info, false, [](const World&) -> std::string { return ""; },
                                             [](World& world, Device& device, const TransportWish&) {
                                               return std::make_unique<StagedTransport>(world, device);
                                             }});

}  // namespace

CopyLeg::CopyLeg(std::shared_ptr<Queue> queue, CopyDirection direction, std::vector<StagingCopy> copies,
                 std::uint64_t window)
    : queue_(std::move(queue)), direction_(direction), copies_(std::move(copies)), window_(window) {}

void CopyLeg::start(std::uint64_t first, std::uint64_t count) {
  round_ = first;
  end_ = copies_.empty() ? first : first + count;
  if (round_ < end_) enqueue_window();
}

void CopyLeg::enqueue_window() {
  const std::uint64_t until = std::min(end_, round_ + window_);
  for (; round_ < until; ++round_)
    for (const StagingCopy& copy : copies_) {
      const BufferView& device = copy.device[round_ % copy.device.size()];
      std::byte* host = copy.host[round_ % copy.host.size()].host_pointer();
      if (direction_ == CopyDirection::read)
        queue_->enqueue_read(device, host);
      else
        queue_->enqueue_write(host, device);
    }
}

bool CopyLeg::test() {
  while (queue_->finished()) {
    if (round_ >= end_) return true;
    enqueue_window();
  }
  return false;
}

void CopyLeg::wait() {
  if (copies_.empty()) return;
  const Waiting waiting("copies between device and host");
  for (;;) {
    queue_->finish();
    if (round_ >= end_) return;
    Waiting::progress();
    enqueue_window();
  }
}

StagedExchange::StagedExchange(std::vector<StagedStep> steps, StagingBuffers staging, std::uint64_t window, bool yields)
    : steps_(std::move(steps)), staging_(std::move(staging)), window_(window), yields_(yields) {}

CompiledExchange& StagedExchange::leg() {
  StagedStep& step = steps_[step_];
  const std::array legs{step.read.get(), step.exchange.get(), step.write.get()};
  return *legs[static_cast<std::size_t>(leg_)];
}

void StagedExchange::start(std::uint64_t first, std::uint64_t count) {
  round_ = first;
  end_ = steps_.empty() ? first : first + count;
  step_ = 0;
  leg_ = 0;
  if (round_ < end_) leg().start(round_, window_);
}

bool StagedExchange::advance() {
  if (++leg_ == 3) {
    leg_ = 0;
    if (++step_ == steps_.size()) {
      step_ = 0;
      round_ += window_;
      if (round_ >= end_) return false;
    }
  }
  leg().start(round_, window_);
  return true;
}

bool StagedExchange::test() {
  while (round_ < end_) {
    if (!leg().test()) return false;
    if (!advance()) break;
  }
  return true;
}

void StagedExchange::wait() {
  while (round_ < end_) {
    if (leg_ == 1 && yields_)
      wait_for_messages();
    else
      leg().wait();
    if (!advance()) break;
  }
}

// A thread that has just completed a copy still has to put itself to sleep. Where it finds its core taken by an MPI
// that looks for messages without a break, the next copy starts late: on PoCL a transfer of 8 B took 44 us so, and
// takes 22.
void StagedExchange::wait_for_messages() {
  const Waiting waiting("messages of an exchange");
  Idle idle(true);
  while (!leg().test()) idle.look();
}

std::unique_ptr<StagedExchange> compile_staged(const Exchange& exchange, Device& device, Transport& host) {
  StagingBuffers staging;
  const std::uint64_t window = exchange.window;
  const std::shared_ptr<Queue> queue = device.make_queue();
  std::vector<StagedStep> steps;
  bool yields = has_threads_here(device.info());
  for (const Step& step : exchange.steps) {
    Step host_step;
    auto reads = stage(step.sends, device, window, staging, host_step.sends);
    auto writes = stage(step.receives, device, window, staging, host_step.receives);
    yields = yields && std::all_of(step.receives.begin(), step.receives.end(), [](const Transfer& transfer) {
               return transfer.slots.front().size <= short_message;
             });
    steps.push_back({std::make_unique<CopyLeg>(queue, CopyDirection::read, std::move(reads), window),
                     host.compile({{std::move(host_step)}, window}),
                     std::make_unique<CopyLeg>(queue, CopyDirection::write, std::move(writes), window)});
  }
  return std::make_unique<StagedExchange>(std::move(steps), std::move(staging), window, yields);
}

}  // namespace plumb
