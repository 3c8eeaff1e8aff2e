// C = B + A^T of a part, block by block, in the form for FPGAs as HLS C++: gpu.cl's kernel, with one work item. A
// tile's mirror image goes through local memory, so that global memory is read and written in rows.
//
//   NUMBER  half, float or double      TILE  edge of a tile
#include "hls_half.h"

#ifdef HALF
#define SUM float  // as in gpu.cl
#else
#define SUM NUMBER
#endif

typedef unsigned long ulong;  // 64 bits

// Row and column of the image's tile within its block of `rows` x `columns`.
static void load(const NUMBER* image, const ulong row, const ulong column, const ulong rows, const ulong columns,
                 SUM tile[TILE][TILE]) {
#pragma HLS inline
load_rows:
  for (ulong i = 0; i < TILE; ++i) {
#pragma HLS pipeline
    for (ulong j = 0; j < TILE; ++j) {
#pragma HLS unroll
      if (row + i < rows && column + j < columns) tile[i][j] = (SUM)image[(row + i) * columns + column + j];
    }
  }
}

static void add(const NUMBER* b, NUMBER* c, const ulong row, const ulong column, const ulong rows, const ulong columns,
                const SUM tile[TILE][TILE]) {
#pragma HLS inline
add_rows:
  for (ulong i = 0; i < TILE; ++i) {
#pragma HLS pipeline
    for (ulong j = 0; j < TILE; ++j) {
#pragma HLS unroll
      const ulong at = (row + i) * columns + column + j;
      if (row + i < rows && column + j < columns) c[at] = (NUMBER)((SUM)b[at] + tile[j][i]);
    }
  }
}

// table: of each block its position in B and C, its mirror image's position, rows and columns.
extern "C" void transpose(const NUMBER* from, const NUMBER* b, NUMBER* c, const ulong* table, ulong from_at, ulong b_at,
                          ulong c_at, ulong blocks) {
#pragma HLS interface m_axi port = from bundle = gmem0
#pragma HLS interface m_axi port = b bundle = gmem1
#pragma HLS interface m_axi port = c bundle = gmem2
#pragma HLS interface m_axi port = table bundle = gmem3
  SUM tile[TILE][TILE];
all_blocks:
  for (ulong block = 0; block < blocks; ++block) {
    const ulong at = table[4 * block], image_at = table[4 * block + 1];
    const ulong rows = table[4 * block + 2], columns = table[4 * block + 3];
  tiles:
    for (ulong top = 0; top < rows; top += TILE) {
      for (ulong left = 0; left < columns; left += TILE) {
        load(from + from_at + image_at, left, top, columns, rows, tile);
        add(b + b_at + at, c + c_at + at, top, left, rows, columns, tile);
      }
    }
  }
}
