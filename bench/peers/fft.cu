// cuFFT called directly: batches of complex transforms of 2^LOG2 points, out of place, one JSON line for each type.
//   nvcc -O3 -arch=native bench/peers/fft.cu -lcufft -o gpu_fft && ./gpu_fft LOG2 [TYPE [MIB [SAMPLES]]]
// TYPE: float, double or all; by default all, 4096 MiB of data and 10.
#include <cuda_runtime.h>
#include <cufft.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(code));
  std::exit(3);
}

void check(cufftResult code) {
  if (code == CUFFT_SUCCESS) return;
  std::fprintf(stderr, "cuFFT: error %d\n", code);
  std::exit(3);
}

// Random numbers in blocks: equal transforms take the same time as different ones.
template <class T>
T* random_data(std::size_t count) {
  std::minstd_rand words(1);
  std::uniform_real_distribution<T> uniform(-1, 1);
  std::vector<T> block(std::size_t{1} << 22);
  for (T& element : block) element = uniform(words);
  T* device = nullptr;
  check(cudaMalloc(&device, count * sizeof(T)));
  for (std::size_t at = 0; at < count; at += block.size())
    check(cudaMemcpy(device + at, block.data(), std::min(block.size(), count - at) * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

template <class T, class Complex, class Transform>
void measure(const char* type, int log2, std::size_t mib, int samples, cufftType kind, Transform transform) {
  const std::size_t points = std::size_t{1} << log2, batch = (mib << 20) / sizeof(Complex) / points;
  T* in = random_data<T>(2 * points * batch);
  Complex* out = nullptr;
  check(cudaMalloc(&out, points * batch * sizeof(Complex)));
  cufftHandle plan = 0;
  check(cufftPlan1d(&plan, static_cast<int>(points), kind, static_cast<int>(batch)));
  cudaEvent_t begin = nullptr, end = nullptr;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::printf("{\"peer\": \"cuFFT\", \"case\": \"%s/%d\", \"samples_s\": [", type, log2);
  for (int sample = -2; sample < samples; ++sample) {  // the first two warm up
    check(cudaEventRecord(begin));
    check(transform(plan, reinterpret_cast<Complex*>(in), out, CUFFT_FORWARD));
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end));
    if (sample >= 0) std::printf("%s%.6e", sample > 0 ? ", " : "", 1e-3 * milliseconds);
  }
  std::printf("], \"work\": %.0f}\n", 5.0 * static_cast<double>(points * batch) * log2);
  check(cufftDestroy(plan));
  check(cudaFree(in));
  check(cudaFree(out));
}

}  // namespace

int main(int count, char** words) {
  const int log2 = count > 1 ? std::atoi(words[1]) : 10;
  const std::string wanted = count > 2 ? words[2] : "all";
  const std::size_t mib = count > 3 ? std::strtoul(words[3], nullptr, 10) : 4096;
  const int samples = count > 4 ? std::atoi(words[4]) : 10;
  if (wanted != "double") measure<float, cufftComplex>("float", log2, mib, samples, CUFFT_C2C, cufftExecC2C);
  if (wanted != "float") measure<double, cufftDoubleComplex>("double", log2, mib, samples, CUFFT_Z2Z, cufftExecZ2Z);
  return 0;
}
