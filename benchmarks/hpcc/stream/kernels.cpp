#include "benchmarks/hpcc/stream/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/embedded.hpp"

namespace plumb::stream {

using hpcc::Variant;

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// HPCC FPGA's kernels come once for each memory bank, by number; ours serves every replication.
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

// The scalar, as kernels take it: float for half.
KernelArgument wide(ScalarType type, double value) {
  if (type == ScalarType::f64) return value;
  return static_cast<float>(value);
}

std::vector<KernelArgument> arrays_of(const Operation& operation, const Buffers& buffers) {
  std::vector<KernelArgument> arguments;
  for (const Array array : operation.inputs) arguments.emplace_back(&buffers.of(array));
  for (const Array array : operation.outputs) arguments.emplace_back(&buffers.of(array));
  return arguments;
}

std::vector<Launch> many_items(Program& program, const Form& form, const Operation& operation, const Buffers& buffers,
                               std::uint64_t vectors) {
  const bool is_dot = operation.kind == Operation::Kind::dot;
  const std::uint64_t wanted = is_dot ? form.dot_groups : form.groups;
  const std::uint64_t most = (vectors + form.group_size - 1) / form.group_size;
  const std::uint64_t groups = wanted == 0 ? most : std::min(most, wanted);
  const auto launch = [&](const char* name, const std::vector<KernelArgument>& arguments, std::uint64_t of) {
    Launch made{program.kernel(name), {of * form.group_size, form.group_size}};
    made.kernel->set(arguments);
    return made;
  };
  std::vector<KernelArgument> arguments = arrays_of(operation, buffers);
  std::vector<Launch> list;
  if (is_dot) {
    arguments.emplace_back(buffers.sums.get());
    arguments.emplace_back(vectors);
    list.push_back(launch("dot_of_groups", arguments, groups));
    list.push_back(launch("dot_of_all", {buffers.sums.get(), groups}, 1));
    return list;
  }
  if (operation.takes_scalar) arguments.emplace_back(wide(form.type, scalar));
  arguments.emplace_back(vectors);
  list.push_back(launch(operation.name.c_str(), arguments, groups));
  return list;
}

std::vector<Launch> one_item(Program& program, const Form& form, const Operation& operation, const Buffers& buffers,
                             std::uint64_t vectors, std::uint64_t replication, std::uint64_t replications) {
  const auto length = static_cast<std::uint32_t>(vectors * form.vector);
  const bool is_dot = operation.kind == Operation::Kind::dot;
  Launch launch{program.kernel(name_in(program, is_dot ? "calc_dot" : "calc", replication, replications)), {1, 1}};
  if (is_dot) {
    launch.kernel->set({&buffers.of(Array::a), &buffers.of(Array::b), buffers.sums.get(), length});
  } else {
    // calc computes scalar * in1 + in2, and Triad's first input is the one that is added.
    std::vector<Array> inputs = operation.inputs;
    std::reverse(inputs.begin(), inputs.end());
    static const std::array<const char*, 4> types{"copy", "scale", "add", "triad"};
    const auto type = std::find(types.begin(), types.end(), operation.name) - types.begin();
    launch.kernel->set({&buffers.of(inputs.front()), &buffers.of(inputs.back()), &buffers.of(operation.outputs.front()),
                        wide(form.type, operation.takes_scalar ? scalar : 1), length,
                        static_cast<std::uint32_t>(type)});
  }
  std::vector<Launch> list;
  list.push_back(std::move(launch));
  return list;
}

}  // namespace

KernelSource source_of(const Form& form) {
  const bool one = form.variant == Variant::single_work_item;
  const std::string wide_type = form.type == ScalarType::f64 ? "double" : "float";
  KernelSource source;
  source.name = one ? "benchmarks/hpcc/stream/single_work_item.cl" : "benchmarks/hpcc/stream/nd_range.cl";
  source.opencl = embedded_text(source.name);
  source.options =
      fmt::format("-DDATA_TYPE={} -DWIDE_TYPE={} -DVECTOR_COUNT={}", to_string(form.type), wide_type, form.vector);
  if (one)
    source.options += fmt::format(" -DDEVICE_BUFFER_SIZE={} -DGLOBAL_MEM_UNROLL={}", form.local_buffer, form.unroll);
  else
    source.options += fmt::format(" -DGROUP_SIZE={} -DOWN_RUNS={}", form.group_size, form.own_runs ? 1 : 0);
  if (!one) source.native = native_kernels(form.type);
  return source;
}

std::vector<Launch> launches(Program& program, const Form& form, const Operation& operation, const Buffers& buffers,
                             std::uint64_t vectors, std::uint64_t replication, std::uint64_t replications) {
  if (form.variant == Variant::single_work_item)
    return one_item(program, form, operation, buffers, vectors, replication, replications);
  return many_items(program, form, operation, buffers, vectors);
}

}  // namespace plumb::stream
