// gpu.cl and hopper.cu through NVRTC, in every type, with matrix units and without; how hopper.cu's tiles are chosen.
// Needs NVRTC, but no GPU.
#include <gtest/gtest.h>

#include "benchmarks/hpcc/gemm/gpu.hpp"
#include "benchmarks/hpcc/gemm/hopper.hpp"
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

constexpr unsigned multiprocessors = 132;  // an H200's

Problem problem_of(const char* type, std::size_t size) {
  return {element_of(type), size, size, size, 0.5, 2};
}

TEST(GemmHopper, CompilesForAnH200) {
  if (!cuda::why_no_compiler().empty()) GTEST_SKIP() << cuda::why_no_compiler();
  for (const char* type : {"half", "bfloat16", "float", "double", "tf32"})
    for (const std::size_t size : {256, 999, 5000}) {
      const Problem problem = problem_of(type, size);
      const KernelSource source{.name = "hopper.cu",
                                .opencl = embedded_text("benchmarks/hpcc/gemm/hopper.cu"),
                                .options = hopper_options(problem, hopper_tiles(problem, multiprocessors)),
                                .is_cuda = true};
      EXPECT_EQ(cuda::compile(source, 9, 0, "an H200").substr(1, 3), "ELF") << source.options;
    }
}

TEST(GemmHopper, OlderGpusRefuseIt) {
  if (!cuda::why_no_compiler().empty()) GTEST_SKIP() << cuda::why_no_compiler();
  const Problem problem = problem_of("half", 256);
  const KernelSource source{.name = "hopper.cu",
                            .opencl = embedded_text("benchmarks/hpcc/gemm/hopper.cu"),
                            .options = hopper_options(problem, hopper_tiles(problem, 108)),
                            .is_cuda = true};
  EXPECT_THROW(cuda::compile(source, 8, 0, "an A100"), Error);
}

TEST(GemmHopper, TilesAreAsWideAsFillsTheirRounds) {
  const HopperTiles even = hopper_tiles(problem_of("half", 8192), multiprocessors);
  EXPECT_EQ(even.rows, 256u);
  EXPECT_EQ(even.columns, 256u);
  EXPECT_EQ(even.stages, 4u);
  EXPECT_EQ(even.count, 32u * 32u);
  // 400 tiles of 256 columns are 7 rounds of 66, the last of 4 tiles; 460 of 224 columns as many rounds of less work.
  EXPECT_EQ(hopper_tiles(problem_of("half", 5000), multiprocessors).columns, 224u);
  const HopperTiles tf32 = hopper_tiles(problem_of("tf32", 5000), multiprocessors);
  EXPECT_EQ(tf32.rows, 224u);
  EXPECT_EQ(tf32.columns, 256u);
  EXPECT_EQ(tf32.a_copy_rows, 112u);
  // 2,048 tiles of 256 rows are 16 rounds of 132. 64 tiles of 128 rows are one round as 32 of 256 are, of half the
  // work.
  EXPECT_EQ(hopper_tiles(problem_of("float", 8192), multiprocessors).rows, 256u);
  EXPECT_EQ(hopper_tiles(problem_of("float", 8192), multiprocessors).stages, 4u);
  EXPECT_EQ(hopper_tiles(problem_of("float", 1024), multiprocessors).rows, 128u);
  for (const char* type : {"half", "bfloat16", "float", "double", "tf32"})
    for (const std::size_t size : {1, 256, 999, 5000, 8191})
      EXPECT_LE(hopper_tiles(problem_of(type, size), multiprocessors).local_bytes, 227u << 10) << type << " " << size;
}

TEST(GemmHopper, RowsThatCannotBeCopiedAreRepacked) {
  EXPECT_EQ(hopper_row_bytes(16), 16u);
  EXPECT_EQ(hopper_row_bytes(10000), 10000u);
  EXPECT_EQ(hopper_row_bytes(2), 128u);
  EXPECT_EQ(hopper_row_bytes(8191 * 2), 16384u);
  EXPECT_EQ(hopper_row_bytes(8191 * 4), 32768u);
}

}  // namespace
}  // namespace plumb::gemm
