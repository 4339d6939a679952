/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// What the workers of a front's DROP tasks share: a record of ints, and how they wait for each other by it.
#pragma once
#ifdef SPARQR_HOST
#include "stage.cuh"
#else
#include "waiting.cuh"
#endif

/** A drop record, ints: these, then arrays of column_tiles each. */
enum DropRecord {
  DROP_TICKET = 0,
  DROP_FAILED = 1,   // the front is not decided here: all workers end
  DROP_PANELS = 2,   // 1 + PANEL steps done; 0: START is not over
  DROP_ENDED = 3,    // 1: END is over
  DROP_CHILD = 4,    // 1 + a child that passed rows on; the next one in that child's DROP_NEXT
  DROP_NEXT = 5,
  DROP_LEFT = 6,     // rows left over so far
  DROP_BLOCKS = 7,   // blocks that they have taken
  DROP_FIRST = 8,    // the first panel
  DROP_ARRAYS = 10   // seen, done, rows, dead, off
};

/** A front's drop record. */
struct Drop {
  int* word;
  int tiles;

  __device__ __forceinline__ Drop(const SparqrStage& stage, const SparqrFront& front)
      : word(reinterpret_cast<int*>(stage.progress + front.drop)), tiles(front.column_tiles) {}

  /** By column tile: how many panels it has seen. */
  __device__ __forceinline__ int* seen(int j) const {
    return word + DROP_ARRAYS + j;
  }

  /** By panel: how many column tiles have seen it. */
  __device__ __forceinline__ int* done(int c) const {
    return word + DROP_ARRAYS + tiles + c;
  }

  /** By panel: rows left over before it, and its dead columns. */
  __device__ __forceinline__ int& rows(int c) const {
    return word[DROP_ARRAYS + 2 * tiles + c];
  }

  __device__ __forceinline__ int& dead(int c) const {
    return word[DROP_ARRAYS + 3 * tiles + c];
  }

  /** By row tile of rows left over: its block of column tile j is off + j. */
  __device__ __forceinline__ int& off(int q) const {
    return word[DROP_ARRAYS + 4 * tiles + q];
  }
};

#ifdef SPARQR_HOST
inline int load_acquire(const int* p) {
  return *p;
}
inline void add_release(int* p) {
  ++*p;
}
inline int take_ticket(int* p) {
  return (*p)++;
}
inline void raise_state(int32_t* state, int32_t to) {
  *state = max(*state, to);
}
inline int put_first(int* p, int value) {
  const int was = *p;
  *p = value;
  return was;
}
inline bool given_up(const SparqrStage&, unsigned long long&) {
  return true;
}
#else
__device__ __forceinline__ int load_acquire(const int* p) {
  int value;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}
__device__ __forceinline__ void add_release(int* p) {
  asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(p) : "memory");
}
__device__ __forceinline__ int take_ticket(int* p) {
  return atomicAdd(p, 1);
}
__device__ __forceinline__ void raise_state(int32_t* state, int32_t to) {
  atomicMax(state, to);
}
__device__ __forceinline__ int put_first(int* p, int value) {
  return atomicExch(p, value);
}
#endif

/** Waits until *word >= least; false if the front has failed or the stage is given up. One thread calls it. */
__device__ __forceinline__ bool drop_wait(const SparqrStage& stage, const Drop& drop, const int* word, int least) {
  unsigned long long since = 0;
  while (load_acquire(word) < least) {
    if (load_acquire(drop.word + DROP_FAILED) != 0 || given_up(stage, since)) {
      return false;
    }
  }
  return load_acquire(drop.word + DROP_FAILED) == 0;
}

/** Signals a step after everything that the block's threads have written. */
__device__ __forceinline__ void drop_signal(int* word) {
  __syncthreads();
  if (threadIdx.x == 0) {
    add_release(word);
  }
}
