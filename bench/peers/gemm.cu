// cuBLAS called directly: C = 0.5 A B + 2 C, one JSON line for each type.
//   nvcc -O3 -arch=native bench/peers/gemm.cu -lcublas -o gpu_gemm && ./gpu_gemm [SIZE [TYPE [SAMPLES]]]
// TYPE: float, double, tf32, half, bfloat16 or all; by default 8192, all and 10.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

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

void check(cublasStatus_t code) {
  if (code == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "cuBLAS: %s\n", cublasGetStatusString(code));
  std::exit(3);
}

template <class T>
T* random_matrix(std::size_t size, unsigned seed) {
  std::minstd_rand words(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<T> host(size * size);
  for (T& element : host) element = T(uniform(words));
  T* device = nullptr;
  check(cudaMalloc(&device, host.size() * sizeof(T)));
  check(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

// An idle GPU runs its first ten or so products of matrix units faster than later ones (an H200: by 7 %, until its
// power limit lowers the clock). Ours are measured in a continuous run.
constexpr int warm_ups = 100;

// Elements of 16 bits, summed in float. C stays bounded by beta = 0.5.
void measure_16(const std::string& type, std::size_t size, int samples, cublasHandle_t handle, cudaDataType element) {
  __half *a = nullptr, *b = nullptr, *c = nullptr;
  const auto fill = [&](unsigned seed) {
    return element == CUDA_R_16F ? random_matrix<__half>(size, seed)
                                 : reinterpret_cast<__half*>(random_matrix<__nv_bfloat16>(size, seed));
  };
  a = fill(1), b = fill(2), c = fill(3);
  const int n = static_cast<int>(size);
  const float alpha = 0.5, beta = 0.5;
  cudaEvent_t begin = nullptr, end = nullptr;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::printf("{\"peer\": \"cuBLAS\", \"case\": \"%s/%d\", \"samples_s\": [", type.c_str(), n);
  for (int sample = -warm_ups; sample < samples; ++sample) {
    check(cudaEventRecord(begin));
    check(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &alpha, b, element, n, a, element, n, &beta, c, element,
                       n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end));
    if (sample >= 0) std::printf("%s%.6e", sample > 0 ? ", " : "", 1e-3 * milliseconds);
  }
  std::printf("], \"work\": %.0f}\n", 2.0 * n * n * n);
  for (__half* matrix : {a, b, c}) check(cudaFree(matrix));
}

template <class T, class Gemm>
void measure(const std::string& type, std::size_t size, int samples, cublasHandle_t handle, Gemm gemm) {
  T *a = random_matrix<T>(size, 1), *b = random_matrix<T>(size, 2), *c = random_matrix<T>(size, 3);
  const int n = static_cast<int>(size);
  const T alpha = 0.5, beta = 2, shrink = 1.0 / 64;
  cudaEvent_t begin = nullptr, end = nullptr;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::printf("{\"peer\": \"cuBLAS\", \"case\": \"%s/%d\", \"samples_s\": [", type.c_str(), n);
  for (int sample = -warm_ups; sample < samples; ++sample) {
    check(cudaEventRecord(begin));
    check(gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &alpha, b, n, a, n, &beta, c, n));
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end));
    if (sample >= 0) std::printf("%s%.6e", sample > 0 ? ", " : "", 1e-3 * milliseconds);
    // Bounds the growth of C.
    if constexpr (sizeof(T) == 4)
      check(cublasSscal(handle, n * n, &shrink, c, 1));
    else
      check(cublasDscal(handle, n * n, &shrink, c, 1));
  }
  std::printf("], \"work\": %.0f}\n", 2.0 * n * n * n);
  for (T* matrix : {a, b, c}) check(cudaFree(matrix));
}

}  // namespace

int main(int count, char** words) {
  const std::size_t size = count > 1 ? std::strtoul(words[1], nullptr, 10) : 8192;
  const std::string wanted = count > 2 ? words[2] : "all";
  const int samples = count > 3 ? std::atoi(words[3]) : 10;
  cublasHandle_t handle = nullptr;
  check(cublasCreate(&handle));
  const auto is_wanted = [&](const char* type) { return wanted == "all" || wanted == type; };
  if (is_wanted("float")) measure<float>("float", size, samples, handle, cublasSgemm);
  if (is_wanted("double")) measure<double>("double", size, samples, handle, cublasDgemm);
  if (is_wanted("half")) measure_16("half", size, samples, handle, CUDA_R_16F);
  if (is_wanted("bfloat16")) measure_16("bfloat16", size, samples, handle, CUDA_R_16BF);
  check(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
  if (is_wanted("tf32")) measure<float>("tf32", size, samples, handle, cublasSgemm);
  check(cublasDestroy(handle));
}
