/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Tickets, waits and counts of tasks, without a barrier between rounds (docs/design/kernels.md, Waiting).
#pragma once
#include "stage.cuh"
#ifdef SPARQR_SEVERAL
#include "several/timeline.cuh"
#endif

/**
 * After a failed poll: whether the list has been given up, also by this call after too long a wait.
 *
 * @param progress the word with the tickets and SPARQR_GIVEN_UP
 */
__device__ __forceinline__ bool given_up(unsigned long long* progress, unsigned long long wait_nanos,
                                         unsigned long long& since) {
  unsigned long long now, tickets;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(tickets) : "l"(progress));
  since = since == 0 ? now : since;
  if (tickets >= SPARQR_GIVEN_UP || now - since > wait_nanos) {
    atomicOr(progress, SPARQR_GIVEN_UP);
    return true;
  }
  __nanosleep(64);
  return false;
}

__device__ __forceinline__ bool given_up(const SparqrStage& stage, unsigned long long& since) {
  return given_up(stage.progress, stage.wait_nanos, since);
}

/**
 * Waits until a front's counts have been reached; false if the stage has been given up. A task that waits longer than
 * wait_nanos gives it up: the list must have a cyclic dependency. Called by one thread.
 */
__device__ __forceinline__ bool wait_for(const SparqrStage& stage, const unsigned long long* counts, unsigned chain,
                                         unsigned bulk) {
  unsigned long long since = 0;
  while (true) {
    unsigned long long have;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(have) : "l"(counts) : "memory");
    if (static_cast<unsigned>(have) >= chain && static_cast<unsigned>(have >> 32) >= bulk) {
#ifdef SPARQR_SEVERAL
      if (since != 0 && stage.timeline != nullptr) {
        end_wait(block_clock());
      }
#endif
      return true;
    }
#ifdef SPARQR_SEVERAL
    if (stage.timeline != nullptr) {
      block_clock().missing = static_cast<unsigned>(have) >= chain ? SPARQR_WAIT_BULK : SPARQR_WAIT_CHAIN;
    }
#endif
    if (given_up(stage, since)) {
      return false;
    }
  }
}

/**
 * Gives the stage up for a task of a kind that there is not, by the first that finds one: its place in the list, from 1,
 * and its kind in the low byte. Called by one thread. CudaRoundExecutor reads both.
 */
__device__ __forceinline__ void unknown_task(const SparqrStage& stage, long long number, int kind) {
  atomicCAS(stage.failure, 0ull, static_cast<unsigned long long>(number + 1) << 8 | static_cast<unsigned>(kind));
  if (stage.progress != nullptr) {
    atomicOr(stage.progress, SPARQR_GIVEN_UP);
  }
}

/**
 * Puts this block's task and its front into shared memory, once its dependencies are done. Blocks take tasks in the
 * order in which they start, so the dependencies are running or finished: no deadlock, in whatever order the device
 * starts blocks. False: the stage has been given up, or is now because its task is of an unknown kind. Called by all
 * threads of the block.
 */
