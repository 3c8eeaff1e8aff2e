// What a case of b_eff times: the transfer, or a sub-step of a staged transfer alone (seed 004, section 5.1.2), each by
// the code that the transport itself runs.
#include <fmt/format.h>

#include <cstring>

#include "benchmarks/hpcc/b_eff/b_eff.hpp"
#include "transport/staged.hpp"

namespace plumb::b_eff {

namespace {

// Messages through a transport: the session's own, or its host leg alone.
class TransferPart : public Part {
 public:
  TransferPart(Session& session, const Pattern& pattern, Transport& transport, const Placement& placement)
      : pattern_(pattern), seed_(session.seed), store_(session.device, placement, pattern) {
    exchange_ = transport.compile(make_exchange(pattern_, store_));
  }
  void reset(std::uint64_t repetition, std::uint64_t count) override {
    reset_messages(pattern_, store_, seed_, repetition, count);
  }
  void run(std::uint64_t count) override { exchange_->run(0, count); }
  Validation validate(std::uint64_t repetition, std::uint64_t count) override {
    return check_messages(pattern_, store_, seed_, repetition, count);
  }

 private:
  Pattern pattern_;
  std::uint64_t seed_;
  MessageStore store_;
  std::unique_ptr<CompiledExchange> exchange_;  // after the store, whose slots it uses
};

// The copies of one direction between the device and pinned host memory, as many at once as the transfer makes.
class CopyPart : public Part {
 public:
  CopyPart(Session& session, const Pattern& pattern, CopyDirection direction)
      : pattern_(pattern),
        direction_(direction),
        seed_(session.seed),
        device_(session.device, session.memory, pattern),
        host_(session.device, {MemoryKind::host, {}}, pattern) {
    std::vector<StagingCopy> copies;
    for (std::uint64_t lane = 0; lane < pattern.lanes(); ++lane)
      copies.push_back({{device_.slot(lane, 0)}, {host_.slot(lane, 0)}});
    leg_ = std::make_unique<CopyLeg>(session.device.make_queue(), direction, std::move(copies));
  }

  void reset(std::uint64_t repetition, std::uint64_t) override {
    std::vector<std::byte> scratch(pattern_.bytes);
    for (std::uint64_t lane = 0; lane < pattern_.lanes(); ++lane) {
      fill_message(scratch, identity(lane, repetition));
      source().put(source().slot(lane, 0), scratch);
      poison_message(scratch, identity(lane, repetition));
      target().put(target().slot(lane, 0), scratch);
    }
  }

  void run(std::uint64_t count) override { leg_->run(0, count); }

  Validation validate(std::uint64_t repetition, std::uint64_t) override {
    Validation found;
    found.reference = "every byte of the last copy, made again from lane, size and repetition";
    std::vector<std::byte> scratch(pattern_.bytes);
    for (std::uint64_t lane = 0; lane < pattern_.lanes(); ++lane) {
      poison_message(scratch, identity(lane, repetition));
      target().get(target().slot(lane, 0), scratch);
      check_bytes(scratch, identity(lane, repetition), fmt::format("copy {}", lane), found);
    }
    return found;
  }

 private:
  MessageStore& source() { return direction_ == CopyDirection::read ? device_ : host_; }
  MessageStore& target() { return direction_ == CopyDirection::read ? host_ : device_; }
  MessageIdentity identity(std::uint64_t lane, std::uint64_t repetition) const {
    return {seed_, static_cast<std::uint64_t>(pattern_.rank), lane, pattern_.bytes, repetition};
  }

  Pattern pattern_;
  CopyDirection direction_;
  std::uint64_t seed_;
  MessageStore device_, host_;
  std::unique_ptr<CopyLeg> leg_;
};

// Kernels of one work item, one after the other, each waited for: what a host pays to learn that data is ready. Each
// adds one to a counter in the device's memory, so that a launch which did not happen is seen.
class LaunchPart : public Part {
 public:
  explicit LaunchPart(Session& session)
      : seed_(session.seed),
        counter_(session.device.allocate(sizeof(std::uint64_t), {})),
        queue_(session.device.make_queue()) {
    KernelSource source;
    source.name = "b_eff launch";
    source.opencl = "__kernel void count_launch(__global ulong* counter) { counter[0] += 1; }\n";
    source.native = {{"count_launch", [](std::span<const KernelArgument> arguments, const KernelRange&) {
                        const Buffer* buffer = std::get<const Buffer*>(arguments[0]);
                        std::uint64_t value = 0;
                        std::memcpy(&value, buffer->host_pointer(), sizeof value);
                        ++value;
                        std::memcpy(buffer->host_pointer(), &value, sizeof value);
                      }}};
    program_ = session.device.build(source);
    kernel_ = program_->kernel("count_launch");
    kernel_->set({static_cast<const Buffer*>(counter_.get())});
  }

  void reset(std::uint64_t repetition, std::uint64_t) override {
    const std::uint64_t first = start_value(repetition);
    queue_->write(reinterpret_cast<const std::byte*>(&first), whole(*counter_));
  }

  void run(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      queue_->enqueue(*kernel_, {1, 1});
      queue_->finish();
    }
  }

  Validation validate(std::uint64_t repetition, std::uint64_t count) override {
    std::uint64_t value = 0;
    queue_->read(whole(*counter_), reinterpret_cast<std::byte*>(&value));
    const std::uint64_t launched = value - start_value(repetition);
    Validation found;
    found.reference = "a counter on the device that each launch adds one to";
    found.items_checked = 1;
    found.wrong_items = launched == count ? 0 : 1;
    found.error = static_cast<double>(found.wrong_items);
    if (found.wrong_items > 0) found.detail = fmt::format("{} kernels were launched, but {} ran", count, launched);
    return found;
  }

 private:
  std::uint64_t start_value(std::uint64_t repetition) const { return mix64(seed_ + repetition); }

  std::uint64_t seed_;
  std::unique_ptr<Buffer> counter_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> kernel_;
};

Transport& host_leg_of(Session& session) {
  Transport* leg = session.transport->host_leg();
  if (leg != nullptr) return *leg;
  throw Unsupported(fmt::format("transport {} has no sub-steps: it hands over the whole transfer at once",
                                session.transport->info().name));
}

}  // namespace

std::unique_ptr<Part> make_part(const std::string& name, Session& session, const Pattern& pattern) {
  if (name == "transfer") return std::make_unique<TransferPart>(session, pattern, *session.transport, session.memory);
  Transport& host = host_leg_of(session);
  if (name == "launch") return std::make_unique<LaunchPart>(session);
  if (name == "exchange")
    return std::make_unique<TransferPart>(session, pattern, host, Placement{MemoryKind::host, {}});
  return std::make_unique<CopyPart>(session, pattern, name == "read" ? CopyDirection::read : CopyDirection::write);
}

}  // namespace plumb::b_eff
