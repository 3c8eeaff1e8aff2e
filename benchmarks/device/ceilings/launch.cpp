// launch/wait, launch/row: time to start a kernel; launch/meet: of all its groups to meet. link/read, link/write:
// copies between the device and pinned host memory.
#include "benchmarks/device/ceilings/parts.hpp"
#include "core/data.hpp"
#include "core/patience.hpp"
#include "device/link.hpp"
#include "device/resident.hpp"

namespace plumb::ceilings {

namespace {

// Kernels of one work item that increment a counter: each awaited, or all in a row.
class LaunchPart : public Part {
 public:
  LaunchPart(Session& session, const Case& measured)
      : awaits_each_(measured.payload.as<Point>().operation == "wait"),
        queue_(session.device.make_queue()),
        staging_(session.device, *queue_, 1),
        counter_(session.device.allocate(sizeof(std::uint64_t), session.memory)),
        program_(session.device.build(session.source(kernels("")))),
        kernel_(program_->kernel("count_launch")),
        start_(Provenance{session.seed, static_cast<std::uint64_t>(session.world.rank())}.key()) {
    kernel_->set({static_cast<const Buffer*>(counter_.get())});
    staging_.put(*counter_, [&](std::uint64_t) { return start_; });
  }

  void run(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      queue_->enqueue(*kernel_, {1, 1});
      if (awaits_each_) queue_->finish();
    }
    queue_->finish();
    launches_ += count;
  }

  Validation validate(std::uint64_t) override {
    return staging_.check(*counter_, "a counter on the device, incremented by each launch",
                          [&](std::uint64_t) { return start_ + launches_; });
  }

 private:
  bool awaits_each_;
  std::unique_ptr<Queue> queue_;
  Words staging_;
  std::unique_ptr<Buffer> counter_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> kernel_;
  std::uint64_t start_;
  std::uint64_t launches_ = 0;
};

// One kernel, whose groups, one on each compute unit, meet `count` times.
class MeetPart : public Part {
 public:
  MeetPart(Session& session, const Case&)
      : device_(session.device),
        items_(session.device.info().type == "gpu" ? 128 : 1),
        groups_(session.device.info().compute_units),
        queue_(session.device.make_queue()),
        staging_(session.device, *queue_, 2 * groups_),
        values_(session.device.allocate(2 * groups_ * sizeof(std::uint64_t), session.memory)),
        met_(session.device.allocate(sizeof(std::uint64_t), session.memory)),
        start_(Provenance{session.seed, static_cast<std::uint64_t>(session.world.rank())}.key()) {
    auto* telling = dynamic_cast<ResidentGroups*>(&device_);
    const std::string all = "groups meet only where all are resident, which " + device_.info().name + " does not tell";
    if (telling == nullptr || device_.info().runtime == "native") throw Unsupported(all);
    program_ = device_.build(session.source(kernels(fmt::format("-DGROUP={}", items_))));
    kernel_ = program_->kernel("meet");
    if (telling->resident_groups(*kernel_, {items_, items_}) < groups_) throw Unsupported(all);
    staging_.put(*values_, [&](std::uint64_t i) { return mix64(start_ + i); });
    staging_.put(*met_, [](std::uint64_t) { return 0; });
  }

  void run(std::uint64_t count) override {
    const double look_s = device_.info().type == "gpu" ? 0.5e-6 : 2e-9;
    const auto meetings = static_cast<std::uint32_t>(count);
    const auto looks = static_cast<std::uint64_t>(kernel_patience_s / look_s);
    kernel_->set({static_cast<const Buffer*>(values_.get()), static_cast<const Buffer*>(met_.get()),
                  static_cast<std::uint32_t>(meetings_), meetings, looks});
    queue_->enqueue(*kernel_, {groups_ * items_, items_});
    queue_->finish();
    meetings_ += meetings;
  }

  // After m meetings a group has the first value of the m-th group after it, plus m; the other half is a meeting older.
  // All values count as one item: the case was planned without the device's number of groups.
  Validation validate(std::uint64_t) override {
    Validation found =
        staging_.check(*values_, "values passed on from group to group at each meeting", [&](std::uint64_t i) {
          const bool newest = i / groups_ == meetings_ % 2;
          const std::uint64_t passed = newest ? meetings_ : meetings_ - 1;
          return mix64(start_ + (i + passed) % groups_) + passed;
        });
    found.items_checked = 1;
    found.wrong_items = std::min<std::uint64_t>(found.wrong_items, 1);
    return found;
  }

