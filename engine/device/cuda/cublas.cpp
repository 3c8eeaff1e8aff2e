// Matrix products of runtime `cuda`: cuBLAS, loaded at run time.
#include <fmt/format.h>

#include "device/cuda/queue.hpp"
#include "device/cuda/shared_library.hpp"
#include "device/library.hpp"

namespace plumb::cuda {

namespace {

using CublasHandle = struct OpaqueCublas*;

constexpr int no_transpose = 0;
constexpr int real_16 = 2, real_bf16 = 14;  // cudaDataType
constexpr int in_float = 68;                // cublasComputeType_t
constexpr int default_algorithm = -1;       // cublasGemmAlgo_t
constexpr int tf32_math = 3;                // cublasMath_t

// The part of cublas_v2.h in use.
struct Cublas {
  int (*create)(CublasHandle*) = nullptr;
  int (*destroy)(CublasHandle) = nullptr;
  int (*set_stream)(CublasHandle, Stream) = nullptr;
  int (*set_math_mode)(CublasHandle, int) = nullptr;
  int (*version)(CublasHandle, int*) = nullptr;
  const char* (*status_text)(int) = nullptr;
  int (*sgemm)(CublasHandle, int, int, int, int, int, const float*, const float*, int, const float*, int, const float*,
               float*, int) = nullptr;
  int (*dgemm)(CublasHandle, int, int, int, int, int, const double*, const double*, int, const double*, int,
               const double*, double*, int) = nullptr;
  int (*gemm_ex)(CublasHandle, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int,
                 const void*, void*, int, int, int, int) = nullptr;
  std::string problem;

  Cublas() {
    SharedLibrary library({"libcublas.so.13", "libcublas.so.12", "libcublas.so"});
    const bool found = library.find(create, "cublasCreate_v2") && library.find(destroy, "cublasDestroy_v2") &&
                       library.find(set_stream, "cublasSetStream_v2") && library.find(version, "cublasGetVersion_v2") &&
                       library.find(status_text, "cublasGetStatusString") && library.find(sgemm, "cublasSgemm_v2") &&
                       library.find(dgemm, "cublasDgemm_v2") && library.find(gemm_ex, "cublasGemmEx") &&
                       library.find(set_math_mode, "cublasSetMathMode");
    if (!found)
      problem = fmt::format(
          "cuBLAS could not be loaded ({}): install CUDA's libraries or name their folder in "
          "LD_LIBRARY_PATH or CUDA_HOME",
          library.problem());
  }
};

const Cublas& cublas() {
  static const Cublas once;
  return once;
}

void check_cublas(int code, const char* action) {
  if (code != 0) throw Error(library_sentence(action, "cuBLAS", code, cublas().status_text(code), ""));
}

// cuBLAS is column-major: the row-major product C = A B is computed as C' = B' A'.
class CublasGemm final : public GemmLibrary {
 public:
  CublasGemm(CudaQueue& queue, const GemmShape& shape) : shape_(shape) {
    if (!cublas().problem.empty()) throw Unsupported(cublas().problem);
    if (std::max({shape.rows, shape.columns, shape.inner}) > 0x7fffffff)
      throw Unsupported("cuBLAS is limited to 2^31 - 1 rows and columns");
    check_cublas(cublas().create(&handle_), "start cuBLAS");
    check_cublas(cublas().set_stream(handle_, queue.stream()), "set cuBLAS's stream");
    if (shape.tf32) check_cublas(cublas().set_math_mode(handle_, tf32_math), "set cuBLAS's math mode to tf32");
  }
  ~CublasGemm() override { cublas().destroy(handle_); }
  CublasGemm(const CublasGemm&) = delete;
  CublasGemm& operator=(const CublasGemm&) = delete;

  std::string name() const override {
    int version = 0;
    check_cublas(cublas().version(handle_, &version), "query cuBLAS's version");
    return fmt::format("cuBLAS {}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
  }

  void enqueue(Queue& queue, const BufferView& a, const BufferView& b, const BufferView& c) override {
    dynamic_cast<CudaQueue&>(queue).enqueue_foreign([&] {
      check_cublas(multiply(own(a).device_address() + a.offset, own(b).device_address() + b.offset,
                            own(c).device_address() + c.offset),
                   "multiply matrices");
    });
  }

 private:
  int multiply(Address a, Address b, Address c) const {
    if (shape_.type == ScalarType::f64) return plain(cublas().dgemm, a, b, c);
    if (shape_.type == ScalarType::f32) return plain(cublas().sgemm, a, b, c);
    const auto alpha = static_cast<float>(shape_.alpha), beta = static_cast<float>(shape_.beta);
    const int type = shape_.type == ScalarType::f16 ? real_16 : real_bf16;
    return cublas().gemm_ex(handle_, no_transpose, no_transpose, columns(), rows(), inner(), &alpha, b, type, columns(),
                            a, type, inner(), &beta, c, type, columns(), in_float, default_algorithm);
  }

  template <class T>
  int plain(int (*gemm)(CublasHandle, int, int, int, int, int, const T*, const T*, int, const T*, int, const T*, T*,
                        int),
            Address a, Address b, Address c) const {
    const auto alpha = static_cast<T>(shape_.alpha), beta = static_cast<T>(shape_.beta);
    return gemm(handle_, no_transpose, no_transpose, columns(), rows(), inner(), &alpha, reinterpret_cast<const T*>(b),
                columns(), reinterpret_cast<const T*>(a), inner(), &beta, reinterpret_cast<T*>(c), columns());
  }

  int rows() const { return static_cast<int>(shape_.rows); }
  int columns() const { return static_cast<int>(shape_.columns); }
  int inner() const { return static_cast<int>(shape_.inner); }

  GemmShape shape_;
  CublasHandle handle_ = nullptr;
};

const Registered<GemmLibraryMaker> registered_cuda_gemm_library("cuda", [](Device&, Queue& queue,
                                                                           const GemmShape& shape) {
  return std::make_unique<CublasGemm>(dynamic_cast<CudaQueue&>(queue), shape);
});

}  // namespace

}  // namespace plumb::cuda
