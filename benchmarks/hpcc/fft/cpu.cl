// Batched Fourier transforms for CPUs: one work item per core, SIMD lanes as explicit vectors. The text is both OpenCL
// C (kernels at the end) and C++ (included by native_form.hpp), so one proof covers both.
//
// A transform of N points over vectors of V lanes (tables: plan.hpp):
//   1. Head: V-point transforms over points N/V apart, on V adjacent columns at once, then a transposition in registers. From
//      then on a lane is the frequency modulo V, and M = N/V vectors remain to be transformed, each at least a cache line.
//   2. M vectors in place, by decimation in frequency, if they fit the cache (M1 = 1); otherwise as M1 x M2: first the M1-point
//      transforms of V columns at a time (with the head), then the M2-point transforms of rows. While M1 = 1 is computed, the
//      next transform's points are fetched.
//   3. The last stage writes vectors of V adjacent frequencies, past the caches unless the transform stays in them (`cached`).
// With fewer than V * V points each lane is a transform. The inverse exchanges re and im on input and output.
#ifdef __OPENCL_VERSION__
#if REAL_BYTES == 8
typedef double real;
typedef double4 vec;
#else
typedef float real;
typedef float8 vec;
#endif
#define GLOBAL __global
#define RESTRICT restrict
#define INLINE static inline __attribute__((always_inline))
#define PART INLINE
#define UNROLL _Pragma("unroll")
#define FETCH(address) __builtin_prefetch((const void*)(ulong)(address))
#if __has_builtin(__builtin_nontemporal_store)
#define STREAM(address, value) __builtin_nontemporal_store(value, address)
#else
#define STREAM(address, value) *(address) = (value)
#endif
#endif

#if REAL_BYTES == 8
#define V 4
#else
#define V 8
#endif

// NOLINTNEXTLINE(modernize-use-using): OpenCL C lacks it
typedef struct {
  vec re, im;
} cvec;

// A length, a power of two: `eights` stages of radix 8, then one of radix `last`, which is 2, 4, 8 or 16.
// NOLINTNEXTLINE(modernize-use-using): OpenCL C lacks it
typedef struct {
  int length, eights, last;
} factors;

// The last radices in use, as bits: known ones compile to faster code.
#ifndef LAST_RADICES
#define LAST_RADICES (2 | 4 | 8 | 16)
#endif
#define LAST_IS(f, radix) ((LAST_RADICES & (radix)) != 0 && (f).last == (radix))

INLINE cvec pair(vec re, vec im) {
  const cvec a = {re, im};
  return a;
}
INLINE cvec add(cvec a, cvec b) { return pair(a.re + b.re, a.im + b.im); }
INLINE cvec subtract(cvec a, cvec b) { return pair(a.re - b.re, a.im - b.im); }
INLINE cvec add_i(cvec a, cvec b) { return pair(a.re - b.im, a.im + b.re); }       // a + i b
INLINE cvec subtract_i(cvec a, cvec b) { return pair(a.re + b.im, a.im - b.re); }  // a - i b
INLINE cvec times(cvec a, real re, real im) { return pair(a.re * re - a.im * im, a.im * re + a.re * im); }
INLINE cvec times_lanes(cvec a, cvec b) { return pair(a.re * b.re - a.im * b.im, a.im * b.re + a.re * b.im); }

// In place, in natural order.
INLINE void dft2(cvec* a) {
  const cvec b = a[1];
  a[1] = subtract(a[0], b);
  a[0] = add(a[0], b);
}

INLINE void dft4_of(cvec* a, int i, int j, int k, int l) {
  const cvec even = add(a[i], a[k]), odd = add(a[j], a[l]);
  const cvec even_difference = subtract(a[i], a[k]), odd_difference = subtract(a[j], a[l]);
  a[i] = add(even, odd);
  a[j] = subtract_i(even_difference, odd_difference);
  a[k] = subtract(even, odd);
  a[l] = add_i(even_difference, odd_difference);
}

#define ROOT_HALF ((real)0.70710678118654752440)
#define COS_PI_8 ((real)0.92387953251128675613)
#define SIN_PI_8 ((real)0.38268343236508977173)

