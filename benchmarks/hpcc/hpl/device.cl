// HPL on a device, except the products: the matrix by rows, a panel by columns during its factorisation.
//
// NUMBER: element of the matrix. GROUP: work items per group, a power of two. NARROW: columns of a panel that are
// eliminated one by one. HELD: their rows per work item, at most, in one kernel. BLOCK: most rows and columns of a
// block. "first" is an offset in a buffer, "pitch" the distance between rows (of a panel, `w`: between columns), both
// in elements.
//
// w: rows 0 .. width - 1 of a panel are the diagonal block, the others are below it.
#if !defined(__CUDACC__) && defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#ifdef __CUDACC__
#define GROUP_OF(items) __launch_bounds__(items)
#else
#define GROUP_OF(items) __attribute__((reqd_work_group_size(items, 1, 1)))
#endif
// A float rounded to half, ties to even, as float and as bits; overflow gives infinity.
inline ushort half_bits(const float value) {
#ifdef __CUDACC__
  ushort bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#else
  ushort bits;
  vstore_half_rte(value, 0, (half*)&bits);
  return bits;
#endif
}
inline float rounded_to_half(const float value) {
  const ushort bits = half_bits(value);
#ifdef __CUDACC__
  float rounded;
  asm("cvt.f32.f16 %0, %1;" : "=f"(rounded) : "h"(bits));
  return rounded;
#else
  return vload_half(0, (const half*)&bits);
#endif
}
#define KERNEL __kernel GROUP_OF(GROUP) void
// Loops over arrays in registers; with arrays in memory they would take minutes to compile.
#if defined(__CUDACC__) || defined(cl_nv_pragma_unroll)
#define UNROLL _Pragma("unroll")
#define UNROLL_BY_8 _Pragma("unroll 8")
#else
#define UNROLL
#define UNROLL_BY_8
#endif
#define SIDE 16   // of transposed tiles
#define STRIP 32  // columns of a row updated by one work item
#define TEAM 32   // work items per row of a matrix-vector product
#define NONE 0xffffffffu

// --- the matrix: HPL's, or the dominant one, as in matrix.hpp

#define WORD(i, j) (row_factor[i] * column_start[j] + row_summand[i])
#define VALUE(value, i, j)                                 \
  double value = 0.5 - (double)WORD(i, j) * 0x1p-64;       \
  if (is_dominant) value = rint(value * 0x1p24) * 0x1p-24; \
  if (is_short) value = (double)(float)value;              \
  if (is_dominant && diagonal_place[i] == (j)) value = diagonal[i];

// Groups take rows. is_short: round to float. diagonal_place: the local column of a row's diagonal; beyond all columns
// if there is none.
KERNEL generate(__global NUMBER* a, const ulong pitch, const ulong columns, __global const ulong* row_factor,
                __global const ulong* row_summand, __global const ulong* column_start,
                __global const ulong* diagonal_place, __global const double* diagonal, const uint is_dominant,
                const uint is_short) {
  const ulong i = get_group_id(0);
  for (ulong j = get_local_id(0); j < columns; j += GROUP) {
    VALUE(value, i, j)
    a[i * pitch + j] = (NUMBER)value;
  }
}

// Per row: the sums of a x, |a x| and |a|.
KERNEL row_sums(__global double* sums, __global const double* x, const ulong columns, __global const ulong* row_factor,
                __global const ulong* row_summand, __global const ulong* column_start,
                __global const ulong* diagonal_place, __global const double* diagonal, const uint is_dominant,
                const uint is_short) {
  __local double parts[3 * GROUP];
  const ulong i = get_group_id(0);
  const uint item = get_local_id(0);
  double product = 0, size = 0, norm = 0;
  for (ulong j = item; j < columns; j += GROUP) {
    VALUE(value, i, j)
    product += value * x[j];
    size += fabs(value * x[j]);
    norm += fabs(value);
  }
  parts[item] = product;
  parts[GROUP + item] = size;
  parts[2 * GROUP + item] = norm;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint half_of = GROUP / 2; half_of > 0; half_of /= 2) {
    if (item < half_of)
      for (uint s = 0; s < 3; ++s) parts[s * GROUP + item] += parts[s * GROUP + item + half_of];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item < 3) sums[3 * i + item] = parts[item * GROUP];
}

#define MORE_THAN_ALL 0x1p1000  // stands for NaN

// Per row: the largest magnitude of its first lengths[i] elements.
KERNEL largest_of_rows(__global const NUMBER* a, const ulong pitch, __global const ulong* lengths,
                       __global double* largest) {
  __local double parts[GROUP];
  const ulong i = get_group_id(0);
  const uint item = get_local_id(0);
  double found = 0;
  for (ulong j = item; j < lengths[i]; j += GROUP) {
    const double value = (double)a[i * pitch + j], size = value == value ? fabs(value) : MORE_THAN_ALL;
    if (size > found) found = size;
  }
  parts[item] = found;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint half_of = GROUP / 2; half_of > 0; half_of /= 2) {
    if (item < half_of && parts[item + half_of] > parts[item]) parts[item] = parts[item + half_of];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) largest[i] = parts[0];
}

