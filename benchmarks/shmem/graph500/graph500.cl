// The list of edges, kernel 1, breadth-first searches, and shortest paths.
//
// Adjacency: each key has BINS bins of ends, one after the other: `bounds` are the bins' starts, and the end. Rows have own
// vertices as keys and vertices of the whole graph as ends; lists the other way round. With weights there are two bins,
// of light edges and of heavy ones.
//
// Breadth-first searches: of a device's part of a graph, level by level. Words of bitmaps have 32 bits, as not all devices
// have wider atomics. Bitmaps of all vertices: `level` (the last level), `next` (the level found; the device writes its
// own vertices' part); of the device's own: `known` (reached, or without edges). The own vertices' words begin at
// `own_at` in bitmaps of all. Rows and parents are the own vertices'. `lists`: by vertex of the whole graph, the own
// vertices (counted from 0) that it is a neighbour of; of a single device they are the rows.
//
// `totals`: of the levels with even and odd numbers (`turn`), each: tasks, vertices found, and the ends of their edges
// in two words. A level's first kernel clears those of the next one.
//
// By -D:
//   BINS     2 with weights, else 1
//   GROUP    work items of a group, a power of two
//   PIECE    neighbours of a task: lists are followed in pieces, so that work items have equal work whatever the degrees
//   LANES    work items that follow one piece together; a divisor of GROUP
//   SHORT    neighbours of a row that one work item looks at, bottom-up; the rest in pieces of LONG, LANES together
#ifndef GLOBAL_PTR
#define GLOBAL_PTR(T) __global T*
#endif
#ifndef LOCAL_PTR
#define LOCAL_PTR(T) __local T*
#endif
#define ROW(bounds, vertex) (bounds)[BINS * (ulong)(vertex)]
#define LOWEST(word) (31u - clz((word) & (0u - (word))))
// Adds to a number of two words, the lower one first.
#define ADD_WIDE(words, value)                                                                  \
  {                                                                                             \
    const uint low = (uint)(value);                                                             \
    const uint carry = atomic_add(&(words)[0], low) + low < low ? 1u : 0u;                      \
    const uint high = (uint)((value) >> 32) + carry;                                            \
    if (high != 0) atomic_add(&(words)[1], high);                                               \
  }
#define TASKS(turn) (4 * (turn))

// Adds the group's vertices and the ends of their edges to those of the level.
void add_up(LOCAL_PTR(uint) of_group, GLOBAL_PTR(uint) totals, const uint turn, const uint vertices,
            const ulong ends) {
  for (uint i = (uint)get_local_id(0); i < 3; i += (uint)get_local_size(0)) of_group[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (vertices != 0) {
    atomic_add(&of_group[0], vertices);
    ADD_WIDE(of_group + 1, ends);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) != 0 || of_group[0] == 0) return;
  const ulong all_ends = (ulong)of_group[2] << 32 | of_group[1];
  atomic_add(&totals[TASKS(turn) + 1], of_group[0]);
  ADD_WIDE(totals + TASKS(turn) + 2, all_ends);
}

// Only the root is reached and in the level; vertices without edges are known.
__kernel void start(__global uint* restrict level, __global uint* restrict known, __global const uint* restrict isolated,
                    __global uint* restrict parents, __global uint* restrict totals, const uint all_words,
                    const uint own_at, const uint own_words, const uint own_vertices, const uint root) {
  const uint own_root = root - 32 * own_at;
  for (uint word = (uint)get_global_id(0); word < all_words; word += (uint)get_global_size(0)) {
    const uint bit = word == root / 32 ? 1u << root % 32 : 0;
    const uint own = word - own_at;
    level[word] = bit;
    if (own < own_words) known[own] = isolated[own] | bit;
  }
  if (get_global_id(0) < 8) totals[get_global_id(0)] = 0;
  if (get_global_id(0) == 0 && own_root < own_vertices) parents[own_root] = root;
}

