// out = alpha A B + beta C for GPUs of compute capability 9.0 (Hopper): a warpgroup (four warps) feeds the matrix units
// from local memory (wgmma), and the copy engine loads whole tiles there (TMA). In CUDA C++, for NVRTC.
//
// One of HALF, BFLOAT16, TF32, FLOAT, DOUBLE: element type. WIDE: see below. STAGES: of the ring in local memory. BAND:
// of tiles. PARTS: C and out are parts of a matrix with rows c_pitch elements apart, and float for shorter types of A
// and B; for HPL's updates. ALIGNED: rows of C and out are aligned to accesses of 16 bytes (TF32: 8).
//
// FLOAT and DOUBLE: a group computes a tile of ROWS x 128, by ordinary arithmetic and by units of whole warps.
//
// The others: two groups (a cluster) compute a tile of 256 x WIDE of the product, each its own half of the 256.
// NARROW is a group's 128. HALF and BFLOAT16: NARROW are rows, WIDE columns. TF32, whose factors must be contiguous
// along the inner index: the tile of C^T, so NARROW are columns, transposed from B in registers, and WIDE rows. One
// warp lets the copy engine fill the ring; the WIDE part goes to both groups, half of it sent by each. Two warpgroups
// multiply 64 x WIDE each. Groups are persistent and take one tile after another, so the ring is full when a tile
// begins.
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long long ulong;

struct alignas(64) TileMap {  // CUtensorMap
  ulong words[16];
};

#if defined(DOUBLE)
typedef double Element;
#elif defined(TF32) || defined(FLOAT)
typedef float Element;
#else
typedef ushort Element;
#endif
#if defined(FLOAT) || defined(DOUBLE)
#define BY_WARPS
#endif
#if defined(PARTS) && !defined(DOUBLE)
typedef float Result;  // of C
#else
typedef Element Result;
#endif
#ifdef PARTS
#define PLACES , const ulong c_pitch, const ulong c_begin
#define GO_TO_PLACES \
  c += c_begin;      \
  out += c_begin
