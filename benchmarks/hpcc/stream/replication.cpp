#include "benchmarks/hpcc/stream/replication.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/embedded.hpp"
#include "device/host_share.hpp"
#include "device/link.hpp"

namespace plumb::stream {

using hpcc::Variant;

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// HPCC FPGA has a kernel per memory bank, by number; this one serves every replication.
std::string name_in(const Program& program, const std::string& name, std::uint64_t replication,
                    std::uint64_t replications) {
  const std::vector<std::string> names = program.kernel_names();
  if (contains(names, name)) return name;
  const auto numbered = [&](std::uint64_t i) { return fmt::format("{}_{}", name, i); };
  std::uint64_t there = 0;
  while (contains(names, numbered(there))) ++there;
  if (there == 0) throw Unsupported(fmt::format("the kernel file has no kernel {}", name));
  if (there != replications)
    throw Error(fmt::format("the kernel file has {} kernels {} to {}, so --replications must be {}, not {}", there,
                            numbered(0), numbered(there - 1), there, replications));
  return numbered(replication);
}

// The scalar as a kernel argument: float for half.
KernelArgument wide(ScalarType type, double value) {
  if (type == ScalarType::f64) return value;
  return static_cast<float>(value);
}

Launch launch_of(std::unique_ptr<Kernel> kernel, const KernelRange& range, const std::vector<Launch::Moving>& moving,
                 const std::vector<KernelArgument>& others) {
  std::vector<KernelArgument> arguments;
  for (const Launch::Moving& one : moving) arguments.emplace_back(one.buffer);
  arguments.insert(arguments.end(), others.begin(), others.end());
  kernel->set(arguments);
  return {std::move(kernel), range, moving};
}

}  // namespace

std::string type_options(const std::string& type) {
  return fmt::format("-DDATA_TYPE={} -DWIDE_TYPE={}", type, type == "double" ? type : "float");
}

KernelSource source_of(const KernelForm& form) {
  const bool one = form.variant == Variant::single_work_item;
  KernelSource source;
  source.name = one ? "benchmarks/hpcc/stream/single_work_item.cl" : "benchmarks/hpcc/stream/nd_range.cl";
  source.opencl = embedded_text(source.name);
  source.options = fmt::format("{} -DVECTOR_COUNT={}", type_options(to_string(form.type)), form.vector);
  if (one)
    source.options += fmt::format(" -DDEVICE_BUFFER_SIZE={} -DGLOBAL_MEM_UNROLL={}", form.local_buffer, form.unroll);
  else
    source.options += fmt::format(" -DGROUP_SIZE={} -DOWN_RUNS={}", form.group_size, form.own_runs ? 1 : 0);
  if (one)
    source.hls = embedded_text("benchmarks/hpcc/stream/single_work_item_hls.cpp");
  else
    source.native = native_kernels(form.type);
  return source;
}

std::vector<Launch> launches(Program& program, const KernelForm& form, const Operation& operation,
                             const Buffers& buffers, std::uint64_t vectors, std::uint64_t replication,
                             std::uint64_t replications) {
  const bool is_dot = operation.kind == Operation::Kind::dot;
  std::vector<Launch::Moving> moving;
  for (const Array array : operation.inputs) moving.push_back({buffers.of(array), false});
  for (const Array array : operation.outputs) moving.push_back({buffers.of(array), true});
  const Launch::Moving sums{buffers.sums.get(), false};
  if (is_dot) moving.push_back(sums);
  std::vector<Launch> list;
  if (form.variant == Variant::single_work_item) {
    const auto length = static_cast<std::uint32_t>(vectors * form.vector);
    auto kernel = program.kernel(name_in(program, is_dot ? "calc_dot" : "calc", replication, replications));
    std::vector<KernelArgument> others{length};
    if (!is_dot) {
      // calc computes scalar * in1 + in2; Triad's first input is the addend.
      if (operation.inputs.size() == 1) moving.insert(moving.begin(), moving.front());
      std::swap(moving[0], moving[1]);
      static const std::array<const char*, 4> types{"copy", "scale", "add", "triad"};
      const auto type = std::find(types.begin(), types.end(), operation.name) - types.begin();
      others = {wide(form.type, operation.takes_scalar ? scalar : 1), length, static_cast<std::uint32_t>(type)};
    }
    list.push_back(launch_of(std::move(kernel), {1, 1}, moving, others));
    return list;
  }
  const std::uint64_t wanted = is_dot ? form.dot_groups : form.groups;
  const std::uint64_t most = (vectors + form.group_size - 1) / form.group_size;
  const std::uint64_t groups = wanted == 0 ? most : std::min(most, wanted);
  std::vector<KernelArgument> others{vectors};
  if (operation.takes_scalar) others.insert(others.begin(), wide(form.type, scalar));
  list.push_back(launch_of(program.kernel(is_dot ? "dot_of_groups" : operation.name),
                           {groups * form.group_size, form.group_size}, moving, others));
  if (is_dot)
    list.push_back(launch_of(program.kernel("dot_of_all"), {form.group_size, form.group_size}, {sums}, {groups}));
  return list;
}

