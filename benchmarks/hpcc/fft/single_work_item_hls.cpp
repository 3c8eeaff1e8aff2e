// Batched Fourier transforms as one pipeline as HLS C++: single_work_item.cl's, with the same macros, as three kernels
// joined by streams: fetch -> fft -> store. UNROLL points enter and leave each cycle, and the memory banks of input and
// output belong to kernels of their own.
#include "hls_stream.h"

#if REAL_BYTES == 8
typedef double real;
#else
typedef float real;
#endif

#define UNROLL (1 << LOG_UNROLL)
#define LOG_CYCLES (LOG_POINTS - LOG_UNROLL)
#define CYCLES (1 << LOG_CYCLES)
#define PASTE(a, b) a##_##b
#define NAMED(name, number) PASTE(name, number)

struct Complex {
  real x, y;
};

struct Row {
  Complex lane[UNROLL];
};

static Complex plus(const Complex a, const Complex b) {
#pragma HLS inline
  return {a.x + b.x, a.y + b.y};
}

static Complex minus(const Complex a, const Complex b) {
#pragma HLS inline
  return {a.x - b.x, a.y - b.y};
}

static Complex times(const Complex a, const Complex b) {
#pragma HLS inline
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

// The inverse exchanges re and im on input and output.
static Row turned(Row row, const int inverse) {
#pragma HLS inline
  for (int k = 0; k < UNROLL; ++k) {
#pragma HLS unroll
    if (inverse) row.lane[k] = {row.lane[k].y, row.lane[k].x};
  }
  return row;
}

static int bits_reversed(const int i, const int bits) {
#pragma HLS inline
  int reversed = 0;
  for (int bit = 0; bit < bits; ++bit) {
#pragma HLS unroll
    reversed |= (i >> bit & 1) << (bits - 1 - bit);
  }
  return reversed;
}

// The butterflies with delay lines of 2^Bit, ..., 1 rows; each line and each table is a separate memory.
template <int Bit>
struct Stages {
  Row line[1 << Bit];
  Complex roots[1 << Bit];
  Stages<Bit - 1> shorter;

  // Table of delay d at d.
  void fill(const Complex* table) {
  fill_roots:
    for (int i = 0; i < 1 << Bit; ++i) {
#pragma HLS pipeline II = 1
      roots[i] = table[(1 << Bit) + i];
    }
    shorter.fill(table);
  }

  // Keeps the first half of a block, then sends the sums while it keeps the differences, which it sends, turned, in the
  // next block's first half.
  Row step(const Row row, const int cycle) {
#pragma HLS inline
    const int i = cycle & ((1 << Bit) - 1);
    const Row old = line[i];
    Row kept = row, sent;
    for (int k = 0; k < UNROLL; ++k) {
#pragma HLS unroll
      if (cycle & 1 << Bit) {
        sent.lane[k] = plus(old.lane[k], row.lane[k]);
        kept.lane[k] = minus(old.lane[k], row.lane[k]);
      } else {
        sent.lane[k] = times(old.lane[k], roots[i]);
      }
    }
    line[i] = kept;
    return shorter.step(sent, cycle);
  }
};

template <>
struct Stages<-1> {
  void fill(const Complex*) {}
  Row step(const Row row, const int) { return row; }
};

static const real lane_cosines[8] = {1, 0.92387953251128675613,  0.70710678118654752440,  0.38268343236508977173,
                                     0, -0.38268343236508977173, -0.70710678118654752440, -0.92387953251128675613};
static const real lane_sines[8] = {0, 0.38268343236508977173, 0.70710678118654752440, 0.92387953251128675613,
                                   1, 0.92387953251128675613, 0.70710678118654752440, 0.38268343236508977173};

// A transform across the lanes, in natural order on input and output.
static Row across_lanes(Row row) {
#pragma HLS inline
  for (int bit = LOG_UNROLL - 1; bit >= 0; --bit) {
#pragma HLS unroll
    const int apart = 1 << bit;
    for (int i = 0; i < UNROLL; ++i) {
#pragma HLS unroll
      if ((i & apart) == 0) {
        const int turn = (i & (apart - 1)) * (8 >> bit);
        const Complex root = {lane_cosines[turn], -lane_sines[turn]};
        const Complex sum = plus(row.lane[i], row.lane[i + apart]);
        const Complex difference = minus(row.lane[i], row.lane[i + apart]);
        row.lane[i] = sum;
        row.lane[i + apart] = times(difference, root);
      }
    }
  }
  Row sorted;
  for (int i = 0; i < UNROLL; ++i) {
#pragma HLS unroll
    sorted.lane[i] = row.lane[bits_reversed(i, LOG_UNROLL)];
  }
  return sorted;
}

// The double buffer for sorting: frequency f is in row f / UNROLL, bank (f + f / CYCLES) % UNROLL, so rows are written
// and read with one access to each bank.
static void sort_row(Row sorted[CYCLES], const Row row, const int i) {
#pragma HLS inline
  const int stream = bits_reversed(i, LOG_CYCLES);
  for (int bank = 0; bank < UNROLL; ++bank) {
#pragma HLS unroll
    const int k = (bank - stream) & (UNROLL - 1);
    sorted[(stream + k * CYCLES) >> LOG_UNROLL].lane[bank] = row.lane[k];
  }
}

static Row sorted_row(const Row sorted[CYCLES], const int i) {
#pragma HLS inline
  const Row row = sorted[i];
  const int skew = i * UNROLL / CYCLES;
  Row result;
  for (int k = 0; k < UNROLL; ++k) {
#pragma HLS unroll
    result.lane[k] = row.lane[(k + skew) & (UNROLL - 1)];
  }
  return result;
}

extern "C" {

void NAMED(fetch, REPLICATION)(const Row* from, const unsigned batch, const int inverse, hls::stream<Row>& points) {
#pragma HLS interface m_axi port = from bundle = gmem
#pragma HLS interface axis port = points
rows:
  for (unsigned long i = 0; i < (unsigned long)batch * CYCLES; ++i) {
#pragma HLS pipeline II = 1
    points.write(turned(from[i], inverse));
  }
}

// Row i enters; row i - (CYCLES - 1) is sorted; the previous transform leaves. Tables in `table`: of delay d at d, then
// by row the roots between streams and lanes.
void NAMED(fft, REPLICATION)(const Complex* table, const unsigned batch, hls::stream<Row>& points,
                             hls::stream<Row>& frequencies) {
#pragma HLS interface m_axi port = table bundle = gmem
#pragma HLS interface axis port = points
#pragma HLS interface axis port = frequencies
  Stages<LOG_CYCLES - 1> stages;
  Row lane_roots[CYCLES], sorted[2][CYCLES];
#pragma HLS disaggregate variable = stages
#pragma HLS array_partition variable = sorted complete dim = 1
  stages.fill(table);
fill_lane_roots:
  for (int i = 0; i < CYCLES; ++i) {
    for (int k = 0; k < UNROLL; ++k) {
#pragma HLS pipeline II = 1
      lane_roots[i].lane[k] = table[CYCLES + i * UNROLL + k];
    }
  }
  const unsigned long rows = (unsigned long)batch * CYCLES;
  Row row = {};
pipeline:
  for (unsigned long i = 0; i < rows + 2 * CYCLES - 1; ++i) {
#pragma HLS pipeline II = 1
    const int cycle = i & (CYCLES - 1);
    if (i < rows) row = points.read();
    // It leaves CYCLES - 1 cycles after it entered; row i then holds frequencies bits_reversed(i) + k * CYCLES.
    row = stages.step(row, cycle);
    for (int k = 0; k < UNROLL; ++k) {
#pragma HLS unroll
      row.lane[k] = times(row.lane[k], lane_roots[(cycle + 1) & (CYCLES - 1)].lane[k]);
    }
    row = across_lanes(row);
    const unsigned long out = i - (CYCLES - 1);
    const int side = out >> LOG_CYCLES & 1;
    if (i >= CYCLES - 1 && out < rows) sort_row(sorted[side], row, out & (CYCLES - 1));
    if (i >= 2 * CYCLES - 1) frequencies.write(sorted_row(sorted[1 - side], out & (CYCLES - 1)));
  }
}

void NAMED(store, REPLICATION)(Row* to, const unsigned batch, const int inverse, hls::stream<Row>& frequencies) {
#pragma HLS interface m_axi port = to bundle = gmem
#pragma HLS interface axis port = frequencies
rows:
  for (unsigned long i = 0; i < (unsigned long)batch * CYCLES; ++i) {
#pragma HLS pipeline II = 1
    to[i] = turned(frequencies.read(), inverse);
  }
}

}  // extern "C"
