/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// R'y = c from the leaves of the tree up, and the componentwise backward error of y. A front's vector v is c at its
// pivots plus its children's updates, in the children's order; y at its pivots solves the transpose of its triangle, and
// v - R'y at its other columns is its update to its parent. So no two fronts write to one place, and the bits do not
// depend on the order of the blocks. In a large front ASSEMBLE items make v; then each step of rows, from the first, has
// a TRIANGLE item and PRODUCT items that update v at the columns to its right.
#pragma once
#include "column_sums.cuh"
#include "triangular.cuh"

/** v at column j of a front before its own rows: c and the children's updates. `size`: the sum of their sizes. */
__device__ __forceinline__ double forward_entry(const SparqrSolve& s, const SparqrSolveItem& t, int j, int q,
                                                double* size) {
  const int place = t.start + j;
  double v = j < t.fp ? __ldcg(s.c + static_cast<long long>(s.number[place]) * s.rhs + q) : 0;
  double sum = fabs(v);
  const int end = s.gather[place + 1];
#pragma unroll 4
  for (int k = s.gather[place]; k < end; k++) {
    const double u = __ldcg(s.v + static_cast<long long>(s.gather_from[k]) * s.rhs + q);
    v += u;
    sum += fabs(u);
  }
  *size = sum;
  return v;
}

/**
 * Solves the transposed triangle of the item's rows in place, `y` in shared memory, 32 rows at a time; then writes the
 * solution.
 */
__device__ __forceinline__ void forward_triangle(const SparqrSolve& s, const SparqrSolveItem& t, int q, double* y) {
  __shared__ double tiles[2][32][33];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int from = t.row_from, to = t.row_to;
  const double* rows = s.out + t.out;
  int now = 0;
  load_tile<0>(rows, t.fn, from, min(to, from + 32), tiles[0]);
  for (int begin = from; begin < to; begin += 32, now ^= 1) {
    const int end = min(to, begin + 32), size = end - begin;
    __syncthreads();
    if (warp == 0) {
      const double(*tile)[33] = tiles[now];
      double v = lane < size ? y[begin + lane - from] : 0;
      for (int first = 0; first < size; first += 8) {
#pragma unroll
        for (int u = 0; u < 8; u++) {
          const int k = first + u;
          const double x = __shfl_sync(~0u, v, k) * tile[k][k];
          v = lane == k ? x : lane > k ? fma(-tile[k][lane], x, v) : v;
        }
      }
      if (lane < size) {
        y[begin + lane - from] = v;
      }
    } else if (end < to) {
      load_tile<1>(rows, t.fn, end, min(to, end + 32), tiles[now ^ 1]);
    }
    __syncthreads();
    for (int j = end + static_cast<int>(threadIdx.x); j < to; j += SPARQR_THREADS) {
      // a step has 32 rows here: those after it are to come
      double r[32];
      const double* entry = rows + packed_row(begin, t.fn) - begin + j;
#pragma unroll
      for (int k = 0; k < 32; k++) {
        r[k] = *entry;
        entry += t.fn - (begin + k) - 1;
      }
      double v = y[j - from];
#pragma unroll
      for (int k = 0; k < 32; k++) {
        v = fma(-r[k], y[begin + k - from], v);
      }
      y[j - from] = v;
    }
  }
  __syncthreads();
  store_columns(s, s.x, s.number + t.start, from, to, q, y);
}

/** v -= R'y for the item's columns, 32 at most, and its rows, whose y are in shared memory: a quarter a warp. */
__device__ __forceinline__ void forward_products(const SparqrSolve& s, const SparqrSolveItem& t, int q,
                                                 const double* y, double* shared) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int quarter = (t.row_to - t.row_from + SPARQR_WARPS - 1) / SPARQR_WARPS;
  const int from = t.row_from + warp * quarter, to = min(t.row_to, from + quarter);
  const double* rows = s.out + t.out;
  const int j = min(t.column_from + lane, t.column_to - 1);
  double sum = 0;
  constexpr int BATCH = 16;  // loads in flight
  for (int first = from; first < to; first += BATCH) {
    double r[BATCH];
#pragma unroll
    for (int k = 0; k < BATCH; k++) {
      const int i = min(first + k, to - 1);
      r[k] = rows[packed_row(i, t.fn) - i + j];
    }
#pragma unroll
    for (int k = 0; k < BATCH; k++) {
      sum = first + k < to ? fma(r[k], y[first + k - t.row_from], sum) : sum;
    }
  }
  shared[threadIdx.x] = sum;
  __syncthreads();
  if (warp == 0 && t.column_from + lane < t.column_to) {
    double* v = s.v + static_cast<long long>(t.start + j) * s.rhs + q;
    __stcg(v, __ldcg(v) - ((shared[lane] + shared[32 + lane]) + (shared[64 + lane] + shared[96 + lane])));
  }
}