// Copies runs of `width` elements, each from its own offset.
KERNEL gather(__global const NUMBER* a, __global const ulong* places, const ulong width, const ulong count,
              __global double* out) {
  for (ulong e = get_global_id(0); e < width * count; e += get_global_size(0))
    out[e] = (double)a[places[e / width] + e % width];
}

KERNEL fill(__global uint* words, const ulong count, const uint value) {
  for (ulong e = get_global_id(0); e < count; e += get_global_size(0)) words[e] = value;
}

// --- rows

// Row pairs[2 k] of `from` becomes row pairs[2 k + 1] of `to`, in the given columns; a group takes a strip of a row.
KERNEL copy_rows(__global const NUMBER* from, const ulong from_first, const ulong from_pitch, __global NUMBER* to,
                 const ulong to_first, const ulong to_pitch, __global const uint* pairs, const uint first_pair,
                 const ulong columns, const uint strips) {
  const ulong pair = first_pair + get_group_id(0) / strips, strip = get_group_id(0) % strips;
  const ulong source = from_first + pairs[2 * pair] * from_pitch, target = to_first + pairs[2 * pair + 1] * to_pitch;
  const ulong length = (columns + strips - 1) / strips, begin = strip * length, end = min(columns, begin + length);
  for (ulong j = begin + get_local_id(0); j < end; j += GROUP) to[target + j] = from[source + j];
}

// Likewise for (groups / `strips`) rows.
KERNEL copy_block(__global const NUMBER* from, const ulong from_first, const ulong from_pitch, __global NUMBER* to,
                  const ulong to_first, const ulong to_pitch, const ulong columns, const uint strips) {
  const ulong row = get_group_id(0) / strips, strip = get_group_id(0) % strips;
  const ulong length = (columns + strips - 1) / strips, begin = strip * length, end = min(columns, begin + length);
  for (ulong j = begin + get_local_id(0); j < end; j += GROUP)
    to[to_first + row * to_pitch + j] = from[from_first + row * from_pitch + j];
}

// Consecutive rows of a matrix, with `padding` zeros between them.
KERNEL pad_rows(__global const NUMBER* from, const ulong from_first, const ulong columns, __global NUMBER* to,
                const ulong padded) {
  const ulong i = get_group_id(0);
  for (ulong j = get_local_id(0); j < padded; j += GROUP)
    to[i * padded + j] = j < columns ? from[from_first + i * columns + j] : (NUMBER)0;
}

// Rounds rows, `pitch` apart, to half: the factors of a product with half factors.
KERNEL round_rows(__global NUMBER* a, const ulong first, const ulong pitch, const ulong columns) {
  const ulong row = first + get_group_id(0) * pitch;
  for (ulong j = get_local_id(0); j < columns; j += GROUP) a[row + j] = (NUMBER)rounded_to_half((float)a[row + j]);
}

// Likewise into a matrix of half, rows `to_pitch` elements apart.
KERNEL shorten_rows(__global const NUMBER* a, const ulong first, const ulong pitch, const ulong columns,
                    __global ushort* to, const ulong to_pitch) {
  const ulong row = first + get_group_id(0) * pitch;
  for (ulong j = get_local_id(0); j < columns; j += GROUP)
    to[get_group_id(0) * to_pitch + j] = half_bits((float)a[row + j]);
}

KERNEL zero_rows(__global NUMBER* to, const ulong first, const ulong count) {
  for (ulong e = get_global_id(0); e < count; e += get_global_size(0)) to[first + e] = (NUMBER)0;
}

// --- a panel

// to[j to_pitch + i] = from[i from_pitch + j], by tiles in local memory; either direction, rows or columns.
KERNEL transpose_part(__global const NUMBER* from, const ulong from_first, const ulong from_pitch, const ulong rows,
                      const ulong columns, __global NUMBER* to, const ulong to_first, const ulong to_pitch) {
  __local NUMBER tile[SIDE * (SIDE + 1)];
  const ulong tiles_across = (columns + SIDE - 1) / SIDE;
  const ulong top = get_group_id(0) / tiles_across * SIDE, left = get_group_id(0) % tiles_across * SIDE;
  for (uint e = get_local_id(0); e < SIDE * SIDE; e += GROUP) {
    const uint i = e / SIDE, j = e % SIDE;
    if (top + i < rows && left + j < columns)
      tile[j * (SIDE + 1) + i] = from[from_first + (top + i) * from_pitch + left + j];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint e = get_local_id(0); e < SIDE * SIDE; e += GROUP) {
    const uint j = e / SIDE, i = e % SIDE;
    if (top + i < rows && left + j < columns) to[to_first + (left + j) * to_pitch + top + i] = tile[j * (SIDE + 1) + i];
  }
}