#define C_PITCH c_pitch
#define OF_C Result*  // the same matrix as out
#else
#define PLACES
#define GO_TO_PLACES
#define C_PITCH columns
#define OF_C Result* __restrict__
#endif
#define ROW_BYTES 128  // of all tiles in local memory, swizzled: chunk c of 16 bytes is at chunk c ^ row % 8
#define DEPTH (ROW_BYTES / (int)sizeof(Element))
#define CONSUMERS 2  // warpgroups that multiply
#ifdef BY_WARPS
#define CLUSTER 1  // groups per tile
#else
#define CLUSTER 2
#endif
#ifdef TF32
#define STRIPS ((inner + 2 * DEPTH - 1) / (2 * DEPTH) * 2)  // even: one past the end is all zeros
#else
#define STRIPS ((inner + DEPTH - 1) / DEPTH)
#endif
__device__ inline uint local_address(const void* pointer) {
  return (uint)__cvta_generic_to_shared(pointer);
}
__device__ inline uint rank_in_cluster() {
  uint rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ inline void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Barriers in local memory, which count arrivals and bytes.
__device__ inline void barrier_init(uint barrier, uint arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
__device__ inline void arrive_expecting(uint barrier, uint bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
// On this or on another group of the cluster. The values read are in registers or the units by then: no fence is
// needed, and a cluster-scope fence, effectively of the whole GPU, costs a fifth of the rate.
__device__ inline void arrive_at(uint barrier, uint rank) {
  asm volatile(
      "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
      "r"(rank)
      : "memory");
}
__device__ inline void wait_for(uint barrier, uint parity) {
  asm volatile(
      "{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@done bra END;\n"
      "bra AGAIN;\nEND:\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// x: element in a row, y: row.
__device__ inline void copy_tile(uint to, const TileMap& from, uint x, uint y, uint barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          to),
      "l"(&from), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}
__device__ inline void copy_tile_to_all(uint to, const TileMap& from, uint x, uint y, uint barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, "
      "%3}], [%4], %5;" ::"r"(to),
      "l"(&from), "r"(x), "r"(y), "r"(barrier), "h"((ushort)((1 << CLUSTER) - 1))
      : "memory");
}

#define FULL(stage) (barriers + 8 * (stage))
#define EMPTY(stage) (barriers + 8 * (STAGES + (stage)))

struct Ring {
  uint stage = 0, round = 0;
  __device__ void advance() {
    if (++stage == STAGES) stage = 0, round ^= 1;
  }
};

// For each stage: full when one work item's copies are complete, empty when all consuming warps have read them.
__device__ inline void make_ring(uint barriers) {
  if (threadIdx.x == 0) {
    for (uint stage = 0; stage < STAGES; ++stage) {
      barrier_init(FULL(stage), 1);
      barrier_init(EMPTY(stage), CLUSTER * CONSUMERS * 4);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
}

// Tiles are taken in bands of BAND, so that concurrent ones share strips in the cache: the position of tile `index`
// among `high` x `wide`.
__device__ inline uint2 place_of(uint index, uint high, uint wide) {
  const uint band = index / (BAND * wide) * BAND, within = index % (BAND * wide);
  const uint height = min((uint)BAND, high - band);
  return make_uint2(band + within % height, within / height);
}

// A warp prefetches its part of C while the last strips are multiplied.
__device__ inline void prefetch(const Result* c, uint row, uint column, uint tile_rows, uint tile_columns, uint rows,
                                uint columns, size_t pitch) {
  const uint lines = tile_columns * sizeof(Result) / 128;
  for (uint i = threadIdx.x % 32; i < tile_rows * lines; i += 32) {
    const uint r = row + i / lines, j = column + i % lines * (128 / sizeof(Result));
    if (r < rows && j < columns) asm volatile("prefetch.global.L2 [%0];" ::"l"(c + r * pitch + j));
  }
}
#define IS_PREFETCHED_AT(strip, strips) ((strip) + 1 == ((strips) > 16 ? (strips)-16 : 1))

#ifdef BY_WARPS

#define COLUMNS 128
#define A_BYTES (ROWS * ROW_BYTES)
#define BOX_BYTES (DEPTH * ROW_BYTES)  // DEPTH inner indices of as many columns
#define STAGE_BYTES (A_BYTES + COLUMNS / DEPTH * BOX_BYTES)
#define RING_BYTES (STAGES * STAGE_BYTES)

// A warp's work: copies of all strips of a group's tiles.
__device__ inline void copy_strips(const TileMap& a, const TileMap& b, const Result* c, uint ring, uint barriers,
                                   uint rows, uint columns, uint inner, size_t c_pitch) {
  const uint row_tiles = (rows + ROWS - 1) / ROWS, column_tiles = (columns + COLUMNS - 1) / COLUMNS;
  Ring at;
  for (uint index = blockIdx.x; index < row_tiles * column_tiles; index += gridDim.x) {
    const uint2 place = place_of(index, row_tiles, column_tiles);
    const uint row = place.x * ROWS, column = place.y * COLUMNS;
    for (uint strip = 0; strip < STRIPS; ++strip, at.advance()) {
      wait_for(EMPTY(at.stage), at.round ^ 1);
      if (threadIdx.x == 0) {
        const uint to = ring + at.stage * STAGE_BYTES, k = strip * DEPTH;
        arrive_expecting(FULL(at.stage), STAGE_BYTES);
        copy_tile(to, a, k, row, FULL(at.stage));
        for (uint box = 0; box < COLUMNS / DEPTH; ++box)
          copy_tile(to + A_BYTES + box * BOX_BYTES, b, column + DEPTH * box, k, FULL(at.stage));
      }
      __syncwarp();
      if (IS_PREFETCHED_AT(strip, STRIPS)) prefetch(c, row, column, ROWS, COLUMNS, rows, columns, c_pitch);
    }
  }
}

#ifdef FLOAT

// Ordinary arithmetic: eight warps of ROWS / 8 x 128 sums each. A work item has EACH rows, 4 apart, and in these four
// chunks of four columns, 32 apart. Of A it takes chunks of four inner indices, of B the chunks of one. Lanes that read
// at once take 4 rows of A, or 8 chunks of a row of B, from different banks; lanes that differ by bit 0 take the same
// of B, and by bit 1 the same of A, so that halves of a warp are served together. A fragment is loaded as soon as its
// registers are free, while others are multiplied.
#define EACH (ROWS / 32)
#define PAIRS (DEPTH / 8)  // of chunks of inner indices in a strip

__device__ inline float4 chunk_at(uint address) {
  float4 chunk;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(chunk.x), "=f"(chunk.y), "=f"(chunk.z), "=f"(chunk.w)
               : "r"(address));
  return chunk;
}

__device__ inline float item_of(const float4& chunk, int item) {
  return item == 0 ? chunk.x : item == 1 ? chunk.y : item == 2 ? chunk.z : chunk.w;
}

extern "C" __global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ TileMap a, const __grid_constant__ TileMap b, const OF_C c, OF_C out,
         const float alpha, const float beta, const uint rows, const uint columns, const uint inner PLACES) {
  GO_TO_PLACES;
  extern __shared__ unsigned char local_memory[];
  const uint ring = (local_address(local_memory) + 1023) & ~1023u, barriers = ring + RING_BYTES;
  const uint lane = threadIdx.x % 32;
  const uint row_tiles = (rows + ROWS - 1) / ROWS, column_tiles = (columns + COLUMNS - 1) / COLUMNS;
  const uint tiles = row_tiles * column_tiles, strips = STRIPS;
  make_ring(barriers);
  __syncthreads();

  Ring at;
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x < 32) copy_strips(a, b, c, ring, barriers, rows, columns, inner, C_PITCH);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    const uint warp = threadIdx.x / 32 - 4;
    const uint g = lane % 2 + lane / 8 % 2 * 2, t = lane / 2 % 4 + lane / 16 * 4;  // among 4 x 8 lanes
    const uint first_row = warp * (ROWS / 8) + g;
    // Of A's chunk 0 in rows 4 i + g with even i, whose place is g, and with odd i. Chunk q is at the place of chunk 0,
    // with the bits of q changed.
    const uint a_place[2] = {first_row * ROW_BYTES + g * 16, first_row * ROW_BYTES + (4 + g) * 16};
#define TAKE_A(i, place, q) from_a[i] = chunk_at((((place) + a_place[(i) % 2]) ^ ((q)*16)) + (i)*4 * ROW_BYTES)
    // Row k of B at `place`, of eight.
#define TAKE_B(to, place, k)                            \
  _Pragma("unroll") for (int n = 0; n < 4; ++n) to[n] = \
      chunk_at((place) + A_BYTES + n * BOX_BYTES + (k)*ROW_BYTES + (t ^ (k)) * 16)
    for (uint index = blockIdx.x; index < tiles; index += gridDim.x) {
      const uint2 tile = place_of(index, row_tiles, column_tiles);
      float sum[EACH][16];
#pragma unroll
      for (int i = 0; i < EACH; ++i) {
#pragma unroll
        for (int j = 0; j < 16; ++j) sum[i][j] = 0;
      }
      float4 from_a[EACH], from_b[2][4];
      uint place = ring + at.stage * STAGE_BYTES;
      wait_for(FULL(at.stage), at.round);
#pragma unroll
      for (int i = 0; i < EACH; ++i) TAKE_A(i, place, 0);
      TAKE_B(from_b[0], place, 0);
      for (uint strip = 0; strip < strips; ++strip) {
#pragma unroll 1  // the loop fits the instruction cache as it is
        for (uint pair = 0; pair < PAIRS; ++pair) {
          uint next = place, next_pair = pair + 1;
#pragma unroll
          for (int k = 0; k < 8; ++k) {
            if (k < 7) {
              TAKE_B(from_b[(k + 1) % 2], place + pair * 8 * ROW_BYTES, k + 1);
            } else {
              if (next_pair == PAIRS) {
                __syncwarp();  // all lanes have read the last of this strip
                if (lane == 0) arrive_at(EMPTY(at.stage), 0);
                at.advance();
                next_pair = 0;
                if (strip + 1 < strips) {  // else what is read is not used
                  next = ring + at.stage * STAGE_BYTES;
                  wait_for(FULL(at.stage), at.round);
                }
              }
              TAKE_B(from_b[0], next + next_pair * 8 * ROW_BYTES, 0);
            }
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
              const float x = item_of(from_a[i], k % 4);
#pragma unroll
              for (int j = 0; j < 16; ++j) sum[i][j] = fmaf(x, item_of(from_b[k % 2][j / 4], j % 4), sum[i][j]);
              if (k == 3) TAKE_A(i, place, 2 * pair + 1);
              if (k == 7) TAKE_A(i, next, 2 * next_pair);
            }
          }
          place = next;
        }
      }
#pragma unroll
      for (int i = 0; i < EACH; ++i) {
        const uint row = tile.x * ROWS + first_row + 4 * i;
#pragma unroll
        for (int n = 0; n < 4; ++n) {
          const uint column = tile.y * COLUMNS + 32 * n + 4 * t;
          const size_t here = (size_t)row * C_PITCH + column;
#ifdef ALIGNED
          if (row < rows && column < columns) {
            const float4 from_c = *(const float4*)(c + here);
            *(float4*)(out + here) =
                make_float4(alpha * sum[i][4 * n] + beta * from_c.x, alpha * sum[i][4 * n + 1] + beta * from_c.y,
                            alpha * sum[i][4 * n + 2] + beta * from_c.z, alpha * sum[i][4 * n + 3] + beta * from_c.w);
          }
#else
#pragma unroll
          for (int e = 0; e < 4; ++e)
            if (row < rows && column + e < columns) out[here + e] = alpha * sum[i][4 * n + e] + beta * c[here + e];
#endif
        }
      }
    }
  }
}