// Cuts the lists of the level's vertices into tasks: {vertex, piece}.
__kernel void cut(__global const uint* restrict level, __global uint* restrict next,
                  __global const ulong* restrict list_begins, __global uint* restrict tasks,
                  volatile __global uint* restrict totals, const uint turn, const uint all_words, const uint own_at,
                  const uint own_words) {
  if (get_global_id(0) < 4) totals[TASKS(1 - turn) + get_global_id(0)] = 0;
  for (uint word = (uint)get_global_id(0); word < all_words; word += (uint)get_global_size(0)) {
    if (word - own_at < own_words) next[word] = 0;
    for (uint left = level[word]; left != 0; left &= left - 1) {
      const uint vertex = 32 * word + LOWEST(left);
      const uint pieces = (uint)((ROW(list_begins, vertex + 1) - ROW(list_begins, vertex) + PIECE - 1) / PIECE);
      if (pieces == 0) continue;
      const ulong at = atomic_add(&totals[TASKS(turn)], pieces);
      for (uint piece = 0; piece < pieces; ++piece) {
        tasks[2 * (at + piece)] = vertex;
        tasks[2 * (at + piece) + 1] = piece;
      }
    }
  }
}

#if defined(PORT_KERNEL) && defined(ALONE)  // one work item has a group's work
#undef LANES
#define LANES 1
#endif
// Top-down: follows the tasks' edges to own vertices; the first to find one is its parent. Of `at_once` teams of LANES
// work items, that of `item` takes every at_once-th task.
void follow_tasks(const ulong item, const ulong at_once, GLOBAL_PTR(const uint) restrict tasks,
                  GLOBAL_PTR(uint) restrict totals, GLOBAL_PTR(const ulong) restrict list_begins,
                  GLOBAL_PTR(const uint) restrict lists, GLOBAL_PTR(const ulong) restrict begins,
                  volatile GLOBAL_PTR(uint) restrict known, volatile GLOBAL_PTR(uint) restrict next,
                  GLOBAL_PTR(uint) restrict parents, const uint turn, const uint own_at, LOCAL_PTR(uint) of_group) {
  const uint count = totals[TASKS(turn)];
  uint vertices = 0;
  ulong ends = 0;
  for (ulong task = item / LANES; task < count; task += at_once) {
    const uint vertex = tasks[2 * task];
    const ulong begin = ROW(list_begins, vertex) + (ulong)tasks[2 * task + 1] * PIECE;
    const ulong list_end = ROW(list_begins, vertex + 1);
    const ulong end = begin + PIECE < list_end ? begin + PIECE : list_end;
    for (ulong i = begin + item % LANES; i < end; i += LANES) {
      const uint own = lists[i], word = own / 32, bit = 1u << own % 32;
      if ((known[word] & bit) != 0) continue;
      if ((atomic_or(&known[word], bit) & bit) != 0) continue;
      atomic_or(&next[own_at + word], bit);
      parents[own] = vertex;
      ++vertices;
      ends += ROW(begins, own + 1) - ROW(begins, own);
    }
  }
  add_up(of_group, totals, turn, vertices, ends);
}