// The largest magnitude of the group's work items, and its row; the first of equal ones. NaN is skipped.
#define IS_BETTER(value, row, than, than_row) ((value) > (than) || ((value) == (than) && (row) < (than_row)))
#ifdef __CUDACC__
#define WARP 32
#define BEST_OF_WARP(value, row)                                \
  for (uint half_of = WARP / 2; half_of > 0; half_of /= 2) {    \
    const NUMBER other = __shfl_down_sync(~0u, value, half_of); \
    const uint other_row = __shfl_down_sync(~0u, row, half_of); \
    if (IS_BETTER(other, other_row, value, row)) {              \
      value = other;                                            \
      row = other_row;                                          \
    }                                                           \
  }
#define BEST_OF_GROUP(value, row)                                 \
  BEST_OF_WARP(value, row)                                        \
  if (item % WARP == 0) {                                         \
    best_values[item / WARP] = value;                             \
    best_rows[item / WARP] = row;                                 \
  }                                                               \
  barrier(CLK_LOCAL_MEM_FENCE);                                   \
  if (item < WARP) {                                              \
    value = item < GROUP / WARP ? best_values[item] : (NUMBER)-1; \
    row = item < GROUP / WARP ? best_rows[item] : NONE;           \
    BEST_OF_WARP(value, row)                                      \
    if (item == 0) {                                              \
      best_values[0] = value;                                     \
      best_rows[0] = row;                                         \
    }                                                             \
  }                                                               \
  barrier(CLK_LOCAL_MEM_FENCE);
#else
#define BEST_OF_GROUP(value, row)                                                                                \
  best_values[item] = value;                                                                                     \
  best_rows[item] = row;                                                                                         \
  barrier(CLK_LOCAL_MEM_FENCE);                                                                                  \
  for (uint half_of = GROUP / 2; half_of > 0; half_of /= 2) {                                                    \
    if (item < half_of &&                                                                                        \
        IS_BETTER(best_values[item + half_of], best_rows[item + half_of], best_values[item], best_rows[item])) { \
      best_values[item] = best_values[item + half_of];                                                           \
      best_rows[item] = best_rows[item + half_of];                                                               \
    }                                                                                                            \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                \
  }
#endif

// Searches column j from row j; one result per group.
KERNEL search_column(__global const NUMBER* w, const ulong pitch, const uint rows, const uint j,
                     __global NUMBER* value_of_group, __global uint* row_of_group) {
  __local NUMBER best_values[GROUP];
  __local uint best_rows[GROUP];
  const uint item = get_local_id(0);
  NUMBER best = -1;
  uint best_row = NONE;
  for (uint i = j + get_global_id(0); i < rows; i += get_global_size(0)) {
    const NUMBER size = fabs(w[j * pitch + i]);
    if (IS_BETTER(size, i, best, best_row)) {
      best = size;
      best_row = i;
    }
  }
  BEST_OF_GROUP(best, best_row)
  if (item == 0) {
    value_of_group[get_group_id(0)] = best_values[0];
    row_of_group[get_group_id(0)] = best_rows[0];
  }
}

#define BEST_OF_ALL                                                      \
  __local NUMBER best_values[GROUP];                                     \
  __local uint best_rows[GROUP];                                         \
  const uint item = get_local_id(0);                                     \
  NUMBER best = -1;                                                      \
  uint best_row = NONE;                                                  \
  for (uint g = item; g < groups; g += GROUP)                            \
    if (IS_BETTER(value_of_group[g], row_of_group[g], best, best_row)) { \
      best = value_of_group[g];                                          \
      best_row = row_of_group[g];                                        \
    }                                                                    \
  BEST_OF_GROUP(best, best_row)

// Resets the head of a panel (no pivots, no column without a pivot), and the turns of its groups.
KERNEL begin_panel(__global long* head, const uint words, __global uint* turns, const uint places) {
  for (uint e = get_local_id(0); e < words; e += GROUP) head[e] = -1;
  for (uint e = get_local_id(0); e < places; e += GROUP) turns[e] = 0;
}