#else

// Matrix units of whole warps (mma): eight warps of 32 x 64 sums each, of a group's tile of 128 x 128. They compute C^T
// = B^T A^T, where a work item's chunks of two elements are adjacent in a fragment. Fragments, with g = lane / 4 and t
// = lane % 4: rows g and g + 8 of the first factor, column g of the second, inner indices t and t + 4 of both; of the
// product rows g and g + 8 in columns 2 t and 2 t + 1. The mapping to the tile's indices is free as long as the factors
// agree. Of A a work item takes chunk t (or 4 + t) of its row, so inner indices t and t + 4 are 2 t and 2 t + 1 (or 8
// more); of B chunk g in those rows, so rows g and g + 8 are columns 2 g and 2 g + 1. Column g is A's row g / 2 + 4 (g
// % 2), which avoids bank conflicts.
#define WARP_ROWS 32
#define WARP_COLUMNS 64

__device__ inline double2 chunk_at(uint address) {
  double2 chunk;
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(chunk.x), "=d"(chunk.y) : "r"(address));
  return chunk;
}

__device__ inline void multiply(double (&sum)[4], const double2 (&from_b)[2], double2 from_a) {
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
      : "d"(from_b[0].x), "d"(from_b[0].y), "d"(from_b[1].x), "d"(from_b[1].y), "d"(from_a.x), "d"(from_a.y));
}

