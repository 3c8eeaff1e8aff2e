// ceilings.cl through NVRTC, all of its kernels. Needs NVRTC, but no GPU.
#include <gtest/gtest.h>

#include "benchmarks/device/ceilings/parts.hpp"
#include "device/cuda/compiler.hpp"

namespace plumb::ceilings {
namespace {

void expect_kernel(const std::string& name, const std::string& options) {
  const std::string code = cuda::compile(kernels(options), 9, 0, "an H200");
  EXPECT_EQ(code.substr(1, 3), "ELF") << options;
  EXPECT_NE(code.find(".text." + name), std::string::npos) << options;
}

TEST(CeilingsCuda, CompileForAnH200) {
  if (!cuda::why_no_compiler().empty()) GTEST_SKIP() << cuda::why_no_compiler();
  for (const char* type : {"half", "tf32", "double"})
    for (const int generation : matrix_generations) expect_kernel("products", products_options(type, generation));
  for (const char* type : {"float", "double"})
    expect_kernel("arithmetic", fmt::format("-DINTERLEAVED -DREAL={0} -DNUMBER={0} -DCHAINS={1}", type, chains));
  expect_kernel("arithmetic", "-DINTERLEAVED -DREAL=half -DNUMBER=float -DCHAINS=8");
  expect_kernel("memory_copy", "-DINTERLEAVED -DWORD=ulong");
  expect_kernel("random_atomic", "-DINTERLEAVED -DATOMICS");
  expect_kernel("meet", "-DGROUP=128");
}

}  // namespace
}  // namespace plumb::ceilings
