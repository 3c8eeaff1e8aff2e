// Kernel 1 of SSCA1 in the form for GPUs: strips. A group has a strip of GROUP * ROWS rows and goes through all columns of a
// launch from left to right, each work item a column behind the item above it. What an item's last row leaves moves to the next item
// by shuffles where a group is a sub-group, else in local memory; what a strip leaves, through `edges`.
//
// An entry of `edges` is V and F below a strip, one word that is read and written whole. Both are at least 0 (a lower F changes no
// score), and their signs number the strip that wrote the entry, modulo 4: the group below looks until it sees the number
// of the strip above. So groups need no fence between them. They take strips in the order in which they begin, so a
// group waits only for groups that have begun. The number of the rank's last strip is 0, as the next rank takes V and F.
//
// Four numbers suffice, as what a group sees is of one of the two strips above it: the one above has taken an entry of the columns
// that it wrote before. For the first columns `begun` says so.
//
// Codes are those of ssca1.cl. By -D:
//   SCORE_BITS   32 or 16
//   GROUP, ROWS  work items of a group; rows of an item, 4 or 8
//   EXACT, SIMILAR, DISSIMILAR, OPEN, EXTEND, MINIMUM   of the scores, each of a pair within a byte
//   LOOKS        at entries in vain, before an item gives up
#ifndef MAKE
#define MAKE(T) (T)
#endif
#if SCORE_BITS == 16
#define SCORE short
#define ENTRY uint
#else
#define SCORE int
#define ENTRY ulong
#endif
#if ROWS == 8
#define PACKED uint2
#define WORD(packed, row) ((row) < 4 ? (packed).x : (packed).y)
#else
#define PACKED uint
#define WORD(packed, row) (packed)
#endif
#ifndef ADD_BYTE
#define ADD_BYTE(sum, packed, byte) ((sum) + (int)(char)((packed) >> 8 * (byte)))
#endif
#ifndef FENCE_DEVICE
#define FENCE_DEVICE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
#define CHUNK GROUP        // columns whose entries a group takes at once
#define PART 8             // columns before a chunk's end, the next entries are looked at the first time
#define CODES 65           // codons, and what lies beyond the strings
#define MOST ((1u << (SCORE_BITS - 1)) - 1u)
#define HIGHER(a, b) ((a) > (b) ? (a) : (b))

inline ENTRY entry_of(int v, int down, uint strip) {
  const uint low = (uint)v | (strip & 1u) << (SCORE_BITS - 1), high = (uint)down | (strip >> 1 & 1u) << (SCORE_BITS - 1);
  return (ENTRY)high << SCORE_BITS | low;
}
inline int v_of(ENTRY entry) { return (int)((uint)entry & MOST); }
inline int down_of(ENTRY entry) { return (int)((uint)(entry >> SCORE_BITS) & MOST); }
inline uint strip_of(ENTRY entry) {
  return ((uint)(entry >> (SCORE_BITS - 1)) & 1u) | ((uint)(entry >> (2 * SCORE_BITS - 1)) & 1u) << 1;
}

inline int weight(const uint one, const uint other) {
  return one == other ? EXACT : one >> 8 == other >> 8 ? SIMILAR : DISSIMILAR;
}

// Before the first launch: no alignment reaches the rank's rows from the left, nor those of the first rank from above. Ends that were
// found before are overwritten.
__kernel void begin(__global SCORE* restrict last, __global SCORE* restrict along, __global SCORE* restrict corners,
                    __global SCORE* restrict arrived, __global ENTRY* restrict edges, __global int* restrict highest,
                    __global uint* restrict ends, __global uint* restrict count, __global uint* restrict taken,
                    __global uint* restrict begun, const uint rows, const uint strips, const uint columns,
                    const uint arrived_value, const uint end_values) {
  const uint step = (uint)get_global_size(0);
  for (uint i = (uint)get_global_id(0); i < rows; i += step) last[i] = along[i] = 0;
  for (uint i = (uint)get_global_id(0); i < strips; i += step) begun[i] = 0, corners[i] = highest[i] = 0;
  for (uint i = (uint)get_global_id(0); i < columns; i += step) {
    arrived[2 * i] = arrived[2 * i + 1] = (SCORE)arrived_value;
    edges[i] = entry_of((int)(MOST / 2), (int)(MOST / 2), strips);
  }
  for (uint i = (uint)get_global_id(0); i < end_values; i += step) ends[i] = 0xffffffffu;
  if (get_global_id(0) == 0) count[0] = taken[0] = 0;
}

// An item's rows.
typedef struct {
  int v[ROWS];  // V of the column before
  int e[ROWS];  // E of the next one, + OPEN
  int pairs[ROWS];
  int corner;   // V of the row above, in the column before
  int down;     // F below, + OPEN
} Item;

