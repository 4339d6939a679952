/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// DROP tasks: a finished front less its dead columns, on the device (docs/adr/0029-dead-columns-on-the-device.md). What is
// computed is io.sparqr.backend.reference.DroppedColumns by tiles; who computes it is decided here, as it goes.
//
// Rows left over wait in row tiles of their own, 32 at a time. Column tile by column tile, from the first with a dead pivot (the
// first of all if children passed rows on):
//   PANEL c    row tile c and the tiles of rows left over: bundles of up to BUNDLE row tiles, as Factorize does it. Then, if
//              a pivot is dead: Heath's method on that one 32 x 32 tile, the rows of dead columns become rows left over.
//   UPDATE c,j the same on column tile j.
// then END (is every pivot far from the tolerance?), and PACK k: row tile k to the output and to the parent.
//
// Tickets. Workers take these steps by number, in an order in which each needs earlier ones only, and wait for what the
// step needs: so any number of workers, one is enough, gets through, and what a step computes does not depend on who
// does it. PANEL c + 1 comes right after UPDATE c, c + 1: it runs beside the other updates.
//
// Where rows left over are: column tile j of their row tile q is block off[q] + j; blocks are the row tile behind the front's last,
// then tiles below the diagonal, where the remains of V are that nobody wants any more.
#pragma once
#include "front_tasks.cuh"
#include "assemble.cuh"

#ifdef SPARQR_HOST
#define SPARQR_COLD inline
#else
#define SPARQR_COLD __device__ __noinline__
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
inline bool drop_given_up(const SparqrStage&, unsigned long long&) {
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
/** After a failed look: whether the stage has been given up, or is now, after too long a wait. */
__device__ __forceinline__ bool drop_given_up(const SparqrStage& stage, unsigned long long& since) {
  unsigned long long now, tickets;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(tickets) : "l"(stage.progress));
  since = since == 0 ? now : since;
  if (tickets >= SPARQR_GIVEN_UP || now - since > stage.wait_nanos) {
    atomicOr(stage.progress, SPARQR_GIVEN_UP);
    return true;
  }
  __nanosleep(64);
  return false;
}
#endif

