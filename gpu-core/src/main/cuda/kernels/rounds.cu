/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Rounds. The überkernel: one thread block per task of any kind (SQR section 3). Grid: the tasks of some rounds, in list
// order; each waits for its dependencies (next_task). Block: 128 threads, stage.shared_doubles of dynamic shared memory,
// what CudaModule.sharedDoubles says. sparqr_round_8 takes bundles of up to 8 row tiles, sparqr_round_4 of up to 4.
// With SPARQR_SEVERAL (several.cu) they also take what lists for several devices have, and count what they do when.
// What each kind of task takes of registers and of shared memory: docs/design/kernels.md, Resources.
#include "drop.cuh"
#include "front_tasks.cuh"
#include "small_front.cuh"
#include "waiting.cuh"
#ifdef SPARQR_SEVERAL
#include "several/peers.cuh"
#endif

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
#ifdef SPARQR_SEVERAL
      // A block that has left its device, or may: sound or dropped; else its parent is pending.
      if (task.flags & SPARQR_DEVICES) {
        if (state == SPARQR_STATE_SOUND || state == SPARQR_STATE_DROPPED) {
          pack_assemble_task(stage, task, front);
        } else if (threadIdx.x == 0) {
          stage.state[task.pack.parent] = SPARQR_STATE_PENDING;
        }
        break;
      }
#endif
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
      break;  // next_task lets no other kind pass
  }
}

/** By address: a direct call would cost registers in tasks of every kind. */
typedef void (*DropTask)(double*, const SparqrStage&, const SparqrTask&, const SparqrFront&);
template <int BUNDLE>
__device__ DropTask drop_task_at = drop_task<BUNDLE>;

#ifdef SPARQR_SEVERAL
/** The same. */
typedef bool (*PeerTask)(const SparqrStage&, const SparqrTask&, const SparqrFront&, SparqrClock&);
__device__ PeerTask peer_task_at = peer_task;

/** The same. */
__device__ __noinline__ void timeline_task(const SparqrStage& stage, int kind, const SparqrClock& clock) {
  count_task(*stage.timeline, stage.bin_shift, kind, clock);
}
typedef void (*TimelineTask)(const SparqrStage&, int, const SparqrClock&);
__device__ TimelineTask timeline_task_at = timeline_task;

template <int BUNDLE>
__device__ __forceinline__ void run_task(const SparqrStage& stage, long long first) {
  __shared__ SparqrTask task;
  __shared__ SparqrFront front;
  if (!next_task(stage, first, task, front)) {
    return;
  }
  if (task.kind < SPARQR_DROP) {
    run_kind<BUNDLE>(stage, task, front);
  } else if (task.kind == SPARQR_DROP) {
    // A front's own parent is on another device where its block leaves: the task says who is next.
    if (threadIdx.x == 0) {
      front.parent = task.small.parent;
    }
    __syncthreads();
    extern __shared__ __align__(16) double shared[];
    (*const_cast<volatile DropTask*>(&drop_task_at<BUNDLE>))(shared, stage, task, front);
  } else if (!(*const_cast<volatile PeerTask*>(&peer_task_at))(stage, task, front, block_clock())) {
    return;
  }
  finish_task(stage, task);
  if (stage.timeline != nullptr) {
    __syncthreads();
    if (threadIdx.x == 0) {
      (*const_cast<volatile TimelineTask*>(&timeline_task_at))(stage, task.kind, block_clock());
    }
  }
}
#else
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
#endif

extern "C" __global__ void __launch_bounds__(SPARQR_THREADS, 2)
    sparqr_round_8(const __grid_constant__ SparqrStage stage, const long long first) {
  run_task<8>(stage, first);
}

extern "C" __global__ void __launch_bounds__(SPARQR_THREADS, 2)
    sparqr_round_4(const __grid_constant__ SparqrStage stage, const long long first) {
  run_task<4>(stage, first);
}
