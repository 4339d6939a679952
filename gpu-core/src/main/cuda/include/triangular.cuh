/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// The common part of the two solves with the packed rows of R in a stage's output buffer: R'y = c from the leaves of
// the tree up (forward_substitution.cuh), R x = y from its roots down (back_substitution.cuh).
// io.sparqr.backend.staged.solve.SolveLists makes the items and io.sparqr.backend.reference.PackedSolve does them in plain
// Java. For a stage that is a whole task and whose fronts are all sound. Columns outside the task: back substitution
// finds their x given; forward substitution gathers the updates to them in a last front without pivots.
//
// The rows of a front are solved in steps, so that many multiprocessors share a large front: ASSEMBLE items make its
// right-hand side from what is known; then a TRIANGLE item solves the triangle of a step, and PRODUCT items subtract the
// products with it from the rest. A front of few rows has a single item that does all (WHOLE). An item waits for two
// counts of finished items at most, and adds to one. The chain of steps along the tree's longest path decides how long a
// solve takes: a TRIANGLE item waits for the products with its own rows alone; steps are so small that all entries of R
// that such an item takes are in shared memory or registers before it waits.
#pragma once
#include "waiting.cuh"

constexpr int SPARQR_SOLVE_WHOLE = 0;
constexpr int SPARQR_SOLVE_PRODUCT = 1;
constexpr int SPARQR_SOLVE_TRIANGLE = 2;
constexpr int SPARQR_SOLVE_ASSEMBLE = 3;

constexpr int SPARQR_SOLVE_CHUNK = 1024;  // columns in shared memory at a time
constexpr int SPARQR_SOLVE_STEP = 64;     // rows of a step at most
constexpr int SPARQR_SOLVE_ROWS = 32;     // rows of an item at most, but for steps
constexpr int SPARQR_SOLVE_HEAD = 16;     // words before the counts: a cache line

struct alignas(16) SparqrSolveItem {
  int64_t out;      // place of the front's packed rows in the output buffer
  int64_t out_rhs;  // place of their right-hand sides, rows x out_rhs_count
  int32_t kind;
  int32_t fn;
  int32_t fp;
  int32_t start;        // first place of the front's columns in `number`
  int32_t row_from;     // rows [row_from, row_to) of R
  int32_t row_to;
  int32_t column_from;  // columns [column_from, column_to)
  int32_t column_to;
  int32_t wait;         // this count must have reached wait_count; -1: none
  int32_t wait_count;
  int32_t also;         // the same of a second count
  int32_t also_count;
  int32_t signal;       // this count gets one more; -1: none
  int32_t unused[3];
};
static_assert(sizeof(SparqrSolveItem) == 80, "solve item size");

/** The launch parameter. Vectors by column have `rhs` values each. */
struct SparqrSolve {
  const SparqrSolveItem* items;
  const double* out;
  const int32_t* number;        // columns of each front as numbers of the stage's columns
  const int32_t* gather;        // [places of `number` + 1]: a place's part of gather_from
  const int32_t* gather_from;   // places of the children's columns that are added to it, in the children's order
  const double* c;              // columns; back substitution: null if c is the Q'b stored with R
  double* x;                    // columns: the solution
  double* v;                    // forward: places of `number`: a front's vector, in the end its update
  // Word 0: tickets, and SPARQR_GIVEN_UP; 1: bits of the largest backward error; 2: sum of the bits of R and its
  // right-hand sides; from SPARQR_SOLVE_HEAD on: counts, two in a word.
  unsigned long long* progress;
  unsigned long long wait_nanos;
  int32_t rhs;
  int32_t out_rhs_count;  // right-hand sides stored with R
};
static_assert(sizeof(SparqrSolve) == 88, "solve size");

/** io.sparqr.numeric.Probe: the value of the probe at a pivot, +-[0.5, 1.5). */
__device__ __forceinline__ double probe_value(int32_t number) {
  unsigned long long h = (static_cast<unsigned long long>(number) + 1) * 0x9E3779B97F4A7C15ULL;
  h = (h ^ (h >> 32)) * 0xD6E8FEB86659FD93ULL;
  h ^= h >> 32;
  const double magnitude = 0.5 + static_cast<double>(h >> 11) * 0x1p-53;
  return (h & 1) == 0 ? magnitude : -magnitude;
}

