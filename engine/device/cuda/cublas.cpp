// Matrix products of runtime `cuda`: cuBLAS, loaded at run time.
#include <fmt/format.h>

#include <map>

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
  int (*strsm)(CublasHandle, int, int, int, int, int, int, const float*, const float*, int, float*, int) = nullptr;
  int (*dtrsm)(CublasHandle, int, int, int, int, int, int, const double*, const double*, int, double*, int) = nullptr;
  std::string problem;

  Cublas() {
    SharedLibrary library({"libcublas.so.13", "libcublas.so.12", "libcublas.so"});
    const bool found = library.find(create, "cublasCreate_v2") && library.find(destroy, "cublasDestroy_v2") &&
                       library.find(set_stream, "cublasSetStream_v2") && library.find(version, "cublasGetVersion_v2") &&
                       library.find(status_text, "cublasGetStatusString") && library.find(sgemm, "cublasSgemm_v2") &&
                       library.find(dgemm, "cublasDgemm_v2") && library.find(gemm_ex, "cublasGemmEx") &&
                       library.find(set_math_mode, "cublasSetMathMode") && library.find(strsm, "cublasStrsm_v2") &&
                       library.find(dtrsm, "cublasDtrsm_v2");
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

std::string cublas_name(CublasHandle handle) {
  int version = 0;
  check_cublas(cublas().version(handle, &version), "query cuBLAS's version");
  return fmt::format("cuBLAS {}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
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

  std::string name() const override { return cublas_name(handle_); }

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

// A handle for each queue: a handle has one stream, and memory that calls on several streams must not share.
class CublasHandles {
 public:
  CublasHandles() = default;
  ~CublasHandles() {
    for (const auto& [stream, handle] : handles_) cublas().destroy(handle);
  }
  CublasHandles(const CublasHandles&) = delete;
  CublasHandles& operator=(const CublasHandles&) = delete;

  CublasHandle of(const CudaQueue& queue) {
    CublasHandle& handle = handles_[queue.stream()];
    if (handle == nullptr) {
      check_cublas(cublas().create(&handle), "start cuBLAS");
      check_cublas(cublas().set_stream(handle, queue.stream()), "give cuBLAS its queue");
    }
    return handle;
  }

 private:
  std::map<Stream, CublasHandle> handles_;
};

// By columns, a row-wise B = L^-1 B is B' = B' U^-1 with U = L', from the right.
template <class T>
class CublasFactor final : public FactorLibrary {
 public:
  explicit CublasFactor(const CudaQueue& queue) {
    if (!cublas().problem.empty()) throw Unsupported(cublas().problem);
    name_ = cublas_name(handles_.of(queue));
  }
  std::string name() const override { return name_; }

  void subtract_product(Queue& queue, std::size_t rows, std::size_t columns, std::size_t inner, const MatrixPart& a,
                        const MatrixPart& b, const MatrixPart& c) override {
    const T minus = -1, one = 1;
    auto& own_queue = dynamic_cast<CudaQueue&>(queue);
    own_queue.enqueue_foreign([&] {
      const auto call = [&](auto gemm) {
        return gemm(handles_.of(own_queue), no_transpose, no_transpose, count(columns), count(rows), count(inner),
                    &minus, at(b), count(b.pitch), at(a), count(a.pitch), &one, at(c), count(c.pitch));
      };
      if constexpr (sizeof(T) == sizeof(float))
        check_cublas(call(cublas().sgemm), "multiply matrices");
      else
        check_cublas(call(cublas().dgemm), "multiply matrices");
    });
  }
  void solve_unit_lower(Queue& queue, std::size_t rows, std::size_t columns, const MatrixPart& l,
                        const MatrixPart& b) override {
    const T one = 1;
    auto& own_queue = dynamic_cast<CudaQueue&>(queue);
    own_queue.enqueue_foreign([&] {
      const auto call = [&](auto trsm) {
        return trsm(handles_.of(own_queue), side_right, fill_upper, no_transpose, unit_diagonal, count(columns),
                    count(rows), &one, at(l), count(l.pitch), at(b), count(b.pitch));
      };
      if constexpr (sizeof(T) == sizeof(float))
        check_cublas(call(cublas().strsm), "solve with a triangle");
      else
        check_cublas(call(cublas().dtrsm), "solve with a triangle");
    });
  }

 private:
  static constexpr int side_right = 1, fill_upper = 1, unit_diagonal = 1;
  static int count(std::size_t value) { return static_cast<int>(value); }
  static T* at(const MatrixPart& part) {
    return reinterpret_cast<T*>(own(*part.buffer).device_address()) + part.offset;
  }

  CublasHandles handles_;
  std::string name_;
};

const Registered<GemmLibraryMaker> registered_cuda_gemm_library("cuda", [](Device&, Queue& queue,
                                                                           const GemmShape& shape) {
  return std::make_unique<CublasGemm>(dynamic_cast<CudaQueue&>(queue), shape);
});

const Registered<FactorLibraryMaker> registered_cuda_factor_library(
    "cuda", [](Device&, Queue& queue, ScalarType type) -> std::unique_ptr<FactorLibrary> {
      auto& own_queue = dynamic_cast<CudaQueue&>(queue);
      if (type == ScalarType::f32) return std::make_unique<CublasFactor<float>>(own_queue);
      if (type == ScalarType::f64) return std::make_unique<CublasFactor<double>>(own_queue);
      throw Unsupported(fmt::format("cuBLAS does not factorise matrices of {}", to_string(type)));
    });

}  // namespace

}  // namespace plumb::cuda
