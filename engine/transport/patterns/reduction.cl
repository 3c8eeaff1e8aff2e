// into[i] = into[i] OPERATION from[i]: what a reduction does with a block that came from a neighbour.
//
//   NUMBER     int, long, float or double
//   OPERATION  0 sum, 1 maximum, 2 minimum
#if !defined(__CUDACC__) && defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

__kernel void combine(__global NUMBER* into, ulong first, __global const NUMBER* from, ulong count) {
  for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
    const NUMBER a = into[first + i], b = from[i];
#if OPERATION == 0
    into[first + i] = a + b;
#elif OPERATION == 1
    into[first + i] = a < b ? b : a;
#else
    into[first + i] = b < a ? b : a;
#endif
  }
}
