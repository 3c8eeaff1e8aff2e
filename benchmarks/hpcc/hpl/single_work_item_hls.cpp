// HPL's kernels in the form for FPGAs as HLS C++, for matrices that need no pivots (HPCC FPGA's LINPACK): LU of a
// diagonal block, L below it, U right of it, products, and the solves' parts. A matrix is by rows, `pitch` apart, from
// `at` on.
//
//   NUMBER  float or double      BLOCK  rows and columns of a block, at most      TILE  edge of a product's tile

typedef unsigned long ulong;  // 64 bits

// Rows of a matrix to local memory.
static void load(const NUMBER* from, const ulong pitch, const unsigned rows, const unsigned columns,
                 NUMBER to[BLOCK][BLOCK]) {
#pragma HLS inline
load_rows:
  for (unsigned i = 0; i < rows; ++i) {
    for (unsigned j = 0; j < columns; ++j) {
#pragma HLS pipeline II = 1
      to[i][j] = from[i * pitch + j];
    }
  }
}

extern "C" {

// In place, and into a panel: its pivots, which are the block's rows from `first` on, the first column without one (or
// -1) at `flag`, and L and U in one.
void lu(NUMBER* a, const ulong at, const ulong pitch, const unsigned width, const ulong first, long* head,
        const unsigned flag, NUMBER* panel, const ulong diagonal_at) {
  NUMBER block[BLOCK][BLOCK];
#pragma HLS array_partition variable = block cyclic factor = 16 dim = 2
  long singular = -1;
  load(a + at, pitch, width, width, block);
columns:
  for (unsigned k = 0; k < width; ++k) {
    const NUMBER pivot = block[k][k];
    head[k] = (long)(first + k);
    if (!(pivot > 0 || pivot < 0)) {  // zero or NaN
      if (singular < 0) singular = (long)(first + k);
      continue;
    }
    const NUMBER factor = 1 / pivot;
  below:
    for (unsigned i = k + 1; i < width; ++i) {
      const NUMBER l = block[i][k] * factor;
      block[i][k] = l;
      for (unsigned j = k + 1; j < width; ++j) {
#pragma HLS pipeline II = 1
        block[i][j] -= l * block[k][j];
      }
    }
  }
  head[flag] = singular;
store_rows:
  for (unsigned i = 0; i < width; ++i) {
    for (unsigned j = 0; j < width; ++j) {
#pragma HLS pipeline II = 1
      a[at + i * pitch + j] = block[i][j];
      panel[diagonal_at + i * width + j] = block[i][j];
    }
  }
}

// L = A U^-1 for the rows below a diagonal block, in place and into a panel.
void left(NUMBER* a, const ulong at, const ulong pitch, const unsigned rows, const unsigned width, NUMBER* panel,
          const ulong diagonal_at, const ulong lower_at) {
  NUMBER u[BLOCK][BLOCK], inverse[BLOCK], row[BLOCK];
#pragma HLS array_partition variable = u cyclic factor = 16 dim = 2
  load(panel + diagonal_at, width, width, width, u);
  for (unsigned k = 0; k < width; ++k) inverse[k] = 1 / u[k][k];
rows_below:
  for (unsigned i = 0; i < rows; ++i) {
    for (unsigned j = 0; j < width; ++j) row[j] = a[at + i * pitch + j];
    for (unsigned k = 0; k < width; ++k) {
      const NUMBER l = row[k] * inverse[k];
      row[k] = l;
      for (unsigned j = k + 1; j < width; ++j) {
#pragma HLS pipeline II = 1
        row[j] -= l * u[k][j];
      }
    }
    for (unsigned j = 0; j < width; ++j) {
#pragma HLS pipeline II = 1
      a[at + i * pitch + j] = row[j];
      panel[lower_at + i * width + j] = row[j];
    }
  }
}

// U = L^-1 U, without gaps, and into the matrix if it has these rows.
void top(NUMBER* upper, const unsigned width, const unsigned columns, const NUMBER* panel, const ulong diagonal_at,
         NUMBER* a, const ulong at, const ulong pitch, const unsigned has_rows) {
  NUMBER l[BLOCK][BLOCK], strip[BLOCK][TILE];
#pragma HLS array_partition variable = strip complete dim = 2
  load(panel + diagonal_at, width, width, width, l);
strips:
  for (unsigned left_of = 0; left_of < columns; left_of += TILE) {
    const unsigned count = columns - left_of < TILE ? columns - left_of : TILE;
    for (unsigned i = 0; i < width; ++i)
      for (unsigned j = 0; j < TILE; ++j) strip[i][j] = j < count ? upper[(ulong)i * columns + left_of + j] : 0;
    for (unsigned k = 0; k < width; ++k) {
      for (unsigned i = k + 1; i < width; ++i) {
#pragma HLS pipeline II = 1
        for (unsigned j = 0; j < TILE; ++j) {
#pragma HLS unroll
          strip[i][j] -= l[i][k] * strip[k][j];
        }
      }
    }
    for (unsigned i = 0; i < width; ++i)
      for (unsigned j = 0; j < count; ++j) {
#pragma HLS pipeline II = 1
        upper[(ulong)i * columns + left_of + j] = strip[i][j];
        if (has_rows) a[at + i * pitch + left_of + j] = strip[i][j];
      }
  }
}

// C -= L U, tile by tile.
void inner(const NUMBER* panel, const ulong lower_at, const NUMBER* upper, NUMBER* c, const ulong at, const ulong pitch,
           const unsigned rows, const unsigned columns, const unsigned width) {
  NUMBER l[TILE][BLOCK], u[BLOCK][TILE];
#pragma HLS array_partition variable = u complete dim = 2
tiles:
  for (unsigned row = 0; row < rows; row += TILE) {
    const unsigned height = rows - row < TILE ? rows - row : TILE;
    for (unsigned i = 0; i < height; ++i)
      for (unsigned k = 0; k < width; ++k) l[i][k] = panel[lower_at + (ulong)(row + i) * width + k];
    for (unsigned column = 0; column < columns; column += TILE) {
      const unsigned count = columns - column < TILE ? columns - column : TILE;
      for (unsigned k = 0; k < width; ++k)
        for (unsigned j = 0; j < TILE; ++j) u[k][j] = j < count ? upper[(ulong)k * columns + column + j] : 0;
    products:
      for (unsigned i = 0; i < height; ++i) {
        NUMBER sums[TILE];
#pragma HLS array_partition variable = sums complete
        for (unsigned j = 0; j < TILE; ++j) sums[j] = 0;
        for (unsigned k = 0; k < width; ++k) {
#pragma HLS pipeline II = 1
          for (unsigned j = 0; j < TILE; ++j) {
#pragma HLS unroll
            sums[j] += l[i][k] * u[k][j];
          }
        }
        for (unsigned j = 0; j < count; ++j) {
#pragma HLS pipeline II = 1
          c[at + (row + i) * pitch + column + j] -= sums[j];
        }
      }
    }
  }
}

// x = L^-1 x, or U^-1 x, of a diagonal block.
void solve(const NUMBER* a, const ulong at, const ulong pitch, const unsigned width, const unsigned is_upper,
           NUMBER* x) {
  NUMBER block[BLOCK][BLOCK];
  load(a + at, pitch, width, width, block);
unknowns:
  for (unsigned turn = 0; turn < width; ++turn) {
    const unsigned i = is_upper ? width - 1 - turn : turn;
    NUMBER value = x[i];
    for (unsigned k = 0; k < turn; ++k) {
      const unsigned j = is_upper ? width - 1 - k : k;
      value -= block[i][j] * x[j];
    }
    x[i] = is_upper ? value / block[i][i] : value;
  }
}

// values -= A x
void subtract(const NUMBER* a, const ulong at, const ulong pitch, const unsigned rows, const unsigned width,
              const NUMBER* x, NUMBER* values) {
  NUMBER factors[BLOCK];
  for (unsigned j = 0; j < width; ++j) factors[j] = x[j];
all_rows:
  for (unsigned i = 0; i < rows; ++i) {
    NUMBER sum = 0;
    for (unsigned j = 0; j < width; ++j) {
#pragma HLS pipeline
      sum += a[at + i * pitch + j] * factors[j];
    }
    values[i] -= sum;
  }
}

}  // extern "C"
