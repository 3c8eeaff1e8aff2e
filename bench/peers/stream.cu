// STREAM by hand in CUDA, and the driver's own copies between pinned host memory and the device. Prints one line of JSON for
// each form of each operation:
//   nvcc -O3 -arch=native bench/peers/stream.cu -o peer_stream_cuda && ./peer_stream_cuda [ELEMENTS [REPETITIONS]]
// of double; by default 2^27 and 20.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(code));
  std::exit(3);
}

constexpr int group = 256;

template <class T>
__global__ void triad(const T* __restrict__ b, const T* __restrict__ c, T* __restrict__ a, double j, std::size_t count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  if constexpr (sizeof(T) == sizeof(double)) {
    a[i] = b[i] + j * c[i];
  } else {
    const T x = b[i], y = c[i];
    a[i] = make_double2(x.x + j * y.x, x.y + j * y.y);
  }
}

__global__ void dot_of_groups(const double2* __restrict__ a, const double2* __restrict__ b, double* __restrict__ sums,
                              std::size_t count) {
  __shared__ double shared[group];
  double sum = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const double2 x = a[i], y = b[i];
    sum += x.x * y.x + x.y * y.y;
  }
  shared[threadIdx.x] = sum;
  for (unsigned width = group / 2; width > 0; width /= 2) {
    __syncthreads();
    if (threadIdx.x < width) shared[threadIdx.x] += shared[threadIdx.x + width];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = shared[0];
}

struct Form {
  std::string peer, operation;
  double work;  // bytes
  std::function<void()> enqueue;
};

// Several operations under one pair of events, so that a launch's own time weighs little.
std::vector<double> samples(const Form& form, int repetitions) {
  constexpr int operations = 10;
  cudaEvent_t begin = nullptr, end = nullptr;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::vector<double> seconds;
  for (int repetition = 0; repetition <= repetitions; ++repetition) {
    check(cudaEventRecord(begin));
    for (int i = 0; i < operations; ++i) form.enqueue();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    check(cudaGetLastError());
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end));
    if (repetition > 0) seconds.push_back(1e-3 * milliseconds / operations);
  }
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
  return seconds;
}

void print(const Form& form, const std::vector<double>& seconds) {
  std::printf("{\"peer\": \"%s\", \"case\": \"%s\", \"samples_s\": [", form.peer.c_str(), form.operation.c_str());
  for (std::size_t i = 0; i < seconds.size(); ++i) std::printf("%s%.6e", i > 0 ? ", " : "", seconds[i]);
  std::printf("], \"work\": %.0f}\n", form.work);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t wanted = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : std::size_t{1} << 27;
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 20;
  const std::size_t elements = wanted / 2 * 2, bytes = elements * sizeof(double);
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0));
  const int dot_groups = 8 * properties.multiProcessorCount;

  double *a = nullptr, *b = nullptr, *c = nullptr, *sums = nullptr, *host = nullptr;
  for (double** array : {&a, &b, &c}) check(cudaMalloc(array, bytes));
  check(cudaMalloc(&sums, dot_groups * sizeof(double)));
  check(cudaMallocHost(&host, bytes));
  for (std::size_t i = 0; i < elements; ++i) host[i] = 1 + static_cast<double>(i % 1021);
  for (double* array : {a, b, c}) check(cudaMemcpy(array, host, bytes, cudaMemcpyHostToDevice));

  const auto groups = [](std::size_t items) { return static_cast<unsigned>((items + group - 1) / group); };
  const double work = static_cast<double>(bytes);
  const auto pair = [](double* array) { return reinterpret_cast<double2*>(array); };
  const std::vector<Form> forms{
      {"CUDA, 8 B a thread", "triad", 3 * work,
       [&] { triad<double><<<groups(elements), group>>>(b, c, a, 3.0, elements); }},
      {"CUDA, 16 B a thread", "triad", 3 * work,
       [&] { triad<double2><<<groups(elements / 2), group>>>(pair(b), pair(c), pair(a), 3.0, elements / 2); }},
      {"CUDA, 8 groups a multiprocessor", "dot", 2 * work,
       [&] { dot_of_groups<<<dot_groups, group>>>(pair(a), pair(b), sums, elements / 2); }},
      {"cudaMemcpyAsync on the device", "copy", 2 * work,
       [&] { check(cudaMemcpyAsync(c, a, bytes, cudaMemcpyDeviceToDevice)); }},
      {"cudaMemcpyAsync from pinned memory", "write", work,
       [&] { check(cudaMemcpyAsync(a, host, bytes, cudaMemcpyHostToDevice)); }},
      {"cudaMemcpyAsync to pinned memory", "read", work,
       [&] { check(cudaMemcpyAsync(host, a, bytes, cudaMemcpyDeviceToHost)); }},
  };
  for (const Form& form : forms) print(form, samples(form, repetitions));
}
