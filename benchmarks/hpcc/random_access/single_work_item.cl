// RandomAccess in the form for FPGAs: a pipeline per replication, each with its own part of the table.
//
// Several generators, each with a share of the stream, feed one shift register (HPCC FPGA, seed 4.1.4): in every step a
// generator inserts its word at its position if the update is in this part and the place is free, drops it if the
// update is in another part, and waits otherwise. Words leaving the register are applied, LOOK_AHEAD updates read
// first, then written; so of two updates to one word within a look-ahead the first is lost.
//
// By -D:
//   RNG_COUNT_LOG        log2 of the generators of a kernel
//   RNG_DISTANCE         places of the register from one generator to the next
//   BUFFER_LOG           log2 of LOOK_AHEAD
//   LCG                  the stream x -> 6364136223846793005 x + 1 instead of the polynomial
//   IVDEP                let reads overtake writes in the pipeline (loses more updates, but needs no stall)
//
// A board's bitstream includes this file once for each replication, with its number in REPLICATION; BANK(argument) is
// the attribute of an argument's memory bank.
#ifndef RANDOM_ACCESS_PIPELINE
#define RANDOM_ACCESS_PIPELINE
#define GENERATORS (1 << RNG_COUNT_LOG)
#define PLACES (GENERATORS * RNG_DISTANCE)
#define LOOK_AHEAD (1 << BUFFER_LOG)

#ifdef LCG
#define NEXT(x) ((x) * 6364136223846793005UL + 1UL)
#define PLACE(x) ((x) >> (64 - log2_table))
#else
#define NEXT(x) (((x) << 1) ^ (((x) >> 63) * 7UL))
#define PLACE(x) ((x) & ((1UL << log2_table) - 1UL))
#endif

// Generator g generates updates g * share to (g + 1) * share - 1, at most up to `updates`; starts[g] is the word before
// them. table: words `first` to first + words - 1 of the whole table, which has 2^log2_table.
void update_part(__global ulong* restrict table, __global const ulong* restrict starts, const ulong share,
                 const ulong updates, const ulong first, const ulong words, const uint log2_table) {
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

#ifndef BANK
#define BANK(argument)
#endif
#endif

// A kernel's name holds its build options, which identifies a bitstream built for other options: update_0_g5_d5_b0.
#define NAME_(i, g, d, b) update##i##_g##g##_d##d##_b##b
#define NAME(i, g, d, b) NAME_(i, g, d, b)
#define NUMBER_(i) _##i
#define NUMBER(i) NUMBER_(i)
#ifndef KERNEL
#define KERNEL(number)                                                                                                \
  __kernel __attribute__((reqd_work_group_size(1, 1, 1))) void NAME(number, RNG_COUNT_LOG, RNG_DISTANCE, BUFFER_LOG)( \
      __global BANK(table) ulong* restrict table, __global BANK(starts) const ulong* restrict starts,                 \
      const ulong share, const ulong updates, const ulong first, const ulong words, const uint log2_table) {          \
    update_part(table, starts, share, updates, first, words, log2_table);                                             \
  }
#endif
#ifdef REPLICATION
KERNEL(NUMBER(REPLICATION))
#else
KERNEL()
#endif
