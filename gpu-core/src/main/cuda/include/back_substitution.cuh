/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// R x = c from the roots of the tree down, and the componentwise backward error of x. In a large front ASSEMBLE items
// subtract the products with the columns outside of its triangle; then each step of rows, from the last, has a TRIANGLE
// item, and PRODUCT items that update the rows above it. What is left of a row's right-hand side is kept in x.
#pragma once
#include "triangular.cuh"

/** Right-hand side q of row i: the probe follows those stored with R. */
__device__ __forceinline__ double back_rhs(const SparqrSolve& s, const SparqrSolveItem& t, int i, int q) {
  if (s.c != nullptr) {
    return __ldcg(s.c + static_cast<long long>(s.number[t.start + i]) * s.rhs + q);
  }
  return q < s.out_rhs_count ? s.out[t.out_rhs + static_cast<long long>(i) * s.out_rhs_count + q]
                             : probe_value(s.number[t.start + i]);
}

/** Sums of a warp's rows, from + warp + k SPARQR_WARPS, over columns [at, end), whose x are in shared memory. */
__device__ __forceinline__ void back_sums(const double* rows, int fn, int from, int to, int at, int end,
                                          const double* shared_x, double* sum) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  constexpr int ROWS = SPARQR_SOLVE_ROWS / SPARQR_WARPS;
  if (to - from <= SPARQR_WARPS) {
    // a row a warp: its entries in flight
    constexpr int BATCH = 8;
    const int i = from + warp;
    if (i < to) {
      const double* row = rows + packed_row(i, fn) - i;
      for (int first = at + lane; first - lane < end; first += 32 * BATCH) {
        double r[BATCH];
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
          r[k] = first + 32 * k < end ? row[first + 32 * k] : 0;
        }
        __syncwarp();  // keeps all loads before the first use: the compiler would mix them
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
          const int j = first + 32 * k;
          sum[0] = fma(r[k], j < end ? shared_x[j - at] : -0.0, sum[0]);  // 0 times -0 leaves any sum as it is
        }
      }
    }
    return;
  }
  const double* begin = rows + packed_row(from + warp, fn) - (from + warp);
  for (int j = at + lane; j - lane < end; j += 32) {
    double r[ROWS];
    const double* next = begin + j;
    int step = row_step(from + warp, fn, SPARQR_WARPS);
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
      r[k] = from + warp + k * SPARQR_WARPS < to && j < end ? *next : 0;
      next += step;
      step -= SPARQR_WARPS * SPARQR_WARPS;
    }
    __syncwarp();  // as above
    const double x = j < end ? shared_x[j - at] : -0.0;
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
      sum[k] = fma(r[k], x, sum[k]);
    }
  }
}

/** c minus the products of an item's rows with its columns, to `y` in shared memory or, if that is null, to x. */
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
      const double v = back_rhs(s, t, i, q) - total;
      if (y != nullptr) {
        y[i - t.row_from] = v;
      } else {
        __stcg(s.x + static_cast<long long>(number[i]) * s.rhs + q, v);
      }
    }
  }
}

/** x of 32 rows, one a lane, by their triangle: x of row k is u times the reciprocal, which is kept out of the chain. */
__device__ __forceinline__ double back_chain(const double (*tile)[33], double v) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int k = 31; k >= 0; k--) {
    const double factor = tile[lane][k] * tile[k][k];
    const double u = __shfl_sync(~0u, v, k);
    v = lane < k ? fma(-factor, u, v) : v;
  }
  return v * tile[lane][lane];
}

/**
 * Solves the triangle of the item's rows in place, `y` in shared memory with zeros to the end of the step; then writes x.
 * The triangle must be loaded.
 */
__device__ __forceinline__ void back_triangle(const SparqrSolve& s, const SparqrSolveItem& t, int q, double* y,
                                              SparqrTriangle& tiles) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  __syncthreads();
  if (t.row_to - t.row_from > 32) {
    if (warp == 0) {
      y[32 + lane] = back_chain(tiles.diagonal[1], y[32 + lane]);
    }
    __syncthreads();
    double sum = 0;
#pragma unroll
    for (int u = 0; u < 32 / SPARQR_WARPS; u++) {
      const int k = warp * (32 / SPARQR_WARPS) + u;
      sum = fma(tiles.beside[lane][k], y[32 + k], sum);
    }
    tiles.part[warp][lane] = sum;
    __syncthreads();
    if (warp == 0) {
      const auto& part = tiles.part;
      y[lane] -= (part[0][lane] + part[1][lane]) + (part[2][lane] + part[3][lane]);
    }
  }
  if (warp == 0) {
    y[lane] = back_chain(tiles.diagonal[0], y[lane]);
  }
  __syncthreads();
  store_columns(s, s.x, s.number + t.start, t.row_from, t.row_to, q, y);
}

