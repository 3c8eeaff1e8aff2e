// The list of edges, and breadth-first searches.
//
// Searches: of a device's part of a graph, level by level. Words of bitmaps have 32 bits, as not all devices
// have wider atomics. Bitmaps of all vertices: `level` (the last level), `tried` (found before by this device), `found`
// (found in this level); of the device's own: `known` (reached, or without edges), `next` (the level found). The own
// vertices' words begin at `own_at` in bitmaps of all. Rows and parents are the own vertices'.
//
// By -D:
//   GROUP    work items of a group
//   PIECE    neighbours of a task: rows are followed in pieces, so that work items have equal work whatever the degrees
//   LANES    work items that follow one piece together; a divisor of GROUP
//   SHORT    neighbours of a row that one work item looks at, bottom-up; the rest in pieces of LONG, LANES together
#ifndef GLOBAL_PTR
#define GLOBAL_PTR(T) __global T*
#endif
#ifndef LOCAL_PTR
#define LOCAL_PTR(T) __local T*
#endif
#define NONE 0xffffffffu
#define LOWEST(word) (31u - clz((word) & (0u - (word))))

// Adds up the group's vertices and edges; the host adds the groups'.
void add_up(LOCAL_PTR(uint) vertices, LOCAL_PTR(ulong) ends, GLOBAL_PTR(ulong) sums, const uint my_vertices,
            const ulong my_ends) {
  const uint item = (uint)get_local_id(0);
  vertices[item] = my_vertices;
  ends[item] = my_ends;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item != 0) return;
  ulong all_vertices = 0, all_ends = 0;
  for (uint i = 0; i < GROUP; ++i) {
    all_vertices += vertices[i];
    all_ends += ends[i];
  }
  sums[2 * get_group_id(0)] = all_vertices;
  sums[2 * get_group_id(0) + 1] = all_ends;
}

// Only the root is reached and in the level; vertices without edges are known.
__kernel void start(__global uint* restrict level, __global uint* restrict tried, __global uint* restrict found,
                    __global uint* restrict known, __global const uint* restrict isolated,
                    __global uint* restrict parents, const uint all_words, const uint own_at, const uint own_words,
                    const uint own_vertices, const uint root) {
  const uint own_root = root - 32 * own_at;
  for (uint word = (uint)get_global_id(0); word < all_words; word += (uint)get_global_size(0)) {
    const uint bit = word == root / 32 ? 1u << root % 32 : 0;
    const uint own = word - own_at;
    const uint reached = own < own_words ? isolated[own] | bit : 0;
    level[word] = bit;
    tried[word] = reached;
    found[word] = 0;
    if (own < own_words) known[own] = reached;
  }
  if (get_global_id(0) == 0 && own_root < own_vertices) parents[own_root] = root;
}

// Cuts the rows of the level's own vertices into tasks: {own vertex, piece}. `count` is 0 before.
__kernel void cut(__global const uint* restrict level, __global const ulong* restrict begins,
                  __global uint* restrict tasks, volatile __global uint* restrict count, const uint own_at,
                  const uint own_words) {
  for (uint word = (uint)get_global_id(0); word < own_words; word += (uint)get_global_size(0)) {
    for (uint left = level[own_at + word]; left != 0; left &= left - 1) {
      const uint vertex = 32 * word + LOWEST(left);
      const uint pieces = (uint)((begins[vertex + 1] - begins[vertex] + PIECE - 1) / PIECE);
      const ulong at = atomic_add(count, pieces);
      for (uint piece = 0; piece < pieces; ++piece) {
        tasks[2 * (at + piece)] = vertex;
        tasks[2 * (at + piece) + 1] = piece;
      }
    }
  }
}

