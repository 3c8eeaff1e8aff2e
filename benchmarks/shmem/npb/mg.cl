// MG's operations on a rank's part of a level, in double precision.
//
// A grid of nx x ny x nz points has a halo of one point around it; indices count from the halo's first one, x fastest.
// `wraps` has a bit for each axis (1: x, 2: y, 4: z) along which the part is the whole periodic cube: a kernel that
// writes a point also writes its images in the halo there. Halos along the other axes are brought by messages.
// Kernels work on planes first ... last of z.
//
// By -D:
//   TX, TY   work items of a group along x and y
//   GROUP    TX * TY
//   ROWS     points of a work item along y, in the stencil
#ifndef GLOBAL_PTR
#define GLOBAL_PTR(T) __global T*
#endif
#ifndef LOCAL_PTR
#define LOCAL_PTR(T) __local T*
#endif

// The other place of point i of n: in the halo, or its own.
int image(const int i, const int n, const int wraps) {
  if (wraps == 0) return i;
  return i == 1 ? n + 1 : i == n ? 0 : i;
}

void put(GLOBAL_PTR(double) grid, const int i, const int j, const int k, const int nx, const int ny, const int nz,
         const int wraps, const double value) {
  const uint row = (uint)nx + 2, plane = row * ((uint)ny + 2);
  grid[(uint)k * plane + (uint)j * row + (uint)i] = value;
  const int x = image(i, nx, wraps & 1), y = image(j, ny, wraps & 2), z = image(k, nz, wraps & 4);
  if (x == i && y == j && z == k) return;
#pragma unroll 1
  for (int corner = 1; corner < 8; ++corner)
    grid[(uint)((corner & 4) != 0 ? z : k) * plane + (uint)((corner & 2) != 0 ? y : j) * row +
         (uint)((corner & 1) != 0 ? x : i)] = value;
}

// grid = value, all of it.
__kernel void fill(__global double* restrict grid, const uint count, const double value) {
  for (uint i = (uint)get_global_id(0); i < count; i += (uint)get_global_size(0)) grid[i] = value;
}

// A group's tile of the stencil, with the points around it, and the loads of an item that fill it.
#define WIDE (TX + 2)
#define HIGH (TY * ROWS)
#define LOADS ((WIDE * (HIGH + 2) + GROUP - 1) / GROUP)

// to = base + the sum over 27 points of `from`, weighted by squared distance. A group goes up `depth` planes of its tile;
// the next plane is on its way while one is worked on. An item has ROWS points, one behind the other along y. Of each it
// keeps what the planes so far add to the point, and what the last one adds to the point above.
__kernel void stencil(__global const double* restrict from, __global const double* base, __global double* to,
                      const int nx, const int ny, const int nz, const int first, const int last, const int depth,
                      const int wraps, const double w0, const double w1, const double w2, const double w3) {
  __local double tiles[2 * LOADS * GROUP];
  const int item = (int)get_local_id(0), group = (int)get_group_id(0);
  const int across = (nx + TX - 1) / TX, along = (ny + HIGH - 1) / HIGH;
  const int left = group % across * TX, top = group / across % along * HIGH;
  const int low = first + group / (across * along) * depth;
  const int high = low + depth - 1 < last ? low + depth - 1 : last;
  const int i = left + item % TX + 1, j = top + item / TX * ROWS + 1;
  const int corner = item / TX * ROWS * WIDE + item % TX;
  const uint row = (uint)nx + 2, plane = row * ((uint)ny + 2);
  uint places[LOADS];
  double next[LOADS], bases[ROWS], sums[ROWS], aside[ROWS];
#pragma unroll
  for (int load = 0; load < LOADS; ++load) {
    const int t = item + load * GROUP;
    places[load] = (uint)min(top + t / WIDE, ny + 1) * row + (uint)min(left + t % WIDE, nx + 1);
    next[load] = from[(uint)(low - 1) * plane + places[load]];
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) bases[r] = sums[r] = aside[r] = 0;
  for (int k = low - 1; k <= high + 1; ++k) {
    LOCAL_PTR(double) tile = tiles + (k & 1) * LOADS * GROUP;
#pragma unroll
    for (int load = 0; load < LOADS; ++load) tile[item + load * GROUP] = next[load];
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint above = (uint)min(k + 1, high + 1) * plane;
#pragma unroll
    for (int load = 0; load < LOADS; ++load) next[load] = from[above + places[load]];
    double own = tile[corner + WIDE + 1], before = tile[corner + 1];
    double beside = tile[corner + WIDE] + tile[corner + WIDE + 2], beside_before = tile[corner] + tile[corner + 2];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const int at = corner + (r + 2) * WIDE;
      const double behind = tile[at + 1], beside_behind = tile[at] + tile[at + 2];
      const double near = before + behind + beside, far = beside_before + beside_behind;
      const double to_next = w1 * own + w2 * near + w3 * far;
      const bool is_inside = i <= nx && j + r <= ny;
      if (is_inside && k > low) put(to, i, j + r, k - 1, nx, ny, nz, wraps, bases[r] + (sums[r] + to_next));
      if (is_inside && k >= low && k <= high) bases[r] = base[(uint)k * plane + (uint)(j + r) * row + (uint)i];
      sums[r] = aside[r] + (w0 * own + w1 * near + w2 * far);
      aside[r] = to_next;
      before = own, own = behind, beside_before = beside, beside = beside_behind;
    }
  }
}

