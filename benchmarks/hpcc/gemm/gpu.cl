// out = alpha A B + beta C for GPUs: a group multiplies a tile of C; strips of A and B are loaded into local memory
// while the previous strips are multiplied in registers. In the subset of OpenCL C that CUDA compiles as well.
//
// ELEMENT: stored type. REAL: type of sums. One of HALF, TF32 or neither. ROWS x COLUMNS: tile of a group of ITEMS work
// items. DEPTH: inner indices of a strip. The matrices A (inner wide) and B (`width` wide) consist of whole tiles and
// strips, padded by pad() if necessary; C and out do not if GUARD is defined.
//
// PARTS: the matrices are parts of their buffers; a_pitch and c_pitch are elements between rows of A, and of C and out.
// For HPL's updates.
//
// MATRIX_UNITS: the PTX architecture of the matrix instructions (80, 90); undefined for plain arithmetic.
#ifndef LOCAL_PTR
#define LOCAL_PTR(type) __local type*
#endif
#ifndef GLOBAL_PTR
#define GLOBAL_PTR(type) __global type*
#endif
#ifndef MAKE
#define MAKE(type) (type)
#endif
#ifdef __CUDACC__
#define GROUP_OF(items) __launch_bounds__(items)
#else
#define GROUP_OF(items) __attribute__((reqd_work_group_size(items, 1, 1)))
#endif

#ifdef PARTS
#define PLACES , const ulong a_pitch, const ulong c_pitch, const ulong a_begin, const ulong b_begin, const ulong c_begin
#define GO_TO_PLACES \
  a += a_begin;      \
  b += b_begin;      \
  c += c_begin;      \
  out += c_begin
#define A_PITCH a_pitch
#define C_PITCH c_pitch
#else
#define PLACES
#define GO_TO_PLACES
#define A_PITCH inner
#define C_PITCH columns
#endif

// A chunk is 16 bytes of contiguous elements, the most that one instruction moves.
#ifdef HALF
#define CHUNK_ITEMS 8
#ifdef __CUDACC__
#define FROM_HALF(value, bits) asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits))
#define TO_HALF(bits, value) asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value))
#else
#define FROM_HALF(value, bits) value = vload_half(0, (const half*)&bits)
#define TO_HALF(bits, value) vstore_half_rte(value, 0, (half*)&bits)
#endif
#else
#define CHUNK_ITEMS (16 / (int)sizeof(ELEMENT))
#endif

// out[at] from its sum, with as many elements at once as are adjacent in registers.
#ifdef HALF
#define STORE(at, value)                               \
  {                                                    \
    const ushort c_bits = c[at];                       \
    ushort out_bits;                                   \
    float c_value;                                     \
    FROM_HALF(c_value, c_bits);                        \
    TO_HALF(out_bits, alpha*(value) + beta * c_value); \
    out[at] = out_bits;                                \
  }
#else
#define STORE(at, value) out[at] = alpha * (value) + beta * c[at]
#endif
#ifdef DOUBLE
typedef double2 Part;
#define PART 2
#define STORE_PART(at, v0, v1, v2, v3)                                                                               \
  {                                                                                                                  \
    const Part from_c = *(GLOBAL_PTR(const Part))(c + (at));                                                         \
    *(GLOBAL_PTR(Part))(out + (at)) = MAKE(double2)(alpha * (v0) + beta * from_c.x, alpha * (v1) + beta * from_c.y); \
  }
#else
typedef float4 Part;
#define PART 4
#define STORE_PART(at, v0, v1, v2, v3)                                                                              \
  {                                                                                                                 \
    const Part from_c = *(GLOBAL_PTR(const Part))(c + (at));                                                        \
    *(GLOBAL_PTR(Part))(out + (at)) = MAKE(float4)(alpha * (v0) + beta * from_c.x, alpha * (v1) + beta * from_c.y,  \
                                                   alpha * (v2) + beta * from_c.z, alpha * (v3) + beta * from_c.w); \
  }
