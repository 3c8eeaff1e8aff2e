// C = B + A^T of a part, block by block, for CPUs. A group is one work item and computes a strip of a block of C: TILE
// rows, tile by tile. A tile is mirrored in registers, four by four numbers; a row of it is a cache line (half: half of
// one), so every line is read once, and written past the caches where the rows of C begin at lines.
//
//   NUMBER  half, float or double      TILE  numbers of a row of a tile, 8 or 16
//
// Arguments as of gpu.cl, but `strips`, per whole block, for `tiles`.
#define JOIN_WORDS(a, b) a##b
#define JOIN(a, b) JOIN_WORDS(a, b)

// half is computed in float, and moved as a word of its size.
#ifdef HALF
typedef ushort word;
typedef ushort4 four;
#define LOAD(from, at) vload_half(at, from)
#define STORE(value, to, at) vstore_half_rte(value, at, to)
#define LINE_OF(from) vload_half16(0, from)
#define STORE_LINE(line, to) vstore_half16_rte(line, 0, to)
#define STORE_PAST_CACHES(line, to) vstorea_half16_rte(line, 0, to)
typedef float16 line_of_numbers;
#else
typedef NUMBER word;
typedef JOIN(NUMBER, 4) four;
typedef JOIN(NUMBER, TILE) line_of_numbers;
#define LOAD(from, at) (from)[at]
#define STORE(value, to, at) (to)[at] = value
#define LINE_OF(from) JOIN(vload, TILE)(0, from)
#define STORE_LINE(line, to) JOIN(vstore, TILE)(line, 0, to)
#if __has_builtin(__builtin_nontemporal_store)
#define STORE_PAST_CACHES(line, to) __builtin_nontemporal_store(line, (__global line_of_numbers*)(to))
#else
#define STORE_PAST_CACHES(line, to) *(__global line_of_numbers*)(to) = line
#endif
#endif
#define LINE_BYTES (TILE * sizeof(word))

// Distance of prefetches in tiles: a tile's image is in as many rows as it has lines, which hardware prefetchers do not
// detect.
#define AHEAD 4
#define FETCH(address) __builtin_prefetch((const void*)(ulong)(address))

// a0 b0 a1 b1, and a2 b2 a3 b3
#define LOW_IN_TURN(a, b) (four)((a).s0, (b).s0, (a).s1, (b).s1)
#define HIGH_IN_TURN(a, b) (four)((a).s2, (b).s2, (a).s3, (b).s3)

// `to`, TILE numbers wide, becomes the mirror image of TILE rows, `pitch` numbers apart.
static inline __attribute__((always_inline)) void mirror(__global const word* from, ulong pitch, word* to) {
#pragma unroll
  for (uint j = 0; j < TILE; j += 4) {
#pragma unroll
    for (uint i = 0; i < TILE; i += 4) {
      __global const word* at = from + j * pitch + i;
      const four r0 = vload4(0, at), r1 = vload4(0, at + pitch);
      const four r2 = vload4(0, at + 2 * pitch), r3 = vload4(0, at + 3 * pitch);
      const four even_low = LOW_IN_TURN(r0, r2), even_high = HIGH_IN_TURN(r0, r2);
      const four odd_low = LOW_IN_TURN(r1, r3), odd_high = HIGH_IN_TURN(r1, r3);
      vstore4(LOW_IN_TURN(even_low, odd_low), 0, to + i * TILE + j);
      vstore4(HIGH_IN_TURN(even_low, odd_low), 0, to + (i + 1) * TILE + j);
      vstore4(LOW_IN_TURN(even_high, odd_high), 0, to + (i + 2) * TILE + j);
      vstore4(HIGH_IN_TURN(even_high, odd_high), 0, to + (i + 3) * TILE + j);
    }
  }
}

static inline __attribute__((always_inline)) void make_tile(__global const NUMBER* image, ulong rows,
                                                            __global const NUMBER* b, __global NUMBER* c, ulong columns,
                                                            bool in_lines) {
  word mirrored[TILE * TILE] __attribute__((aligned(64)));
  for (uint j = 0; j < TILE; ++j) FETCH(image + (AHEAD * TILE + j) * rows);
  mirror((__global const word*)image, rows, mirrored);
  for (uint i = 0; i < TILE; ++i) {
    FETCH(b + i * columns + AHEAD * TILE);
    const line_of_numbers sum = LINE_OF(b + i * columns) + LINE_OF((const NUMBER*)mirrored + i * TILE);
    if (in_lines)
      STORE_PAST_CACHES(sum, c + i * columns);
    else
      STORE_LINE(sum, c + i * columns);
  }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void transpose(
    __global const NUMBER* restrict from, __global const NUMBER* restrict b, __global NUMBER* restrict c,
    __global const ulong* restrict table, const ulong from_at, const ulong b_at, const ulong c_at, const ulong strips) {
  const ulong block = get_group_id(0) / strips, top = get_group_id(0) % strips * TILE;
  const ulong at = table[4 * block], image_at = table[4 * block + 1];
  const ulong rows = table[4 * block + 2], columns = table[4 * block + 3];
  if (top >= rows) return;
  __global const NUMBER* image = from + from_at + image_at + top;
  b += b_at + at + top * columns;
  c += c_at + at + top * columns;
  const bool in_lines = columns % TILE == 0 && (ulong)c % LINE_BYTES == 0;
  const ulong height = min((ulong)TILE, rows - top), in_tiles = height == TILE ? columns / TILE * TILE : 0;
  for (ulong left = 0; left < in_tiles; left += TILE)
    make_tile(image + left * rows, rows, b + left, c + left, columns, in_lines);
  for (ulong row = 0; row < height; ++row)
    for (ulong column = in_tiles; column < columns; ++column) {
      const ulong place = row * columns + column;
      STORE(LOAD(b, place) + LOAD(image, column * rows + row), c, place);
    }
}
