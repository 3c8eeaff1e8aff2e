// out = alpha A B + beta C for CPUs: A and B are packed into tiles that the innermost loop reads contiguously, and a
// work item multiplies tiles in registers. Every group is one work item.
//
// ELEMENT: element of the matrices. REAL: in which it is computed. HALF: ELEMENT is half, stored only.
// WIDTH: elements of a vector register. TILE_ROWS x TILE_COLUMNS of C are held in registers; TILE_COLUMNS is a multiple
// of WIDTH. DEPTH: inner indices of a packed tile, a multiple of UNROLL. Beyond the matrices packed tiles are zero.
//
// PARTS: A, B and C are parts of larger matrices, with an offset and a pitch (distance of rows) each, in elements; the
// product is added to C itself, which is `out`, and beta is 1.
//
// packed_a: [inner / DEPTH][rows / TILE_ROWS][TILE_ROWS][DEPTH]
// packed_b: [inner / DEPTH][columns / TILE_COLUMNS][DEPTH][TILE_COLUMNS]
#define JOINED(x, y) x##y
#define JOIN(x, y) JOINED(x, y)
#define VECTORS (TILE_COLUMNS / WIDTH)
#define UNROLL 4

typedef JOIN(REAL, WIDTH) Vector;

#ifdef HALF
#define LOAD(from) vload_half(0, from)
#define STORE(value, to) vstore_half_rte(value, 0, to)
#define LOAD_VECTOR(from) JOIN(vload_half, WIDTH)(0, from)
#define STORE_VECTOR(value, to) JOIN(JOIN(vstore_half, WIDTH), _rte)(value, 0, to)
#else
#define LOAD(from) (*(from))
#define STORE(value, to) (*(to) = (value))
#define LOAD_VECTOR(from) JOIN(vload, WIDTH)(0, from)
#define STORE_VECTOR(value, to) JOIN(vstore, WIDTH)(value, 0, to)
#endif
#define LOAD_SUMS(from) JOIN(vload, WIDTH)(0, from)
#define STORE_SUMS(value, to) JOIN(vstore, WIDTH)(value, 0, to)

// OpenCL's own prefetch() does nothing in PoCL; compilers made of clang have a builtin, for an address as such.
// In SYCL it is a call, which takes longer here than what it hides (3.2 times the time on a CPU with AVX2).
#ifdef __has_builtin
#if __has_builtin(__builtin_prefetch) && !defined(SYCL_LANGUAGE_VERSION)
#define PREFETCH(from) __builtin_prefetch((const void*)(size_t)(from))
#endif
#endif
#ifndef PREFETCH
#define PREFETCH(from)
#endif
#define AHEAD 8  // rows of B

#ifdef PARTS
#define PLACE_OF(matrix) , const ulong matrix##_offset, const ulong matrix##_pitch
#define PLACE(matrix, row, column, columns) (matrix##_offset + (ulong)(row)*matrix##_pitch + (column))
#else
#define PLACE_OF(matrix)
#define PLACE(matrix, row, column, columns) ((ulong)(row) * (columns) + (column))
#endif

#define ONE_WORK_ITEM __attribute__((reqd_work_group_size(1, 1, 1))) __attribute__((vec_type_hint(Vector)))

// One work item per tile of A.
ONE_WORK_ITEM __kernel void pack_a(__global const ELEMENT* restrict a, __global REAL* restrict packed_a,
                                   const uint rows, const uint inner PLACE_OF(a)) {
  const uint row_tiles = (rows + TILE_ROWS - 1) / TILE_ROWS;
  const uint tile = get_global_id(0);
  const uint row_begin = tile % row_tiles * TILE_ROWS;
  const uint inner_begin = tile / row_tiles * DEPTH;
  const uint length = min((uint)DEPTH, inner - inner_begin);
  __global REAL* to = packed_a + (ulong)tile * (TILE_ROWS * DEPTH);
  for (uint i = 0; i < TILE_ROWS; ++i, to += DEPTH) {
    uint k = 0;
    if (row_begin + i < rows) {
      __global const ELEMENT* from = a + PLACE(a, row_begin + i, inner_begin, inner);
      for (; k + WIDTH <= length; k += WIDTH) STORE_SUMS(LOAD_VECTOR(from + k), to + k);
      for (; k < length; ++k) to[k] = LOAD(from + k);
    }
    for (; k < DEPTH; ++k) to[k] = 0;
  }
}

// One work item per PACKED_ROWS rows of B: few, to share the work, but enough for whole cache lines of each tile.
ONE_WORK_ITEM __kernel void pack_b(__global const ELEMENT* restrict b, __global REAL* restrict packed_b,
                                   const uint columns, const uint inner PLACE_OF(b)) {
  const uint column_tiles = (columns + TILE_COLUMNS - 1) / TILE_COLUMNS;
  for (uint i = 0; i < PACKED_ROWS; ++i) {
    const uint row = get_global_id(0) * PACKED_ROWS + i;
    __global REAL* to = packed_b + ((ulong)(row / DEPTH) * column_tiles * DEPTH + row % DEPTH) * TILE_COLUMNS;
    __global const ELEMENT* from = b + PLACE(b, row, 0, columns);
    for (uint tile = 0; tile < column_tiles; ++tile, to += DEPTH * TILE_COLUMNS, from += TILE_COLUMNS) {
      if (row < inner && (tile + 1) * TILE_COLUMNS <= columns) {
        for (uint v = 0; v < VECTORS; ++v) STORE_SUMS(LOAD_VECTOR(from + v * WIDTH), to + v * WIDTH);
      } else {
        for (uint j = 0; j < TILE_COLUMNS; ++j)
          to[j] = row < inner && tile * TILE_COLUMNS + j < columns ? LOAD(from + j) : (REAL)0;
      }
    }
  }
}