#endif

// Groups take tiles in bands of BAND rows of tiles, so that concurrent ones share strips in the cache.
#define BAND 8

// Work items of a group copy consecutive rows.
__kernel GROUP_OF(256) void pad(__global const ELEMENT* from, __global ELEMENT* to, const uint rows, const uint columns,
                                const uint padded_columns) {
  const uint row = get_group_id(0);
  for (uint j = get_local_id(0); j < padded_columns; j += 256)
    to[(ulong)row * padded_columns + j] = row < rows && j < columns ? from[(ulong)row * columns + j] : (ELEMENT)0;
}

#ifndef MATRIX_UNITS

// Plain arithmetic. A work item keeps EACH x EACH sums. Elements in local memory are REAL, A's ordered by inner index.
#define EACH 8
#define A_WIDTH (ROWS + PART)  // of a strip's line in local memory; the padding avoids bank conflicts of transposed writes
#define A_PARTS (ROWS * DEPTH / PART / ITEMS)  // of a strip, copied by a work item
#define B_PARTS (COLUMNS * DEPTH / PART / ITEMS)
#define A_ROWS_AT_ONCE (ITEMS / (DEPTH / PART))
#define B_ROWS_AT_ONCE (ITEMS / (COLUMNS / PART))

#ifdef HALF
#define LOAD_PART(part, from, index)           \
  {                                            \
    const ushort bits_0 = (from)[(index)];     \
    const ushort bits_1 = (from)[(index) + 1]; \
    const ushort bits_2 = (from)[(index) + 2]; \
    const ushort bits_3 = (from)[(index) + 3]; \
    FROM_HALF(part.x, bits_0);                 \
    FROM_HALF(part.y, bits_1);                 \
    FROM_HALF(part.z, bits_2);                 \
    FROM_HALF(part.w, bits_3);                 \
  }
#elif defined(TF32)
// Rounding of factors in matrix units: to nearest with 11 significant bits, ties away from zero.
#ifdef __CUDACC__
#define SHORTEN(value) __uint_as_float((__float_as_uint(value) + 0x1000) & 0xffffe000)
#else
#define SHORTEN(value) as_float((as_uint(value) + 0x1000) & 0xffffe000)
#endif
#define LOAD_PART(part, from, index)                                                                             \
  {                                                                                                              \
    const Part long_part = *(GLOBAL_PTR(const Part))((from) + (index));                                          \
    part = MAKE(float4)(SHORTEN(long_part.x), SHORTEN(long_part.y), SHORTEN(long_part.z), SHORTEN(long_part.w)); \
  }
#else
#define LOAD_PART(part, from, index) part = *(GLOBAL_PTR(const Part))((from) + (index))
#endif

