/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Random tasks of some block slots, counted by timeline.cuh on the host: every nanosecond of every bin and cause is what
// a count nanosecond by nanosecond gives.  timeline_counts COUNT SEED
#include "host_instructions.h"
// first, because it defines CUDA's words
#define SPARQR_SEVERAL
#include "several/timeline.cuh"

#include <cstdio>
#include <random>
#include <vector>

static std::mt19937_64 generator;

static int pick(int n) {
  return static_cast<int>(generator() % n);
}

/** What is to be counted as work of each kind. */
static const int WORK[SPARQR_KINDS] = {0, 0, 2, 3, 3, 3, 3, 3, 1, 1, 3, 4, 4};

struct Task {
  int kind, missing;
  unsigned long long taken, waited, pulled, done;
};

static int wrong(uint64_t seed, int number) {
  generator.seed(seed * 1000003 + number);
  const unsigned long long start = 1 + pick(1000000);
  const int shift = pick(6), length = 1 << shift;
  std::vector<Task> tasks;
  for (int slot = 0, slots = 1 + pick(5); slot < slots; slot++) {
    unsigned long long now = start + (slot == 0 ? 0 : pick(50));
    for (int k = 0, n = 1 + pick(60); k < n; k++) {
      Task t = {pick(SPARQR_KINDS), SPARQR_WAIT_CHAIN, now, now, now, 0};
      if (pick(2)) {
        t.missing = pick(2) ? SPARQR_WAIT_CHAIN : SPARQR_WAIT_BULK;
        t.waited = t.pulled = now + pick(200);
      }
      if (t.kind == SPARQR_PULL && pick(2))
        t.pulled += pick(300);
      t.done = t.pulled + pick(250);
      now = t.done + pick(20);
      tasks.push_back(t);
    }
  }
  // What is to be counted.
  static unsigned long long expected[SPARQR_BINS][SPARQR_CAUSES];
  std::memset(expected, 0, sizeof expected);
  unsigned long long end = 0;
  for (const Task& t : tasks) {
    for (unsigned long long at = t.taken; at < t.done; at++) {
      const int cause = at < t.waited ? t.missing : at < t.pulled ? int(SPARQR_WAIT_DEVICE) : WORK[t.kind];
      const unsigned long long bin = (at - start) / length;
      expected[bin < 511 ? bin : 511][cause]++;
    }
    end = std::max(end, t.done);
  }
  // Tickets come first in time; tasks end in the order of their slots, as good as any.
  static SparqrTimeline timeline;
  timeline = {};
  timeline.begin = ~0ull;
  for (const Task& t : tasks) {
    SparqrClock clock;
    std::memset(&clock, 0x55, sizeof clock);
    host::nanos = t.taken;
    const unsigned long long begin = begin_clock(timeline, clock);
    clock.begin = min(begin, clock.taken);
    if (t.waited > t.taken) {
      clock.missing = t.missing;
      host::nanos = t.waited;
      end_wait(clock);
    }
    if (t.pulled > t.waited) {
      host::nanos = t.pulled;
      end_device_wait(clock);
    }
    host::nanos = t.done;
    count_task(timeline, shift, t.kind, clock);
  }
  const bool right = timeline.begin == start && timeline.end == end && timeline.tasks == tasks.size() &&
                     std::memcmp(timeline.nanos, expected, sizeof expected) == 0;
  if (!right)
    printf("timeline %d: bins of %d, %zu tasks\n", number, length, tasks.size());
  return right ? 0 : 1;
}

int main(int count, char** arguments) {
  const int lists = count > 1 ? atoi(arguments[1]) : 100;
  const uint64_t seed = count > 2 ? strtoull(arguments[2], nullptr, 10) : 1;
  int bad = 0;
  for (int k = 0; k < lists; k++)
    bad += wrong(seed, k);
  printf("%d wrong of %d\n", bad, lists);
  return bad != 0;
}
