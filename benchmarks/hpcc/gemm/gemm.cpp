#include "benchmarks/hpcc/gemm/gemm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/units.hpp"

namespace plumb::gemm {

namespace {

constexpr double milli = 1e-3;
constexpr std::size_t default_block = 512;  // default of HPCC FPGA
constexpr std::size_t blocks_in_local_memory = 3;

std::size_t local_memory_bytes(const Element& element, std::size_t block) {
  return blocks_in_local_memory * block * block * size_of(element.computed);
}

// The item of its content at which C begins, by repetition.
constexpr std::uint64_t contents_of_c = 1024;
constexpr std::size_t c_begin(std::uint64_t repetition) {
  return repetition % contents_of_c * 16;
}

// If beta C is small against alpha A B, other numbers of C change too little: B's change then.
Signs signs_of(const Problem& problem, std::uint64_t repetition) {
  return {std::abs(problem.beta) < std::abs(problem.alpha) ? repetition : 0};
}

// Negates the columns of B whose signs differ, by the items' first bit.
void change_signs(std::span<std::byte> b, const Problem& problem, const Signs& from, const Signs& to) {
  const std::size_t size = size_of(problem.element.stored);
  std::vector<std::size_t> changed;
  for (std::size_t column = 0; column < problem.columns; ++column)
    if (from.is_negative(column) != to.is_negative(column)) changed.push_back(column);
  for (std::size_t row = 0; row < problem.inner; ++row)
    for (const std::size_t column : changed) b[(row * problem.columns + column + 1) * size - 1] ^= std::byte{0x80};
}

Provenance origin_of(const Session& session) {
  return {session.seed, static_cast<std::uint64_t>(session.world.rank())};
}

std::size_t positive(std::int64_t value, std::int64_t otherwise) {
  return static_cast<std::size_t>(value > 0 ? value : otherwise);
}

// OpenCL C and the functions of `native` lack bfloat16.
void require_known_type(const Element& element, const DeviceInfo& device) {
  if (element.stored == ScalarType::bf16)
    throw Unsupported(
        fmt::format("type bfloat16 needs runtime cuda and an NVIDIA GPU of compute capability 9.0 "
                    "(or its library, --variant library), but the device is {}",
                    device.name));
}

}  // namespace

// Replications are bound by arithmetic, so they share banks; A and C in one, B and the result in the next.
std::optional<BoardKernels> Gemm::board_kernels(BoardTool) const {
  return BoardKernels{.source = "benchmarks/hpcc/gemm/single_work_item.cl",
                      .kernels = {{.name = "gemm",
                                   .numbered = "gemm{replication}",
                                   .arguments = {{"a", 0}, {"b", 1}, {"c", 0}, {"out", 1}}}},
                      .banks = 2,
                      .own_banks = false};
}

Preset Gemm::preset(const std::string& name) const {
  if (name == "smoke") return {{"size", "512"}, {"time-limit", "0.5"}};
  if (name == "full") return {{"size", "8192"}, {"time-limit", "30"}};
  return {{"time-limit", "5"}};
}

Problem Gemm::problem() const {
  const std::size_t block = positive(block_size_, default_block);
  const std::int64_t size =
      size_in_blocks_ > 0 ? size_in_blocks_ * static_cast<std::int64_t>(block) : static_cast<std::int64_t>(size_);
  Problem problem;
  problem.element = element_of(type_);
  problem.rows = positive(rows_, size);
  problem.columns = positive(columns_, size);
  problem.inner = positive(inner_, size);
  problem.alpha = rounded(alpha_, problem.element.stored);
  problem.beta = rounded(beta_, problem.element.stored);
  return problem;
}

void Gemm::check(const Plan&) const {
  if (size_in_blocks_ > 0 && (rows_ > 0 || columns_ > 0 || inner_ > 0))
    throw UsageError("--size-in-blocks must not be combined with --rows, --columns or --inner");
  const Problem wanted = problem();
  if (std::max({wanted.rows, wanted.columns, wanted.inner}) > std::size_t{1} << 20)
    throw UsageError(fmt::format("--size-in-blocks {} gives matrices of {} rows, above the limit of {}",
                                 size_in_blocks_.get(), wanted.rows, 1 << 20));
  check_factors(wanted);
  check_blocks();
  if ((replications_ > 1 || replicate_inputs_) && (variant_ == "nd_range" || variant_ == "library"))
    throw UsageError(fmt::format("--replications requires --variant single_work_item, not {}", variant_.get()));
}

void Gemm::check_blocks() const {
  const std::int64_t block = block_size_ > 0 ? block_size_.get() : static_cast<std::int64_t>(default_block);
  for (const Parameter<std::int64_t>* part : {&gemm_block_, &global_mem_unroll_})
    if (block % part->get() != 0)
      throw UsageError(fmt::format("--{} {} does not divide --block-size {}", part->name(), part->get(), block));
}

Blocks Gemm::blocks(std::uint64_t local_bytes) const {
  const Element element = element_of(type_);
  Blocks blocks;
  blocks.block = positive(block_size_, default_block);
  blocks.register_block = static_cast<std::size_t>(gemm_block_);
  blocks.unroll = static_cast<std::size_t>(global_mem_unroll_);
  blocks.replications = static_cast<std::size_t>(replications_);
  blocks.replicate_inputs = replicate_inputs_;
  const std::size_t smallest = std::max(blocks.register_block, blocks.unroll);
  if (block_size_ == 0)
    while (local_bytes > 0 && local_memory_bytes(element, blocks.block) > local_bytes && blocks.block / 2 >= smallest)
      blocks.block /= 2;
  return blocks;
}

bool Gemm::uses_gpu_kernel(const DeviceInfo& device) const {
  return kernel_ == "gpu" || kernel_ == "hopper" || (kernel_ == "default" && device.type == "gpu");
}

void Gemm::check_device(const Plan&, const DeviceInfo& device) const {
  const hpcc::Variant variant = variant_.on(device);
  if ((replications_ > 1 || replicate_inputs_) && variant != hpcc::Variant::single_work_item)
    throw UsageError(fmt::format("--replications requires --variant single_work_item, but {} runs {}", device.name,
                                 to_string(variant)));
  const Problem wanted = problem();
  if (variant == hpcc::Variant::nd_range) {
    const std::uint64_t matrices = wanted.bytes(wanted.a_items() + wanted.b_items() + 2 * wanted.c_items());
    const std::uint64_t scratch = uses_gpu_kernel(device)
                                      ? std::max(gpu_scratch_bytes(wanted), hopper_scratch_bytes(wanted))
                                      : cpu_scratch_bytes(wanted);
    if (matrices + scratch > device.memory_bytes)
      throw UsageError(fmt::format("gemm needs {} on the device ({} of them for packed matrices), but {} has {}",
                                   format_bytes(matrices + scratch), format_bytes(scratch), device.name,
                                   format_bytes(device.memory_bytes)));
  }
}

std::vector<Group> Gemm::groups(const Plan&) const {
  const Problem wanted = problem();
  const bool square = wanted.rows == wanted.columns && wanted.rows == wanted.inner;
  Case product;
  product.key = square ? fmt::format("{}/{}", type_.get(), wanted.rows)
                       : fmt::format("{}/{}x{}x{}", type_.get(), wanted.rows, wanted.columns, wanted.inner);
  product.labels = {{"type", type_.get()}, {"rows", wanted.rows}, {"columns", wanted.columns}, {"inner", wanted.inner}};
  product.work.flops = wanted.flops();
  product.work.bytes_read = wanted.bytes(wanted.a_items() + wanted.b_items() + wanted.c_items());
  product.work.bytes_written = wanted.bytes(wanted.c_items());
  product.items_to_check = wanted.c_items();
  product.witnesses = 1;
  product.most_operations = Slide::most;
  if (variant_ == "library") product.fixed_count = 1;  // it computes in place, so C is restored before each product

  const std::size_t copies = replicate_inputs_ ? static_cast<std::size_t>(replications_) : 1;
  Group group{"gemm", {product}};
  const std::size_t room = Slide().target_room(guard_bytes);  // for the operations before the last
  group.device_bytes =
      wanted.bytes(copies * (wanted.a_items() + wanted.b_items()) + 2 * wanted.c_items()) + (copies + 2) * room;
  group.largest_buffer_bytes = wanted.bytes(std::max({wanted.a_items(), wanted.b_items(), wanted.c_items()})) + room;
  // A, B, C and the product as stored on the device, the reference, and A and B in double during its computation.
  group.host_bytes = wanted.bytes(wanted.a_items() + wanted.b_items() + 2 * wanted.c_items()) +
                     sizeof(double) * (wanted.a_items() + wanted.b_items() + wanted.c_items());
  return {group};
}

std::unique_ptr<Form> Gemm::make_form(Session& session) const {
  const DeviceInfo& device = session.device.info();
  switch (variant_.on(device)) {
    case hpcc::Variant::single_work_item: {
      // A bitstream contains its blocks, whatever local memory the device reports.
      require_known_type(problem_.element, device);
      const Blocks wanted = blocks(session.kernel_file.empty() ? device.local_bytes : 0);
      const std::size_t needed = local_memory_bytes(problem_.element, wanted.block);
      if (session.kernel_file.empty() && device.local_bytes > 0 && needed > device.local_bytes)
        throw Unsupported(fmt::format("--block-size {} needs {} of local memory, but {} has {}", wanted.block,
                                      format_bytes(needed), device.name, format_bytes(device.local_bytes)));
      return make_single_work_item(session, problem_, wanted);
    }
    case hpcc::Variant::library:
      return make_library(session, problem_);
    default:
      if (uses_gpu_kernel(device)) return make_gpu_form(session);
      require_known_type(problem_.element, device);
      return make_cpu(session, problem_);
  }
}

std::unique_ptr<Form> Gemm::make_gpu_form(Session& session) const {
  if (kernel_ == "hopper") return make_hopper(session, problem_);
  const DeviceInfo& device = session.device.info();
  // The user's file replaces the portable form's, unless --kernel selects another.
  const bool may_be_hopper =
      kernel_ == "default" && matrix_units_ == "default" && device.runtime == "cuda" && session.kernel_file.empty();
  if (may_be_hopper) try {
      return make_hopper(session, problem_);
    } catch (const Error&) {  // not such a GPU; other errors occur again below
    }
  require_known_type(problem_.element, device);
  return make_gpu(session, problem_, {kernel_ == "gpu", matrix_units_ == "default"});
}

void Gemm::prepare(Session& session, const Case&) {
  problem_ = problem();
  form_ = make_form(session);
  slide_ = Slide(session.device.info());
  const ScalarType stored = problem_.element.stored;
  const auto bytes = [&](Matrix matrix, std::size_t items) {
    std::vector<double> values(items);
    fill(values, stored, origin_of(session), matrix);
    return bytes_of(values, stored);
  };
  const std::size_t more = slide_.source(0) / size_of(stored);  // for the operations before the last
  inputs_ = {bytes(Matrix::a, problem_.a_items() + more), bytes(Matrix::b, problem_.b_items()),
             bytes(Matrix::c, problem_.c_items() + more + c_begin(contents_of_c - 1))};
  signs_ = {};
  largest_error_ = 0;
}

void Gemm::reset(Session&, const Case&, std::uint64_t repetition, std::uint64_t count) {
  inputs_.c_begin = problem_.bytes(c_begin(repetition));
  change_signs(inputs_.b, problem_, signs_, signs_of(problem_, repetition));
  signs_ = signs_of(problem_, repetition);
  form_->reset(inputs_, count);
}

void Gemm::run(Session&, const Case&, Timed& timed) {
  for (std::uint64_t later = timed.count(); later-- > 0;) form_->enqueue(later);
  timed.device_seconds(form_->finish());
}

Validation Gemm::validate(Session& session, const Case&, std::uint64_t repetition, std::uint64_t count) {
  const Provenance origin = origin_of(session);
  const std::size_t first = slide_.source(0) / size_of(problem_.element.stored);
  if (!reference_) {
    reference_ = std::make_unique<Reference>(problem_, make_values(problem_, origin, first), origin);
  }
  product_.assign(problem_.bytes(problem_.c_items()), std::byte{0xff});  // detects a read that does not happen
  for (const Output& output : form_->outputs())
    output.queue->read({output.buffer, slide_.target(0), problem_.bytes(output.items)},
                       product_.data() + problem_.bytes(output.first_item));
  Comparison found =
      compare(problem_, form_->rounding(), *reference_, origin, first + c_begin(repetition), product_, signs_);
  for (const Output& output : form_->outputs()) {
    const std::size_t first = slide_.target(count - 1), last = slide_.target(0);
    std::vector<std::byte> before(last - first), guard(guard_bytes);
    output.queue->read({output.buffer, first, before.size()}, before.data());
    output.queue->read({output.buffer, last + problem_.bytes(output.items), guard.size()}, guard.data());
    compare_rests(problem_, form_->rounding(), origin, slide_,
                  {output.first_item, output.items, c_begin(repetition), count, before, guard, signs_}, found);
  }
  found.validation.items_checked += count - 1;  // each operation before the last is one item
  largest_error_ = std::max(largest_error_, found.largest_error);
  return found.validation;
}

Json Gemm::facts() const {
  Json facts = form_->facts();
  facts["largest_error"] = finite_or_null(largest_error_);
  return facts;
}

void Gemm::release() {
  form_.reset();
  reference_.reset();
  inputs_ = {};
  product_ = {};
}

std::vector<Metric> Gemm::metrics(const CaseResult& result, int ranks) const {
  auto metrics = hpcc::parallel_metrics("performance", "GFLOP/s", giga, result.measured->work.flops, result, ranks);
  metrics.push_back({"time_per_product", result.best_seconds() / milli, "ms", "best repetition, slowest rank"});
  return metrics;
}

namespace {

const RegisteredBenchmark registered_gemm("gemm", [] { return std::make_unique<Gemm>(); });

}  // namespace

}  // namespace plumb::gemm
