// flops/half, float, double: multiply-adds in registers, in independent chains. flops/matrix_…: the same by matrix
// units.
#include "benchmarks/device/ceilings/parts.hpp"
#include "benchmarks/device/ceilings/reference.hpp"
#include "benchmarks/hpcc/common/single_device.hpp"

namespace plumb::ceilings {

namespace {

// Element type and executing units.
struct Kind {
  std::string type;    // in the case's key
  bool matrix;         // by matrix units
  ScalarType numbers;  // type of the accumulators
  ScalarType starts;   // the starts are multiples of this type's unit
  int inner;           // inner dimension of one product of matrix units
};

Kind kind_of(const Case& measured) {
  const auto& [limit, operation, bytes, type, matrix] = measured.payload.as<Point>();
  if (!matrix) {
    const ScalarType numbers = parse_scalar_type(type);
    return {type, false, numbers, numbers, 1};
  }
  if (type == "double") return {type, true, ScalarType::f64, ScalarType::f64, 8};
  return {type, true, ScalarType::f32, ScalarType::f16, type == "half" ? 16 : 8};
}

class ArithmeticPart : public Part {
 public:
  ArithmeticPart(Session& session, const Case& measured)
      : kind_(kind_of(measured)),
        layout_(layout_of(session.device.info())),
        numbers_(measured.items_to_check),
        length_(numbers_ * size_of(kind_.numbers)),
        slide_(session.device.info()),
        start_(slide_.source_room(length_) / size_of(kind_.numbers)),
        bytes_(slide_.target_room(length_)),
        queue_(session.device.make_queue()) {
    kind_.matrix ? build_products(session) : build_arithmetic(session);
    const auto rank = static_cast<std::uint64_t>(session.world.rank());
    for (std::uint64_t i = 0; i < start_.size(); ++i) start_[i] = start_of(session.seed, rank, i, kind_.starts);
    from_ = session.device.allocate(slide_.source_room(length_), session.memory);
    to_ = session.device.allocate(bytes_.size(), session.memory);
    set_arguments(kind_.matrix ? factors_of(kind_.inner) : steps_of(kind_.numbers));
  }

  // Other numbers each time: results of an earlier repetition would be right again.
  void reset(std::uint64_t) override {
    const double more = shift_of(resets_ + 1) - shift_of(resets_);
    ++resets_;
    for (double& start : start_) start += more;
    store_scalars(start_, kind_.numbers, std::span(bytes_).first(from_->size()));
    queue_->write(bytes_.data(), whole(*from_));
    std::fill(bytes_.begin(), bytes_.end(), poison_byte);
    queue_->write(bytes_.data(), whole(*to_));
  }

  void run(std::uint64_t count) override {
    for (std::uint64_t later = count; later-- > 0;) {
      kernel_->set(0, BufferView{from_.get(), slide_.source(later), length_});
      kernel_->set(1, BufferView{to_.get(), slide_.target(later), length_});
      queue_->enqueue(*kernel_, {layout_.items, layout_.group});
    }
    queue_->finish();
  }

  Validation validate(std::uint64_t count) override {
    const std::size_t size = size_of(kind_.numbers), first = slide_.target(count - 1);
    queue_->read({to_.get(), first, to_->size() - first}, bytes_.data() + first);
    std::vector<double> is(bytes_.size() / size);
    load_scalars(bytes_, kind_.numbers, is);
    Findings findings("start + pairs of steps, which is exact");
    findings.compare_left(
        slide_, length_, size, count, length_, [](std::size_t, std::size_t) {}, [&](std::uint64_t i) { return is[i]; },
        [&](std::uint64_t later) {
          return
              [starts = &start_[slide_.source(later) / size]](std::uint64_t i) { return starts[i] + pairs_of_steps; };
        });
    return findings.all();
  }

 private:
  void build_arithmetic(Session& session) {
    const DeviceInfo& device = session.device.info();
    hpcc::require_type(device, kind_.numbers);
    if (kind_.numbers == ScalarType::f16 && device.type == "native")
      throw Unsupported("runtime native keeps half in memory, and computes in float");
    const std::size_t lanes = layout_.interleaved ? 1 : layout_.lanes(size_of(kind_.numbers));
    layout_.items = numbers_ / (chains * lanes);
    program_ = session.device.build(session.source(kernels(streaming_options(layout_, kind_.numbers))));
    kernel_ = program_->kernel("arithmetic");
  }

  void build_products(Session& session) {
    const DeviceInfo& device = session.device.info();
    if (device.type != "gpu" || device.vendor.find("NVIDIA") == std::string::npos)
      throw Unsupported(device.name + " has no matrix units that these kernels support (an NVIDIA GPU's, by PTX)");
    layout_.items = numbers_ / chains;
    std::string problem;
    for (const int generation : matrix_generations) try {
        program_ = session.device.build(session.source(kernels(products_options(kind_.type, generation))));
        kernel_ = program_->kernel("products");
        return;
      } catch (const Error& error) {
        problem = error.what();
      }
    throw Unsupported(fmt::format("{} has no matrix units for {} that these kernels support: {}", device.name,
                                  kind_.type, problem.substr(0, problem.find('\n'))));
  }

  void set_arguments(const Steps& steps) {
    const Buffer *from = from_.get(), *to = to_.get();
    const auto set = [&](auto number) {
      using Number = decltype(number);
      kernel_->set({from, to, static_cast<Number>(steps.a1), static_cast<Number>(steps.b1),
                    static_cast<Number>(steps.a2), static_cast<Number>(steps.b2), pairs_of_steps});
    };
    kind_.numbers == ScalarType::f64 ? set(double{}) : set(float{});
  }

  Kind kind_;
  Layout layout_;
  std::size_t numbers_, length_;  // of one launch; bytes
  Slide slide_;
  std::vector<double> start_;
  std::vector<std::byte> bytes_;
  std::uint64_t resets_ = 0;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Buffer> from_, to_;
};

}  // namespace

std::string products_options(const std::string& type, int generation) {
  const ScalarType numbers = type == "double" ? ScalarType::f64 : ScalarType::f32;
  const int bits = type == "double" ? 64 : type == "half" ? 16 : 32;
  return fmt::format("-DINTERLEAVED -DMATRIX={} -DMATRIX_TYPE={} -DNUMBER={} -DCHAINS={}", generation, bits,
                     number_of(numbers), chains);
}

std::unique_ptr<Part> make_arithmetic(Session& session, const Case& measured) {
  return std::make_unique<ArithmeticPart>(session, measured);
}

}  // namespace plumb::ceilings
