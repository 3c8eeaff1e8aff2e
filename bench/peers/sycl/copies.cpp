// What Intel's CPU driver allows at best: two copies from device memory to the host and one wait, as an exchange with
// two neighbours has them, by each way there is (bench/sycl.py copies, which compiles this like calls.cpp). Prints the
// microseconds of the best sample: {"4096": {"objects": 8.0, ...}, ...}
//   objects    clEnqueueReadBuffer of memory objects, but not from their start: runtime `opencl`
//   from-start the same, of which one is from the object's start: the driver takes another way
//   addresses  clEnqueueMemcpyINTEL of malloc_device's memory, by plain OpenCL
//   memcpy     queue::memcpy of the same
//   kernels    a kernel of one work item by SYCL for each; from 256 KiB on it writes past the caches
//   kernel     one for both, as the plug-in has it
//   sycl_copies [SECONDS]    of each, by default 0.1
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sycl/sycl.hpp>
#include <vector>

namespace {

const char* const copying = R"(
struct Copies { ulong from[2], to[2], bytes; uint count; };
__attribute__((reqd_work_group_size(1, 1, 1))) kernel void copy(const struct Copies its) {
  for (uint k = 0; k < its.count; ++k) {
    global const uchar* restrict from = (global const uchar*)its.from[k];
    global uchar* restrict to = (global uchar*)its.to[k];
    ulong i = 0;
    if (its.bytes >= 262144)  // both are aligned
      for (; i < its.bytes; i += sizeof(ulong8))
        __builtin_nontemporal_store(*(global const ulong8*)(from + i), (global ulong8*)(to + i));
    for (; i < its.bytes; ++i) to[i] = from[i];
  }
})";
struct Copies {
  std::uint64_t from[2], to[2], bytes;
  std::uint32_t count;
};
constexpr std::size_t most = 16 << 20, apart = 64;

using Memcpy = cl_int (*)(cl_command_queue, cl_bool, void*, const void*, std::size_t, cl_uint, const cl_event*,
                          cl_event*);

void check(cl_int code) {
  if (code != CL_SUCCESS) std::abort();
}

struct Bench {
  sycl::queue queue{sycl::property::queue::in_order()};
  cl_context context = sycl::get_native<sycl::backend::opencl>(queue.get_context());
  cl_device_id device = sycl::get_native<sycl::backend::opencl>(queue.get_device());
  cl_command_queue plain = clCreateCommandQueueWithProperties(context, device, nullptr, nullptr);
  cl_mem object = clCreateBuffer(context, CL_MEM_READ_WRITE, 2 * most + apart, nullptr, nullptr);
  char* from = sycl::aligned_alloc_device<char>(4096, 2 * most, queue);
  char* to = sycl::aligned_alloc_host<char>(4096, 2 * most, queue);
  sycl::kernel kernel = make_kernel();
  Memcpy copy_addresses = find_memcpy();

  sycl::kernel make_kernel() const {
    const cl_program program =
        clCreateProgramWithSource(context, 1, const_cast<const char**>(&copying), nullptr, nullptr);
    check(clBuildProgram(program, 1, &device, "", nullptr, nullptr));
    return sycl::make_kernel<sycl::backend::opencl>(clCreateKernel(program, "copy", nullptr), queue.get_context());
  }

  Memcpy find_memcpy() const {
    cl_platform_id platform = nullptr;
    check(clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr));
    return reinterpret_cast<Memcpy>(clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueMemcpyINTEL"));
  }

  template <class Read>
  void by_opencl(Read read) {
    cl_event events[2];
    for (const std::size_t half : {0, 1}) check(read(half * most, &events[half]));
    check(clWaitForEvents(2, events));
    for (cl_event event : events) clReleaseEvent(event);
  }

  template <class Read>
  void by_sycl(Read read) {
    read(0);
    read(most).wait();
  }

  sycl::event launch(std::size_t at, std::size_t bytes, std::uint32_t count) {
    Copies its{{}, {}, bytes, count};
    for (std::uint32_t k = 0; k < count; ++k, at += most) {
      its.from[k] = reinterpret_cast<std::uint64_t>(from + at);
      its.to[k] = reinterpret_cast<std::uint64_t>(to + at);
    }
    return queue.submit([&](sycl::handler& handler) {
      handler.set_arg(0, its);
      handler.parallel_for(sycl::nd_range<1>(1, 1), kernel);
    });
  }
};

template <class Call>
double microseconds(double seconds, Call call) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int i = 0; i < 5; ++i) call();
  for (const auto begin = Clock::now(); std::chrono::duration<double>(Clock::now() - begin).count() < seconds;) {
    const auto start = Clock::now();
    for (int i = 0; i < 10; ++i) call();
    best = std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - start).count() / 10);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.1;
  Bench its;
  its.queue.memset(its.from, 1, 2 * most).wait();
  const unsigned char one = 1;
  check(clEnqueueFillBuffer(its.plain, its.object, &one, 1, 0, 2 * most + apart, 0, nullptr, nullptr));
  check(clFinish(its.plain));
  std::string all;
  for (std::size_t bytes = 8; bytes <= most; bytes *= bytes < 512 ? 64 : 8) {
    const auto of_object = [&](std::size_t begin) {
      return microseconds(seconds, [&] {
        its.by_opencl([&](std::size_t at, cl_event* event) {
          return clEnqueueReadBuffer(its.plain, its.object, CL_FALSE, begin + at, bytes, its.to + at, 0, nullptr,
                                     event);
        });
      });
    };
    const double objects = of_object(apart), from_start = of_object(0);
    const double addresses = microseconds(seconds, [&] {
      its.by_opencl([&](std::size_t at, cl_event* event) {
        return its.copy_addresses(its.plain, CL_FALSE, its.to + at, its.from + at, bytes, 0, nullptr, event);
      });
    });
    const double memcpy = microseconds(seconds, [&] {
      its.by_sycl([&](std::size_t at) { return its.queue.memcpy(its.to + at, its.from + at, bytes); });
    });
    const double kernels =
        microseconds(seconds, [&] { its.by_sycl([&](std::size_t at) { return its.launch(at, bytes, 1); }); });
    const double kernel = microseconds(seconds, [&] { its.launch(0, bytes, 2).wait(); });
    char line[200];
    std::snprintf(line, sizeof line,
                  "\"%zu\": {\"objects\": %.3f, \"from-start\": %.3f, \"addresses\": %.3f, \"memcpy\": %.3f, "
                  "\"kernels\": %.3f, \"kernel\": %.3f}",
                  bytes, objects, from_start, addresses, memcpy, kernels, kernel);
    all += (all.empty() ? "" : ", ") + std::string(line);
  }
  std::printf("{%s}\n", all.c_str());
}
