/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// R of a tall matrix A of at most 192 columns by Cholesky QR with a preconditioner from a sample of its rows: R_0 from the
// Gram matrix of the sample, then in one pass over all rows Q_1 = A R_0^-1 and its Gram matrix G, which is near I, and
// R = chol(G) R_0 (docs/design/kernels.md, "Dense matrices"). A is read once, nothing of it is written; what the result is
// worth is measured, and the host decides whether it is taken:
//   - Q_1 by substitution over column blocks of 48, whose diagonal blocks are inverted: of each column k of such a block U
//     the growth || |U| |U^-1| |U| e_k || / ||U e_k||, of which rounding errors in A are a small multiple;
//   - the trace of G and of G^-1, which bound the singular values of Q_1.
// Columns are padded to NC blocks of 48, with R_0 = I there.
//
// A block of 384 threads has a part of the rows, in tiles of 64 in shared memory, twice: while one is worked at, the next
// arrives. In the pass its 12 warps are four rows of 16 by three columns of 16 of a block; for G each has SLOTS of the
// blocks of 16 x 8 at or above the diagonal, in registers from the first row to the last. The number of parts does not
// depend on the device, so nor do bits.
#pragma once
#include "mma.cuh"
#include "task_layout.cuh"

constexpr int SPARQR_TALL_BLOCK = 48;  // columns
constexpr int SPARQR_TALL_ROWS = 64;
constexpr int SPARQR_TALL_WARPS = 12;
constexpr int SPARQR_TALL_THREADS = 384;
constexpr int SPARQR_TALL_SUM_THREADS = 512;
constexpr int SPARQR_TALL_MOST = 192;  // columns
constexpr int SPARQR_TALL_FLUSH = 2;   // tiles whose sums are in registers

/** For NC blocks of columns. */
template <int NC>
struct Tall {
  static constexpr int COLUMNS = SPARQR_TALL_BLOCK * NC;
  static constexpr int STRIDE = COLUMNS + 4;  // of a row in shared memory: no bank conflicts of either operand
  static constexpr int N8 = COLUMNS / 8;
  static constexpr int M16 = COLUMNS / 16;
  static constexpr int BLOCKS = 9 * NC * NC + 3 * NC;  // of 16 x 8, not all below the diagonal
  static constexpr int SLOTS = (BLOCKS + SPARQR_TALL_WARPS - 1) / SPARQR_TALL_WARPS;
  static constexpr int BYTES = 2 * SPARQR_TALL_ROWS * STRIDE * 8;
};

/** The launches' parameter; written by io.sparqr.backend.cuda.resident.TallGram. */
struct SparqrTall {
  const double* a;
  double* parts;      // of G, by part, block, and place in a fragment
  double* gram;       // padded columns squared, row-major, upper
  double* factor;     // R_0 or chol(G), the same, by columns
  double* inverse;    // of its diagonal blocks, by columns
  double* fragments;  // of -R_0 and the inverse diagonal blocks, as the pass takes them
  double* start;      // R_0, row-major
  double* out;        // R, its n rows one after the other, from the diagonal on
  double* measures;   // by padded column: pivot over diagonal of G; growth; diagonal of G; square of the column of chol(G)^-1
  int* state;         // bits of SPARQR_TALL_*: what came before must not be used
  double least;       // of a pivot, over the diagonal of G
  double most;        // growth
  long long rows;
  long long all;      // tiles of A, of which `tiles` are taken
  int32_t tiles;
  int32_t count;        // of parts
  int32_t ld;
  int32_t n;
  int32_t blocks;       // NC
  int32_t substitutes;  // 0: of A itself
};
static_assert(sizeof(SparqrTall) == 136, "");

// A pivot of R_0 is too small, the growth is too large, or a pivot of chol(G) is too small.
constexpr int SPARQR_TALL_DEPENDENT = 1, SPARQR_TALL_GROWN = 2, SPARQR_TALL_DEPARTED = 4;

#ifndef SPARQR_HOST
__device__ __forceinline__ void tall_copy(double* to, const double* from, int bytes) {
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place), "l"(from), "r"(bytes) : "memory");
}