/** A front of few rows. */
__device__ __forceinline__ void forward_whole(const SparqrSolve& s, const SparqrSolveItem& t, int q, double* y) {
  double size;
  for (int j = threadIdx.x; j < t.fp; j += SPARQR_THREADS) {
    y[j] = forward_entry(s, t, j, q, &size);
  }
  forward_triangle(s, t, q, y);
  const double* rows = s.out + t.out;
  for (int j = t.fp + static_cast<int>(threadIdx.x); j < t.fn; j += SPARQR_THREADS) {
    double v = forward_entry(s, t, j, q, &size);
#pragma unroll 8
    for (int i = 0; i < t.fp; i++) {
      v = fma(-rows[packed_row(i, t.fn) - i + j], y[i], v);
    }
    __stcg(s.v + static_cast<long long>(t.start + j) * s.rhs + q, v);
  }
}

/** One item by this block. */
__device__ __forceinline__ void forward_item(const SparqrSolve& s) {
  __shared__ SparqrSolveItem t;
  __shared__ double y[SPARQR_SOLVE_STEP];
  __shared__ double shared[SPARQR_THREADS];
  if (!next_item(s, t, [](int kind) { return kind != SPARQR_SOLVE_ASSEMBLE; })) {
    return;
  }
  const int32_t* number = s.number + t.start;
  for (int q = 0; q < s.rhs; q++) {
    __syncthreads();
    if (t.kind == SPARQR_SOLVE_WHOLE) {
      forward_whole(s, t, q, y);
    } else if (t.kind == SPARQR_SOLVE_ASSEMBLE) {
      for (int j = t.column_from + static_cast<int>(threadIdx.x); j < t.column_to; j += SPARQR_THREADS) {
        double size;
        const double v = forward_entry(s, t, j, q, &size);
        __stcg(s.v + static_cast<long long>(t.start + j) * s.rhs + q, v);
      }
    } else if (t.kind == SPARQR_SOLVE_TRIANGLE) {
      for (int i = t.row_from + static_cast<int>(threadIdx.x); i < t.row_to; i += SPARQR_THREADS) {
        y[i - t.row_from] = __ldcg(s.v + static_cast<long long>(t.start + i) * s.rhs + q);
      }
      forward_triangle(s, t, q, y);
    } else {
      load_columns(s, s.x, number, t.row_from, t.row_to, q, y);
      __syncthreads();
      forward_products(s, t, q, y, shared);
    }
  }
  finish_item(s, t);
}

/**
 * The componentwise backward error of y: max over the fronts' columns of |v - R'y - u| / (sizes of all terms), v from c
 * and the children's updates anew, u the front's update (0 at pivots). Also the sum of the bits of R and of the
 * right-hand sides stored with it, each read once. One block an item, WHOLE and ASSEMBLE only: every column of a front
 * is in one of them. Columns go to lanes, rows to warps.
 */
__device__ __forceinline__ void forward_error(const SparqrSolve& s) {
  __shared__ double sums[SPARQR_WARPS][32], sizes[SPARQR_WARPS][32];
  __shared__ unsigned long long words[SPARQR_WARPS];
  const SparqrSolveItem& t = s.items[blockIdx.x];
  if (t.kind != SPARQR_SOLVE_WHOLE && t.kind != SPARQR_SOLVE_ASSEMBLE) {
    return;
  }
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const double* rows = s.out + t.out;
  unsigned long long bits = 0;
  double worst = 0;
  for (int q = 0; q < s.rhs; q++) {
    for (int first = t.column_from; first < t.column_to; first += 32) {
      const int j = first + lane;
      const int end = j < t.column_to ? min(t.fp, j + 1) : 0;
      double sum = 0, size = 0;
#pragma unroll 4
      for (int i = warp; i < end; i += SPARQR_WARPS) {
        const double r = rows[packed_row(i, t.fn) - i + j];
        const double p = r * __ldcg(s.x + static_cast<long long>(s.number[t.start + i]) * s.rhs + q);
        sum += p;
        size += fabs(p);
        bits += q == 0 ? mixed_bits(r) : 0;
      }
      __syncthreads();
      sums[warp][lane] = sum;
      sizes[warp][lane] = size;
      __syncthreads();
      if (warp == 0 && j < t.column_to) {
        double scale;
        const double v = forward_entry(s, t, j, q, &scale);
        const double u = j < t.fp ? 0 : __ldcg(s.v + static_cast<long long>(t.start + j) * s.rhs + q);
        const double all = (sums[0][lane] + sums[1][lane]) + (sums[2][lane] + sums[3][lane]);
        scale += (sizes[0][lane] + sizes[1][lane]) + (sizes[2][lane] + sizes[3][lane]) + fabs(u);
        worst = fmax(worst, equation_error(fabs(v - all - u), scale));
      }
    }
  }
  if (t.column_from == 0) {
    for (long long k = threadIdx.x; k < static_cast<long long>(t.fp) * s.out_rhs_count; k += SPARQR_THREADS) {
      bits += mixed_bits(s.out[t.out_rhs + k]);
    }
  }
  const unsigned long long total = block_sum(bits, words);
  if (threadIdx.x == 0) {
    atomicAdd(s.progress + 2, total);
  }
  raise_error(s, worst);
}