/** The entries of R that a thread takes of a PRODUCT item, at most 32 rows: 8 of them a warp, two columns a lane. */
struct BackEntries {
  static constexpr int ROWS = SPARQR_SOLVE_ROWS / SPARQR_WARPS;
  static constexpr int COLUMNS = SPARQR_SOLVE_STEP / 32;
  double r[ROWS][COLUMNS];
  int32_t column[COLUMNS];
  int32_t row;  // number of the row whose sum this lane has, in the end
  bool owner;   // whether it writes it

  __device__ __forceinline__ void load(const SparqrSolve& s, const SparqrSolveItem& t) {
    const int lane = threadIdx.x % 32, first = t.row_from + threadIdx.x / 32 * ROWS;
    const double* rows = s.out + t.out;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) {
      const int j = t.column_from + 32 * c + lane;
      column[c] = s.number[t.start + min(j, t.column_to - 1)];
#pragma unroll
      for (int k = 0; k < ROWS; k++) {
        const int i = first + k;
        r[k][c] = i < t.row_to && j < t.column_to ? rows[packed_row(i, t.fn) - i + j] : 0;
      }
    }
    const int own = first + lane * ROWS / 32;
    row = s.number[t.start + min(own, t.row_to - 1)];
    owner = lane % (32 / ROWS) == 0 && own < t.row_to;
  }
};

/** The sums of N values over a warp's lanes: lane l has that of v[l N / 32]. N a power of two. */
template <int N, int WITH = 16>
__device__ __forceinline__ double lane_sums(const double (&v)[N]) {
  if constexpr (N == 1) {
    double sum = v[0];
#pragma unroll
    for (int d = WITH; d > 0; d /= 2) {
      sum += __shfl_xor_sync(~0u, sum, d);
    }
    return sum;
  } else {
    const bool upper = threadIdx.x & WITH;
    double half[N / 2];
#pragma unroll
    for (int k = 0; k < N / 2; k++) {
      const double give = upper ? v[k] : v[k + N / 2];
      half[k] = (upper ? v[k + N / 2] : v[k]) + __shfl_xor_sync(~0u, give, WITH);
    }
    return lane_sums<N / 2, WITH / 2>(half);
  }
}

/** x -= R x for the item's rows and columns, in what is left of its rows' right-hand sides. */
__device__ __forceinline__ void back_step(const SparqrSolve& s, int q, const BackEntries& e) {
  double* own = s.x + static_cast<long long>(e.row) * s.rhs + q;
  const double before = e.owner ? __ldcg(own) : 0;
  double x[BackEntries::COLUMNS];
#pragma unroll
  for (int c = 0; c < BackEntries::COLUMNS; c++) {
    x[c] = __ldcg(s.x + static_cast<long long>(e.column[c]) * s.rhs + q);
  }
  double sum[BackEntries::ROWS];
#pragma unroll
  for (int k = 0; k < BackEntries::ROWS; k++) {
    sum[k] = 0;
#pragma unroll
    for (int c = 0; c < BackEntries::COLUMNS; c++) {
      sum[k] = fma(e.r[k][c], x[c], sum[k]);
    }
  }
  const double total = lane_sums(sum);
  if (e.owner) {
    __stcg(own, before - total);
  }
}

/** One item by this block. */
__device__ __forceinline__ void back_item(const SparqrSolve& s) {
  __shared__ SparqrSolveItem t;
  __shared__ SparqrTriangle tiles;
  __shared__ double shared_x[SPARQR_SOLVE_CHUNK];
  __shared__ double y[SPARQR_SOLVE_STEP];
  BackEntries entries;
  const auto ahead = [](int kind) { return kind == SPARQR_SOLVE_WHOLE || kind == SPARQR_SOLVE_ASSEMBLE; };
  if (!next_loaded_item(s, t, ahead, entries, tiles)) {
    return;
  }
  for (int q = 0; q < s.rhs; q++) {
    __syncthreads();
    if (t.kind == SPARQR_SOLVE_PRODUCT) {
      back_step(s, q, entries);
    } else if (t.kind == SPARQR_SOLVE_ASSEMBLE) {
      back_products(s, t, q, shared_x, nullptr);
    } else {
      for (int k = threadIdx.x; k < SPARQR_SOLVE_STEP; k += SPARQR_THREADS) {
        const bool triangle = t.kind == SPARQR_SOLVE_TRIANGLE && t.row_from + k < t.row_to;
        y[k] = triangle ? __ldcg(s.x + static_cast<long long>(s.number[t.start + t.row_from + k]) * s.rhs + q) : 0;
      }
      if (t.kind == SPARQR_SOLVE_WHOLE) {
        __syncthreads();
        back_products(s, t, q, shared_x, y);
      }
      back_triangle(s, t, q, y, tiles);
    }
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
#pragma unroll 8
          for (int j = at + lane; j < end; j += 32) {
            // left of the diagonal are entries of the rows above, which are there
            const double v = row[j] * shared_x[j - at];
            sum[k] += j >= i ? v : 0;
            size[k] += j >= i ? fabs(v) : 0;
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
