// random/update, random/atomic: rate of updates of independent 64-bit words at random positions.
#include <bit>

#include "benchmarks/device/ceilings/parts.hpp"
#include "benchmarks/device/ceilings/reference.hpp"

namespace plumb::ceilings {

namespace {

class RandomPart : public Part {
 public:
  RandomPart(Session& session, const Case& measured)
      : seed_(Provenance{session.seed, static_cast<std::uint64_t>(session.world.rank())}.key()),
        words_(measured.payload.as<Point>().bytes / sizeof(std::uint64_t)),
        bits_(static_cast<unsigned>(std::bit_width(words_) - 1)),
        updates_(measured.work.updates),
        layout_(layout_of(session.device.info())),
        queue_(session.device.make_queue()),
        staging_(session.device, *queue_, words_) {
    const std::string& operation = measured.payload.as<Point>().operation;
    const bool atomics = session.device.info().has(Feature::atomics64);
    if (operation == "atomic" && !atomics)
      throw Unsupported(session.device.info().name + " does not support 64-bit atomics");
    // One program for both operations.
    program_ = session.device.build(session.source(kernels(layout_options(layout_) + (atomics ? " -DATOMICS" : ""))));
    kernel_ = program_->kernel("random_" + operation);
    table_ = session.device.allocate(words_ * sizeof(std::uint64_t), session.memory);
    staging_.put(*table_, [&](std::uint64_t i) { return initial(i); });
  }

  void run(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      kernel_->set({static_cast<const Buffer*>(table_.get()), done_, updates_, bits_});
      queue_->enqueue(*kernel_, {layout_.items, layout_.group});
      done_ += updates_;
    }
    queue_->finish();
  }

  Validation validate(std::uint64_t) override {
    return staging_.check(*table_, "each word of the table with its updates, found by inverting the scrambling",
                          [&](std::uint64_t i) { return updated_word(initial(i), i, bits_, done_); });
  }

 private:
  std::uint64_t initial(std::uint64_t i) const { return mix64(seed_ + i); }

  std::uint64_t seed_, words_;
  unsigned bits_;
  std::uint64_t updates_;  // of one launch: at most the number of words, so that positions are distinct
  Layout layout_;
  std::unique_ptr<Queue> queue_;
  Words staging_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Buffer> table_;
  std::uint64_t done_ = 0;  // updates since the table was initialised
};

}  // namespace

std::unique_ptr<Part> make_random(Session& session, const Case& measured) {
  return std::make_unique<RandomPart>(session, measured);
}

}  // namespace plumb::ceilings