// Scores a column of an item. Returns the highest score of a pair.
inline int score_column(Item* rows, const PACKED weights, const int above, int down) {
  int corner = rows->corner, most = 0;
  rows->corner = above;
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int pair = ADD_BYTE(corner, WORD(weights, r), r % 4);
    const int gap = HIGHER(rows->e[r], down) - OPEN;
    const int best = HIGHER(gap, pair);
    corner = rows->v[r];
    rows->v[r] = HIGHER(best, 0);
    rows->e[r] = HIGHER(rows->e[r] - EXTEND, pair);
    down = HIGHER(down - EXTEND, pair);
    rows->pairs[r] = pair;
    most = HIGHER(most, pair);
  }
  rows->down = down;
  return most;
}

// Where alignments end, in the column that was scored. `scores`, in local memory: room for a column.
#define KEEP_ENDS(scores)                                                                                          \
  {                                                                                                                \
    _Pragma("unroll") for (int r = 0; r < ROWS; ++r)                                                               \
        scores[r * GROUP + item] = rows.pairs[r] == rows.v[r] ? rows.pairs[r] : 0;                                 \
    _Pragma("unroll 1") for (uint r = 0; r < ROWS; ++r) {                                                          \
      const int ended = scores[r * GROUP + item];                                                                  \
      if (ended <= MINIMUM || weight(main_codes[row + r], match_codes[column]) <= 0) continue;                     \
      if (weight(main_codes[row + r + 1], match_codes[column + 1]) > 0) continue;                                  \
      const uint place = atomic_add(count, 1u);                                                                    \
      if (place >= room) continue;                                                                                 \
      ends[3 * (ulong)place] = (uint)ended;                                                                        \
      ends[3 * (ulong)place + 1] = row + r;                                                                        \
      ends[3 * (ulong)place + 2] = column;                                                                         \
    }                                                                                                              \
  }

// Moves values one item down, and `first` to the first item.
#ifdef SHUFFLE_UP
#define TOGETHER() SUB_GROUP_BARRIER()
#define MOVE(to, value, first)           \
  to = SHUFFLE_UP(value);                \
  if (item == 0) to = first
#define MOVED(step)
#else
#define TOGETHER() barrier(CLK_LOCAL_MEM_FENCE)
#define MOVE(to, value, first) to = item == 0 ? (first) : passed_##to[(step % 2) * GROUP + item - 1]
#define MOVED(step)                                             \
  passed_above[((step) + 1) % 2 * GROUP + item] = rows.v[ROWS - 1]; \
  passed_down[((step) + 1) % 2 * GROUP + item] = rows.down;         \
  passed_code[((step) + 1) % 2 * GROUP + item] = code;              \
  barrier(CLK_LOCAL_MEM_FENCE)
#endif

// One column of each item; `next` is what the first item takes: V and F from above, and the code of its next column.
#define STEP(is_inside)                                                                                            \
  {                                                                                                                \
    const int4 next = incoming[step % CHUNK];                                                                      \
    const PACKED weights = weights_of_next;                                                                        \
    const uint column = begin + step - item;                                                                       \
    int above, down;                                                                                               \
    MOVE(above, rows.v[ROWS - 1], next.x);                                                                         \
    MOVE(down, rows.down, next.y);                                                                                 \
    MOVE(code, code, next.z);                                                                                      \
    weights_of_next = profile[code * GROUP + item];                                                                \
    if (is_inside) {                                                                                               \
      const int most_of_column = score_column(&rows, weights, above, down);                                        \
      if (is_bottom) edges[column] = entry_of(rows.v[ROWS - 1], HIGHER(rows.down - OPEN, 0), number);              \
      most = HIGHER(most, most_of_column);                                                                         \
      if (is_mine && most_of_column > MINIMUM) KEEP_ENDS(ending);                                                  \
    }                                                                                                              \
    MOVED(step);                                                                                                   \
  }

