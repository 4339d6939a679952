/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// The launch parameter, passed by value and visible to every task of a stage, and the shape of a launch.
#pragma once
#include "task_layout.cuh"

/** Flag in progress[0]: the stage is given up, because a task has waited too long or is of no known kind. */
constexpr unsigned long long SPARQR_GIVEN_UP = 1ull << 63;

constexpr int SPARQR_THREADS = 128;
constexpr int SPARQR_WARPS = SPARQR_THREADS / 32;

/** Doubles of dynamic shared memory of a block: CudaModule.sharedDoubles. What lies in it: the structs named ..Shared. */
constexpr int SPARQR_SHARED_DOUBLES_4 = 10752;  // a small front of the default limits
constexpr int SPARQR_SHARED_DOUBLES_8 = 11264;  // Apply and Cholesky QR of 8 row tiles

/** Whether T fits into it where bundles have at most BUNDLE row tiles. */
template <typename T, int BUNDLE>
constexpr bool SPARQR_FITS =
    sizeof(T) <= sizeof(double) * (BUNDLE > 4 ? SPARQR_SHARED_DOUBLES_8 : SPARQR_SHARED_DOUBLES_4) && alignof(T) <= 16;

#ifdef SPARQR_SEVERAL
/** Where one of several devices has its part of a stage: addresses that all of them can read (peers.cuh). */
struct SparqrPeer {
  const SparqrFront* fronts;
  const double* arena;
  const double* vt;
  const int32_t* state;
  const unsigned long long* progress;   // SPARQR_GIVEN_UP at place 0
  const unsigned long long* announced;  // by front
};
static_assert(sizeof(SparqrPeer) == 48, "peer size");

struct SparqrTimeline;
#endif

/** Device pointers of a stage; the arrays are described in task_layout.cuh. */
struct SparqrStage {
  const SparqrTask* tasks;
  const SparqrFront* fronts;
  double* arena;
  double* vt;
  const uint32_t* s_index;
  const double* s_value;
  const int32_t* maps;
  const double* input;
  double* out;
  double* residual;
  int32_t* state;
  // Place 0: tickets handed out, and SPARQR_GIVEN_UP; place 1 + f: counts of front f's finished tasks
  // (task_layout.cuh). Null: the tasks of this launch neither wait nor count.
  unsigned long long* progress;
  // What ended the stage (unknown_task), 0 while nothing did.
  unsigned long long* failure;
  double tolerance;
  int32_t shared_doubles;         // dynamic shared memory of a block
  int32_t reflectors;             // 1: V of single reflectors everywhere (needed if Q is kept)
  unsigned long long wait_nanos;  // longest wait of a task for its dependencies
#ifdef SPARQR_SEVERAL
  const SparqrPeer* peers;        // by device, in this device's memory; null: the stage has one device
  unsigned long long* announced;  // by front: announcements that this device has made to others
  // What blocks do when (several/timeline.cuh), in bins of 2^bin_shift nanoseconds; only with progress. Null: nothing is
  // measured.
  SparqrTimeline* timeline;
  unsigned long long bin_shift;
};
static_assert(sizeof(SparqrStage) == 160, "stage size with several devices");
#else
};
static_assert(sizeof(SparqrStage) == 128, "stage size");
#endif

/** A bundle in the kernels: entry (r, c) of row tile s is row[s][r * ld + c]. */
struct Bundle {
  double* row[SPARQR_MAX_BUNDLE];
  int size;
};
