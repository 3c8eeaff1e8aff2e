// into[i] = a[i] OPERATION b[i], each with its own offset: a reduction's step with a neighbour's block.
//
//   NUMBER     signed_char, short, int, long, the same without a sign, float or double
// WIDE       the type of computation: NUMBER, but at least 32 bits
// OPERATION  position of its name in enum Operation (combine.hpp)
// Sums and products of integers use unsigned types, so that they wrap.
#if !defined(__CUDACC__) && defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

typedef signed char signed_char;  // char may be unsigned

#if OPERATION == 0
#define COMBINED(a, b) ((a) + (b))
#elif OPERATION == 1
#define COMBINED(a, b) ((a) * (b))
#elif OPERATION == 2
#define COMBINED(a, b) ((a) < (b) ? (b) : (a))
#elif OPERATION == 3
#define COMBINED(a, b) ((b) < (a) ? (b) : (a))
#elif OPERATION == 4
#define COMBINED(a, b) ((a) & (b))
#elif OPERATION == 5
#define COMBINED(a, b) ((a) | (b))
#elif OPERATION == 6
#define COMBINED(a, b) ((a) ^ (b))
#elif OPERATION == 7
#define COMBINED(a, b) ((a) != 0 && (b) != 0)
#elif OPERATION == 8
#define COMBINED(a, b) ((a) != 0 || (b) != 0)
#elif OPERATION == 9
#define COMBINED(a, b) (((a) != 0) != ((b) != 0))
#endif

// Four at once, to hide the latency of reading another device's memory.
__kernel void combine(__global NUMBER* into, ulong first, __global const NUMBER* a, ulong first_a,
                      __global const NUMBER* b, ulong first_b, ulong count) {
  const ulong step = get_global_size(0);
  ulong i = get_global_id(0);
  into += first;
  a += first_a;
  b += first_b;
  for (; i + 3 * step < count; i += 4 * step) {
    const WIDE x0 = a[i], x1 = a[i + step], x2 = a[i + 2 * step], x3 = a[i + 3 * step];
    const WIDE y0 = b[i], y1 = b[i + step], y2 = b[i + 2 * step], y3 = b[i + 3 * step];
    into[i] = (NUMBER)COMBINED(x0, y0);
    into[i + step] = (NUMBER)COMBINED(x1, y1);
    into[i + 2 * step] = (NUMBER)COMBINED(x2, y2);
    into[i + 3 * step] = (NUMBER)COMBINED(x3, y3);
  }
  for (; i < count; i += step) {
    const WIDE x = a[i], y = b[i];
    into[i] = (NUMBER)COMBINED(x, y);
  }
}
