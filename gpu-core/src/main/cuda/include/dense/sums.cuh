/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Sums over the rows of a dense row-major matrix, with which its factorization and its way to the device are checked
// (io.sparqr.numeric.integrity.DenseSums): t = A v; of each column its square, its product with t, and its bits as integers.
// Bound by memory: A is read once for t and once for the rest. The order of sums is not fixed.
#pragma once
#include "stage.cuh"

struct SparqrDense {
  const double* a;
  const double* v;           // by column
  double* t;                 // by row
  double* square;            // by column, as the next two; zero at first
  double* probe;
  unsigned long long* bits;
  int64_t rows;
  int32_t columns;
  int32_t ld;
};
static_assert(sizeof(SparqrDense) == 64, "");

/** Rows that one block sums. */
constexpr int SPARQR_DENSE_ROWS = 128;

/** t = A v. A warp takes a row; grid: any. */
__device__ __forceinline__ void dense_product(const SparqrDense& d) {
  const int lane = threadIdx.x & 31;
  const long long step = static_cast<long long>(gridDim.x) * SPARQR_WARPS;
  for (long long i = static_cast<long long>(blockIdx.x) * SPARQR_WARPS + (threadIdx.x >> 5); i < d.rows; i += step) {
    const double* row = d.a + i * d.ld;
    double sum = 0;
    for (int j = lane; j < d.columns; j += 32) {
      sum = fma(row[j], d.v[j], sum);
    }
    for (int half = 16; half > 0; half >>= 1) {
      sum += __shfl_xor_sync(~0u, sum, half);
    }
    if (lane == 0) {
      d.t[i] = sum;
    }
  }
}

/** The sums of columns. Grid: strips of 128 columns x parts of SPARQR_DENSE_ROWS rows. */
__device__ __forceinline__ void dense_sums(const SparqrDense& d) {
  const int strips = (d.columns + SPARQR_THREADS - 1) / SPARQR_THREADS;
  const int j = static_cast<int>(blockIdx.x % strips) * SPARQR_THREADS + threadIdx.x;
  const long long first = static_cast<long long>(blockIdx.x / strips) * SPARQR_DENSE_ROWS;
  const long long end = min(first + SPARQR_DENSE_ROWS, static_cast<long long>(d.rows));
  if (j >= d.columns) {
    return;
  }
  double square = 0, probe = 0;
  unsigned long long bits = 0;
  for (long long i = first; i < end; i++) {
    const double x = d.a[i * d.ld + j];
    square = fma(x, x, square);
    probe = fma(x, d.t[i], probe);
    bits += static_cast<unsigned long long>(__double_as_longlong(x));
  }
  atomicAdd(d.square + j, square);
  atomicAdd(d.probe + j, probe);
  atomicAdd(d.bits + j, bits);
}