// One group: swaps row j of the panel with its pivot's row. All rows of the panel are on this rank, or none is
// searched (is_pivoting 0). head[singular] is the first column without a pivot. A row that cannot be (of a search that
// did not run) moves nothing outside of w: the checks of the pivots fail then.
KERNEL take_pivot(__global NUMBER* w, const ulong pitch, const uint width, const uint rows, const uint j,
                  const ulong begin, const uint is_pivoting, const uint groups, __global const NUMBER* value_of_group,
                  __global const uint* row_of_group, __global long* head, const uint singular) {
  BEST_OF_ALL
  const uint row = is_pivoting != 0 && best_rows[0] < rows ? best_rows[0] : j;
  if (item == 0) {
    head[j] = (long)(begin + row);
    if (!(fabs(w[j * pitch + row]) > 0) && head[singular] < 0) head[singular] = (long)(begin + j);
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (row == j) return;
  for (uint c = item; c < width; c += GROUP) {
    const NUMBER moved = w[c * pitch + j];
    w[c * pitch + j] = w[c * pitch + row];
    w[c * pitch + row] = moved;
  }
}

// If other ranks have rows of the panel too, each tells all of them its candidate for the pivot: its largest magnitude,
// the global row, the row in w, then the row's elements. Row and magnitude are exact in double.
#define CANDIDATE_HEAD 3
#define NO_MAGNITUDE (-1.0)  // all are NaN, or there are no rows

// One group: this rank's candidate. Rows of w from `width` on are local rows from `below` on, of blocks dealt out to
// `ranks` ranks, of which this is `own`.
KERNEL tell_candidate(__global const NUMBER* w, const ulong pitch, const uint width, const uint rows,
                      const uint groups, __global const NUMBER* value_of_group, __global const uint* row_of_group,
                      const ulong begin, const ulong below, const ulong block, const uint ranks, const uint own,
                      __global double* candidates, const uint length) {
  BEST_OF_ALL
  const uint row = best_rows[0] < rows ? best_rows[0] : NONE;
  __global double* candidate = candidates + own * length;
  if (item == 0) {
    const ulong local_row = below + (row - width);
    const ulong global_row = row < width ? begin + row : (local_row / block * ranks + own) * block + local_row % block;
    candidate[0] = row != NONE ? (double)best_values[0] : NO_MAGNITUDE;
    candidate[1] = (double)global_row;
    candidate[2] = (double)row;
  }
  for (uint c = item; c < width && row != NONE; c += GROUP) candidate[CANDIDATE_HEAD + c] = w[c * pitch + row];
}

// One group: the best of all ranks' candidates (`length` elements apart) becomes the pivot of column j. Its row moves
// to row j of every rank's block, and row j to that row, on the ranks that have it: on all if it is in the block. Of a
// wrong candidate (stale, or never told) the place may be anywhere: nothing outside of w is written.
KERNEL take_candidate(__global NUMBER* w, const ulong pitch, const uint width, const uint rows, const uint j,
                      const ulong begin, const uint ranks, const uint own, __global const double* candidates,
                      const uint length, __global long* head, const uint singular) {
  uint best = 0;
  for (uint rank = 1; rank < ranks; ++rank)
    if (IS_BETTER(candidates[rank * length], candidates[rank * length + 1], candidates[best * length],
                  candidates[best * length + 1]))
      best = rank;
  __global const double* chosen = candidates + best * length;
  const ulong row = chosen[0] != NO_MAGNITUDE ? (ulong)chosen[1] : begin + j;
  if (get_local_id(0) == 0) {
    head[j] = (long)row;
    if (!(chosen[0] > 0) && head[singular] < 0) head[singular] = (long)(begin + j);
  }
  if (row == begin + j) return;
  uint other = NONE;
  if (row >= begin && row < begin + width)
    other = (uint)(row - begin);
  else if (best == own && chosen[2] >= width && chosen[2] < rows)
    other = (uint)chosen[2];
  for (uint c = get_local_id(0); c < width; c += GROUP) {
    if (other != NONE) w[c * pitch + other] = w[c * pitch + j];
    w[c * pitch + j] = (NUMBER)chosen[CANDIDATE_HEAD + c];
  }
}

// Column j becomes L's, and the columns up to `end` are updated by row j; the next of them is searched.
KERNEL eliminate(__global NUMBER* w, const ulong pitch, const uint rows, const uint j, const uint end,
                 __global NUMBER* value_of_group, __global uint* row_of_group) {
  __local NUMBER best_values[GROUP];
  __local uint best_rows[GROUP];
  const uint item = get_local_id(0);
  const NUMBER pivot = w[j * pitch + j];
  const bool is_pivot = fabs(pivot) > 0;
  const NUMBER factor = is_pivot ? (NUMBER)1 / pivot : (NUMBER)0;
  NUMBER u[NARROW];
  UNROLL
  for (uint c = 0; c < NARROW; ++c) u[c] = j + 1 + c < end ? w[(j + 1 + c) * pitch + j] : (NUMBER)0;
  NUMBER best = -1;
  uint best_row = NONE;
  for (uint i = j + 1 + get_global_id(0); i < rows; i += get_global_size(0)) {
    NUMBER l = w[j * pitch + i];
    if (is_pivot) w[j * pitch + i] = l *= factor;
    UNROLL
    for (uint c = 0; c < NARROW; ++c)
      if (j + 1 + c < end) {
        NUMBER value = w[(j + 1 + c) * pitch + i];
        if (is_pivot) w[(j + 1 + c) * pitch + i] = value -= l * u[c];
        if (c == 0) {
          const NUMBER size = fabs(value);
          if (IS_BETTER(size, i, best, best_row)) {
            best = size;
            best_row = i;
          }
        }
      }
  }
  BEST_OF_GROUP(best, best_row)
  if (item == 0) {
    value_of_group[get_group_id(0)] = best_values[0];
    row_of_group[get_group_id(0)] = best_rows[0];
  }
}

// Several groups that run concurrently (or one) eliminate columns begin .. end, instead of kernels for each column. A
// work item holds HELD rows: begin + its number + multiples of all work items. v[] turns by an element per column: the
// next column is v[0], the last one of L v[NARROW - 1]. Per column each group tells its best row, and group 0 the row
// at the diagonal, then its turn; all groups wait for all turns, without pivots for group 0's only. What groups tell
// has two places (MOST_GROUPS apart), used by columns in turn, since no group is two columns ahead then. Rows are
// swapped in these columns only.
#ifdef __CUDACC__
inline void tell_turn(__global uint* place, const uint turn) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(place), "r"(turn) : "memory");
}
inline uint turn_at(__global uint* place) {
  uint turn;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(turn) : "l"(place) : "memory");
  return turn;
}
#else  // one group, which waits for none
#define tell_turn(place, turn) (*(place) = (turn))
#define turn_at(place) (*(place))
#endif
#define MOST_GROUPS 256
#define DIAGONAL (2 * MOST_GROUPS)  // place of the diagonal's rows among those told, one per column
#define LOST (2 * MOST_GROUPS)      // place among the turns: 1 after a wait without end
#define MOST_POLLS (1u << 26)       // about a minute
#define OF_OTHERS(pointer, at) (((volatile __global NUMBER*)(pointer))[at])

