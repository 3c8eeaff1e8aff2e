// Matrix products and triangular solves of runtime `native`: OpenBLAS, one thread per core of the process.
#include "device/native/openblas.hpp"

#include <cblas.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "device/host_share.hpp"
#include "device/host_simd.hpp"
#include "device/library.hpp"

namespace plumb {

std::string openblas_name() {
  const std::string config = openblas_get_config();  // "OpenBLAS 0.3.21 DYNAMIC_ARCH …"
  return fmt::format("{} ({})", config.substr(0, config.find(' ', config.find(' ') + 1)), openblas_get_corename());
}

void choose_openblas_kernels(char** argv) {
  constexpr const char* variable = "OPENBLAS_CORETYPE";
  const std::size_t vector_bytes = host_vector_bytes();
  if (std::getenv(variable) != nullptr || vector_bytes <= 16) return;
  if (std::string_view(openblas_get_corename()) != "Prescott") return;
  setenv(variable, vector_bytes == 64 ? "SkylakeX" : "Haswell", 1);
  std::error_code none;
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe", none);  // keeps the process' name
  execv(program.c_str(), argv);                               // without /proc: slower products, which the record shows
  unsetenv(variable);
}

namespace {

class OpenblasGemm final : public GemmLibrary {
 public:
  explicit OpenblasGemm(const GemmShape& shape) : shape_(shape) {
    if (shape.type == ScalarType::f16) throw Unsupported("OpenBLAS does not support products of half");
    if (shape.tf32) throw Unsupported("OpenBLAS does not support tf32");
    openblas_set_num_threads(static_cast<int>(host_share().cores));
  }

  std::string name() const override { return openblas_name(); }

  void enqueue(Queue& queue, const BufferView& a, const BufferView& b, const BufferView& c) override {
    queue.finish();  // commands of this runtime are complete on return
    shape_.type == ScalarType::f32 ? multiply<float>(cblas_sgemm, a, b, c) : multiply<double>(cblas_dgemm, a, b, c);
  }

 private:
  template <class T, class Gemm>
  void multiply(Gemm gemm, const BufferView& a, const BufferView& b, const BufferView& c) const {
    const auto at = [](const BufferView& view) { return reinterpret_cast<T*>(view.host_pointer()); };
    const auto rows = static_cast<blasint>(shape_.rows), columns = static_cast<blasint>(shape_.columns),
               inner = static_cast<blasint>(shape_.inner);
    gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, inner, static_cast<T>(shape_.alpha), at(a), inner,
         at(b), columns, static_cast<T>(shape_.beta), at(c), columns);
  }

  GemmShape shape_;
};

template <class T>
class OpenblasFactor final : public FactorLibrary {
 public:
  OpenblasFactor() { openblas_set_num_threads(static_cast<int>(host_share().cores)); }
  std::string name() const override { return openblas_name(); }

  void subtract_product(Queue&, std::size_t rows, std::size_t columns, std::size_t inner, const MatrixPart& a,
                        const MatrixPart& b, const MatrixPart& c) override {
    const auto m = static_cast<blasint>(rows), n = static_cast<blasint>(columns), k = static_cast<blasint>(inner);
    if constexpr (sizeof(T) == sizeof(float))
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, -1, at(a), pitch(a), at(b), pitch(b), 1, at(c),
                  pitch(c));
    else
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, -1, at(a), pitch(a), at(b), pitch(b), 1, at(c),
                  pitch(c));
  }
  void solve_unit_lower(Queue&, std::size_t rows, std::size_t columns, const MatrixPart& l,
                        const MatrixPart& b) override {
    const auto m = static_cast<blasint>(rows), n = static_cast<blasint>(columns);
    if constexpr (sizeof(T) == sizeof(float))
      cblas_strsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, m, n, 1, at(l), pitch(l), at(b),
                  pitch(b));
    else
      cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, m, n, 1, at(l), pitch(l), at(b),
                  pitch(b));
  }

 private:
  static T* at(const MatrixPart& part) { return reinterpret_cast<T*>(part.buffer->host_pointer()) + part.offset; }
  static blasint pitch(const MatrixPart& part) { return static_cast<blasint>(part.pitch); }
};

const Registered<GemmLibraryMaker> registered_native_gemm_library("native",
                                                                  [](Device&, Queue&, const GemmShape& shape) {
                                                                    return std::make_unique<OpenblasGemm>(shape);
                                                                  });

const Registered<FactorLibraryMaker> registered_native_factor_library(
    "native", [](Device&, Queue&, ScalarType type) -> std::unique_ptr<FactorLibrary> {
      if (type == ScalarType::f32) return std::make_unique<OpenblasFactor<float>>();
      if (type == ScalarType::f64) return std::make_unique<OpenblasFactor<double>>();
      throw Unsupported(fmt::format("OpenBLAS does not support factorisation in {}", to_string(type)));
    });

}  // namespace

}  // namespace plumb