/** The first row of a tile that is taken: as far from the next one everywhere. */
__device__ __forceinline__ long long tall_row(const SparqrTall& p, int tile) {
  return tile * p.all / p.tiles * SPARQR_TALL_ROWS;
}

/** Asks for a tile's rows; those after the last are zero. */
template <int NC>
__device__ __forceinline__ void tall_load(const SparqrTall& p, double* tile, long long first) {
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int pairs = (p.n + 1) >> 1;
  for (int row = warp; row < SPARQR_TALL_ROWS; row += SPARQR_TALL_WARPS) {
    const bool there = first + row < p.rows;
    const double* from = p.a + (there ? first + row : 0) * p.ld;
    double* to = tile + row * Tall<NC>::STRIDE;
    for (int k = lane; k < pairs; k += 32) {
      tall_copy(to + 2 * k, from + 2 * k, there ? min(16, 8 * (p.n - 2 * k)) : 0);
    }
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
}

__device__ __forceinline__ void tall_sync_row(int row) { asm volatile("bar.sync %0, 96;" ::"r"(row + 1) : "memory"); }

/** A fragment of 16 rows from `row` on and 16 columns from `column` on. */
__device__ __forceinline__ void tall_left(double (&a)[8], const double* row, int stride) {
  const int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
#pragma unroll
  for (int i = 0; i < 8; i++) {
    a[i] = row[(g + 8 * (i & 1)) * stride + t + 4 * (i >> 1)];
  }
}

__device__ __forceinline__ void tall_right(double (&b)[4], const double* fragment) {
  const double2* from = reinterpret_cast<const double2*>(fragment) + (threadIdx.x & 31);
  const double2 x = __ldg(from), y = __ldg(from + 32);
  b[0] = x.x;
  b[1] = x.y;
  b[2] = y.x;
  b[3] = y.y;
}

/** The tile's rows of A become those of A R_0^-1. */
template <int NC>
__device__ __forceinline__ void tall_substitute(double* tile, const double* fragments) {
  constexpr int S = Tall<NC>::STRIDE;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int g = lane >> 2, t = lane & 3;
  const int row = warp / 3, third = warp % 3;
  double* rows = tile + 16 * row * S;
  const double* next = fragments + 2 * third * 128;
#pragma unroll
  for (int j = 0; j < NC; j++) {
    double* mine = rows + g * S + SPARQR_TALL_BLOCK * j + 16 * third + 2 * t;
    double c[2][4];
    if (j > 0) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        c[0][i] = mine[8 * (i >> 1) * S + (i & 1)];
        c[1][i] = mine[8 * (i >> 1) * S + 8 + (i & 1)];
      }
#pragma unroll 3
      for (int k = 0; k < 3 * j; k++) {
        double a[8], b[2][4];
        tall_right(b[0], next);
        tall_right(b[1], next + 128);
        tall_left(a, rows + 16 * k, S);
        mma_16x8x16(c[0], a, b[0]);
        mma_16x8x16(c[1], a, b[1]);
        next += 6 * 128;
      }
#pragma unroll
      for (int i = 0; i < 4; i++) {
        mine[8 * (i >> 1) * S + (i & 1)] = c[0][i];
        mine[8 * (i >> 1) * S + 8 + (i & 1)] = c[1][i];
      }
      tall_sync_row(row);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      c[0][i] = c[1][i] = 0;
    }
#pragma unroll
    for (int k = 0; k < 3; k++) {
      if (k <= third) {
        double a[8], b[2][4];
        tall_right(b[0], next + k * 6 * 128);
        tall_right(b[1], next + k * 6 * 128 + 128);
        tall_left(a, rows + SPARQR_TALL_BLOCK * j + 16 * k, S);
        mma_16x8x16(c[0], a, b[0]);
        mma_16x8x16(c[1], a, b[1]);
      }
    }
    next += 18 * 128;
    tall_sync_row(row);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      mine[8 * (i >> 1) * S + (i & 1)] = c[0][i];
      mine[8 * (i >> 1) * S + 8 + (i & 1)] = c[1][i];
    }
    if (j < NC - 1) {
      tall_sync_row(row);
    }
  }
}