#ifdef PORT_KERNEL
// On several devices through a transport's port (port.hpp): a kernel for each neighbour, all groups of all of them resident.
// Together they follow the tasks. When all groups have ended that, each passes the words of its share of what was found
// on to the neighbour, in packets: {words, whether more follow}, then {place in `next`, word} of each word that is not 0. Packets of
// both go to and fro until neither has more, so a packet's place is free again when the second one after it arrives.
//   PLACES   of a neighbour's packets, in turn; 2
// `ended`: groups that have followed their tasks; the last one sets `all_ended` to the level's number.
PORT_KERNEL(discover)(__global const uint* restrict tasks, __global uint* restrict totals,
                      __global const ulong* restrict list_begins, __global const uint* restrict lists,
                      __global const ulong* restrict begins, volatile __global uint* restrict known,
                      volatile __global uint* restrict next, __global uint* restrict parents, const uint turn,
                      const uint own_at, const uint own_words, const uint kernel_number, const uint kernels,
                      __global uint* ended, __global ulong* all_ended, const ulong level_number,
                      __global uchar* outgoing, const ulong outgoing_at, __global const uchar* incoming,
                      const ulong incoming_at, const ulong pitch, PORT) {
  PORT_OPEN;
  __local uint of_group[3];
  __local uint filled;
  const uint groups = (uint)get_num_groups(0), group = (uint)get_group_id(0), items = (uint)get_local_size(0);
  follow_tasks(kernel_number * get_global_size(0) + get_global_id(0), kernels * get_global_size(0) / LANES, tasks,
               totals, list_begins, lists, begins, known, next, parents, turn, own_at, of_group);
  TOGETHER();
  if (FIRST) {
    FENCE_SYSTEM();
    if (atomic_add(ended, 1u) + 1 == kernels * groups) {
      *ended = 0;
      FENCE_SYSTEM();
      STORE_SYSTEM(all_ended, level_number);
    }
  }
  AWAIT(all_ended, level_number);

  __global uint* packet = (__global uint*)(outgoing + outgoing_at + port.begin);
  const uint room = (uint)((port.end - port.begin) / 8) - 1;
  const uint end = (uint)((ulong)own_words * (group + 1) / groups);
  uint word = (uint)((ulong)own_words * group / groups);
  uint more = 1;
  for (ulong i = 0; more != 0; ++i) {
    if (FIRST) filled = 0;
    TOGETHER();
    uint words = 0;
    for (; word < end && words + items <= room; word += items) {
      const uint mine = own_at + word + (uint)get_local_id(0);
      const uint bits = mine < own_at + end ? next[mine] : 0;
      if (bits != 0) {
        const uint at = atomic_add(&filled, 1u);
        packet[2 + 2 * at] = mine;
        packet[3 + 2 * at] = bits;
      }
      TOGETHER();
      words = filled;
      TOGETHER();
    }
    if (FIRST) {
      packet[0] = words;
      packet[1] = word < end;
    }
    PORT_SEND(i);
    PORT_RECEIVE(i);
    __global const uint* came = (__global const uint*)(incoming + incoming_at + i % PLACES * pitch + port.begin);
    for (uint k = (uint)get_local_id(0); k < came[0]; k += items) next[came[2 + 2 * k]] = came[3 + 2 * k];
    more = word < end || came[1] != 0;
  }
  PORT_CLOSE;
}
#else
__kernel void follow(__global const uint* restrict tasks, __global uint* restrict totals,
                     __global const ulong* restrict list_begins, __global const uint* restrict lists,
                     __global const ulong* restrict begins, volatile __global uint* restrict known,
                     volatile __global uint* restrict next, __global uint* restrict parents, const uint turn,
                     const uint own_at) {
  __local uint of_group[3];
  follow_tasks(get_global_id(0), get_global_size(0) / LANES, tasks, totals, list_begins, lists, begins, known, next,
               parents, turn, own_at, of_group);
}
#endif

// Bottom-up: each own vertex that is not known looks for a neighbour in the level, among the first of its row. LANES work
// items share a word of vertices. Longer rows without success become tasks of look_on: {own vertex, piece}.
__kernel void look_up(__global const uint* restrict level, __global uint* restrict next, __global uint* restrict known,
                      __global const ulong* restrict begins, __global const uint* restrict neighbours,
                      __global uint* restrict parents, __global uint* restrict tasks, __global uint* restrict totals,
                      const uint turn, const uint own_at, const uint own_words) {
  __local uint of_group[3];
  __local uint reached_of[GROUP / LANES];
  const uint team = (uint)get_local_id(0) / LANES, lane = (uint)get_local_id(0) % LANES;
  uint vertices = 0;
  ulong ends = 0;
  if (get_global_id(0) < 4) totals[TASKS(1 - turn) + get_global_id(0)] = 0;
  for (uint first = (uint)get_group_id(0) * (GROUP / LANES); first < own_words;
       first += (uint)get_num_groups(0) * (GROUP / LANES)) {
    const uint word = first + team;
    const uint before = word < own_words ? known[word] : ~0u;
    uint reached = 0;
    for (uint v = lane; v < 32; v += LANES) {
      if ((before >> v & 1u) != 0) continue;
      const uint vertex = 32 * word + v;
      const ulong begin = ROW(begins, vertex), row_end = ROW(begins, vertex + 1);
      const ulong end = row_end - begin > SHORT ? begin + SHORT : row_end;
      ulong i = begin;
      for (; i < end; ++i) {
        const uint other = neighbours[i];
        if ((level[other / 32] >> other % 32 & 1u) == 0) continue;
        parents[vertex] = other;
        reached |= 1u << v;
        ++vertices;
        ends += row_end - begin;
        break;
      }
      if (i < end || end == row_end) continue;
      const uint pieces = (uint)((row_end - end + LONG - 1) / LONG);
      const ulong at = atomic_add(&totals[TASKS(turn)], pieces);
      for (uint piece = 0; piece < pieces; ++piece) {
        tasks[2 * (at + piece)] = vertex;
        tasks[2 * (at + piece) + 1] = piece;
      }
    }
#if LANES > 1
    if (lane == 0) reached_of[team] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (reached != 0) atomic_or(&reached_of[team], reached);
    barrier(CLK_LOCAL_MEM_FENCE);
    reached = reached_of[team];
#endif
    if (lane == 0 && word < own_words) {
      next[own_at + word] = reached;
      if (reached != 0) known[word] = before | reached;
    }
  }
  add_up(of_group, totals, turn, vertices, ends);
}