/** Waits until *word >= least; false if the front has failed or the stage is given up. One thread calls it. */
__device__ __forceinline__ bool drop_wait(const SparqrStage& stage, const Drop& drop, const int* word, int least) {
  unsigned long long since = 0;
  while (load_acquire(word) < least) {
    if (load_acquire(drop.word + DROP_FAILED) != 0 || drop_given_up(stage, since)) {
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

/** What a front is, as DROP tasks see it. */
struct DropShape {
  int rows;     // min(fm, fn)
  int panels;   // column tiles with a pivot in one of these rows
  int tiles;    // column tiles
  int blocks;   // there are for rows left over
  int whole;    // column tiles without right-hand sides or padding in them
  int last;     // row tiles
  int slots;    // VT slots of a panel

  __device__ __forceinline__ explicit DropShape(const SparqrFront& front) {
    rows = min(front.fm, front.fn);
    panels = (rows + 31) >> 5;
    tiles = front.column_tiles;
    whole = front.fn >> 5;
    last = front.row_tiles;
    const int square = min(whole, last);
    blocks = tiles + square * (square - 1) / 2 + max(0, last - whole) * whole;
    slots = (tiles + 2) / 3 + 1;
  }

  /** Columns of panel c that have a pivot. */
  __device__ __forceinline__ int width(int c) const {
    return min(32, rows - 32 * c);
  }

  /** First entry of block m. */
  __device__ __forceinline__ double* block(const SparqrStage& stage, const SparqrFront& front, int m) const {
    int i = last, k = m;
    if (m >= tiles) {
      m -= tiles;
      const int square = min(whole, last);
      const int triangle = square * (square - 1) / 2;
      if (m < triangle) {
        i = static_cast<int>((1.0f + sqrtf(1.0f + 8.0f * static_cast<float>(m))) * 0.5f);
        while (i * (i - 1) / 2 > m) {
          i--;
        }
        while ((i + 1) * i / 2 <= m) {
          i++;
        }
        k = m - i * (i - 1) / 2;
      } else {
        i = whole + (m - triangle) / whole;
        k = (m - triangle) % whole;
      }
    }
    return row_tile(stage, front, i) + 32 * k;
  }
};

/** Row tiles of bundle b of a panel as they are in column tile j; row[s] + 32 j is the tile. One thread a row tile. */
template <int BUNDLE>
__device__ __forceinline__ void drop_bundle(Bundle& bundle, const SparqrStage& stage, const SparqrFront& front,
                                            const DropShape& shape, const Drop& drop, int c, int b, int waiting, int j) {
  const int first = b * (BUNDLE - 1), s = threadIdx.x;
  const int size = 1 + min(BUNDLE - 1, waiting - first);
  if (s == 0) {
    bundle.size = size;
    bundle.row[0] = row_tile(stage, front, c);
  } else if (s < size) {
    bundle.row[s] = shape.block(stage, front, drop.off(first + s - 1) + j) - 32 * j;
  }
}

// Functions of their own, not inlined: what they keep in registers leaves no room for anything else.
template <int TILES>
SPARQR_COLD void drop_factorize(double* shared, const Bundle& bundle, int ld, int column, int width, double* vt,
                                bool reflectors) {
  CholeskyShared& cholesky = cholesky_shared();
  if (width >= SPARQR_TILE && !reflectors && cholesky_factorize<TILES>(shared, cholesky, bundle, ld, column, vt)) {
    return;
  }
  householder_factorize<TILES>(*reinterpret_cast<HouseholderShared*>(shared), bundle, ld, column, width, vt);
}

template <int TILES>
SPARQR_COLD void drop_apply(double* shared, const Bundle& bundle, int ld, int from, int to) {
  apply_columns<TILES, 2>(shared, bundle, ld, from, to);
}

/** Sets a block to zero. */
__device__ __forceinline__ void clear_block(double* block, int ld) {
  for (int i = threadIdx.x; i < 1024; i += SPARQR_THREADS) {
    block[static_cast<long long>(i >> 5) * ld + (i & 31)] = 0;
  }
}

/** Entry (row, column of tile j) of a row left over. */
__device__ __forceinline__ double* left_entry(const SparqrStage& stage, const SparqrFront& front,
                                              const DropShape& shape, const Drop& drop, int row, int j) {
  return shape.block(stage, front, drop.off(row >> 5) + j) + static_cast<long long>(row & 31) * front.ld;
}

/** Takes blocks for row tile q, for column tiles from `first` on. One thread; false: there are none. */
__device__ __forceinline__ bool open_tile(const DropShape& shape, const Drop& drop, int q, int first) {
  const int from = drop.word[DROP_BLOCKS];
  if (q >= shape.tiles || from + shape.tiles - first > shape.blocks) {
    return false;
  }
  drop.off(q) = from - first;
  drop.word[DROP_BLOCKS] = from + shape.tiles - first;
  return true;
}

/** The front is not decided here. One thread. */
__device__ __forceinline__ void drop_fail(const SparqrStage& stage, const SparqrTask& task, const SparqrFront& front,
                                          const Drop& drop) {
  stage.state[task.front] = SPARQR_STATE_FAILED;
  if (front.parent >= 0) {
    raise_state(stage.state + front.parent, SPARQR_STATE_PENDING);
  }
  add_release(drop.word + DROP_FAILED);
}

/** Rows that children passed on, children ascending. False: there is no room. */
__device__ __forceinline__ bool gather_rows(const SparqrStage& stage, const SparqrFront& front, const DropShape& shape,
                                            const Drop& drop) {
  __shared__ int child, room;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  if (threadIdx.x == 0) {
    child = -1;
    room = 1;
  }
  __syncthreads();
  while (true) {
    if (threadIdx.x == 0) {
      int best = 0x7fffffff;
      for (int k = drop.word[DROP_CHILD] - 1; k >= 0;) {
        best = k > child ? min(best, k) : best;
        k = Drop(stage, stage.fronts[k]).word[DROP_NEXT] - 1;
      }
      child = best;
      if (best != 0x7fffffff) {
        const int to = drop.word[DROP_LEFT] + Drop(stage, stage.fronts[best]).word[DROP_LEFT];
        for (int q = (drop.word[DROP_LEFT] + 31) >> 5; q < (to + 31) >> 5 && room; q++) {
          room = open_tile(shape, drop, q, 0);
        }
      }
    }
    __syncthreads();
    if (child == 0x7fffffff || !room) {
      return room;
    }
    const SparqrFront& source = stage.fronts[child];
    const Drop from(stage, source);
    const DropShape of(source);
    const int at = drop.word[DROP_LEFT], count = from.word[DROP_LEFT];
    for (int q = (at + 31) >> 5; q < (at + count + 31) >> 5; q++) {
      for (int j = 0; j < shape.tiles; j++) {
        clear_block(shape.block(stage, front, drop.off(q) + j), front.ld);
      }
    }
    __syncthreads();
    const int32_t* column_map = stage.maps + source.column_map - source.fp;
    for (int i = warp; i < count; i += SPARQR_WARPS) {
      for (int k = of.rows + lane; k < source.fn + source.rhs; k += 32) {
        const int to = column_map[k];
        left_entry(stage, front, shape, drop, at + i, to >> 5)[to & 31] =
            left_entry(stage, source, of, from, i, k >> 5)[k & 31];
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      drop.word[DROP_LEFT] = at + count;
    }
  }
}

/** Shared memory of a panel's own tile: R, and the orthogonal matrix that drops its dead columns. */
struct DropTile {
  double r[32][33], q[32][33];
  double v[32], tau, size, dropped[32];
  int lives, live, dead;
};

/**
 * Heath's method on the triangle at t.r: rows [0, live) are then those with a pivot, rows [live, width) are zero in columns
 * [0, width); t.q is the product of the reflectors. Columns before `first` live and are in place, those from `tested` on live
 * anyway.
 */
__device__ __forceinline__ void heath_tile(DropTile& t, int first, int width, int tested, double tolerance) {
  const int lane = threadIdx.x & 31, j = threadIdx.x;
  for (int i = threadIdx.x; i < 1024; i += SPARQR_THREADS) {
    t.q[i >> 5][i & 31] = (i >> 5) == (i & 31) ? 1 : 0;
  }
  if (threadIdx.x == 0) {
    t.dead = 0;
  }
  int g = first;
  for (int k = first; k < width; k++) {
    __syncthreads();
    if (threadIdx.x < 32) {
      const double x = lane >= g && lane < width ? t.r[lane][k] : 0.0;
      double largest = fabs(x);
      for (int step = 16; step > 0; step >>= 1) {
        largest = fmax(largest, __shfl_xor_sync(~0u, largest, step));
      }
      const double part = largest > 0 ? x / largest : x;
      double sum = part * part;
      for (int step = 16; step > 0; step >>= 1) {
        sum += __shfl_xor_sync(~0u, sum, step);
      }
      const double norm = largest > 0 ? largest * sqrt(sum) : sum;
      const bool dead = k < tested && norm <= tolerance;
      const double alpha = t.r[g][k];
      const double beta = -copysign(norm, alpha);
      const double pivot = alpha - beta;
      const bool still = dead || norm == 0;
      t.v[lane] = still || lane < g ? 0.0 : lane == g ? 1.0 : x / pivot;
      if (lane == 0) {
        t.tau = still ? 0.0 : (beta - alpha) / beta;
        t.size = beta;
        t.lives = !dead;
        t.dead |= static_cast<int>(dead) << k;
        t.dropped[k] = norm;
      }
    }
    __syncthreads();
    if (j < 64 && t.tau != 0) {
      double(*m)[33] = j < 32 ? t.r : t.q;
      const int col = j & 31;
      double sum = 0;
      for (int i = g; i < width; i++) {
        sum += t.v[i] * m[i][col];
      }
      sum *= t.tau;
      for (int i = g; i < width; i++) {
        m[i][col] -= sum * t.v[i];
      }
    }
    __syncthreads();
    if (j < width && j >= g && !(t.lives && j == g && t.tau == 0)) {
      t.r[j][k] = t.lives && j == g ? t.size : 0.0;
    }
    g += t.lives;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    t.live = g;
  }
  __syncthreads();
}

/** Row of q (or r) that goes to row `slot`: a live one to its pivot's, the others to those of dead columns, in order. */
__device__ __forceinline__ int row_for(const DropTile& t, int slot) {
  const int dead_before = __popc(t.dead & ((1u << slot) - 1));
  return (t.dead >> slot & 1) ? t.live + dead_before : slot - dead_before;
}

/** START: the rows of children, and the first panel; false: no room. */
__device__ __forceinline__ bool drop_start(const SparqrStage& stage, const SparqrFront& front, const DropShape& shape,
                                           const Drop& drop, int& first) {
  if (!gather_rows(stage, front, shape, drop)) {
    return false;
  }
  if (threadIdx.x == 0) {
    first = drop.word[DROP_LEFT] > 0 ? 0 : -shape.panels;
  }
  __syncthreads();
  if (drop.word[DROP_LEFT] == 0) {
    const double* a = stage.arena + front.data;
    for (int j = threadIdx.x; j < min(front.fp, shape.rows); j += SPARQR_THREADS) {
      if (!(fabs(a[j * (front.ld + 1ll)]) > stage.tolerance)) {
        atomicMax(&first, -(j >> 5));
      }
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    first = -first;
  }
  __syncthreads();
  return true;
}

/** PANEL c. False: there is no room for the rows of its dead columns. */
template <int BUNDLE>
__device__ __forceinline__ bool drop_panel(double* shared, Bundle& bundle, const SparqrStage& stage,
                                           const SparqrTask& task, const SparqrFront& front, const DropShape& shape,
                                           const Drop& drop, int c) {
  __shared__ int room, first;
  const int width = shape.width(c);
  const int before = drop.word[DROP_LEFT];
  const int waiting = (before + 31) >> 5;
  double* vt = stage.vt + static_cast<long long>(task.out.row_from + (c & 1) * shape.slots) * SPARQR_VT_DOUBLES;
  for (int b = 0; b * (BUNDLE - 1) < waiting; b++) {
    drop_bundle<BUNDLE>(bundle, stage, front, shape, drop, c, b, waiting, c);
    __syncthreads();
    if (BUNDLE > 4 && bundle.size <= 4) {
      drop_factorize<4>(shared, bundle, front.ld, c, width, vt + b * SPARQR_VT_DOUBLES, stage.reflectors != 0);
    } else {
      drop_factorize<BUNDLE>(shared, bundle, front.ld, c, width, vt + b * SPARQR_VT_DOUBLES, stage.reflectors != 0);
    }
    __syncthreads();
  }
  DropTile& t = *reinterpret_cast<DropTile*>(shared);
  double* home = row_tile(stage, front, c) + 32 * c;
  for (int i = threadIdx.x; i < 1024; i += SPARQR_THREADS) {
    const int row = i >> 5, column = i & 31;
    // The triangle; what is below is zero by reflectors, but may be V's in a front that was never here.
    t.r[row][column] = row > column && column < width ? 0.0 : home[static_cast<long long>(row) * front.ld + column];
  }
  if (threadIdx.x == 0) {
    room = 1;
    first = -32;
    drop.rows(c) = before;
    drop.dead(c) = 0;
  }
  __syncthreads();
  const int tested = min(width, max(0, front.fp - 32 * c));
  const bool mine = threadIdx.x < tested && fabs(t.r[threadIdx.x & 31][threadIdx.x & 31]) <= stage.tolerance;
  if (mine) {
    atomicMax(&first, -static_cast<int>(threadIdx.x));
  }
  if (!__syncthreads_or(mine)) {
    return true;
  }
  heath_tile(t, -first, width, tested, stage.tolerance);
  const int added = width - t.live;
  // Rows left over start in this column tile where it has columns without a pivot here, else in the next.
  const int from = width < 32 ? c : c + 1;
  if (threadIdx.x == 0) {
    for (int q = waiting; q < (before + added + 31) >> 5 && room; q++) {
      room = open_tile(shape, drop, q, from);
    }
    drop.dead(c) = t.dead;
    drop.word[DROP_LEFT] = before + added;
  }
  __syncthreads();
  if (!room) {
    return false;
  }
  double* orthogonal = vt + (shape.slots - 1) * SPARQR_VT_DOUBLES;
  if (width < 32) {
    for (int q = waiting; q < (before + added + 31) >> 5; q++) {
      clear_block(shape.block(stage, front, drop.off(q) + c), front.ld);
    }
    __syncthreads();
  }
  for (int i = threadIdx.x; i < 1024; i += SPARQR_THREADS) {
    const int row = i >> 5, column = i & 31;
    if (row >= width) {
      orthogonal[i] = row == column ? 1 : 0;
      continue;
    }
    const int source = row_for(t, row);
    orthogonal[i] = t.q[source][column];
    const bool dead = t.dead >> row & 1;
    const double value = t.r[source][column];
    home[static_cast<long long>(row) * front.ld + column] =
        dead ? (column == row ? t.dropped[row] : 0.0) : column < row ? 0.0 : value;
    if (dead && column >= width) {
      left_entry(stage, front, shape, drop, before + source - t.live, c)[column] = value;
    }
  }
  __syncthreads();
  return true;
}

/** UPDATE c, j. */
template <int BUNDLE>
__device__ __forceinline__ void drop_update(double* shared, Bundle& bundle, const SparqrStage& stage,
                                            const SparqrTask& task, const SparqrFront& front, const DropShape& shape,
                                            const Drop& drop, int c, int j) {
  const int width = shape.width(c);
  const int before = drop.rows(c);
  const int waiting = (before + 31) >> 5;
  const double* vt = stage.vt + static_cast<long long>(task.out.row_from + (c & 1) * shape.slots) * SPARQR_VT_DOUBLES;
  const int to = min(32 * j + 32, (front.fn + front.rhs + 15) & ~15);
  for (int b = 0; b * (BUNDLE - 1) < waiting; b++) {
    drop_bundle<BUNDLE>(bundle, stage, front, shape, drop, c, b, waiting, c);
    __syncthreads();
    load_vt(shared, bundle, front.ld, c, width, vt + b * SPARQR_VT_DOUBLES);
    __syncthreads();
    drop_bundle<BUNDLE>(bundle, stage, front, shape, drop, c, b, waiting, j);
    __syncthreads();
    if (BUNDLE > 4 && bundle.size <= 4) {
      drop_apply<2>(shared, bundle, front.ld, 32 * j, to);
    } else {
      drop_apply<(BUNDLE + 1) / 2>(shared, bundle, front.ld, 32 * j, to);
    }
    __syncthreads();
  }
  const unsigned dead = drop.dead(c);
  if (dead == 0) {
    return;
  }
  const double* orthogonal = vt + (shape.slots - 1) * SPARQR_VT_DOUBLES;
  double(*q)[33] = reinterpret_cast<double(*)[33]>(shared);
  double(*x)[33] = q + 32;
  double* home = row_tile(stage, front, c) + 32 * j;
  for (int i = threadIdx.x; i < 1024; i += SPARQR_THREADS) {
    q[i >> 5][i & 31] = orthogonal[i];
    x[i >> 5][i & 31] = home[static_cast<long long>(i >> 5) * front.ld + (i & 31)];
  }
  for (int k = waiting; k < (before + __popc(dead) + 31) >> 5; k++) {
    clear_block(shape.block(stage, front, drop.off(k) + j), front.ld);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 1024; i += SPARQR_THREADS) {
    const int row = i >> 5, column = i & 31;
    if (row >= width) {
      continue;
    }
    double sum = 0;
    for (int k = 0; k < width; k++) {
      sum = fma(q[row][k], x[k][column], sum);
    }
    const bool gone = dead >> row & 1;
    home[static_cast<long long>(row) * front.ld + column] = gone ? 0.0 : sum;
    if (gone) {
      const int place = before + __popc(dead & ((1u << row) - 1));
      left_entry(stage, front, shape, drop, place, j)[column] = sum;
    }
  }
  __syncthreads();
}

/** Sum over the block's threads, in a fixed order; all get it. scratch: 4 doubles. */
__device__ __forceinline__ double block_sum(double s, double* scratch) {
  for (int step = 16; step > 0; step >>= 1) {
    s += __shfl_xor_sync(~0u, s, step);
  }
  __syncthreads();
  if ((threadIdx.x & 31) == 0) {
    scratch[threadIdx.x >> 5] = s;
  }
  __syncthreads();
  return (scratch[0] + scratch[1]) + (scratch[2] + scratch[3]);
}

/** END: the state, the residual of rows left over, or their way to the parent. */
__device__ __forceinline__ void drop_end(double* shared, const SparqrStage& stage, const SparqrTask& task,
                                         const SparqrFront& front, const DropShape& shape, const Drop& drop) {
  const double* a = stage.arena + front.data;
  double squares = 0;
  bool near = false;
  for (int j = threadIdx.x; j < front.fp; j += SPARQR_THREADS) {
    const double pivot = fabs(a[j * (front.ld + 1ll)]);
    if (pivot <= stage.tolerance) {
      squares = fma(pivot, pivot, squares);
    } else {
      near = near || !(pivot > SPARQR_MARGIN * stage.tolerance);
    }
  }
  squares = block_sum(squares, shared);
  near = __syncthreads_or(near) || !(sqrt(squares) <= stage.tolerance / SPARQR_MARGIN);
  const int left = drop.word[DROP_LEFT];
  if (near) {
    if (threadIdx.x == 0) {
      drop_fail(stage, task, front, drop);
    }
    return;
  }
  const bool pass = front.fm < front.fn && left > 0;
  if (task.out.slot >= 0) {
    for (int k = 0; k < front.rhs; k++) {
      const int column = front.fn + k;
      double s = 0;
      for (int i = threadIdx.x; i < left; i += SPARQR_THREADS) {
        const double x = left_entry(stage, front, shape, drop, i, column >> 5)[column & 31];
        s = fma(x, x, s);
      }
      s = block_sum(s, shared);
      if (threadIdx.x == 0) {
        stage.residual[static_cast<long long>(task.out.slot) * front.rhs + k] = s;
      }
    }
  }
  if (threadIdx.x == 0) {
    stage.state[task.front] = pass ? SPARQR_STATE_PASSED : SPARQR_STATE_DROPPED;
    if (pass) {
      drop.word[DROP_NEXT] = put_first(Drop(stage, stage.fronts[front.parent]).word + DROP_CHILD, task.front + 1);
      raise_state(stage.state + front.parent, SPARQR_STATE_DEAD);
    }
  }
}

/** PACK k: what a sound front's tasks do with row tile k. */
__device__ __forceinline__ void drop_pack(const SparqrStage& stage, const SparqrTask& task, const SparqrFront& front,
                                          SparqrTask& part, int k) {
  const int from = 32 * k;
  const int to = min(task.out.row_to, from + 32);
  if (from < to) {
    if (threadIdx.x == 0) {
      const long long n = from;
      part.out.row_from = from;
      part.out.row_to = to;
      part.out.out = task.out.out + n * front.fn - n * (n - 1) / 2;
      part.out.out_rhs = task.out.out_rhs + n * front.rhs;
    }
    __syncthreads();
    pack_rows_task(stage, part, front);
    __syncthreads();
  }
  const int first = max(0, from - front.fp), end = min(from + 32 - front.fp, front.cm);
  if (front.parent >= 0 && first < end) {
    if (threadIdx.x == 0) {
      part.pack.parent = front.parent;
      part.pack.row_from = first;
      part.pack.row_to = end;
      part.pack.column_from = 0;
      part.pack.column_to = front.fn - front.fp + front.rhs;
    }
    __syncthreads();
    pack_assemble_task(stage, part, front);
    __syncthreads();
  }
}

/** What a ticket stands for. */
struct DropStep {
  enum Kind { PANEL, UPDATE, END, PACK, NONE } kind;
  int c, j;
};

/** Finds a ticket's step; `c` and `base` remember where the last one was: tickets ascend. */
__device__ __forceinline__ DropStep drop_step(const DropShape& shape, int packs, int first, int ticket, int& c,
                                              int& base) {
  if (ticket == 1 && first < shape.panels) {
    return {DropStep::PANEL, first, 0};
  }
  if (c < 0) {
    c = first;
    base = first < shape.panels ? 2 : 1;
  }
  while (c < shape.panels) {
    const int updates = shape.tiles - 1 - c;
    const bool panel = c + 1 < shape.panels;
    const int steps = updates + (panel ? 1 : 0);
    if (ticket < base + steps) {
      const int k = ticket - base;
      if (!panel || k == 0) {
        return {DropStep::UPDATE, c, c + 1 + k};
      }
      return k == 1 ? DropStep{DropStep::PANEL, c + 1, 0} : DropStep{DropStep::UPDATE, c, c + k};
    }
    base += steps;
    c++;
  }
  if (ticket == base) {
    return {DropStep::END, 0, 0};
  }
  return ticket <= base + packs ? DropStep{DropStep::PACK, ticket - base - 1, 0} : DropStep{DropStep::NONE, 0, 0};
}

/** Waits for what a step needs. One thread. */
__device__ __forceinline__ bool drop_ready(const SparqrStage& stage, const DropShape& shape, const Drop& drop,
                                           const DropStep& step, int first) {
  switch (step.kind) {
    case DropStep::PANEL:
      // The VT slots are those of the panel before the last.
      return drop_wait(stage, drop, drop.seen(step.c), step.c - first) &&
             (step.c < first + 2 || drop_wait(stage, drop, drop.done(step.c - 2), shape.tiles - 1 - (step.c - 2)));
    case DropStep::UPDATE:
      return drop_wait(stage, drop, drop.word + DROP_PANELS, step.c - first + 2) &&
             drop_wait(stage, drop, drop.seen(step.j), step.c - first);
    case DropStep::END:
      for (int j = shape.panels; j < shape.tiles; j++) {
        if (!drop_wait(stage, drop, drop.seen(j), shape.panels - first)) {
          return false;
        }
      }
      return drop_wait(stage, drop, drop.word + DROP_PANELS, shape.panels - first + 1);
    default:
      return drop_wait(stage, drop, drop.word + DROP_ENDED, 1);
  }
}

/** A worker of a front's DROP tasks. All threads of the block. */
template <int BUNDLE>
SPARQR_COLD void drop_task(double* shared, const SparqrStage& stage, const SparqrTask& task, const SparqrFront& front) {
  if (stage.state[task.front] != SPARQR_STATE_DEAD) {
    return;
  }
  __shared__ Bundle bundle;
  __shared__ int ticket, first, go;
  __shared__ SparqrTask part;
  const DropShape shape(front);
  const Drop drop(stage, front);
  const int packs = (max(task.out.row_to, front.fp + front.cm) + 31) >> 5;
  int c = -1, base = 0;
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0) {
      ticket = take_ticket(drop.word + DROP_TICKET);
    }
    __syncthreads();
    if (ticket == 0) {
      const bool room = drop_start(stage, front, shape, drop, first);
      if (threadIdx.x == 0) {
        drop.word[DROP_FIRST] = first;
        if (!room) {
          drop_fail(stage, task, front, drop);
        }
      }
      drop_signal(drop.word + DROP_PANELS);
      continue;
    }
    if (threadIdx.x == 0) {
      go = drop_wait(stage, drop, drop.word + DROP_PANELS, 1);
      first = drop.word[DROP_FIRST];
    }
    __syncthreads();
    if (!go) {
      return;
    }
    const DropStep step = drop_step(shape, packs, first, ticket, c, base);
    if (step.kind == DropStep::NONE) {
      return;
    }
    if (threadIdx.x == 0) {
      go = drop_ready(stage, shape, drop, step, first);
    }
    __syncthreads();
    if (!go) {
      return;
    }
    if (step.kind == DropStep::PANEL) {
      if (!drop_panel<BUNDLE>(shared, bundle, stage, task, front, shape, drop, step.c)) {
        if (threadIdx.x == 0) {
          drop_fail(stage, task, front, drop);
        }
        return;
      }
      drop_signal(drop.word + DROP_PANELS);
    } else if (step.kind == DropStep::UPDATE) {
      drop_update<BUNDLE>(shared, bundle, stage, task, front, shape, drop, step.c, step.j);
      drop_signal(drop.seen(step.j));
      if (threadIdx.x == 0) {
        add_release(drop.done(step.c));
      }
    } else if (step.kind == DropStep::END) {
      drop_end(shared, stage, task, front, shape, drop);
      drop_signal(drop.word + DROP_ENDED);
    } else {
      drop_pack(stage, task, front, part, step.c);
    }
  }
}
