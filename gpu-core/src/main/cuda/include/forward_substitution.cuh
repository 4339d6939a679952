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

/** y of 32 rows, one a lane, by their triangle: y of row k is u times the reciprocal, which is kept out of the chain. */
__device__ __forceinline__ double forward_chain(const double (*tile)[33], double v) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int k = 0; k < 32; k++) {
    const double factor = tile[k][lane] * tile[k][k];
    const double u = __shfl_sync(~0u, v, k);
    v = lane > k ? fma(-factor, u, v) : v;
  }
  return v * tile[lane][lane];
}

/**
 * Solves the transposed triangle of the item's rows in place, `y` in shared memory with zeros to the end of the step;
 * then writes the solution. The triangle must be loaded.
 */
__device__ __forceinline__ void forward_triangle(const SparqrSolve& s, const SparqrSolveItem& t, int q, double* y,
                                                 SparqrTriangle& tiles) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  __syncthreads();
  if (warp == 0) {
    y[lane] = forward_chain(tiles.diagonal[0], y[lane]);
  }
  __syncthreads();
  if (t.row_to - t.row_from > 32) {
    double sum = 0;
#pragma unroll
    for (int u = 0; u < 32 / SPARQR_WARPS; u++) {
      const int k = warp * (32 / SPARQR_WARPS) + u;
      sum = fma(tiles.beside[k][lane], y[k], sum);
    }
    tiles.part[warp][lane] = sum;
    __syncthreads();
    if (warp == 0) {
      const auto& part = tiles.part;
      const double v = y[32 + lane] - ((part[0][lane] + part[1][lane]) + (part[2][lane] + part[3][lane]));
      y[32 + lane] = forward_chain(tiles.diagonal[1], v);
    }
    __syncthreads();
  }
  store_columns(s, s.x, s.number + t.start, t.row_from, t.row_to, q, y);
}

/** The entries of R that a thread takes of a PRODUCT item, at most 32 columns: a column a lane, a quarter of a step. */
struct ForwardEntries {
  static constexpr int EACH = SPARQR_SOLVE_STEP / SPARQR_WARPS;
  double r[EACH];
  int32_t row;     // number of the row whose y this lane loads
  int32_t column;  // place of the column

  __device__ __forceinline__ void load(const SparqrSolve& s, const SparqrSolveItem& t) {
    const int lane = threadIdx.x % 32, first = t.row_from + threadIdx.x / 32 * EACH;
    const double* rows = s.out + t.out;
    const int j = min(t.column_from + lane, t.column_to - 1);
#pragma unroll
    for (int k = 0; k < EACH; k++) {
      const int i = first + k;
      r[k] = i < t.row_to ? rows[packed_row(i, t.fn) - i + j] : 0;
    }
    row = s.number[t.start + min(first + lane % EACH, t.row_to - 1)];
    column = t.start + j;
  }
};

/** v -= R'y for the item's columns and rows. */
__device__ __forceinline__ void forward_products(const SparqrSolve& s, const SparqrSolveItem& t, int q,
                                                 const ForwardEntries& e, double (*part)[33]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  double* v = s.v + static_cast<long long>(e.column) * s.rhs + q;
  const double before = warp == 0 ? __ldcg(v) : 0;
  const double y = __ldcg(s.x + static_cast<long long>(e.row) * s.rhs + q);
  double even = 0, odd = 0;
#pragma unroll
  for (int k = 0; k < ForwardEntries::EACH; k += 2) {
    even = fma(e.r[k], __shfl_sync(~0u, y, k), even);
    odd = fma(e.r[k + 1], __shfl_sync(~0u, y, k + 1), odd);
  }
  part[warp][lane] = even + odd;
  __syncthreads();
  if (warp == 0 && t.column_from + lane < t.column_to) {
    __stcg(v, before - ((part[0][lane] + part[1][lane]) + (part[2][lane] + part[3][lane])));
  }
}

