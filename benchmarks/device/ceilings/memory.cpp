// memory/read, write, copy: streaming bandwidth of the device's memory with long arrays.
#include "benchmarks/device/ceilings/parts.hpp"
#include "benchmarks/device/ceilings/reference.hpp"

namespace plumb::ceilings {

namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

// Keys of launches, so that each leaves different results.
std::uint64_t key_of(std::uint64_t seed, std::uint64_t launch) {
  return mix64(seed ^ (launch << 20)) | 1;
}

class MemoryPart : public Part {
 public:
  MemoryPart(Session& session, const Case& measured)
      : operation_(measured.payload.as<Point>().operation),
        seed_(Provenance{session.seed, static_cast<std::uint64_t>(session.world.rank())}.key()),
        words_(measured.payload.as<Point>().bytes / word_bytes),
        layout_(layout_of(session.device.info())),
        slide_(session.device.info()),
        queue_(session.device.make_queue()),
        staging_(session.device, *queue_, words_) {
    lanes_ = layout_.lanes(word_bytes);
    program_ = session.device.build(session.source(kernels(streaming_options(layout_))));
    kernel_ = program_->kernel("memory_" + operation_);
    const bool sums = operation_ == "read";
    const std::size_t bytes = words_ * word_bytes;
    if (operation_ != "write")
      from_ =
          make_buffer(session, sums ? bytes : slide_.source_room(bytes), [&](std::uint64_t i) { return content(i); });
    to_ = make_buffer(session, sums ? layout_.items * lanes_ * word_bytes : slide_.target_room(bytes),
                      [](std::uint64_t) { return 0; });
  }

  void run(std::uint64_t count) override {
    for (std::uint64_t later = count; later-- > 0;) {
      ++launches_;
      set_arguments(later);
      queue_->enqueue(*kernel_, {layout_.items, layout_.group});
    }
    queue_->finish();
  }

  Validation validate(std::uint64_t count) override {
    if (operation_ == "read") return validate_sums();
    const std::size_t bytes = words_ * word_bytes;
    if (operation_ == "write")
      return staging_.check_left(
          *to_, slide_, bytes, count, "each launch's key and each word's place", [&](std::uint64_t later) {
            return
                [key = key_of(seed_, launches_ - later), lanes = lanes_](std::uint64_t i) { return key ^ (i / lanes); };
          });
    return staging_.check_left(*to_, slide_, bytes, count, "each word of the source, recomputed, and each launch's key",
                               [&](std::uint64_t later) {
                                 return [seed = seed_ + slide_.source(later) / word_bytes,
                                         key = key_of(seed_, launches_ - later)](std::uint64_t i) {
                                   return mix64(seed + i) + key;
                                 };
                               });
  }

 private:
  std::uint64_t content(std::uint64_t i) const { return mix64(seed_ + i); }

  template <class Make>
  std::unique_ptr<Buffer> make_buffer(Session& session, std::size_t bytes, Make make) {
    auto buffer = session.device.allocate(bytes, session.memory);
    staging_.put(*buffer, make);
    return buffer;
  }

  // Reads accumulate into sums and need no slide.
  void set_arguments(std::uint64_t later) {
    const std::uint64_t units = words_ / lanes_, key = key_of(seed_, launches_);
    const BufferView from{from_.get(), slide_.source(later), words_ * word_bytes};
    const BufferView to{to_.get(), slide_.target(later), words_ * word_bytes};
    if (operation_ == "read")
      kernel_->set({from_.get(), to_.get(), units});
    else if (operation_ == "write")
      kernel_->set({to, units, key});
    else
      kernel_->set({from, to, units, key});
  }

  // Each sum covers the words added to it.
  Validation validate_sums() {
    const auto share = [&](std::uint64_t sum) {
      return share_of(sum / lanes_, layout_.items, words_ / lanes_, layout_.interleaved);
    };
    std::uint64_t summed = 0;
    for (std::uint64_t sum = 0; sum < layout_.items * lanes_; ++sum) summed += share(sum).count();
    Validation found =
        staging_.check(*to_, "sums of the words read, recomputed, times the launches", [&](std::uint64_t sum) {
          std::uint64_t result = 0;
          const Share words = share(sum);
          for (std::uint64_t i = words.first; i < words.last; i += words.step)
            result += content(i * lanes_ + sum % lanes_);
          return result * launches_;
        });
    found.items_checked = summed;
    return found;
  }

  std::string operation_;
  std::uint64_t seed_, words_;
  Layout layout_;
  std::size_t lanes_ = 1;
  Slide slide_;
  std::unique_ptr<Queue> queue_;
  Words staging_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Buffer> from_, to_;
  std::uint64_t launches_ = 0;  // since the sums were zeroed
};

}  // namespace

std::unique_ptr<Part> make_memory(Session& session, const Case& measured) {
  return std::make_unique<MemoryPart>(session, measured);
}

}  // namespace plumb::ceilings
