// STREAM's operations, and BabelStream's Dot, for CPUs and GPUs. An array is a sequence of vectors, the last one padded
// with zeros.
//
//   DATA_TYPE     half, float or double         WIDE_TYPE   of the scalar and of Dot's sums: double for double, else float
//   VECTOR_COUNT  numbers of a vector           GROUP_SIZE  work items of a group, a power of two
//   OWN_RUNS      1: a work item takes a run of vectors of its own (a core)
//                 0: neighbouring work items take neighbouring vectors (a GPU: one access for all of them)

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#ifdef __CUDACC__
template <class T>
struct alignas(VECTOR_COUNT * sizeof(T)) Lanes {
  T lane[VECTOR_COUNT];
};
template <class T>
__device__ Lanes<T> operator+(Lanes<T> x, Lanes<T> y) {
  for (int i = 0; i < VECTOR_COUNT; ++i) x.lane[i] = x.lane[i] + y.lane[i];
  return x;
}
template <class T>
__device__ Lanes<T> operator*(Lanes<T> x, Lanes<T> y) {
  for (int i = 0; i < VECTOR_COUNT; ++i) x.lane[i] = x.lane[i] * y.lane[i];
  return x;
}
template <class T>
__device__ Lanes<T> operator*(T j, Lanes<T> y) {
  for (int i = 0; i < VECTOR_COUNT; ++i) y.lane[i] = j * y.lane[i];
  return y;
}
typedef Lanes<DATA_TYPE> Vector;
typedef Lanes<WIDE_TYPE> Wide;
__device__ Wide WIDEN(Vector x) {
  Wide wide;
  for (int i = 0; i < VECTOR_COUNT; ++i) wide.lane[i] = (WIDE_TYPE)x.lane[i];
  return wide;
}
#define ZEROS {}
#else
#if VECTOR_COUNT == 1
typedef DATA_TYPE Vector;
typedef WIDE_TYPE Wide;
#define WIDEN(x) JOIN(convert_, WIDE_TYPE)(x)
#else
typedef JOIN(DATA_TYPE, VECTOR_COUNT) Vector;
typedef JOIN(WIDE_TYPE, VECTOR_COUNT) Wide;
#define WIDEN(x) JOIN(JOIN(convert_, WIDE_TYPE), VECTOR_COUNT)(x)
#endif
#define ZEROS 0
#endif

#if OWN_RUNS
// Both halves of a run, a block of either in turn: a core fetches two streams of an array faster than one.
#define BLOCK 4
#define FOR_EACH(i, vectors)                                                \
  for (ulong at = (vectors) * get_global_id(0) / get_global_size(0),        \
             end = (vectors) * (get_global_id(0) + 1) / get_global_size(0), \
             length = ((end - at + 1) / 2 + BLOCK - 1) / BLOCK * BLOCK,     \
             middle = at + length;                                          \
       at < middle; at += BLOCK)                                            \
    for (ulong part = at; part < end; part += length)                       \
      for (ulong i = part; i < part + BLOCK && i < end; ++i)
#else
#define FOR_EACH(i, vectors) for (ulong i = get_global_id(0); i < (vectors); i += get_global_size(0))
#endif

// Ordinary stores of a core read the line first; non-temporal ones do not.
#if OWN_RUNS && defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define STORE(to, value) __builtin_nontemporal_store(value, to)
#endif
#endif
#ifndef STORE
#define STORE(to, value) *(to) = (value)
#endif

__kernel void copy(__global const Vector* restrict a, __global Vector* restrict c, ulong vectors) {
  FOR_EACH(i, vectors) STORE(&c[i], a[i]);
}

__kernel void scale(__global const Vector* restrict c, __global Vector* restrict b, WIDE_TYPE j, ulong vectors) {
  FOR_EACH(i, vectors) STORE(&b[i], (DATA_TYPE)j * c[i]);
}

__kernel void add(__global const Vector* restrict a, __global const Vector* restrict b, __global Vector* restrict c,
                  ulong vectors) {
  FOR_EACH(i, vectors) STORE(&c[i], a[i] + b[i]);
}

__kernel void triad(__global const Vector* restrict b, __global const Vector* restrict c, __global Vector* restrict a,
                    WIDE_TYPE j, ulong vectors) {
  FOR_EACH(i, vectors) STORE(&a[i], b[i] + (DATA_TYPE)j * c[i]);
}

// Sum over all work items of a group, into *(to).
#define ADD_UP(value, to)                                     \
  __local WIDE_TYPE sums_of_items[GROUP_SIZE];                \
  const uint item = get_local_id(0);                          \
  sums_of_items[item] = value;                                \
  for (uint width = GROUP_SIZE / 2; width > 0; width /= 2) {  \
    barrier(CLK_LOCAL_MEM_FENCE);                             \
    if (item < width) sums_of_items[item] += sums_of_items[item + width]; \
  }                                                           \
  if (item == 0) *(to) = sums_of_items[0]

// Each group's sum, after sums[0].
__kernel void dot_of_groups(__global const Vector* restrict a, __global const Vector* restrict b,
                            __global WIDE_TYPE* restrict sums, ulong vectors) {
  Wide sum = ZEROS;
  FOR_EACH(i, vectors) sum = sum + WIDEN(a[i]) * WIDEN(b[i]);
  WIDE_TYPE total = 0;
  for (int lane = 0; lane < VECTOR_COUNT; ++lane) total += ((const WIDE_TYPE*)&sum)[lane];
  ADD_UP(total, &sums[1 + get_group_id(0)]);
}

// Adds the groups' sums into sums[0]; for one group.
__kernel void dot_of_all(__global WIDE_TYPE* restrict sums, ulong groups) {
  WIDE_TYPE total = 0;
  for (ulong i = get_local_id(0); i < groups; i += GROUP_SIZE) total += sums[1 + i];
  ADD_UP(total, &sums[0]);
}