// Strip t scores `width` columns from `from` - t * `lead`, as far as there are any.
//   codons        codes of the codons
//   last, along   of each row: V of the column before, and E of the next one
//   arrived       of each column: V and F below the rank above
//   edges         of each column: an entry
//   corners       of each strip: V of the row above, in the column before
//   highest       of each strip: the highest score of a pair; -1: it gave up
//   ends          score, row and column of each end found; `count` may exceed `room`
//   taken         strips begun, of all launches; `taken_before` this one
//   begun         of each strip: whether it has taken its first entries
__kernel void score(__global const ushort* restrict main_codes, __global const ushort* restrict match_codes,
                    __global const ushort* restrict codons, __global SCORE* restrict last,
                    __global SCORE* restrict along, __global const SCORE* restrict arrived,
                    volatile __global ENTRY* edges, __global SCORE* restrict corners, __global int* restrict highest,
                    __global uint* restrict ends, volatile __global uint* restrict count,
                    volatile __global uint* restrict taken, volatile __global uint* begun, const uint rows_of_rank,
                    const uint columns, const uint room, const uint taken_before, const int from, const uint width,
                    const uint lead) {
  __local PACKED profile[CODES * GROUP];
  __local int4 incoming[CHUNK];
  __local uint number_of_group;
  __local int highest_of[GROUP];
  __local int ending[ROWS * GROUP];
#ifndef SHUFFLE_UP
  __local int passed_above[2 * GROUP];
  __local int passed_down[2 * GROUP];
  __local uint passed_code[2 * GROUP];
#endif
  const uint item = (uint)get_local_id(0), strips = (uint)get_num_groups(0);
  if (item == 0) number_of_group = atomic_add(taken, 1u) - taken_before;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint strip = number_of_group, number = strips - 1 - strip;
  const int first_column = from - (int)(strip * lead), ended = first_column + (int)width;
  const uint begin = (uint)HIGHER(first_column, 0);
  const uint end = HIGHER(ended, 0) < (int)columns ? (uint)HIGHER(ended, 0) : columns;
  if (begin >= end) return;
  const uint row = (strip * GROUP + item) * ROWS;
  const bool is_mine = row < rows_of_rank;
  const bool is_bottom = is_mine && (item == GROUP - 1 || row + ROWS >= rows_of_rank);

  Item rows;
  uint codes[ROWS];
  for (int r = 0; r < ROWS; ++r) {
    codes[r] = is_mine ? main_codes[row + r] : 0xffffu;
    rows.v[r] = is_mine ? last[row + r] : 0;
    rows.e[r] = (is_mine ? along[row + r] : 0) + OPEN;
    rows.pairs[r] = 0;
  }
  rows.corner = !is_mine ? 0 : item == 0 ? corners[strip] : last[row - 1];
  rows.down = 0;
  for (uint c = 0; c < CODES; ++c) {
    uint words[2] = {0, 0};
    for (int r = 0; r < ROWS; ++r) {
      const int scored = c < CODES - 1 ? weight(codes[r], codons[c]) : DISSIMILAR;
      words[r / 4] |= ((uint)scored & 0xffu) << 8 * (r % 4);
    }
#if ROWS == 8
    profile[c * GROUP + item] = MAKE(uint2)(words[0], words[1]);
#else
    profile[c * GROUP + item] = words[0];
#endif
  }

  if (begin == 0 && strip > 0 && item == 0) {
    for (uint look = 0; begun[strip - 1] == 0 && look < LOOKS;) ++look;
    if (begun[strip - 1] == 0) highest[strip] = -1;
    FENCE_DEVICE();
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

  const uint chunks = (end - begin) / CHUNK;
  uint code = min((uint)match_codes[begin] & 0xffu, CODES - 1u);
  PACKED weights_of_next = profile[code * GROUP + item];
  ENTRY entry = edges[begin + item];
  int most = 0;
  uint looks = LOOKS;
#ifndef SHUFFLE_UP
  passed_above[item] = passed_down[item] = 0;
  passed_code[item] = code;
#endif
  for (uint chunk = 0; chunk <= chunks; ++chunk) {
    const uint at = begin + chunk * CHUNK + item;
    uint is_late = 0;
    int4 taken_here = MAKE(int4)(0, 0, 0, 0);
    if (chunk < chunks) {
      if (strip == 0) {
        taken_here.x = arrived[2 * at];
        taken_here.y = HIGHER((int)arrived[2 * at + 1], 0) + OPEN;
      } else {
        for (; strip_of(entry) != ((number + 1) & 3u) && looks > 0; --looks) entry = edges[at];
        is_late = strip_of(entry) != ((number + 1) & 3u);
        taken_here.x = v_of(entry);
        taken_here.y = down_of(entry) + OPEN;
      }
      taken_here.z = (int)min((uint)match_codes[at + 1] & 0xffu, CODES - 1u);
    }
    TOGETHER();
    incoming[item] = taken_here;
    if (is_late) highest[strip] = -1;
    TOGETHER();
    if (chunk == 0 && item == 0) {
      FENCE_DEVICE();
      begun[strip] = 1;
    }
    const uint first = chunk * CHUNK;
    const bool is_full = chunk > 0 && chunk < chunks;
    if (is_full) {
      for (uint part = 0; part < CHUNK; part += PART) {
        if (part == CHUNK - PART && chunk + 1 < chunks) entry = edges[at + CHUNK];
#pragma unroll
        for (uint i = 0; i < PART; ++i) {
          const uint step = first + part + i;
          STEP(true);
        }
      }
    } else {
      if (chunk + 1 < chunks) entry = edges[at + CHUNK];
      for (uint i = 0; i < CHUNK; ++i) {
        const uint step = first + i;
        STEP(step >= item && step - item < end - begin);
      }
    }
  }
  if (is_mine) {
    for (int r = 0; r < ROWS; ++r) {
      last[row + r] = (SCORE)rows.v[r];
      along[row + r] = (SCORE)(rows.e[r] - OPEN);
    }
  }
  highest_of[item] = most;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item != 0) return;
  corners[strip] = (SCORE)rows.corner;
  for (uint i = 0; i < GROUP; ++i) most = HIGHER(most, highest_of[i]);
  if (highest[strip] >= 0) highest[strip] = HIGHER(most, highest[strip]);
}