// The sum over 9 points of a plane, weighted by squared distance.
double nine(GLOBAL_PTR(const double) grid, const uint at, const uint row, const double w0, const double w1,
            const double w2) {
  const double near = grid[at - 1] + grid[at + 1] + grid[at - row] + grid[at + row];
  const double far = grid[at - row - 1] + grid[at - row + 1] + grid[at + row - 1] + grid[at + row + 1];
  return w0 * grid[at] + w1 * near + w2 * far;
}

// Coarse points of a box, from (x0, y0) on, sx x sy in each plane, from the fine points around point
// 2 (local - 1) + (dx, dy, dz), local index of the coarse grid. A group goes up `depth` planes of a tile.
__kernel void restrict_to(__global const double* restrict fine, __global double* restrict coarse, const int fx,
                          const int fy, const int nx, const int ny, const int nz, const int x0, const int y0,
                          const int sx, const int sy, const int first, const int last, const int depth, const int dx,
                          const int dy, const int dz, const int wraps) {
  const int item = (int)get_local_id(0), group = (int)get_group_id(0);
  const int across = (sx + TX - 1) / TX, along = (sy + TY - 1) / TY;
  const int x = group % across * TX + item % TX, y = group / across % along * TY + item / TX;
  if (x >= sx || y >= sy) return;
  const int i = x0 + x, j = y0 + y, low = first + group / (across * along) * depth;
  const int high = low + depth - 1 < last ? low + depth - 1 : last;
  const uint row = (uint)fx + 2, plane = row * ((uint)fy + 2);
  uint at = (uint)(2 * (low - 1) + dz) * plane + (uint)(2 * (j - 1) + dy) * row + (uint)(2 * (i - 1) + dx);
  double before = nine(fine, at - plane, row, 0.25, 0.125, 0.0625);
  for (int k = low; k <= high; ++k, at += 2 * plane) {
    const double own = nine(fine, at, row, 0.5, 0.25, 0.125);
    const double behind = nine(fine, at + plane, row, 0.25, 0.125, 0.0625);
    put(coarse, i, j, k, nx, ny, nz, wraps, before + own + behind);
    before = behind;
  }
}

// The first of the two coarse points that fine point `point` (of the whole cube) lies between; point 2c + 1 is on c.
int below(const int point) { return (point + 1) / 2 - 1; }

// The fine points on a coarse one, behind it, above it and behind that, of those there are: adds the means of the coarse
// points around them, or assigns them. Coarse points are sums of two, as the fine ones' place along x asks.
void put_four(GLOBAL_PTR(double) fine, const uint to, const uint row, const uint plane, const bool has[4],
              const int adds, const double own, const double behind, const double above, const double behind_above) {
  double values[4] = {0.5 * own, 0.25 * (own + behind), 0.25 * (own + above),
                      0.125 * (own + behind + above + behind_above)};
#pragma unroll
  for (int p = 0; p < 4; ++p)
    if (adds != 0 && has[p]) values[p] += fine[to + (p & 1) * row + (p >> 1) * plane];
#pragma unroll
  for (int p = 0; p < 4; ++p)
    if (has[p]) fine[to + (p & 1) * row + (p >> 1) * plane] = values[p];
}

