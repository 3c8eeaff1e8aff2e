// The parts of transport `staged`: device to host, host to host, host to device. Public, because a benchmark measures
// each of them alone (seed 004, section 5.1.2) with the very code that the transport runs.
#pragma once

#include <memory>
#include <vector>

#include "transport/transport.hpp"

namespace plumb {

// One copy a round between a device and pinned host memory; slots are used in turn as in a Transfer.
struct StagingCopy {
  std::vector<BufferView> device;
  std::vector<BufferView> host;
};

enum class CopyDirection { read, write };  // read: device to host

// Copies that are under way together, all complete at the end of each window of rounds.
class CopyLeg : public CompiledExchange {
 public:
  // Legs that never run at the same time may share a queue.
  CopyLeg(std::shared_ptr<Queue> queue, CopyDirection direction, std::vector<StagingCopy> copies,
          std::uint64_t window = 1);
  void start(std::uint64_t first, std::uint64_t count) override;
  bool test() override;
  void wait() override;

 private:
  void enqueue_window();

  std::shared_ptr<Queue> queue_;
  CopyDirection direction_;
  std::vector<StagingCopy> copies_;
  std::uint64_t window_;
  std::uint64_t round_ = 0, end_ = 0;
};

// One step of an exchange, staged. A leg without copies costs nothing.
struct StagedStep {
  std::unique_ptr<CompiledExchange> read, exchange, write;
};

using StagingBuffers = std::vector<std::unique_ptr<Buffer>>;

// Runs the legs of each step one after the other.
class StagedExchange : public CompiledExchange {
 public:
  // yields: while it waits for messages, the rank lets the device's threads have its core.
  StagedExchange(std::vector<StagedStep> steps, StagingBuffers staging, std::uint64_t window, bool yields);
  void start(std::uint64_t first, std::uint64_t count) override;
  bool test() override;
  void wait() override;

 private:
  CompiledExchange& leg();
  void wait_for_messages();
  bool advance();  // to the next leg, step or window; false at the end

  std::vector<StagedStep> steps_;
  StagingBuffers staging_;
  std::uint64_t window_;
  bool yields_;
  std::uint64_t round_ = 0, end_ = 0;
  std::size_t step_ = 0;
  int leg_ = 0;
};

// Compiles an exchange for `device` with `host` as the leg between ranks.
std::unique_ptr<StagedExchange> compile_staged(const Exchange& exchange, Device& device, Transport& host);

}  // namespace plumb
