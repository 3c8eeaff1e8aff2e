// Device code of `ceilings`: one kernel for each limit of a device.
//   -DINTERLEAVED    GPUs: a work item takes every get_global_size(0)-th item, so that neighbours access neighbouring memory;
//                    without it (CPUs, emulators) a contiguous range.
//   -DWORD=T         type moved by the memory kernels: ulong, or a vector of it
//   -DBY_CORE        CPUs: non-temporal stores, prefetch of words of later updates
//   -DREAL=T -DNUMBER=T -DCHAINS=n   arithmetic kernel: type of computation, type of arguments, independent chains
//   -DMATRIX=90|80 -DMATRIX_TYPE=64|32|16   products by matrix units of that generation or later: double, tf32, half
//   -DGROUP=n        kernel `meet`: work items of its groups, all of which are resident
//   -DATOMICS        64-bit atomics are available; ATOMIC_XOR64(pointer, value) is the compiler's name for them

#ifdef INTERLEAVED
#define FIRST(n) (get_global_id(0))
#define LAST(n) (n)
#define STEP (get_global_size(0))
#else
#define SHARE(n) (((n) + get_global_size(0) - 1) / get_global_size(0))
#define FIRST(n) (get_global_id(0) * SHARE(n) < (n) ? get_global_id(0) * SHARE(n) : (n))
#define LAST(n) ((get_global_id(0) + 1) * SHARE(n) < (n) ? (get_global_id(0) + 1) * SHARE(n) : (n))
#define STEP 1
#endif

#if defined(BY_CORE) && defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define STORE(value, place) __builtin_nontemporal_store(value, place)
#endif
#endif
#ifndef STORE
#define STORE(value, place) (*(place) = (value))
#endif

#ifdef WORD
// The words `first` to `last` - 1 of a work item; of a core both halves, a block of either in turn, as it fetches two
// streams of an array faster than one.
#ifdef BY_CORE
#define BLOCK 4
#define LENGTH (((last - first + 1) / 2 + BLOCK - 1) / BLOCK * BLOCK)
#define FOR_EACH(i)                                                         \
  for (ulong length = LENGTH, at = first; at < first + length; at += BLOCK) \
    for (ulong part = at; part < last; part += length)                      \
      for (ulong i = part; i < part + BLOCK && i < last; i += STEP)
#else
#define FOR_EACH(i) for (ulong i = first; i < last; i += STEP)
#endif

// sums[work item] += its words of `from`.
__kernel void memory_read(__global const WORD* restrict from, __global WORD* restrict sums, const ulong words) {
  const ulong first = FIRST(words);
  const ulong last = LAST(words);
  WORD sum = sums[get_global_id(0)];
  FOR_EACH(i) sum += from[i];
  sums[get_global_id(0)] = sum;
}

__kernel void memory_write(__global WORD* restrict to, const ulong words, const ulong key) {
  const ulong first = FIRST(words);
  const ulong last = LAST(words);
  FOR_EACH(i) STORE((WORD)(key ^ i), &to[i]);
}

__kernel void memory_copy(__global const WORD* restrict from, __global WORD* restrict to, const ulong words,
                          const ulong key) {
  const ulong first = FIRST(words);
  const ulong last = LAST(words);
  FOR_EACH(i) STORE(from[i] + (WORD)(key), &to[i]);
}
#endif

#ifdef REAL
// x -> (x * a1 + b1) * a2 + b2, `pairs` times in registers, for CHAINS numbers at once.
__kernel void arithmetic(__global const REAL* restrict start, __global REAL* restrict result, const NUMBER a1,
                         const NUMBER b1, const NUMBER a2, const NUMBER b2, const uint pairs) {
  REAL x[CHAINS];
  const REAL first_factor = (REAL)(a1), first_term = (REAL)(b1);
  const REAL second_factor = (REAL)(a2), second_term = (REAL)(b2);
#pragma unroll
  for (int chain = 0; chain < CHAINS; ++chain) x[chain] = start[chain * get_global_size(0) + get_global_id(0)];
  for (uint pair = 0; pair < pairs; ++pair) {
#pragma unroll
    for (int chain = 0; chain < CHAINS; ++chain) x[chain] = x[chain] * first_factor + first_term;
#pragma unroll
    for (int chain = 0; chain < CHAINS; ++chain) x[chain] = x[chain] * second_factor + second_term;
  }
#pragma unroll
  for (int chain = 0; chain < CHAINS; ++chain) result[chain * get_global_size(0) + get_global_id(0)] = x[chain];
}
#endif