__kernel GROUP_OF(ITEMS) void gemm(__global const ELEMENT* a, __global const ELEMENT* b, __global const ELEMENT* c,
                                   __global ELEMENT* out, const REAL alpha, const REAL beta, const uint rows,
                                   const uint columns, const uint inner, const uint width PLACES) {
  GO_TO_PLACES;
  __local Part a_strips[2 * DEPTH * A_WIDTH / PART];
  __local Part b_strips[2 * DEPTH * COLUMNS / PART];
  LOCAL_PTR(REAL) a_items = (LOCAL_PTR(REAL))a_strips;

  const uint row_tiles = (rows + ROWS - 1) / ROWS, column_tiles = (columns + COLUMNS - 1) / COLUMNS;
  const uint band = get_group_id(0) / (BAND * column_tiles) * BAND, within = get_group_id(0) % (BAND * column_tiles);
  const uint height = min((uint)BAND, row_tiles - band);
  const uint tile_row = (band + within % height) * ROWS, tile_column = within / height * COLUMNS;

  // Positions of this work item in the strips that it copies, and in the tile that it multiplies: 8 x 4 work items
  // share 64 x 32 elements, so neighbours read adjacent parts of local memory.
  const uint item = get_local_id(0), lane = item % 32, warp = item / 32;
  const uint first_row_part = warp / (COLUMNS / 32) * (64 / PART) + lane / 4;
  const uint first_column_part = warp % (COLUMNS / 32) * (32 / PART) + lane % 4;
  const uint a_row = item / (DEPTH / PART), a_part = item % (DEPTH / PART);
  const uint b_row = item / (COLUMNS / PART), b_part = item % (COLUMNS / PART);
  __global const ELEMENT* a_from = a + (ulong)(tile_row + a_row) * A_PITCH + a_part * PART;
  __global const ELEMENT* b_from = b + (ulong)b_row * width + tile_column + b_part * PART;

  REAL sum[EACH][EACH];
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
#pragma unroll
    for (int j = 0; j < EACH; ++j) sum[i][j] = 0;
  }
  Part a_next[A_PARTS], b_next[B_PARTS];

  const uint strips = inner / DEPTH;
  for (uint strip = 0; strip <= strips; ++strip) {
    // Prefetches one strip: its loads are in progress while the previous strip is multiplied.
    if (strip < strips) {
#pragma unroll
      for (int i = 0; i < A_PARTS; ++i) LOAD_PART(a_next[i], a_from, (ulong)(i * A_ROWS_AT_ONCE) * A_PITCH);
#pragma unroll
      for (int i = 0; i < B_PARTS; ++i) LOAD_PART(b_next[i], b_from, (ulong)(i * B_ROWS_AT_ONCE) * width);
      a_from += DEPTH;
      b_from += (ulong)DEPTH * width;
    }
    if (strip > 0) {
      const uint a_base = (strip - 1) % 2 * (DEPTH * A_WIDTH / PART) + first_row_part;
      const uint b_base = (strip - 1) % 2 * (DEPTH * COLUMNS / PART) + first_column_part;
#pragma unroll
      for (int k = 0; k < DEPTH; ++k) {
        REAL x[EACH], y[EACH];
#pragma unroll
        for (int q = 0; q < EACH / PART; ++q) {
          const Part from_a = a_strips[a_base + k * (A_WIDTH / PART) + q * 8];
          const Part from_b = b_strips[b_base + k * (COLUMNS / PART) + q * 4];
          x[q * PART] = from_a.x;
          x[q * PART + 1] = from_a.y;
          y[q * PART] = from_b.x;
          y[q * PART + 1] = from_b.y;
#if PART == 4
          x[q * PART + 2] = from_a.z;
          x[q * PART + 3] = from_a.w;
          y[q * PART + 2] = from_b.z;
          y[q * PART + 3] = from_b.w;
#endif
        }
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
#pragma unroll
          for (int j = 0; j < EACH; ++j) sum[i][j] = fma(x[i], y[j], sum[i][j]);
        }
      }
    }
    if (strip < strips) {
      const uint a_base = strip % 2 * (DEPTH * A_WIDTH) + a_part * PART * A_WIDTH + a_row;
      const uint b_base = strip % 2 * (DEPTH * COLUMNS / PART) + item;
#pragma unroll
      for (int i = 0; i < A_PARTS; ++i) {
        a_items[a_base + i * A_ROWS_AT_ONCE] = a_next[i].x;
        a_items[a_base + i * A_ROWS_AT_ONCE + A_WIDTH] = a_next[i].y;
#if PART == 4
        a_items[a_base + i * A_ROWS_AT_ONCE + 2 * A_WIDTH] = a_next[i].z;
        a_items[a_base + i * A_ROWS_AT_ONCE + 3 * A_WIDTH] = a_next[i].w;
#endif
      }
#pragma unroll
      for (int i = 0; i < B_PARTS; ++i) b_strips[b_base + i * ITEMS] = b_next[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    const uint row = tile_row + (first_row_part + i / PART * 8) * PART + i % PART;
#pragma unroll
    for (int q = 0; q < EACH / PART; ++q) {
      const uint column = tile_column + (first_column_part + q * 4) * PART;
      const ulong at = (ulong)row * C_PITCH + column;
#if defined(GUARD) || defined(HALF)
#pragma unroll
      for (int j = 0; j < PART; ++j) {
        if (row < rows && column + j < columns) STORE(at + j, sum[i][q * PART + j]);
      }
#else
      STORE_PART(at, sum[i][q * PART], sum[i][q * PART + 1], sum[i][q * PART + 2], sum[i][q * PART + 3]);
#endif
    }
  }
}