/** A front of few rows. */
__device__ __forceinline__ void forward_whole(const SparqrSolve& s, const SparqrSolveItem& t, int q, double* y,
                                              SparqrTriangle& tiles) {
  double size;
  if (threadIdx.x < 32) {
    const int j = threadIdx.x;
    y[j] = j < t.fp ? forward_entry(s, t, j, q, &size) : 0;
  }
  forward_triangle(s, t, q, y, tiles);
  constexpr int BATCH = 8;
  const int lane = threadIdx.x % 32;
  for (int first = t.fp + static_cast<int>(threadIdx.x) - lane; first < t.fn; first += SPARQR_THREADS) {
    const int j = min(first + lane, t.fn - 1);  // the last column again rather than a lane less
    double v = forward_entry(s, t, j, q, &size);
    const double* next = s.out + t.out + j;
    int step = row_step(0, t.fn, 1);
    for (int row = 0; row < t.fp; row += BATCH) {
      double r[BATCH];
#pragma unroll
      for (int k = 0; k < BATCH; k++) {
        r[k] = row + k < t.fp ? *next : 0;
        next += step--;
      }
      __syncwarp();  // as in column_sums_of_rows
#pragma unroll
      for (int k = 0; k < BATCH; k++) {
        v = fma(-r[k], row + k < t.fp ? y[row + k] : 0, v);  // -0 times 0 leaves any v as it is
      }
    }
    if (first + lane < t.fn) {
      __stcg(s.v + static_cast<long long>(t.start + j) * s.rhs + q, v);
    }
  }
}

/** One item by this block. */
__device__ __forceinline__ void forward_item(const SparqrSolve& s) {
  __shared__ SparqrSolveItem t;
  __shared__ SparqrTriangle tiles;
  __shared__ double y[SPARQR_SOLVE_STEP];
  ForwardEntries entries;
  if (!next_loaded_item(s, t, [](int kind) { return kind == SPARQR_SOLVE_WHOLE; }, entries, tiles)) {
    return;
  }
  for (int q = 0; q < s.rhs; q++) {
    __syncthreads();
    if (t.kind == SPARQR_SOLVE_WHOLE) {
      forward_whole(s, t, q, y, tiles);
    } else if (t.kind == SPARQR_SOLVE_ASSEMBLE) {
      for (int j = t.column_from + static_cast<int>(threadIdx.x); j < t.column_to; j += SPARQR_THREADS) {
        double size;
        const double v = forward_entry(s, t, j, q, &size);
        __stcg(s.v + static_cast<long long>(t.start + j) * s.rhs + q, v);
      }
    } else if (t.kind == SPARQR_SOLVE_TRIANGLE) {
      for (int k = threadIdx.x; k < SPARQR_SOLVE_STEP; k += SPARQR_THREADS) {
        const int i = t.row_from + k;
        y[k] = i < t.row_to ? __ldcg(s.v + static_cast<long long>(t.start + i) * s.rhs + q) : 0;
      }
      forward_triangle(s, t, q, y, tiles);
    } else {
      forward_products(s, t, q, entries, tiles.part);
    }
  }
  finish_item(s, t);
}

/** The error of the equation of column j, from the sums of R'y and of its terms' sizes over the front's rows. */
__device__ __forceinline__ double column_error(const SparqrSolve& s, const SparqrSolveItem& t, int j, int q, double sum,
                                               double size) {
  double scale;
  const double v = forward_entry(s, t, j, q, &scale);
  const double u = j < t.fp ? 0 : __ldcg(s.v + static_cast<long long>(t.start + j) * s.rhs + q);
  return equation_error(fabs(v - sum - u), scale + size + fabs(u));
}

/**
 * Sums over every STRIDE-th of a front's rows [first, end) for column j: of R'y, of its terms' sizes, of the bits of R.
 * Rows from `rest` on have no entry in the column. Without branches. By all lanes of a warp, with one first and end.
 *
 * @param y of row `at` and those after it
 */
