/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Heath's method on one 32 x 32 tile: the live part of its triangle, and the orthogonal matrix that removes the rest.
#pragma once
#include "tile.cuh"

/** Shared memory of a panel's diagonal tile: R, and the orthogonal matrix that drops its dead columns. */
struct DropTile {
  double r[32][33], q[32][33];
  double v[32], tau, size, dropped[32];
  int lives, live, dead;
};
static_assert(sizeof(DropTile) == 17440, "");

/**
 * Heath's method on the triangle at t.r: afterwards rows [0, live) have a pivot and rows [live, width) are zero in
 * columns [0, width); t.q is the product of the reflectors. Columns before `first` are live and in place, columns >=
 * `tested` are live without a test.
 */
__device__ __forceinline__ void heath_tile(DropTile& t, int first, int width, int tested, double tolerance) {
  const int lane = threadIdx.x & 31, j = threadIdx.x;
  for (int i = threadIdx.x; i < 1024; i += SPARQR_THREADS) {
    t.q[i >> 5][i & 31] = (i >> 5) == (i & 31) ? 1 : 0;
  }
  if (threadIdx.x == 0) {
    t.dead = 0;
  }
  int g = first;
  for (int k = first; k < width; k++) {
    __syncthreads();
    if (threadIdx.x < 32) {
      const double x = lane >= g && lane < width ? t.r[lane][k] : 0.0;
      double largest = fabs(x);
      for (int step = 16; step > 0; step >>= 1) {
        largest = fmax(largest, __shfl_xor_sync(~0u, largest, step));
      }
      const double part = largest > 0 ? x / largest : x;
      double sum = part * part;
      for (int step = 16; step > 0; step >>= 1) {
        sum += __shfl_xor_sync(~0u, sum, step);
      }
      const double norm = largest > 0 ? largest * sqrt(sum) : sum;
      const bool dead = k < tested && norm <= tolerance;
      const double alpha = t.r[g][k];
      const double beta = -copysign(norm, alpha);
      const double pivot = alpha - beta;
      const bool still = dead || norm == 0;
      t.v[lane] = still || lane < g ? 0.0 : lane == g ? 1.0 : x / pivot;
      if (lane == 0) {
        t.tau = still ? 0.0 : (beta - alpha) / beta;
        t.size = beta;
        t.lives = !dead;
        t.dead |= static_cast<int>(dead) << k;
        t.dropped[k] = norm;
      }
    }
    __syncthreads();
    if (j < 64 && t.tau != 0) {
      double(*m)[33] = j < 32 ? t.r : t.q;
      const int col = j & 31;
      double sum = 0;
      for (int i = g; i < width; i++) {
        sum += t.v[i] * m[i][col];
      }
      sum *= t.tau;
      for (int i = g; i < width; i++) {
        m[i][col] -= sum * t.v[i];
      }
    }
    __syncthreads();
    if (j < width && j >= g && !(t.lives && j == g && t.tau == 0)) {
      t.r[j][k] = t.lives && j == g ? t.size : 0.0;
    }
    g += t.lives;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    t.live = g;
  }
  __syncthreads();
}

/**
 * The row of q (or r) for row `slot`: a live row goes to the row of its pivot, the others to those of dead columns, in
 * order.
 */
__device__ __forceinline__ int row_for(const DropTile& t, int slot) {
  const int dead_before = __popc(t.dead & ((1u << slot) - 1));
  return (t.dead >> slot & 1) ? t.live + dead_before : slot - dead_before;
}