#ifdef MATRIX
// x -> x + K a1 b1 + K a2 b2, `pairs` times by matrix units (an NVIDIA GPU's tensor cores), for CHAINS numbers of each
// work item: a warp of 32 holds 16 x 8 of them, four per work item, and multiplies 16 x K factors a by K x 8 factors b.
// All factors are equal, so their distribution over work items does not matter.
#if MATRIX_TYPE == 64
#define FACTOR double
#define FACTOR_OF(value) (value)
#if MATRIX >= 90
#define ADD_PRODUCT(x, a, b)                                                                            \
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%5, %5}, " \
      "{%0, %1, %2, %3};"                                                                               \
      : "+d"((x)[0]), "+d"((x)[1]), "+d"((x)[2]), "+d"((x)[3])                                          \
      : "d"(a), "d"(b))
#else
#define ADD_EIGHTH(x, y, a, b)                                                            \
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" \
      : "+d"(x), "+d"(y)                                                                  \
      : "d"(a), "d"(b))
#define ADD_PRODUCT(x, a, b)           \
  {                                    \
    ADD_EIGHTH((x)[0], (x)[1], a, b);  \
    ADD_EIGHTH((x)[2], (x)[3], a, b);  \
    ADD_EIGHTH((x)[0], (x)[1], a, b);  \
    ADD_EIGHTH((x)[2], (x)[3], a, b);  \
  }
#endif
#else
#define FACTOR uint
#if MATRIX_TYPE == 16
uint twice(float value) {
  ushort bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return (uint)bits << 16 | bits;
}
#define FACTOR_OF(value) twice(value)
#define SHAPE "m16n8k16.row.col.f32.f16.f16.f32"
#else
#define FACTOR_OF(value) as_uint(value)
#define SHAPE "m16n8k8.row.col.f32.tf32.tf32.f32"
#endif
#define ADD_PRODUCT(x, a, b)                                                                       \
  asm("mma.sync.aligned." SHAPE " {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%5, %5}, {%0, %1, %2, %3};" \
      : "+f"((x)[0]), "+f"((x)[1]), "+f"((x)[2]), "+f"((x)[3])                                     \
      : "r"(a), "r"(b))
#endif

__kernel void products(__global const NUMBER* restrict start, __global NUMBER* restrict result, const NUMBER a1,
                       const NUMBER b1, const NUMBER a2, const NUMBER b2, const uint pairs) {
  NUMBER x[CHAINS];
  const FACTOR first_a = FACTOR_OF(a1), first_b = FACTOR_OF(b1);
  const FACTOR second_a = FACTOR_OF(a2), second_b = FACTOR_OF(b2);
#pragma unroll
  for (int chain = 0; chain < CHAINS; ++chain) x[chain] = start[chain * get_global_size(0) + get_global_id(0)];
  for (uint left = pairs; left > 0; --left) {
#pragma unroll
    for (int chain = 0; chain < CHAINS; chain += 4) ADD_PRODUCT(x + chain, first_a, first_b);
#pragma unroll
    for (int chain = 0; chain < CHAINS; chain += 4) ADD_PRODUCT(x + chain, second_a, second_b);
  }
#pragma unroll
  for (int chain = 0; chain < CHAINS; ++chain) result[chain * get_global_size(0) + get_global_id(0)] = x[chain];
}
#endif

// Position of update u, unique among 2^bits consecutive updates (see scramble() in reference.hpp).
#define DEFINE_SCRAMBLED(NAME, T)                               \
  T NAME(ulong u, uint bits) {                                  \
    const T mask = (T)((((ulong)1) << bits) - 1);               \
    const uint half_of_bits = (bits + 1) / 2;                   \
    T place = ((T)u * (T)0x9e3779b97f4a7c15ul) & mask;          \
    place ^= place >> half_of_bits;                             \
    place = (place * (T)0xd1342543de82ef95ul) & mask;           \
    return place ^ (place >> half_of_bits);                     \
  }