template <int STRIDE>
__device__ __forceinline__ void column_sums_of_rows(const double* rows, int fn, int first, int end, int rest, int j,
                                                    const double* y, int at, double& sum, double& size,
                                                    unsigned long long& bits) {
  constexpr int BATCH = 16;
  const double* next = rows + packed_row(first, fn) - first + j;
  int step = row_step(first, fn, STRIDE);
  for (int row = first; row < end; row += BATCH * STRIDE) {
    double r[BATCH];
#pragma unroll
    for (int k = 0; k < BATCH; k++) {
      r[k] = row + k * STRIDE < min(end, rest) ? *next : 0;
      next += step;
      step -= STRIDE * STRIDE;
    }
    // The compiler moves neither loads nor uses over this; else it mixes them, and few loads are on their way at once.
    __syncwarp();
#pragma unroll
    for (int k = 0; k < BATCH; k++) {
      const int i = row + k * STRIDE;
      const double p = r[k] * y[min(i, end - 1) - at];
      sum += p;
      size += fabs(p);
      bits += mixed_bits(r[k]);  // those of 0 are 0
    }
  }
}

/** A front of few rows: a column a thread. */
__device__ __forceinline__ void whole_error(const SparqrSolve& s, const SparqrSolveItem& t, int q, double* y,
                                            double& worst, unsigned long long& bits) {
  __syncthreads();
  load_columns(s, s.x, s.number + t.start, 0, t.fp, q, y);
  __syncthreads();
  const int lane = threadIdx.x % 32;
  for (int first = static_cast<int>(threadIdx.x) - lane; first < t.fn; first += SPARQR_THREADS) {
    const int j = first + lane, column = min(j, t.fn - 1);
    double sum = 0, size = 0;
    column_sums_of_rows<1>(s.out + t.out, t.fn, 0, t.fp, j < t.fn ? j + 1 : 0, column, y, 0, sum, size, bits);
    if (j < t.fn) {
      worst = fmax(worst, column_error(s, t, j, q, sum, size));
    }
  }
}

/** Columns of a larger front: a column a lane, its rows to warps. */
__device__ __forceinline__ void part_error(const SparqrSolve& s, const SparqrSolveItem& t, int q, double* y,
                                           double& worst, unsigned long long& bits) {
  __shared__ double sums[SPARQR_WARPS][32], sizes[SPARQR_WARPS][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int first = t.column_from; first < t.column_to; first += 32) {
    const int j = first + lane, column = min(j, t.column_to - 1);
    const int last = min(t.fp, min(first + 32, t.column_to));
    double sum = 0, size = 0;
    for (int at = 0; at < last; at += SPARQR_SOLVE_CHUNK) {
      const int end = min(last, at + SPARQR_SOLVE_CHUNK);
      __syncthreads();
      load_columns(s, s.x, s.number + t.start, at, end, q, y);
      __syncthreads();
      column_sums_of_rows<SPARQR_WARPS>(s.out + t.out, t.fn, at + warp, end, j < t.column_to ? j + 1 : 0, column, y, at,
                                        sum, size, bits);
    }
    __syncthreads();
    sums[warp][lane] = sum;
    sizes[warp][lane] = size;
    __syncthreads();
    if (warp == 0 && j < t.column_to) {
      sum = (sums[0][lane] + sums[1][lane]) + (sums[2][lane] + sums[3][lane]);
      size = (sizes[0][lane] + sizes[1][lane]) + (sizes[2][lane] + sizes[3][lane]);
      worst = fmax(worst, column_error(s, t, j, q, sum, size));
    }
  }
}

/**
 * The componentwise backward error of y: max over the fronts' columns of |v - R'y - u| / (sizes of all terms), v from c
 * and the children's updates anew, u the front's update (0 at pivots). Also the sum of the bits of R and of the
 * right-hand sides stored with it, each read once. One block an item, WHOLE and ASSEMBLE only: every column of a front
 * is in one of them.
 */
__device__ __forceinline__ void forward_error(const SparqrSolve& s) {
  __shared__ unsigned long long words[SPARQR_WARPS];
  __shared__ double y[SPARQR_SOLVE_CHUNK];
  const SparqrSolveItem& t = s.items[blockIdx.x];
  if (t.kind != SPARQR_SOLVE_WHOLE && t.kind != SPARQR_SOLVE_ASSEMBLE) {
    return;
  }
  unsigned long long bits = 0;
  double worst = 0;
  for (int q = 0; q < s.rhs; q++) {
    unsigned long long found = 0;
    if (t.kind == SPARQR_SOLVE_WHOLE) {
      whole_error(s, t, q, y, worst, found);
    } else {
      part_error(s, t, q, y, worst, found);
    }
    bits = q == 0 ? found : bits;
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