// Points of the fine grid's planes first ... last, halo and all: trilinear interpolation of the coarse grid, added or
// assigned. Lows: the parts' first points in the whole cube. An item has a column of x, the two rows of a coarse point
// and of the place behind it, and goes up `depth` coarse planes in the same way.
__kernel void interpolate(__global const double* restrict coarse, __global double* restrict fine, const int cx,
                          const int cy, const int nx, const int ny, const int coarse_low_x, const int coarse_low_y,
                          const int coarse_low_z, const int low_x, const int low_y, const int low_z, const int first,
                          const int last, const int depth, const int adds) {
  const int lowest_y = below(low_y - 1), points = (below(low_y + ny) - lowest_y + 1) * (nx + 2);
  const int pieces = (points + GROUP - 1) / GROUP;
  const int on = (int)get_group_id(0) % pieces * GROUP + (int)get_local_id(0);
  if (on >= points) return;
  const int i = on % (nx + 2), x = low_x + i - 1, y = lowest_y + on / (nx + 2), j = 2 * y + 2 - low_y;
  const int low = below(low_z + first - 1) + (int)get_group_id(0) / pieces * depth;
  const int highest = below(low_z + last - 1), high = low + depth - 1 < highest ? low + depth - 1 : highest;
  const uint row = (uint)cx + 2, plane = row * ((uint)cy + 2);
  const uint fine_row = (uint)nx + 2, fine_plane = fine_row * ((uint)ny + 2);
  const uint ax = x % 2 == 0 ? 1 : 0, ay = j + 1 <= ny + 1 ? row : 0;
  uint at = (uint)(low - coarse_low_z + 1) * plane + (uint)(y - coarse_low_y + 1) * row +
            (uint)(below(x) - coarse_low_x + 1);
  double own = coarse[at] + coarse[at + ax], behind = coarse[at + ay] + coarse[at + ay + ax];
  for (int z = low; z <= high; ++z) {
    const int k = 2 * z + 2 - low_z;
    const uint to = (uint)k * fine_plane + (uint)j * fine_row + (uint)i;
    const bool has[4] = {k >= first && j >= 0, k >= first && j <= ny, k < last && j >= 0, k < last && j <= ny};
    at += k < last ? plane : 0;
    const double above = coarse[at] + coarse[at + ax], behind_above = coarse[at + ay] + coarse[at + ay + ax];
    put_four(fine, to, fine_row, fine_plane, has, adds, own, behind, above, behind_above);
    own = above, behind = behind_above;
  }
}

// The grid's own planes beside its two faces along an axis, to a message each; or messages to the halo's planes. A
// message has the halo's points of the axes before.
__kernel void faces(__global double* restrict grid, __global double* restrict messages, const int nx, const int ny,
                    const int nz, const int axis, const uint pitch, const int packs) {
  const int wide = axis == 0 ? ny : nx + 2, high = axis == 2 ? ny + 2 : nz;
  const int n = axis == 0 ? nx : axis == 1 ? ny : nz;
  const int point = (int)get_global_id(0), side = point / (wide * high), on = point % (wide * high);
  if (side > 1) return;
  const int a = on % wide, b = on / wide;
  const int across = packs != 0 ? (side == 0 ? 1 : n) : (side == 0 ? 0 : n + 1);
  const int i = axis == 0 ? across : a;
  const int j = axis == 0 ? a + 1 : axis == 1 ? across : b;
  const int k = axis == 2 ? across : b + 1;
  const uint at = ((uint)k * ((uint)ny + 2) + (uint)j) * ((uint)nx + 2) + (uint)i;
  if (packs != 0)
    messages[(uint)side * pitch + (uint)on] = grid[at];
  else
    grid[at] = messages[(uint)side * pitch + (uint)on];
}

// A box of a level that all ranks have whole, n points an axis: points x0 ... x0 + sx - 1 and so on, to or from a
// message that begins at number `at`.
__kernel void box(__global double* restrict grid, __global double* restrict messages, const int n, const int x0,
                  const int y0, const int z0, const int sx, const int sy, const int sz, const uint at, const int packs) {
  const int point = (int)get_global_id(0);
  if (point >= sx * sy * sz) return;
  const int i = x0 + point % sx, j = y0 + point / sx % sy, k = z0 + point / sx / sy;
  if (packs != 0)
    messages[at + (uint)point] = grid[((uint)k * ((uint)n + 2) + (uint)j) * ((uint)n + 2) + (uint)i];
  else
    put(grid, i, j, k, n, n, n, 7, messages[at + (uint)point]);
}

// Sums of squares of the points, one a group.
__kernel void squares(__global const double* restrict grid, __global double* restrict sums, const int nx, const int ny,
                      const int nz) {
  __local double of_items[GROUP];
  const int item = (int)get_local_id(0);
  double sum = 0;
  for (int of = (int)get_group_id(0); of < ny * nz; of += (int)get_num_groups(0)) {
    const uint row = ((uint)(of / ny + 1) * ((uint)ny + 2) + (uint)(of % ny + 1)) * ((uint)nx + 2);
    for (int i = item + 1; i <= nx; i += GROUP) sum += grid[row + (uint)i] * grid[row + (uint)i];
  }
  of_items[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item != 0) return;
  for (int i = 1; i < GROUP; ++i) sum += of_items[i];
  sums[get_group_id(0)] = sum;
}
