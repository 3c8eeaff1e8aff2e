// gpu.cl through NVRTC, in every type, with matrix units and without. Needs NVRTC, but no GPU.
#include <gtest/gtest.h>

#include "benchmarks/hpcc/gemm/gpu.hpp"
#include "core/embedded.hpp"
#include "device/cuda/compiler.hpp"

namespace plumb::gemm {
namespace {

TEST(GemmCuda, CompilesForAnH200) {
  if (!cuda::why_no_compiler().empty()) GTEST_SKIP() << cuda::why_no_compiler();
  for (const char* type : {"half", "float", "double", "tf32"})
    for (const std::size_t size : {1000, 1024})
      for (const int architecture : {0, 80, 90}) {
        const Problem problem{element_of(type), size, size, size, 0.5, 2};
        if (architecture > 0 && !has_matrix_units(problem.element)) continue;
        const KernelSource source{.name = "gpu.cl",
                                  .opencl = embedded_text("benchmarks/hpcc/gemm/gpu.cl"),
                                  .options = gpu_options(problem, architecture)};
        EXPECT_EQ(cuda::compile(source, 9, 0, "an H200").substr(1, 3), "ELF") << source.options;
      }
}

}  // namespace
}  // namespace plumb::gemm