namespace {

void note(Validation& validation, const std::string& detail) {
  if (validation.detail.empty()) validation.detail = detail;
}

void worsen(Validation& validation, double error) {
  if (!(error <= validation.error)) validation.error = error;
}

char letter(Array array) {
  return static_cast<char>('A' + static_cast<int>(array));
}

}  // namespace

Replication::Replication(Device& device, const Placement& memory, const KernelForm& form, const Extent& extent)
    : type_(form.type),
      extent_(extent),
      slide_(device.info()),
      has_link_(has_link(device.info())),
      queue_(device.make_queue(true)) {
  for (auto& array : buffers_.arrays) array = device.allocate(extent.buffer_bytes(slide_), memory);
  for (auto& image : images_) image = allocate_host(device, extent.buffer_bytes(slide_));
  buffers_.sums = device.allocate(slide_.source_room((1 + form.dot_groups) * sizeof(double)), memory);
}

void Replication::choose(const Operation& operation, std::vector<Launch> kernels) {
  operation_ = &operation;
  kernels_ = std::move(kernels);
  length_ = kernels_.empty() ? extent_.bytes() : extent_.padded_bytes();
}

void Replication::enqueue(std::uint64_t later) {
  const std::size_t from = slide_.source(later), to = slide_.target(later);
  const auto view = [&](Array array, std::size_t offset) { return BufferView{buffers_.of(array), offset, length_}; };
  for (const Launch& launch : kernels_) {
    place(launch, later);
    queue_->enqueue(*launch.kernel, launch.range);
  }
  if (operation_->kind == Operation::Kind::write)
    for (const Array array : all_arrays) queue_->enqueue_write(image(array) + from, view(array, to));
  else if (operation_->kind == Operation::Kind::read)
    for (const Array array : all_arrays) queue_->enqueue_read(view(array, from), image(array) + to);
  else if (kernels_.empty())
    queue_->enqueue_copy(view(operation_->inputs.front(), from), view(operation_->outputs.front(), to));
}

void Replication::place(const Launch& launch, std::uint64_t later) const {
  for (std::size_t i = 0; i < launch.moving.size(); ++i) {
    const auto [buffer, is_target] = launch.moving[i];
    const std::size_t offset = is_target ? slide_.target(later) : slide_.source(later);
    launch.kernel->set(i, BufferView{buffer, offset, buffer->size() - offset});
  }
}

void Replication::reset(const Contents& contents, std::uint64_t count) {
  count_ = count;
  const bool writes = operation_->kind == Operation::Kind::write, reads = operation_->kind == Operation::Kind::read;
  const Slide::Range given = slide_.sources(length_, count), taken = slide_.targets(length_, count);
  const auto give_inputs = [&] {
    for (const Array array : operation_->inputs) {
      fill({image(array) + given.begin, given.size}, contents.of(array), given.begin / sizeof(std::uint64_t));
      // The guard of inputs, which is not checked.
      std::memset(image(array) + given.begin + given.size, std::to_integer<int>(fresh_byte), Extent::guard);
      if (!writes) put(array, given);  // its inputs are the host images
    }
  };
  if (reads) give_inputs();
  for (const Array array : operation_->outputs) {
    std::memset(image(array) + taken.begin, std::to_integer<int>(poison_byte), taken.size + Extent::guard);
    if (!reads) put(array, taken, Extent::guard);  // its outputs are the host images
  }
  if (!reads) give_inputs();
  if (writes && has_link_) warm_link(given, taken);
  const std::vector<std::byte> no_sums(buffers_.sums->size(), poison_byte);
  queue_->write(no_sums.data(), whole(*buffers_.sums));
  for (const Launch& launch : kernels_)
    for (std::uint64_t later = count; later-- > 0;) place(launch, later);  // warm-up, outside of the timed section
}

