// OpenCL C through NVRTC: the words that the suite's kernels use compile for an NVIDIA GPU. Needs NVRTC, but no GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/embedded.hpp"
#include "core/error.hpp"
#include "device/cuda/compiler.hpp"

namespace plumb::cuda {

namespace {

class CudaCompiler : public testing::Test {
 protected:
  void SetUp() override {
    if (!why_no_compiler().empty()) GTEST_SKIP() << why_no_compiler();
  }
};

TEST_F(CudaCompiler, KnowsTheKernelsWords) {
  const std::string code = compile({"words.cl", R"(
#ifndef MAKE
#define MAKE(T) (T)
#define LOCAL_PTR(T) __local T*
#endif
__constant float factors[2] = {1.5f, 2.5f};
inline float at(LOCAL_PTR(float) from, uint i) { return from[i] * factors[i & 1u]; }
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void words(__global const float* restrict in, __global float* restrict out, uint n, double scale) {
  __local float tile[64];
  const size_t i = get_global_id(0);
  tile[get_local_id(0)] = i < n ? in[i] : 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  float4 v = MAKE(float4)(at(tile, 0), 2.0f, 3.0f, 4.0f);
  v = fma(v, v, v) + v * 2.0f;
  v += vload4(0, in);
  double2 d = MAKE(double2)(scale, 1.0) * scale;
  if (i < n) out[i] = v.x + mad(v.y, v.z, v.w) + (float)d.x + LENGTH;
}
kernel void halves(global half* a, half factor, uint n) {
  for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) a[i] = fma(a[i], factor, a[i] * factor) + factor;
}
kernel void past_registers(global uint* to, global const uint* from) {
  __local uint4 kept[32];
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint)__cvta_generic_to_shared(&kept[0])), "l"(from) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  to[0] = kept[0].x;
}
kernel void updates(global ulong* table, ulong mask) {
  ulong x = get_global_id(0);
  atom_xor(&table[x & mask], x);
  ATOMIC_XOR64(&table[(x + 1) & mask], x);
}
)",
                                    "-DLENGTH=3 -cl-std=CL1.2 -cl-mad-enable"},
                                   9, 0, "a GPU");
  EXPECT_EQ(code.substr(1, 3), "ELF");
  for (const char* name : {"words", "halves", "past_registers", "updates"})
    EXPECT_NE(code.find(std::string(".text.") + name), std::string::npos) << name;
}

TEST_F(CudaCompiler, ErrorHasTheLogWithTheUsersLine) {
  try {
    compile({"broken.cl", "kernel void f(global int* a) {\n  a[0] = not_declared;\n}", "-DSOME=1"}, 9, 0, "a GPU");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("broken.cl(2)"), testing::HasSubstr("not_declared"),
                                             testing::HasSubstr("-DSOME=1"), testing::HasSubstr("a GPU")));
  }
}

TEST(CudaRuntime, SaysWhatIsMissing) {
  if (why_no_compiler().empty()) GTEST_SKIP() << "NVRTC is here";
  try {
    compile({"any.cl", "kernel void f() {}"}, 9, 0, "a GPU");
    FAIL();
  } catch (const Unsupported& reason) {
    EXPECT_THAT(reason.what(), testing::AllOf(testing::HasSubstr("libnvrtc"), testing::HasSubstr("install")));
  }
}

TEST_F(CudaCompiler, TransportPeersKernelsCompile) {
  const auto text = [](const char* file) { return embedded_text(std::string("engine/transport/") + file); };
  const std::string port = text("peer/port.cl") + text("rounds.cl");
  for (const std::string& kernels : {text("peer/landing.cl"), port})
    EXPECT_FALSE(compile({"peer", text("peer/flags.cl") + kernels, "-DWIDE=uint4"}, 9, 0, "a").empty());
}

}  // namespace

}  // namespace plumb::cuda