extern "C" __global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ TileMap a, const __grid_constant__ TileMap b, const OF_C c, OF_C out,
         const double alpha, const double beta, const uint rows, const uint columns, const uint inner PLACES) {
  GO_TO_PLACES;
  extern __shared__ unsigned char local_memory[];
  const uint ring = (local_address(local_memory) + 1023) & ~1023u, barriers = ring + RING_BYTES;
  const uint lane = threadIdx.x % 32;
  const uint row_tiles = (rows + ROWS - 1) / ROWS, column_tiles = (columns + COLUMNS - 1) / COLUMNS;
  const uint tiles = row_tiles * column_tiles, strips = STRIPS;
  make_ring(barriers);
  __syncthreads();

  Ring at;
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x < 32) copy_strips(a, b, c, ring, barriers, rows, columns, inner, C_PITCH);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const uint warp = threadIdx.x / 32 - 4, g = lane / 4, t = lane % 4;
    const uint warp_row = warp / 2 * WARP_ROWS + g / 2 + g % 2 * 4;
    const uint warp_column = warp % 2 * WARP_COLUMNS;
    // Of A's chunks in the strip's halves, of B's in the rows 8 h + 2 t + e.
    const uint a_place[2] = {warp_row * ROW_BYTES + (t ^ warp_row % 8) * 16,
                             warp_row * ROW_BYTES + ((4 + t) ^ warp_row % 8) * 16};
    const uint b_box = A_BYTES + warp_column / 16 * BOX_BYTES;
    const uint b_place[2] = {b_box + 2 * t * ROW_BYTES + (g ^ (2 * t)) * 16,
                             b_box + (2 * t + 1) * ROW_BYTES + (g ^ (2 * t + 1)) * 16};
    // Of half h of a strip at `place`: of A the rows of all four fragments, of B the i-th 16 columns.
#define TAKE_A(to, place, h) \
  _Pragma("unroll") for (int j = 0; j < 4; ++j) to[j] = chunk_at((place) + a_place[h] + j * 8 * ROW_BYTES)
#define TAKE_B(to, place, h, i)                                               \
  to[0] = chunk_at((place) + b_place[0] + (h)*8 * ROW_BYTES + (i)*BOX_BYTES); \
  to[1] = chunk_at((place) + b_place[1] + (h)*8 * ROW_BYTES + (i)*BOX_BYTES)
    for (uint index = blockIdx.x; index < tiles; index += gridDim.x) {
      const uint2 tile = place_of(index, row_tiles, column_tiles);
      double sum[4][4][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
#pragma unroll
          for (int e = 0; e < 4; ++e) sum[i][j][e] = 0;
        }
      }
      // The next fragments are loaded while the units multiply the previous ones.
      double2 from_a[2][4], from_b[2][2];
      uint place = ring + at.stage * STAGE_BYTES;
      wait_for(FULL(at.stage), at.round);
      TAKE_A(from_a[0], place, 0);
      TAKE_B(from_b[0], place, 0, 0);
      for (uint strip = 0; strip < strips; ++strip) {
        const uint before = at.stage;
        uint next_place = place;
#pragma unroll
        for (int step = 0; step < 8; ++step) {  // four times 16 columns in each half of the strip
          const int h = step / 4, i = step % 4;
          if (step == 2) TAKE_A(from_a[1], place, 1);
          if (step < 7) {
            TAKE_B(from_b[(step + 1) % 2], place, (step + 1) / 4, (step + 1) % 4);
          } else {
            at.advance();
            if (strip + 1 < strips) {
              next_place = ring + at.stage * STAGE_BYTES;
              wait_for(FULL(at.stage), at.round);
              TAKE_A(from_a[0], next_place, 0);
              TAKE_B(from_b[0], next_place, 0, 0);
            }
          }
#pragma unroll
          for (int j = 0; j < 4; ++j) multiply(sum[i][j], from_b[step % 2], from_a[h][j]);
          if (step == 6) {
            __syncwarp();  // all lanes have read the last of this strip
            if (lane == 0) arrive_at(EMPTY(before), 0);
          }
        }
        place = next_place;
      }
      // Two adjacent elements of a row are in a work item, and a line of 128 bytes in the lanes of one t.
#pragma unroll
      for (int j = 0; j < 4; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const uint row = tile.x * ROWS + warp / 2 * WARP_ROWS + 8 * j + t + 4 * e;
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const uint column = tile.y * COLUMNS + warp_column + 16 * i + 2 * g;
            const size_t here = (size_t)row * C_PITCH + column;
            const double x = alpha * sum[i][j][e], y = alpha * sum[i][j][2 + e];
#ifdef ALIGNED
            if (row < rows && column < columns) {
              const double2 from_c = *(const double2*)(c + here);
              *(double2*)(out + here) = make_double2(x + beta * from_c.x, y + beta * from_c.y);
            }
#else
            if (row < rows && column < columns) out[here] = x + beta * c[here];
            if (row < rows && column + 1 < columns) out[here + 1] = y + beta * c[here + 1];
#endif
          }
        }
      }
    }
  }
}

