// out = alpha A B + beta C in the form for FPGAs: one work item, whose loops become pipelines, and three levels of
// blocks (global memory, local memory, registers). Launched once per replication, which computes the rows from
// row_begin to row_end and has only these of C and out.
//
// ELEMENT: stored type. REAL: type of computation. HALF: ELEMENT is half, for storage only.
// BLOCK: rows and columns of the blocks in local memory. GEMM_BLOCK: of those in registers; divides BLOCK.
// GLOBAL_MEM_UNROLL: elements of global memory handled at a time; divides BLOCK.
//
// A board's bitstream includes this file once for each replication: the kernel's name then ends in REPLICATION, and
// BANK(argument) is the attribute of an argument's memory bank.
#ifndef GEMM_PIPELINE
#define GEMM_PIPELINE
#define SIDE (BLOCK / GEMM_BLOCK)

#ifdef HALF
#define LOAD(from, index) vload_half(index, from)
#define STORE(value, to, index) vstore_half_rte(value, index, to)
#else
#define LOAD(from, index) (from)[index]
#define STORE(value, to, index) (to)[index] = (value)
#endif

#ifndef BANK
#define BANK(argument)
#endif
#ifdef REPLICATION
#define PASTE(name, number) name##number
#define NUMBER(name, number) PASTE(name, number)
#define NUMBERED(name) NUMBER(name, REPLICATION)
#else
#define NUMBERED(name) name
#endif
#endif

__attribute__((max_global_work_dim(0))) __attribute__((reqd_work_group_size(1, 1, 1))) __kernel void NUMBERED(gemm)(
    __global BANK(a) const ELEMENT* restrict a, __global BANK(b) const ELEMENT* restrict b,
    __global BANK(c) const ELEMENT* restrict c, __global BANK(out) ELEMENT* restrict out, const REAL alpha, const REAL beta, const uint row_begin, const uint row_end,
    const uint columns, const uint inner) {
  // [block's row][block's column][row][column] of the blocks in registers
  __local REAL a_block[SIDE][SIDE][GEMM_BLOCK][GEMM_BLOCK];
  __local REAL b_block[SIDE][SIDE][GEMM_BLOCK][GEMM_BLOCK];
  __local REAL c_block[SIDE][SIDE][GEMM_BLOCK][GEMM_BLOCK];
  const uint row_blocks = (row_end - row_begin + BLOCK - 1) / BLOCK;
  const uint column_blocks = (columns + BLOCK - 1) / BLOCK;
  const uint inner_blocks = (inner + BLOCK - 1) / BLOCK;

  for (uint tile = 0; tile < row_blocks * column_blocks; ++tile) {
    const uint tile_row = row_begin + tile / column_blocks * BLOCK;
    const uint tile_column = tile % column_blocks * BLOCK;

    for (uint inner_block = 0; inner_block < inner_blocks; ++inner_block) {
      const uint tile_inner = inner_block * BLOCK;

      // Global to local memory. Elements outside the matrices are zero, so any size is allowed.
      for (uint i = 0; i < BLOCK; ++i) {
        for (uint group = 0; group < BLOCK / GLOBAL_MEM_UNROLL; ++group) {
#pragma unroll
          for (uint u = 0; u < GLOBAL_MEM_UNROLL; ++u) {
            const uint j = group * GLOBAL_MEM_UNROLL + u;
            const ulong a_at = (ulong)(tile_row + i) * inner + tile_inner + j;
            const ulong b_at = (ulong)(tile_inner + i) * columns + tile_column + j;
            a_block[i / GEMM_BLOCK][j / GEMM_BLOCK][i % GEMM_BLOCK][j % GEMM_BLOCK] =
                tile_row + i < row_end && tile_inner + j < inner ? LOAD(a, a_at) : (REAL)0;
            b_block[i / GEMM_BLOCK][j / GEMM_BLOCK][i % GEMM_BLOCK][j % GEMM_BLOCK] =
                tile_inner + i < inner && tile_column + j < columns ? LOAD(b, b_at) : (REAL)0;
          }
        }
      }

      // Local memory to registers. The inner index is outermost, so that a sum is not needed again at once.
      for (uint step = 0; step < SIDE * SIDE * SIDE; ++step) {
        const uint k = step / (SIDE * SIDE), i = step / SIDE % SIDE, j = step % SIDE;
        REAL a_register[GEMM_BLOCK][GEMM_BLOCK], b_register[GEMM_BLOCK][GEMM_BLOCK];
#pragma unroll
        for (uint y = 0; y < GEMM_BLOCK; ++y) {
#pragma unroll
          for (uint x = 0; x < GEMM_BLOCK; ++x) {
            a_register[y][x] = a_block[i][k][y][x];
            b_register[y][x] = b_block[k][j][y][x];
          }
        }
        const bool first = inner_block == 0 && k == 0;
#pragma unroll
        for (uint y = 0; y < GEMM_BLOCK; ++y) {
#pragma unroll
          for (uint x = 0; x < GEMM_BLOCK; ++x) {
            REAL sum = first ? (REAL)0 : c_block[i][j][y][x];
#pragma unroll
            for (uint z = 0; z < GEMM_BLOCK; ++z) sum += a_register[y][z] * b_register[z][x];
            c_block[i][j][y][x] = sum;
          }
        }
      }
    }

    // Local to global memory, with C.
    for (uint i = 0; i < BLOCK; ++i) {
      for (uint group = 0; group < BLOCK / GLOBAL_MEM_UNROLL; ++group) {
#pragma unroll
        for (uint u = 0; u < GLOBAL_MEM_UNROLL; ++u) {
          const uint j = group * GLOBAL_MEM_UNROLL + u;
          const ulong at = (ulong)(tile_row - row_begin + i) * columns + tile_column + j;
          if (tile_row + i < row_end && tile_column + j < columns) {
            const REAL product = c_block[i / GEMM_BLOCK][j / GEMM_BLOCK][i % GEMM_BLOCK][j % GEMM_BLOCK];
            STORE(alpha * product + beta * LOAD(c, at), out, at);
          }
        }
      }
    }
  }
}
