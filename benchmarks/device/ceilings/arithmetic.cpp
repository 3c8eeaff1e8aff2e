// flops/half, float, double: multiply-adds in registers, in chains that do not wait for each other.
#include "benchmarks/device/ceilings/parts.hpp"
#include "benchmarks/device/ceilings/reference.hpp"
#include "benchmarks/hpcc/common/single_device.hpp"

namespace plumb::ceilings {

namespace {

class ArithmeticPart : public Part {
 public:
  ArithmeticPart(Session& session, const Case& measured)
      : type_(parse_scalar_type(measured.labels.at("type").get<std::string>())),
        seed_(session.seed),
        rank_(static_cast<std::uint64_t>(session.world.rank())),
        layout_(layout_of(session.device.info())),
        start_(measured.items_to_check),
        queue_(session.device.make_queue()) {
    const DeviceInfo& device = session.device.info();
    hpcc::require_type(device, type_);
    if (type_ == ScalarType::f16 && device.type == "native")
      throw Unsupported("runtime native keeps half in memory, and computes in float");
    const std::size_t lanes = layout_.interleaved ? 1 : layout_.lanes(size_of(type_));
    layout_.items = start_.size() / (chains * lanes);
    build(session, lanes);
    for (std::uint64_t i = 0; i < start_.size(); ++i) start_[i] = start_of(seed_, rank_, i, type_);
    bytes_.resize(start_.size() * size_of(type_));
    from_ = session.device.allocate(bytes_.size(), session.memory);
    to_ = session.device.allocate(bytes_.size(), session.memory);
    store_scalars(start_, type_, bytes_);
    queue_->write(bytes_.data(), whole(*from_));
    set_arguments();
  }

  // What is left of an earlier launch would be right again.
  void reset() override {
    std::fill(bytes_.begin(), bytes_.end(), std::byte{0xa5});
    queue_->write(bytes_.data(), whole(*to_));
  }

  void run(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) queue_->enqueue(*kernel_, {layout_.items, layout_.group});
    queue_->finish();
  }

  Validation validate() override {
    queue_->read(whole(*to_), bytes_.data());
    std::vector<double> is(start_.size());
    load_scalars(bytes_, type_, is);
    Findings findings("start + pairs of steps, which is exact");
    findings.compare(
        0, is.size(), [&](std::uint64_t i) { return is[i]; },
        [&](std::uint64_t i) { return start_[i] + pairs_of_steps; });
    return findings.all();
  }

 private:
  void build(Session& session, std::size_t lanes) {
    const std::string name = to_string(type_);
    const std::string real = lanes == 1 ? name : fmt::format("{}{}", name, lanes);
    const char* number = type_ == ScalarType::f64 ? "double" : "float";
    program_ = session.device.build(session.source(
        kernels(fmt::format("-DREAL={} -DNUMBER={} -DCHAINS={}", real, number, chains) + layout_options(layout_))));
    kernel_ = program_->kernel("arithmetic");
  }

  void set_arguments() {
    const Steps steps = steps_of(type_);
    const Buffer *from = from_.get(), *to = to_.get();
    const auto set = [&](auto number) {
      using Number = decltype(number);
      kernel_->set({from, to, static_cast<Number>(steps.a1), static_cast<Number>(steps.b1),
                    static_cast<Number>(steps.a2), static_cast<Number>(steps.b2), pairs_of_steps});
    };
    type_ == ScalarType::f64 ? set(double{}) : set(float{});
  }

  ScalarType type_;
  std::uint64_t seed_, rank_;
  Layout layout_;
  std::vector<double> start_;
  std::vector<std::byte> bytes_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Buffer> from_, to_;
};

}  // namespace

std::unique_ptr<Part> make_arithmetic(Session& session, const Case& measured) {
  return std::make_unique<ArithmeticPart>(session, measured);
}

}  // namespace plumb::ceilings