// Bottom-up: the rest of the rows that look_up left, LANES work items a piece. A vertex of several pieces is found once.
__kernel void look_on(__global const uint* restrict level, volatile __global uint* restrict next,
                      volatile __global uint* restrict known, __global const ulong* restrict begins,
                      __global const uint* restrict neighbours, __global uint* restrict parents,
                      __global const uint* restrict tasks, __global uint* restrict totals, const uint turn,
                      const uint own_at) {
  __local uint of_group[3];
  const ulong at_once = get_global_size(0) / LANES;
  const uint count = totals[TASKS(turn)];
  uint vertices = 0;
  ulong ends = 0;
  for (ulong task = get_global_id(0) / LANES; task < count; task += at_once) {
    const uint vertex = tasks[2 * task], word = vertex / 32, bit = 1u << vertex % 32;
    const ulong row = ROW(begins, vertex), row_end = ROW(begins, vertex + 1);
    const ulong begin = row + SHORT + (ulong)tasks[2 * task + 1] * LONG;
    const ulong end = row_end - begin > LONG ? begin + LONG : row_end;
    for (ulong i = begin + get_global_id(0) % LANES; i < end; i += LANES) {
      if ((next[own_at + word] & bit) != 0) break;
      const uint other = neighbours[i];
      if ((level[other / 32] >> other % 32 & 1u) == 0) continue;
      if ((atomic_or(&next[own_at + word], bit) & bit) != 0) break;
      atomic_or(&known[word], bit);
      parents[vertex] = other;
      ++vertices;
      ends += row_end - row;
      break;
    }
  }
  add_up(of_group, totals, turn, vertices, ends);
}

// A level in the form for FPGAs: three kernels of one work item each, joined by channels. A word of ones ends the level.
#ifdef CHANNELS
#pragma OPENCL EXTENSION cl_intel_channels : enable
#define ENDED 0xffffffffu
channel uint of_level __attribute__((depth(64)));
channel uint2 of_lists __attribute__((depth(256)));  // own vertex, and the one of the level

__kernel void reader(__global const uint* restrict level, const uint all_words) {
  for (uint word = 0; word < all_words; ++word)
    for (uint left = level[word]; left != 0; left &= left - 1) write_channel_intel(of_level, 32 * word + LOWEST(left));
  write_channel_intel(of_level, ENDED);
}

__kernel void expander(__global const ulong* restrict list_begins, __global const uint* restrict lists) {
  for (uint vertex = read_channel_intel(of_level); vertex != ENDED; vertex = read_channel_intel(of_level)) {
    const ulong end = ROW(list_begins, vertex + 1);
    for (ulong i = ROW(list_begins, vertex); i < end; ++i) write_channel_intel(of_lists, (uint2)(lists[i], vertex));
  }
  write_channel_intel(of_lists, (uint2)(ENDED, ENDED));
}

