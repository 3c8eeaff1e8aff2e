// C = B + A^T of a part, block by block, for GPUs and CPUs. A group computes a TILE x TILE tile of a block of C: the
// tile's mirror image goes through local memory, so that neighbouring work items access adjacent numbers.
//
//   NUMBER  half, float or double      TILE  a power of two      ITEMS  work items of a group, a multiple of TILE
//
// `table` has four numbers per block: its position in the parts of B and C, its mirror image's position in the part of
// A (or in the received part), rows and columns. Parts begin at number *_at of their buffer.
#ifdef __CUDACC__
#define GROUP_OF(items) __launch_bounds__(items)
#else
#define GROUP_OF(items) __attribute__((reqd_work_group_size(items, 1, 1)))
#endif
#define ROWS_AT_ONCE (ITEMS / TILE)
// half is stored alone, which every device can; it is computed in float.
#ifdef HALF
#define SUM float
#define LOAD(from, at) vload_half(at, from)
#ifdef __CUDACC__
#define STORE(to, at, value) vstore_half(value, at, to)
#else
#define STORE(to, at, value) vstore_half_rte(value, at, to)
#endif
#else
#define SUM NUMBER
#define LOAD(from, at) (from)[at]
#define STORE(to, at, value) (to)[at] = value
#endif

// tiles: per edge of a whole block
__kernel GROUP_OF(ITEMS) void transpose(__global const NUMBER* restrict from, __global const NUMBER* restrict b,
                                        __global NUMBER* restrict c, __global const ulong* restrict table,
                                        const ulong from_at, const ulong b_at, const ulong c_at, const ulong tiles) {
  __local SUM image[TILE * (TILE + 1)];
  const ulong block = get_group_id(0) / (tiles * tiles), tile = get_group_id(0) % (tiles * tiles);
  const ulong at = table[4 * block], image_at = table[4 * block + 1];
  const ulong rows = table[4 * block + 2], columns = table[4 * block + 3];
  const ulong top = tile / tiles * TILE, left = tile % tiles * TILE;
  const uint across = get_local_id(0) % TILE, down = get_local_id(0) / TILE;

#pragma unroll
  for (uint i = 0; i < TILE; i += ROWS_AT_ONCE) {
    const ulong row = left + down + i, column = top + across;
    if (row < columns && column < rows)
      image[(down + i) * (TILE + 1) + across] = LOAD(from, from_at + image_at + row * rows + column);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint i = 0; i < TILE; i += ROWS_AT_ONCE) {
    const ulong row = top + down + i, column = left + across;
    const ulong place = at + row * columns + column;
    if (row < rows && column < columns)
      STORE(c, c_at + place, LOAD(b, b_at + place) + image[across * (TILE + 1) + down + i]);
  }
}