#endif

#else

#define NARROW 128
#define NARROW_BYTES (NARROW * 128)
#ifdef TF32
#define WIDE_BYTES (WIDE * ROW_BYTES)
#define BOX_BYTES (DEPTH * ROW_BYTES)  // 32 inner indices of 32 columns
#else
#define BOX_BYTES (DEPTH * ROW_BYTES)  // 64 inner indices of 64 columns
#define WIDE_BYTES ((WIDE + 63) / 64 * BOX_BYTES)
#endif
#define STAGE_BYTES (NARROW_BYTES + WIDE_BYTES)
#define RING_BYTES (STAGES * STAGE_BYTES)
#define SUMS (WIDE / 2)  // of a work item

// Descriptor of a tile in local memory for the matrix units: its address, and the distances of its pieces of 8 x 128
// bytes along the rows' bytes (`leading`) and across rows (`stride`).
__device__ inline ulong tile_descriptor(uint address, uint leading, uint stride) {
  return (ulong)((address & 0x3ffff) >> 4) | (ulong)(leading >> 4) << 16 | (ulong)(stride >> 4) << 32 | 1ull << 62;
}

// The instruction lists its sums individually.
#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)
#define PASTE(a, b) a##b
#define PASTED(a, b) PASTE(a, b)
#define NAMES_32 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define NAMES_64 NAMES_32 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define NAMES_96 NAMES_64 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define NAMES_128 NAMES_96 ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define NAMES_160 NAMES_128 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define NAMES_192 NAMES_160 ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define NAMES_224 \
  NAMES_192 ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"
#define NAMES_256 \
  NAMES_224 ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define SUMS_4(i) "+f"(sum[i]), "+f"(sum[(i) + 1]), "+f"(sum[(i) + 2]), "+f"(sum[(i) + 3])
#define SUMS_16(i) SUMS_4(i), SUMS_4((i) + 4), SUMS_4((i) + 8), SUMS_4((i) + 12)
#define SUMS_OF_64 SUMS_16(0), SUMS_16(16)
#define SUMS_OF_96 SUMS_OF_64, SUMS_16(32)
#define SUMS_OF_128 SUMS_OF_96, SUMS_16(48)
#define SUMS_OF_160 SUMS_OF_128, SUMS_16(64)
#define SUMS_OF_192 SUMS_OF_160, SUMS_16(80)
#define SUMS_OF_224 SUMS_OF_192, SUMS_16(96)
#define SUMS_OF_256 SUMS_OF_224, SUMS_16(112)
// The operands after them.
#if WIDE == 64
#define OPERANDS(use) use("%32", "%33", "%34", "%35", "%36", "%37")
#elif WIDE == 96
#define OPERANDS(use) use("%48", "%49", "%50", "%51", "%52", "%53")
#elif WIDE == 128
#define OPERANDS(use) use("%64", "%65", "%66", "%67", "%68", "%69")
#elif WIDE == 160
#define OPERANDS(use) use("%80", "%81", "%82", "%83", "%84", "%85")
#elif WIDE == 192
#define OPERANDS(use) use("%96", "%97", "%98", "%99", "%100", "%101")
#elif WIDE == 224
#define OPERANDS(use) use("%112", "%113", "%114", "%115", "%116", "%117")
#elif WIDE == 256
#define OPERANDS(use) use("%128", "%129", "%130", "%131", "%132", "%133")
#endif

// sum += narrow * wide, or sum = narrow * wide; the sums must not be accessed before products_left().
#if defined(TF32)
#define INSTRUCTION(a0, a1, a2, a3, wide, add)                                                   \
  "{\n.reg .pred add;\nsetp.ne.b32 add, " add ", 0;\nwgmma.mma_async.sync.aligned.m64n" TEXT_OF( \
      WIDE) "k8.f32.tf32.tf32 {" PASTED(NAMES_, WIDE) "}, {" a0 ", " a1 ", " a2 ", " a3 "}, " wide ", add, 1, 1;\n}"
__device__ inline void multiply(float (&sum)[SUMS], const uint (&narrow)[4], ulong wide, bool add) {
  asm volatile(OPERANDS(INSTRUCTION)
               : PASTED(SUMS_OF_, WIDE)
               : "r"(narrow[0]), "r"(narrow[1]), "r"(narrow[2]), "r"(narrow[3]), "l"(wide), "r"((uint)add));
}
#else
#ifdef HALF
#define FACTORS "k16.f32.f16.f16"
#else
#define FACTORS "k16.f32.bf16.bf16"
#endif
#define INSTRUCTION(narrow, wide, add, u0, u1, u2)                                                            \
  "{\n.reg .pred add;\nsetp.ne.b32 add, " add ", 0;\nwgmma.mma_async.sync.aligned.m64n" TEXT_OF(WIDE) FACTORS \
      " {" PASTED(NAMES_, WIDE) "}, " narrow ", " wide ", add, 1, 1, 0, 1;\n}"