__kernel void filter(__global const ulong* restrict begins, __global uint* restrict known, __global uint* restrict next,
                     __global uint* restrict parents, __global uint* restrict totals, const uint turn, const uint own_at,
                     const uint own_words) {
  uint vertices = 0;
  ulong ends = 0;
  for (uint word = 0; word < own_words; ++word) next[own_at + word] = 0;
  for (uint2 found = read_channel_intel(of_lists); found.x != ENDED; found = read_channel_intel(of_lists)) {
    const uint own = found.x, word = own / 32, bit = 1u << own % 32;
    if ((known[word] & bit) != 0) continue;
    known[word] |= bit;
    next[own_at + word] |= bit;
    parents[own] = found.y;
    ++vertices;
    ends += ROW(begins, own + 1) - ROW(begins, own);
  }
  totals[TASKS(turn) + 1] = vertices;
  totals[TASKS(turn) + 2] = (uint)ends;
  totals[TASKS(turn) + 3] = (uint)(ends >> 32);
}
#endif

// Shortest paths, by delta-stepping. Distances of all vertices are bits of numbers that are not negative, so ordered as
// these are; the device changes its own vertices', `waiting` marks those to be relaxed again. `level`: those relaxed now;
// `settled`: all that the bucket has had. `totals`: tasks; vertices counted; the least bucket that is not empty.
#define UNREACHED 0x7f800000u
#define NO_PARENT 0xffffffffu
#define LIGHT 0
#define HEAVY 1
#define REACHED 2

// Where the edges of a kind begin and end in a vertex's list: with LIGHT and HEAVY its bin, else all.
#define BEGIN_OF(kind, vertex) bounds[BINS * (ulong)(vertex) + ((kind) == HEAVY ? 1 : 0)]
#define END_OF(kind, vertex) bounds[BINS * (ulong)(vertex) + ((kind) == LIGHT ? 1 : BINS)]

__kernel void start_paths(__global uint* restrict distances, __global uint* restrict waiting,
                          __global uint* restrict settled, __global uint* restrict parents, __global uint* restrict totals,
                          const uint all_words, const uint own_at, const uint own_words, const uint own_vertices,
                          const uint root) {
  const uint own_root = root - 32 * own_at;
  for (uint word = (uint)get_global_id(0); word < all_words; word += (uint)get_global_size(0)) {
    for (uint vertex = 32 * word; vertex < 32 * word + 32; ++vertex) distances[vertex] = vertex == root ? 0 : UNREACHED;
    settled[word] = 0;
    if (word - own_at < own_words) waiting[word - own_at] = word == root / 32 ? 1u << root % 32 : 0;
  }
  if (get_global_id(0) == 0) {
    totals[0] = totals[1] = 0;
    totals[2] = ~0u;
    if (own_root < own_vertices) parents[own_root] = root;
  }
}

// The waiting vertices up to `bucket` no longer wait and are the level. The last bucket has all that lie beyond.
__kernel void choose(__global const uint* restrict distances, __global uint* restrict waiting,
                     __global uint* restrict level, __global uint* restrict totals, const uint bucket,
                     const float per_bucket, const uint own_at, const uint own_words) {
  __local uint of_group[2];
  uint vertices = 0, least = ~0u;
  if (get_local_id(0) == 0) {
    of_group[0] = 0;
    of_group[1] = ~0u;
  }
  if (get_global_id(0) == 0) totals[0] = 0;
  for (uint word = (uint)get_global_id(0); word < own_words; word += (uint)get_global_size(0)) {
    const uint all = waiting[word];
    uint chosen = 0;
    for (uint left = all; left != 0; left &= left - 1) {
      const uint bit = LOWEST(left);
      const float place = as_float(distances[32 * (own_at + word) + bit]) * per_bucket;
      const uint in = place < 4e9f ? (uint)place : 4000000000u;
      if (in <= bucket)
        chosen |= 1u << bit;
      else if (in < least)
        least = in;
    }
    level[own_at + word] = chosen;
    if (chosen != 0) waiting[word] = all ^ chosen;
    vertices += popcount(chosen);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (vertices != 0) atomic_add(&of_group[0], vertices);
  if (least != ~0u) atomic_min(&of_group[1], least);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) != 0) return;
  if (of_group[0] != 0) atomic_add(&totals[1], of_group[0]);
  if (of_group[1] != ~0u) atomic_min(&totals[2], of_group[1]);
}