#else

// Matrix units: warps of 32 work items multiply fragments that they hold together. PTX's layout (mma, "row.col"): with
// g = lane / 4 and t = lane % 4, a work item holds rows g and g + 8 of the first factor, column g of the second, and of
// the product the columns 2 t and 2 t + 1 in rows g and g + 8. The mapping of matrix indices to fragment indices is
// free as long as the factors agree. So the units compute C^T = B^T A^T, where a work item takes whole chunks: of A
// chunk t of its row of a strip, of B chunk g in the rows of these inner indices. Two adjacent columns of the chunk are
// rows g and g + 8 of a fragment of B^T, and the work item obtains chunk g of C's rows 2 t and 2 t + 1.
//
// A strip is four chunks deep. B's chunks are permuted within a row, which avoids bank conflicts in local memory.
#define WARP_ROWS 64
#define ROW_FRAGMENTS (WARP_ROWS / 8)
#define GROUPS (WARP_COLUMNS / (8 * CHUNK_ITEMS))  // of eight chunks
#define COLUMN_FRAGMENTS (GROUPS * (CHUNK_ITEMS / 2))
#define A_CHUNKS (ROWS * 4)  // per strip
#define B_ROW_CHUNKS (COLUMNS / CHUNK_ITEMS)
#define B_CHUNKS (DEPTH * B_ROW_CHUNKS)
#define STRIP_CHUNKS (A_CHUNKS + B_CHUNKS)
#define B_PLACE(k, chunk) ((k)*B_ROW_CHUNKS + ((chunk) ^ ((k) / CHUNK_ITEMS * 2)))

// PTX instructions. Asynchronous copies from global to local memory complete in order, with COPIES_LEFT remaining.
#ifndef COPY_CHUNK
#ifdef __CUDACC__
#define LOCAL_ADDRESS(pointer) ((uint)__cvta_generic_to_shared(pointer))
#else
#define LOCAL_ADDRESS(pointer) ((uint)(size_t)(pointer))
#endif
#define COPY_CHUNK(to, from) \
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(LOCAL_ADDRESS(to)), "l"(from) : "memory")
#define END_OF_STRIP() asm volatile("cp.async.commit_group;" ::: "memory")
#define STRIPS_LEFT(count) asm volatile("cp.async.wait_group " count ";" ::: "memory")
#ifdef DOUBLE
#if MATRIX_UNITS >= 90
#define MULTIPLY(c, a0, a1, a2, a3, b0, b1)                                                             \
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, " \
      "{%0, %1, %2, %3};"                                                                               \
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])                                                  \
      : "d"(a0), "d"(a1), "d"(a2), "d"(a3), "d"(b0), "d"(b1))
#else
#define MULTIPLY_8(c0, c1, a, b)                                                        \
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" \
      : "+d"(c0), "+d"(c1)                                                              \
      : "d"(a), "d"(b))
#define MULTIPLY(c, a0, a1, a2, a3, b0, b1) \
  {                                         \
    MULTIPLY_8(c[0], c[1], a0, b0);         \
    MULTIPLY_8(c[2], c[3], a1, b0);         \
    MULTIPLY_8(c[0], c[1], a2, b1);         \
    MULTIPLY_8(c[2], c[3], a3, b1);         \
  }
