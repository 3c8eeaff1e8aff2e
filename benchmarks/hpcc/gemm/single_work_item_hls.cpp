// out = alpha A B + beta C in the form for FPGAs as HLS C++: single_work_item.cl's kernel, with the same macros.
#include "hls_half.h"

#define SIDE (BLOCK / GEMM_BLOCK)

// Blocks: [block's row][block's column][row][column] of the blocks in registers.
typedef REAL Block[SIDE][SIDE][GEMM_BLOCK][GEMM_BLOCK];

// Global to local memory: rows `row` to row_end of a matrix of `pitch` columns. Elements outside are zero, so any size
// is allowed.
static void load(const ELEMENT* from, const unsigned row, const unsigned row_end, const unsigned column,
                 const unsigned pitch, Block block) {
#pragma HLS inline
rows:
  for (unsigned i = 0; i < BLOCK; ++i) {
  groups:
    for (unsigned group = 0; group < BLOCK / GLOBAL_MEM_UNROLL; ++group) {
#pragma HLS pipeline II = 1
      for (unsigned u = 0; u < GLOBAL_MEM_UNROLL; ++u) {
#pragma HLS unroll
        const unsigned j = group * GLOBAL_MEM_UNROLL + u;
        const bool inside = row + i < row_end && column + j < pitch;
        block[i / GEMM_BLOCK][j / GEMM_BLOCK][i % GEMM_BLOCK][j % GEMM_BLOCK] =
            inside ? (REAL)from[(unsigned long)(row + i) * pitch + column + j] : (REAL)0;
      }
    }
  }
}

// Local memory to registers. The inner index is outermost, so that a sum is not needed again at once.
static void multiply(const Block a_block, const Block b_block, Block c_block, const bool is_first) {
#pragma HLS inline
steps:
  for (unsigned step = 0; step < SIDE * SIDE * SIDE; ++step) {
#pragma HLS pipeline II = 1
#pragma HLS dependence variable = c_block type = inter false
    const unsigned k = step / (SIDE * SIDE), i = step / SIDE % SIDE, j = step % SIDE;
    const bool first = is_first && k == 0;
    for (unsigned y = 0; y < GEMM_BLOCK; ++y) {
#pragma HLS unroll
      for (unsigned x = 0; x < GEMM_BLOCK; ++x) {
#pragma HLS unroll
        REAL sum = first ? (REAL)0 : c_block[i][j][y][x];
        for (unsigned z = 0; z < GEMM_BLOCK; ++z) {
#pragma HLS unroll
          sum += a_block[i][k][y][z] * b_block[k][j][z][x];
        }
        c_block[i][j][y][x] = sum;
      }
    }
  }
}

extern "C" void gemm(const ELEMENT* a, const ELEMENT* b, const ELEMENT* c, ELEMENT* out, const REAL alpha,
                     const REAL beta, const unsigned row_begin, const unsigned row_end, const unsigned columns,
                     const unsigned inner) {
#pragma HLS interface m_axi port = a bundle = gmem0
#pragma HLS interface m_axi port = b bundle = gmem1
#pragma HLS interface m_axi port = c bundle = gmem2
#pragma HLS interface m_axi port = out bundle = gmem2
  Block a_block, b_block, c_block;
#pragma HLS array_partition variable = a_block complete dim = 3
#pragma HLS array_partition variable = a_block complete dim = 4
#pragma HLS array_partition variable = b_block complete dim = 3
#pragma HLS array_partition variable = b_block complete dim = 4
#pragma HLS array_partition variable = c_block complete dim = 3
#pragma HLS array_partition variable = c_block complete dim = 4
  const unsigned row_blocks = (row_end - row_begin + BLOCK - 1) / BLOCK;
  const unsigned column_blocks = (columns + BLOCK - 1) / BLOCK;
  const unsigned inner_blocks = (inner + BLOCK - 1) / BLOCK;

tiles:
  for (unsigned tile = 0; tile < row_blocks * column_blocks; ++tile) {
    const unsigned tile_row = row_begin + tile / column_blocks * BLOCK;
    const unsigned tile_column = tile % column_blocks * BLOCK;
  inner_tiles:
    for (unsigned inner_block = 0; inner_block < inner_blocks; ++inner_block) {
      load(a, tile_row, row_end, inner_block * BLOCK, inner, a_block);
      load(b, inner_block * BLOCK, inner, tile_column, columns, b_block);
      multiply(a_block, b_block, c_block, inner_block == 0);
    }

    // Local to global memory, with C.
  result_rows:
    for (unsigned i = 0; i < BLOCK; ++i) {
    result_groups:
      for (unsigned group = 0; group < BLOCK / GLOBAL_MEM_UNROLL; ++group) {
#pragma HLS pipeline II = 1
        for (unsigned u = 0; u < GLOBAL_MEM_UNROLL; ++u) {
#pragma HLS unroll
          const unsigned j = group * GLOBAL_MEM_UNROLL + u;
          const unsigned long at = (unsigned long)(tile_row - row_begin + i) * columns + tile_column + j;
          if (tile_row + i < row_end && tile_column + j < columns) {
            const REAL product = c_block[i / GEMM_BLOCK][j / GEMM_BLOCK][i % GEMM_BLOCK][j % GEMM_BLOCK];
            out[at] = (ELEMENT)(alpha * product + beta * (REAL)c[at]);
          }
        }
      }
    }
  }
}
