// launch/wait, launch/row: what it costs to start a kernel. link/read, link/write: copies between the device and pinned
// host memory.
#include "benchmarks/device/ceilings/parts.hpp"
#include "core/pattern.hpp"

namespace plumb::ceilings {

namespace {

// Kernels of one work item that add one to a counter: each awaited, or all in a row.
class LaunchPart : public Part {
 public:
  LaunchPart(Session& session, const Case& measured)
      : awaits_each_(measured.labels.at("operation") == "wait"),
        queue_(session.device.make_queue()),
        counter_(session.device.allocate(sizeof(std::uint64_t), session.memory)),
        program_(session.device.build(session.source(kernels("")))),
        kernel_(program_->kernel("count_launch")),
        start_(mix64(session.seed + static_cast<std::uint64_t>(session.world.rank()))) {
    kernel_->set({static_cast<const Buffer*>(counter_.get())});
    put(*queue_, {start_}, *counter_);
  }

  void run(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      queue_->enqueue(*kernel_, {1, 1});
      if (awaits_each_) queue_->finish();
    }
    queue_->finish();
    launches_ += count;
  }

  Validation validate() override {
    const std::uint64_t is = get(*queue_, *counter_)[0];
    return compare(
        1, "a counter on the device that each launch adds one to", [&](auto) { return is - start_; },
        [&](auto) { return launches_; });
  }

 private:
  bool awaits_each_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Buffer> counter_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> kernel_;
  std::uint64_t start_;
  std::uint64_t launches_ = 0;
};

class LinkPart : public Part {
 public:
  LinkPart(Session& session, const Case& measured)
      : reads_(measured.labels.at("operation") == "read"),
        identity_{session.seed, static_cast<std::uint64_t>(session.world.rank()), 0, bytes_of(measured), 0},
        queue_(session.device.make_queue()),
        device_(session.device.allocate(bytes_of(measured), session.memory)),
        host_(allocate_host(session.device, bytes_of(measured))) {}

  void reset() override {
    ++identity_.repetition;
    std::vector<std::byte> bytes(host_->size());
    fill_message(bytes, identity_);
    if (reads_) queue_->write(bytes.data(), whole(*device_));
    if (!reads_) std::copy(bytes.begin(), bytes.end(), host_->host_pointer());
    poison_message(bytes, identity_);
    if (!reads_) queue_->write(bytes.data(), whole(*device_));
    if (reads_) std::copy(bytes.begin(), bytes.end(), host_->host_pointer());
  }

  void run(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      if (reads_)
        queue_->enqueue_read(whole(*device_), host_->host_pointer());
      else
        queue_->enqueue_write(host_->host_pointer(), whole(*device_));
      queue_->finish();
    }
  }

  Validation validate() override {
    std::vector<std::byte> bytes(host_->size());
    if (reads_)
      std::copy_n(host_->host_pointer(), bytes.size(), bytes.begin());
    else
      queue_->read(whole(*device_), bytes.data());
    const Difference difference = compare_message(bytes, identity_);
    Validation found;
    found.items_checked = bytes.size();
    found.wrong_items = difference.wrong;
    found.error = static_cast<double>(difference.wrong);
    found.reference = "the bytes that were sent, made again";
    if (difference.wrong > 0)
      found.detail = fmt::format("byte {} is {:#x}, should be {:#x}", difference.first_offset, difference.is,
                                 difference.should_be);
    return found;
  }

 private:
  bool reads_;
  MessageIdentity identity_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Buffer> device_, host_;
};

}  // namespace

std::unique_ptr<Part> make_launch(Session& session, const Case& measured) {
  return std::make_unique<LaunchPart>(session, measured);
}

std::unique_ptr<Part> make_link(Session& session, const Case& measured) {
  return std::make_unique<LinkPart>(session, measured);
}

}  // namespace plumb::ceilings
