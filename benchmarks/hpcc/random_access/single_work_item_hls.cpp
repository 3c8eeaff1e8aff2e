// RandomAccess in the form for FPGAs as HLS C++: single_work_item.cl's pipelines, with the same macros and names.
#define GENERATORS (1 << RNG_COUNT_LOG)
#define PLACES (GENERATORS * RNG_DISTANCE)
#define LOOK_AHEAD (1 << BUFFER_LOG)

typedef unsigned long ulong;  // 64 bits

static ulong next_word(const ulong x) {
#pragma HLS inline
#ifdef LCG
  return x * 6364136223846793005UL + 1UL;
#else
  return (x << 1) ^ ((x >> 63) * 7UL);
#endif
}

static ulong place_of(const ulong x, const unsigned log2_table) {
#pragma HLS inline
#ifdef LCG
  return x >> (64 - log2_table);
#else
  return x & ((1UL << log2_table) - 1UL);
#endif
}

// Generator g generates updates g * share to (g + 1) * share - 1, at most up to `updates`; starts[g] is the word before
// them. table: words `first` to first + words - 1 of the whole table, which has 2^log2_table.
static void update_part(ulong* table, const ulong* starts, const ulong share, const ulong updates, const ulong first,
                        const ulong words, const unsigned log2_table) {
#pragma HLS inline
  ulong next[GENERATORS], left[GENERATORS];  // a generator's word, and its remaining updates
#pragma HLS array_partition variable = next complete
#pragma HLS array_partition variable = left complete
starts:
  for (int g = 0; g < GENERATORS; ++g) {
#pragma HLS pipeline II = 1
    const ulong begin = g * share < updates ? g * share : updates;
    left[g] = updates - begin < share ? updates - begin : share;
    next[g] = next_word(starts[g]);
  }
  ulong moving[PLACES];
  bool taken[PLACES];
#pragma HLS array_partition variable = moving complete
#pragma HLS array_partition variable = taken complete
  for (int p = 0; p < PLACES; ++p) {
#pragma HLS unroll
    taken[p] = false;
  }

  // Until nothing was generated or moved over the length of the register.
register_steps:
  for (int idle = 0; idle < PLACES;) {
    ulong word[LOOK_AHEAD], old[LOOK_AHEAD];
    bool valid[LOOK_AHEAD];
  reads:
    for (int i = 0; i < LOOK_AHEAD; ++i) {
#pragma HLS pipeline II = 1
#ifdef IVDEP
#pragma HLS dependence variable = table type = inter false
#endif
      bool generated = false;
      for (int g = 0; g < GENERATORS; ++g) {
#pragma HLS unroll
        const int at = g * RNG_DISTANCE + RNG_DISTANCE - 1;
        const bool here = place_of(next[g], log2_table) - first < words;
        const bool puts = left[g] > 0 && here && !taken[at];
        if (puts) moving[at] = next[g];
        taken[at] |= puts;
        generated |= left[g] > 0;
        if (left[g] > 0 && (puts || !here)) {
          next[g] = next_word(next[g]);
          --left[g];
        }
      }
      word[i] = moving[0];
      valid[i] = taken[0];
      if (valid[i]) old[i] = table[place_of(word[i], log2_table) - first];
      idle = generated ? 0 : idle + 1;
      for (int p = 0; p < PLACES - 1; ++p) {
#pragma HLS unroll
        moving[p] = moving[p + 1];
        taken[p] = taken[p + 1];
      }
      taken[PLACES - 1] = false;
    }
  writes:
    for (int i = 0; i < LOOK_AHEAD; ++i) {
#pragma HLS pipeline II = 1
#ifdef IVDEP
#pragma HLS dependence variable = table type = inter false
#endif
      if (valid[i]) table[place_of(word[i], log2_table) - first] = old[i] ^ word[i];
    }
  }
}

// The kernel's name holds its build options, which identifies a bitstream built for other options: update_g5_d5_b0.
#define NAME_(g, d, b) update_g##g##_d##d##_b##b
#define NAME(g, d, b) NAME_(g, d, b)
extern "C" void NAME(RNG_COUNT_LOG, RNG_DISTANCE, BUFFER_LOG)(ulong* table, const ulong* starts, const ulong share,
                                                              const ulong updates, const ulong first, const ulong words,
                                                              const unsigned log2_table) {
#pragma HLS interface m_axi port = table bundle = gmem0
#pragma HLS interface m_axi port = starts bundle = gmem1
  update_part(table, starts, share, updates, first, words, log2_table);
}
