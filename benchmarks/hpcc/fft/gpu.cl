// Batched Fourier transforms for GPUs: one pass over memory, POINTS points a work item in registers, exchanged through local
// memory between stages (Stockham's order, decimation in time). Also CUDA, through the compatibility header.
//
// Built once for each pass (plan.hpp): LENGTH points of a transform of this pass, TILE transforms a group, RADIX_0..3 with
// product LENGTH, and one of
//   WHOLE    the transform is LENGTH points, adjacent in memory
//   COLUMNS  the first pass of a longer one: LENGTH points STRIDE apart, TILE adjacent columns; times the roots between passes
//   ROWS     the last pass: LENGTH adjacent points, each STRIDE apart in the result; TILE adjacent results together
// LOCAL_OF_LAUNCH: local memory is given with the launch.
// A work item holds the points t + q * ITEMS of its transform (t < ITEMS, q < POINTS), before and after every stage. Work items
// of a group count along memory: along the transform where it is adjacent, across transforms where those are. The inverse
// exchanges re and im on the way in and out.
#ifndef LOCAL_PTR
#define LOCAL_PTR(T) __local T*
#define GLOBAL_PTR(T) __global T*
#define MAKE(T) (T)
#define WORK_GROUP_SIZE(n) __attribute__((reqd_work_group_size(n, 1, 1)))
#endif
// Registers form an array only within a single function.
#ifdef __CUDACC__
#define INLINE static __forceinline__
#else
#define INLINE static inline __attribute__((always_inline))
#endif

#if REAL_BYTES == 8
#define real double
#define complex_t double2
#define PAIR(re, im) MAKE(double2)(re, im)
#else
#define real float
#define complex_t float2
#define PAIR(re, im) MAKE(float2)(re, im)
#endif

#define ITEMS (LENGTH / POINTS)
#define GROUP (ITEMS * TILE)

// Local memory has banks over 128 bytes; powers of two must not map to one bank. SPLIT exchanges re and im one after
// the other, in half of the memory.
#ifdef SPLIT
#define ELEMENT real
#define BANKS (128 / REAL_BYTES)
#else
#define ELEMENT complex_t
#define BANKS (64 / REAL_BYTES)
#endif
#define PADDED(i) ((i) + (i) / BANKS)
#ifdef COLUMNS
#define PLACE(transform, point) PADDED((point) * TILE + (transform))
#define LOCAL_SIZE PADDED(LENGTH * TILE)
#else
#define ROW (PADDED(LENGTH) + (TILE < BANKS ? BANKS / TILE : 1))
#define PLACE(transform, point) ((transform) * ROW + PADDED(point))
#define LOCAL_SIZE (ROW * TILE)
#endif

INLINE complex_t add(complex_t a, complex_t b) { return PAIR(a.x + b.x, a.y + b.y); }
INLINE complex_t subtract(complex_t a, complex_t b) { return PAIR(a.x - b.x, a.y - b.y); }
INLINE complex_t add_i(complex_t a, complex_t b) { return PAIR(a.x - b.y, a.y + b.x); }       // a + i b
INLINE complex_t subtract_i(complex_t a, complex_t b) { return PAIR(a.x + b.y, a.y - b.x); }  // a - i b
INLINE complex_t times(complex_t a, complex_t b) {
  return PAIR(fma(a.x, b.x, -(a.y * b.y)), fma(a.x, b.y, a.y * b.x));
}

// In place, in natural order, on a[0], a[s], a[2 s], ...
INLINE void dft2(complex_t* a, const int s) {
  const complex_t b = a[s];
  a[s] = subtract(a[0], b);
  a[0] = add(a[0], b);
}

INLINE void dft4(complex_t* a, const int s) {
  const complex_t even = add(a[0], a[2 * s]), odd = add(a[s], a[3 * s]);
  const complex_t even_difference = subtract(a[0], a[2 * s]), odd_difference = subtract(a[s], a[3 * s]);
  a[0] = add(even, odd);
  a[s] = subtract_i(even_difference, odd_difference);
  a[2 * s] = subtract(even, odd);
  a[3 * s] = add_i(even_difference, odd_difference);
}

