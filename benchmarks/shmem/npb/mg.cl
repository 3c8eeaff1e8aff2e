// MG's operations on a rank's part of a level, in double precision.
//
// A grid of nx x ny x nz points has a halo of one point around it; indices count from the halo's first one, x fastest.
// `wraps` has a bit for each axis (1: x, 2: y, 4: z) along which the part is the whole periodic cube: a kernel that
// writes a point also writes its images in the halo there. Halos along the other axes are brought by messages.
// Kernels work on planes first ... last of z.
//
// By -D:
//   TX, TY   points of a group's tile in a plane; a group has TX * TY work items
//   GROUP    TX * TY
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
  for (int corner = 1; corner < 8; ++corner)
    grid[(uint)((corner & 4) != 0 ? z : k) * plane + (uint)((corner & 2) != 0 ? y : j) * row +
         (uint)((corner & 1) != 0 ? x : i)] = value;
}

// grid = value, all of it.
__kernel void fill(__global double* restrict grid, const uint count, const double value) {
  for (uint i = (uint)get_global_id(0); i < count; i += (uint)get_global_size(0)) grid[i] = value;
}

// to = base + the sum over 27 points of `from`, weighted by squared distance. A group goes up `depth` planes of its tile
// and keeps each point's sums within the last two: its own value, the four nearest, the four diagonal ones.
__kernel void stencil(__global const double* restrict from, __global const double* base, __global double* to,
                      const int nx, const int ny, const int nz, const int first, const int last, const int depth,
                      const int wraps, const double w0, const double w1, const double w2, const double w3) {
  __local double tiles[2 * (TX + 2) * (TY + 2)];
  const int item = (int)get_local_id(0), group = (int)get_group_id(0);
  const int across = (nx + TX - 1) / TX, along = (ny + TY - 1) / TY;
  const int left = group % across * TX, top = group / across % along * TY;
  const int low = first + group / (across * along) * depth;
  const int high = low + depth - 1 < last ? low + depth - 1 : last;
  const int i = left + item % TX + 1, j = top + item / TX + 1;
  const int at = (item / TX + 1) * (TX + 2) + item % TX + 1;
  const uint row = (uint)nx + 2, plane = row * ((uint)ny + 2);
  const bool is_inside = i <= nx && j <= ny;
  double own = 0, near = 0, far = 0, own_before = 0, near_before = 0, far_before = 0;
  for (int k = low - 1; k <= high + 1; ++k) {
    LOCAL_PTR(double) tile = tiles + (k & 1) * (TX + 2) * (TY + 2);
    for (int t = item; t < (TX + 2) * (TY + 2); t += GROUP) {
      const int x = left + t % (TX + 2), y = top + t / (TX + 2);
      if (x < nx + 2 && y < ny + 2) tile[t] = from[(uint)k * plane + (uint)y * row + (uint)x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const double next = tile[at];
    const double next_near = tile[at - 1] + tile[at + 1] + tile[at - (TX + 2)] + tile[at + (TX + 2)];
    const double next_far =
        tile[at - (TX + 2) - 1] + tile[at - (TX + 2) + 1] + tile[at + (TX + 2) - 1] + tile[at + (TX + 2) + 1];
    if (is_inside && k > low)
      put(to, i, j, k - 1, nx, ny, nz, wraps,
          base[(uint)(k - 1) * plane + (uint)j * row + (uint)i] + w0 * own + w1 * (own_before + next + near) +
              w2 * (far + near_before + next_near) + w3 * (far_before + next_far));
    own_before = own, near_before = near, far_before = far;
    own = next, near = next_near, far = next_far;
  }
}

// Rows of a grid are dealt out to groups in pieces of GROUP points: the piece's first point, and its row.
#define PIECES(points) (((points) + GROUP - 1) / GROUP)

// Coarse points of a box, from (x0, y0) on, sx x sy in each plane, from the fine points around point
// 2 (local - 1) + (dx, dy, dz), local index of the coarse grid.
__kernel void restrict_to(__global const double* restrict fine, __global double* restrict coarse, const int fx,
                          const int fy, const int nx, const int ny, const int nz, const int x0, const int y0,
                          const int sx, const int sy, const int first, const int last, const int dx, const int dy,
                          const int dz, const int wraps) {
  const int pieces = PIECES(sx), piece = (int)get_group_id(0) % pieces, of = (int)get_group_id(0) / pieces;
  const int within = piece * GROUP + (int)get_local_id(0);
  if (within >= sx) return;
  const int i = x0 + within, j = y0 + of % sy, k = first + of / sy;
  const uint row = (uint)fx + 2, plane = row * ((uint)fy + 2);
  const uint at = (uint)(2 * (k - 1) + dz) * plane + (uint)(2 * (j - 1) + dy) * row + (uint)(2 * (i - 1) + dx);
  double sums[4] = {0, 0, 0, 0};
#pragma unroll
  for (int z = -1; z <= 1; ++z)
#pragma unroll
    for (int y = -1; y <= 1; ++y)
#pragma unroll
      for (int x = -1; x <= 1; ++x) sums[x * x + y * y + z * z] += fine[at + (uint)(z * (int)plane + y * (int)row + x)];
  put(coarse, i, j, k, nx, ny, nz, wraps, 0.5 * sums[0] + 0.25 * sums[1] + 0.125 * sums[2] + 0.0625 * sums[3]);
}

// The first of the two coarse points that fine point `point` (of the whole cube) lies between; point 2c + 1 is on c.
int below(const int point) { return (point + 1) / 2 - 1; }

// Points of the fine grid's planes first ... last, halo and all: trilinear interpolation of the coarse grid, added or
// assigned. Lows: the parts' first points in the whole cube.
__kernel void interpolate(__global const double* restrict coarse, __global double* restrict fine, const int cx,
                          const int cy, const int nx, const int ny, const int coarse_low_x, const int coarse_low_y,
                          const int coarse_low_z, const int low_x, const int low_y, const int low_z, const int first,
                          const int adds) {
  const int pieces = PIECES(nx + 2), piece = (int)get_group_id(0) % pieces, of = (int)get_group_id(0) / pieces;
  const int i = piece * GROUP + (int)get_local_id(0);
  if (i >= nx + 2) return;
  const int j = of % (ny + 2), k = first + of / (ny + 2);
  const int x = low_x + i - 1, y = low_y + j - 1, z = low_z + k - 1;
  const uint row = (uint)cx + 2, plane = row * ((uint)cy + 2);
  const uint at = (uint)(below(z) - coarse_low_z + 1) * plane + (uint)(below(y) - coarse_low_y + 1) * row +
                  (uint)(below(x) - coarse_low_x + 1);
  const uint ax = x % 2 == 0 ? 1 : 0, ay = y % 2 == 0 ? row : 0, az = z % 2 == 0 ? plane : 0;
  const double value =
      0.125 * (coarse[at] + coarse[at + ax] + coarse[at + ay] + coarse[at + ay + ax] + coarse[at + az] +
               coarse[at + az + ax] + coarse[at + az + ay] + coarse[at + az + ay + ax]);
  const uint to = ((uint)k * ((uint)ny + 2) + (uint)j) * ((uint)nx + 2) + (uint)i;
  fine[to] = adds != 0 ? fine[to] + value : value;
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
