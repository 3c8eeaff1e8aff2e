// Launches the placeholder of a bitstream, a number of times in each of two runs with a buffer transferred between them
// (OMB-FPGA, section 3.1.2): the arguments are the bitstream, the kernel and the launches. Prints what it counted after
// each run; fails if the buffer was changed.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

namespace {

void check(cl_int error, const char* what) {
  if (error == CL_SUCCESS) return;
  std::cerr << what << ": " << error << '\n';
  std::exit(3);
}

}  // namespace

int main(int, char** words) {
  std::ifstream file(words[1], std::ios::binary);
  const std::vector<char> bitstream{std::istreambuf_iterator<char>(file), {}};
  const int launches = std::atoi(words[3]);
  cl_platform_id platform;
  check(clGetPlatformIDs(1, &platform, nullptr), "platforms");
  cl_device_id device;
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ACCELERATOR, 1, &device, nullptr), "devices");
  cl_int error;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
  check(error, "context");
  const std::size_t size = bitstream.size();
  const auto* bytes = reinterpret_cast<const unsigned char*>(bitstream.data());
  cl_program program = clCreateProgramWithBinary(context, 1, &device, &size, &bytes, nullptr, &error);
  check(error, "program");
  check(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "build");
  cl_kernel kernel = clCreateKernel(program, words[2], &error);
  check(error, "kernel");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
  check(error, "queue");
  std::vector<unsigned char> sent(1000), received(sent.size());
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sent.size(), nullptr, &error);
  check(error, "buffer");
  cl_uint counted = 7;
  cl_mem counter = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof counted, nullptr, &error);
  check(error, "counter");
  check(clEnqueueWriteBuffer(queue, counter, CL_TRUE, 0, sizeof counted, &counted, 0, nullptr, nullptr), "write");
  check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "argument");
  check(clSetKernelArg(kernel, 1, sizeof counter, &counter), "argument");
  for (unsigned run = 0; run < 2; ++run) {
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<unsigned char>(7 * i + 13 * run + 1);
    check(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sent.size(), sent.data(), 0, nullptr, nullptr), "write");
    const std::size_t one = 1;
    for (int i = 0; i < launches; ++i)
      check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, &one, 0, nullptr, nullptr), "launch");
    check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sent.size(), received.data(), 0, nullptr, nullptr), "read");
    check(clEnqueueReadBuffer(queue, counter, CL_TRUE, 0, sizeof counted, &counted, 0, nullptr, nullptr), "read");
    if (sent != received) return 1;
    std::cout << counted - 7 << '\n';
  }
}