__device__ inline void multiply(float (&sum)[SUMS], ulong narrow, ulong wide, bool add) {
  asm volatile(OPERANDS(INSTRUCTION) : PASTED(SUMS_OF_, WIDE) : "l"(narrow), "l"(wide), "r"((uint)add));
}
#endif
__device__ inline void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void end_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int left>
__device__ inline void products_left() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
}

struct Tile {
  uint narrow, wide;  // first index
  __device__ Tile(uint index, uint narrow_tiles, uint wide_tiles) {
    const uint2 place = place_of(index, narrow_tiles, wide_tiles);
    narrow = place.x * (CLUSTER * NARROW) + rank_in_cluster() * NARROW;
    wide = place.y * WIDE;
  }
};

#ifndef TF32
// alpha times two sums plus beta times two elements of C, as two elements.
__device__ inline uint combine(float first, float second, uint pair, float alpha, float beta) {
  float c0, c1;
  uint result;
#ifdef HALF
  asm("{\n.reg .b16 low, high;\nmov.b32 {low, high}, %2;\ncvt.f32.f16 %0, low;\ncvt.f32.f16 %1, high;\n}"
      : "=f"(c0), "=f"(c1)
      : "r"(pair));
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(alpha * second + beta * c1), "f"(alpha * first + beta * c0));
#else
  c0 = __uint_as_float(pair << 16);
  c1 = __uint_as_float(pair & 0xffff0000u);
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(alpha * second + beta * c1), "f"(alpha * first + beta * c0));
#endif
  return result;
}
#endif

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(384, 1)
    gemm(const __grid_constant__ TileMap a, const __grid_constant__ TileMap b, const OF_C c, OF_C out,
         const float alpha, const float beta, const uint rows, const uint columns, const uint inner PLACES) {
  GO_TO_PLACES;
  extern __shared__ unsigned char local_memory[];
  const uint ring = (local_address(local_memory) + 1023) & ~1023u;
  const uint barriers = ring + RING_BYTES;
  const uint group = rank_in_cluster(), item = threadIdx.x % 128, lane = item % 32, warp = item / 32;
  const uint role = threadIdx.x / 128;
#ifdef TF32
  const uint narrow_tiles = (columns + CLUSTER * NARROW - 1) / (CLUSTER * NARROW),
             wide_tiles = (rows + WIDE - 1) / WIDE;
#else
  const uint narrow_tiles = (rows + CLUSTER * NARROW - 1) / (CLUSTER * NARROW),
             wide_tiles = (columns + WIDE - 1) / WIDE;
#endif
  const uint tiles = narrow_tiles * wide_tiles, strips = STRIPS;
  const uint first_tile = blockIdx.x / CLUSTER, tiles_at_once = gridDim.x / CLUSTER;

  make_ring(barriers);
  cluster_barrier();

  Ring at;
  if (role == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (warp == 0) {
      for (uint index = first_tile; index < tiles; index += tiles_at_once) {
        const Tile tile(index, narrow_tiles, wide_tiles);
        for (uint strip = 0; strip < strips; ++strip, at.advance()) {
          wait_for(EMPTY(at.stage), at.round ^ 1);
          if (lane == 0) {
            const uint narrow = ring + at.stage * STAGE_BYTES, wide = narrow + NARROW_BYTES, full = FULL(at.stage);
            const uint k = strip * DEPTH;
            arrive_expecting(full, STAGE_BYTES);
#ifdef TF32
            for (uint box = 0; box < NARROW / 32; ++box)
              copy_tile(narrow + box * BOX_BYTES, b, tile.narrow + 32 * box, k, full);
            copy_tile_to_all(wide + group * (WIDE_BYTES / CLUSTER), a, k, tile.wide + group * (WIDE / CLUSTER), full);
#else
            copy_tile(narrow, a, k, tile.narrow, full);
            for (uint box = 0; box < WIDE_BYTES / BOX_BYTES; ++box)
              copy_tile_to_all(wide + box * BOX_BYTES + group * (BOX_BYTES / CLUSTER), b, tile.wide + 64 * box,
                               k + group * (DEPTH / CLUSTER), full);
#endif
          }
          __syncwarp();
          if (IS_PREFETCHED_AT(strip, strips)) {
#ifdef TF32
            prefetch(c, tile.wide, tile.narrow, WIDE, NARROW, rows, columns, C_PITCH);
#else
            prefetch(c, tile.narrow, tile.wide, NARROW, WIDE, rows, columns, C_PITCH);
#endif
          }
        }
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const uint consumer = role - 1;
    float sum[SUMS];
#define RELEASE(stage) \
  if (lane < CLUSTER) arrive_at(EMPTY(stage), lane)
    for (uint index = first_tile; index < tiles; index += tiles_at_once) {
      const Tile tile(index, narrow_tiles, wide_tiles);
      uint before = 0;  // the stage still being multiplied
#ifdef TF32
      // B's part goes through registers: this work item's two columns 2 g and 2 g + 1 of the warp's 16 are rows g and g
      // + 8 of a fragment of B^T, inner indices t and t + 4 of eight its columns. Half of the lanes take t + 4 first,
      // which avoids bank conflicts.
      const uint g = lane / 4, t = lane % 4, turned = g / 2 % 2;
      const uint chunk = 4 * (warp % 2) + g / 2;
      const uint box = consumer * 2 + warp / 2;
      const uint first_k = turned ? t + 4 : t, second_k = turned ? t : t + 4;
      const uint first = box * BOX_BYTES + first_k * ROW_BYTES + ((chunk ^ first_k) * 16 + g % 2 * 8);
      const uint second = box * BOX_BYTES + second_k * ROW_BYTES + ((chunk ^ second_k) * 16 + g % 2 * 8);
      uint from_b[2][4][4];
#define TAKE(to, place)                                                                            \
  {                                                                                                \
    uint x0, x1, y0, y1;                                                                           \
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x0), "=r"(x1) : "r"((place) + first));  \
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(y0), "=r"(y1) : "r"((place) + second)); \
    to[0] = turned ? y0 : x0;                                                                      \
    to[1] = turned ? y1 : x1;                                                                      \
    to[2] = turned ? x0 : y0;                                                                      \
    to[3] = turned ? x1 : y1;                                                                      \
    _Pragma("unroll") for (int i = 0; i < 4; ++i) asm volatile("" : "+r"(to[i])::"memory");        \
  }
#define STRIP(f, is_first)                                                                                         \
  {                                                                                                                \
    const uint narrow = ring + at.stage * STAGE_BYTES;                                                             \
    const ulong wide = tile_descriptor(narrow + NARROW_BYTES, 16, 1024);                                           \
    wait_for(FULL(at.stage), at.round);                                                                            \
    _Pragma("unroll") for (int s = 0; s < 4; ++s) TAKE(from_b[f][s], narrow + s * 8 * ROW_BYTES);                  \
    begin_products();                                                                                              \
    _Pragma("unroll") for (int s = 0; s < 4; ++s) multiply(sum, from_b[f][s], wide + 2 * s, s > 0 || !(is_first)); \
    end_products();                                                                                                \
    products_left<1>();                                                                                            \
    if (!(is_first)) RELEASE(before);                                                                              \
    before = at.stage;                                                                                             \
    at.advance();                                                                                                  \
  }
      for (uint strip = 0; strip < strips; strip += 2) {
        STRIP(0, strip == 0);
        STRIP(1, false);
      }
#else
      for (uint strip = 0; strip < strips; ++strip) {
        const uint place = ring + at.stage * STAGE_BYTES;
        const ulong narrow = tile_descriptor(place + consumer * (NARROW_BYTES / 2), 16, 1024);
        const ulong wide = tile_descriptor(place + NARROW_BYTES, BOX_BYTES, 1024);
        wait_for(FULL(at.stage), at.round);
        begin_products();
#pragma unroll
        for (int s = 0; s < 4; ++s) multiply(sum, narrow + 2 * s, wide + 128 * s, s > 0 || strip > 0);
        end_products();
        products_left<1>();
        if (strip > 0) RELEASE(before);
        before = at.stage;
        at.advance();
      }
#endif
      products_left<0>();
      RELEASE(before);

#ifdef TF32
      const uint column = tile.narrow + consumer * 64 + warp * 16 + 2 * g;
#pragma unroll
      for (int j = 0; j < WIDE / 8; j += 4) {
        float2 from_c[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const uint row = tile.wide + (j + i / 2) * 8 + 2 * t + i % 2;
          const float* at_c = c + (size_t)row * C_PITCH + column;
          from_c[i] = make_float2(0, 0);
#ifdef ALIGNED
          if (row < rows && column < columns) from_c[i] = *(const float2*)at_c;
#else
          if (row < rows && column < columns) from_c[i].x = at_c[0];
          if (row < rows && column + 1 < columns) from_c[i].y = at_c[1];
#endif
        }
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const uint row = tile.wide + (j + i / 2) * 8 + 2 * t + i % 2;
          float* at_out = out + (size_t)row * C_PITCH + column;
          const float x = alpha * sum[4 * (j + i / 2) + i % 2] + beta * from_c[i].x;
          const float y = alpha * sum[4 * (j + i / 2) + 2 + i % 2] + beta * from_c[i].y;
#ifdef ALIGNED
          if (row < rows && column < columns) *(float2*)at_out = make_float2(x, y);
#else
          if (row < rows && column < columns) at_out[0] = x;
          if (row < rows && column + 1 < columns) at_out[1] = y;
#endif
        }
      }
#else
      // Through local memory, a warp's 16 rows by 32 columns at a time, to whole chunks of C's rows.
#define SPACE 40  // of a row in between; avoids bank conflicts of writes
      float* between = (float*)(local_memory + (ring - local_address(local_memory)) + RING_BYTES + 128) +
                       (consumer * 4 + warp) * (16 * SPACE);
      const uint first_row = tile.narrow + consumer * 64 + warp * 16;
#pragma unroll
      for (int part = 0; part < WIDE / 32; ++part) {
        const uint first_column = tile.wide + part * 32;
#if defined(ALIGNED) && !defined(PARTS)
        uint4 from_c[2];
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const uint row = first_row + 8 * h + lane / 4, column = first_column + lane % 4 * 8;
          from_c[h] = make_uint4(0, 0, 0, 0);
          if (row < rows && column < columns) from_c[h] = *(const uint4*)(c + (size_t)row * columns + column);
        }
#endif
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          float* to = between + lane / 4 * SPACE + j * 8 + lane % 4 * 2;
          *(float2*)to = make_float2(sum[16 * part + 4 * j], sum[16 * part + 4 * j + 1]);
          *(float2*)(to + 8 * SPACE) = make_float2(sum[16 * part + 4 * j + 2], sum[16 * part + 4 * j + 3]);
        }
        __syncwarp();
