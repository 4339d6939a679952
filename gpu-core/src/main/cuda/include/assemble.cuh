/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Data movement: S-assembly and pack assembly (SQR section 3.3.1), rows out, sums of squares.
// Bound by memory: a warp a row, lanes along columns. Sources and targets may be the same array for all
// the compiler knows, so it loads nothing before an earlier store; therefore several loads first,
// then their stores, by hand.
#pragma once
#include "stage.cuh"

constexpr int SPARQR_IN_FLIGHT = 8;  // values that a thread has on their way

/** to[map[j]] = from[j] for j = first, first + step, .. below end. */
template <typename Place, typename Value>
__device__ __forceinline__ void scatter(double* to, const Place* map, Value from, long long first,
                                        long long end, int step) {
  for (long long base = first; base < end; base += SPARQR_IN_FLIGHT * step) {
    Place place[SPARQR_IN_FLIGHT];
    double value[SPARQR_IN_FLIGHT];
#pragma unroll
    for (int u = 0; u < SPARQR_IN_FLIGHT; u++) {
      const long long j = base + u * step;
      if (j < end) {
        place[u] = map[j];
        value[u] = from(j);
      }
    }
#pragma unroll
    for (int u = 0; u < SPARQR_IN_FLIGHT; u++) {
      if (base + u * step < end) {
        to[place[u]] = value[u];
      }
    }
  }
}

/** Scatters S entries [from, to) into their front. */
__device__ __forceinline__ void assemble_s_task(const SparqrStage& stage, const SparqrTask& task,
                                                const SparqrFront& front) {
  const double* value = stage.s_value;
  scatter(
      stage.arena + front.data, stage.s_index, [value](long long e) { return value[e]; },
      task.scatter.from + threadIdx.x, task.scatter.to, SPARQR_THREADS);
}

/** Copies a part of a front's contribution block to its parent by Rimap and Rjmap. */
__device__ __forceinline__ void pack_assemble_task(const SparqrStage& stage, const SparqrTask& task,
                                                   const SparqrFront& front) {
  const SparqrFront& parent = stage.fronts[task.pack.parent];
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int32_t* column_map = stage.maps + front.column_map;
  for (int i = task.pack.row_from + warp; i < task.pack.row_to; i += SPARQR_WARPS) {
    const double* from = stage.arena + front.data +
                         static_cast<long long>(front.fp + i) * front.ld + front.fp;
    double* to = stage.arena + parent.data +
                 static_cast<long long>(stage.maps[front.row_map + i]) * parent.ld;
    scatter(
        to, column_map, [from](long long j) { return from[j]; },
        max(task.pack.column_from, i) + lane, task.pack.column_to, 32);
  }
}

/** The same from a packed block of the input buffer. */
__device__ __forceinline__ void assemble_block_task(const SparqrStage& stage,
                                                    const SparqrTask& task,
                                                    const SparqrFront& block) {
  const SparqrFront& parent = stage.fronts[task.pack.parent];
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int32_t* column_map = stage.maps + block.column_map;
  for (int i = task.pack.row_from + warp; i < task.pack.row_to; i += SPARQR_WARPS) {
    const long long row = i;
    const double* values = stage.input + block.data + row * block.fn - row * (row - 1) / 2 - row;
    const double* rhs = stage.input + block.data_rhs + row * block.rhs - block.fn;
    double* to = stage.arena + parent.data +
                 static_cast<long long>(stage.maps[block.row_map + i]) * parent.ld;
    const int columns = block.fn;
    scatter(
        to, column_map,
        [values, rhs, columns](long long j) { return j < columns ? values[j] : rhs[j]; },
        max(task.pack.column_from, i) + lane, task.pack.column_to, 32);
  }
}

/**
 * One row of R or of the contribution block to the output buffer; values[k] is column row + k of
 * the front. Called by a warp.
 */
__device__ __forceinline__ void pack_row(const SparqrFront& front, const double* row_start, int row,
                                         double diagonal, double* out, double* out_rhs) {
  const int lane = threadIdx.x & 31;
  const double sign = row < front.fp && diagonal < 0 ? -1.0 : 1.0;
  for (int base = row + lane; base < front.fn; base += 32 * SPARQR_IN_FLIGHT) {
    double value[SPARQR_IN_FLIGHT];
#pragma unroll
    for (int u = 0; u < SPARQR_IN_FLIGHT; u++) {
      const int j = base + 32 * u;
      if (j < front.fn) {
        value[u] = j == row ? diagonal : row_start[j];
      }
    }
#pragma unroll
    for (int u = 0; u < SPARQR_IN_FLIGHT; u++) {
      const int j = base + 32 * u;
      if (j < front.fn) {
        out[j - row] = sign * value[u];
      }
    }
  }
  for (int j = lane; j < front.rhs; j += 32) {
    out_rhs[j] = sign * row_start[front.fn + j];
  }
}

/** Packs final rows [row_from, row_to) of a front into the output buffer. */
__device__ __forceinline__ void pack_rows_task(const SparqrStage& stage, const SparqrTask& task,
                                               const SparqrFront& front) {
  const int warp = threadIdx.x >> 5;
  for (int i = task.out.row_from + warp; i < task.out.row_to; i += SPARQR_WARPS) {
    const double* row = stage.arena + front.data + static_cast<long long>(i) * front.ld;
    const long long n = i - task.out.row_from;
    const long long before = n * (front.fn - task.out.row_from) - n * (n - 1) / 2;
    pack_row(front, row, i, row[i], stage.out + task.out.out + before,
             stage.out + task.out.out_rhs + n * front.rhs);
  }
}

/** residual[slot * rhs + j] = sum over rows [from, to) of a[i * ld + fn + j]^2, in a fixed order. */
__device__ __forceinline__ void sum_squares(const double* a, long long ld, const SparqrFront& front,
                                            int from, int to, double* residual, double* shared) {
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  for (int j = 0; j < front.rhs; j++) {
    double s = 0;
    for (int i = from + threadIdx.x; i < to; i += SPARQR_THREADS) {
      const double x = a[i * ld + front.fn + j];
      s = fma(x, x, s);
    }
    for (int step = 16; step > 0; step >>= 1) {
      s += __shfl_xor_sync(~0u, s, step);
    }
    __syncthreads();
    if (lane == 0) {
      shared[warp] = s;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      residual[j] = (shared[0] + shared[1]) + (shared[2] + shared[3]);
    }
  }
}