/** Place of entry (i, i) in the packed rows of a front of fn columns. */
__device__ __forceinline__ long long packed_row(int i, int fn) {
  return static_cast<long long>(i) * fn - static_cast<long long>(i) * (i - 1) / 2;
}

/**
 * From an entry of row i to the one of row i + stride in the same column. With each such step it gets less by the
 * square of stride: cheaper than packed_row for every row.
 */
__device__ __forceinline__ int row_step(int i, int fn, int stride) {
  return stride * (fn - i) - stride * (stride + 1) / 2;
}

__device__ __forceinline__ double warp_sum(double v) {
  for (int d = 16; d > 0; d /= 2) {
    v += __shfl_xor_sync(~0u, v, d);
  }
  return v;
}

__device__ __forceinline__ unsigned* solve_count(const SparqrSolve& s, int count) {
  return reinterpret_cast<unsigned*>(s.progress + SPARQR_SOLVE_HEAD) + count;
}

/** Whether a count has been reached; only then what others did before may be read, after a fence. */
__device__ __forceinline__ bool reached(const SparqrSolve& s, int count, int wanted) {
  unsigned have = 0;
  if (count >= 0) {
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(have) : "l"(solve_count(s, count)) : "memory");
  }
  return count < 0 || have >= static_cast<unsigned>(wanted);
}

/** Waits for the item's counts; false if the solve has been given up. By one thread. */
__device__ __forceinline__ bool wait_for_counts(const SparqrSolve& s, const SparqrSolveItem& t) {
  constexpr int POLLS = 16;  // between looks at the word that all blocks use for their tickets
  unsigned long long since = 0;
  for (int poll = 1; !reached(s, t.wait, t.wait_count) || !reached(s, t.also, t.also_count); poll++) {
    if (poll % POLLS == 0 && given_up(s.progress, s.wait_nanos, since)) {
      return false;
    }
    __nanosleep(20);
  }
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
  return true;
}

/** Asks for the item's entries of R, so that they are in the L2 cache when its wait is over. By all threads. */
__device__ __forceinline__ void prefetch_item(const SparqrSolve& s, const SparqrSolveItem& t) {
  constexpr int LINE = 16;  // doubles of a cache line
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = t.row_from + warp; i < t.row_to; i += SPARQR_WARPS) {
    const double* row = s.out + t.out + packed_row(i, t.fn) - i;
    for (int j = max(i, t.column_from) + LINE * lane; j < t.column_to; j += 32 * LINE) {
      asm volatile("prefetch.global.L2 [%0];" ::"l"(row + j));
    }
  }
}

/**
 * Takes the next item, once the counts that it waits for are reached; false if the solve has been given up. Blocks take
 * items in their order, as in waiting.cuh. By all threads.
 *
 * @param ahead whether items of this kind read R after the wait: their entries are asked for before it
 * @param before what the block does before the wait, with all threads, without reading what others have made
 */
template <typename Ahead, typename Before>
__device__ __forceinline__ bool next_item(const SparqrSolve& s, SparqrSolveItem& t, Ahead ahead, Before before) {
  bool stop = false;
  if (threadIdx.x == 0) {
    const unsigned long long number = atomicAdd(s.progress, 1ull);
    stop = number >= SPARQR_GIVEN_UP;
    t = s.items[stop ? 0 : number];
  }
  __syncthreads();
  if (t.wait >= 0 && ahead(t.kind)) {
    prefetch_item(s, t);
  }
  before(t);
  if (threadIdx.x == 0 && !stop) {
    stop = !wait_for_counts(s, t);
  }
  return !__syncthreads_or(stop);
}

/** Counts an item as done, after all writes of its threads. */
__device__ __forceinline__ void finish_item(const SparqrSolve& s, const SparqrSolveItem& t) {
  __syncthreads();
  if (threadIdx.x == 0 && t.signal >= 0) {
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(solve_count(s, t.signal)), "r"(1u) : "memory");
  }
}

/**
 * Puts a vector's values of columns [from, to) of a front, right-hand side q, into shared memory. By all threads.
 *
 * @param number the front's columns
 */
