// HPL's kernels through NVRTC. Needs NVRTC, but no GPU.
#include <gtest/gtest.h>

#include "benchmarks/hpcc/gemm/gpu.hpp"
#include "benchmarks/hpcc/gemm/hopper.hpp"
#include "benchmarks/hpcc/hpl/kernels.hpp"
#include "core/embedded.hpp"
#include "device/cuda/compiler.hpp"

namespace plumb::hpl {
namespace {

TEST(HplCuda, CompilesForAnH200) {
  if (!cuda::why_no_compiler().empty()) GTEST_SKIP() << cuda::why_no_compiler();
  for (const ScalarType type : {ScalarType::f32, ScalarType::f64}) {
    const KernelSource own{.name = "device.cl",
                           .opencl = embedded_text("benchmarks/hpcc/hpl/device.cl"),
                           .options = kernel_options(type, 256, 128)};
    EXPECT_EQ(cuda::compile(own, 9, 0, "an H200").substr(1, 3), "ELF") << own.options;
    for (const int architecture : {0, 80, 90}) {
      const gemm::Problem problem{gemm::element_of(to_string(type)), 129, 128, 128, -1, 1};
      if (architecture > 0 && !gemm::has_matrix_units(problem.element)) continue;
      const KernelSource product{.name = "gpu.cl",
                                 .opencl = embedded_text("benchmarks/hpcc/gemm/gpu.cl"),
                                 .options = gemm::gpu_options(problem, architecture) + " -DPARTS"};
      EXPECT_EQ(cuda::compile(product, 9, 0, "an H200").substr(1, 3), "ELF") << product.options;
    }
  }
}

TEST(HplCuda, CompilesItsProductsForHopper) {
  if (!cuda::why_no_compiler().empty()) GTEST_SKIP() << cuda::why_no_compiler();
  for (const char* type : {"half", "tf32", "double"})
    for (const std::size_t size : {4096, 4097}) {
      const gemm::Problem problem{gemm::element_of(type), size, size, size, -1, 1};
      const KernelSource source{.name = "hopper.cu",
                                .opencl = embedded_text("benchmarks/hpcc/gemm/hopper.cu"),
                                .options = gemm::hopper_options(problem, gemm::hopper_tiles(problem, 132)) + " -DPARTS",
                                .is_cuda = true};
      EXPECT_EQ(cuda::compile(source, 9, 0, "an H200").substr(1, 3), "ELF") << source.options;
    }
}

}  // namespace
}  // namespace plumb::hpl