// One work item per BAND x STRIP tiles of C, over the whole inner index. Partial sums are kept in `sums` (`out` itself
// unless HALF).
ONE_WORK_ITEM __kernel void multiply(__global const REAL* restrict packed_a, __global const REAL* restrict packed_b,
                                     __global const ELEMENT* c, __global ELEMENT* out, __global REAL* sums,
                                     const REAL alpha, const REAL beta, const uint rows, const uint columns,
                                     const uint inner PLACE_OF(c)) {
  const uint row_tiles = (rows + TILE_ROWS - 1) / TILE_ROWS;
  const uint column_tiles = (columns + TILE_COLUMNS - 1) / TILE_COLUMNS;
  const uint depths = (inner + DEPTH - 1) / DEPTH;
  const uint bands = (row_tiles + BAND - 1) / BAND;
  const uint row_tile_begin = get_global_id(0) % bands * BAND;
  const uint row_tile_end = min(row_tiles, row_tile_begin + BAND);
  const uint column_tile_begin = get_global_id(0) / bands * STRIP;
  const uint column_tile_end = min(column_tiles, column_tile_begin + STRIP);

  for (uint depth = 0; depth < depths; ++depth) {
#ifdef PARTS
    const bool first = true, last = true;  // each adds to C
#else
    const bool first = depth == 0, last = depth == depths - 1;
#endif
    for (uint column_tile = column_tile_begin; column_tile < column_tile_end; ++column_tile) {
      for (uint row_tile = row_tile_begin; row_tile < row_tile_end; ++row_tile) {
        __global const REAL* x = packed_a + ((ulong)depth * row_tiles + row_tile) * (TILE_ROWS * DEPTH);
        __global const REAL* y = packed_b + ((ulong)depth * column_tiles + column_tile) * (DEPTH * TILE_COLUMNS);
        const uint row = row_tile * TILE_ROWS, column = column_tile * TILE_COLUMNS;
        Vector sum[TILE_ROWS][VECTORS];
#pragma unroll
        for (uint i = 0; i < TILE_ROWS; ++i) {
#pragma unroll
          for (uint v = 0; v < VECTORS; ++v) {
            sum[i][v] = (Vector)(0);
            const ulong at = PLACE(c, row + i, column + v * WIDTH, columns);
            if (last) PREFETCH(c + at);
            if (!first) PREFETCH(sums + at);
          }
        }
        for (uint k = 0; k < DEPTH; k += UNROLL, x += UNROLL, y += UNROLL * TILE_COLUMNS) {
#pragma unroll
          for (uint u = 0; u < UNROLL; ++u) {
            Vector from_b[VECTORS];
#pragma unroll
            for (uint v = 0; v < VECTORS; ++v) {
              from_b[v] = LOAD_SUMS(y + u * TILE_COLUMNS + v * WIDTH);
              PREFETCH(y + (u + AHEAD) * TILE_COLUMNS + v * WIDTH);
            }
#pragma unroll
            for (uint i = 0; i < TILE_ROWS; ++i) {
              const Vector from_a = (Vector)(x[i * DEPTH + u]);
#pragma unroll
              for (uint v = 0; v < VECTORS; ++v) sum[i][v] = fma(from_a, from_b[v], sum[i][v]);
            }
          }
        }

        if (row + TILE_ROWS <= rows && column + TILE_COLUMNS <= columns) {
#pragma unroll
          for (uint i = 0; i < TILE_ROWS; ++i) {
#pragma unroll
            for (uint v = 0; v < VECTORS; ++v) {
              const ulong at = PLACE(c, row + i, column + v * WIDTH, columns);
              const Vector whole = first ? sum[i][v] : sum[i][v] + LOAD_SUMS(sums + at);
              if (last)
                STORE_VECTOR(alpha * whole + beta * LOAD_VECTOR(c + at), out + at);
              else
                STORE_SUMS(whole, sums + at);
            }
          }
        } else {
          REAL edge[TILE_ROWS * TILE_COLUMNS];
#pragma unroll
          for (uint i = 0; i < TILE_ROWS; ++i) {
#pragma unroll
            for (uint v = 0; v < VECTORS; ++v) STORE_SUMS(sum[i][v], edge + i * TILE_COLUMNS + v * WIDTH);
          }
          for (uint i = 0; i < min((uint)TILE_ROWS, rows - row); ++i) {
            for (uint j = 0; j < min((uint)TILE_COLUMNS, columns - column); ++j) {
              const ulong at = PLACE(c, row + i, column + j, columns);
              const REAL whole = first ? edge[i * TILE_COLUMNS + j] : edge[i * TILE_COLUMNS + j] + sums[at];
              if (last)
                STORE(alpha * whole + beta * LOAD(c + at), out + at);
              else
                sums[at] = whole;
            }
          }
        }
      }
    }
  }
}
