#include "benchmarks/hpcc/hpl/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/embedded.hpp"

namespace plumb::hpl {

namespace {

constexpr std::size_t smallest_block = 256;  // for compilation, so that most sizes share a program
constexpr std::size_t most_loop_groups = 2048, items_of_strip = 8;

std::size_t group_on(const DeviceInfo& device) {
  std::size_t group = 256;
  while (group > device.largest_group && group > 32) group /= 2;
  return group;
}

}  // namespace

std::string kernel_options(ScalarType type, std::size_t group, std::size_t block) {
  return fmt::format("-DNUMBER={} -DGROUP={} -DNARROW={} -DHELD={} -DBLOCK={}", to_string(type), group, narrow_columns,
                     held_rows, std::max(std::bit_ceil(block), smallest_block));
}

Kernels::Kernels(Session& session, ScalarType type, std::size_t block) : group_(group_on(session.device.info())) {
  const std::string file = "benchmarks/hpcc/hpl/device.cl";
  KernelSource source{file, embedded_text(file)};
  source.options = kernel_options(type, group_, block);
  program_ = session.device.build(session.source(source));
}

void Kernels::start(Queue& queue, const std::string& name, const std::vector<KernelArgument>& arguments,
                    std::size_t groups) {
  if (groups > 0) queue.enqueue(kernel(name, arguments), {groups * group_, group_});
}

void Kernels::start_alone(Queue& queue, const std::string& name, const std::vector<KernelArgument>& arguments) {
  queue.enqueue(kernel(name, arguments), {1, 1});
}

Kernel& Kernels::kernel(const std::string& name, const std::vector<KernelArgument>& arguments) {
  auto& found = kernels_[name];
  if (!found) found = program_->kernel(name);
  found->set(arguments);
  return *found;
}

void Kernels::copy_block(Queue& queue, const MatrixPart& from, const MatrixPart& to, std::size_t rows,
                         std::size_t columns) {
  const std::size_t strips = strips_of(columns);
  start(queue, "copy_block",
        {from.buffer, std::uint64_t{from.offset}, std::uint64_t{from.pitch}, to.buffer, std::uint64_t{to.offset},
         std::uint64_t{to.pitch}, std::uint64_t{columns}, static_cast<std::uint32_t>(strips)},
        rows * strips);
}

std::size_t Kernels::groups_of_loop(std::size_t items) const {
  return std::min(groups_of(items), most_loop_groups);
}

std::size_t Kernels::strips_of(std::size_t columns) const {
  return std::max<std::size_t>(1, columns / (items_of_strip * group_));
}

}  // namespace plumb::hpl