// A sample would be the slower the fewer operations it has (device/link.hpp). Then the device is poisoned anew.
void Replication::warm_link(const Slide::Range& given, const Slide::Range& taken) {
  const std::vector<std::byte> poison(taken.size + Extent::guard, poison_byte);
  for (int i = 0; i < transfers_before_measuring; ++i)
    for (const Array array : all_arrays) put(array, given);
  for (const Array array : all_arrays) queue_->write(poison.data(), {buffers_.of(array), taken.begin, poison.size()});
}

void Replication::check(const Contents& contents, std::uint64_t count, Validation& validation) {
  count_ = count;
  if (operation_->kind == Operation::Kind::dot) return check_dot(contents, validation);
  for (const Array array : operation_->outputs) check_array(array, contents, validation);
}

void Replication::check_array(Array array, const Contents& contents, Validation& validation) {
  const auto [begin, size] = slide_.targets(length_, count_);
  if (operation_->kind != Operation::Kind::read) {
    // Detects a read that does not happen.
    std::memset(image(array) + begin, std::to_integer<int>(poison_byte), size + Extent::guard);
    queue_->read({buffers_.of(array), begin, size + Extent::guard}, image(array) + begin);
  }
  std::uint64_t written = 0;
  slide_.each_run(
      length_, count_, begin + size + Extent::guard,
      [&](const Slide::Rest& rest) { check_rest(array, rest, contents, validation); },
      [&](std::size_t from, std::size_t bytes) {
        written += static_cast<std::uint64_t>(std::count_if(image(array) + from, image(array) + from + bytes,
                                                            [](std::byte b) { return b != poison_byte; }));
      });
  if (written == 0) return;
  validation.wrong_items += written;
  validation.error = std::numeric_limits<double>::infinity();
  note(validation, fmt::format("{} bytes past the end of {} were written", written, letter(array)));
}

// The remainder of an operation is one item; for the last operation each number is one.
void Replication::check_rest(Array array, const Slide::Rest& rest, const Contents& contents,
                             Validation& validation) const {
  // In a transfer each array is its own input.
  const Array first = operation_->is_transfer() ? array : operation_->inputs.front();
  const Array second = operation_->is_transfer() ? array : operation_->inputs.back();
  const Difference found = compare({image(array) + rest.begin, rest.size}, *operation_, contents.of(first),
                                   contents.of(second), first_number(rest.later));
  validation.items_checked += rest.later == 0 ? extent_.elements : 1;
  validation.wrong_items += found.wrong;
  worsen(validation, found.largest);
  if (found.wrong > 0)
    note(validation, fmt::format("{}[{}] of operation {} of {} is {}, should be {}; {} of {} wrong", letter(array),
                                 found.first, count_ - rest.later, count_, found.is, found.should_be, found.wrong,
                                 rest.size / extent_.element_bytes));
}

void Replication::check_dot(const Contents& contents, Validation& validation) {
  const ScalarType wide = type_ == ScalarType::f64 ? ScalarType::f64 : ScalarType::f32;
  std::vector<std::byte> bytes(buffers_.sums->size());
  queue_->read(whole(*buffers_.sums), bytes.data());
  const std::uint64_t length = length_ / extent_.element_bytes, step = slide_.step() / extent_.element_bytes;
  double should_be = dot(contents.a, contents.b, length, first_number(0));
  for (std::uint64_t later = 0; later < count_; ++later) {
    double is = 0;
    load_scalars(std::span(bytes).subspan(slide_.source(later), size_of(wide)), wide, std::span(&is, 1));
    if (later > 0)  // exact: adds the entering elements and subtracts the leaving ones
      should_be += dot(contents.a, contents.b, step, first_number(later)) -
                   dot(contents.a, contents.b, step, first_number(later) + length);
    validation.items_checked += 1;
    worsen(validation, std::abs(is - should_be));
    if (is == should_be) continue;
    validation.wrong_items += 1;
    note(validation,
         fmt::format("A.B of operation {} of {} is {}, should be {}", count_ - later, count_, is, should_be));
  }
}

}  // namespace plumb::stream
