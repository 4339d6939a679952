/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// A whole small front in one thread block: assembled, factorized column by column, its contribution block passed on and
// its rows packed, in one task. The front is in shared memory with an odd row stride (no bank conflicts by row or
// column) if it fits, else it is processed in place. A warp takes four columns at a time: one pass for the four inner
// products with the pivot column (and, redundantly in each warp, its norm), one butterfly, one pass for the update. The
// pivot column keeps the unnormalised reflector; R_kk goes to a separate array, so that one barrier per column is
// enough. Bound by the latency of that chain, about 700 cycles per column.
#pragma once
#include "assemble.cuh"
#include "householder_qr.cuh"

constexpr int SPARQR_SMALL_COLUMNS = 256;

/** Shared memory in addition to the front. */
struct SmallShared {
  double diagonal[SPARQR_SMALL_COLUMNS];
  double sums[SPARQR_WARPS];
  int floor[SPARQR_SMALL_COLUMNS];  // first the high word of a column's largest entry
  short exponent[SPARQR_SMALL_COLUMNS];
  int state;
};
static_assert(sizeof(SmallShared) == 3624 && alignof(SmallShared) == alignof(double), "the front follows");

/** Shared memory of a small front: the front itself takes as much of the rest as it needs. */
struct SmallFrontShared {
  SmallShared head;
  double front[1];
};
constexpr std::size_t SPARQR_SMALL_HEAD = offsetof(SmallFrontShared, front) / sizeof(double);
static_assert(SPARQR_SMALL_HEAD == 453, "");

/** Columns j, j + 4, j + 8, j + 12 (those below `columns`) of the k-th elimination step. */
__device__ __forceinline__ void eliminate(double* a, int ld, int k, int rows, int columns, int first, SmallShared& sh) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const double alpha = a[k * ld + k];
  Reflector h;
  bool have = false;
  for (int base = first; base < columns || !have; base += 16) {
    double s[4] = {0, 0, 0, 0}, q = 0;
    int column[4];
#pragma unroll
    for (int c = 0; c < 4; c++) {
      // Columns past the end read the pivot column instead, which is not written in this step.
      column[c] = base + 4 * c < columns ? base + 4 * c : k;
    }
    for (int i = k + 1 + lane; i < rows; i += 32) {
      const double* row = a + i * ld;
      const double x = row[k];
      q = fma(x, x, q);
#pragma unroll
      for (int c = 0; c < 4; c++) {
        s[c] = fma(x, row[column[c]], s[c]);
      }
    }
#pragma unroll
    for (int step = 16; step > 0; step >>= 1) {
      const double u = __shfl_xor_sync(~0u, q, step);
      double v[4];
#pragma unroll
      for (int c = 0; c < 4; c++) {
        v[c] = __shfl_xor_sync(~0u, s[c], step);
      }
      q += u;
#pragma unroll
      for (int c = 0; c < 4; c++) {
        s[c] += v[c];
      }
    }
    if (!have) {
      h = reflector(alpha, fma(alpha, alpha, q), sh.floor[k]);
      have = true;
    }
    double w[4], top[4];
#pragma unroll
    for (int c = 0; c < 4; c++) {
      top[c] = a[k * ld + column[c]];
      w[c] = h.gamma * fma(h.pivot, top[c], s[c]);
    }
    __syncwarp();
#pragma unroll
    for (int c = 0; c < 4; c++) {
      if (base + 4 * c < columns && lane == 0) {
        a[k * ld + column[c]] = fma(-h.pivot, w[c], top[c]);
      }
    }
    for (int i = k + 1 + lane; i < rows; i += 32) {
      double* row = a + i * ld;
      const double x = row[k];
#pragma unroll
      for (int c = 0; c < 4; c++) {
        if (base + 4 * c < columns) {
          row[column[c]] = fma(-x, w[c], row[column[c]]);
        }
      }
    }
  }
  if (warp == 0 && lane == 0) {
    sh.diagonal[k] = h.beta * power_of_two(sh.exponent[k]);
  }
}

/**
 * Divides every column whose squares could overflow or vanish by a power of two and finds each column's floor
 * (householder_qr.cuh); returns whether any was divided. Ends with a barrier.
 */
__device__ __forceinline__ bool scale_columns(double* a, int ld, int rows, int columns, SmallShared& sh) {
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  for (int j = threadIdx.x; j < columns; j += SPARQR_THREADS) {
    sh.floor[j] = 0;
  }
  __syncthreads();
  for (int j = lane; j < columns; j += 32) {
    int largest = 0;  // at least 1 if the column is not zero
    for (int i = warp; i < rows; i += SPARQR_WARPS) {
      const double x = fabs(a[i * ld + j]);
      largest = max(largest, max(__double2hiint(x), static_cast<int>(x != 0)));
    }
    atomicMax(&sh.floor[j], largest);
  }
  __syncthreads();
  bool scaled = false;
  for (int j = threadIdx.x; j < columns; j += SPARQR_THREADS) {
    const ColumnScale size(static_cast<unsigned>(sh.floor[j]));
    const int exponent = sh.floor[j] == 0 ? 0 : size.exponent;
    sh.floor[j] = size.floor;
    sh.exponent[j] = static_cast<short>(exponent);
    scaled = scaled || exponent != 0;
  }
  scaled = __syncthreads_or(scaled);
  if (scaled) {
    for (int j = lane; j < columns; j += 32) {
      const double scale = power_of_two(-sh.exponent[j]);
      for (int i = warp; i < rows; i += SPARQR_WARPS) {
        a[i * ld + j] *= scale;
      }
    }
    __syncthreads();
  }
  return scaled;
}