#define ROOT_HALF ((real)0.70710678118654752440)
#define COS_PI_8 ((real)0.92387953251128675613)
#define SIN_PI_8 ((real)0.38268343236508977173)

INLINE void dft8(complex_t* a, const int s) {
  dft4(a, 2 * s);
  dft4(a + s, 2 * s);
  const complex_t e0 = a[0], e1 = a[2 * s], e2 = a[4 * s], e3 = a[6 * s];
  const complex_t o0 = a[s], o2 = a[5 * s];
  const complex_t o1 = PAIR(a[3 * s].x + a[3 * s].y, a[3 * s].y - a[3 * s].x);
  const complex_t o3 = PAIR(a[7 * s].y - a[7 * s].x, -(a[7 * s].x + a[7 * s].y));
  a[0] = add(e0, o0);
  a[s] = PAIR(fma(ROOT_HALF, o1.x, e1.x), fma(ROOT_HALF, o1.y, e1.y));
  a[2 * s] = subtract_i(e2, o2);
  a[3 * s] = PAIR(fma(ROOT_HALF, o3.x, e3.x), fma(ROOT_HALF, o3.y, e3.y));
  a[4 * s] = subtract(e0, o0);
  a[5 * s] = PAIR(fma(-ROOT_HALF, o1.x, e1.x), fma(-ROOT_HALF, o1.y, e1.y));
  a[6 * s] = add_i(e2, o2);
  a[7 * s] = PAIR(fma(-ROOT_HALF, o3.x, e3.x), fma(-ROOT_HALF, o3.y, e3.y));
}

INLINE void dft16(complex_t* a, const int s) {
#pragma unroll
  for (int i = 0; i < 4; ++i) dft4(a + i * s, 4 * s);
  a[5 * s] = times(a[5 * s], PAIR(COS_PI_8, -SIN_PI_8));
  a[6 * s] = times(a[6 * s], PAIR(ROOT_HALF, -ROOT_HALF));
  a[7 * s] = times(a[7 * s], PAIR(SIN_PI_8, -COS_PI_8));
  a[9 * s] = times(a[9 * s], PAIR(ROOT_HALF, -ROOT_HALF));
  a[10 * s] = PAIR(a[10 * s].y, -a[10 * s].x);
  a[11 * s] = times(a[11 * s], PAIR(-ROOT_HALF, -ROOT_HALF));
  a[13 * s] = times(a[13 * s], PAIR(SIN_PI_8, -COS_PI_8));
  a[14 * s] = times(a[14 * s], PAIR(-ROOT_HALF, -ROOT_HALF));
  a[15 * s] = times(a[15 * s], PAIR(-COS_PI_8, SIN_PI_8));
#pragma unroll
  for (int i = 0; i < 4; ++i) dft4(a + 4 * i * s, s);
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = i + 1; j < 4; ++j) {
      const complex_t b = a[(4 * i + j) * s];
      a[(4 * i + j) * s] = a[(4 * j + i) * s];
      a[(4 * j + i) * s] = b;
    }
}

INLINE void dft(complex_t* a, const int radix, const int s) {
  if (radix == 16) dft16(a, s);
  if (radix == 8) dft8(a, s);
  if (radix == 4) dft4(a, s);
  if (radix == 2) dft2(a, s);
}

// Powers 1 to many - 1 of a root of unity. Of these 1, 2, 4 and 8 are loaded, `apart` in memory, and the others are products of at
// most three: all loaded, the roots would be as many bytes as the data.
INLINE void powers(complex_t* w, const int many, const GLOBAL_PTR(complex_t) roots, const int apart) {
#pragma unroll
  for (int k = 1; k < many; ++k) {
    const int high = k >= 8 ? 8 : k >= 4 ? 4 : k >= 2 ? 2 : 1;
    w[k] = k == high ? roots[k * apart] : times(w[high], w[k - high]);
  }
}