#if defined(ALIGNED) && !defined(PARTS)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const uint row = first_row + 8 * h + lane / 4, column = first_column + lane % 4 * 8;
          const float* from = between + (8 * h + lane / 4) * SPACE + lane % 4 * 8;
          const uint odd = lane / 4 % 2;  // takes its second half first, to avoid bank conflicts
          const float4 one = *(const float4*)(from + 4 * odd), other = *(const float4*)(from + 4 * (1 - odd));
          const float4 low = odd ? other : one, high = odd ? one : other;
          uint4 result;
          result.x = combine(low.x, low.y, from_c[h].x, alpha, beta);
          result.y = combine(low.z, low.w, from_c[h].y, alpha, beta);
          result.z = combine(high.x, high.y, from_c[h].z, alpha, beta);
          result.w = combine(high.z, high.w, from_c[h].w, alpha, beta);
          if (row < rows && column < columns) *(uint4*)(out + (size_t)row * columns + column) = result;
        }
#else
        const uint column = first_column + lane;
#pragma unroll
        for (int half_of_rows = 0; half_of_rows < 2; ++half_of_rows) {
          Result from_c[8];
#pragma unroll
          for (int i = 0; i < 8; ++i) {
            const uint row = first_row + half_of_rows * 8 + i;
            from_c[i] = row < rows && column < columns ? c[(size_t)row * C_PITCH + column] : (Result)0;
          }
#pragma unroll
          for (int i = 0; i < 8; ++i) {
            const uint row = first_row + half_of_rows * 8 + i;
            const float value = between[(half_of_rows * 8 + i) * SPACE + lane];
#ifdef PARTS
            const float result = alpha * value + beta * from_c[i];
#else
            const ushort result = (ushort)combine(value, 0, from_c[i], alpha, beta);
#endif
            if (row < rows && column < columns) out[(size_t)row * C_PITCH + column] = result;
          }
        }
