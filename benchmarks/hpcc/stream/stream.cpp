#include "benchmarks/hpcc/stream/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "core/units.hpp"
#include "device/native/past_caches.hpp"

namespace plumb::stream {

using hpcc::Variant;

namespace {

// Defaults of form nd_range by kind of device; measured, see README.md.
struct Habits {
  std::uint64_t vector_bytes, group_size;
  std::uint64_t groups_of_a_unit, dot_groups_of_a_unit;  // 0: one vector per work item
  bool own_runs;
};

Habits habits_of(const DeviceInfo& device) {
  if (device.type == "gpu") return {16, std::min(256u, device.largest_group), 0, 8, false};
  return {device.type == "native" ? cache_line : 32, 1, 32, 32, true};
}

constexpr std::uint64_t pipeline_vector = 16;  // numbers, as in HPCC FPGA
constexpr std::uint64_t longest_vector = 16;
constexpr std::uint64_t largest_local_buffer = std::uint64_t{4} << 20;  // bytes; a CPU keeps it on a thread's stack

bool is_power_of_two(std::int64_t value) {
  return std::has_single_bit(static_cast<std::uint64_t>(value));
}

}  // namespace

std::optional<BoardKernels> Stream::board_kernels(BoardTool) const {
  return BoardKernels{
      .source = "benchmarks/hpcc/stream/single_work_item.cl",
      .options = "-DWITHOUT_DOT",
      .kernels = {{.name = "calc", .numbered = "calc_{replication}", .arguments = {{"in1"}, {"in2"}, {"out"}}}}};
}

Preset Stream::preset(const std::string& name) const {
  if (name == "smoke") return {{"elements", "4194304"}, {"time-limit", "0.2"}};
  return {{"time-limit", name == "full" ? "10" : "2"}};
}

void Stream::check(const Plan&) const {
  if (elements_.get() < replications_.get())
    throw UsageError(
        fmt::format("--elements {} is too small for --replications {}", elements_.get(), replications_.get()));
  if (vector_.get() > 0 && !is_power_of_two(vector_))
    throw UsageError(fmt::format("--vector must be 1, 2, 4, 8 or 16, not {}", vector_.get()));
  if (group_size_.get() > 0 && !is_power_of_two(group_size_))
    throw UsageError(fmt::format("--group-size must be a power of two, not {}", group_size_.get()));
  if (variant_ == "library" && operation_ != "all" && operation_ != "copy" && !operation(operation_).is_transfer())
    throw UsageError(
        fmt::format("--variant library, the runtime's own copy, does not support --operation {}", operation_.get()));
}

void Stream::check_device(const Plan&, const DeviceInfo& device) const {
  const KernelForm form = form_on(device);
  if (device.type == "native" && vector_.given())
    throw UsageError("--vector is not supported on runtime native, whose vectors are cache lines");
  if (form.group_size > device.largest_group && device.type != "native")
    throw UsageError(fmt::format("--group-size {} exceeds the {} work items that a group of {} may have",
                                 form.group_size, device.largest_group, device.name));
  if (form.variant != Variant::single_work_item) return;
  if (const std::uint64_t bytes = form.local_buffer * form.vector * size_of(form.type); bytes > largest_local_buffer)
    throw UsageError(fmt::format("--local-buffer {} is {} of vectors: {} fit on a chip", form.local_buffer,
                                 format_bytes(bytes), format_bytes(largest_local_buffer)));
  if (form.local_buffer % form.unroll != 0)
    throw UsageError(
        fmt::format("--local-buffer {} must be a multiple of --unroll {}", form.local_buffer, form.unroll));
  if (extent(0, form.vector).elements > std::numeric_limits<std::uint32_t>::max() - longest_vector)
    throw UsageError(fmt::format(
        "variant single_work_item counts an array's elements in 32 bits: --elements {} needs more --replications",
        elements_.get()));
}

KernelForm Stream::form_on(const DeviceInfo& device) const {
  KernelForm form;
  form.variant = variant_.on(device);
  form.type = type();
  const Habits habits = habits_of(device);
  const auto given_or = [](std::int64_t given, std::uint64_t otherwise) {
    return given > 0 ? static_cast<std::uint64_t>(given) : otherwise;
  };
  const bool pipeline = form.variant == Variant::single_work_item;
  form.vector = given_or(vector_, pipeline ? pipeline_vector : habits.vector_bytes / size_of(form.type));
  form.unroll = static_cast<std::uint64_t>(unroll_.get());
  form.local_buffer = static_cast<std::uint64_t>(local_buffer_.get());
  form.group_size = given_or(group_size_, habits.group_size);
  form.groups = given_or(groups_, habits.groups_of_a_unit * device.compute_units);
  form.dot_groups = given_or(groups_, habits.dot_groups_of_a_unit * device.compute_units);
  form.own_runs = habits.own_runs;
  return form;
}

Extent Stream::extent(std::uint64_t replication, std::uint64_t vector) const {
  const auto elements = static_cast<std::uint64_t>(elements_.get());
  const auto replications = static_cast<std::uint64_t>(replications_.get());
  return {elements / replications + (replication < elements % replications ? 1 : 0), vector, size_of(type())};
}

Case Stream::make_case(const Operation& operation) const {
  const auto elements = static_cast<std::uint64_t>(elements_.get());
  const std::uint64_t bytes = elements * size_of(type());
  Case result;
  result.key = operation.name;
  result.labels = {{"operation", operation.name}};
  result.payload = Payload(&operation);
  // Each byte of a transfer counts once.
  result.work.bytes_read = operation.kind == Operation::Kind::write ? 0 : operation.inputs.size() * bytes;
  result.work.bytes_written = operation.kind == Operation::Kind::read ? 0 : operation.outputs.size() * bytes;
  result.work.flops = operation.flops * static_cast<double>(elements);
  const auto replications = static_cast<std::uint64_t>(replications_.get());
  const bool is_dot = operation.kind == Operation::Kind::dot;
  result.items_to_check = is_dot ? replications : operation.outputs.size() * elements;
  result.witnesses = is_dot ? replications : operation.outputs.size() * replications;
  result.most_operations = Slide::most;
  return result;
}

std::vector<Group> Stream::groups(const Plan&) const {
  Group group;
  group.key = "stream";
  for (const Operation& operation : operations())
    if (operation_ == "all" || operation_ == operation.name) group.cases.push_back(make_case(operation));
  const auto replications = static_cast<std::uint64_t>(replications_.get());
  group.largest_buffer_bytes = extent(0, longest_vector).buffer_bytes(Slide());
  group.device_bytes = group.host_bytes = all_arrays.size() * replications * group.largest_buffer_bytes;
  return {group};
}

void Stream::prepare_group(Session& session, const Group&, Timed&) {
  form_ = form_on(session.device.info());
  replicas_.clear();
  const int replications = static_cast<int>(replications_.get());
  for (int i = 0; i < replications; ++i)
    replicas_.emplace_back(session.device, session.memory.in_bank(i, replications), form_,
                           extent(static_cast<std::uint64_t>(i), form_.vector));
}

void Stream::prepare(Session& session, const Case& measured) {
  measured_ = &*measured.payload.as<const Operation*>();
  const bool copies = measured_->is_transfer() || (form_.variant == Variant::library && measured_->name == "copy");
  if (!copies) build(session);
  for (std::uint64_t i = 0; i < replicas_.size(); ++i) {
    std::vector<Launch> kernels;
    if (!copies)
      kernels = launches(*program_, form_, *measured_, replicas_[i].buffers(), replicas_[i].extent().vectors(), i,
                         replicas_.size());
    replicas_[i].choose(*measured_, std::move(kernels));
  }
}

// Built once, for the first case with kernels: transfers also work for types that the device cannot compute in.
void Stream::build(Session& session) {
  if (form_.variant == Variant::library)
    throw Unsupported(fmt::format("the runtime's own commands copy only: they cannot execute {}", measured_->name));
  hpcc::require_type(session.device.info(), form_.type);
  if (!program_) program_ = session.device.build(session.source(source_of(form_)));
}

Contents Stream::contents_of(const Session& session, std::uint64_t replication, std::uint64_t repetition) const {
  const Extent& extent = replicas_[replication].extent();
  return contents(*measured_, form_.type, extent.vectors() * extent.vector,
                  {session.seed, static_cast<std::uint64_t>(session.world.rank()), replication, 0, repetition});
}

void Stream::reset(Session& session, const Case&, std::uint64_t repetition, std::uint64_t count) {
  for (std::uint64_t i = 0; i < replicas_.size(); ++i) replicas_[i].reset(contents_of(session, i, repetition), count);
}

void Stream::run(Session&, const Case&, Timed& timed) {
  for (std::uint64_t later = timed.count(); later-- > 0;)
    for (Replication& replica : replicas_) replica.enqueue(later);
  if (replicas_.size() > 1)
    for (Replication& replica : replicas_) replica.start();
  for (Replication& replica : replicas_) replica.finish();
  double first = std::numeric_limits<double>::infinity(), last = 0;
  for (const Replication& replica : replicas_)
    if (const auto span = replica.span()) {
      first = std::min(first, span->started);
      last = std::max(last, span->ended);
    }
  if (last > first) timed.device_seconds(last - first);
}

Validation Stream::validate(Session& session, const Case&, std::uint64_t repetition, std::uint64_t count) {
  Validation validation;
  validation.reference = measured_->kind == Operation::Kind::dot
                             ? "the sum of all products, exact in double: no partial sum rounds"
                             : "every element recomputed from its inputs in double: no result rounds";
  for (std::uint64_t i = 0; i < replicas_.size(); ++i)
    replicas_[i].check(contents_of(session, i, repetition), count, validation);
  return validation;
}

Json Stream::facts() const {
  Json facts{{"variant", to_string(form_.variant)}};
  if (form_.variant == Variant::library) return facts;
  facts["vector"] = form_.vector;
  if (form_.variant == Variant::nd_range) facts["group_size"] = form_.group_size;
  return facts;
}

std::vector<Metric> Stream::metrics(const CaseResult& result, int ranks) const {
  const Work& work = result.measured->work;
  return hpcc::parallel_metrics("bandwidth", "GB/s", giga, static_cast<double>(work.bytes_read + work.bytes_written),
                                result, ranks);
}

namespace {

const RegisteredBenchmark registered_stream("stream", [] { return std::make_unique<Stream>(); });

}  // namespace

}  // namespace plumb::stream