__device__ __forceinline__ bool next_task(const SparqrStage& stage, long long first, SparqrTask& task,
                                          SparqrFront& front) {
  constexpr int TASK_WORDS = sizeof(SparqrTask) / sizeof(int4);
  constexpr int FRONT_WORDS = sizeof(SparqrFront) / sizeof(int4);
  bool given_up = false;
  if (threadIdx.x < 32) {
    const int lane = threadIdx.x;
    long long number = first + blockIdx.x;
    if (stage.progress != nullptr) {
      if (lane == 0) {
        // Blocks nearly always start in order: prefetch the likely record while waiting for the ticket.
        asm volatile("prefetch.global.L2 [%0];" ::"l"(stage.tasks + number));
#ifdef SPARQR_SEVERAL
        if (stage.timeline != nullptr) {
          // Two atomic operations on their way at the same time.
          SparqrClock& clock = block_clock();
          const unsigned long long begin = begin_clock(*stage.timeline, clock);
          number = atomicAdd(stage.progress, 1ull);
          clock.begin = min(begin, clock.taken);
        } else {
          number = atomicAdd(stage.progress, 1ull);
        }
#else
        number = atomicAdd(stage.progress, 1ull);
#endif
      }
      number = __shfl_sync(~0u, number, 0);
      given_up = number < 0;
      number = given_up ? first : number;
    }
    int4 word = make_int4(0, 0, 0, 0);
    if (lane < TASK_WORDS) {
      word = reinterpret_cast<const int4*>(stage.tasks + number)[lane];
      reinterpret_cast<int4*>(&task)[lane] = word;
    }
    const int kind = __shfl_sync(~0u, word.x, 0) & 0xff;
#ifdef SPARQR_SEVERAL
    const bool unknown = kind >= (stage.peers == nullptr ? SPARQR_KINDS_OF_ONE : SPARQR_KINDS);
#else
    const bool unknown = kind >= SPARQR_KINDS;
#endif
    // What names no kind names no front.
    const int f = unknown ? 0 : __shfl_sync(~0u, word.y, 0);
    const unsigned chain = __shfl_sync(~0u, word.x, TASK_WORDS - 1);
    const unsigned bulk = __shfl_sync(~0u, word.y, TASK_WORDS - 1);
    if (lane < FRONT_WORDS) {
      reinterpret_cast<int4*>(&front)[lane] = reinterpret_cast<const int4*>(stage.fronts + f)[lane];
    }
    if (unknown) {
      if (lane == 0 && !given_up) {
        unknown_task(stage, number, kind);
      }
      given_up = true;
    } else if (stage.progress != nullptr && (chain | bulk) != 0 && lane == 0 && !given_up) {
      given_up = !wait_for(stage, stage.progress + 1 + f, chain, bulk);
    }
  }
  return !__syncthreads_or(given_up);
}

/** Counts the block's task as done, after all writes of its threads. */
__device__ __forceinline__ void finish_task(const SparqrStage& stage, const SparqrTask& task) {
  if (stage.progress == nullptr) {
    return;
  }
  int front = task.front;
  unsigned long long one = 1ull << 32;
#ifdef SPARQR_SEVERAL
  constexpr int MARKED = SPARQR_DEVICES << 1;
  bool announces = false;
  switch (task.kind | (task.flags & SPARQR_DEVICES) << 1) {
    case SPARQR_FACTORIZE | MARKED:
    case SPARQR_APPLY_FACTORIZE | MARKED:
      one = 1;
      announces = true;
      break;
    case SPARQR_SMALL_FRONT | MARKED:
    case SPARQR_DROP | MARKED:
      break;
    case SPARQR_PULL:
      one = task.applied == SPARQR_PART_BUNDLE ? 1 : one;
      break;
    case SPARQR_ANNOUNCE:
      one = 0;
      announces = true;
      break;
    case SPARQR_PACK_ASSEMBLE | MARKED:
      front = task.pack.parent;
      break;
#else
  switch (task.kind) {
#endif
    case SPARQR_FACTORIZE:
    case SPARQR_APPLY_FACTORIZE:
    case SPARQR_APPLY_NEAR:
      one = 1;
      break;
    case SPARQR_APPLY:
    case SPARQR_ASSEMBLE_S:
      break;
    case SPARQR_PACK_ASSEMBLE:
    case SPARQR_ASSEMBLE_BLOCK:
      front = task.pack.parent;
      break;
    case SPARQR_DROP:
      front = task.small.parent;
      break;
    case SPARQR_SMALL_FRONT:
      front = task.flags & SPARQR_SMALL_PACK_ASSEMBLE ? task.small.parent : -1;
      break;
    default:
      front = -1;
  }
  if (front >= 0) {
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("red.release.gpu.global.add.u64 [%0], %1;" ::"l"(stage.progress + 1 + front), "l"(one) : "memory");
#ifdef SPARQR_SEVERAL
      if (announces) {
        // Read by other devices. What this block has waited for is released with it: scopes add up (PTX, causality).
        asm volatile("red.release.sys.global.add.u64 [%0], 1;" ::"l"(stage.announced + front) : "memory");
      }
#endif
    }
  }
}
