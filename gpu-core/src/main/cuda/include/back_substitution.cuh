/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// R x = c from the roots of the tree down, on the packed rows of R in a stage's output buffer, and the componentwise
// backward error of x. For a stage that is the whole tree and whose fronts are all sound.
// io.sparqr.backend.staged.SolveItems makes the items. io.sparqr.backend.reference.TaskListExecutor does the same in
// straightforward sequential code.
//
// The rows of a front are solved in steps, from the last ones up, so that many multiprocessors share a large front:
// PRODUCT items subtract the products with the columns to the right of a step's rows, then a TRIANGLE item solves the
// step's triangle. A front of few rows has a single item that does both (WHOLE). Items wait for counts as the
// factorization's tasks do (waiting.cuh): solved steps of the parent or of the front itself, and finished products.
#pragma once
#include "stage.cuh"

constexpr int SPARQR_SOLVE_WHOLE = 0;
constexpr int SPARQR_SOLVE_PRODUCT = 1;
constexpr int SPARQR_SOLVE_TRIANGLE = 2;

constexpr int SPARQR_SOLVE_CHUNK = 1024;  // columns in shared memory at a time; a step has no more rows

struct alignas(16) SparqrSolveItem {
  int64_t out;       // place of the front's packed rows in the output buffer
  int64_t out_rhs;   // place of their right-hand sides, rows x rhs
  int32_t kind;
  int32_t front;
  int32_t row_from;  // rows [row_from, row_to) of R
  int32_t row_to;
  int32_t column;    // PRODUCT: columns [column, fn); TRIANGLE: its end, row_to
  int32_t wait_front;   // this front's steps must be solved; -1: none
  int32_t wait_solved;  // so many of them
  int32_t wait_products;  // TRIANGLE: so many finished products of `front`
};
static_assert(sizeof(SparqrSolveItem) == 48, "solve item size");

/** The launch parameter. */
struct SparqrSolve {
  const SparqrSolveItem* items;
  const SparqrFront* fronts;
  const double* out;
  const int32_t* start;   // first place of each front in `number`
  const int32_t* number;  // columns of each front as numbers of the stage's columns
  double* x;              // columns x rhs
  // Place 0: tickets, and SPARQR_GIVEN_UP; place 1 + f: solved steps of front f in the low half, finished products in
  // the high half; the last place: bits of the largest backward error.
  unsigned long long* progress;
  unsigned long long wait_nanos;
  int32_t rhs;
  int32_t front_count;
};
static_assert(sizeof(SparqrSolve) == 72, "solve size");

/** Place of entry (i, i) in the packed rows of a front of fn columns. */
__device__ __forceinline__ long long packed_row(int i, int fn) {
  return static_cast<long long>(i) * fn - static_cast<long long>(i) * (i - 1) / 2;
}

__device__ __forceinline__ double warp_sum(double v) {
  for (int d = 16; d > 0; d /= 2) {
    v += __shfl_xor_sync(~0u, v, d);
  }
  return v;
}

/** Waits for a half of a front's counts; false if the solve has been given up. Called by one thread. */
__device__ __forceinline__ bool wait_solve(const SparqrSolve& s, int front, unsigned count, bool products) {
  unsigned long long since = 0;
  while (true) {
    unsigned long long have, now, tickets;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(have) : "l"(s.progress + 1 + front) : "memory");
    if ((products ? static_cast<unsigned>(have >> 32) : static_cast<unsigned>(have)) >= count) {
      return true;
    }
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(tickets) : "l"(s.progress));
    since = since == 0 ? now : since;
    if (tickets >= SPARQR_GIVEN_UP || now - since > s.wait_nanos) {
      atomicOr(s.progress, SPARQR_GIVEN_UP);
      return false;
    }
    __nanosleep(32);
  }
}

/** Puts x of columns [from, to) of a front, right-hand side q, into shared memory. By all threads. */
__device__ __forceinline__ void load_x(const SparqrSolve& s, const int32_t* number, int from, int to, int q,
                                       double* shared) {
  for (int j = from + static_cast<int>(threadIdx.x); j < to; j += SPARQR_THREADS) {
    // other blocks wrote these: read past this multiprocessor's cache
    shared[j - from] = __ldcg(s.x + static_cast<long long>(number[j]) * s.rhs + q);
  }
}

/**
 * y_i = c_i - sum of R_ij x_j over columns [column, fn), for rows [from, to) of a front: to `y` in shared memory, or, if
 * that is null, to x.
 */
__device__ __forceinline__ void solve_products(const SparqrSolve& s, const SparqrSolveItem& t, int fn, int from, int to,
                                               int column, int q, double* shared_x, double* y) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int32_t* number = s.number + s.start[t.front];
  const double* rows = s.out + t.out;
  constexpr int ROWS = 32 / SPARQR_WARPS;  // rows of a warp; an item has at most 32
  double sum[ROWS];