#endif
#else
#ifdef HALF
// The low or the high halves of two words.
#define LOW_HALVES "0x5410"
#define HIGH_HALVES "0x7632"
#define PAIR(pair, first, second, halves) asm("prmt.b32 %0, %1, %2, " halves ";" : "=r"(pair) : "r"(first), "r"(second))
#define SHAPE "m16n8k16.row.col.f32.f16.f16.f32"
#else
#define SHAPE "m16n8k8.row.col.f32.tf32.tf32.f32"
#endif
#define MULTIPLY(c, a0, a1, a2, a3, b0, b1)                                                        \
  asm("mma.sync.aligned." SHAPE " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                             \
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1))
#endif
#endif

// A chunk in registers.
#ifdef DOUBLE
typedef double2 Chunk;
#define LAST_STRIPS_LEFT "1"
#define STAGES 3
#else
typedef uint4 Chunk;
#define LAST_STRIPS_LEFT "0"
#define STAGES 2
#endif

__kernel GROUP_OF(ITEMS) void gemm(__global const ELEMENT* a, __global const ELEMENT* b, __global const ELEMENT* c,
                                   __global ELEMENT* out, const REAL alpha, const REAL beta, const uint rows,
                                   const uint columns, const uint inner, const uint width PLACES) {
  GO_TO_PLACES;
  __local Chunk strips_of_tile[STAGES * STRIP_CHUNKS];

  const uint row_tiles = (rows + ROWS - 1) / ROWS, column_tiles = (columns + COLUMNS - 1) / COLUMNS;
  const uint band = get_group_id(0) / (BAND * column_tiles) * BAND, within = get_group_id(0) % (BAND * column_tiles);
  const uint height = min((uint)BAND, row_tiles - band);
  const uint tile_row = (band + within % height) * ROWS, tile_column = within / height * COLUMNS;

  const uint item = get_local_id(0), lane = item % 32, g = lane / 4, t = lane % 4, warp = item / 32;
  const uint first_row = warp / (COLUMNS / WARP_COLUMNS) * WARP_ROWS;
  const uint first_chunk = warp % (COLUMNS / WARP_COLUMNS) * (WARP_COLUMNS / CHUNK_ITEMS);
  const uint a_row = item / 4, b_row = item / B_ROW_CHUNKS, b_chunk = item % B_ROW_CHUNKS;
  __global const ELEMENT* a_from = a + (ulong)(tile_row + a_row) * A_PITCH + item % 4 * CHUNK_ITEMS;
  __global const ELEMENT* b_from = b + (ulong)b_row * width + tile_column + b_chunk * CHUNK_ITEMS;

  // Of the chunks that this work item multiplies first.
  const uint a_place = (first_row + g) * 4 + t;
  const uint b_place = A_CHUNKS + B_PLACE(t * CHUNK_ITEMS, first_chunk + g);

  REAL sum[ROW_FRAGMENTS][COLUMN_FRAGMENTS][4];
#pragma unroll
  for (int i = 0; i < ROW_FRAGMENTS; ++i) {
#pragma unroll
    for (int j = 0; j < COLUMN_FRAGMENTS; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) sum[i][j][e] = 0;
    }
  }

  const uint strips = inner / DEPTH;
#define COPY_STRIP(place)                                                                                      \
  {                                                                                                            \
    _Pragma("unroll") for (int i = 0; i < A_CHUNKS / ITEMS; ++i)                                               \
        COPY_CHUNK(&strips_of_tile[(place) + item + i * ITEMS], a_from + (ulong)(i * (ITEMS / 4)) * A_PITCH);  \
    _Pragma("unroll") for (int i = 0; i < B_CHUNKS / ITEMS; ++i)                                               \
        COPY_CHUNK(&strips_of_tile[(place) + A_CHUNKS + B_PLACE(b_row + i * (ITEMS / B_ROW_CHUNKS), b_chunk)], \
                   b_from + (ulong)(i * (ITEMS / B_ROW_CHUNKS)) * width);                                      \
    a_from += DEPTH;                                                                                           \
    b_from += (ulong)DEPTH * width;                                                                            \
  }
#define TAKE_A(i, place) from_a[i] = strips_of_tile[(place) + a_place + 8 * (i)*4]
#define TAKE_B(h, k, place) from_b[h][k] = strips_of_tile[(place) + b_place + (k)*B_ROW_CHUNKS + 8 * (h)]
  Chunk from_a[ROW_FRAGMENTS], from_b[GROUPS][CHUNK_ITEMS];

#ifdef TF32
  // Fragments are loaded while others are multiplied: all warps run in step between barriers, so loading everything
  // first would leave the matrix units idle. Column group 0, then 1; rows in two halves. All of a strip is in registers
  // before its second half is multiplied, and its place is free for the next but one strip.
#define HALF_OF_ROWS (ROW_FRAGMENTS / 2)
  // The units truncate factors to 11 significant bits; adding half of the last bit rounds them.
#define ROUND(chunk)   \
  {                    \
    chunk.x += 0x1000; \
    chunk.y += 0x1000; \
    chunk.z += 0x1000; \
    chunk.w += 0x1000; \
  }
#define TAKE_ROWS(first, place) _Pragma("unroll") for (int i = 0; i < HALF_OF_ROWS; ++i) TAKE_A((first) + i, place)
#define ROUND_ROWS(first) _Pragma("unroll") for (int i = 0; i < HALF_OF_ROWS; ++i) ROUND(from_a[(first) + i])
#define TAKE_GROUP(h, place) _Pragma("unroll") for (int k = 0; k < CHUNK_ITEMS; ++k) TAKE_B(h, k, place)
#define ROUND_GROUP(h) _Pragma("unroll") for (int k = 0; k < CHUNK_ITEMS; ++k) ROUND(from_b[h][k])
  // Two inner indices of each t at a time.
#define STEP(h, i, k, first, second)                                                                              \
  MULTIPLY(sum[i][2 * h], from_b[h][k].x, from_b[h][k].y, from_b[h][k + 1].x, from_b[h][k + 1].y, first, second); \
  MULTIPLY(sum[i][2 * h + 1], from_b[h][k].z, from_b[h][k].w, from_b[h][k + 1].z, from_b[h][k + 1].w, first, second)
#define MULTIPLY_ROWS(h, first)                                              \
  _Pragma("unroll") for (int i = (first); i < (first) + HALF_OF_ROWS; ++i) { \
    STEP(h, i, 0, from_a[i].x, from_a[i].y);                                 \
    STEP(h, i, 2, from_a[i].z, from_a[i].w);                                 \
  }
  COPY_STRIP(0);
  END_OF_STRIP();
  if (strips > 1) COPY_STRIP(STRIP_CHUNKS);
  END_OF_STRIP();
  STRIPS_LEFT("1");
  barrier(CLK_LOCAL_MEM_FENCE);
  TAKE_GROUP(0, 0);
  TAKE_ROWS(0, 0);
  for (uint strip = 0; strip < strips; ++strip) {
    const uint place = strip % 2 * STRIP_CHUNKS, next = STRIP_CHUNKS - place;
    TAKE_ROWS(HALF_OF_ROWS, place);
    TAKE_GROUP(1, place);
    ROUND_GROUP(0);
    ROUND_ROWS(0);
    MULTIPLY_ROWS(0, 0);
    ROUND_ROWS(HALF_OF_ROWS);
    MULTIPLY_ROWS(0, HALF_OF_ROWS);
    STRIPS_LEFT("0");
    barrier(CLK_LOCAL_MEM_FENCE);
    if (strip + 2 < strips) COPY_STRIP(place);
    END_OF_STRIP();
    ROUND_GROUP(1);
    TAKE_GROUP(0, next);  // after the last strip: unused values
    MULTIPLY_ROWS(1, 0);
    TAKE_ROWS(0, next);
    MULTIPLY_ROWS(1, HALF_OF_ROWS);
  }
#else
  for (uint strip = 0; strip < strips + STAGES - 1; ++strip) {
    if (strip >= STAGES - 1) {
      STRIPS_LEFT(LAST_STRIPS_LEFT);
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    // STAGES - 1 strips ahead, into the place of the strip just completed by all.
    if (strip < strips) COPY_STRIP(strip % STAGES * STRIP_CHUNKS);
    END_OF_STRIP();

    if (strip >= STAGES - 1) {
      const uint place = (strip - (STAGES - 1)) % STAGES * STRIP_CHUNKS;
#pragma unroll
      for (int i = 0; i < ROW_FRAGMENTS; ++i) TAKE_A(i, place);
#pragma unroll
      for (int h = 0; h < GROUPS; ++h) {
#pragma unroll
        for (int k = 0; k < CHUNK_ITEMS; ++k) TAKE_B(h, k, place);
      }

#if defined(DOUBLE)
#pragma unroll
      for (int h = 0; h < GROUPS; ++h) {
#pragma unroll
        for (int i = 0; i < ROW_FRAGMENTS; ++i)
          MULTIPLY(sum[i][h], from_b[h][0].x, from_b[h][0].y, from_b[h][1].x, from_b[h][1].y, from_a[i].x, from_a[i].y);
      }
#else
      // Words of the fragments pair the halves of two inner indices: low halves are of even columns, high ones of odd.
#define FRAGMENT(j, word)                                                             \
  {                                                                                   \
    PAIR(b[j][0], from_b[0][4 * k].word, from_b[0][4 * k + 1].word, LOW_HALVES);      \
    PAIR(b[j][1], from_b[0][4 * k].word, from_b[0][4 * k + 1].word, HIGH_HALVES);     \
    PAIR(b[j][2], from_b[0][4 * k + 2].word, from_b[0][4 * k + 3].word, LOW_HALVES);  \
    PAIR(b[j][3], from_b[0][4 * k + 2].word, from_b[0][4 * k + 3].word, HIGH_HALVES); \
  }
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        uint b[COLUMN_FRAGMENTS][4];
        FRAGMENT(0, x);
        FRAGMENT(1, y);
        FRAGMENT(2, z);
        FRAGMENT(3, w);
#pragma unroll
        for (int i = 0; i < ROW_FRAGMENTS; ++i) {
#pragma unroll
          for (int j = 0; j < COLUMN_FRAGMENTS; ++j) {
            if (k == 0)
              MULTIPLY(sum[i][j], b[j][0], b[j][1], b[j][2], b[j][3], from_a[i].x, from_a[i].y);
            else
              MULTIPLY(sum[i][j], b[j][0], b[j][1], b[j][2], b[j][3], from_a[i].z, from_a[i].w);
          }
        }
      }
#endif
    }
  }
#endif

#define SUM(j) sum[i][h * (CHUNK_ITEMS / 2) + (j) / 2][(j) % 2 * 2 + e]
#pragma unroll
  for (int i = 0; i < ROW_FRAGMENTS; ++i) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const uint row = tile_row + first_row + 8 * i + 2 * t + e;
#pragma unroll
      for (int h = 0; h < GROUPS; ++h) {
        const uint column = tile_column + (first_chunk + 8 * h + g) * CHUNK_ITEMS;
        const ulong at = (ulong)row * C_PITCH + column;
#if defined(GUARD) || defined(HALF)
#pragma unroll
        for (int j = 0; j < CHUNK_ITEMS; ++j) {
          if (row < rows && column + j < columns) STORE(at + j, SUM(j));
        }
#else
        STORE_PART(at, SUM(0), SUM(1), SUM(2), SUM(3));
#endif
      }
    }
  }
}

#endif