__device__ __forceinline__ void small_front_task(double* shared, const SparqrStage& stage, const SparqrTask& task,
                                                 const SparqrFront& front, int state) {
  SmallShared& sh = *reinterpret_cast<SmallShared*>(shared);
  double* a = shared + SPARQR_SMALL_HEAD;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int columns = front.fn + front.rhs;
  double* home = stage.arena + front.data;
  int ld = columns | 1;
  const bool inside = static_cast<long long>(front.fm) * ld + SPARQR_SMALL_HEAD <= stage.shared_doubles;
  if (threadIdx.x == 0) {
    sh.state = state;
  }
  if (inside) {
    for (int i = warp; i < front.fm; i += SPARQR_WARPS) {
      for (int j = lane; j < columns; j += 32) {
        a[i * ld + j] = home[i * front.ld + j];
      }
    }
  } else {
    a = home;
    ld = front.ld;
  }
  __syncthreads();
  if (task.flags & SPARQR_SMALL_ASSEMBLE_S) {
    for (long long e = front.s_from + threadIdx.x; e < front.s_to; e += SPARQR_THREADS) {
      const unsigned place = stage.s_index[e];
      const unsigned i = place / static_cast<unsigned>(front.ld);
      a[i * ld + (place - i * front.ld)] = stage.s_value[e];
    }
    __syncthreads();
  }
  // A front without rows may have more columns than there is room for.
  const bool scaled = front.fm > 0 && scale_columns(a, ld, front.fm, front.fn, sh);
  const int steps = min(front.fm, front.fn);
  for (int k = 0; k < steps; k++) {
    eliminate(a, ld, k, front.fm, columns, k + 1 + warp, sh);
    __syncthreads();
  }
  if (stage.tolerance >= 0) {
    for (int j = threadIdx.x; j < front.fp; j += SPARQR_THREADS) {
      if (!((j < steps ? fabs(sh.diagonal[j]) : 0.0) > stage.tolerance)) {
        sh.state = SPARQR_STATE_DEAD;
      }
    }
    __syncthreads();
  }
  // A front with a dead pivot is finished anyway, but passes its state on instead of its block.
  const bool dead = sh.state != SPARQR_STATE_SOUND;
  if (dead && threadIdx.x == 0) {
    stage.state[task.front] = SPARQR_STATE_DEAD;
    if (task.flags & SPARQR_SMALL_PACK_ASSEMBLE) {
      stage.state[front.parent] = SPARQR_STATE_PENDING;
    }
  }
  // Writes R with its diagonal back, unscaled, because rows may be fetched later.
  for (int i = warp; i < steps; i += SPARQR_WARPS) {
    for (int j = i + lane; j < columns; j += 32) {
      const double unscale = scaled && j < front.fn ? power_of_two(sh.exponent[j]) : 1.0;
      const double x = j == i ? sh.diagonal[i] : a[i * ld + j] * unscale;
      a[i * ld + j] = x;
      if (inside) {
        home[i * front.ld + j] = x;
      }
    }
  }
  __syncthreads();
  if (!dead && (task.flags & SPARQR_SMALL_PACK_ASSEMBLE)) {
    const SparqrFront& parent = stage.fronts[front.parent];
    const int32_t* column_map = stage.maps + front.column_map;
    for (int i = warp; i < front.cm; i += SPARQR_WARPS) {
      double* to = stage.arena + parent.data + static_cast<long long>(stage.maps[front.row_map + i]) * parent.ld;
      for (int j = i + lane; j < columns - front.fp; j += 32) {
        to[column_map[j]] = a[(front.fp + i) * ld + front.fp + j];
      }
    }
  }
  if (task.flags & SPARQR_SMALL_PACK_ROWS) {
    for (int i = warp; i < task.out.row_to; i += SPARQR_WARPS) {
      const long long n = i;
      pack_row(front, a + i * ld, i, a[i * ld + i], stage.out + task.out.out + n * front.fn - n * (n - 1) / 2,
               stage.out + task.out.out_rhs + n * front.rhs);
    }
  }
  if (task.flags & SPARQR_SMALL_RESIDUAL) {
    sum_squares(a, ld, front, steps, front.fm, stage.residual + static_cast<long long>(task.out.slot) * front.rhs,
                sh.sums);
  }
}