// Top-down: follows the tasks' edges; the first to find an own vertex is its parent.
__kernel void follow(__global const uint* restrict tasks, __global const uint* restrict count,
                     __global const ulong* restrict begins, __global const uint* restrict neighbours,
                     volatile __global uint* restrict tried, volatile __global uint* restrict found,
                     __global uint* restrict parents, const uint first, const uint own_vertices) {
  const ulong at_once = get_global_size(0) / LANES;
  for (ulong task = get_global_id(0) / LANES; task < count[0]; task += at_once) {
    const uint vertex = tasks[2 * task];
    const ulong begin = begins[vertex] + (ulong)tasks[2 * task + 1] * PIECE;
    const ulong row_end = begins[vertex + 1];
    const ulong end = begin + PIECE < row_end ? begin + PIECE : row_end;
    for (ulong i = begin + get_global_id(0) % LANES; i < end; i += LANES) {
      const uint other = neighbours[i], word = other / 32, bit = 1u << other % 32;
      if ((tried[word] & bit) != 0) continue;
      if ((atomic_or(&tried[word], bit) & bit) != 0) continue;
      atomic_or(&found[word], bit);
      if (other - first < own_vertices) parents[other - first] = first + vertex;
    }
  }
}

// Ors what other devices have found of the own vertices into `found`: so many messages, `pitch` words apart.
__kernel void unite(__global const uint* restrict arrived, __global uint* restrict found, const uint messages,
                    const uint pitch, const uint own_at, const uint own_words) {
  for (uint word = (uint)get_global_id(0); word < own_words; word += (uint)get_global_size(0)) {
    uint bits = found[own_at + word];
    for (uint message = 0; message < messages; ++message) bits |= arrived[message * pitch + word];
    found[own_at + word] = bits;
  }
}

// Own vertices that any device has found in this level. Those found by another look for their parent in the level.
__kernel void adopt(__global const uint* restrict level, __global uint* restrict tried, __global uint* restrict found,
                    __global uint* restrict known, __global uint* restrict next, __global const ulong* restrict begins,
                    __global const uint* restrict neighbours, __global uint* restrict parents,
                    __global ulong* restrict sums, const uint all_words, const uint own_at, const uint own_words) {
  __local uint vertices_of[GROUP];
  __local ulong ends_of[GROUP];
  uint vertices = 0;
  ulong ends = 0;
  for (uint word = (uint)get_global_id(0); word < all_words; word += (uint)get_global_size(0)) {
    const uint own = word - own_at;
    if (own < own_words) {
      const uint reached = found[word] & ~known[own];
      next[own] = reached;
      known[own] |= reached;
      tried[word] |= reached;
      vertices += popcount(reached);
      for (uint left = reached; left != 0; left &= left - 1) {
        const uint vertex = 32 * own + LOWEST(left);
        ends += begins[vertex + 1] - begins[vertex];
        if (parents[vertex] != NONE) continue;
        for (ulong i = begins[vertex]; i < begins[vertex + 1]; ++i) {
          const uint other = neighbours[i];
          if ((level[other / 32] >> other % 32 & 1u) == 0) continue;
          parents[vertex] = other;
          break;
        }
      }
    }
    found[word] = 0;
  }
  add_up(vertices_of, ends_of, sums, vertices, ends);
}

