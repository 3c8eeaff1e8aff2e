// Batched Fourier transforms as one pipeline (FPGAs): UNROLL points enter and leave each cycle.
//
// A transform is CYCLES rows of UNROLL adjacent points. Each lane (a row's column) is a stream of CYCLES points and goes through
// LOG_CYCLES butterflies with delay lines of CYCLES/2, ..., 1 rows (single-path delay feedback, decimation in frequency), which
// leave the frequencies of the stream with their bits turned round. A transform across the lanes ends it. The store puts the
// frequencies in order in a double buffer. Transforms follow each other without a gap.
//
// With CHANNELS a kernel of its own reads the points (fetch) and one of Intel's channels hands them on; otherwise one kernel
// does it all. Kernels' names end in REPLICATION, so that a bitstream can hold several: include this file once for each,
// with BANK(argument), the attribute of an argument's memory bank.
#ifndef FFT_PIPELINE
#define FFT_PIPELINE

#ifdef CHANNELS
#pragma OPENCL EXTENSION cl_intel_channels : enable
#define SINGLE __attribute__((max_global_work_dim(0)))
#else
#define SINGLE __attribute__((reqd_work_group_size(1, 1, 1)))
#endif

#if REAL_BYTES == 8
typedef double real;
typedef double2 complex_t;
#else
typedef float real;
typedef float2 complex_t;
#endif

#ifndef LOCAL_PTR
#define LOCAL_PTR(T) __local T*
#endif
#ifndef MAKE
#define MAKE(T) (T)
#endif
#define UNROLL (1 << LOG_UNROLL)
#if LOG_POINTS < 2 * LOG_UNROLL
#error "a transform has fewer cycles than points of a cycle: LOG_UNROLL must be at most half of LOG_POINTS"
#endif
// log2 of the cycles, as a literal for STAGES
#if LOG_POINTS - LOG_UNROLL == 0
#define LOG_CYCLES 0
#elif LOG_POINTS - LOG_UNROLL == 1
#define LOG_CYCLES 1
#elif LOG_POINTS - LOG_UNROLL == 2
#define LOG_CYCLES 2
#elif LOG_POINTS - LOG_UNROLL == 3
#define LOG_CYCLES 3
#elif LOG_POINTS - LOG_UNROLL == 4
#define LOG_CYCLES 4
#elif LOG_POINTS - LOG_UNROLL == 5
#define LOG_CYCLES 5
#elif LOG_POINTS - LOG_UNROLL == 6
#define LOG_CYCLES 6
#elif LOG_POINTS - LOG_UNROLL == 7
#define LOG_CYCLES 7
#elif LOG_POINTS - LOG_UNROLL == 8
#define LOG_CYCLES 8
#elif LOG_POINTS - LOG_UNROLL == 9
#define LOG_CYCLES 9
#elif LOG_POINTS - LOG_UNROLL == 10
#define LOG_CYCLES 10
#elif LOG_POINTS - LOG_UNROLL == 11
#define LOG_CYCLES 11
#elif LOG_POINTS - LOG_UNROLL == 12
#define LOG_CYCLES 12
#elif LOG_POINTS - LOG_UNROLL == 13
#define LOG_CYCLES 13
#elif LOG_POINTS - LOG_UNROLL == 14
#define LOG_CYCLES 14
#elif LOG_POINTS - LOG_UNROLL == 15
#define LOG_CYCLES 15
#elif LOG_POINTS - LOG_UNROLL == 16
#define LOG_CYCLES 16
#elif LOG_POINTS - LOG_UNROLL == 17
#define LOG_CYCLES 17
#endif
#define CYCLES (1 << LOG_CYCLES)
#define POINTS (UNROLL * CYCLES)
#define PASTE(a, b) a##_##b
#define NAMED(name, number) PASTE(name, number)
#ifndef BANK
#define BANK(argument)
#endif
#ifdef REPLICATION
#define NUMBERED(name) NAMED(name, REPLICATION)
#else
#define NUMBERED(name) name
#endif

typedef struct {
  complex_t lane[UNROLL];
} row_t;

