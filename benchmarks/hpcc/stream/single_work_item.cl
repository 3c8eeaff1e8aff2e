// STREAM in HPCC FPGA's form (Meyer's thesis, listing 3.1), and BabelStream's Dot: one work item, whose loops become
// pipelines. Arrays consist of whole vectors.
//
//   DATA_TYPE     half, float or double   WIDE_TYPE           of the scalar and of Dot's sum: double for double, else float
//   VECTOR_COUNT  numbers of a vector     DEVICE_BUFFER_SIZE  vectors kept on the chip, a multiple of GLOBAL_MEM_UNROLL
//                                         GLOBAL_MEM_UNROLL   vectors a cycle
//
// A board's bitstream includes this file once for each replication: kernels' names then end in REPLICATION, BANK(argument)
// is the attribute of an argument's memory bank, and WITHOUT_DOT leaves Dot out.
#ifndef STREAM_PIPELINE
#define STREAM_PIPELINE

#if defined(cl_khr_fp16)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#if VECTOR_COUNT == 1
typedef DATA_TYPE Vector;
#else
typedef JOIN(DATA_TYPE, VECTOR_COUNT) Vector;
#endif

#ifndef BANK
#define BANK(argument)
#endif
#ifdef REPLICATION
#define PASTE(name, number) name##_##number
#define NUMBER(name, number) PASTE(name, number)
#define NUMBERED(name) NUMBER(name, REPLICATION)
#else
#define NUMBERED(name) name
#endif
#endif

// operation_type: 0 Copy, 1 Scale, 2 Add, 3 Triad. One kernel for the four, to share its area on the chip; each phase
// uses the memory bank exclusively, so its accesses remain one burst.
__kernel void NUMBERED(calc)(__global BANK(in1) const Vector* restrict in1, __global BANK(in2) const Vector* restrict in2,
                             __global BANK(out) Vector* restrict out, const WIDE_TYPE scalar, const uint array_size,
                             const uint operation_type) {
  const uint vectors = array_size / VECTOR_COUNT;
  for (uint begin = 0; begin < vectors; begin += DEVICE_BUFFER_SIZE) {
    Vector buffer[DEVICE_BUFFER_SIZE];
    const uint length = min((uint)DEVICE_BUFFER_SIZE, vectors - begin);
#pragma unroll GLOBAL_MEM_UNROLL
    for (uint k = 0; k < length; ++k) buffer[k] = (DATA_TYPE)scalar * in1[begin + k];
    if (operation_type >= 2) {
#pragma unroll GLOBAL_MEM_UNROLL
      for (uint k = 0; k < length; ++k) buffer[k] += in2[begin + k];
    }
#pragma unroll GLOBAL_MEM_UNROLL
    for (uint k = 0; k < length; ++k) out[begin + k] = buffer[k];
  }
}

#ifndef WITHOUT_DOT
// Additions take several cycles: partial sums alternate, so that none waits for the previous one.
#define SUMS 16

__kernel void NUMBERED(calc_dot)(__global BANK(in1) const Vector* restrict in1,
                                 __global BANK(in2) const Vector* restrict in2,
                                 __global BANK(out) WIDE_TYPE* restrict sum, const uint array_size) {
  WIDE_TYPE turns[SUMS];
#pragma unroll
  for (uint i = 0; i < SUMS; ++i) turns[i] = 0;
  for (uint i = 0; i < array_size / VECTOR_COUNT; ++i) {
    const Vector x = in1[i], y = in2[i];
    WIDE_TYPE next = turns[SUMS - 1];
#pragma unroll
    for (uint lane = 0; lane < VECTOR_COUNT; ++lane)
      next += (WIDE_TYPE)((const DATA_TYPE*)&x)[lane] * (WIDE_TYPE)((const DATA_TYPE*)&y)[lane];
#pragma unroll
    for (uint k = SUMS - 1; k > 0; --k) turns[k] = turns[k - 1];
    turns[0] = next;
  }
  WIDE_TYPE total = 0;
#pragma unroll
  for (uint i = 0; i < SUMS; ++i) total += turns[i];
  sum[0] = total;
}
#endif
