/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// The state shared by the workers of a front's DROP tasks: a record of ints, by which they also wait for each other.
#pragma once
#ifdef SPARQR_HOST
#include "stage.cuh"
#else
#include "waiting.cuh"
#endif

/** The ints of a drop record: these, then arrays of column_tiles ints each. */
enum DropRecord {
  DROP_TICKET = 0,
  DROP_FAILED = 1,   // the front is undecided: all workers end
  DROP_PANELS = 2,   // 1 + PANEL steps done; 0: START is not done
  DROP_ENDED = 3,    // 1: END is done
  DROP_CHILD = 4,    // 1 + a child that passed leftover rows on; that child's DROP_NEXT links the next one
  DROP_NEXT = 5,
  DROP_LEFT = 6,     // leftover rows so far
  DROP_BLOCKS = 7,   // blocks taken by them
  DROP_FIRST = 8,    // the first panel
  DROP_STOP = 9,     // end of the panels, decided with the last one that has pivots
  DROP_ARRAYS = 10   // seen, done, rows, dead, off
};

/** A front's drop record. */
struct Drop {
  int* word;
  int tiles;

  __device__ __forceinline__ Drop(const SparqrStage& stage, const SparqrFront& front)
      : word(reinterpret_cast<int*>(stage.progress + front.drop)), tiles(front.column_tiles) {}

  /** By column tile: number of panels applied to it. */
  __device__ __forceinline__ int* seen(int j) const {
    return word + DROP_ARRAYS + j;
  }

  /** By panel: number of column tiles to which it was applied. */
  __device__ __forceinline__ int* done(int c) const {
    return word + DROP_ARRAYS + tiles + c;
  }

  /** By panel: leftover rows before it, and its dead columns. */
  __device__ __forceinline__ int& rows(int c) const {
    return word[DROP_ARRAYS + 2 * tiles + c];
  }

  __device__ __forceinline__ int& dead(int c) const {
    return word[DROP_ARRAYS + 3 * tiles + c];
  }

  /** By row tile of leftover rows: its block for column tile j is off + j. */
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

/** Signals a step, after all writes of the block's threads. */
__device__ __forceinline__ void drop_signal(int* word) {
  __syncthreads();
  if (threadIdx.x == 0) {
    add_release(word);
  }
}