// One stage: `done` is the product of the radices before it. roots[k * done - 1 + j] = w^(k j) with w the root of unity of
// order done * radix.
INLINE void stage(complex_t* a, const int radix, const int done, const int t, const GLOBAL_PTR(complex_t) roots) {
#pragma unroll
  for (int i = 0; i < POINTS / radix; ++i) {
    const int j = (t + i * ITEMS) % done;
    if (done > 1) {
      complex_t w[16];
      powers(w, radix, roots + (j - 1), done);
#pragma unroll
      for (int k = 1; k < radix; ++k) a[i + k * (POINTS / radix)] = times(a[i + k * (POINTS / radix)], w[k]);
    }
    dft(a + i, radix, POINTS / radix);
  }
}

// Destination of the stage's output k of butterfly `index`.
INLINE int place_after(const int index, const int k, const int radix, const int done) {
  return index / done * (done * radix) + index % done + k * done;
}

// Exchanges points after a stage. `from` and `to` are the old and new owners, which differ only in ROWS.
INLINE void exchange(complex_t* a, LOCAL_PTR(ELEMENT) shared, const int radix, const int done, const int from_transform,
                     const int from_t, const int to_transform, const int to_t) {
#ifdef SPLIT
#pragma unroll
  for (int part = 0; part < 2; ++part) {
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int i = 0; i < POINTS / radix; ++i)
#pragma unroll
      for (int k = 0; k < radix; ++k)
        shared[PLACE(from_transform, place_after(from_t + i * ITEMS, k, radix, done))] =
            part == 0 ? a[i + k * (POINTS / radix)].x : a[i + k * (POINTS / radix)].y;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int q = 0; q < POINTS; ++q) {
      const real value = shared[PLACE(to_transform, to_t + q * ITEMS)];
      if (part == 0)
        a[q].x = value;
      else
        a[q].y = value;
    }
  }
#else
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int i = 0; i < POINTS / radix; ++i)
#pragma unroll
    for (int k = 0; k < radix; ++k)
      shared[PLACE(from_transform, place_after(from_t + i * ITEMS, k, radix, done))] = a[i + k * (POINTS / radix)];
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int q = 0; q < POINTS; ++q) a[q] = shared[PLACE(to_transform, to_t + q * ITEMS)];
#endif
}

#ifdef INVERSE
#define TURNED(a) PAIR((a).y, (a).x)
#else
#define TURNED(a) (a)
#endif

// A group's transforms are contiguous: staging in local memory lets even the shortest be read and written contiguously.
#ifdef STAGED
INLINE void load_staged(complex_t* a, LOCAL_PTR(ELEMENT) shared, const GLOBAL_PTR(complex_t) from, const ulong points,
                               const int item, const int transform, const int t) {
#pragma unroll
  for (int q = 0; q < POINTS; ++q) {
    const int i = item + q * GROUP;
    if (i < points) shared[PLACE(i / LENGTH, i % LENGTH)] = from[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int q = 0; q < POINTS; ++q) a[q] = TURNED(shared[PLACE(transform, t + q * ITEMS)]);
}

INLINE void store_staged(complex_t* a, LOCAL_PTR(ELEMENT) shared, GLOBAL_PTR(complex_t) to, const ulong points,
                                const int item, const int transform, const int t) {
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int q = 0; q < POINTS; ++q) shared[PLACE(transform, t + q * ITEMS)] = TURNED(a[q]);
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int q = 0; q < POINTS; ++q) {
    const int i = item + q * GROUP;
    if (i < points) to[i] = shared[PLACE(i / LENGTH, i % LENGTH)];
  }
}
#endif

// CUDA's compiler is told how many groups are to be resident, where it would take more than 64 registers.
#if defined(__CUDACC__) && REAL_BYTES == 4 && POINTS == 16 && GROUP <= 1024
#define BOUNDS __launch_bounds__(GROUP, 1024 / GROUP)
#else
#define BOUNDS WORK_GROUP_SIZE(GROUP)
#endif

