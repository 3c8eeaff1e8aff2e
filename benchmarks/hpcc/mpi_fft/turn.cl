// The steps of a transform over several ranks other than a rank's own transforms: transposition of a complex matrix,
// and assembly of received parts. In the subset of OpenCL C that CUDA compiles as well.
//
// REAL: type of re and im. GROUP: work items per group.
#if !defined(__CUDACC__) && defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#ifdef __CUDACC__
#define GROUP_OF(items) __launch_bounds__(items)
#else
#define GROUP_OF(items) __attribute__((reqd_work_group_size(items, 1, 1)))
#endif
#define SIDE 16  // of tiles, in local memory

// to[j][i] = from[i][j] w^((first_row + i) j), for `rows` rows of `columns` numbers; w = exp(-2 pi i / points), or 1
// if points is 0. Numbers are (re, im); `from` starts at number `from_first`.
__kernel GROUP_OF(GROUP) void turn(__global const REAL* from, const ulong from_first, __global REAL* to,
                                   const ulong rows, const ulong columns, const ulong first_row, const ulong points) {
  __local REAL re[SIDE * (SIDE + 1)];
  __local REAL im[SIDE * (SIDE + 1)];
  const ulong across = (columns + SIDE - 1) / SIDE;
  const ulong top = get_group_id(0) / across * SIDE, left = get_group_id(0) % across * SIDE;
  for (uint e = get_local_id(0); e < SIDE * SIDE; e += GROUP) {
    const uint i = e / SIDE, j = e % SIDE;
    if (top + i < rows && left + j < columns) {
      const ulong at = 2 * (from_first + (top + i) * columns + left + j);
      REAL x = from[at], y = from[at + 1];
      if (points != 0) {
        const double turns = (double)((first_row + top + i) * (left + j) % points) / (double)points;
        const REAL c = (REAL)cospi(2 * turns), s = (REAL)-sinpi(2 * turns);
        const REAL product = x * c - y * s;
        y = x * s + y * c;
        x = product;
      }
      re[j * (SIDE + 1) + i] = x;
      im[j * (SIDE + 1) + i] = y;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint e = get_local_id(0); e < SIDE * SIDE; e += GROUP) {
    const uint j = e / SIDE, i = e % SIDE;
    if (top + i < rows && left + j < columns) {
      const ulong at = 2 * ((left + j) * rows + top + i);
      to[at] = re[j * (SIDE + 1) + i];
      to[at + 1] = im[j * (SIDE + 1) + i];
    }
  }
}

// `parts` consecutive matrices of rows x columns become one of rows x (parts columns), side by side, from
// number `to_first`.
__kernel GROUP_OF(GROUP) void join(__global const REAL* from, __global REAL* to, const ulong to_first, const ulong rows,
                                   const ulong columns, const ulong parts) {
  for (ulong e = get_global_id(0); e < rows * columns * parts; e += get_global_size(0)) {
    const ulong row = e / (columns * parts), column = e % (columns * parts);
    const ulong at = 2 * ((column / columns * rows + row) * columns + column % columns);
    to[2 * (to_first + e)] = from[at];
    to[2 * (to_first + e) + 1] = from[at + 1];
  }
}
