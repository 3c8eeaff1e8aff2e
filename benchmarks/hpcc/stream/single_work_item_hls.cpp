// STREAM in HPCC FPGA's form as HLS C++: single_work_item.cl's kernels, with the same macros. A replication is
// a kernel instance of its own, with its bank of memory.
#include "hls_half.h"
#include "hls_vector.h"

typedef hls::vector<DATA_TYPE, VECTOR_COUNT> Vector;

extern "C" {

// operation_type: 0 Copy, 1 Scale, 2 Add, 3 Triad.
void calc(const Vector* in1, const Vector* in2, Vector* out, const WIDE_TYPE scalar, const unsigned array_size,
          const unsigned operation_type) {
#pragma HLS interface m_axi port = in1 bundle = gmem
#pragma HLS interface m_axi port = in2 bundle = gmem
#pragma HLS interface m_axi port = out bundle = gmem
  const unsigned vectors = array_size / VECTOR_COUNT;
  const Vector factor = Vector((DATA_TYPE)scalar);
  Vector buffer[DEVICE_BUFFER_SIZE];
blocks:
  for (unsigned begin = 0; begin < vectors; begin += DEVICE_BUFFER_SIZE) {
    const unsigned rest = vectors - begin, length = rest < DEVICE_BUFFER_SIZE ? rest : DEVICE_BUFFER_SIZE;
  read_first:
    for (unsigned k = 0; k < length; ++k) {
#pragma HLS pipeline II = 1
#pragma HLS unroll factor = GLOBAL_MEM_UNROLL
      buffer[k] = factor * in1[begin + k];
    }
    if (operation_type >= 2) {
    read_second:
      for (unsigned k = 0; k < length; ++k) {
#pragma HLS pipeline II = 1
#pragma HLS unroll factor = GLOBAL_MEM_UNROLL
        buffer[k] += in2[begin + k];
      }
    }
  write:
    for (unsigned k = 0; k < length; ++k) {
#pragma HLS pipeline II = 1
#pragma HLS unroll factor = GLOBAL_MEM_UNROLL
      out[begin + k] = buffer[k];
    }
  }
}

// Additions take several cycles: partial sums alternate, so that none waits for the previous one.
#define SUMS 16

void calc_dot(const Vector* in1, const Vector* in2, WIDE_TYPE* sum, const unsigned array_size) {
#pragma HLS interface m_axi port = in1 bundle = gmem0
#pragma HLS interface m_axi port = in2 bundle = gmem1
#pragma HLS interface m_axi port = sum bundle = gmem0
  WIDE_TYPE turns[SUMS];
#pragma HLS array_partition variable = turns complete
  for (unsigned i = 0; i < SUMS; ++i) {
#pragma HLS unroll
    turns[i] = 0;
  }
vectors:
  for (unsigned i = 0; i < array_size / VECTOR_COUNT; ++i) {
#pragma HLS pipeline II = 1
    const Vector x = in1[i], y = in2[i];
    WIDE_TYPE next = turns[SUMS - 1];
    for (unsigned lane = 0; lane < VECTOR_COUNT; ++lane) {
#pragma HLS unroll
      next += (WIDE_TYPE)x[lane] * (WIDE_TYPE)y[lane];
    }
    for (unsigned k = SUMS - 1; k > 0; --k) {
#pragma HLS unroll
      turns[k] = turns[k - 1];
    }
    turns[0] = next;
  }
  WIDE_TYPE total = 0;
  for (unsigned i = 0; i < SUMS; ++i) {
#pragma HLS unroll
    total += turns[i];
  }
  sum[0] = total;
}

}  // extern "C"