INLINE void dft8(cvec* a) {
  dft4_of(a, 0, 2, 4, 6);
  dft4_of(a, 1, 3, 5, 7);
  const cvec e0 = a[0], e1 = a[2], e2 = a[4], e3 = a[6], o0 = a[1], o1 = a[3], o2 = a[5], o3 = a[7];
  const vec sum1 = o1.re + o1.im, difference1 = o1.im - o1.re, sum3 = o3.re + o3.im, difference3 = o3.im - o3.re;
  a[0] = add(e0, o0);
  a[1] = pair(e1.re + ROOT_HALF * sum1, e1.im + ROOT_HALF * difference1);
  a[2] = subtract_i(e2, o2);
  a[3] = pair(e3.re + ROOT_HALF * difference3, e3.im - ROOT_HALF * sum3);
  a[4] = subtract(e0, o0);
  a[5] = pair(e1.re - ROOT_HALF * sum1, e1.im - ROOT_HALF * difference1);
  a[6] = add_i(e2, o2);
  a[7] = pair(e3.re - ROOT_HALF * difference3, e3.im + ROOT_HALF * sum3);
}

INLINE void dft16(cvec* a) {
  UNROLL for (int i = 0; i < 4; ++i) dft4_of(a, i, i + 4, i + 8, i + 12);
  a[5] = times(a[5], COS_PI_8, -SIN_PI_8);
  a[6] = times(a[6], ROOT_HALF, -ROOT_HALF);
  a[7] = times(a[7], SIN_PI_8, -COS_PI_8);
  a[9] = times(a[9], ROOT_HALF, -ROOT_HALF);
  a[10] = pair(a[10].im, -a[10].re);
  a[11] = times(a[11], -ROOT_HALF, -ROOT_HALF);
  a[13] = times(a[13], SIN_PI_8, -COS_PI_8);
  a[14] = times(a[14], -ROOT_HALF, -ROOT_HALF);
  a[15] = times(a[15], -COS_PI_8, SIN_PI_8);
  UNROLL for (int i = 0; i < 4; ++i) dft4_of(a, 4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
  UNROLL for (int i = 0; i < 4; ++i) {
    UNROLL for (int j = i + 1; j < 4; ++j) {
      const cvec b = a[4 * i + j];
      a[4 * i + j] = a[4 * j + i];
      a[4 * j + i] = b;
    }
  }
}

INLINE void dft(cvec* a, const int radix) {
  if (radix == 16) dft16(a);
  if (radix == 8) dft8(a);
  if (radix == 4) dft4_of(a, 0, 1, 2, 3);
  if (radix == 2) dft2(a);
}

// Shuffles within 16-byte parts are cheap, so lanes hold points in the order SWAPPED, its own inverse.
#define SHUFFLE __builtin_shufflevector
#if REAL_BYTES == 8
#define SWAPPED(i) ((i) == 1 ? 2 : (i) == 2 ? 1 : (i))
#define UNPACK_LOW(a, b) SHUFFLE(a, b, 0, 4, 2, 6)
#define UNPACK_HIGH(a, b) SHUFFLE(a, b, 1, 5, 3, 7)
#define EVEN UNPACK_LOW
#define ODD UNPACK_HIGH
#define HALVES_LOW(a, b) SHUFFLE(a, b, 0, 1, 4, 5)
#define HALVES_HIGH(a, b) SHUFFLE(a, b, 2, 3, 6, 7)

INLINE void transpose_real(vec* a) {
  const vec b0 = UNPACK_LOW(a[0], a[1]), b1 = UNPACK_HIGH(a[0], a[1]);
  const vec b2 = UNPACK_LOW(a[2], a[3]), b3 = UNPACK_HIGH(a[2], a[3]);
  a[0] = HALVES_LOW(b0, b2);
  a[1] = HALVES_LOW(b1, b3);
  a[2] = HALVES_HIGH(b0, b2);
  a[3] = HALVES_HIGH(b1, b3);
}
#else
#define SWAPPED(i) ((i) == 2 ? 4 : (i) == 3 ? 5 : (i) == 4 ? 2 : (i) == 5 ? 3 : (i))
#define UNPACK_LOW(a, b) SHUFFLE(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define UNPACK_HIGH(a, b) SHUFFLE(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define EVEN(a, b) SHUFFLE(a, b, 0, 2, 8, 10, 4, 6, 12, 14)
#define ODD(a, b) SHUFFLE(a, b, 1, 3, 9, 11, 5, 7, 13, 15)
#define PAIRS_LOW(a, b) SHUFFLE(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define PAIRS_HIGH(a, b) SHUFFLE(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define HALVES_LOW(a, b) SHUFFLE(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define HALVES_HIGH(a, b) SHUFFLE(a, b, 4, 5, 6, 7, 12, 13, 14, 15)

INLINE void transpose_real(vec* a) {
  vec b[V], c[V];
  UNROLL for (int i = 0; i < V; i += 2) {
    b[i] = UNPACK_LOW(a[i], a[i + 1]);
    b[i + 1] = UNPACK_HIGH(a[i], a[i + 1]);
  }
  UNROLL for (int i = 0; i < V; i += 4) {
    c[i] = PAIRS_LOW(b[i], b[i + 2]);
    c[i + 1] = PAIRS_HIGH(b[i], b[i + 2]);
    c[i + 2] = PAIRS_LOW(b[i + 1], b[i + 3]);
    c[i + 3] = PAIRS_HIGH(b[i + 1], b[i + 3]);
  }
  UNROLL for (int i = 0; i < V / 2; ++i) {
    a[i] = HALVES_LOW(c[i], c[i + V / 2]);
    a[i + V / 2] = HALVES_HIGH(c[i], c[i + V / 2]);
  }
}
#endif

// Transposes: a[i] over lanes j becomes a[j] over lanes i; lanes in order SWAPPED before and after.
INLINE void transpose(cvec* a) {
  vec re[V], im[V];
  UNROLL for (int i = 0; i < V; ++i) {
    re[i] = a[SWAPPED(i)].re;
    im[i] = a[SWAPPED(i)].im;
  }
  transpose_real(re);
  transpose_real(im);
  UNROLL for (int i = 0; i < V; ++i) a[SWAPPED(i)] = pair(re[i], im[i]);
}

// V complex numbers, (re, im) pairs in memory.
INLINE cvec load(GLOBAL const real* from) {
  GLOBAL const vec* vectors = (GLOBAL const vec*)from;
  const vec low = vectors[0], high = vectors[1];
#ifdef INVERSE
  return pair(ODD(low, high), EVEN(low, high));
#else
  return pair(EVEN(low, high), ODD(low, high));
#endif
}

INLINE void store(GLOBAL real* to, cvec a, const int cached) {
  GLOBAL vec* vectors = (GLOBAL vec*)to;
#ifdef INVERSE
  const vec low = UNPACK_LOW(a.im, a.re), high = UNPACK_HIGH(a.im, a.re);
#else
  const vec low = UNPACK_LOW(a.re, a.im), high = UNPACK_HIGH(a.re, a.im);
#endif
  if (cached) {
    vectors[0] = low;
    vectors[1] = high;
  } else {
    STREAM(vectors, low);
    STREAM(vectors + 1, high);
  }
}

// One stage of radix 8 in place: blocks of `block` elements of `depth` vectors each become eight blocks each. Each time
// eight vectors are done, `lines` more of as many points are fetched, from `ahead` on.
INLINE void stage(GLOBAL cvec* x, const int length, const int block, const int depth, GLOBAL const real* roots,
                  GLOBAL const real* ahead, const int lines) {
  const int step = block / 8;
  for (int point = 0; point < step; ++point) {
    GLOBAL const real* root = roots + 2 * (length - block + point * 7);
    for (int begin = point; begin < length; begin += block)
      for (int i = 0; i < depth; ++i) {
        for (int line = 0; line < lines; ++line, ahead += 2 * V) FETCH(ahead);
        cvec a[8];
        UNROLL for (int k = 0; k < 8; ++k) a[k] = x[(begin + k * step) * depth + i];
        dft8(a);
        x[begin * depth + i] = a[0];
        UNROLL for (int k = 1; k < 8; ++k)
          x[(begin + k * step) * depth + i] = times(a[k], root[2 * k - 2], root[2 * k - 1]);
      }
  }
}

PART void all_but_last_stage(GLOBAL cvec* x, const factors f, const int depth, GLOBAL const real* roots) {
  for (int i = 0; i < f.eights; ++i) stage(x, f.length, f.length >> (3 * i), depth, roots, roots, 0);
}

// The same with depth 1, while the f.length vectors of points at `ahead` are fetched.
PART void all_but_last_stage_ahead(GLOBAL cvec* x, const factors f, GLOBAL const real* roots, GLOBAL const real* ahead) {
  const int lines = f.eights > 0 ? (8 + f.eights - 1) / f.eights : 0;
  for (int i = 0; i < f.eights; ++i)
    stage(x, f.length, f.length >> (3 * i), 1, roots, ahead + 2 * V * lines * (f.length / 8) * i, lines);
}

// Position, before the last stage, of the inputs of frequencies low + k * (length / last): digit reversal.
INLINE int begin_of(const int low, const factors f) {
  int begin = 0;
  for (int i = 0; i < f.eights; ++i) begin = begin * 8 + ((low >> (3 * i)) & 7);
  return begin * f.last;
}

// The last stage of one vector in each of `depth`: its inputs for frequencies low + k * (length / last).
INLINE void last_stage(cvec* a, GLOBAL const cvec* x, const int low, const int radix, const factors f, const int depth) {
  const int begin = begin_of(low, f);
  UNROLL for (int k = 0; k < radix; ++k) a[k] = x[(begin + k) * depth];
  dft(a, radix);
}

// Step 1 for V columns: a[i] = frequencies modulo V, by lane, of column i.
INLINE void head(cvec* a, GLOBAL const real* x, const int column, const int vectors) {
  UNROLL for (int k = 0; k < V; ++k) a[k] = load(x + 2 * (column + k * vectors));
  dft(a, V);
  transpose(a);
}

// The frequencies low + k * (length / last) of M = M2 vectors, each V adjacent frequencies of the whole.
INLINE void store_rows_of(GLOBAL const cvec* x, GLOBAL real* y, const int radix, const factors f, const int stride,
                          const int cached) {
  for (int low = 0; low < f.length / radix; ++low) {
    cvec a[16];
    last_stage(a, x, low, radix, f, 1);
    UNROLL for (int k = 0; k < radix; ++k) store(y + 2 * V * stride * (low + k * (f.length / radix)), a[k], cached);
  }
}

PART void store_rows(GLOBAL const cvec* x, GLOBAL real* y, const factors f, const int stride, const int cached) {
  if (LAST_IS(f, 2)) store_rows_of(x, y, 2, f, stride, cached);
  if (LAST_IS(f, 4)) store_rows_of(x, y, 4, f, stride, cached);
  if (LAST_IS(f, 8)) store_rows_of(x, y, 8, f, stride, cached);
  if (LAST_IS(f, 16)) store_rows_of(x, y, 16, f, stride, cached);
}

// A transform whose M vectors fit into `work`; the next one's points are at `ahead`.
PART void transform_at_once(GLOBAL const real* RESTRICT x, GLOBAL real* RESTRICT y, GLOBAL const real* RESTRICT tables,
                            GLOBAL cvec* RESTRICT work, const factors rows, GLOBAL const real* ahead, const int cached) {
  GLOBAL const cvec* lane_roots = (GLOBAL const cvec*)tables;
  GLOBAL const real* roots = (GLOBAL const real*)(lane_roots + rows.length);
  for (int column = 0; column < rows.length; column += V) {
    cvec a[V];
    head(a, x, column, rows.length);
    UNROLL for (int i = 0; i < V; ++i) work[column + i] = times_lanes(a[i], lane_roots[column + i]);
  }
  all_but_last_stage_ahead(work, rows, roots, ahead);
  store_rows(work, y, rows, 1, cached);
}

// Rows of `middle` are padded by one vector, so that columns use different cache sets.
INLINE int middle_row(const factors rows) { return rows.length + 1; }

INLINE void store_columns_of(GLOBAL const cvec* work, GLOBAL cvec* middle, GLOBAL const cvec* lane_roots,
                             GLOBAL const real* roots, const int column, const int radix, const factors columns,
                             const factors rows) {
  for (int low = 0; low < columns.length / radix; ++low)
    for (int i = 0; i < V; ++i) {
      cvec a[16];
      last_stage(a, work + i, low, radix, columns, V);
      UNROLL for (int k = 0; k < radix; ++k) {
        const int frequency = low + k * (columns.length / radix);
        GLOBAL const real* root = roots + 2 * (frequency * rows.length + column + i);
        middle[frequency * middle_row(rows) + column + i] =
            times_lanes(times(a[k], root[0], root[1]), lane_roots[column + i]);
      }
    }
}

// Steps 1 and 2 for V columns: M1-point transforms. `work` holds M1 * V vectors.
PART void transform_columns(GLOBAL const real* RESTRICT x, GLOBAL cvec* RESTRICT middle,
                              GLOBAL const real* RESTRICT tables, GLOBAL cvec* RESTRICT work, const int column,
                              const factors columns, const factors rows) {
  GLOBAL const cvec* lane_roots = (GLOBAL const cvec*)tables;
  GLOBAL const real* roots = (GLOBAL const real*)(lane_roots + columns.length + rows.length);
  GLOBAL const real* middle_roots = roots + 2 * (columns.length + rows.length);
  for (int row = 0; row < columns.length; ++row) {
    cvec a[V];
    head(a, x, row * rows.length + column, columns.length * rows.length);
    UNROLL for (int i = 0; i < V; ++i) work[row * V + i] = times_lanes(a[i], lane_roots[row]);
  }
  all_but_last_stage(work, columns, V, roots);
  lane_roots += columns.length;
  if (LAST_IS(columns, 2)) store_columns_of(work, middle, lane_roots, middle_roots, column, 2, columns, rows);
  if (LAST_IS(columns, 4)) store_columns_of(work, middle, lane_roots, middle_roots, column, 4, columns, rows);
  if (LAST_IS(columns, 8)) store_columns_of(work, middle, lane_roots, middle_roots, column, 8, columns, rows);
  if (LAST_IS(columns, 16)) store_columns_of(work, middle, lane_roots, middle_roots, column, 16, columns, rows);
}

// Steps 2 and 3 for a row of `middle`: an M2-point transform in place.
PART void transform_row(GLOBAL cvec* RESTRICT middle, GLOBAL real* RESTRICT y, GLOBAL const real* RESTRICT tables,
                          const int row, const factors columns, const factors rows) {
  GLOBAL const real* roots = (GLOBAL const real*)((GLOBAL const cvec*)tables + columns.length + rows.length);
  GLOBAL cvec* x = middle + row * middle_row(rows);
  all_but_last_stage(x, rows, 1, roots + 2 * columns.length);
  store_rows(x, y + 2 * V * row, rows, columns.length, 0);
}

// Up to V transforms of fewer than V * V points, one a lane; lanes without a transform repeat the first.
INLINE void transform_lanes_of(GLOBAL const real* RESTRICT x, GLOBAL real* RESTRICT y, GLOBAL const real* RESTRICT tables,
                               GLOBAL cvec* RESTRICT work, const int transforms, const int radix, const factors rows) {
  const int points = rows.length;
  GLOBAL cvec* sorted = work + points;
  for (int point = 0; point < points; point += V) {
    cvec a[V];
    UNROLL for (int i = 0; i < V; ++i) a[i] = load(x + 2 * ((i < transforms ? i : 0) * points + point));
    transpose(a);
    UNROLL for (int i = 0; i < V; ++i) work[point + i] = a[i];
  }
  all_but_last_stage(work, rows, 1, tables);
  for (int low = 0; low < points / radix; ++low) {
    cvec a[16];
    last_stage(a, work, low, radix, rows, 1);
    UNROLL for (int k = 0; k < radix; ++k) sorted[low + k * (points / radix)] = a[k];
  }
  for (int point = 0; point < points; point += V) {
    cvec a[V];
    UNROLL for (int i = 0; i < V; ++i) a[i] = sorted[point + i];
    transpose(a);
    UNROLL for (int i = 0; i < V; ++i)
      if (i < transforms) store(y + 2 * (i * points + point), a[i], 0);
  }
}

PART void transform_lanes(GLOBAL const real* RESTRICT x, GLOBAL real* RESTRICT y, GLOBAL const real* RESTRICT tables,
                            GLOBAL cvec* RESTRICT work, const int transforms, const factors rows) {
  if (LAST_IS(rows, 2)) transform_lanes_of(x, y, tables, work, transforms, 2, rows);
  if (LAST_IS(rows, 4)) transform_lanes_of(x, y, tables, work, transforms, 4, rows);
  if (LAST_IS(rows, 8)) transform_lanes_of(x, y, tables, work, transforms, 8, rows);
  if (LAST_IS(rows, 16)) transform_lanes_of(x, y, tables, work, transforms, 16, rows);
}

// Work of group `group` of `groups`: an equal share, in order. `lanes` transforms bundles of V transforms, `at_once`
// and `wholes` complete transforms, the latter in two steps; `columns` and `rows` are those steps, for all transforms.
PART void share_of_lanes(GLOBAL const real* from, GLOBAL real* to, GLOBAL const real* tables, GLOBAL cvec* work,
                         const ulong batch, const factors rows, const ulong group, const ulong groups) {
  const ulong bundles = (batch + V - 1) / V;
  const int points = rows.length;
  for (ulong bundle = bundles * group / groups; bundle < bundles * (group + 1) / groups; ++bundle) {
    const ulong first = bundle * V;
    const int transforms = batch - first < V ? (int)(batch - first) : V;
    transform_lanes(from + 2 * points * first, to + 2 * points * first, tables, work, transforms, rows);
  }
}

PART void share_at_once(GLOBAL const real* from, GLOBAL real* to, GLOBAL const real* tables, GLOBAL cvec* work,
                        const ulong batch, const factors rows, const int cached, const ulong group,
                        const ulong groups) {
  const ulong points = (ulong)V * rows.length, end = batch * (group + 1) / groups;
  for (ulong i = batch * group / groups; i < end; ++i)
    transform_at_once(from + 2 * points * i, to + 2 * points * i, tables, work, rows,
                      from + 2 * points * (i + 1 < end ? i + 1 : i), cached);
}

PART void share_of_wholes(GLOBAL const real* from, GLOBAL real* to, GLOBAL const real* tables, GLOBAL cvec* work,
                          const ulong batch, const factors columns, const factors rows, const ulong group,
                          const ulong groups) {
  const ulong points = (ulong)V * columns.length * rows.length;
  GLOBAL cvec* middle = work + columns.length * V;
  for (ulong i = batch * group / groups; i < batch * (group + 1) / groups; ++i) {
    for (int column = 0; column < rows.length; column += V)
      transform_columns(from + 2 * points * i, middle, tables, work, column, columns, rows);
    for (int row = 0; row < columns.length; ++row)
      transform_row(middle, to + 2 * points * i, tables, row, columns, rows);
  }
}

PART void share_of_columns(GLOBAL const real* from, GLOBAL cvec* middle, GLOBAL const real* tables, GLOBAL cvec* work,
                           const ulong batch, const factors columns, const factors rows, const ulong group,
                           const ulong groups) {
  const ulong points = (ulong)V * columns.length * rows.length, each = rows.length / V;
  for (ulong i = batch * each * group / groups; i < batch * each * (group + 1) / groups; ++i)
    transform_columns(from + 2 * points * (i / each), middle + (ulong)columns.length * middle_row(rows) * (i / each), tables,
                      work, (int)(i % each) * V, columns, rows);
}

PART void share_of_rows(GLOBAL cvec* middle, GLOBAL real* to, GLOBAL const real* tables, const ulong batch,
                        const factors columns, const factors rows, const ulong group, const ulong groups) {
  const ulong points = (ulong)V * columns.length * rows.length, each = columns.length;
  for (ulong i = batch * each * group / groups; i < batch * each * (group + 1) / groups; ++i)
    transform_row(middle + (ulong)columns.length * middle_row(rows) * (i / each), to + 2 * points * (i / each), tables,
                  (int)(i % each), columns, rows);
}

#ifdef __OPENCL_VERSION__
// Built for one length and one of LANES, AT_ONCE (with CACHED), WHOLES and APART. COLUMNS and ROWS are factors; a group is one work item with WORK vectors of `work`. Arguments are
// the points before and after, tables, room for all transforms between steps 1 and 2, and room for the groups.
#define ARGUMENTS                                                                                       \
  __global const real *restrict from, __global real *restrict to, __global const real *restrict tables, \
      __global cvec *restrict middle, __global cvec *restrict work, const ulong batch
#define OWN_WORK (work + get_group_id(0) * WORK)
#define SHARE get_group_id(0), get_num_groups(0)

#if defined(LANES)
__kernel void fft_lanes(ARGUMENTS) {
  const factors rows = ROWS;
  share_of_lanes(from, to, tables, OWN_WORK, batch, rows, SHARE);
}
#elif defined(AT_ONCE)
__kernel void fft_at_once(ARGUMENTS) {
  const factors rows = ROWS;
  share_at_once(from, to, tables, OWN_WORK, batch, rows, CACHED, SHARE);
}
#elif defined(WHOLES)
__kernel void fft_wholes(ARGUMENTS) {
  const factors columns = COLUMNS, rows = ROWS;
  share_of_wholes(from, to, tables, OWN_WORK, batch, columns, rows, SHARE);
}
#else
__kernel void fft_columns(ARGUMENTS) {
  const factors columns = COLUMNS, rows = ROWS;
  share_of_columns(from, middle, tables, OWN_WORK, batch, columns, rows, SHARE);
}

__kernel void fft_rows(ARGUMENTS) {
  const factors columns = COLUMNS, rows = ROWS;
  share_of_rows(middle, to, tables, batch, columns, rows, SHARE);
}
#endif
#endif
