// Matrix products of runtime `opencl`: CLBlast.
#include <clblast_c.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/scalar.hpp"
#include "device/library.hpp"
#include "device/opencl/queue.hpp"

namespace plumb::opencl {

namespace {

class ClblastGemm final : public GemmLibrary {
 public:
  ClblastGemm(const DeviceInfo& device, const GemmShape& shape) : shape_(shape) {
    const bool lacks = (shape.type == ScalarType::f16 && !device.has(Feature::fp16)) ||
                       (shape.type == ScalarType::f64 && !device.has(Feature::fp64));
    if (lacks) throw Unsupported(fmt::format("{} does not support {}", device.name, to_string(shape.type)));
    if (shape.tf32) throw Unsupported("CLBlast does not support tf32");
    require_memory_objects("CLBlast", shape.memory);
  }
  std::string name() const override { return PLUMBLINE_CLBLAST_NAME; }

  void enqueue(Queue& queue, const BufferView& a, const BufferView& b, const BufferView& c) override {
    auto& own_queue = dynamic_cast<OpenclQueue&>(queue);
    own_queue.enqueue_foreign([&](cl_command_queue handle, cl_event* event) {
      switch (shape_.type) {
        case ScalarType::f16:
          return multiply<cl_half>(CLBlastHgemm, to_half(shape_.alpha), to_half(shape_.beta), a, b, c, handle, event);
        case ScalarType::f32:
          return multiply<float>(CLBlastSgemm, static_cast<float>(shape_.alpha), static_cast<float>(shape_.beta), a, b,
                                 c, handle, event);
        default:
          return multiply<double>(CLBlastDgemm, shape_.alpha, shape_.beta, a, b, c, handle, event);
      }
    });
  }

 private:
  template <class T, class Gemm>
  void multiply(Gemm gemm, T alpha, T beta, const BufferView& a, const BufferView& b, const BufferView& c,
                cl_command_queue queue, cl_event* event) const {
    const CLBlastStatusCode code =
        gemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, shape_.rows, shape_.columns, shape_.inner,
             alpha, own(a).memory(), a.offset / sizeof(T), shape_.inner, own(b).memory(), b.offset / sizeof(T),
             shape_.columns, beta, own(c).memory(), c.offset / sizeof(T), shape_.columns, &queue, event);
    if (code != CLBlastSuccess) throw status_error(code, "multiply matrices with CLBlast");
  }

  GemmShape shape_;
};

// CLBlast compiles at its first call and PoCL at a kernel's first run: minutes on few cores. A smaller product with the
// same kernels keeps that out of the first repetition, whose wait has a limit.
void compile_kernels(Device& device, GemmShape shape) {
  constexpr std::size_t enough = 512;  // above CLBlast's threshold for its kernel of small products
  for (std::size_t* length : {&shape.rows, &shape.columns, &shape.inner}) *length = std::min(*length, enough);
  const auto matrix = [&](std::size_t elements) {
    return device.allocate(elements * size_of(shape.type), {shape.memory, {}, false});
  };
  const auto a = matrix(shape.rows * shape.inner), b = matrix(shape.inner * shape.columns),
             c = matrix(shape.rows * shape.columns);
  const auto queue = device.make_queue();
  queue->enqueue_call(
      [&](Queue& own) { ClblastGemm(device.info(), shape).enqueue(own, whole(*a), whole(*b), whole(*c)); });
  queue->finish();
}

template <class T>
class ClblastFactor final : public FactorLibrary {
 public:
  std::string name() const override { return PLUMBLINE_CLBLAST_NAME; }

  void subtract_product(Queue& queue, std::size_t rows, std::size_t columns, std::size_t inner, const MatrixPart& a,
                        const MatrixPart& b, const MatrixPart& c) override {
    dynamic_cast<OpenclQueue&>(queue).enqueue_foreign([&](cl_command_queue handle, cl_event* event) {
      const auto call = [&](auto gemm) {
        check(
            gemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, rows, columns, inner, T{-1}, memory(a),
                 a.offset, a.pitch, memory(b), b.offset, b.pitch, T{1}, memory(c), c.offset, c.pitch, &handle, event),
            "multiply matrices with CLBlast");
      };
      if constexpr (sizeof(T) == sizeof(float))
        call(CLBlastSgemm);
      else
        call(CLBlastDgemm);
    });
  }
  void solve_unit_lower(Queue& queue, std::size_t rows, std::size_t columns, const MatrixPart& l,
                        const MatrixPart& b) override {
    dynamic_cast<OpenclQueue&>(queue).enqueue_foreign([&](cl_command_queue handle, cl_event* event) {
      const auto call = [&](auto trsm) {
        check(
            trsm(CLBlastLayoutRowMajor, CLBlastSideLeft, CLBlastTriangleLower, CLBlastTransposeNo, CLBlastDiagonalUnit,
                 rows, columns, T{1}, memory(l), l.offset, l.pitch, memory(b), b.offset, b.pitch, &handle, event),
            "solve with a triangle with CLBlast");
      };
      if constexpr (sizeof(T) == sizeof(float))
        call(CLBlastStrsm);
      else
        call(CLBlastDtrsm);
    });
  }

 private:
  static cl_mem memory(const MatrixPart& part) { return own(*part.buffer).memory(); }
  static void check(CLBlastStatusCode code, const char* action) {
    if (code != CLBlastSuccess) throw status_error(code, action);
  }
};

const Registered<GemmLibraryMaker> registered_opencl_gemm_library("opencl", [](Device& device, Queue&,
                                                                               const GemmShape& shape) {
  auto library = std::make_unique<ClblastGemm>(device.info(), shape);
  compile_kernels(device, shape);
  return library;
});

const Registered<FactorLibraryMaker> registered_opencl_factor_library(
    "opencl", [](Device&, Queue&, ScalarType type) -> std::unique_ptr<FactorLibrary> {
      if (type == ScalarType::f32) return std::make_unique<ClblastFactor<float>>();
      if (type == ScalarType::f64) return std::make_unique<ClblastFactor<double>>();
      throw Unsupported(fmt::format("CLBlast does not factorise matrices of {} here", to_string(type)));
    });

}  // namespace

}  // namespace plumb::opencl
