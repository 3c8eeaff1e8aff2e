// The legs of transport `staged`: device to host, host to host, host to device. Public, because a benchmark measures
// each of them (seed 004, section 5.1.2) with the transport's own code.
#pragma once

#include <memory>
#include <vector>

#include "transport/walk.hpp"

namespace plumb {

// One copy per round between a device and pinned host memory.
struct StagingCopy {
  Slots device, host;
};

enum class CopyDirection { read, write };  // read: device to host

// Concurrent copies, complete at the end of each window of rounds.
class CopyLeg : public WalkedExchange {
 public:
  // Legs that never run concurrently may share a queue.
  CopyLeg(std::shared_ptr<Queue> queue, CopyDirection direction, std::vector<StagingCopy> copies,
          std::uint64_t window = 1);

 private:
  void start_step(std::size_t step, std::uint64_t first, std::uint64_t end) override;
  bool test_step(std::size_t) override { return queue_->finished(); }
  void wait_step(std::size_t) override { queue_->finish(); }
  // The copies are the sends of one step.
  void resize(const std::vector<StepSizes>& sizes) override;
  bool follow(Queue& queue) override;
  bool lead(Queue& queue) override;

  std::shared_ptr<Queue> queue_;
  CopyDirection direction_;
  std::vector<StagingCopy> copies_;
};

using StagingBuffers = std::vector<std::unique_ptr<Buffer>>;

// Runs the legs of an exchange's steps, three a step (read, exchange between hosts, write), one after the other.
class StagedExchange : public WalkedExchange {
 public:
  // yields: waits for messages yield the core to the device's threads.
  // All copies of the legs are in `queue`.
  StagedExchange(const Exchange& exchange, std::shared_ptr<Queue> queue,
                 std::vector<std::unique_ptr<CompiledExchange>> legs, StagingBuffers staging, bool yields);
  void tell_legs(LegWatch& watch) override { watch_ = &watch; }

 private:
  void start_step(std::size_t leg, std::uint64_t first, std::uint64_t end) override;
  bool test_step(std::size_t leg) override;
  void wait_step(std::size_t leg) override;
  void resize(const std::vector<StepSizes>& sizes) override;
  bool follow(Queue& queue) override;
  bool lead(Queue& queue) override;

  StagingBuffers staging_;
  std::shared_ptr<Queue> queue_;
  std::vector<std::unique_ptr<CompiledExchange>> legs_;
  bool yields_;
  LegWatch* watch_ = nullptr;
};

// Compiles an exchange for `device`, with `host` between ranks.
std::unique_ptr<StagedExchange> compile_staged(const Exchange& exchange, Device& device, Transport& host);

}  // namespace plumb
