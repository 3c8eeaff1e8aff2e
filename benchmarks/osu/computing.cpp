#include "benchmarks/osu/computing.hpp"

#include <algorithm>
#include <vector>

#include "measure/clock.hpp"

namespace plumb::osu {

// Sums that depend on each other; the compiler must not remove them.
void Computing::compute(std::uint64_t so_many) const {
  double sum = 1;
  for (std::uint64_t i = 0; i < so_many; ++i) {
    sum = sum * 1.0000001 + 1e-9;
    asm volatile("" : "+x"(sum));
  }
}

void Computing::measure() {
  if (seconds_per_turn > 0) return;
  turns = 1 << 16;
  seconds_per_turn = 1;
  for (int i = 0; i < 5; ++i) {
    const double begin = now_seconds();
    compute();
    seconds_per_turn = std::min(seconds_per_turn, (now_seconds() - begin) / static_cast<double>(turns));
  }
  turns = 0;
}

namespace {

const char* const compute_cl = R"(
__kernel void compute(__global float* restrict values, const ulong turns) {
  const size_t i = get_global_id(0);
  float sum = values[i];
  for (ulong turn = 0; turn < turns; ++turn) sum = sum * 0.999f + 0.25f;
  values[i] = sum;
}
)";

void compute_native(std::span<const KernelArgument> arguments, const KernelRange& range) {
  auto* values = reinterpret_cast<float*>(std::get<const Buffer*>(arguments[0])->host_pointer());
  const auto turns = std::get<std::uint64_t>(arguments[1]);
  for (std::size_t i = 0; i < range.global; ++i)
    for (std::uint64_t turn = 0; turn < turns; ++turn) values[i] = values[i] * 0.999F + 0.25F;
}

}  // namespace

DeviceComputing::DeviceComputing(Device& device, std::uint64_t elements)
    : queue_(device.make_queue()),
      program_(device.build({"compute.cl", compute_cl, "", {{"compute", compute_native}}})),
      kernel_(program_->kernel("compute")),
      array_(device.allocate(elements * sizeof(float), {})),
      elements_(elements) {
  const std::vector<float> ones(elements, 1);
  queue_->write(reinterpret_cast<const std::byte*>(ones.data()), whole(*array_));
  constexpr std::uint64_t many = 1 << 16;
  seconds_of(1);
  launch_ = seconds_of(0);
  per_turn_ = std::max(seconds_of(many) - launch_, 1e-9) / many;
}

// The least of several.
double DeviceComputing::seconds_of(std::uint64_t turns) {
  double least = 1;
  for (int i = 0; i < 5; ++i) {
    const double begin = now_seconds();
    kernel_->set({array_.get(), turns});
    queue_->enqueue(*kernel_, {elements_});
    queue_->finish();
    least = std::min(least, now_seconds() - begin);
  }
  return least;
}

void DeviceComputing::start(double seconds) {
  kernel_->set({array_.get(), static_cast<std::uint64_t>(std::max(seconds - launch_, 0.0) / per_turn_)});
  queue_->enqueue(*kernel_, {elements_});
}

}  // namespace plumb::osu