// Cuts into tasks: the light edges of the level, which is settled then; the heavy ones of all settled; all of the level, or
// of all that are reached.
__kernel void cut_paths(__global const uint* restrict level, __global uint* restrict settled,
                        __global const uint* restrict distances, __global const ulong* restrict bounds,
                        __global uint* restrict tasks, volatile __global uint* restrict totals, const uint kind,
                        const uint all_words) {
  if (get_global_id(0) == 0) {
    totals[1] = 0;
    totals[2] = ~0u;
  }
  for (uint word = (uint)get_global_id(0); word < all_words; word += (uint)get_global_size(0)) {
    uint left = 0;
    if (kind == REACHED) {
      for (uint bit = 0; bit < 32; ++bit) left |= distances[32 * word + bit] == UNREACHED ? 0 : 1u << bit;
    } else {
      left = kind == HEAVY ? settled[word] : level[word];
    }
    if (kind == LIGHT) settled[word] |= left;
    if (kind == HEAVY) settled[word] = 0;
    for (; left != 0; left &= left - 1) {
      const uint vertex = 32 * word + LOWEST(left);
      const uint pieces = (uint)((END_OF(kind, vertex) - BEGIN_OF(kind, vertex) + PIECE - 1) / PIECE);
      if (pieces == 0) continue;
      const ulong at = atomic_add(&totals[0], pieces);
      for (uint piece = 0; piece < pieces; ++piece) {
        tasks[2 * (at + piece)] = vertex;
        tasks[2 * (at + piece) + 1] = piece;
      }
    }
  }
}

// Own vertices that a task's edges lead to more shortly wait.
__kernel void relax(__global const uint* restrict tasks, __global const uint* restrict totals,
                    __global const ulong* restrict bounds, __global const uint* restrict ends,
                    __global const float* restrict weights, volatile __global uint* distances,
                    volatile __global uint* restrict waiting, const uint kind, const uint own_at) {
  const ulong at_once = get_global_size(0) / LANES;
  const uint count = totals[0];
  for (ulong task = get_global_id(0) / LANES; task < count; task += at_once) {
    const uint vertex = tasks[2 * task];
    const float before = as_float(distances[vertex]);
    const ulong begin = BEGIN_OF(kind, vertex) + (ulong)tasks[2 * task + 1] * PIECE;
    const ulong list_end = END_OF(kind, vertex);
    const ulong end = begin + PIECE < list_end ? begin + PIECE : list_end;
    for (ulong i = begin + get_global_id(0) % LANES; i < end; i += LANES) {
      const uint own = ends[i], length = as_uint(before + weights[i]);
      if (length >= distances[32 * own_at + own]) continue;
      if (atomic_min(&distances[32 * own_at + own], length) > length) atomic_or(&waiting[own / 32], 1u << own % 32);
    }
  }
}

// Parents, of final distances: neighbours whose distance and edge make the vertex's. First those with a shorter distance
// (`equal` 0), so that parents make no circle; then, for vertices without such a neighbour (edges of zero, and those that
// rounding absorbs), of equally far ones that have parents, which are the level.
__kernel void join(__global const uint* restrict tasks, __global const uint* restrict totals,
                   __global const ulong* restrict bounds, __global const uint* restrict ends,
                   __global const float* restrict weights, __global const uint* restrict distances,
                   volatile __global uint* restrict parents, const uint equal, const uint own_at) {
  const ulong at_once = get_global_size(0) / LANES;
  const uint count = totals[0];
  for (ulong task = get_global_id(0) / LANES; task < count; task += at_once) {
    const uint vertex = tasks[2 * task], before = distances[vertex];
    const ulong begin = BEGIN_OF(REACHED, vertex) + (ulong)tasks[2 * task + 1] * PIECE;
    const ulong list_end = END_OF(REACHED, vertex);
    const ulong end = begin + PIECE < list_end ? begin + PIECE : list_end;
    for (ulong i = begin + get_global_id(0) % LANES; i < end; i += LANES) {
      const uint own = ends[i], after = distances[32 * own_at + own];
      if (as_uint(as_float(before) + weights[i]) != after) continue;
      if (equal != 0 ? before == after && parents[own] == NO_PARENT : before < after) parents[own] = vertex;
    }
  }
}

