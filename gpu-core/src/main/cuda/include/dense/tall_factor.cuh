/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// What becomes of the Gram matrix of a tall matrix' rows (dense/tall.cuh): the sum of its parts, its Cholesky factor by blocks
// of 48 columns, the form in which the next pass takes that, and R with what it is worth. One block, or few, of which each
// thread waits for memory: so what is read comes by asynchronous copies.
#pragma once
#include "arithmetic.cuh"
#include "dense/tall.cuh"

#ifndef SPARQR_HOST
__device__ __forceinline__ void tall_copy_one(double* to, const double* from) {
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(place), "l"(from) : "memory");
}

/** Waits for what this thread has asked for. */
__device__ __forceinline__ void tall_arrived() {
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
}

/** sum + lost += x, what rounding takes from the sum in `lost`. */
__device__ __forceinline__ void tall_two_sum(double& sum, double& lost, double x) {
  const double s = sum + x, y = s - sum;
  lost += (sum - (s - y)) + (x - y);
  sum = s;
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

/** R_0 from its columns: fragments of the pass, its rows, the growth in its diagonal blocks. Grid: blocks (i, j), i <= j. */
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
