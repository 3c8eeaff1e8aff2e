// Transport `staged`: read from the device, exchange between hosts, write to the device, one after the other: HPCC
// FPGA's base implementation (seed 004, section 4.1.1.1), through pinned memory.
#include "transport/staged.hpp"

#include <algorithm>
#include <limits>

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

// Assigns each transfer pinned places on the host: the copies, and the transfers between hosts.
std::vector<StagingCopy> stage(const std::vector<Transfer>& transfers, Device& device, std::uint64_t window,
                               StagingBuffers& staging, std::vector<Transfer>& host_transfers) {
  std::vector<StagingCopy> copies;
  for (const Transfer& transfer : transfers) {
    const std::size_t size = transfer.slots.bytes(), pitch = aligned(size);
    staging.push_back(allocate_host(device, window * pitch));
    const Slots host{{staging.back().get(), 0, size}, window, pitch};
    copies.push_back({transfer.slots, host});
    host_transfers.push_back({transfer.peer, transfer.lane, host});
  }
  return copies;
}

Walk walk_of(const std::vector<StagingCopy>& copies, std::uint64_t window) {
  Walk walk{copies.empty() ? std::size_t{0} : 1, window, std::numeric_limits<std::uint64_t>::max(), 1,
            "copies between device and host"};
  walk.sizes.resize(1);
  for (const StagingCopy& copy : copies) walk.sizes[0].sends.push_back(copy.device.bytes());
  for (const StagingCopy& copy : copies) walk.most = std::min({walk.most, copy.device.rounds(), copy.host.rounds()});
  return walk;
}

Walk by_legs(const Exchange& exchange) {
  Walk walk = walk_by_step(exchange, "messages of an exchange");
  walk.steps *= 3;
  return walk;
}

Leg leg_of(std::size_t step) {
  return static_cast<Leg>(step % 3);
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
    : WalkedExchange(walk_of(copies, window)),
      queue_(std::move(queue)),
      direction_(direction),
      copies_(std::move(copies)) {}

void CopyLeg::start_step(std::size_t, std::uint64_t first, std::uint64_t end) {
  for (std::uint64_t round = first; round < end; ++round)
    for (const StagingCopy& copy : copies_) {
      const BufferView device = copy.device.at(round);
      std::byte* host = copy.host.at(round).host_pointer();
      if (direction_ == CopyDirection::read)
        queue_->enqueue_read(device, host);
      else
        queue_->enqueue_write(host, device);
    }
}

void CopyLeg::resize(const std::vector<StepSizes>& sizes) {
  for (std::size_t i = 0; i < copies_.size(); ++i)
    copies_[i].device.view.size = copies_[i].host.view.size = sizes[0].sends[i];
}

bool CopyLeg::follow(Queue& queue) {
  queue_->follow(queue);
  return true;
}

bool CopyLeg::lead(Queue& queue) {
  queue.follow(*queue_);
  return true;
}

StagedExchange::StagedExchange(const Exchange& exchange, std::shared_ptr<Queue> queue,
                               std::vector<std::unique_ptr<CompiledExchange>> legs, StagingBuffers staging, bool yields)
    : WalkedExchange(by_legs(exchange)),
      staging_(std::move(staging)),
      queue_(std::move(queue)),
      legs_(std::move(legs)),
      yields_(yields) {}

void StagedExchange::resize(const std::vector<StepSizes>& sizes) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    legs_[3 * i]->set_sizes({{sizes[i].sends, {}}});
    legs_[3 * i + 1]->set_sizes({sizes[i]});
    legs_[3 * i + 2]->set_sizes({{sizes[i].receives, {}}});
  }
}

bool StagedExchange::follow(Queue& queue) {
  queue_->follow(queue);
  return true;
}

bool StagedExchange::lead(Queue& queue) {
  queue.follow(*queue_);
  return true;
}

void StagedExchange::start_step(std::size_t leg, std::uint64_t first, std::uint64_t end) {
  if (watch_ != nullptr) watch_->begin(leg_of(leg));
  legs_[leg]->start(first, end - first);
}

bool StagedExchange::test_step(std::size_t leg) {
  if (!legs_[leg]->test()) return false;
  if (watch_ != nullptr) watch_->end(leg_of(leg));
  return true;
}

// A device thread that has completed a copy still has to go to sleep. If its core is taken by an MPI library that polls
// without pause, the next copy starts late: on PoCL a transfer of 8 B took 44 us, and takes 22 us with this yield.
void StagedExchange::wait_step(std::size_t leg) {
  if (leg_of(leg) != Leg::between_hosts || !yields_) {
    legs_[leg]->wait();
  } else {
    Idle idle(true);
    while (!legs_[leg]->test()) idle.look();
  }
  if (watch_ != nullptr) watch_->end(leg_of(leg));
}

std::unique_ptr<StagedExchange> compile_staged(const Exchange& exchange, Device& device, Transport& host) {
  StagingBuffers staging;
  const std::uint64_t window = exchange.window;
  const std::shared_ptr<Queue> queue = device.make_queue();
  std::vector<std::unique_ptr<CompiledExchange>> legs;
  bool yields = has_threads_here(device.info());
  for (const Step& step : exchange.steps) {
    Step host_step;
    auto reads = stage(step.sends, device, window, staging, host_step.sends);
    auto writes = stage(step.receives, device, window, staging, host_step.receives);
    yields = yields && std::all_of(step.receives.begin(), step.receives.end(),
                                   [](const Transfer& transfer) { return transfer.slots.bytes() <= short_message; });
    legs.push_back(std::make_unique<CopyLeg>(queue, CopyDirection::read, std::move(reads), window));
    legs.push_back(host.compile({{std::move(host_step)}, window}));
    legs.push_back(std::make_unique<CopyLeg>(queue, CopyDirection::write, std::move(writes), window));
  }
  return std::make_unique<StagedExchange>(exchange, queue, std::move(legs), std::move(staging), yields);
}

}  // namespace plumb