 private:
  Device& device_;
  std::size_t items_, groups_;
  std::unique_ptr<Queue> queue_;
  Words staging_;
  std::unique_ptr<Buffer> values_, met_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> kernel_;
  std::uint64_t start_;
  std::uint64_t meetings_ = 0;
};

class LinkPart : public Part {
 public:
  LinkPart(Session& session, const Case& measured)
      : reads_(measured.payload.as<Point>().operation == "read"),
        length_(measured.payload.as<Point>().bytes),
        has_link_(has_link(session.device.info())),
        slide_(session.device.info()),
        seed_(Provenance{session.seed, static_cast<std::uint64_t>(session.world.rank())}.key()),
        queue_(session.device.make_queue()),
        staging_(session.device, *queue_, slide_.target_room(length_) / sizeof(std::uint64_t)),
        device_(session.device.allocate(reads_ ? slide_.source_room(length_) : slide_.target_room(length_),
                                        session.memory)),
        host_(allocate_host(session.device, reads_ ? slide_.target_room(length_) : slide_.source_room(length_))) {
    if (reads_) staging_.put(*device_, [&](std::uint64_t i) { return content(i); });
    if (reads_ && has_link_) aside_ = allocate_host(session.device, length_);
  }

  void reset(std::uint64_t count) override {
    const Slide::Range taken = slide_.targets(length_, count);
    if (reads_) {
      fill_host(taken.begin / sizeof(std::uint64_t), [](std::uint64_t) { return ~std::uint64_t{0}; });
      for (int i = 0; aside_ && i < transfers_before_measuring; ++i)
        queue_->read({device_.get(), 0, length_}, aside_->host_pointer());
      return;
    }
    seed_ = mix64(seed_);  // words of an earlier repetition would be right again
    fill_host(0, [&](std::uint64_t i) { return content(i); });
    for (int i = 0; has_link_ && i < transfers_before_measuring; ++i)
      queue_->write(host_->host_pointer(), {device_.get(), 0, std::min(device_->size(), host_->size())});
    const std::vector<std::byte> poison(taken.size, poison_byte);
    queue_->write(poison.data(), {device_.get(), taken.begin, taken.size});
  }

  void run(std::uint64_t count) override {
    for (std::uint64_t later = count; later-- > 0;) {
      const std::size_t from = slide_.source(later), to = slide_.target(later);
      if (reads_)
        queue_->enqueue_read({device_.get(), from, length_}, host_->host_pointer() + to);
      else
        queue_->enqueue_write(host_->host_pointer() + from, {device_.get(), to, length_});
      queue_->finish();
    }
  }

  Validation validate(std::uint64_t count) override {
    const char* reference = "the words sent, recomputed";
    const auto should_be = [&](std::uint64_t later) {
      return
          [this, first = slide_.source(later) / sizeof(std::uint64_t)](std::uint64_t i) { return content(first + i); };
    };
    if (!reads_) return staging_.check_left(*device_, slide_, length_, count, reference, should_be);
    Findings findings(reference);
    findings.compare_left(
        slide_, length_, sizeof(std::uint64_t), count, length_, [](std::size_t, std::size_t) {},
        [&](std::uint64_t i) { return host_words()[i]; }, should_be);
    return findings.all();
  }

 private:
  std::uint64_t content(std::uint64_t i) const { return mix64(seed_ + i); }
  std::uint64_t* host_words() const { return reinterpret_cast<std::uint64_t*>(host_->host_pointer()); }

  template <class Make>
  void fill_host(std::uint64_t first, Make make) {
#pragma omp parallel for schedule(static)
    for (std::uint64_t i = first; i < host_->size() / sizeof(std::uint64_t); ++i) host_words()[i] = make(i);
  }

  bool reads_;
  std::size_t length_;
  bool has_link_;
  Slide slide_;
  std::uint64_t seed_;
  std::unique_ptr<Queue> queue_;
  Words staging_;
  std::unique_ptr<Buffer> device_, host_, aside_;
};

}  // namespace

std::unique_ptr<Part> make_launch(Session& session, const Case& measured) {
  if (measured.payload.as<Point>().operation == "meet") return std::make_unique<MeetPart>(session, measured);
  return std::make_unique<LaunchPart>(session, measured);
}

std::unique_ptr<Part> make_link(Session& session, const Case& measured) {
  return std::make_unique<LinkPart>(session, measured);
}

}  // namespace plumb::ceilings
