// RandomAccess in the form for FPGAs: a pipeline per replication, each with its own part of the table.
//
// Several generators, each with a share of the stream, feed one shift register (HPCC FPGA, seed 4.1.4): in every step a
// generator inserts its word at its position if the update is in this part and the place is free, drops it if the
// update is in another part, and waits otherwise. Words leaving the register are applied, LOOK_AHEAD updates read
// first, then written; so of two updates to one word within a look-ahead the first is lost.
//
// By -D:
//   NUM_REPLICATIONS     kernels, at most 32
//   RNG_COUNT_LOG        log2 of the generators of a kernel
//   RNG_DISTANCE         places of the register from one generator to the next
//   BUFFER_LOG           log2 of LOOK_AHEAD
//   LOG2_TABLE           words of the whole table
//   LCG                  the stream x -> 6364136223846793005 x + 1 instead of the polynomial
//   IVDEP                let reads overtake writes in the pipeline (loses more updates, but needs no stall)
#define GENERATORS (1 << RNG_COUNT_LOG)
#define PLACES (GENERATORS * RNG_DISTANCE)
#define LOOK_AHEAD (1 << BUFFER_LOG)

#ifdef LCG
#define NEXT(x) ((x) * 6364136223846793005UL + 1UL)
#define PLACE(x) ((x) >> (64 - LOG2_TABLE))
#else
#define NEXT(x) (((x) << 1) ^ (((x) >> 63) * 7UL))
#define PLACE(x) ((x) & ((1UL << LOG2_TABLE) - 1UL))
#endif

// Generator g generates updates g * share to (g + 1) * share - 1, at most up to `updates`; starts[g] is the word before
// them. table: words `first` to first + words - 1 of the whole table.
void update_part(__global ulong* restrict table, __global const ulong* restrict starts, const ulong share,
                 const ulong updates, const ulong first, const ulong words) {
  ulong next[GENERATORS], left[GENERATORS];  // a generator's word, and its remaining updates
  for (int g = 0; g < GENERATORS; ++g) {
    const ulong begin = g * share < updates ? g * share : updates;
    left[g] = updates - begin < share ? updates - begin : share;
    next[g] = NEXT(starts[g]);
  }
  ulong moving[PLACES];
  bool taken[PLACES];
#pragma unroll
  for (int p = 0; p < PLACES; ++p) taken[p] = false;

  // Until nothing was generated or moved over the length of the register.
  for (int idle = 0; idle < PLACES;) {
    ulong word[LOOK_AHEAD], old[LOOK_AHEAD];
    bool valid[LOOK_AHEAD];
#ifdef IVDEP
#pragma ivdep
#endif
    for (int i = 0; i < LOOK_AHEAD; ++i) {
      bool generated = false;
#pragma unroll
      for (int g = 0; g < GENERATORS; ++g) {
        const int at = g * RNG_DISTANCE + RNG_DISTANCE - 1;
        const bool here = PLACE(next[g]) - first < words;
        const bool puts = left[g] > 0 && here && !taken[at];
        if (puts) moving[at] = next[g];
        taken[at] |= puts;
        generated |= left[g] > 0;
        if (left[g] > 0 && (puts || !here)) {
          next[g] = NEXT(next[g]);
          --left[g];
        }
      }
      word[i] = moving[0];
      valid[i] = taken[0];
      if (valid[i]) old[i] = table[PLACE(word[i]) - first];
      idle = generated ? 0 : idle + 1;
#pragma unroll
      for (int p = 0; p < PLACES - 1; ++p) {
        moving[p] = moving[p + 1];
        taken[p] = taken[p + 1];
      }
      taken[PLACES - 1] = false;
    }
#ifdef IVDEP
#pragma ivdep
#endif
    for (int i = 0; i < LOOK_AHEAD; ++i)
      if (valid[i]) table[PLACE(word[i]) - first] = old[i] ^ word[i];
  }
}

// A kernel's name holds its build options, which identifies a bitstream built for other options: update_0_g5_d5_b0.
#define NAME_(i, g, d, b) update_##i##_g##g##_d##d##_b##b
#define NAME(i, g, d, b) NAME_(i, g, d, b)
#define KERNEL(i)                                                                                           \
  __kernel __attribute__((reqd_work_group_size(1, 1, 1))) void NAME(i, RNG_COUNT_LOG, RNG_DISTANCE, BUFFER_LOG)( \
      __global ulong* restrict table, __global const ulong* restrict starts, const ulong share,             \
      const ulong updates, const ulong first, const ulong words) {                                          \
    update_part(table, starts, share, updates, first, words);                                               \
  }
#define KERNELS_1 KERNEL(0)
#define KERNELS_2 KERNELS_1 KERNEL(1)
#define KERNELS_3 KERNELS_2 KERNEL(2)
#define KERNELS_4 KERNELS_3 KERNEL(3)
#define KERNELS_5 KERNELS_4 KERNEL(4)
#define KERNELS_6 KERNELS_5 KERNEL(5)
#define KERNELS_7 KERNELS_6 KERNEL(6)
#define KERNELS_8 KERNELS_7 KERNEL(7)
#define KERNELS_9 KERNELS_8 KERNEL(8)
#define KERNELS_10 KERNELS_9 KERNEL(9)
#define KERNELS_11 KERNELS_10 KERNEL(10)
#define KERNELS_12 KERNELS_11 KERNEL(11)
#define KERNELS_13 KERNELS_12 KERNEL(12)
#define KERNELS_14 KERNELS_13 KERNEL(13)
#define KERNELS_15 KERNELS_14 KERNEL(14)
#define KERNELS_16 KERNELS_15 KERNEL(15)
#define KERNELS_17 KERNELS_16 KERNEL(16)
#define KERNELS_18 KERNELS_17 KERNEL(17)
#define KERNELS_19 KERNELS_18 KERNEL(18)
#define KERNELS_20 KERNELS_19 KERNEL(19)
#define KERNELS_21 KERNELS_20 KERNEL(20)
#define KERNELS_22 KERNELS_21 KERNEL(21)
#define KERNELS_23 KERNELS_22 KERNEL(22)
#define KERNELS_24 KERNELS_23 KERNEL(23)
#define KERNELS_25 KERNELS_24 KERNEL(24)
#define KERNELS_26 KERNELS_25 KERNEL(25)
#define KERNELS_27 KERNELS_26 KERNEL(26)
#define KERNELS_28 KERNELS_27 KERNEL(27)
#define KERNELS_29 KERNELS_28 KERNEL(28)
#define KERNELS_30 KERNELS_29 KERNEL(29)
#define KERNELS_31 KERNELS_30 KERNEL(30)
#define KERNELS_32 KERNELS_31 KERNEL(31)
#define KERNELS_(count) KERNELS_##count
#define KERNELS(count) KERNELS_(count)
KERNELS(NUM_REPLICATIONS)