// Bottom-up: each own vertex that is not known looks for a neighbour in the level, among the first of its row. LANES work
// items share a word of vertices. Longer rows without success become tasks of look_on: {own vertex, piece}; `count` is 0
// before.
__kernel void look_up(__global const uint* restrict level, __global uint* restrict tried,
                      __global uint* restrict known, __global uint* restrict next,
                      __global const ulong* restrict begins, __global const uint* restrict neighbours,
                      __global uint* restrict parents, __global ulong* restrict sums, __global uint* restrict tasks,
                      volatile __global uint* restrict count, const uint own_at, const uint own_words) {
  __local uint vertices_of[GROUP];
  __local ulong ends_of[GROUP];
  __local uint reached_of[GROUP / LANES];
  const uint team = (uint)get_local_id(0) / LANES, lane = (uint)get_local_id(0) % LANES;
  uint vertices = 0;
  ulong ends = 0;
  for (uint first = (uint)get_group_id(0) * (GROUP / LANES); first < own_words;
       first += (uint)get_num_groups(0) * (GROUP / LANES)) {
    const uint word = first + team;
    const uint before = word < own_words ? known[word] : ~0u;
    uint reached = 0;
    for (uint v = lane; v < 32; v += LANES) {
      if ((before >> v & 1u) != 0) continue;
      const uint vertex = 32 * word + v;
      const ulong begin = begins[vertex], row_end = begins[vertex + 1];
      const ulong end = row_end - begin > SHORT ? begin + SHORT : row_end;
      ulong i = begin;
      for (; i < end; ++i) {
        const uint other = neighbours[i];
        if ((level[other / 32] >> other % 32 & 1u) == 0) continue;
        parents[vertex] = other;
        reached |= 1u << v;
        ends += row_end - begin;
        break;
      }
      if (i < end || end == row_end) continue;
      const uint pieces = (uint)((row_end - end + LONG - 1) / LONG);
      const ulong at = atomic_add(count, pieces);
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
      next[word] = reached;
      if (reached != 0) {
        known[word] = before | reached;
        tried[own_at + word] |= reached;
      }
      vertices += popcount(reached);
    }
  }
  add_up(vertices_of, ends_of, sums, vertices, ends);
}

// Bottom-up: the rest of the rows that look_up left, LANES work items a piece. A vertex of several pieces is found once.
__kernel void look_on(__global const uint* restrict level, volatile __global uint* restrict tried,
                      volatile __global uint* restrict known, volatile __global uint* restrict next,
                      __global const ulong* restrict begins, __global const uint* restrict neighbours,
                      __global uint* restrict parents, __global ulong* restrict sums,
                      __global const uint* restrict tasks, __global const uint* restrict count, const uint own_at) {
  __local uint vertices_of[GROUP];
  __local ulong ends_of[GROUP];
  const ulong at_once = get_global_size(0) / LANES;
  uint vertices = get_local_id(0) == 0 ? (uint)sums[2 * get_group_id(0)] : 0;
  ulong ends = get_local_id(0) == 0 ? sums[2 * get_group_id(0) + 1] : 0;
  for (ulong task = get_global_id(0) / LANES; task < count[0]; task += at_once) {
    const uint vertex = tasks[2 * task], word = vertex / 32, bit = 1u << vertex % 32;
    const ulong row = begins[vertex], row_end = begins[vertex + 1];
    const ulong begin = row + SHORT + (ulong)tasks[2 * task + 1] * LONG;
    const ulong end = row_end - begin > LONG ? begin + LONG : row_end;
    for (ulong i = begin + get_global_id(0) % LANES; i < end; i += LANES) {
      if ((next[word] & bit) != 0) break;
      const uint other = neighbours[i];
      if ((level[other / 32] >> other % 32 & 1u) == 0) continue;
      if ((atomic_or(&next[word], bit) & bit) != 0) break;
      atomic_or(&known[word], bit);
      atomic_or(&tried[own_at + word], bit);
      parents[vertex] = other;
      ++vertices;
      ends += row_end - row;
      break;
    }
  }
  add_up(vertices_of, ends_of, sums, vertices, ends);
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

ulong reversed(ulong x) {
  x = (x >> 1 & 0x5555555555555555UL) | (x & 0x5555555555555555UL) << 1;
  x = (x >> 2 & 0x3333333333333333UL) | (x & 0x3333333333333333UL) << 2;
  x = (x >> 4 & 0x0f0f0f0f0f0f0f0fUL) | (x & 0x0f0f0f0f0f0f0f0fUL) << 4;
  x = (x >> 8 & 0x00ff00ff00ff00ffUL) | (x & 0x00ff00ff00ff00ffUL) << 8;
  x = (x >> 16 & 0x0000ffff0000ffffUL) | (x & 0x0000ffff0000ffffUL) << 16;
  return x >> 32 | x << 32;
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
                       __global ulong* restrict edges, __global float* restrict weights, const ulong first,
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
    edges[2 * item] = scrambled(from);
    edges[2 * item + 1] = scrambled(to);
  }
}
#endif
