/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// The überkernel: one thread block per task of any kind (SQR section 3). Grid: the tasks of some rounds, in list order;
// each waits for its dependencies (next_task). Block: 128 threads, stage.shared_doubles of dynamic shared memory, at
// least SPARQR_SHARED_DOUBLES(bundle). sparqr_round_8 takes bundles of up to 8 row tiles, sparqr_round_4 of up to 4.
#include "back_substitution.cuh"
#include "column_sums.cuh"
#include "drop.cuh"
#include "forward_substitution.cuh"
#include "front_tasks.cuh"
#include "small_front.cuh"
#include "waiting.cuh"

template <int BUNDLE>
__device__ __forceinline__ void run_kind(const SparqrStage& stage, const SparqrTask& task, const SparqrFront& front) {
  extern __shared__ __align__(16) double shared[];
  __shared__ Bundle bundle;
  const int kind = task.kind;
  if (kind == SPARQR_ASSEMBLE_BLOCK) {
    assemble_block_task(stage, task, front);
    return;
  }
  const int state = stage.state[task.front];
  if (state == SPARQR_STATE_PENDING) {
    if (threadIdx.x == 0) {
      if (kind == SPARQR_PACK_ASSEMBLE) {
        stage.state[task.pack.parent] = SPARQR_STATE_PENDING;
      } else if (kind == SPARQR_SMALL_FRONT && (task.flags & SPARQR_SMALL_PACK_ASSEMBLE)) {
        stage.state[front.parent] = SPARQR_STATE_PENDING;
      }
    }
    return;
  }
  switch (kind) {
    case SPARQR_FACTORIZE:
    case SPARQR_APPLY_FACTORIZE:
    case SPARQR_APPLY_NEAR:
    case SPARQR_APPLY:
      qr_task<BUNDLE>(shared, bundle, stage, task, front);
      break;
    case SPARQR_SMALL_FRONT:
      small_front_task(shared, stage, task, front, state);
      break;
    case SPARQR_PACK_ASSEMBLE:
      if (state == SPARQR_STATE_SOUND) {
        pack_assemble_task(stage, task, front);
      } else if (threadIdx.x == 0 && front.drop == 0) {
        stage.state[task.pack.parent] = SPARQR_STATE_PENDING;
      }
      break;
    case SPARQR_ASSEMBLE_S:
      assemble_s_task(stage, task, front);
      break;
    case SPARQR_PACK_ROWS:
      // Rows of a dead front are fetched after the stage, or packed by its DROP tasks.
      if (state == SPARQR_STATE_SOUND || stage.progress == nullptr) {
        pack_rows_task(stage, task, front);
      }
      break;
    case SPARQR_RESIDUAL:
      sum_squares(stage.arena + front.data, front.ld, front, task.out.row_from, task.out.row_to,
                  stage.residual + static_cast<long long>(task.out.slot) * front.rhs, shared);
      break;
    default:
      __trap();
  }
}

/** By address: a direct call would cost registers in tasks of every kind. */
typedef void (*DropTask)(double*, const SparqrStage&, const SparqrTask&, const SparqrFront&);
template <int BUNDLE>
__device__ DropTask drop_task_at = drop_task<BUNDLE>;

template <int BUNDLE>
__device__ __forceinline__ void run_task(const SparqrStage& stage, long long first) {
  __shared__ SparqrTask task;
  __shared__ SparqrFront front;
  if (next_task(stage, first, task, front)) {
    if (task.kind == SPARQR_DROP) {
      extern __shared__ __align__(16) double shared[];
      (*const_cast<volatile DropTask*>(&drop_task_at<BUNDLE>))(shared, stage, task, front);
    } else {
      run_kind<BUNDLE>(stage, task, front);
    }
    finish_task(stage, task);
  }
}

extern "C" __global__ void __launch_bounds__(SPARQR_THREADS, 2)
    sparqr_round_8(const __grid_constant__ SparqrStage stage, const long long first) {
  run_task<8>(stage, first);
}

extern "C" __global__ void __launch_bounds__(SPARQR_THREADS, 2)
    sparqr_round_4(const __grid_constant__ SparqrStage stage, const long long first) {
  run_task<4>(stage, first);
}

/** Column sums over the stage's packed output rows. Grid: chunks. Block: 128 threads, as below. */
extern "C" __global__ void __launch_bounds__(SPARQR_THREADS)
    sparqr_output_sums(const __grid_constant__ SparqrSums sums) {
  packed_sums(sums, false);
}

/** Over input blocks. */
extern "C" __global__ void __launch_bounds__(SPARQR_THREADS)
    sparqr_block_sums(const __grid_constant__ SparqrSums sums) {
  packed_sums(sums, true);
}

/** Over input S entries, then over their right-hand sides. */
extern "C" __global__ void __launch_bounds__(SPARQR_THREADS)
    sparqr_entry_sums(const __grid_constant__ SparqrSums sums) {
  entry_sums(sums);
}

extern "C" __global__ void __launch_bounds__(SPARQR_THREADS) sparqr_rhs_sums(const __grid_constant__ SparqrSums sums) {
  rhs_sums(sums);
}

/** The comparison of the two: ||t|| first (one block), then departures. */
extern "C" __global__ void __launch_bounds__(SPARQR_THREADS)
    sparqr_probe_norm(const __grid_constant__ SparqrDepartures departures) {
  probe_norm(departures);
}

extern "C" __global__ void __launch_bounds__(SPARQR_THREADS)
    sparqr_departures(const __grid_constant__ SparqrDepartures all) {
  departures(all);
}

/** R x = c. Grid: items. Block: 128 threads, as below; bounds for many blocks: most of them wait for memory. */
extern "C" __global__ void __launch_bounds__(SPARQR_THREADS, 5)
    sparqr_back_substitution(const __grid_constant__ SparqrSolve solve) {
  back_item(solve);
}

/** The backward error of x. */
extern "C" __global__ void __launch_bounds__(SPARQR_THREADS)
    sparqr_back_error(const __grid_constant__ SparqrSolve solve) {
  back_error(solve);
}

/** R'y = c. */
extern "C" __global__ void __launch_bounds__(SPARQR_THREADS, 6)
    sparqr_forward_substitution(const __grid_constant__ SparqrSolve solve) {
  forward_item(solve);
}

/** The backward error of y, and the bits of R. */
extern "C" __global__ void __launch_bounds__(SPARQR_THREADS)
    sparqr_forward_error(const __grid_constant__ SparqrSolve solve) {
  forward_error(solve);
}
