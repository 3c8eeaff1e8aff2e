// A launch and copies of 8 B by bare SYCL calls, each awaited: what runtime `sycl` is measured beside (bench/sycl.py,
// which compiles this with g++ against the wheel of `plumb setup intel-sycl`). A kernel of one work item counts, from
// OpenCL C by interoperability. Prints the microseconds of one call, of the best sample: {"launch": 3.1, "read":
// ...}
//   sycl_calls [SECONDS]    of each, by default 0.5
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sycl/sycl.hpp>
#include <vector>

namespace {

const char* const counting = "kernel void count(global ulong* at) { at[0] += 1; }";
constexpr int calls = 100;  // of a sample

sycl::kernel make_kernel(const sycl::queue& queue) {
  const sycl::context of = queue.get_context();
  const cl_context context = sycl::get_native<sycl::backend::opencl>(of);
  const cl_device_id device = sycl::get_native<sycl::backend::opencl>(queue.get_device());
  const cl_program program =
      clCreateProgramWithSource(context, 1, const_cast<const char**>(&counting), nullptr, nullptr);
  if (clBuildProgram(program, 1, &device, "", nullptr, nullptr) != CL_SUCCESS) std::abort();
  return sycl::make_kernel<sycl::backend::opencl>(clCreateKernel(program, "count", nullptr), of);
}

template <class Call>
double microseconds(double seconds, Call call) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> samples;
  for (int i = 0; i < calls; ++i) call();
  for (const auto begin = Clock::now(); std::chrono::duration<double>(Clock::now() - begin).count() < seconds;) {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) call();
    samples.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count() / calls);
  }
  return *std::min_element(samples.begin(), samples.end());
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.5;
  sycl::queue queue{sycl::property::queue::in_order()};
  const sycl::kernel kernel = make_kernel(queue);
  auto* const device = sycl::malloc_device<unsigned long>(1, queue);
  auto* const host = sycl::malloc_host<unsigned long>(1, queue);
  *host = 0;
  queue.memcpy(device, host, sizeof *host).wait_and_throw();
  const double launch = microseconds(seconds, [&] {
    queue
        .submit([&](sycl::handler& handler) {
          handler.set_arg(0, device);
          handler.parallel_for(sycl::nd_range<1>(1, 1), kernel);
        })
        .wait_and_throw();
  });
  const double read = microseconds(seconds, [&] { queue.memcpy(host, device, sizeof *host).wait_and_throw(); });
  const double write = microseconds(seconds, [&] { queue.memcpy(device, host, sizeof *host).wait_and_throw(); });
  if (*host < calls) return 1;
  std::printf("{\"launch\": %.4f, \"read\": %.4f, \"write\": %.4f}\n", launch, read, write);
  sycl::free(device, queue);
  sycl::free(host, queue);
}
