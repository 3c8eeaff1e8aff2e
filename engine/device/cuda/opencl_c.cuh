// OpenCL C's keywords and functions for CUDA, as far as the suite's kernels use them: prepended to a kernel's source
// for NVRTC. Kernels are one-dimensional; local memory is declared in a kernel's body; pointers to it are LOCAL_PTR(T);
// vectors are constructed by MAKE(float4)(a, b, c, d).
// (The qualifier `global` is removed beforehand: a macro of that name would break CUDA's __global__.)
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define __kernel extern "C" __global__
#define kernel __kernel
#define __global
#define __local __shared__
#define local __shared__
#define __constant __constant__
#define __private
#define private
#define restrict __restrict__
#define GLOBAL_PTR(T) T*
#define LOCAL_PTR(T) T*
#define MAKE(T) make_##T
#define WORK_GROUP_SIZE(n) __launch_bounds__(n)
#define reqd_work_group_size(x, y, z)
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2

__device__ inline size_t get_local_id(uint) { return threadIdx.x; }
__device__ inline size_t get_local_size(uint) { return blockDim.x; }
__device__ inline size_t get_group_id(uint) { return blockIdx.x; }
__device__ inline size_t get_num_groups(uint) { return gridDim.x; }
__device__ inline size_t get_global_id(uint) { return (size_t)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline size_t get_global_size(uint) { return (size_t)gridDim.x * blockDim.x; }
__device__ inline void barrier(int) { __syncthreads(); }
__device__ inline void mem_fence(int) { __threadfence_block(); }

// half: two bytes, computed in float, rounded to nearest even
struct half {
  ushort bits;
  half() = default;
  __device__ half(float value) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value)); }
  __device__ half(double value) { asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(value)); }
  __device__ half(int value) : half((float)value) {}
  __device__ operator float() const {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
  }
  __device__ half& operator+=(half other) { return *this = half((float)*this + (float)other); }
  __device__ half& operator*=(half other) { return *this = half((float)*this * (float)other); }
};
__device__ inline half operator+(half a, half b) { return half((float)a + (float)b); }
__device__ inline half operator-(half a, half b) { return half((float)a - (float)b); }
__device__ inline half operator*(half a, half b) { return half((float)a * (float)b); }
__device__ inline half fma(half a, half b, half c) { return half(fmaf((float)a, (float)b, (float)c)); }
__device__ inline float vload_half(size_t index, const half* from) { return (float)from[index]; }
__device__ inline void vstore_half(float value, size_t index, half* to) { to[index] = half(value); }

