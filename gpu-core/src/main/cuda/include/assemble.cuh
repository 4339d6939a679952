/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Data movement: S-assembly and pack assembly (SQR section 3.3.1), rows out, sums of squares.
// Bound by memory: one warp per row, lanes along columns. The compiler must assume that sources and targets overlap, so
// it moves no load before an earlier store; hence several loads first, then their stores, by hand.
#pragma once
#include "stage.cuh"

/** to[map[j]] = from[j] for j = first, first + step, .. below end; IN_FLIGHT loads at a time. */
template <int IN_FLIGHT, typename Place, typename Value>
__device__ __forceinline__ void scatter(double* to, const Place* map, Value from, long long first, long long end,
                                        int step) {
  for (long long base = first; base < end; base += IN_FLIGHT * step) {
    Place place[IN_FLIGHT];
    double value[IN_FLIGHT];
#pragma unroll
    for (int u = 0; u < IN_FLIGHT; u++) {
      const long long j = base + u * step;
      if (j < end) {
        place[u] = map[j];
        value[u] = from(j);
      }
    }
#pragma unroll
    for (int u = 0; u < IN_FLIGHT; u++) {
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
  scatter<16>(
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
    const double* from = stage.arena + front.data + static_cast<long long>(front.fp + i) * front.ld + front.fp;
    double* to = stage.arena + parent.data + static_cast<long long>(stage.maps[front.row_map + i]) * parent.ld;
    scatter<8>(
        to, column_map, [from](long long j) { return from[j]; }, max(task.pack.column_from, i) + lane,
        task.pack.column_to, 32);
  }
}

/** The same from a packed block of the input buffer. */
__device__ __forceinline__ void assemble_block_task(const SparqrStage& stage, const SparqrTask& task,
                                                    const SparqrFront& block) {
  const SparqrFront& parent = stage.fronts[task.pack.parent];
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int32_t* column_map = stage.maps + block.column_map;
  for (int i = task.pack.row_from + warp; i < task.pack.row_to; i += SPARQR_WARPS) {
    const long long row = i;
    const double* values = stage.input + block.data + row * block.fn - row * (row - 1) / 2 - row;
    const double* rhs = stage.input + block.data_rhs + row * block.rhs - block.fn;
    double* to = stage.arena + parent.data + static_cast<long long>(stage.maps[block.row_map + i]) * parent.ld;
    const int columns = block.fn;
    scatter<8>(
        to, column_map, [values, rhs, columns](long long j) { return j < columns ? values[j] : rhs[j]; },
        max(task.pack.column_from, i) + lane, task.pack.column_to, 32);
  }
}

/**
 * One row of a small front's R or contribution block to the output buffer. Called by a warp.
 */
__device__ __forceinline__ void pack_row(const SparqrFront& front, const double* row_start, int row, double diagonal,
                                         double* out, double* out_rhs) {
  const int lane = threadIdx.x & 31;
  const double sign = row < front.fp && diagonal < 0 ? -1.0 : 1.0;
  for (int j = row + lane; j < front.fn; j += 32) {
    out[j - row] = sign * (j == row ? diagonal : row_start[j]);
  }
  for (int j = lane; j < front.rhs; j += 32) {
    out_rhs[j] = sign * row_start[front.fn + j];
  }
}

/** Packs final rows [row_from, row_to) of a front into the output buffer. */
__device__ __forceinline__ void pack_rows_task(const SparqrStage& stage, const SparqrTask& task,
                                               const SparqrFront& front) {
  constexpr int ROWS = 4, COLUMNS = 4;  // in flight per warp, columns in units of 32
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int first = task.out.row_from, columns = front.fn + front.rhs;
  for (int r = first + ROWS * warp; r < task.out.row_to; r += ROWS * SPARQR_WARPS) {
    const double* from[ROWS];
    double sign[ROWS];
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
      from[i] = stage.arena + front.data + static_cast<long long>(r + i) * front.ld;
      sign[i] = r + i < task.out.row_to && r + i < front.fp ? from[i][r + i] : 0.0;
    }
    for (int base = r + lane; base < columns; base += 32 * COLUMNS) {
      double value[ROWS][COLUMNS];
#pragma unroll
      for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int u = 0; u < COLUMNS; u++) {
          const int j = base + 32 * u;
          value[i][u] = r + i < task.out.row_to && j < columns ? from[i][j] : 0.0;
        }
      }
#pragma unroll
      for (int i = 0; i < ROWS; i++) {
        const long long n = r + i - first;
        double* out = stage.out + task.out.out + n * (front.fn - first) - n * (n - 1) / 2 - (r + i);
        double* out_rhs = stage.out + task.out.out_rhs + n * front.rhs - front.fn;
#pragma unroll
        for (int u = 0; u < COLUMNS; u++) {
          const int j = base + 32 * u;
          if (r + i < task.out.row_to && j >= r + i && j < columns) {
            (j < front.fn ? out : out_rhs)[j] = sign[i] < 0 ? -value[i][u] : value[i][u];
          }
        }
      }
    }
  }
}

/** residual[slot * rhs + j] = sum over rows [from, to) of a[i * ld + fn + j]^2, in a fixed order. */
__device__ __forceinline__ void sum_squares(const double* a, long long ld, const SparqrFront& front, int from, int to,
                                            double* residual, double* shared) {
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
