/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Gram matrices F'F of matrices of 32 columns, by warps that hold 16 rows at a time in fragments:
// f[r][m][i] is row 8 r + 2 t + i % 2, column 16 m + g + 8 (i / 2), which mma.cuh takes as either operand.
#pragma once
#include "mma.cuh"

/** D += upper blocks of F'F, F 16 rows in fragments; blocks m = 0: n = 0 .. 3, m = 1: n = 2, 3. */
__device__ __forceinline__ void add_gram(const double (&f0)[2][4], const double (&f1)[2][4], double (&d)[6][4]) {
  double fa[2][8];
#pragma unroll
  for (int m = 0; m < 2; m++) {
#pragma unroll
    for (int i = 0; i < 8; i++) {
      fa[m][i] = (i < 4 ? f0 : f1)[m][(i & 1) * 2 + ((i >> 1) & 1)];
    }
  }
#pragma unroll
  for (int n = 0; n < 4; n++) {
    double fb[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      fb[i] = (i < 2 ? f0 : f1)[n >> 1][(n & 1) * 2 + (i & 1)];
    }
    mma_16x8x16(d[n], fa[0], fb);
    if (n >= 2) {
      mma_16x8x16(d[n + 2], fa[1], fb);
    }
  }
}

/** Clears the accumulators. */
__device__ __forceinline__ void clear(double (&d)[6][4]) {
#pragma unroll
  for (int i = 0; i < 6; i++) {
#pragma unroll
    for (int j = 0; j < 4; j++) {
      d[i][j] = 0;
    }
  }
}

/** Doubles of a warp's part in shared memory: six blocks of 16 x 8. */
constexpr int SPARQR_GRAM_DOUBLES = 768;

/** Writes a warp's part to shared memory. */
__device__ __forceinline__ void put_gram(double* part, const double (&d)[6][4]) {
#pragma unroll
  for (int i = 0; i < 6; i++) {
#pragma unroll
    for (int j = 0; j < 4; j++) {
      part[(i * 4 + j) * 32 + (threadIdx.x & 31)] = d[i][j];
    }
  }
}

/**
 * The sum of the parts of all warps, `stride` doubles apart: row thread / 4, columns 8 c + 2 (thread % 4) + {0, 1};
 * zero where both blocks of 16 are below the diagonal.
 */
__device__ __forceinline__ void sum_gram(const double* parts, int stride, double (&a)[4][2]) {
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int m = warp >> 1, h = warp & 1;
#pragma unroll
  for (int c = 0; c < 4; c++) {
#pragma unroll
    for (int p = 0; p < 2; p++) {
      double sum = 0;
      if (m == 0 || c >= 2) {
        const double* from = parts + ((c + 2 * m) * 4 + 2 * h + p) * 32 + lane;
        sum = (from[0] + from[stride]) + (from[2 * stride] + from[3 * stride]);
      }
      a[c][p] = sum;
    }
  }
}