// The level: vertices with a parent. Counts those that are reached and have none.
__kernel void find_orphans(__global const uint* restrict distances, __global const uint* restrict parents,
                           __global uint* restrict level, __global uint* restrict totals, const uint own_at,
                           const uint own_words, const uint own_vertices) {
  if (get_global_id(0) == 0) totals[0] = 0;
  for (uint word = (uint)get_global_id(0); word < own_words; word += (uint)get_global_size(0)) {
    uint joined = 0, orphans = 0;
    for (uint own = 32 * word; own < 32 * word + 32 && own < own_vertices; ++own) {
      if (parents[own] != NO_PARENT)
        joined |= 1u << own % 32;
      else if (distances[32 * own_at + own] != UNREACHED)
        ++orphans;
    }
    level[own_at + word] = joined;
    if (orphans != 0) atomic_add(&totals[1], orphans);
  }
}

__kernel void zero(__global uint* restrict words, const ulong count) {
  for (ulong word = get_global_id(0); word < count; word += get_global_size(0)) words[word] = 0;
}

// Kernel 1: counts (`fill` 0) or places the ends of some edges, of rows, or `turned`, of lists. `places`: of each bin, the
// number so far. Loops are counted apart.
__kernel void place_ends(__global const uint* restrict edges, __global const float* restrict weights,
                         volatile __global uint* restrict places, __global const ulong* restrict bounds,
                         __global uint* restrict ends, __global float* restrict end_weights,
                         volatile __global uint* restrict loops, const ulong count, const uint own_first,
                         const uint own_vertices, const float delta, const uint turned, const uint fill) {
  for (ulong item = get_global_id(0); item < count; item += get_global_size(0)) {
    const uint from = edges[2 * item], to = edges[2 * item + 1];
    if (from == to) {
      if (fill == 0 && turned == 0 && from - own_first < own_vertices) atomic_add(&loops[from - own_first], 1u);
      continue;
    }
    for (uint side = 0; side < 2; ++side) {
      const uint vertex = side == 0 ? from : to, other = side == 0 ? to : from;
      if ((turned != 0 ? other : vertex) - own_first >= own_vertices) continue;
      ulong bin = BINS * (ulong)(turned != 0 ? vertex : vertex - own_first);
#if BINS > 1
      if (weights[item] >= delta) ++bin;
#endif
      const uint place = atomic_add(&places[bin], 1u);
      if (fill == 0) continue;
      ends[bounds[bin] + place] = turned != 0 ? other - own_first : other;
#if BINS > 1
      end_weights[bounds[bin] + place] = weights[item];
#endif
    }
  }
}

// Bins' numbers added up: each group has a stretch of them.
#define STRETCH_BEGIN(bins) (get_group_id(0) * STRETCH(bins) < (bins) ? get_group_id(0) * STRETCH(bins) : (bins))
#define STRETCH_END(bins) ((get_group_id(0) + 1) * STRETCH(bins) < (bins) ? (get_group_id(0) + 1) * STRETCH(bins) : (bins))
#define STRETCH(bins) (((bins) + get_num_groups(0) - 1) / get_num_groups(0))

__kernel void sum_stretches(__global const uint* restrict places, __global ulong* restrict sums, const ulong bins) {
  __local ulong of_items[GROUP];
  const ulong end = STRETCH_END(bins);
  ulong sum = 0;
  for (ulong bin = STRETCH_BEGIN(bins) + get_local_id(0); bin < end; bin += GROUP) sum += places[bin];
  of_items[get_local_id(0)] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) != 0) return;
  for (uint item = 1; item < GROUP; ++item) sum += of_items[item];
  sums[get_group_id(0)] = sum;
}

// By one work item: what lies before each stretch.
__kernel void add_stretches(__global ulong* restrict sums, const uint stretches) {
  ulong before = 0;
  for (uint stretch = 0; stretch < stretches; ++stretch) {
    const ulong sum = sums[stretch];
    sums[stretch] = before;
    before += sum;
  }
}

