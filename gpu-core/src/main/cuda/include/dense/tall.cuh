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
#include "arithmetic.cuh"
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
  long long all;     // tiles of A, of which `tiles` are taken
  int32_t tiles;
  int32_t count;  // of parts
  int32_t ld;
  int32_t n;
  int32_t blocks;  // NC
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

__device__ __forceinline__ void tall_copy_one(double* to, const double* from) {
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(place), "l"(from) : "memory");
}

/** Waits for what this thread has asked for. */
__device__ __forceinline__ void tall_arrived() {
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
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

/** sum + lost += x, what rounding takes from the sum in `lost`. */
__device__ __forceinline__ void tall_two_sum(double& sum, double& lost, double x) {
  const double s = sum + x, y = s - sum;
  lost += (sum - (s - y)) + (x - y);
  sum = s;
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

/** Adds the parts up, with what addition loses: four warps' groups, a quarter of the parts each. Grid: blocks of 16 x 8. */
__device__ __forceinline__ void tall_sum(const SparqrTall& p) {
  __shared__ double sums[4][128], rest[4][128];
  if (*p.state != 0) {
    return;
  }
  const int padded = SPARQR_TALL_BLOCK * p.blocks, n8 = padded / 8;
  const int quarter = threadIdx.x >> 7, place = threadIdx.x & 127;
  const double* from = p.parts + blockIdx.x * 128 + place;
  const long long step = static_cast<long long>(gridDim.x) * 128;
  double sum = 0, lost = 0;
#pragma unroll 8
  for (int k = quarter; k < p.count; k += 4) {
    tall_two_sum(sum, lost, from[k * step]);
  }
  sums[quarter][place] = sum;
  rest[quarter][place] = lost;
  __syncthreads();
  if (quarter > 0) {
    return;
  }
  for (int k = 1; k < 4; k++) {
    tall_two_sum(sum, lost, sums[k][place]);
    lost += rest[k][place];
  }
  int m = 0, n = blockIdx.x;
  while (n >= n8 - 2 * m) {
    n -= n8 - 2 * m;
    m++;
  }
  n += 2 * m;
  const int i = place >> 5, g = (place & 31) >> 2, t = place & 3;
  const int row = 16 * m + g + 8 * (i >> 1), column = 8 * n + 2 * t + (i & 1);
  // a column of padding is one of the identity
  p.gram[row * padded + column] = row == column && row >= p.n ? 1 : sum + lost;
}

/** Distance of rows of 48 in shared memory. */
constexpr int SPARQR_TALL_STEP = SPARQR_TALL_BLOCK + 4;

constexpr int SPARQR_TALL_SQUARE = SPARQR_TALL_BLOCK * SPARQR_TALL_STEP;

/** Block (i, j), i <= j, of those kept. */
__device__ __forceinline__ int tall_block(int blocks, int i, int j) { return i * blocks - i * (i - 1) / 2 + j - i; }

/** The reciprocal to the last bits, of numbers that are neither tiny nor huge. */
__device__ __forceinline__ double tall_reciprocal(double x) {
  double y = approximate_reciprocal(x);
  y = fma(y, fma(-x, y, 1.0), y);
  return fma(y, fma(-x, y, 1.0), y);
}

/**
 * Eliminates a block of 48 in place, all threads, two pivots a step: above the diagonal what is left of G, below it the
 * inverse of the unit lower triangle, which grows where zeros are made, with I in its diagonal blocks of two. A thread has
 * rows r, r + 8, .. of a column.
 */
__device__ __forceinline__ void tall_eliminate(double* square, double (&pair)[2][2][SPARQR_TALL_BLOCK]) {
  constexpr int B = SPARQR_TALL_BLOCK, EACH = B * B / SPARQR_TALL_THREADS;
  const int j = threadIdx.x % B, r = threadIdx.x / B;
  double mine[EACH];
#pragma unroll
  for (int q = 0; q < EACH; q++) {
    const int i = r + 8 * q;
    mine[q] = j >= i ? square[i * SPARQR_TALL_STEP + j] : 0;
  }
  if (r < 2) {
    pair[0][r][j] = mine[0];
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < B - 2; k += 2) {
    const double (&its)[2][B] = pair[k / 2 % 2];
    const double p0 = its[0][k], p1 = its[0][k + 1], p3 = its[1][k + 1];
    const double y = tall_reciprocal(fma(p0, p3, -p1 * p1));
    const double b0 = j == k ? 1 : j == k + 1 ? 0 : its[0][j];
    const double b1 = j == k + 1 ? 1 : j == k ? 0 : its[1][j];
    const double f0 = -y * fma(p3, b0, -p1 * b1), f1 = -y * fma(p0, b1, -p1 * b0);
#pragma unroll
    for (int q = k / 8; q < EACH; q++) {
      const int i = r + 8 * q;
      if (i > k + 1 && (j >= i || j <= k + 1)) {
        mine[q] = fma(its[0][i], f0, fma(its[1][i], f1, mine[q]));
      }
      if (q == (k + 2) / 8 && i - k - 2 >= 0 && i - k - 2 < 2) {
        pair[(k / 2 + 1) % 2][i - k - 2][j] = mine[q];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int q = 0; q < EACH; q++) {
    square[(r + 8 * q) * SPARQR_TALL_STEP + j] = mine[q];
  }
  __syncthreads();
}

/** chol(G) and the inverses of its diagonal blocks. One block; shared memory for the blocks and one more. */
__device__ __forceinline__ void tall_cholesky(const SparqrTall& p) {
  extern __shared__ __align__(16) double shared[];
  __shared__ double pair[2][2][SPARQR_TALL_BLOCK], part[SPARQR_TALL_BLOCK], root[SPARQR_TALL_BLOCK], scale[SPARQR_TALL_BLOCK];
  constexpr int B = SPARQR_TALL_BLOCK, S = SPARQR_TALL_STEP;
  if (*p.state != 0) {
    return;
  }
  const int blocks = p.blocks, n = B * blocks;
  const int warp = threadIdx.x >> 5, g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
  const int column = threadIdx.x % B, first = threadIdx.x / B;
  double* lower = shared + SPARQR_TALL_SQUARE * (blocks * (blocks + 1) / 2);  // U^-T
  for (int i = 0; i < blocks; i++) {
    for (int j = i; j < blocks; j++) {
      double* to = shared + SPARQR_TALL_SQUARE * tall_block(blocks, i, j);
      for (int e = threadIdx.x; e < B * B / 2; e += SPARQR_TALL_THREADS) {
        const int its = e / (B / 2), pair = 2 * (e % (B / 2));
        tall_copy(to + its * S + pair, p.gram + (B * i + its) * n + B * j + pair, 16);
      }
    }
  }
  tall_arrived();
  __syncthreads();
  for (int step = 0; step < blocks; step++) {
    double* square = shared + SPARQR_TALL_SQUARE * tall_block(blocks, step, step);
    tall_eliminate(square, pair);
    if (threadIdx.x < B) {
      // the second row of a pair less its part of the first
      const int i = threadIdx.x;
      const double* its = square + i * S;
      const double* above = its - S;
      const bool odd = i % 2 == 1;
      part[i] = odd ? above[i] / above[i - 1] : 0;
      const double pivot = its[i] - (odd ? part[i] * above[i] : 0);
      root[i] = sqrt(pivot);
      scale[i] = 1 / root[i];
      const double diagonal = p.gram[(step * B + i) * (n + 1)];
      p.measures[step * B + i] = pivot / diagonal;
      p.measures[2 * n + step * B + i] = diagonal;
      if (!(pivot >= p.least * diagonal)) {
        atomicOr(p.state, p.substitutes != 0 ? SPARQR_TALL_DEPARTED : SPARQR_TALL_DEPENDENT);
      }
    }
    __syncthreads();
    double kept[B / 8];
#pragma unroll
    for (int q = 0; q < B / 8; q++) {
      const int i = first + 8 * q;
      const double* its = square + i * S;
      double value = i % 2 == 1 ? its[column] - part[i] * its[column - S] : its[column];
      value = column == i ? 1 : column == i - 1 && i % 2 == 1 ? -part[i] : value;
      lower[i * S + column] = column > i ? 0 : value * scale[i];
      kept[q] = column < i ? 0 : column == i ? root[i] : value * scale[i];
      p.inverse[(step * B + i) * B + column] = column > i ? 0 : value * scale[i];
    }
    __syncthreads();
#pragma unroll
    for (int q = 0; q < B / 8; q++) {
      square[(first + 8 * q) * S + column] = kept[q];
    }
    __syncthreads();
    // the block row: U^-T G
    const int tiles = 18 * (blocks - 1 - step);
    double d[5][4];
#pragma unroll
    for (int s = 0; s < 5; s++) {
      const int its = warp + SPARQR_TALL_WARPS * s;
      d[s][0] = d[s][1] = d[s][2] = d[s][3] = 0;
      if (its < tiles) {
        const double* from = square + SPARQR_TALL_SQUARE * (1 + its / 18);
        const int m = its % 18 / 6, nb = its % 6;
        for (int k = 0; k <= m; k++) {
          double a[8], b[4];
          tall_left(a, lower + 16 * m * S + 16 * k, S);
#pragma unroll
          for (int i = 0; i < 4; i++) {
            b[i] = from[(16 * k + t + 4 * i) * S + 8 * nb + g];
          }
          mma_16x8x16(d[s], a, b);
        }
      }
    }
    __syncthreads();
#pragma unroll
    for (int s = 0; s < 5; s++) {
      const int its = warp + SPARQR_TALL_WARPS * s;
      if (its < tiles) {
        double* to = square + SPARQR_TALL_SQUARE * (1 + its / 18) + (its % 18 / 6 * 16 + g) * S + its % 6 * 8 + 2 * t;
        to[0] = d[s][0];
        to[1] = d[s][1];
        to[8 * S] = d[s][2];
        to[8 * S + 1] = d[s][3];
      }
    }
    __syncthreads();
    // what is left: G - P'P
    const int left = blocks - 1 - step;
    for (int its = warp; its < 18 * left * (left + 1) / 2; its += SPARQR_TALL_WARPS) {
      int i = step + 1, j = its / 18;
      while (j >= blocks - i) {
        j -= blocks - i;
        i++;
      }
      j += i;
      const int m = its % 18 / 6, nb = its % 6;
      if (i == j && nb < 2 * m) {
        continue;
      }
      const double* x = shared + SPARQR_TALL_SQUARE * tall_block(blocks, step, i) + 16 * m + g;
      const double* y = shared + SPARQR_TALL_SQUARE * tall_block(blocks, step, j) + 8 * nb + g;
      double c[4] = {0, 0, 0, 0};
#pragma unroll
      for (int k = 0; k < 3; k++) {
        double a[8], b[4];
#pragma unroll
        for (int e = 0; e < 8; e++) {
          a[e] = x[(16 * k + t + 4 * (e >> 1)) * S + 8 * (e & 1)];
        }
#pragma unroll
        for (int e = 0; e < 4; e++) {
          b[e] = y[(16 * k + t + 4 * e) * S];
        }
        mma_16x8x16(c, a, b);
      }
      double* to = shared + SPARQR_TALL_SQUARE * tall_block(blocks, i, j) + (16 * m + g) * S + 8 * nb + 2 * t;
      to[0] -= c[0];
      to[1] -= c[1];
      to[8 * S] -= c[2];
      to[8 * S + 1] -= c[3];
    }
    __syncthreads();
  }
  for (int i = 0; i < blocks; i++) {
    for (int j = 0; j < blocks; j++) {
      const double* from = shared + SPARQR_TALL_SQUARE * tall_block(blocks, min(i, j), j);
      // by columns
#pragma unroll
      for (int q = 0; q < B / 8; q++) {
        p.factor[(B * j + first + 8 * q) * n + B * i + column] = i > j ? 0 : from[column * S + first + 8 * q];
      }
    }
  }
}

/** X + X (I - U X) for the inverse X of U, with what is lost in U X. The part below the diagonal is used meanwhile. */
__device__ __forceinline__ void tall_refine(const double* u, double* x) {
  constexpr int B = SPARQR_TALL_BLOCK, S = B + 1, EACH = B / 8;
  const int column = threadIdx.x % B, first = threadIdx.x / B;
#pragma unroll
  for (int q = 0; q < EACH; q++) {
    // opposite ends in turn, so that every thread has as much to do
    const int i = q % 2 == 0 ? first + 8 * q : 8 * q + 7 - first;
    double sum = i == column ? -1 : 0, lost = 0;
    for (int k = i; k <= column; k++) {
      const double a = u[i * S + k], b = x[k * S + column], product = a * b;
      lost += fma(a, b, -product);
      tall_two_sum(sum, lost, product);
    }
    if (i <= column) {
      x[(column + 1) * S + i] = -(sum + lost);
    }
  }
  __syncthreads();
  double better[EACH];
#pragma unroll
  for (int q = 0; q < EACH; q++) {
    const int i = first + 8 * q;
    double sum = 0;
    for (int k = i; k <= column; k++) {
      sum = fma(x[i * S + k], x[(column + 1) * S + k], sum);
    }
    better[q] = i > column ? 0 : x[i * S + column] + sum;
  }
  __syncthreads();
#pragma unroll
  for (int q = 0; q < EACH; q++) {
    x[(first + 8 * q) * S + column] = better[q];
  }
  __syncthreads();
}

/** R_0 from its columns: fragments of the pass, its rows, and the growth in its diagonal blocks. Grid: blocks (i, j), i <= j. */
__device__ __forceinline__ void tall_pack(const SparqrTall& p) {
  constexpr int B = SPARQR_TALL_BLOCK, S = B + 1;
  __shared__ double u[B * S], x[(B + 1) * S];
  if (*p.state != 0) {
    return;
  }
  const int n = B * p.blocks, column = threadIdx.x % B, first = threadIdx.x / B;
  int i = 0, j = blockIdx.x;
  while (j >= p.blocks - i) {
    j -= p.blocks - i;
    i++;
  }
  j += i;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  double values[B / 8], inverses[B / 8];
#pragma unroll
  for (int q = 0; q < B / 8; q++) {
    values[q] = p.factor[(B * j + first + 8 * q) * n + B * i + column];
    inverses[q] = i == j ? p.inverse[(B * j + first + 8 * q) * B + column] : 0;
  }
#pragma unroll
  for (int q = 0; q < B / 8; q++) {
    u[column * S + first + 8 * q] = values[q];
    x[column * S + first + 8 * q] = inverses[q];
  }
  __syncthreads();
#pragma unroll
  for (int q = 0; q < B / 8; q++) {
    p.start[(B * i + first + 8 * q) * n + B * j + column] = u[(first + 8 * q) * S + column];
  }
  if (i == j) {
    tall_refine(u, x);
    // four columns a warp
    constexpr int EACH = B / SPARQR_TALL_WARPS;
    const bool has = lane + 32 < B;
    double low[EACH], high[EACH], square[EACH];
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      const int k = warp * EACH + e;
      low[e] = fabs(u[lane * S + k]);
      high[e] = has ? fabs(u[(lane + 32) * S + k]) : 0;
      square[e] = low[e] * low[e] + high[e] * high[e];
    }
    for (int times = 0; times < 2; times++) {
      const double* by = times == 0 ? x : u;
      double l[EACH] = {}, h[EACH] = {};
      for (int r = 0; r < B; r++) {
        const double upper = fabs(by[lane * S + r]), down = has ? fabs(by[(lane + 32) * S + r]) : 0;
#pragma unroll
        for (int e = 0; e < EACH; e++) {
          const double value = __shfl_sync(~0u, r < 32 ? low[e] : high[e], r & 31);
          l[e] += upper * value;
          h[e] += down * value;
        }
      }
#pragma unroll
      for (int e = 0; e < EACH; e++) {
        low[e] = l[e];
        high[e] = h[e];
      }
    }
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      double grown = low[e] * low[e] + high[e] * high[e];
      for (int d = 16; d > 0; d >>= 1) {
        grown += __shfl_xor_sync(~0u, grown, d);
        square[e] += __shfl_xor_sync(~0u, square[e], d);
      }
      const double ratio = sqrt(grown / square[e]);
      if (lane == 0) {
        p.measures[n + B * j + warp * EACH + e] = ratio;
        if (!(ratio <= p.most)) {
          atomicOr(p.state, SPARQR_TALL_GROWN);
        }
      }
    }
  }
  const double* from = i == j ? x : u;
  const double sign = i == j ? 1 : -1;
  double* to = p.fragments + 128ll * (9 * j * (j - 1) + 18 * j + 18 * i);
  for (int f = threadIdx.x; f < 18 * 128; f += SPARQR_TALL_THREADS) {
    const int fragment = f / 128, half = f / 64 % 2, its = f / 2 % 32, which = f % 2;
    const int row = 16 * (fragment / 6) + its % 4 + 4 * (2 * half + which), column = 8 * (fragment % 6) + its / 4;
    to[f] = sign * from[row * S + column];
  }
}

/**
 * R = chol(G) R_0, a warp a column, and the squares of chol(G)^-1, others. Grid: padded columns / 2, blocks of 128; shared
 * memory for the triangle.
 */
__device__ __forceinline__ void tall_finish(const SparqrTall& p) {
  extern __shared__ __align__(16) double shared[];  // chol(G), column after column
  __shared__ double inverse[SPARQR_TALL_MOST];
  if (*p.state != 0) {
    return;
  }
  const int n = SPARQR_TALL_BLOCK * p.blocks, warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  constexpr int MOST = SPARQR_TALL_MOST / 32;
  for (int k = warp; k < n; k += 4) {
    for (int i = lane; i <= k; i += 32) {
      tall_copy_one(shared + k * (k + 1) / 2 + i, p.factor + k * n + i);
    }
  }
  tall_arrived();
  __syncthreads();
  for (int k = threadIdx.x; k < n; k += 128) {
    inverse[k] = 1 / shared[k * (k + 3) / 2];
  }
  __syncthreads();
  const int first = 4 * blockIdx.x % n, j = first + warp;
  double x[MOST];
  if (4 * blockIdx.x >= n) {
#pragma unroll
    for (int c = 0; c < MOST; c++) {
      x[c] = 0;
    }
    double next = p.start[j];
    for (int k = 0; k <= j; k++) {
      const double f = next;
      next = k < j ? p.start[(k + 1) * n + j] : 0;
      const double* its = shared + k * (k + 1) / 2 + lane;
#pragma unroll
      for (int c = 0; c < MOST; c++) {
        if (lane + 32 * c <= k) {
          x[c] += its[32 * c] * f;
        }
      }
    }
#pragma unroll
    for (int c = 0; c < MOST; c++) {
      const int i = lane + 32 * c;
      if (j < p.n && i <= j) {
        p.out[i * (2 * p.n - i - 1) / 2 + j] = x[c];
      }
    }
    return;
  }
#pragma unroll
  for (int c = 0; c < MOST; c++) {
    x[c] = lane + 32 * c == j ? 1 : 0;
  }
  double square = 0;
#pragma unroll
  for (int c = MOST - 1; c >= 0; c--) {
    for (int k = min(j, 32 * c + 31); k >= 32 * c; k--) {
      const double* its = shared + k * (k + 1) / 2 + lane;
      const double value = __shfl_sync(~0u, x[c], k & 31) * inverse[k];
      square += value * value;
#pragma unroll
      for (int b = 0; b <= c; b++) {
        if (lane + 32 * b < k) {
          x[b] -= its[32 * b] * value;
        }
      }
    }
  }
  if (lane == 0) {
    p.measures[3 * n + j] = square;
  }
}
#endif
