// A launch and copies of 8 B by bare SYCL calls, each awaited: what runtime `sycl` is measured beside (bench/sycl.py,
// which compiles this with g++ against the wheel of `plumb setup intel-sycl`). A kernel of one work item counts, from
// OpenCL C by interoperability. Copies go from place to place, over memory that the host has written since the last
// sample, as the engine's do, which proves each (measure/slide.hpp); "still": the same 8 bytes again and again. Prints
// the microseconds of one call, of the best sample: {"launch": 3.1, "read": ...}
//   sycl_calls [SECONDS]    of each, by default 0.5
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sycl/sycl.hpp>
#include <vector>

namespace {

const char* const counting = "kernel void count(global ulong* at) { at[0] += 1; }";
constexpr int calls = 250;  // of a sample
constexpr std::size_t page = 4096;

sycl::kernel make_kernel(const sycl::queue& queue) {
  const sycl::context of = queue.get_context();
  const cl_context context = sycl::get_native<sycl::backend::opencl>(of);
  const cl_device_id device = sycl::get_native<sycl::backend::opencl>(queue.get_device());
  const cl_program program =
      clCreateProgramWithSource(context, 1, const_cast<const char**>(&counting), nullptr, nullptr);
  if (clBuildProgram(program, 1, &device, "", nullptr, nullptr) != CL_SUCCESS) std::abort();
  return sycl::make_kernel<sycl::backend::opencl>(clCreateKernel(program, "count", nullptr), of);
}

// reset() before each sample, call(number).
template <class Reset, class Call>
double microseconds(double seconds, Reset reset, Call call) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> samples;
  for (int i = 0; i < calls; ++i) call(i);
  for (const auto begin = Clock::now(); std::chrono::duration<double>(Clock::now() - begin).count() < seconds;) {
    reset();
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) call(i);
    samples.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count() / calls);
  }
  return *std::min_element(samples.begin(), samples.end());
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.5;
  sycl::queue queue{sycl::property::queue::in_order()};
  const sycl::kernel kernel = make_kernel(queue);
  const std::size_t step = queue.get_device().get_info<sycl::info::device::mem_base_addr_align>() / 8;
  const std::size_t room = 2 * calls * step;  // a source advances by one step, its target by two
  auto* const device = sycl::aligned_alloc_device<char>(page, room, queue);
  auto* const host = sycl::aligned_alloc_host<char>(page, room, queue);
  std::memset(host, 0, room);
  queue.memcpy(device, host, room).wait_and_throw();
  const auto nothing = [] {};
  const double launch = microseconds(seconds, nothing, [&](int) {
    queue
        .submit([&](sycl::handler& handler) {
          handler.set_arg(0, static_cast<void*>(device));
          handler.parallel_for(sycl::nd_range<1>(1, 1), kernel);
        })
        .wait_and_throw();
  });
  const auto copy = [&](char* to, const char* from) { queue.memcpy(to, from, 8).wait_and_throw(); };
  const double still = microseconds(seconds, nothing, [&](int) { copy(host, device); });
  unsigned long counted = 0;
  std::memcpy(&counted, host, sizeof counted);
  const double read = microseconds(
      seconds, [&] { std::memset(host, 1, room); }, [&](int i) { copy(host + 2 * i * step, device + i * step); });
  const double write = microseconds(
      seconds,
      [&] {
        std::memset(host, 2, room);
        queue.memcpy(device, host, room).wait_and_throw();
      },
      [&](int i) { copy(device + 2 * i * step, host + i * step); });
  if (counted < calls) return 1;
  std::printf("{\"launch\": %.4f, \"read\": %.4f, \"write\": %.4f, \"still\": %.4f}\n", launch, read, write, still);
  sycl::free(device, queue);
  sycl::free(host, queue);
}
