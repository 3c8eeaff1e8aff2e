// RandomAccess by many work items: each generates a share of the stream and applies it to its part of the table.
//
// By -D:
//   LOG2_TABLE   words of the whole table
//   WHOLE        the part is the whole table: every update falls into it
//   LCG          the stream x -> 6364136223846793005 x + 1 instead of the polynomial; with
//   LEAP_FACTOR, LEAP_SUMMAND   LANES steps of it
//   LOOK_AHEAD   updates generated before the first of them is applied; a multiple of LANES
//   LANES        words of the stream that are generated side by side, at most 32
//   UPDATES      0 read, xor, write (loses updates that overlap); 1 a 64-bit atomic; 2 two 32-bit atomics
//   FETCH        update one word after the other, while those of the next look-ahead are fetched into the cache (CPUs);
//                without it, UPDATES 0 reads all words of a look-ahead, then writes them
#ifndef GLOBAL_PTR
#define GLOBAL_PTR(T) __global T*
#endif
#if UPDATES == 1 && !defined(ATOMIC_XOR64)
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define ATOMIC_XOR64(pointer, value) atom_xor(pointer, value)
#endif
#if UPDATES == 2 && !defined(ATOMIC_XOR32)
#define ATOMIC_XOR32(pointer, value) atomic_xor(pointer, value)
#endif

#ifdef LCG
#define NEXT(x) ((x) * 6364136223846793005UL + 1UL)
#define LEAP(x) ((x) * LEAP_FACTOR + LEAP_SUMMAND)
#define PLACE(x) ((x) >> (64 - LOG2_TABLE))
#else
// Carry of the top bit: 1 + t + t^2.
#define NEXT(x) (((x) << 1) ^ (((x) >> 63) * 7UL))
#define BACK(top) ((top) ^ ((top) << 1) ^ ((top) << 2))
#define LEAP(x) (((x) << LANES) ^ BACK((x) >> (64 - LANES)))
#define PLACE(x) ((x) & ((1UL << LOG2_TABLE) - 1UL))
#endif

#ifdef WHOLE
#define AT(x) PLACE(x)
#define IS_HERE(x) 1
#else
#define AT(x) (PLACE(x) - first)
#define IS_HERE(x) (AT(x) < words)
#endif

#if UPDATES == 0
#define UPDATE(x) table[AT(x)] ^= (x)
#elif UPDATES == 1
#define UPDATE(x) ATOMIC_XOR64(&table[AT(x)], x)
#else
#define HALF(x) ((volatile GLOBAL_PTR(uint))&table[AT(x)])
#define UPDATE(x) (ATOMIC_XOR32(HALF(x), (uint)(x)), ATOMIC_XOR32(HALF(x) + 1, (uint)((x) >> 32)))
#endif

#define GENERATE(to)                              \
  for (int i = 0; i < LOOK_AHEAD; i += LANES)     \
    for (int l = 0; l < LANES; ++l) {             \
      (to)[i + l] = lane[l];                      \
      lane[l] = LEAP(lane[l]);                    \
    }

// Item i generates updates i * share to (i + 1) * share - 1, at most up to `updates`; starts[i] is the word before them.
// table: words `first` to first + words - 1 of the whole table.
__kernel void update(GLOBAL_PTR(ulong) table, GLOBAL_PTR(const ulong) starts, const ulong share, const ulong updates,
                     const ulong first, const ulong words) {
  const ulong begin = get_global_id(0) * share;
  if (begin >= updates) return;
  const ulong length = updates - begin < share ? updates - begin : share;
  ulong lane[LANES];
  lane[0] = NEXT(starts[get_global_id(0)]);
  for (int l = 1; l < LANES; ++l) lane[l] = NEXT(lane[l - 1]);
#ifdef FETCH
  // Words of a look-ahead and of the next one, alternating.
  ulong word[2][LOOK_AHEAD];
  GENERATE(word[0]);
  int now = 0;
  for (ulong done = 0; done < length; done += LOOK_AHEAD, now = 1 - now) {
    GENERATE(word[1 - now]);
    for (int i = 0; i < LOOK_AHEAD; ++i) {
      const ulong next = word[1 - now][i];
      if (IS_HERE(next)) __builtin_prefetch((const void*)(ulong)&table[AT(next)], 1);
      if (IS_HERE(word[now][i])) UPDATE(word[now][i]);
    }
  }
#else
  for (ulong done = 0; done < length; done += LOOK_AHEAD) {
    ulong word[LOOK_AHEAD];
    GENERATE(word);
#if UPDATES == 0
    ulong old[LOOK_AHEAD];
    for (int i = 0; i < LOOK_AHEAD; ++i) old[i] = IS_HERE(word[i]) ? table[AT(word[i])] : 0;
    for (int i = 0; i < LOOK_AHEAD; ++i)
      if (IS_HERE(word[i])) table[AT(word[i])] = old[i] ^ word[i];
#else
    for (int i = 0; i < LOOK_AHEAD; ++i)
      if (IS_HERE(word[i])) UPDATE(word[i]);
#endif
  }
#endif
}
