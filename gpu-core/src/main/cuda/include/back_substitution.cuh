/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// R x = c from the roots of the tree down, and the componentwise backward error of x. In a large front ASSEMBLE items
// subtract the products with the columns outside of its triangle; then each step of rows, from the last, has a TRIANGLE
// item, and PRODUCT items that update the rows above it. What is left of a row's right-hand side is kept in x.
#pragma once
#include "triangular.cuh"

/** Right-hand side q of row i. */
__device__ __forceinline__ double back_rhs(const SparqrSolve& s, const SparqrSolveItem& t, int i, int q) {
  return s.c == nullptr ? s.out[t.out_rhs + static_cast<long long>(i) * s.out_rhs_count + q]
                        : __ldcg(s.c + static_cast<long long>(s.number[t.start + i]) * s.rhs + q);
}

/** Sums of a warp's rows, from + warp + k SPARQR_WARPS, over columns [at, end), whose x are in shared memory. */
__device__ __forceinline__ void back_sums(const double* rows, int fn, int from, int to, int at, int end,
                                          const double* shared_x, double* sum) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  constexpr int ROWS = SPARQR_SOLVE_ROWS / SPARQR_WARPS;
  if (to - from <= SPARQR_WARPS) {
    // a row a warp: its entries in flight
    const int i = from + warp;
    if (i < to) {
      const double* row = rows + packed_row(i, fn) - i;
#pragma unroll 8
      for (int j = at + lane; j < end; j += 32) {
        sum[0] = fma(row[j], shared_x[j - at], sum[0]);
      }
    }
    return;
  }
  const double* row[ROWS];
#pragma unroll
  for (int k = 0; k < ROWS; k++) {
    const int i = min(from + warp + k * SPARQR_WARPS, to - 1);  // the last row twice rather than a branch
    row[k] = rows + packed_row(i, fn) - i;
  }
#pragma unroll 2
  for (int j = at + lane; j < end; j += 32) {
    const double x = shared_x[j - at];
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
      sum[k] = fma(row[k][j], x, sum[k]);
    }
  }
}

/**
 * Subtracts the products with the item's columns from its rows: from c, or for PRODUCT from what is left of it in x. To
 * `y` in shared memory, or, if that is null, to x.
 */
__device__ __forceinline__ void back_products(const SparqrSolve& s, const SparqrSolveItem& t, int q, double* shared_x,
                                              double* y) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int32_t* number = s.number + t.start;
  constexpr int ROWS = SPARQR_SOLVE_ROWS / SPARQR_WARPS;
  double sum[ROWS];
#pragma unroll
  for (int k = 0; k < ROWS; k++) {
    sum[k] = 0;
  }
  for (int at = t.column_from; at < t.column_to; at += SPARQR_SOLVE_CHUNK) {
    const int end = min(t.column_to, at + SPARQR_SOLVE_CHUNK);
    __syncthreads();
    load_columns(s, s.x, number, at, end, q, shared_x);
    __syncthreads();
    back_sums(s.out + t.out, t.fn, t.row_from, t.row_to, at, end, shared_x, sum);
  }
#pragma unroll
  for (int k = 0; k < ROWS; k++) {
    const double total = warp_sum(sum[k]);
    const int i = t.row_from + warp + k * SPARQR_WARPS;
    if (lane == 0 && i < t.row_to) {
      double* x = s.x + static_cast<long long>(number[i]) * s.rhs + q;
      const double v = (t.kind == SPARQR_SOLVE_PRODUCT ? __ldcg(x) : back_rhs(s, t, i, q)) - total;
      if (y != nullptr) {
        y[i - t.row_from] = v;
      } else {
        __stcg(x, v);
      }
    }
  }
}

/** Solves the triangle of the item's rows in place, `y` in shared memory, 32 rows at a time; then writes x. */
__device__ __forceinline__ void back_triangle(const SparqrSolve& s, const SparqrSolveItem& t, int q, double* y) {
  __shared__ double tiles[2][32][33];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int from = t.row_from, to = t.row_to;
  const double* rows = s.out + t.out;
  int now = 0;
  load_tile<0>(rows, t.fn, max(from, to - 32), to, tiles[0]);
  for (int end = to; end > from; end -= 32, now ^= 1) {
    const int begin = max(from, end - 32), size = end - begin;
    __syncthreads();
    if (warp == 0) {
      const double(*tile)[33] = tiles[now];
      double v = lane < size ? y[begin + lane - from] : 0;
      for (int last = (size - 1) | 7; last >= 0; last -= 8) {
#pragma unroll
        for (int u = 0; u < 8; u++) {
          const int k = last - u;
          const double x = __shfl_sync(~0u, v, k) * tile[k][k];
          v = lane == k ? x : lane < k ? fma(-tile[lane][k], x, v) : v;
        }
      }
      if (lane < size) {
        y[begin + lane - from] = v;
      }
    } else if (begin > from) {
      load_tile<1>(rows, t.fn, max(from, begin - 32), begin, tiles[now ^ 1]);
    }
    __syncthreads();
    // the products with these rows' x, for all rows above in the triangle
    constexpr int ROWS = 16;
    for (int first = from + warp * ROWS; first < begin; first += SPARQR_WARPS * ROWS) {
      double sum[ROWS];
#pragma unroll
      for (int k = 0; k < ROWS; k++) {
        const int i = min(first + k, begin - 1);
        sum[k] = lane < size ? rows[packed_row(i, t.fn) - i + begin + lane] : 0;
      }
      const double x = lane < size ? y[begin + lane - from] : 0;
#pragma unroll
      for (int k = 0; k < ROWS; k++) {
        sum[k] = warp_sum(sum[k] * x);
      }
      if (lane == 0) {
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
          if (first + k < begin) {
            y[first + k - from] -= sum[k];
          }
        }
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
  if (!next_item(s, t, [](int) { return true; })) {
    return;
  }
  for (int q = 0; q < s.rhs; q++) {
    __syncthreads();
    if (t.kind == SPARQR_SOLVE_PRODUCT || t.kind == SPARQR_SOLVE_ASSEMBLE) {
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
 * rows of |c - R x| / (|R| |x| + |c|). One block an item, WHOLE and ASSEMBLE only: every row is in one of them.
 */
__device__ __forceinline__ void back_error(const SparqrSolve& s) {
  __shared__ double shared_x[SPARQR_SOLVE_CHUNK];
  const SparqrSolveItem& t = s.items[blockIdx.x];
  if (t.kind != SPARQR_SOLVE_WHOLE && t.kind != SPARQR_SOLVE_ASSEMBLE) {
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
#pragma unroll 4
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
