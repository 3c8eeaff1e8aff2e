// IS on a device: keys counted by bucket, moved to their buckets' places in messages, and ranked by counting.
//
// Keys are dealt out to groups in runs: group g of G has keys n g / G to n (g + 1) / G. `counts` has a row of BUCKETS
// numbers for each group.
//
// By -D:
//   GROUP    work items of a group
//   BUCKETS  at most 1024
#ifndef GLOBAL_PTR
#define GLOBAL_PTR(T) __global T*
#endif
#ifndef LOCAL_PTR
#define LOCAL_PTR(T) __local T*
#endif
#define NOWHERE 0xffffffffu

uint first_key(const uint n, const uint group, const uint groups) { return (uint)((ulong)n * group / groups); }

// The weight of a key's rank in an iteration's sum.
ulong weight(const uint key) {
  const ulong x = ((ulong)key + 1) * 0x9e3779b97f4a7c15UL;
  return x ^ x >> 29;
}

__kernel void fill(__global uint* restrict values, const uint count, const uint value) {
  for (uint i = (uint)get_global_id(0); i < count; i += (uint)get_global_size(0)) values[i] = value;
}

__kernel void count_buckets(__global const uint* restrict keys, __global uint* restrict counts, const uint n,
                            const uint shift) {
  __local uint own[BUCKETS];
  const uint item = (uint)get_local_id(0), group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
  for (uint b = item; b < BUCKETS; b += GROUP) own[b] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint end = first_key(n, group + 1, groups);
  for (uint i = first_key(n, group, groups) + item; i < end; i += GROUP) atomic_inc(&own[keys[i] >> shift]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint b = item; b < BUCKETS; b += GROUP) counts[group * BUCKETS + b] = own[b];
}

// Of all groups: the keys of each bucket, then the keys at some places (NOWHERE: 0).
__kernel void add_up(__global const uint* restrict counts, __global const uint* restrict keys,
                     __global const uint* restrict places, __global uint* restrict sums, const uint groups,
                     const uint tests) {
  const uint b = (uint)get_global_id(0);
  if (b < BUCKETS) {
    uint sum = 0;
    for (uint g = 0; g < groups; ++g) sum += counts[g * BUCKETS + b];
    sums[b] = sum;
  } else if (b < BUCKETS + tests) {
    sums[b] = places[b - BUCKETS] == NOWHERE ? 0 : keys[places[b - BUCKETS]];
  }
}

// Counts become places: where each group's keys of a bucket begin, from the bucket's own place on.
__kernel void set_places(__global uint* restrict counts, __global const uint* restrict places, const uint groups) {
  const uint b = (uint)get_global_id(0);
  if (b >= BUCKETS) return;
  uint at = places[b];
  for (uint g = 0; g < groups; ++g) {
    const uint count = counts[g * BUCKETS + b];
    counts[g * BUCKETS + b] = at;
    at += count;
  }
}

__kernel void move_keys(__global const uint* restrict keys, __global const uint* restrict counts,
                        __global uint* restrict moved, const uint n, const uint shift) {
  __local uint next[BUCKETS];
  const uint item = (uint)get_local_id(0), group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
  for (uint b = item; b < BUCKETS; b += GROUP) next[b] = counts[group * BUCKETS + b];
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint end = first_key(n, group + 1, groups);
  for (uint i = first_key(n, group, groups) + item; i < end; i += GROUP) {
    const uint key = keys[i];
    moved[atomic_inc(&next[key >> shift])] = key;
  }
}

// Counts keys first ... first + n - 1 of a message by value, from `low` on; other ranks' keys are left out.
__kernel void count_keys(__global const uint* restrict keys, volatile __global uint* restrict counts, const uint first,
                         const uint n, const uint low, const uint range) {
  for (uint i = (uint)get_global_id(0); i < n; i += (uint)get_global_size(0)) {
    const uint at = keys[first + i] - low;
    if (at < range) atomic_inc(&counts[at]);
  }
}

// A group's bucket: counts become the number of smaller keys, which are `below` before the bucket. `sums`: of weighted
// ranks, by bucket.
__kernel void rank_keys(__global uint* restrict counts, __global const uint* restrict below,
                        __global ulong* restrict sums, const uint width, const uint low) {
  __local uint of_items[GROUP];
  __local ulong weighted[GROUP];
  const uint item = (uint)get_local_id(0), bucket = (uint)get_group_id(0);
  const uint share = (width + GROUP - 1) / GROUP;
  const uint begin = item * share < width ? item * share : width;
  const uint end = begin + share < width ? begin + share : width;
  const uint first = bucket * width;
  uint sum = 0;
  for (uint i = begin; i < end; ++i) sum += counts[first + i];
  of_items[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint rank = below[bucket];
  for (uint i = 0; i < item; ++i) rank += of_items[i];
  ulong total = 0;
  for (uint i = begin; i < end; ++i) {
    const uint count = counts[first + i];
    counts[first + i] = rank;
    total += weight(low + first + i) * rank;
    rank += count;
  }
  weighted[item] = total;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item != 0) return;
  for (uint i = 1; i < GROUP; ++i) total += weighted[i];
  sums[bucket] = total;
}
