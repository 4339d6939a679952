/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// One iteration of Robust PCA (io.sparqr.numeric.lowrank.PursuitState has the formulas and their source): of M, S and Y the
// matrix W = M - S + Y / mu is made once more, L = W P with the n x n matrix P that thresholds its singular values, S and Y of
// the next iteration, and the next W, where its QR expects it. M, S and Y are read and written once: 8 m n bytes each.
//
// A block has 32 rows; a warp 8 of them, whose L is made by products of 8 x 8 x 4 on the tensor cores and never stored.
#pragma once
#include "mma.cuh"
#include "stage.cuh"

constexpr int SPARQR_PURSUIT_ROWS = 32;

struct SparqrPursuit {
  const double* m;  // rows x columns without gaps, as the next four
  const double* s;
  const double* y;
  double* next_s;
  double* next_y;
  double* w;        // leading dimension ld
  const double* p;  // padded x padded, row-major, zeros beyond n
  double* parts;    // 3 a block: squares of the residual and of the change, entries of S that are not 0
  int64_t rows;
  double scale;         // of M
  double inverse;       // 1 / mu of this iteration
  double mu;
  double next_inverse;  // of the next
  double threshold;     // of S
  double unit;          // of the residual, over mu
  double multiplier;    // before the first iteration Y is this times M; 0: S and Y are 0
  int32_t columns;
  int32_t padded;  // columns, up to a multiple of 8
  int32_t ld;
  int32_t alternating;  // 1: S is found after L
};
static_assert(sizeof(SparqrPursuit) == 144, "");

/** The nearest to 0 of all numbers as close to x as t. */
__device__ __forceinline__ double shrunk(double x, double t) {
  return x - fmax(-t, fmin(t, x));
}

/** S, Y and W before the first iteration. Grid: any. */
__device__ __forceinline__ void pursuit_start(const SparqrPursuit& p) {
  const long long all = p.rows * p.columns;
  const long long step = static_cast<long long>(gridDim.x) * SPARQR_THREADS;
  for (long long k = static_cast<long long>(blockIdx.x) * SPARQR_THREADS + threadIdx.x; k < all; k += step) {
    const double a = p.scale * p.m[k];
    const double y = p.multiplier * a;
    const double s = p.multiplier == 0 ? 0.0 : shrunk(fma(y, p.inverse, a), p.threshold);
    p.next_s[k] = s;
    p.next_y[k] = y;
    p.w[k / p.columns * p.ld + k % p.columns] = fma(y, p.inverse, a - s);
  }
}

/** The sum over the block, in a fixed order, in thread 0. */
__device__ __forceinline__ double sum_of_block(double x, double* shared) {
  for (int half = 16; half > 0; half >>= 1) {
    x += __shfl_xor_sync(~0u, x, half);
  }
  __syncthreads();
  if ((threadIdx.x & 31) == 0) {
    shared[threadIdx.x >> 5] = x;
  }
  __syncthreads();
  return (shared[0] + shared[1]) + (shared[2] + shared[3]);
}

/** An iteration. Grid: parts of 32 rows; shared memory: 32 x (padded + 4) doubles. */
__device__ __forceinline__ void pursuit_step(const SparqrPursuit& p) {
  extern __shared__ __align__(16) double shared[];
  // Rows 8 banks apart: the loads of four rows and four columns do not meet.
  const int ld = p.padded + 4;
  const long long first = static_cast<long long>(blockIdx.x) * SPARQR_PURSUIT_ROWS;
  const int rows = static_cast<int>(min(static_cast<long long>(SPARQR_PURSUIT_ROWS), p.rows - first));
  for (int k = threadIdx.x; k < SPARQR_PURSUIT_ROWS * p.padded; k += SPARQR_THREADS) {
    const int i = k / p.padded, j = k % p.padded;
    double w = 0;
    if (i < rows && j < p.columns) {
      const long long at = (first + i) * p.columns + j;
      w = fma(p.y[at], p.inverse, fma(p.scale, p.m[at], -p.s[at]));
    }
    shared[i * ld + j] = w;
  }
  __syncthreads();
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int g = lane >> 2, t = lane & 3;
  const int row = 8 * warp + g;
  const double* own = shared + row * ld + t;
  double residual = 0, change = 0, nonzeros = 0;
  constexpr int BLOCKS = 4;  // of 8 columns at a time
  for (int base = 0; base < p.padded; base += 8 * BLOCKS) {
    double l[BLOCKS][2];
#pragma unroll
    for (int b = 0; b < BLOCKS; b++) {
      l[b][0] = l[b][1] = 0;
    }
    for (int k = 0; k < p.padded; k += 4) {
      const double a = own[k];
      const double* of = p.p + static_cast<long long>(k + t) * p.padded + base + g;
#pragma unroll
      for (int b = 0; b < BLOCKS; b++) {
        // The same for the whole warp.
        if (base + 8 * b < p.padded) {
          mma_8x8x4(l[b], a, of[8 * b]);
        }
      }
    }
#pragma unroll
    for (int b = 0; b < BLOCKS; b++) {
#pragma unroll
      for (int c = 0; c < 2; c++) {
        const int j = base + 8 * b + 2 * t + c;
        if (row < rows && j < p.columns) {
          const long long at = (first + row) * p.columns + j;
          const double m = p.scale * p.m[at], s = p.s[at], y = p.y[at];
          const double rest = m - l[b][c];
          double next_s, next_y;
          if (p.alternating) {
            next_s = shrunk(fma(y, p.inverse, rest), p.threshold);
            next_y = fma(p.mu, rest - next_s, y);
          } else {
            next_y = fma(p.mu, rest - s, y);
            next_s = shrunk(fma(next_y, p.next_inverse, rest), p.threshold);
          }
          p.next_s[at] = next_s;
          p.next_y[at] = next_y;
          p.w[(first + row) * p.ld + j] = fma(next_y, p.next_inverse, m - next_s);
          const double of_y = (next_y - y) * p.unit, of_s = next_s - s;
          residual = fma(of_y, of_y, residual);
          change = fma(of_s, of_s, change);
          nonzeros += (p.alternating ? next_s : s) != 0 ? 1 : 0;
        }
      }
    }
  }
  __syncthreads();
  residual = sum_of_block(residual, shared);
  change = sum_of_block(change, shared);
  nonzeros = sum_of_block(nonzeros, shared);
  if (threadIdx.x == 0) {
    double* part = p.parts + 3ll * blockIdx.x;
    part[0] = residual;
    part[1] = change;
    part[2] = nonzeros;
  }
}