// Elementwise arithmetic of vectors, with a vector or a scalar on either side.
#define PLUMB_OPERATOR2(T, V, op)                                                        \
  __device__ inline V operator op(V a, V b) { return make_##V(a.x op b.x, a.y op b.y); } \
  __device__ inline V operator op(V a, T b) { return make_##V(a.x op b, a.y op b); }     \
  __device__ inline V operator op(T a, V b) { return make_##V(a op b.x, a op b.y); }     \
  __device__ inline V& operator op##=(V& a, V b) { return a = a op b; }                  \
  __device__ inline V& operator op##=(V& a, T b) { return a = a op b; }
#define PLUMB_OPERATOR4(T, V, op)                                                                                \
  __device__ inline V operator op(V a, V b) { return make_##V(a.x op b.x, a.y op b.y, a.z op b.z, a.w op b.w); } \
  __device__ inline V operator op(V a, T b) { return make_##V(a.x op b, a.y op b, a.z op b, a.w op b); }         \
  __device__ inline V operator op(T a, V b) { return make_##V(a op b.x, a op b.y, a op b.z, a op b.w); }         \
  __device__ inline V& operator op##=(V& a, V b) { return a = a op b; }                                          \
  __device__ inline V& operator op##=(V& a, T b) { return a = a op b; }
#define PLUMB_VECTORS(T, V2, V4)                                                                   \
  PLUMB_OPERATOR2(T, V2, +)                                                                        \
  PLUMB_OPERATOR2(T, V2, -)                                                                        \
  PLUMB_OPERATOR2(T, V2, *)                                                                        \
  PLUMB_OPERATOR4(T, V4, +)                                                                        \
  PLUMB_OPERATOR4(T, V4, -)                                                                        \
  PLUMB_OPERATOR4(T, V4, *)                                                                        \
  __device__ inline V2 vload2(size_t i, const T* p) { return make_##V2(p[2 * i], p[2 * i + 1]); }  \
  __device__ inline V4 vload4(size_t i, const T* p) {                                              \
    return make_##V4(p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3]);                          \
  }                                                                                                \
  __device__ inline void vstore2(V2 v, size_t i, T* p) { p[2 * i] = v.x, p[2 * i + 1] = v.y; }     \
  __device__ inline void vstore4(V4 v, size_t i, T* p) {                                           \
    p[4 * i] = v.x, p[4 * i + 1] = v.y, p[4 * i + 2] = v.z, p[4 * i + 3] = v.w;                    \
  }
PLUMB_VECTORS(float, float2, float4)
PLUMB_VECTORS(double, double2, double4)
PLUMB_VECTORS(int, int2, int4)
PLUMB_VECTORS(uint, uint2, uint4)
PLUMB_VECTORS(ulong, ulong2, ulong4)
__device__ inline float2 operator-(float2 a) { return make_float2(-a.x, -a.y); }
__device__ inline double2 operator-(double2 a) { return make_double2(-a.x, -a.y); }
__device__ inline float4 operator-(float4 a) { return make_float4(-a.x, -a.y, -a.z, -a.w); }
__device__ inline float2 fma(float2 a, float2 b, float2 c) { return make_float2(fmaf(a.x, b.x, c.x), fmaf(a.y, b.y, c.y)); }
__device__ inline double2 fma(double2 a, double2 b, double2 c) { return make_double2(fma(a.x, b.x, c.x), fma(a.y, b.y, c.y)); }
__device__ inline float4 fma(float4 a, float4 b, float4 c) {
  return make_float4(fmaf(a.x, b.x, c.x), fmaf(a.y, b.y, c.y), fmaf(a.z, b.z, c.z), fmaf(a.w, b.w, c.w));
}
__device__ inline double4 fma(double4 a, double4 b, double4 c) {
  return make_double4(fma(a.x, b.x, c.x), fma(a.y, b.y, c.y), fma(a.z, b.z, c.z), fma(a.w, b.w, c.w));
}

template <class T>
__device__ inline T mad(T a, T b, T c) {
  return fma(a, b, c);
}
__device__ inline uint mad24(uint a, uint b, uint c) { return a * b + c; }
__device__ inline uint mul24(uint a, uint b) { return a * b; }
__device__ inline ulong mul_hi(ulong a, ulong b) { return __umul64hi(a, b); }
__device__ inline uint mul_hi(uint a, uint b) { return __umulhi(a, b); }
__device__ inline uint popcount(uint a) { return __popc(a); }
__device__ inline uint clz(uint a) { return __clz((int)a); }
__device__ inline float native_sin(float a) { return __sinf(a); }
__device__ inline float native_cos(float a) { return __cosf(a); }
__device__ inline uint as_uint(float a) { return __float_as_uint(a); }
__device__ inline int as_int(float a) { return __float_as_int(a); }
__device__ inline float as_float(uint a) { return __uint_as_float(a); }
__device__ inline ulong as_ulong(double a) { return (ulong)__double_as_longlong(a); }
__device__ inline double as_double(ulong a) { return __longlong_as_double((long long)a); }

// Flags between devices and processes: release by a fence and a store, acquire by a load.
#define FENCE_SYSTEM() __threadfence_system()
#define STORE_SYSTEM(flag, value) \
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(flag), "l"((ulong)(value)) : "memory")
__device__ inline ulong acquire_system(const ulong* flag) {
  ulong value;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(flag) : "memory");
  return value;
}

// The same between the groups of a device.
#define FENCE_DEVICE() __threadfence()
__device__ inline uint acquire_device(const uint* counter) {
  uint value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(counter) : "memory");
  return value;
}

// Atomics return the old value; 64-bit ones have the names of OpenCL's extension.
__device__ inline uint atomic_add(volatile uint* at, uint value) { return atomicAdd((uint*)at, value); }
__device__ inline uint atomic_or(volatile uint* at, uint value) { return atomicOr((uint*)at, value); }
__device__ inline uint atomic_min(volatile uint* at, uint value) { return atomicMin((uint*)at, value); }
__device__ inline uint atomic_xor(volatile uint* at, uint value) { return atomicXor((uint*)at, value); }
__device__ inline uint atomic_inc(volatile uint* at) { return atomicAdd((uint*)at, 1u); }
__device__ inline ulong atom_xor(volatile ulong* at, ulong value) {
  return atomicXor((unsigned long long*)at, (unsigned long long)value);
}
__device__ inline ulong atom_add(volatile ulong* at, ulong value) {
  return atomicAdd((unsigned long long*)at, (unsigned long long)value);
}
#define ATOMIC_XOR64(at, value) ((void)atomicXor((unsigned long long*)(at), (unsigned long long)(value)))

// Groups of 32 work items are sub-groups. SHUFFLE_UP gives an item the value of the one before it, the first one its own.
#define SUB_GROUP_BARRIER() __syncwarp()
#define SHUFFLE_UP(value) __shfl_up_sync(~0u, value, 1)
// A sum and a signed byte of a word.
#define ADD_BYTE(sum, packed, byte) __dp4a((int)(packed), 1 << 8 * (byte), sum)
