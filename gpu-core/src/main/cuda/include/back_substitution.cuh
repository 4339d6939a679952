/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// R x = c from the roots of the tree down, and the componentwise backward error of x. The rows of a front are solved in
// steps from the last ones up: PRODUCT items subtract the products with the columns to the right of a step's rows, then
// a TRIANGLE item solves the step's triangle.
#pragma once
#include "triangular.cuh"

/** Right-hand side q of row i. */
__device__ __forceinline__ double back_rhs(const SparqrSolve& s, const SparqrSolveItem& t, int i, int q) {
  return s.c == nullptr ? s.out[t.out_rhs + static_cast<long long>(i) * s.out_rhs_count + q]
                        : __ldcg(s.c + static_cast<long long>(s.number[t.start + i]) * s.rhs + q);
}

/**
 * y_i = c_i - sum of R_ij x_j over the item's columns, for its rows: to `y` in shared memory, or, if that is null, to
 * x.
 */
__device__ __forceinline__ void back_products(const SparqrSolve& s, const SparqrSolveItem& t, int q, double* shared_x,
                                              double* y) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int from = t.row_from, to = t.row_to, fn = t.fn;
  const int32_t* number = s.number + t.start;
  const double* rows = s.out + t.out;
  constexpr int ROWS = SPARQR_SOLVE_ROWS / SPARQR_WARPS;  // rows of a warp
  double sum[ROWS];
#pragma unroll
  for (int k = 0; k < ROWS; k++) {
    sum[k] = 0;
  }
  for (int at = t.column_from; at < fn; at += SPARQR_SOLVE_CHUNK) {
    const int end = min(fn, at + SPARQR_SOLVE_CHUNK);
    __syncthreads();
    load_columns(s, s.x, number, at, end, q, shared_x);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
      const int i = from + warp + k * SPARQR_WARPS;
      if (i < to) {
        const double* row = rows + packed_row(i, fn) - i;
        double a = 0, b = 0;
        int j = at + lane;
        for (; j + 32 < end; j += 64) {
          a = fma(row[j], shared_x[j - at], a);
          b = fma(row[j + 32], shared_x[j + 32 - at], b);
        }
        if (j < end) {
          a = fma(row[j], shared_x[j - at], a);
        }
        sum[k] += a + b;
      }
    }
  }
#pragma unroll
  for (int k = 0; k < ROWS; k++) {
    const int i = from + warp + k * SPARQR_WARPS;
    if (i < to) {
      const double total = warp_sum(sum[k]);
      if (lane == 0) {
        const double v = back_rhs(s, t, i, q) - total;
        if (y != nullptr) {
          y[i - from] = v;
        } else {
          __stcg(s.x + static_cast<long long>(number[i]) * s.rhs + q, v);
        }
      }
    }
  }
}

/**
 * Solves the triangle of the item's rows in place, `y` in shared memory, 32 rows at a time; then writes x.
 */
__device__ __forceinline__ void back_triangle(const SparqrSolve& s, const SparqrSolveItem& t, int q, double* y) {
  __shared__ double tile[32][33];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int from = t.row_from, to = t.row_to;
  const double* rows = s.out + t.out;
  for (int end = to; end > from; end -= 32) {
    const int begin = max(from, end - 32), size = end - begin;
    __syncthreads();
    // products with the rows of this triangle that are solved already
    for (int i = begin + warp; i < end; i += SPARQR_WARPS) {
      const double* row = rows + packed_row(i, t.fn) - i;
      double sum = 0;
      for (int j = end + lane; j < to; j += 32) {
        sum = fma(row[j], y[j - from], sum);
      }
      sum = warp_sum(sum);
      const int j = begin + lane;
      tile[i - begin][lane] = j >= i && j < end ? row[j] : 0;
      if (lane == 0) {
        y[i - from] -= sum;
      }
    }
    __syncthreads();
    if (warp == 0) {
      double v = lane < size ? y[begin + lane - from] : 0;
      for (int k = size - 1; k >= 0; k--) {
        const double x = __shfl_sync(~0u, v, k) / tile[k][k];
        v = lane == k ? x : lane < k ? fma(-tile[lane][k], x, v) : v;
      }
      if (lane < size) {
        y[begin + lane - from] = v;
      }
    }
  }
  __syncthreads();
  store_columns(s, s.x, s.number + t.start, from, to, q, y);
}

/** One item by this block. */
__device__ __forceinline__ void back_item(const SparqrSolve& s) {
  __shared__ SparqrSolveItem t;
  __shared__ double shared_x[SPARQR_SOLVE_CHUNK];
  __shared__ double y[SPARQR_SOLVE_STEP];
  if (!next_item(s, t)) {
    return;
  }
  for (int q = 0; q < s.rhs; q++) {
    __syncthreads();
    if (t.kind == SPARQR_SOLVE_PRODUCT) {
      back_products(s, t, q, shared_x, nullptr);
      continue;
    }
    if (t.kind == SPARQR_SOLVE_WHOLE) {
      back_products(s, t, q, shared_x, y);
    } else {
      load_columns(s, s.x, s.number + t.start, t.row_from, t.row_to, q, y);
    }
    back_triangle(s, t, q, y);
  }
  finish_item(s, t);
}

/**
 * The componentwise backward error of x (Oettli and Prager; Higham, Accuracy and Stability, section 7.1): max over the
 * rows of |c - R x| / (|R| |x| + |c|). One block an item; triangles are left out, their rows have products.
 */
__device__ __forceinline__ void back_error(const SparqrSolve& s) {
  __shared__ double shared_x[SPARQR_SOLVE_CHUNK];
  const SparqrSolveItem& t = s.items[blockIdx.x];
  if (t.kind == SPARQR_SOLVE_TRIANGLE) {
    return;
  }
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int fn = t.fn;
  constexpr int ROWS = SPARQR_SOLVE_ROWS / SPARQR_WARPS;
  double worst = 0;
  for (int q = 0; q < s.rhs; q++) {
    double sum[ROWS], size[ROWS];
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
      sum[k] = size[k] = 0;
    }
    for (int at = t.row_from; at < fn; at += SPARQR_SOLVE_CHUNK) {
      const int end = min(fn, at + SPARQR_SOLVE_CHUNK);
      __syncthreads();
      load_columns(s, s.x, s.number + t.start, at, end, q, shared_x);
      __syncthreads();
#pragma unroll
      for (int k = 0; k < ROWS; k++) {
        const int i = t.row_from + warp + k * SPARQR_WARPS;
        if (i < t.row_to) {
          const double* row = s.out + t.out + packed_row(i, fn) - i;
          for (int j = at + lane; j < end; j += 32) {
            if (j >= i) {
              const double v = row[j] * shared_x[j - at];
              sum[k] += v;
              size[k] += fabs(v);
            }
          }
        }
      }
    }
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
      const int i = t.row_from + warp + k * SPARQR_WARPS;
      if (i < t.row_to) {
        const double c = back_rhs(s, t, i, q);
        const double rest = fabs(c - warp_sum(sum[k]));
        worst = fmax(worst, equation_error(rest, fabs(c) + warp_sum(size[k])));
      }
    }
  }
  raise_error(s, worst);
}