/** Adds the tile's part of the Gram matrix. */
template <int NC>
__device__ __forceinline__ void tall_add(const double* tile, int m0, int n0, int slots, double (&d)[Tall<NC>::SLOTS][4]) {
  constexpr int S = Tall<NC>::STRIDE;
  const int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
  if (slots == 0) {
    return;
  }
#pragma unroll 1
  for (int k = 0; k < SPARQR_TALL_ROWS / 16; k++) {
    const double* rows = tile + (16 * k + t) * S + g;
    int m = m0, n = n0;
    double a[8];
#pragma unroll
    for (int i = 0; i < 8; i++) {
      a[i] = rows[4 * (i >> 1) * S + 16 * m + 8 * (i & 1)];
    }
#pragma unroll
    for (int s = 0; s < Tall<NC>::SLOTS; s++) {
      if (s < slots) {
        double b[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
          b[i] = rows[4 * i * S + 8 * n];
        }
        mma_16x8x16(d[s], a, b);
        if (++n == Tall<NC>::N8 && s + 1 < slots) {
          m++;
          n = 2 * m;
#pragma unroll
          for (int i = 0; i < 8; i++) {
            a[i] = rows[4 * (i >> 1) * S + 16 * m + 8 * (i & 1)];
          }
        }
      }
    }
  }
}

/**
 * Adds the sums of some tiles to the part's. Where columns are constant all roundings of a long sum go one way: so sums in
 * registers are of few rows, and a part has not many of them. One thread alone writes to a place, in its order.
 */
template <int NC>
__device__ __forceinline__ void tall_flush(double* part, int slots, bool first, double (&d)[Tall<NC>::SLOTS][4]) {
#pragma unroll
  for (int s = 0; s < Tall<NC>::SLOTS; s++) {
    if (s < slots) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        double* to = part + s * 128 + 32 * i;
        if (first) {
          *to = d[s][i];
        } else {
          asm volatile("red.relaxed.gpu.global.add.f64 [%0], %1;" ::"l"(to), "d"(d[s][i]) : "memory");
        }
        d[s][i] = 0;
      }
    }
  }
}

/** Gram matrix of a part of the rows, of A or of A R_0^-1. Grid: parts. */
template <int NC>
__device__ __forceinline__ void tall_pass(const SparqrTall& p) {
  using Its = Tall<NC>;
  extern __shared__ __align__(16) double shared[];
  if (*p.state != 0) {
    return;
  }
  double* tile = shared;
  double* other = shared + SPARQR_TALL_ROWS * Its::STRIDE;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  for (int i = threadIdx.x; i < Its::BYTES / 8; i += SPARQR_TALL_THREADS) {
    shared[i] = 0;
  }
  __syncthreads();
  int m0 = 0, n0 = warp * Its::SLOTS;
  const int slots = max(0, min(Its::SLOTS, Its::BLOCKS - n0));
  while (m0 < Its::M16 && n0 >= Its::N8 - 2 * m0) {
    n0 -= Its::N8 - 2 * m0;
    m0++;
  }
  n0 += 2 * m0;
  double d[Its::SLOTS][4];
#pragma unroll
  for (int s = 0; s < Its::SLOTS; s++) {
    d[s][0] = d[s][1] = d[s][2] = d[s][3] = 0;
  }
  const int from = static_cast<int>(static_cast<long long>(p.tiles) * blockIdx.x / p.count);
  const int to = static_cast<int>(static_cast<long long>(p.tiles) * (blockIdx.x + 1) / p.count);
  double* part = p.parts + (static_cast<long long>(blockIdx.x) * Its::BLOCKS + warp * Its::SLOTS) * 128 + lane;
  if (from < to) {
    tall_load<NC>(p, tile, tall_row(p, from));
  }
  for (int k = from; k < to; k++) {
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    if (k + 1 < to) {
      tall_load<NC>(p, other, tall_row(p, k + 1));
    }
    if (p.substitutes != 0) {
      tall_substitute<NC>(tile, p.fragments);
      __syncthreads();
    }
    tall_add<NC>(tile, m0, n0, slots, d);
    if (k + 1 == to || (k + 1 - from) % SPARQR_TALL_FLUSH == 0) {
      tall_flush<NC>(part, slots, k - from < SPARQR_TALL_FLUSH, d);
    }
    double* last = tile;
    tile = other;
    other = last;
  }
}
#endif
