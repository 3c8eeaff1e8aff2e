#include "transport/patterns/reduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "transport/walk.hpp"

namespace plumb {

namespace {

// A block of the view, in numbers.
struct Block {
  std::uint64_t first = 0, count = 0;
};

// One step around the ring: one block is sent, another received, which is combined or stored.
struct RingStep {
  std::unique_ptr<CompiledExchange> exchange;
  Block combined;  // block to combine; none = received in place
};

class ReductionExchange : public WalkedExchange {
 public:
  ReductionExchange(const Reduction& reduction, World& world, Device& device, Transport& transport)
      : WalkedExchange({walked_steps(reduction), 1, std::numeric_limits<std::uint64_t>::max(), 1,
                        "a neighbour's numbers, or a kernel that combines them"}),
        reduction_(reduction),
        info_(device.info()),
        queue_(device.make_queue()) {
    const auto members = static_cast<std::int64_t>(reduction.members.size());
    const auto own = std::find(reduction.members.begin(), reduction.members.end(), world.rank());
    if (own == reduction.members.end()) throw Error("a reduction is compiled by its members");
    if (reduction.view.size % size_of(reduction.type) != 0 || reduction.view.offset % size_of(reduction.type) != 0)
      throw Error(fmt::format("{} bytes at {} must be multiples of {} bytes", reduction.view.size,
                              reduction.view.offset, size_of(reduction.type)));
    if (members == 1) return;
    const std::int64_t place = own - reduction.members.begin();
    const std::uint64_t largest = block(0).count;
    came_ = device.allocate(largest * size_of(reduction.type), reduction.view.buffer->placement());
    kernel_ = program_of(device).kernel("combine");
    const auto block_at = [&](std::int64_t number) { return block((number % members + members) % members); };
    const int next = reduction.members[static_cast<std::size_t>((place + 1) % members)];
    const int last = reduction.members[static_cast<std::size_t>((place + members - 1) % members)];
    for (std::int64_t s = 0; s < members - 1; ++s)
      add(transport, {next, block_at(place - s)}, {last, block_at(place - s - 1)}, true);
    for (std::int64_t s = 0; s < members - 1; ++s)
      add(transport, {next, block_at(place + 1 - s)}, {last, block_at(place - s)}, false);
  }
  ~ReductionExchange() override {
    for (RingStep& step : steps_) step.exchange.reset();  // before the buffers in use
  }
  ReductionExchange(const ReductionExchange&) = delete;
  ReductionExchange& operator=(const ReductionExchange&) = delete;

 private:
  struct Piece {
    int rank = 0;
    Block block;
  };

  // Block `number` of one per member; the first blocks are one number longer if the view does not divide evenly.
  Block block(std::int64_t number) const {
    const std::uint64_t all = reduction_.view.size / size_of(reduction_.type), members = reduction_.members.size();
    const auto n = static_cast<std::uint64_t>(number);
    return {n * (all / members) + std::min(n, all % members), all / members + (n < all % members ? 1 : 0)};
  }

  BufferView view_of(const Block& part) const {
    const std::size_t size = size_of(reduction_.type);
    return {reduction_.view.buffer, reduction_.view.offset + part.first * size, part.count * size};
  }

  Program& program_of(Device& device) {
    if (!program_) program_ = device.build(combine_source(reduction_.type, reduction_.operation));
    return *program_;
  }

  // Blocks of short views may be empty: these are not sent.
  void add(Transport& transport, const Piece& send, const Piece& receive, bool combines) {
    Step step;
    if (send.block.count > 0) step.sends.push_back({send.rank, reduction_.lane, {view_of(send.block)}});
    if (receive.block.count > 0) {
      BufferView place = view_of(receive.block);
      if (combines) place = {came_.get(), 0, place.size};
      step.receives.push_back({receive.rank, reduction_.lane, {place}});
    }
    steps_.push_back({transport.compile({{step}, 1}), combines ? receive.block : Block{}});
  }

  // For each step around the ring: the exchange, then the kernel, if any.
  static std::size_t walked_steps(const Reduction& reduction) { return 4 * (reduction.members.size() - 1); }

  void start_step(std::size_t number, std::uint64_t, std::uint64_t) override {
    RingStep& step = steps_[number / 2];
    if (number % 2 == 0) return step.exchange->start(0, 1);
    if (step.combined.count == 0) return;
    const std::uint64_t first = reduction_.view.offset / size_of(reduction_.type) + step.combined.first;
    kernel_->set({reduction_.view.buffer, first, reduction_.view.buffer, first, came_.get(), std::uint64_t{0},
                  step.combined.count});
    queue_->enqueue(*kernel_, combine_range(info_, step.combined.count));
    queue_->finished();  // submits it
  }
  void resize(const std::vector<StepSizes>&) override {}  // the sizes of its messages are fixed
  bool test_step(std::size_t number) override {
    return number % 2 == 0 ? steps_[number / 2].exchange->test() : queue_->finished();
  }
  void wait_step(std::size_t number) override {
    if (number % 2 == 0)
      steps_[number / 2].exchange->wait();
    else if (steps_[number / 2].combined.count > 0)
      queue_->finish();
  }

  Reduction reduction_;
  DeviceInfo info_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Buffer> came_;
  std::vector<RingStep> steps_;
};

}  // namespace

std::unique_ptr<CompiledExchange> compile_reduction(const Reduction& reduction, World& world, Device& device,
                                                    Transport& transport) {
  if (!has_numbers(device.info(), reduction.type))
    throw Unsupported(fmt::format("{} has no double", device.info().name));
  return std::make_unique<ReductionExchange>(reduction, world, device, transport);
}

}  // namespace plumb