__device__ __forceinline__ void load_columns(const SparqrSolve& s, const double* vector, const int32_t* number,
                                             int from, int to, int q, double* shared) {
  for (int j = from + static_cast<int>(threadIdx.x); j < to; j += SPARQR_THREADS) {
    // other blocks wrote these: read past this multiprocessor's cache
    shared[j - from] = __ldcg(vector + static_cast<long long>(number[j]) * s.rhs + q);
  }
}

/** The opposite of load_columns: from shared memory to a vector. */
__device__ __forceinline__ void store_columns(const SparqrSolve& s, double* vector, const int32_t* number, int from,
                                              int to, int q, const double* shared) {
  for (int j = from + static_cast<int>(threadIdx.x); j < to; j += SPARQR_THREADS) {
    __stcg(vector + static_cast<long long>(number[j]) * s.rhs + q, shared[j - from]);
  }
}

/** The triangle of a step, in two parts of 32 rows, and room for sums of the warps. */
struct SparqrTriangle {
  double diagonal[2][32][33];  // the triangles of both parts, their diagonals as reciprocals
  double beside[32][33];       // the first part's rows, the second one's columns
  double part[SPARQR_WARPS][33];
};

/**
 * Loads rows [begin, begin + 32) and columns [column, column + 32) of a front. Rows from `end` on, columns from
 * `column_end` on and what is left of the diagonal are those of the unit matrix; the diagonal as reciprocals.
 */
__device__ __forceinline__ void load_tile(const double* rows, int fn, int begin, int end, int column, int column_end,
                                          double (*tile)[33]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  constexpr int EACH = 32 / SPARQR_WARPS;
  const int j = column + lane;
  double r[EACH];
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    const int i = begin + warp + k * SPARQR_WARPS;
    r[k] = i < end && j >= i && j < column_end ? rows[packed_row(i, fn) - i + j] : i == j ? 1 : 0;
  }
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    const int i = warp + k * SPARQR_WARPS;
    tile[i][lane] = begin + i == j ? 1 / r[k] : r[k];
  }
}

/** Loads the triangle of an item's rows, a step at most; it needs no vector, so this comes before an item's wait. */
__device__ __forceinline__ void load_triangle(const SparqrSolve& s, const SparqrSolveItem& t, SparqrTriangle& tiles) {
  const double* rows = s.out + t.out;
  const int from = t.row_from, middle = min(t.row_to, from + 32), to = t.row_to;
  load_tile(rows, t.fn, from, middle, from, middle, tiles.diagonal[0]);
  if (middle < to) {
    load_tile(rows, t.fn, from, middle, middle, to, tiles.beside);
    load_tile(rows, t.fn, middle, to, middle, to, tiles.diagonal[1]);
  }
}

/**
 * The next item (next_item) with what it takes of R: a PRODUCT item's entries in registers, a triangle in shared
 * memory, both loaded before its wait. By all threads.
 */
template <typename Ahead, typename Entries>
__device__ __forceinline__ bool next_loaded_item(const SparqrSolve& s, SparqrSolveItem& t, Ahead ahead,
                                                 Entries& entries, SparqrTriangle& tiles) {
  return next_item(s, t, ahead, [&](const SparqrSolveItem& item) {
    if (item.kind == SPARQR_SOLVE_PRODUCT) {
      entries.load(s, item);
    } else if (item.kind != SPARQR_SOLVE_ASSEMBLE) {
      load_triangle(s, item, tiles);
    }
  });
}

/** The backward error of one equation; as bad as can be if anything is not finite. */
__device__ __forceinline__ double equation_error(double rest, double scale) {
  return rest <= 1e308 && scale <= 1e308 ? (rest == 0 ? 0 : rest / scale) : 1e308;
}

/** Raises the largest backward error to that of a warp's lanes. */
__device__ __forceinline__ void raise_error(const SparqrSolve& s, double error) {
  for (int d = 16; d > 0; d /= 2) {
    error = fmax(error, __shfl_xor_sync(~0u, error, d));
  }
  if (threadIdx.x % 32 == 0 && error > 0) {
    atomicMax(s.progress + 1, static_cast<unsigned long long>(__double_as_longlong(error)));
  }
}
