// The peer of gemm on CPUs: OpenBLAS's product, C = 0.5 A B + 2 C, with as many threads as cores.
//
//   peer_gemm [SIZE [TYPE [SAMPLES]]]     4096; float or double; 10
#include <cblas.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class T>
std::vector<T> random_matrix(std::size_t size, unsigned seed) {
  std::minstd_rand words(seed);
  std::uniform_real_distribution<T> uniform(-1, 1);
  std::vector<T> matrix(size * size);
  for (T& element : matrix) element = uniform(words);
  return matrix;
}

template <class T, class Gemm>
void measure(const std::string& type, std::size_t size, int samples, Gemm gemm) {
  const std::vector<T> a = random_matrix<T>(size, 1), b = random_matrix<T>(size, 2);
  std::vector<T> c = random_matrix<T>(size, 3);
  const auto n = static_cast<blasint>(size);
  std::vector<double> seconds;
  for (int sample = -1; sample < samples; ++sample) {  // the first warms up
    const double begin = now();
    gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, T{0.5}, a.data(), n, b.data(), n, T{2}, c.data(), n);
    if (sample >= 0) seconds.push_back(now() - begin);
    for (T& element : c) element /= 64;  // bounds its growth
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const double work = 2.0 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
  fmt::print("{{\"peer\": \"{}\", \"case\": \"{}/{}\", \"samples_s\": [{:.9f}], \"work\": {:.0f}}}\n",
             fmt::format("OpenBLAS {} ({})", std::string(openblas_get_config()).substr(9, 6), openblas_get_corename()),
             type, size, fmt::join(seconds, ", "), work);
}

}  // namespace

int main(int count, char** words) {
  const std::size_t size = count > 1 ? std::strtoul(words[1], nullptr, 10) : 4096;
  const std::string type = count > 2 ? words[2] : "float";
  const int samples = count > 3 ? std::atoi(words[3]) : 10;
  if (type == "double")
    measure<double>(type, size, samples, cblas_dgemm);
  else
    measure<float>(type, size, samples, cblas_sgemm);
}