#endif
        __syncwarp();
      }
#endif
    }
  }
  cluster_barrier();  // a group's barriers exist until the other has last arrived at them
}

#endif

// Copies rows of `bytes` each, contiguous, to rows `pitch` chunks of 16 bytes apart, as the copy engine requires.
extern "C" __global__ void __launch_bounds__(256) repack(const unsigned char* __restrict__ from, uint4* __restrict__ to,
                                                         const uint bytes, const uint pitch, const uint rows) {
  const uint row = blockIdx.x;
  const size_t begin = (size_t)row * bytes, all = (size_t)rows * bytes;
  const uint4* chunks = (const uint4*)(from + begin / 16 * 16);
  const uint shift = begin % 4 * 8, first = begin % 16 / 4;
  for (uint i = threadIdx.x; i < (bytes + 15) / 16; i += 256) {
    uint4* there = to + (size_t)row * pitch + i;
    if (begin / 16 * 16 + 16 * ((size_t)i + 2) <= all) {
      const uint4 one = chunks[i], next = chunks[i + 1];
      uint w0 = one.x, w1 = one.y, w2 = one.z, w3 = one.w, w4 = next.x;
      if (first == 1) w0 = one.y, w1 = one.z, w2 = one.w, w3 = next.x, w4 = next.y;
      if (first == 2) w0 = one.z, w1 = one.w, w2 = next.x, w3 = next.y, w4 = next.z;
      if (first == 3) w0 = one.w, w1 = next.x, w2 = next.y, w3 = next.z, w4 = next.w;
      *there = make_uint4(__funnelshift_r(w0, w1, shift), __funnelshift_r(w1, w2, shift),
                          __funnelshift_r(w2, w3, shift), __funnelshift_r(w3, w4, shift));
    } else {
      for (uint j = 16 * i; j < min(16 * i + 16, bytes); ++j) ((unsigned char*)there)[j - 16 * i] = from[begin + j];
    }
  }
}