inline void await_turn(__global uint* turns, const uint place, const uint turn) {
  for (uint polls = 0; turn_at(turns + place) < turn; ++polls)
    if (polls % 4096 == 4095 && (turn_at(turns + LOST) != 0 || polls > MOST_POLLS)) {
      turns[LOST] = 1;
      return;
    }
}

KERNEL factor_columns(__global NUMBER* w, const ulong pitch, const uint rows, const uint begin, const uint end,
                      const ulong first_row, const uint is_pivoting, __global NUMBER* value_of_group,
                      __global uint* row_of_group, __global NUMBER* told_rows, __global uint* turns, const uint turned,
                      __global long* head, const uint singular) {
  __local NUMBER best_values[GROUP];
  __local uint best_rows[GROUP];
  const uint item = get_local_id(0), group = get_group_id(0), groups = get_num_groups(0);
  const uint all = get_global_size(0), own = begin + get_global_id(0), last = end - begin;
  __global NUMBER* narrow = w + begin * pitch;
  NUMBER v[HELD][NARROW];
  NUMBER best = -1;
  uint best_row = NONE;
  UNROLL
  for (uint r = 0; r < HELD; ++r) {
    const uint i = own + r * all;
    UNROLL
    for (uint c = 0; c < NARROW; ++c) v[r][c] = i < rows && c < last ? narrow[c * pitch + i] : (NUMBER)0;
    if (i < rows && IS_BETTER(fabs(v[r][0]), i, best, best_row)) {
      best = fabs(v[r][0]);
      best_row = i;
    }
  }
  for (uint step = 0; step < last; ++step) {
    const uint j = begin + step, place = step % 2 * MOST_GROUPS, turn = turned + step + 1;
    __global NUMBER* diagonal = told_rows + (DIAGONAL + step) * NARROW;
    if (group == 0 && item == step) {
      UNROLL
      for (uint c = 0; c < NARROW; ++c) diagonal[c] = v[0][c];
    }
    if (is_pivoting != 0) {
      BEST_OF_GROUP(best, best_row)
      const uint candidate = best_rows[0];
      if (item == 0) {
        value_of_group[place + group] = best_values[0];
        row_of_group[place + group] = candidate;
      }
      UNROLL
      for (uint r = 0; r < HELD; ++r)
        if (own + r * all == candidate) {
          UNROLL
          for (uint c = 0; c < NARROW; ++c) told_rows[(place + group) * NARROW + c] = v[r][c];
        }
    }
    barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
    if (item == 0 && groups > 1) tell_turn(turns + place + group, turn);
    best = -1;
    best_row = NONE;
    uint row = j;
    if (is_pivoting != 0) {
      for (uint g = item; g < groups; g += GROUP) {
        if (groups > 1) await_turn(turns, place + g, turn);
        const NUMBER value = OF_OTHERS(value_of_group, place + g);
        const uint there = ((volatile __global uint*)row_of_group)[place + g];
        if (IS_BETTER(value, there, best, best_row)) {
          best = value;
          best_row = there;
        }
      }
      BEST_OF_GROUP(best, best_row)
      if (best_rows[0] != NONE) row = best_rows[0];
    } else if (groups > 1) {
      if (item == 0) await_turn(turns, place, turn);
      barrier(CLK_GLOBAL_MEM_FENCE);
    }
    __global NUMBER* told = row == j ? diagonal : told_rows + (place + (row - begin) % all / GROUP) * NARROW;
    NUMBER u[NARROW];
    UNROLL
    for (uint c = 0; c < NARROW; ++c) u[c] = OF_OTHERS(told, c);
    const bool is_pivot = fabs(u[0]) > 0;
    const NUMBER factor = is_pivot ? (NUMBER)1 / u[0] : (NUMBER)0;
    if (item == 0 && group == 0) {
      head[j] = turns[LOST] == 0 ? (long)(first_row + row) : -1;
      if (!is_pivot && head[singular] < 0) head[singular] = (long)(first_row + j);
    }
    if (group == 0 && item < NARROW && (step + item) % NARROW < last)
      narrow[(step + item) % NARROW * pitch + j] = OF_OTHERS(told, item);
    best = -1;
    best_row = NONE;
    UNROLL
    for (uint r = 0; r < HELD; ++r) {
      const uint i = own + r * all;
      if (i <= j || i >= rows) continue;
      if (i == row) {
        UNROLL
        for (uint c = 0; c < NARROW; ++c) v[r][c] = OF_OTHERS(diagonal, c);
      }
      const NUMBER l = is_pivot ? v[r][0] * factor : v[r][0];
      UNROLL
      for (uint c = 1; c < NARROW; ++c) v[r][c - 1] = is_pivot && c < last - step ? v[r][c] - l * u[c] : v[r][c];
      v[r][NARROW - 1] = l;
      const NUMBER size = fabs(v[r][0]);
      if (IS_BETTER(size, i, best, best_row)) {
        best = size;
        best_row = i;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  UNROLL
  for (uint r = 0; r < HELD; ++r) {
    const uint i = own + r * all;
    UNROLL
    for (uint c = 0; c < NARROW; ++c)
      if (i >= end && i < rows && c + last >= NARROW) narrow[(c + last - NARROW) * pitch + i] = v[r][c];
  }
}

// For CPUs: one work item does what factor_columns does, by vectors of LANES rows.
#ifndef __CUDACC__
#define LANES 8
#define JOINED(type, lanes) type##lanes
#define VECTOR_OF(type, lanes) JOINED(type, lanes)
#define VECTOR VECTOR_OF(NUMBER, LANES)

// The row of the largest magnitude from row `first` on; the first of equal ones. NaN is skipped.
inline uint row_of_largest(__global const NUMBER* column, const uint first, const uint rows) {
  VECTOR sizes = -1;
  uint i = first;
  for (; i + LANES <= rows; i += LANES) {
    const VECTOR size = fabs(vload8(0, column + i));
    sizes = size > sizes ? size : sizes;
  }
  NUMBER lanes[LANES], best = -1;
  vstore8(sizes, 0, lanes);
  for (uint lane = 0; lane < LANES; ++lane) best = lanes[lane] > best ? lanes[lane] : best;
  for (; i < rows; ++i) best = fabs(column[i]) > best ? fabs(column[i]) : best;
  i = first;
  while (i + LANES <= rows && !any(fabs(vload8(0, column + i)) == best)) i += LANES;
  while (i < rows && !(fabs(column[i]) == best)) ++i;
  return i < rows ? i : first;
}

__kernel GROUP_OF(1) void factor_columns_alone(__global NUMBER* w, const ulong pitch, const uint rows, const uint begin,
                                               const uint end, const ulong first_row, const uint is_pivoting,
                                               __global long* head, const uint singular) {
  for (uint j = begin; j < end; ++j) {
    __global NUMBER* column = w + j * pitch;
    const uint row = is_pivoting != 0 ? row_of_largest(column, j, rows) : j, right = end - j - 1;
    const bool is_pivot = fabs(column[row]) > 0;
    head[j] = (long)(first_row + row);
    if (!is_pivot && head[singular] < 0) head[singular] = (long)(first_row + j);
    for (uint c = begin; c < end && row != j; ++c) {
      const NUMBER moved = w[c * pitch + j];
      w[c * pitch + j] = w[c * pitch + row];
      w[c * pitch + row] = moved;
    }
    if (!is_pivot) continue;
    const NUMBER factor = (NUMBER)1 / column[j];
    NUMBER u[NARROW];
    for (uint c = 0; c < right; ++c) u[c] = column[(c + 1) * pitch + j];
    uint i = j + 1;
    for (; i + LANES <= rows; i += LANES) {
      __global NUMBER* at = column + i;
      const VECTOR l = vload8(0, at) * factor;
      vstore8(l, 0, at);
      for (uint c = 0; c < right; ++c) {
        at += pitch;
        vstore8(vload8(0, at) - l * u[c], 0, at);
      }
    }
    for (; i < rows; ++i) {
      const NUMBER l = column[i] *= factor;
      for (uint c = 0; c < right; ++c) column[(c + 1) * pitch + i] -= l * u[c];
    }
  }
}
#endif

// Position, before the swaps of columns begin .. end, of the row that they bring to `row`.
inline uint source_of(uint row, const uint begin, const uint end, const ulong first_row, __global const long* head) {
  for (uint j = end; j-- > begin;) {
    if (head[j] < 0) continue;
    const uint other = (uint)((ulong)head[j] - first_row);
    if (row == j)
      row = other;
    else if (row == other)
      row = j;
  }
  return row;
}

// Rows begin .. end of a column right of the eliminated columns begin .. end become U's. x: these rows.
#define SOLVE_COLUMN(x, begin, end)                                                    \
  UNROLL                                                                               \
  for (uint i = 0; i < NARROW; ++i) {                                                  \
    UNROLL                                                                             \
    for (uint k = 0; k < NARROW; ++k)                                                  \
      if (k < i && begin + i < end) x[i] -= w[(begin + k) * pitch + begin + i] * x[k]; \
  }

// The swaps of columns begin .. end in all other columns of the panel, and rows begin .. end of U in columns end ..
// solved; a work item takes a column. The rows concerned are read before one is written.
KERNEL exchange_and_solve(__global NUMBER* w, const ulong pitch, const uint width, const uint begin, const uint end,
                          const uint solved, const ulong first_row, __global const long* head) {
  __local uint from[2 * NARROW], to[2 * NARROW];
  const uint item = get_local_id(0), count = end - begin;
  if (item < 2 * NARROW) {
    const uint j = begin + item % NARROW;
    uint row = j < end ? (item < NARROW ? j : (uint)((ulong)head[j] - first_row)) : NONE;
    if (j < end && head[j] < 0) row = NONE;
    to[item] = row;
    from[item] = row == NONE ? NONE : source_of(row, begin, end, first_row, head);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  uint column = get_global_id(0);
  if (column >= begin) column += count;
  if (column >= width) return;
  __global NUMBER* own = w + column * pitch;
  NUMBER x[NARROW], y[NARROW];
  UNROLL
  for (uint i = 0; i < NARROW; ++i) {
    x[i] = from[i] != NONE ? own[from[i]] : (NUMBER)0;
    y[i] = from[NARROW + i] != NONE ? own[from[NARROW + i]] : (NUMBER)0;
  }
  UNROLL
  for (uint i = 0; i < NARROW; ++i)
    if (to[NARROW + i] != NONE && to[NARROW + i] >= end) own[to[NARROW + i]] = y[i];
  if (column >= end && column < solved) {
    SOLVE_COLUMN(x, begin, end)
  }
  UNROLL
  for (uint i = 0; i < NARROW; ++i)
    if (to[i] != NONE) own[to[i]] = x[i];
}

// Rows begin .. end of U in columns end .. last, by L's columns begin .. end; a work item takes a column.
KERNEL solve_columns(__global NUMBER* w, const ulong pitch, const uint begin, const uint end, const uint last) {
  const uint column = end + get_global_id(0);
  if (column >= last) return;
  __global NUMBER* own = w + column * pitch;
  for (uint at = begin; at < end; at += NARROW) {
    NUMBER x[NARROW];
    UNROLL
    for (uint i = 0; i < NARROW; ++i) x[i] = at + i < end ? own[at + i] : (NUMBER)0;
    for (uint k = begin; k < at; ++k) {
      const NUMBER u = own[k];
      UNROLL
      for (uint i = 0; i < NARROW; ++i)
        if (at + i < end) x[i] -= w[k * pitch + at + i] * u;
    }
    SOLVE_COLUMN(x, at, end)
    UNROLL
    for (uint i = 0; i < NARROW; ++i)
      if (at + i < end) own[at + i] = x[i];
  }
}

// The product of columns begin .. end and those rows is subtracted in columns first .. last, from row first on; groups
// take GROUP rows x STRIP columns.
KERNEL update_columns(__global NUMBER* w, const ulong pitch, const uint rows, const uint begin, const uint end,
                      const uint first, const uint last) {
  __local NUMBER u[NARROW * STRIP];
  const uint strips = (last - first + STRIP - 1) / STRIP;
  const uint left = first + get_group_id(0) % strips * STRIP;
  const uint i = first + get_group_id(0) / strips * GROUP + get_local_id(0);
  for (uint e = get_local_id(0); e < NARROW * STRIP; e += GROUP) {
    const uint k = e % NARROW, c = e / NARROW;
    u[k * STRIP + c] = begin + k < end && left + c < last ? w[(left + c) * pitch + begin + k] : (NUMBER)0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i >= rows) return;
  NUMBER l[NARROW];
  UNROLL
  for (uint k = 0; k < NARROW; ++k) l[k] = begin + k < end ? w[(begin + k) * pitch + i] : (NUMBER)0;
  for (uint c = 0; c < STRIP && left + c < last; ++c) {
    NUMBER value = w[(left + c) * pitch + i];
    UNROLL
    for (uint k = 0; k < NARROW; ++k) value -= l[k] * u[k * STRIP + c];
    w[(left + c) * pitch + i] = value;
  }
}

// I - L^-1 of each diagonal block of `side` rows and columns, of the block of `width` at `first`; L is
// strictly below the diagonal, with ones on it. Rows are `pitch` apart, blocks side * side. A work item takes a column.
KERNEL invert(__global const NUMBER* l, const ulong first, const ulong l_pitch, const uint width, const uint side,
              __global NUMBER* inverse, const ulong pitch) {
  const uint groups = (pitch + GROUP - 1) / GROUP;
  const uint at = get_group_id(0) / groups * side, rows = min(side, width - at);
  const uint column = get_group_id(0) % groups * GROUP + get_local_id(0);
  if (column >= pitch) return;
  inverse += (ulong)at * side;
  l += first + at * l_pitch + at;
  for (uint i = 0; i < rows; ++i) {
    NUMBER value = 0;
    if (i > column) {
      value = l[i * l_pitch + column];
      UNROLL_BY_8
      for (uint k = column + 1; k < i; ++k) value -= l[i * l_pitch + k] * inverse[k * pitch + column];
    }
    inverse[i * pitch + column] = value;
  }
}

// --- the triangular solves

// One group: y = L^-1 y with the block at `first`, ones on its diagonal, SOLVED rows at a time: these by all work
// items together in local memory, their updates of the other rows by one work item per row.
#define SOLVED 32
#define LOAD_SOLVED(k, count)                                             \
  for (uint e = item; e < (count) * (count); e += GROUP) {                \
    const uint i = e / (count), j = e % (count);                          \
    block[i * (SOLVED + 1) + j] = a[first + ((k) + i) * pitch + (k) + j]; \
  }                                                                       \
  barrier(CLK_LOCAL_MEM_FENCE)
KERNEL solve_lower(__global const NUMBER* a, const ulong first, const ulong pitch, const uint width,
                   __global NUMBER* y) {
  __local NUMBER values[BLOCK];
  __local NUMBER block[SOLVED * (SOLVED + 1)];
  const uint item = get_local_id(0);
  for (uint i = item; i < width; i += GROUP) values[i] = y[i];
  for (uint k = 0; k < width; k += SOLVED) {
    const uint count = min((uint)SOLVED, width - k);
    LOAD_SOLVED(k, count);
    for (uint j = 0; j < count; ++j) {
      if (item > j && item < count) values[k + item] -= block[item * (SOLVED + 1) + j] * values[k + j];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint i = k + count + item; i < width; i += GROUP) {
      NUMBER sum = 0;
      for (uint j = 0; j < count; ++j) sum += a[first + i * pitch + k + j] * values[k + j];
      values[i] -= sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (uint i = item; i < width; i += GROUP) y[i] = values[i];
}

// Likewise x = U^-1 x, from the last rows to the first.
KERNEL solve_upper(__global const NUMBER* a, const ulong first, const ulong pitch, const uint width,
                   __global NUMBER* x) {
  __local NUMBER values[BLOCK];
  __local NUMBER block[SOLVED * (SOLVED + 1)];
  const uint item = get_local_id(0);
  for (uint i = item; i < width; i += GROUP) values[i] = x[i];
  for (uint k = (width - 1) / SOLVED * SOLVED + SOLVED; k > 0;) {
    k -= SOLVED;
    const uint count = min((uint)SOLVED, width - k);
    LOAD_SOLVED(k, count);
    for (uint j = count; j-- > 0;) {
      if (item == j) values[k + j] /= block[j * (SOLVED + 1) + j];
      barrier(CLK_LOCAL_MEM_FENCE);
      if (item < j) values[k + item] -= block[item * (SOLVED + 1) + j] * values[k + j];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint i = item; i < k; i += GROUP) {
      NUMBER sum = 0;
      for (uint j = 0; j < count; ++j) sum += a[first + i * pitch + k + j] * values[k + j];
      values[i] -= sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (uint i = item; i < width; i += GROUP) x[i] = values[i];
}

// s -= A x in the rows from `first`; TEAM work items take a row.
KERNEL subtract_product(__global const NUMBER* a, const ulong first, const ulong pitch, const uint rows,
                        const uint width, __global const NUMBER* x, __global NUMBER* s) {
  __local NUMBER parts[GROUP];
  const uint item = get_local_id(0), lane = item % TEAM;
  const ulong i = get_group_id(0) * (GROUP / TEAM) + item / TEAM;
  NUMBER sum = 0;
  if (i < rows)
    for (uint j = lane; j < width; j += TEAM) sum += a[first + i * pitch + j] * x[j];
  parts[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint half_of = TEAM / 2; half_of > 0; half_of /= 2) {
    if (lane < half_of) parts[item] += parts[item + half_of];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == 0 && i < rows) s[i] -= parts[item];
}