DEFINE_SCRAMBLED(scrambled, ulong)

#define VALUE(u) ((u) * 0xd1342543de82ef95ul + 1)

// CHANGE(position, value) for updates `from` to `to` - 1 of a table. A core waits for few cache misses at a time, so
// words are prefetched while those of the batch before are changed. Positions of short tables hang on the lower halves of
// products alone, which vector units multiply.
#ifdef BY_CORE
DEFINE_SCRAMBLED(scrambled32, uint)
#define BATCH 32
#define PLACE_ALL(places, first)                                                         \
  if (bits <= 32)                                                                        \
    for (int i = 0; i < BATCH; ++i) (places)[i] = scrambled32((first) + i, bits);        \
  else                                                                                   \
    for (int i = 0; i < BATCH; ++i) (places)[i] = scrambled((first) + i, bits)
#define UPDATE_ALL(from, to, CHANGE)                                         \
  ulong u = from;                                                            \
  ulong places[2][BATCH];                                                    \
  int now = 0;                                                               \
  PLACE_ALL(places[0], u);                                                   \
  for (; u + BATCH <= (to); u += BATCH, now = 1 - now) {                     \
    PLACE_ALL(places[1 - now], u + BATCH);                                   \
    for (int i = 0; i < BATCH; ++i) {                                        \
      __builtin_prefetch((const void*)(ulong)&table[places[1 - now][i]], 1); \
      CHANGE(&table[places[now][i]], VALUE(u + i));                          \
    }                                                                        \
  }                                                                          \
  for (; u < (to); ++u) CHANGE(&table[scrambled(u, bits)], VALUE(u))
#else
#define UPDATE_ALL(from, to, CHANGE) \
  for (ulong u = from; u < (to); u += STEP) CHANGE(&table[scrambled(u, bits)], VALUE(u))
#endif

#define XOR(pointer, value) *(pointer) ^= (value)

__kernel void random_update(__global ulong* restrict table, const ulong begin, const ulong updates, const uint bits) {
  UPDATE_ALL(begin + FIRST(updates), begin + LAST(updates), XOR);
}

#ifdef ATOMICS
#ifndef ATOMIC_XOR64
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define ATOMIC_XOR64(pointer, value) atom_xor(pointer, value)
#endif
__kernel void random_atomic(__global ulong* restrict table, const ulong begin, const ulong updates, const uint bits) {
  UPDATE_ALL(begin + FIRST(updates), begin + LAST(updates), ATOMIC_XOR64);
}
#endif

__kernel void count_launch(__global ulong* counter) {
  counter[0] += 1;
}

#ifdef GROUP
#ifndef FENCE_DEVICE
#define FENCE_DEVICE() mem_fence(CLK_GLOBAL_MEM_FENCE)
inline uint acquire_device(__global const uint* counter) {
  const uint value = *(volatile __global const uint*)counter;
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  return value;
}
#endif
#if GROUP == 1
#define JOIN_GROUP()
#else
#define JOIN_GROUP() barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE)
#endif

// At each meeting a group takes the next group's value, adds one, and waits until all groups have done so. `values`: of each
// group, twice, in turn; `met` counts the groups, and wraps; `first`: meetings before this kernel.
__kernel void meet(__global ulong* values, __global uint* met, const uint first, const uint meetings, const ulong looks) {
#if GROUP == 1
  uint alive = 1;
#else
  __local uint alive;
#endif
  const uint group = (uint)get_group_id(0), groups = (uint)get_num_groups(0), next = (group + 1) % groups;
  for (uint i = first; i != first + meetings; ++i) {
    if (get_local_id(0) == 0) {
      const uint from = i % 2;
      values[(1 - from) * groups + group] = values[from * groups + next] + 1;
      FENCE_DEVICE();
      atomic_add(met, 1u);
      alive = 0;
      for (ulong look = 0; look < looks && !alive; ++look) alive = (int)(acquire_device(met) - (i + 1) * groups) >= 0;
    }
    JOIN_GROUP();
    if (!alive) return;
    JOIN_GROUP();
  }
}
#endif
