/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// One entry point for each kind of task, to see what it takes of registers and of shared memory when it is alone: the
// überkernel takes for all of them what the largest takes. Never launched; gpu/registers.sh compiles it.
#include "drop.cuh"
#include "front_tasks.cuh"
#include "small_front.cuh"
#include "waiting.cuh"

#define ALONE(name, blocks, ...)                                                     \
  extern "C" __global__ void __launch_bounds__(SPARQR_THREADS, blocks)               \
      name(const __grid_constant__ SparqrStage stage, const long long first) {               \
    extern __shared__ __align__(16) double shared[];                                         \
    __shared__ SparqrTask task;                                                              \
    __shared__ SparqrFront front;                                                            \
    __shared__ SparqrClock clock;                                                            \
    if (next_task(stage, first, task, front, clock)) {                                       \
      __VA_ARGS__;                                                                           \
      finish_task(stage, task);                                                              \
    }                                                                                        \
  }

/** The bundle of a task, as qr_task makes it for FACTORIZE and APPLY. */
__device__ __forceinline__ Bundle& bundle_of(const SparqrStage& stage, const SparqrTask& task,
                                             const SparqrFront& front) {
  __shared__ Bundle bundle;
  if (threadIdx.x < task.size) {
    bundle.row[threadIdx.x] = row_tile(stage, front, task.qr.tile[threadIdx.x]);
  }
  if (threadIdx.x == 0) {
    bundle.size = task.size;
  }
  __syncthreads();
  return bundle;
}

#define BY_BUNDLE(n)                                                                                             \
  ALONE(factorize_by_cholesky_##n, 2,                                                                            \
        cholesky_factorize<n>(shared, cholesky_shared(), bundle_of(stage, task, front), front.ld, task.qr.column, \
                              stage.vt))                                                                         \
  ALONE(factorize_by_reflectors_##n, 2,                                                                          \
        householder_factorize<n>(*reinterpret_cast<HouseholderShared*>(shared), bundle_of(stage, task, front),   \
                                 front.ld, task.qr.column, 32, stage.vt))                                        \
  ALONE(apply_##n, 2,                                                                                            \
        (apply_task<n, true>(shared, front, bundle_of(stage, task, front), task.qr.column, stage.vt, task.qr.from, \
                             task.qr.to)))                                                                       \
  ALONE(drop_##n, 2, drop_task<n>(shared, stage, task, front))

BY_BUNDLE(8)
BY_BUNDLE(4)
ALONE(small_front, 2, small_front_task(shared, stage, task, front, stage.state[task.front]))
ALONE(pack_assemble, 2, pack_assemble_task(stage, task, front))
ALONE(assemble_block, 2, assemble_block_task(stage, task, front))
ALONE(assemble_s, 2, assemble_s_task(stage, task, front))
ALONE(pack_rows, 2, pack_rows_task(stage, task, front))
ALONE(residual, 2,
      sum_squares(stage.arena + front.data, front.ld, front, task.out.row_from, task.out.row_to, stage.residual, shared))
