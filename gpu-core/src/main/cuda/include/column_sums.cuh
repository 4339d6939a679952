/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Column sums over the packed rows of a stage's fronts (io.sparqr.backend.schedule.RoundExecutor.columnSums): with w_k =
// r_k scale[number(k)] for row r of a front and t = sum of w_k over the front's columns, the sums of w_k^2 and of w_k t for each
// column of the stage and each right-hand side. An orthogonal transformation keeps both.
//
// One block a chunk of at most SPARQR_SUM_ROWS rows of one front: t by a warp a row, then a thread a column, then one addition a
// column to the stage's sums. Those are fixed point, so that they do not depend on the order in which blocks come: 64-bit integers in
// units of 2^-56 and of probe_norm 2^-56. Each sum is at most 64 where the rows are right. What is more than that in
// a chunk, or not finite, marks its column, which has no sum then. Bound by memory: the rows are read twice, the second time from
// the caches where they are not wide.
#pragma once
#include "task_layout.cuh"

constexpr int SPARQR_SUM_ROWS = 32;
constexpr double SPARQR_SUM_UNIT = 0x1p56;
constexpr double SPARQR_SUM_LIMIT = 64;

/** Rows [row_from, row_to) of a front. */
struct alignas(16) SparqrSumChunk {
  int64_t out;      // place in the output buffer of the values of row_from
  int64_t out_rhs;  // of its right-hand sides
  int32_t front;
  int32_t row_from;
  int32_t row_to;
  int32_t unused;
};
static_assert(sizeof(SparqrSumChunk) == 32, "chunk size");
static_assert(offsetof(SparqrSumChunk, out) == 0, "");
static_assert(offsetof(SparqrSumChunk, out_rhs) == 8, "");
static_assert(offsetof(SparqrSumChunk, front) == 16, "");
static_assert(offsetof(SparqrSumChunk, row_from) == 20, "");
static_assert(offsetof(SparqrSumChunk, row_to) == 24, "");

/** Device pointers; sizes in brackets. */
struct SparqrSums {
  const SparqrSumChunk* chunks;
  const SparqrFront* fronts;
  const double* out;
  const int32_t* start;        // [fronts]: first of the front's columns in `number`
  const int32_t* number;       // the stage's columns
  const double* scale;         // [columns + rhs]
  const int32_t* counts;       // [fronts]: 0 if the front's rows do not count
  unsigned long long* squares; // [columns + rhs]
  unsigned long long* probe;   // [columns + rhs]
  int32_t* marked;             // [columns + rhs]
  double probe_unit;           // 2^56 / probe_norm
  int32_t columns;
  int32_t unused;
};
static_assert(sizeof(SparqrSums) == 96, "sums size");

/** Adds to the sums of a column. */
__device__ __forceinline__ void add_sums(const SparqrSums& sums, int column, double squares,
                                         double probe) {
  const double p = probe * sums.probe_unit;
  // so written that NaN marks the column
  if (squares <= SPARQR_SUM_LIMIT && fabs(p) <= SPARQR_SUM_LIMIT * SPARQR_SUM_UNIT) {
    if (squares != 0 || p != 0) {
      atomicAdd(sums.squares + column,
                static_cast<unsigned long long>(__double2ll_rn(squares * SPARQR_SUM_UNIT)));
      atomicAdd(sums.probe + column, static_cast<unsigned long long>(__double2ll_rn(p)));
    }
  } else {
    sums.marked[column] = 1;
  }
}

__device__ __forceinline__ void column_sums(const SparqrSums& sums) {
  __shared__ double t[SPARQR_SUM_ROWS];
  const SparqrSumChunk chunk = sums.chunks[blockIdx.x];
  if (sums.counts[chunk.front] == 0) {
    return;
  }
  const int fn = sums.fronts[chunk.front].fn, rhs = sums.fronts[chunk.front].rhs;
  const int rows = chunk.row_to - chunk.row_from, first = chunk.row_from;
  const int32_t* number = sums.number + sums.start[chunk.front];
  // row i of the chunk: column first + j at values[i * width - i (i - 1) / 2 + j - i]
  const double* values = sums.out + chunk.out;
  const int width = fn - first;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  for (int i = warp; i < rows; i += 4) {
    const double* row = values + static_cast<long long>(i) * width - i * (i + 1) / 2;
    double sum = 0;
#pragma unroll 4
    for (int j = i + lane; j < width; j += 32) {
      sum = fma(row[j], sums.scale[number[first + j]], sum);
    }
    for (int step = 16; step > 0; step >>= 1) {
      sum += __shfl_xor_sync(~0u, sum, step);
    }
    if (lane == 0) {
      t[i] = sum;
    }
  }
  __syncthreads();
  for (int j = threadIdx.x; j < width; j += 128) {
    const int column = number[first + j];
    const double scale = sums.scale[column];
    const int end = min(rows, j + 1);
    double squares = 0, probe = 0;
#pragma unroll 8
    for (int i = 0; i < end; i++) {
      const double w = values[static_cast<long long>(i) * width - i * (i + 1) / 2 + j] * scale;
      squares = fma(w, w, squares);
      probe = fma(w, t[i], probe);
    }
    add_sums(sums, column, squares, probe);
  }
  for (int q = threadIdx.x; q < rhs; q += 128) {
    const double scale = sums.scale[sums.columns + q];
    double squares = 0, probe = 0;
    for (int i = 0; i < rows; i++) {
      const double w = sums.out[chunk.out_rhs + static_cast<long long>(i) * rhs + q] * scale;
      squares = fma(w, w, squares);
      probe = fma(w, t[i], probe);
    }
    add_sums(sums, sums.columns + q, squares, probe);
  }
}
