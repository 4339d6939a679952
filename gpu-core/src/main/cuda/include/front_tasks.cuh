/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// The tasks of tiled fronts: Factorize, Apply and their pipelined combination.
#pragma once
#include "apply.cuh"
#include "cholesky_qr.cuh"
#include "householder_qr.cuh"

/** Row tile `tile` of a front. */
__device__ __forceinline__ double* row_tile(const SparqrStage& stage, const SparqrFront& front, int tile) {
  return stage.arena + front.data + static_cast<long long>(tile) * SPARQR_TILE * front.ld;
}

/** Columns of column tile `column` that get a reflector. */
__device__ __forceinline__ int reflector_columns(const SparqrFront& front, int column) {
  return max(0, min(SPARQR_TILE, front.fn - column * SPARQR_TILE));
}

/** Marks the front if a pivot of its column tile is dead. */
__device__ __forceinline__ void check_pivots(const SparqrStage& stage, const SparqrFront& front, int number, int column,
                                             const double* beta) {
  const int j = column * SPARQR_TILE + threadIdx.x;
  if (threadIdx.x < SPARQR_TILE && j < front.fp && stage.tolerance >= 0 &&
      !(fabs(beta[threadIdx.x]) > stage.tolerance)) {
    stage.state[number] = SPARQR_STATE_DEAD;
  }
}

/** Shared memory of Cholesky QR, the same for all callers. */
__device__ __forceinline__ CholeskyShared& cholesky_shared() {
  __shared__ CholeskyShared cholesky;
  return cholesky;
}

template <int BUNDLE>
__device__ __forceinline__ void factorize_task(double* shared, const SparqrStage& stage, const SparqrTask& task,
                                               const SparqrFront& front, const Bundle& bundle, int column) {
  CholeskyShared& cholesky = cholesky_shared();
  HouseholderShared& sh = *reinterpret_cast<HouseholderShared*>(shared);
  const int columns = reflector_columns(front, column);
  double* vt = task.qr.vt_write < 0 ? nullptr : stage.vt + static_cast<long long>(task.qr.vt_write) * SPARQR_VT_DOUBLES;
  const bool few = BUNDLE > 4 && bundle.size <= 4;
  const double* beta = sh.beta;
  bool done = false;
  // Not columns == 32: for round_4, ptxas 13.0.88 compiles that to a comparison that 31 passes too.
  const bool full = front.fn >= (column + 1) * SPARQR_TILE;
  // A single square tile is hardly ever far enough from singular.
  if (full && bundle.size > 1 && stage.reflectors == 0) {
    done = few ? cholesky_factorize<4>(shared, cholesky, bundle, front.ld, column, vt)
               : cholesky_factorize<BUNDLE>(shared, cholesky, bundle, front.ld, column, vt);
    beta = done ? cholesky.beta : beta;
  }
  if (!done) {
    if (few) {
      householder_factorize<4>(sh, bundle, front.ld, column, columns, vt);
    } else {
      householder_factorize<BUNDLE>(sh, bundle, front.ld, column, columns, vt);
    }
  }
  if (task.flags & SPARQR_FINAL) {
    check_pivots(stage, front, task.front, column, beta);
  }
}

/** Apply to column tiles [from, to): the whole bundle in each warp, or two warps per strip. */
template <int BUNDLE, bool BULK>
__device__ __forceinline__ void apply_task(double* shared, const SparqrFront& front, const Bundle& bundle, int column,
                                           const double* vt, int from, int to) {
  load_vt(shared, bundle, front.ld, column, reflector_columns(front, column), vt);
  from *= SPARQR_TILE;
  // Padding past the last right-hand side is zero and stays so.
  to = min(to * SPARQR_TILE, (front.fn + front.rhs + 15) & ~15);
  constexpr int HALF = (BUNDLE + 1) / 2;
  if (BULK) {
    if (BUNDLE > 4 && bundle.size > 4) {
      apply_columns<HALF, 2>(shared, bundle, front.ld, from, to);
    } else {
      apply_columns<(BUNDLE < 4 ? BUNDLE : 4), 1>(shared, bundle, front.ld, from, to);
    }
  } else {
    if (BUNDLE > 4 && bundle.size <= 4) {
      apply_columns<2, 2>(shared, bundle, front.ld, from, to);
    } else {
      apply_columns<HALF, 2>(shared, bundle, front.ld, from, to);
    }
  }
}

/** FACTORIZE, APPLY and APPLY_FACTORIZE. The bundle is in shared memory. */
template <int BUNDLE>
__device__ __forceinline__ void qr_task(double* shared, Bundle& bundle, const SparqrStage& stage,
                                        const SparqrTask& task, const SparqrFront& front) {
  const bool pipelined = task.kind == SPARQR_APPLY_FACTORIZE;
  const int lane = threadIdx.x;
  if (lane < task.size && (!pipelined || lane == 0 || (task.applied >> (lane - 1) & 1))) {
    const int place = pipelined ? __popc(task.applied & ((1 << max(lane - 1, 0)) - 1)) + (lane > 0) : lane;
    bundle.row[place] = row_tile(stage, front, task.qr.tile[lane]);
  }
  if (lane == 0) {
    bundle.size = pipelined ? 1 + __popc(task.applied) : task.size;
  }
  __syncthreads();
  int column = task.qr.column;
  if (task.kind != SPARQR_FACTORIZE) {
    const double* vt = stage.vt + static_cast<long long>(task.qr.vt_read) * SPARQR_VT_DOUBLES;
    if (!pipelined) {
      apply_task<BUNDLE, true>(shared, front, bundle, column, vt, task.qr.from, task.qr.to);
      return;
    }
    apply_task<BUNDLE, false>(shared, front, bundle, column, vt, column + 1, column + 2);
    __syncthreads();
    column++;
    if (lane > 0 && lane < task.size) {
      bundle.row[lane - 1] = row_tile(stage, front, task.qr.tile[lane]);
    }
    if (lane == 0) {
      bundle.size = task.size - 1;
    }
    __syncthreads();
  }
  factorize_task<BUNDLE>(shared, stage, task, front, bundle, column);
}
