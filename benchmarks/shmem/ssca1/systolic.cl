// Kernel 1 of SSCA1 in the form for FPGAs: a systolic array. One work item scores a tile of LANES rows, all its columns
// from left to right: lane k has row k, is a column behind lane k - 1, and takes from it what that lane scored in the step
// before. Codes of columns move through the lanes in a shift register. Arguments and codes are those of ssca1.cl.
//
// By -D:
//   SCORE    int or short
//   LANES    rows of a tile
//   COLUMNS  columns of a tile
//   EXACT, SIMILAR, DISSIMILAR, OPEN, EXTEND, MINIMUM   of the scores; OPEN is the cost of a gap of one codon
#define HIGHER(a, b) ((a) > (b) ? (a) : (b))

int weight(const uint one, const uint other) {
  return one == other ? EXACT : one >> 8 == other >> 8 ? SIMILAR : DISSIMILAR;
}

__kernel void begin(__global SCORE* restrict last, __global SCORE* restrict along, __global SCORE* restrict corners,
                    __global SCORE* restrict edges, __global int* restrict highest, __global uint* restrict ends,
                    __global uint* restrict count, const uint rows, const uint tile_rows, const uint edge_values,
                    const uint edge_value, const uint end_values) {
  for (uint i = 0; i < rows; ++i) last[i] = along[i] = 0;
  for (uint i = 0; i < tile_rows; ++i) corners[i] = highest[i] = 0;
  for (uint i = 0; i < edge_values; ++i) edges[i] = (SCORE)edge_value;
  for (uint i = 0; i < end_values; ++i) ends[i] = 0xffffffffu;
  count[0] = 0;
}

__kernel void score(__global const ushort* restrict main_codes, __global const ushort* restrict match_codes,
                    __global SCORE* restrict last, __global SCORE* restrict along, __global SCORE* restrict edges,
                    __global SCORE* restrict corners, __global int* restrict highest, __global uint* restrict ends,
                    __global uint* restrict count, const uint rows, const uint first, const uint diagonal,
                    const uint room) {
  const uint row = first * LANES, column = (diagonal - first) * COLUMNS;
  const uint lanes = rows - row < LANES ? rows - row : LANES;
  int v[LANES], e[LANES], corner[LANES];  // of each lane's row: V of the column before, E; V above, in the column before
  int below_v[LANES], below_down[LANES];  // what each lane gives to the next
  int pairs[LANES];
  uint codes[LANES], others[LANES];
  for (uint k = 0; k < LANES; ++k) {
    const bool is_row = k < lanes;
    codes[k] = is_row ? main_codes[row + k] : 0xffffu;
    v[k] = is_row ? last[row + k] : 0;
    e[k] = is_row ? along[row + k] : 0;
    corner[k] = k > 0 ? v[k - 1] : corners[first];
    below_v[k] = below_down[k] = 0;
    others[k] = 0xfefeu;
  }
  int most = 0;
  uint found = count[0];
  for (uint step = 0; step < COLUMNS + LANES - 1; ++step) {
    const bool has_column = step < COLUMNS;
    int above_v = has_column ? edges[2 * (column + step)] : 0;
    int above_down = has_column ? edges[2 * (column + step) + 1] : 0;
    bool has_end = false;
#pragma unroll
    for (uint k = LANES - 1; k > 0; --k) others[k] = others[k - 1];
    others[0] = has_column ? match_codes[column + step] : 0xfefeu;
#pragma unroll
    for (uint k = 0; k < LANES; ++k) {
      const int from_v = above_v, from_down = above_down;
      above_v = below_v[k];  // of the step before, for the next lane
      above_down = below_down[k];
      if (step < k || step - k >= COLUMNS || k >= lanes) {
        pairs[k] = 0;
        continue;
      }
      const int pair = corner[k] + weight(codes[k], others[k]);
      const int begun = pair - OPEN;
      const int gap = HIGHER(e[k], from_down);
      const int best = HIGHER(pair, gap);
      corner[k] = from_v;
      v[k] = HIGHER(best, 0);
      e[k] = HIGHER(e[k] - EXTEND, begun);
      below_v[k] = v[k];
      below_down[k] = HIGHER(from_down - EXTEND, begun);
      pairs[k] = pair;
      most = HIGHER(most, pair);
      has_end = has_end || (pair > MINIMUM && pair == v[k]);
    }
    if (step + 1 >= lanes && step + 1 - lanes < COLUMNS) {
      const uint at = column + step + 1 - lanes;
      edges[2 * at] = (SCORE)below_v[lanes - 1];
      edges[2 * at + 1] = (SCORE)below_down[lanes - 1];
    }
    if (!has_end) continue;
    for (uint k = 0; k < lanes; ++k) {
      if (pairs[k] <= MINIMUM || pairs[k] != v[k]) continue;
      const uint at = column + step - k;
      if (weight(codes[k], match_codes[at]) <= 0 || weight(main_codes[row + k + 1], match_codes[at + 1]) > 0) continue;
      if (found < room) {
        ends[3 * (ulong)found] = (uint)pairs[k];
        ends[3 * (ulong)found + 1] = row + k;
        ends[3 * (ulong)found + 2] = at;
      }
      ++found;
    }
  }
  for (uint k = 0; k < lanes; ++k) {
    last[row + k] = (SCORE)v[k];
    along[row + k] = (SCORE)e[k];
  }
  corners[first] = (SCORE)corner[0];
  highest[first] = HIGHER(most, highest[first]);
  count[0] = found;
}