// Makes bounds of the numbers, and zeros these.
__kernel void bound_stretches(__global uint* restrict places, __global const ulong* restrict sums,
                              __global ulong* restrict bounds, const ulong bins) {
  __local ulong of_items[GROUP];
  const uint item = (uint)get_local_id(0);
  const ulong end = STRETCH_END(bins);
  ulong before = sums[get_group_id(0)];
  if (bins == 0 && get_global_id(0) == 0) bounds[0] = 0;
  for (ulong first = STRETCH_BEGIN(bins); first < end; first += GROUP) {
    const ulong bin = first + item;
    const uint own = bin < end ? places[bin] : 0;
    of_items[item] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint distance = 1; distance < GROUP; distance *= 2) {
      const ulong earlier = item >= distance ? of_items[item - distance] : 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      of_items[item] += earlier;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (bin < end) {
      bounds[bin] = before + of_items[item] - own;
      if (bin + 1 == bins) bounds[bins] = before + of_items[item];
      places[bin] = 0;
    }
    before += of_items[GROUP - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// The list of edges, as generator.cpp makes it, bit for bit: an edge a work item. By -D for this kernel:
//   SCALE, LEAST_DRAW, SCRAMBLE_0, SCRAMBLE_1   of the generator
#ifdef SCALE
#define MODULUS 2147483647UL

ulong reduced(ulong x) {  // x below 2^63
  x = (x & MODULUS) + (x >> 31);
  x = (x & MODULUS) + (x >> 31);
  return x >= MODULUS ? x - MODULUS : x;
}

// Byte by byte, by two products: shifts and masks become LLVM's bitreverse, which SYCL's run-time compiler rejects.
ulong reversed(ulong x) {
  ulong found = 0;
  for (int byte = 0; byte < 64; byte += 8) {
    const ulong spread = (x >> byte & 0xff) * 0x80200802UL & 0x0884422110UL;
    found = found << 8 | (spread * 0x0101010101UL >> 32 & 0xff);
  }
  return found;
}

ulong scrambled(ulong vertex) {
  vertex += SCRAMBLE_0 + SCRAMBLE_1;
  vertex *= SCRAMBLE_0 | 0x4519840211493211UL;
  vertex = reversed(vertex) >> (64 - SCALE);
  vertex *= SCRAMBLE_1 | 0x3050852102c843a5UL;
  return reversed(vertex) >> (64 - SCALE);
}

// `powers`: 5 x 5 for each bit of an edge's number; `origin`: the state of edge 0.
__kernel void generate(__global const ulong* restrict powers, __global const ulong* restrict origin,
                       __global uint* restrict edges, __global float* restrict weights, const ulong first,
                       const ulong count, const uint weighted) {
  for (ulong item = get_global_id(0); item < count; item += get_global_size(0)) {
    ulong state[5], skipped[5];
    for (int i = 0; i < 5; ++i) state[i] = origin[i];
    ulong left = first + item;
    for (int power = 0; left != 0; ++power, left >>= 1) {
      if ((left & 1) == 0) continue;
      for (int i = 0; i < 5; ++i) {
        ulong sum = 0;
        for (int k = 0; k < 5; ++k) sum = reduced(powers[25 * power + 5 * i + k] * state[k] + sum);
        skipped[i] = sum;
      }
      for (int i = 0; i < 5; ++i) state[i] = skipped[i];
    }
    ulong from = 0, to = 0;
    for (int bit = SCALE - 1; bit >= -1; --bit) {  // at last the weight
      ulong draw;
      do {
        draw = reduced(107374182UL * state[0] + 104480UL * state[4]);
        for (int i = 4; i > 0; --i) state[i] = state[i - 1];
        state[0] = draw;
      } while (bit >= 0 && draw < LEAST_DRAW);
      if (bit < 0) {
        // The same as by 4.65661287524579692e-10 in double, rounded: that differs from 2^-31 by less than a float shows.
        if (weighted != 0) weights[item] = (float)draw * 4.656612873077392578125e-10f;
        break;
      }
      draw %= 10000;
      const ulong chosen = draw < 1900 ? 1 : draw < 3800 ? 2 : draw < 9500 ? 0 : 3;
      const int flipped = from == to && chosen == 2;
      from |= (flipped ? 0UL : chosen >> 1) << bit;
      to |= (flipped ? 1UL : chosen & 1) << bit;
    }
    edges[2 * item] = (uint)scrambled(from);
    edges[2 * item + 1] = (uint)scrambled(to);
  }
}
#endif
