/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// The timeline of a device: nanoseconds of its blocks by bin of time and by cause (docs/design/several-devices.md,
// Timeline). Only if the host has put one into the stage's parameter; else a task tests that field twice, and a failed poll
// once, and nothing more.
//
// One thread of a block reads the device's timer before it takes its ticket, when a wait has ended, and when the task is
// done. From the ticket to the end of the wait for the task's counts is one interval, of length 0 if the first poll
// finds them there; then, in a PULL, the wait for the other device, of the same kind; the rest is work, with a
// microsecond or so for ticket, record and descriptor where there was no wait. The block adds all three when its task is
// done, and spreads an interval over the bins that it spans: so each bin has what belongs there, and the totals are
// right, once the launch has ended. What no block counts is the time between blocks (start, memory, registers) and after
// the last task of a slot: the host takes it from slots x seconds.
//
// Timers of two devices are not one clock: a device's bins begin at its own first ticket.
#pragma once
#include "stage.cuh"

/** What a block does, in the order of io.sparqr.numeric.DeviceTimeline.Cause. */
enum SparqrCause : int32_t {
  SPARQR_WORK_FACTORIZE = 0,  // FACTORIZE, APPLY_FACTORIZE
  SPARQR_WORK_APPLY = 1,      // APPLY, APPLY_NEAR
  SPARQR_WORK_SMALL = 2,      // SMALL_FRONT
  SPARQR_WORK_ASSEMBLE = 3,   // assembly, rows and blocks on their way, residuals, dropped columns
  SPARQR_WORK_PULL = 4,       // PULL, ANNOUNCE
  SPARQR_WAIT_CHAIN = 5,      // chain tasks of the front were missing at the last poll that failed
  SPARQR_WAIT_BULK = 6,       // bulk tasks were, and no chain tasks
  SPARQR_WAIT_DEVICE = 7,     // a PULL, for an announcement of another device
  SPARQR_CAUSES = 8
};

constexpr int SPARQR_BINS = 512;

/** In the device's memory; the host writes all ones to begin, and zeros. The last bin takes what comes later, too. */
struct SparqrTimeline {
  unsigned long long begin;  // timer at the first ticket
  unsigned long long end;    // timer at the end of the last task
  unsigned long long tasks;
  unsigned long long unused;
  unsigned long long nanos[SPARQR_BINS][SPARQR_CAUSES];
};
static_assert(sizeof(SparqrTimeline) == 32800, "timeline size");

/** Where a block's task stands by the device's timer; in shared memory, for one thread. taken <= waited <= pulled. */
struct SparqrClock {
  unsigned long long begin;   // the first ticket so far; <= taken
  unsigned long long taken;   // its ticket
  unsigned long long waited;  // end of the wait for its counts; no wait: taken
  unsigned long long pulled;  // end of the wait for another device; no wait: waited
  int32_t missing;            // SPARQR_WAIT_CHAIN or SPARQR_WAIT_BULK, if it has waited
};

#ifdef SPARQR_HOST
#include "host_timer.h"
#else
__device__ __forceinline__ unsigned long long timer_nanos() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

/** The block's, for one of its threads. */
__device__ __forceinline__ SparqrClock& block_clock() {
  __shared__ SparqrClock clock;
  return clock;
}
#endif

/** Before a ticket is taken; returns the first ticket's time before this one. */
__device__ __forceinline__ unsigned long long begin_clock(SparqrTimeline& timeline, SparqrClock& clock) {
  const unsigned long long now = timer_nanos();
  clock.taken = clock.waited = clock.pulled = now;
  clock.missing = SPARQR_WAIT_CHAIN;
  return atomicMin(&timeline.begin, now);
}

/** The counts of a task are there, after a poll that has failed. */
__device__ __forceinline__ void end_wait(SparqrClock& clock) {
  clock.waited = clock.pulled = timer_nanos();
}

/** Announcements of another device are there, after a poll that has failed. */
__device__ __forceinline__ void end_device_wait(SparqrClock& clock) {
  clock.pulled = timer_nanos();
}

__device__ __forceinline__ SparqrCause work_of(int kind) {
  switch (kind) {
    case SPARQR_FACTORIZE:
    case SPARQR_APPLY_FACTORIZE:
      return SPARQR_WORK_FACTORIZE;
    case SPARQR_APPLY:
    case SPARQR_APPLY_NEAR:
      return SPARQR_WORK_APPLY;
    case SPARQR_SMALL_FRONT:
      return SPARQR_WORK_SMALL;
    case SPARQR_PULL:
    case SPARQR_ANNOUNCE:
      return SPARQR_WORK_PULL;
    default:
      return SPARQR_WORK_ASSEMBLE;
  }
}

/** Adds [from, to) to the bins that it spans. */
__device__ __forceinline__ void add_interval(SparqrTimeline& timeline, unsigned shift, unsigned long long begin,
                                             unsigned long long from, unsigned long long to, int cause) {
  while (from < to) {
    const unsigned long long bin = (from - begin) >> shift;
    unsigned long long end = to;
    if (bin < SPARQR_BINS - 1) {
      const unsigned long long next = begin + ((bin + 1) << shift);
      end = to < next ? to : next;
    }
    atomicAdd(&timeline.nanos[bin < SPARQR_BINS - 1 ? bin : SPARQR_BINS - 1][cause], end - from);
    from = end;
  }
}

/**
 * Counts a task that is done. Called by one thread, after the block's other threads have met it. Of the device's first
 * blocks each has its own idea of the begin, a few microseconds apart: it moves what they count by as much, not the sums.
 */
__device__ __forceinline__ void count_task(SparqrTimeline& timeline, unsigned shift, int kind,
                                           const SparqrClock& clock) {
  const unsigned long long now = timer_nanos();
  add_interval(timeline, shift, clock.begin, clock.taken, clock.waited, clock.missing);
  add_interval(timeline, shift, clock.begin, clock.waited, clock.pulled, SPARQR_WAIT_DEVICE);
  add_interval(timeline, shift, clock.begin, clock.pulled, now, work_of(kind));
  atomicMax(&timeline.end, now);
  atomicAdd(&timeline.tasks, 1ull);
}