#pragma unroll
  for (int k = 0; k < ROWS; k++) {
    sum[k] = 0;
  }
  for (int at = column; at < fn; at += SPARQR_SOLVE_CHUNK) {
    const int end = min(fn, at + SPARQR_SOLVE_CHUNK);
    __syncthreads();
    load_x(s, number, at, end, q, shared_x);
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
        const double v = s.out[t.out_rhs + static_cast<long long>(i) * s.rhs + q] - total;
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
 * Solves the triangle of rows [from, to) of a front in place, `y` in shared memory, 32 rows at a time; then writes x.
 */
__device__ __forceinline__ void solve_triangle(const SparqrSolve& s, const SparqrSolveItem& t, int fn, int from, int to,
                                               int q, double* y) {
  __shared__ double tile[32][33];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const double* rows = s.out + t.out;
  for (int end = to; end > from; end -= 32) {
    const int begin = max(from, end - 32), size = end - begin;
    __syncthreads();
    // products with the rows of this triangle that are solved already
    for (int i = begin + warp; i < end; i += SPARQR_WARPS) {
      const double* row = rows + packed_row(i, fn) - i;
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
  const int32_t* number = s.number + s.start[t.front];
  for (int i = from + static_cast<int>(threadIdx.x); i < to; i += SPARQR_THREADS) {
    __stcg(s.x + static_cast<long long>(number[i]) * s.rhs + q, y[i - from]);
  }
}

/** One item by this block; blocks take items in order, as in waiting.cuh. */
__device__ __forceinline__ void run_solve(const SparqrSolve& s) {
  __shared__ SparqrSolveItem t;
  __shared__ double shared_x[SPARQR_SOLVE_CHUNK];
  __shared__ double y[SPARQR_SOLVE_CHUNK];
  bool given_up = false;
  if (threadIdx.x == 0) {
    const unsigned long long number = atomicAdd(s.progress, 1ull);
    given_up = number >= SPARQR_GIVEN_UP;
    t = s.items[given_up ? 0 : number];
    given_up = given_up || (t.wait_front >= 0 && !wait_solve(s, t.wait_front, t.wait_solved, false)) ||
               (t.wait_products > 0 && !wait_solve(s, t.front, t.wait_products, true));
  }
  if (__syncthreads_or(given_up)) {
    return;
  }
  const int fn = s.fronts[t.front].fn;
  const int32_t* number = s.number + s.start[t.front];
  for (int q = 0; q < s.rhs; q++) {
    __syncthreads();
    if (t.kind == SPARQR_SOLVE_PRODUCT) {
      solve_products(s, t, fn, t.row_from, t.row_to, t.column, q, shared_x, nullptr);
      continue;
    }
    if (t.kind == SPARQR_SOLVE_WHOLE) {
      solve_products(s, t, fn, t.row_from, t.row_to, t.row_to, q, shared_x, y);
    } else {
      load_x(s, number, t.row_from, t.row_to, q, y);
    }
    solve_triangle(s, t, fn, t.row_from, t.row_to, q, y);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned long long one = t.kind == SPARQR_SOLVE_PRODUCT ? 1ull << 32 : 1ull;
    asm volatile("red.release.gpu.global.add.u64 [%0], %1;" ::"l"(s.progress + 1 + t.front), "l"(one) : "memory");
  }
}

/**
 * The componentwise backward error of x (Oettli and Prager; Higham, Accuracy and Stability, section 7.1): max over the
 * rows of |c - R x| / (|R| |x| + |c|). One block an item; triangles are left out, their rows have products.
 */
__device__ __forceinline__ void solve_error(const SparqrSolve& s) {
  __shared__ double shared_x[SPARQR_SOLVE_CHUNK];
  const SparqrSolveItem& t = s.items[blockIdx.x];
  if (t.kind == SPARQR_SOLVE_TRIANGLE) {
    return;
  }
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int fn = s.fronts[t.front].fn;
  const int32_t* number = s.number + s.start[t.front];
  constexpr int ROWS = 32 / SPARQR_WARPS;
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
      load_x(s, number, at, end, q, shared_x);
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
        const double c = s.out[t.out_rhs + static_cast<long long>(i) * s.rhs + q];
        const double rest = fabs(c - warp_sum(sum[k]));
        const double scale = fabs(c) + warp_sum(size[k]);
        // not finite: as bad as can be
        const double error = rest <= 1e308 && scale <= 1e308 ? (rest == 0 ? 0 : rest / scale) : 1e308;
        worst = fmax(worst, error);
      }
    }
  }
  if (lane == 0 && worst > 0) {
    atomicMax(s.progress + 1 + s.front_count, static_cast<unsigned long long>(__double_as_longlong(worst)));
  }
}
