// Kernel 1 of SSCA1 on a device: the cells of a rank in tiles, anti-diagonal by anti-diagonal of tiles. A group scores one
// tile, all its columns from left to right: each work item has ROWS rows and is a column behind the item above it.
//
// Codes of codons are codon + 256 * number of the amino acid. Codes beyond the strings are like no other, so an
// alignment may end before them. Rows are counted from the rank's first one.
//
// By -D:
//   SCORE    int or short
//   GROUP    work items of a group
//   ROWS     rows of a work item
//   COLUMNS  columns of a tile
//   EXACT, SIMILAR, DISSIMILAR, OPEN, EXTEND, MINIMUM   of the scores; OPEN is the cost of a gap of one codon
//   SHARED   1: rows lie in local memory, side by side for vectors; 0: in registers
#ifndef GLOBAL_PTR
#define GLOBAL_PTR(T) __global T*
#endif
#define HIGHER(a, b) ((a) > (b) ? (a) : (b))
#if SHARED
#define ROWS_OF(T, name) __local T name[ROWS * GROUP]
#define AT(name, row) name[(row) * GROUP + item]
#else
#define ROWS_OF(T, name) T name[ROWS]
#define AT(name, row) name[row]
#endif

int weight(const uint one, const uint other) {
  return one == other ? EXACT : one >> 8 == other >> 8 ? SIMILAR : DISSIMILAR;
}

// Before the first tile: no alignment reaches the rank's rows from the left, nor those of the first rank from above. Ends that were
// found before are overwritten.
__kernel void begin(__global SCORE* restrict last, __global SCORE* restrict along, __global SCORE* restrict corners,
                    __global SCORE* restrict edges, __global int* restrict highest, __global uint* restrict ends,
                    __global uint* restrict count, const uint rows, const uint tile_rows, const uint edge_values,
                    const uint edge_value, const uint end_values) {
  const uint step = (uint)get_global_size(0);
  for (uint i = (uint)get_global_id(0); i < rows; i += step) last[i] = along[i] = 0;
  for (uint i = (uint)get_global_id(0); i < tile_rows; i += step) corners[i] = highest[i] = 0;
  for (uint i = (uint)get_global_id(0); i < edge_values; i += step) edges[i] = (SCORE)edge_value;
  for (uint i = (uint)get_global_id(0); i < end_values; i += step) ends[i] = 0xffffffffu;
  if (get_global_id(0) == 0) count[0] = 0;
}

// Group g scores the tile in row `first` + g of tiles, on anti-diagonal `diagonal`.
//   last, along   of each row: V of the column before, and E of the next one
//   edges         of each column: V and F below the last row scored
//   corners       of each row of tiles: V of the row above, in the column before
//   highest       of each row of tiles: the highest score of a pair
//   ends          score, row and column of each end found; `count` may exceed `room`
__kernel void score(__global const ushort* restrict main_codes, __global const ushort* restrict match_codes,
                    __global SCORE* restrict last, __global SCORE* restrict along, __global SCORE* restrict edges,
                    __global SCORE* restrict corners, __global int* restrict highest, __global uint* restrict ends,
                    volatile __global uint* restrict count, const uint rows, const uint first, const uint diagonal,
                    const uint room) {
  __local SCORE passed_v[2 * GROUP];
  __local SCORE passed_down[2 * GROUP];
  __local int highest_of[GROUP];
  ROWS_OF(SCORE, v);
  ROWS_OF(SCORE, e);
  ROWS_OF(SCORE, pairs);
  ROWS_OF(ushort, codes);
  const uint item = (uint)get_local_id(0);
  const uint tile = first + (uint)get_group_id(0);
  const uint row = (tile * GROUP + item) * ROWS;
  const uint column = (diagonal - tile) * COLUMNS;
  const bool is_mine = row < rows;
  const bool is_last = row + ROWS >= rows || item == GROUP - 1;
  int most = 0, corner_of_next = 0;
  if (is_mine) {
    corner_of_next = item == 0 ? corners[tile] : last[row - 1];
    for (uint r = 0; r < ROWS; ++r) {
      AT(codes, r) = main_codes[row + r];
      AT(v, r) = last[row + r];
      AT(e, r) = along[row + r];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = 0; step < COLUMNS + GROUP - 1; ++step) {
    const bool is_inside = is_mine && step >= item && step - item < COLUMNS;
    const uint at = column + step - item;
    int most_of_column = 0;
    if (is_inside) {
      const uint from = (step + 1) % 2 * GROUP + item - 1;
      const int above = item == 0 ? edges[2 * at] : passed_v[from];
      int down = item == 0 ? edges[2 * at + 1] : passed_down[from];
      int corner = corner_of_next;
      corner_of_next = above;
      const uint other = match_codes[at];
#pragma unroll
      for (uint r = 0; r < ROWS; ++r) {
        const int pair = corner + weight(AT(codes, r), other);
        const int begun = pair - OPEN;
        const int sideways = AT(e, r);
        const int gap = HIGHER(sideways, down);
        int best = HIGHER(pair, gap);
        best = HIGHER(best, 0);
        corner = AT(v, r);
        AT(v, r) = (SCORE)best;
        AT(e, r) = (SCORE)(HIGHER(sideways - EXTEND, begun));
        down = HIGHER(down - EXTEND, begun);
        AT(pairs, r) = (SCORE)pair;
        most_of_column = HIGHER(most_of_column, pair);
      }
      const uint to = step % 2 * GROUP + item;
      passed_v[to] = AT(v, ROWS - 1);
      passed_down[to] = (SCORE)down;
      if (is_last) {
        edges[2 * at] = AT(v, ROWS - 1);
        edges[2 * at + 1] = (SCORE)down;
      }
    }
#if SHARED
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    if (most_of_column > MINIMUM) {
      most = HIGHER(most, most_of_column);
      for (uint r = 0; r < ROWS; ++r) {
        if (AT(pairs, r) <= MINIMUM || AT(pairs, r) != AT(v, r)) continue;
        if (weight(AT(codes, r), match_codes[at]) <= 0 || weight(main_codes[row + r + 1], match_codes[at + 1]) > 0)
          continue;
        const uint place = atomic_add(count, 1u);
        if (place >= room) continue;
        ends[3 * (ulong)place] = (uint)AT(pairs, r);
        ends[3 * (ulong)place + 1] = row + r;
        ends[3 * (ulong)place + 2] = at;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (is_mine) {
    for (uint r = 0; r < ROWS; ++r) {
      last[row + r] = AT(v, r);
      along[row + r] = AT(e, r);
    }
  }
  highest_of[item] = most;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item != 0) return;
  corners[tile] = (SCORE)corner_of_next;
  for (uint i = 0; i < GROUP; ++i) most = HIGHER(most, highest_of[i]);
  highest[tile] = HIGHER(most, highest[tile]);
}