static complex_t times(complex_t a, complex_t b) {
  return MAKE(complex_t)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// The inverse exchanges re and im on input and output.
static complex_t turned(complex_t a, int inverse) { return inverse ? MAKE(complex_t)(a.y, a.x) : a; }

static int bits_reversed(int i, const int bits) {
  int reversed = 0;
#pragma unroll
  for (int bit = 0; bit < bits; ++bit) reversed |= (i >> bit & 1) << (bits - 1 - bit);
  return reversed;
}

static row_t read_row(__global const complex_t* from, int inverse) {
  row_t row;
#pragma unroll
  for (int i = 0; i < UNROLL; ++i) row.lane[i] = turned(from[i], inverse);
  return row;
}

// A butterfly over points `delay` cycles apart: keeps the first half of a block, then sends the sums while it keeps the
// differences, which it sends, turned, in the next block's first half.
static row_t delay_feedback(row_t row, LOCAL_PTR(row_t) line, LOCAL_PTR(const complex_t) roots, const int cycle, const int delay) {
  const int i = cycle & (delay - 1);
  const row_t old = line[i];
  row_t kept = row, sent;
#pragma unroll
  for (int k = 0; k < UNROLL; ++k)
    if (cycle & delay) {
      sent.lane[k] = old.lane[k] + row.lane[k];
      kept.lane[k] = old.lane[k] - row.lane[k];
    } else {
      sent.lane[k] = times(old.lane[k], roots[i]);
    }
  line[i] = kept;
  return sent;
}

__constant real lane_cosines[8] = {1, 0.92387953251128675613, 0.70710678118654752440, 0.38268343236508977173,
                                   0, -0.38268343236508977173, -0.70710678118654752440, -0.92387953251128675613};
__constant real lane_sines[8] = {0, 0.38268343236508977173, 0.70710678118654752440, 0.92387953251128675613,
                                 1, 0.92387953251128675613, 0.70710678118654752440, 0.38268343236508977173};

// A transform across the lanes, in natural order on input and output.
static row_t across_lanes(row_t row) {
#pragma unroll
  for (int bit = LOG_UNROLL - 1; bit >= 0; --bit) {
    const int apart = 1 << bit;
#pragma unroll
    for (int i = 0; i < UNROLL; ++i)
      if ((i & apart) == 0) {
        const int turn = (i & (apart - 1)) * (8 >> bit);
        const complex_t root = MAKE(complex_t)(lane_cosines[turn], -lane_sines[turn]);
        const complex_t sum = row.lane[i] + row.lane[i + apart], difference = row.lane[i] - row.lane[i + apart];
        row.lane[i] = sum;
        row.lane[i + apart] = times(difference, root);
      }
  }
  row_t sorted;
#pragma unroll
  for (int i = 0; i < UNROLL; ++i) sorted.lane[i] = row.lane[bits_reversed(i, LOG_UNROLL)];
  return sorted;
}

// Applies STEP(bit) to every butterfly, the longest delay line first.
#define STAGES_0(STEP)
#define STAGES_1(STEP) STEP(0)
#define STAGES_2(STEP) STEP(1) STAGES_1(STEP)
#define STAGES_3(STEP) STEP(2) STAGES_2(STEP)
#define STAGES_4(STEP) STEP(3) STAGES_3(STEP)
#define STAGES_5(STEP) STEP(4) STAGES_4(STEP)
#define STAGES_6(STEP) STEP(5) STAGES_5(STEP)
#define STAGES_7(STEP) STEP(6) STAGES_6(STEP)
#define STAGES_8(STEP) STEP(7) STAGES_7(STEP)
#define STAGES_9(STEP) STEP(8) STAGES_8(STEP)
#define STAGES_10(STEP) STEP(9) STAGES_9(STEP)
#define STAGES_11(STEP) STEP(10) STAGES_10(STEP)
#define STAGES_12(STEP) STEP(11) STAGES_11(STEP)
#define STAGES_13(STEP) STEP(12) STAGES_12(STEP)
#define STAGES_14(STEP) STEP(13) STAGES_13(STEP)
#define STAGES_15(STEP) STEP(14) STAGES_14(STEP)
#define STAGES_16(STEP) STEP(15) STAGES_15(STEP)
#define STAGES_17(STEP) STEP(16) STAGES_16(STEP)
#define STAGES NAMED(STAGES, LOG_CYCLES)

// Each delay line and each table is a separate memory.
#define DECLARE(bit)                      \
  __local row_t line_##bit[1 << bit];     \
  __local complex_t roots_##bit[1 << bit];
#define FILL(bit) \
  for (int i = 0; i < 1 << bit; ++i) roots_##bit[i] = roots[(1 << bit) + i];
#define STEP(bit) row = delay_feedback(row, line_##bit, roots_##bit, cycle, 1 << bit);

// The tables in the buffer `roots`: of delay d at d, then by row the roots between streams and lanes.
#define DECLARE_PIPELINE STAGES(DECLARE) __local row_t lane_roots[CYCLES];
#define FILL_PIPELINE                                        \
  STAGES(FILL)                                               \
  for (int i = 0; i < CYCLES; ++i)                           \
    for (int k = 0; k < UNROLL; ++k) lane_roots[i].lane[k] = roots[CYCLES + i * UNROLL + k];

// `row` leaves CYCLES - 1 cycles after it entered; row i then holds frequencies bits_reversed(i) + k * CYCLES.
#define PIPELINE                                                                                                  \
  STAGES(STEP)                                                                                                    \
  for (int k = 0; k < UNROLL; ++k) row.lane[k] = times(row.lane[k], lane_roots[(cycle + 1) & (CYCLES - 1)].lane[k]); \
  row = across_lanes(row);

// The double buffer for sorting: frequency f is in row f / UNROLL, bank (f + f / CYCLES) % UNROLL, so rows are written
// and read with one access to each bank.
static void sort_row(LOCAL_PTR(row_t) sorted, row_t row, const int i) {
  const int stream = bits_reversed(i, LOG_CYCLES);
#pragma unroll
  for (int bank = 0; bank < UNROLL; ++bank) {
    const int k = (bank - stream) & (UNROLL - 1);
    sorted[(stream + k * CYCLES) >> LOG_UNROLL].lane[bank] = row.lane[k];
  }
}

static void write_row(__global complex_t* to, LOCAL_PTR(const row_t) sorted, const int i, int inverse) {
  const row_t row = sorted[i];
  const int skew = i * UNROLL / CYCLES;
#pragma unroll
  for (int k = 0; k < UNROLL; ++k) to[i * UNROLL + k] = turned(row.lane[(k + skew) & (UNROLL - 1)], inverse);
}
#endif

#ifdef CHANNELS
channel row_t NUMBERED(fetched) __attribute__((depth(64)));

SINGLE __kernel void NUMBERED(fetch)(__global BANK(from) const complex_t* restrict from,
                                                                                const uint batch, const int inverse) {
  for (ulong i = 0; i < (ulong)batch * CYCLES; ++i)
    write_channel_intel(NUMBERED(fetched), read_row(from + i * UNROLL, inverse));
}
#define NEXT_ROW(i) read_channel_intel(NUMBERED(fetched))
#define INPUT
#else
#define NEXT_ROW(i) read_row(from + (i)*UNROLL, inverse)
#define INPUT __global BANK(from) const complex_t *restrict from,
#endif

// Row i enters; row i - (CYCLES - 1) is sorted; the previous transform is written.
SINGLE __kernel void NUMBERED(fft)(INPUT __global BANK(to) complex_t* restrict to,
                                                                              __global BANK(roots) const complex_t* restrict roots,
                                                                              const uint batch, const int inverse) {
  DECLARE_PIPELINE
  __local row_t sorted[2][CYCLES];
  FILL_PIPELINE
  row_t row;
  for (ulong i = 0; i < (ulong)batch * CYCLES + 2 * CYCLES - 1; ++i) {
    const int cycle = i & (CYCLES - 1);
    if (i < (ulong)batch * CYCLES) row = NEXT_ROW(i);
    PIPELINE
    const ulong out = i - (CYCLES - 1);
    const int side = out >> LOG_CYCLES & 1;
    if (i >= CYCLES - 1 && out < (ulong)batch * CYCLES) sort_row(sorted[side], row, out & (CYCLES - 1));
    if (i >= 2 * CYCLES - 1) write_row(to + ((out >> LOG_CYCLES) - 1) * POINTS, sorted[1 - side], out & (CYCLES - 1), inverse);
  }
}

#undef NEXT_ROW
#undef INPUT