// Transforms `batch`; those of `from` begin at transform from_begin, those of `to` at to_begin.
__kernel BOUNDS void fft_pass(const __global complex_t* from, __global complex_t* to, const __global complex_t* roots,
                       const ulong batch, const ulong from_begin, const ulong to_begin) {
#ifdef LOCAL_OF_LAUNCH  // more than a kernel may declare; runtime `cuda` only
  extern __shared__ __align__(16) ELEMENT shared[];
#else
  __local ELEMENT shared[LOCAL_SIZE];
#endif
  complex_t a[POINTS];
  const int item = get_local_id(0);
  const ulong tile = get_group_id(0);

#if defined(WHOLE)
  const int transform = item / ITEMS, t = item % ITEMS;
  const ulong first = tile * TILE;
  const bool there = first + transform < batch;
  from += (from_begin + first) * LENGTH;
  to += (to_begin + first) * LENGTH;
#ifdef STAGED
  const ulong points = (batch - first) * LENGTH;
  load_staged(a, shared, from, points, item, transform, t);
#else
  if (there) {
#pragma unroll
    for (int q = 0; q < POINTS; ++q) a[q] = TURNED(from[transform * LENGTH + t + q * ITEMS]);
  }
#endif

#elif defined(COLUMNS)
  const int transform = item % TILE, t = item / TILE;
  const int column = tile % (STRIDE / TILE) * TILE + transform;
  const ulong begin = tile / (STRIDE / TILE) * ((ulong)LENGTH * STRIDE) + column;
  from += from_begin * TOTAL + begin;
  to += to_begin * TOTAL + begin;
#pragma unroll
  for (int q = 0; q < POINTS; ++q) a[q] = TURNED(from[(ulong)(t + q * ITEMS) * STRIDE]);

#else
  const int from_transform = item / ITEMS, from_t = item % ITEMS;
  const int transform = item % TILE, t = item / TILE;
  const int first = tile % (FIRST / TILE) * TILE, second = tile / (FIRST / TILE) % (STRIDE / FIRST);
  const ulong whole = tile / (STRIDE / TILE);
  from += (from_begin + whole) * TOTAL + (ulong)(first + from_transform) * (TOTAL / FIRST) + second * LENGTH;
  to += (to_begin + whole) * TOTAL + first + transform + second * FIRST;
#pragma unroll
  for (int q = 0; q < POINTS; ++q) a[q] = TURNED(from[from_t + q * ITEMS]);
#endif

#ifndef ROWS
  const int from_transform = transform, from_t = t;
#endif
  stage(a, RADIX_0, 1, from_t, roots);
#if RADIX_1 > 1
  exchange(a, shared, RADIX_0, 1, from_transform, from_t, transform, t);
  stage(a, RADIX_1, RADIX_0, t, roots);
#endif
#if RADIX_2 > 1
  exchange(a, shared, RADIX_1, RADIX_0, transform, t, transform, t);
  stage(a, RADIX_2, RADIX_0 * RADIX_1, t, roots);
#endif
#if RADIX_3 > 1
  exchange(a, shared, RADIX_2, RADIX_0 * RADIX_1, transform, t, transform, t);
  stage(a, RADIX_3, RADIX_0 * RADIX_1 * RADIX_2, t, roots);
#endif

#if defined(WHOLE)
#ifdef STAGED
  store_staged(a, shared, to, points, item, transform, t);
#else
  if (there) {
#pragma unroll
    for (int q = 0; q < POINTS; ++q) to[transform * LENGTH + t + q * ITEMS] = TURNED(a[q]);
  }
#endif

#elif defined(COLUMNS)
  // The root of column * frequency, frequency = t + q * ITEMS, as a product of two, to store few of them.
  const __global complex_t* of_t = roots + (LENGTH - 1);
  const __global complex_t* of_q = of_t + (ulong)ITEMS * STRIDE;
  const complex_t root = of_t[t * STRIDE + column];
  complex_t w[16];
  powers(w, POINTS, of_q + column, STRIDE);
#pragma unroll
  for (int q = 0; q < POINTS; ++q) {
    const complex_t both = q == 0 ? root : times(root, w[q]);
    const complex_t value = times(a[q], both);
    to[(ulong)(t + q * ITEMS) * STRIDE] = TURNED(value);
  }

#else
#pragma unroll
  for (int q = 0; q < POINTS; ++q) to[(ulong)(t + q * ITEMS) * STRIDE] = TURNED(a[q]);
#endif
}
