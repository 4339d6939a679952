/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// DROP tasks: removal of a finished front's dead columns, on the device (docs/adr/0029-dead-columns-on-the-device.md).
// The computation is that of io.sparqr.backend.reference.DroppedColumns, by tiles; the workers share it dynamically.
// Leftover rows wait in separate row tiles, 32 at a time. Column tile by column tile, from the first with a dead pivot
// (the first of all if children passed rows on):
//   PANEL c    row tile c and the tiles of leftover rows: bundles of up to BUNDLE row tiles, as Factorize does it. Then, if
//              a pivot is dead: Heath's method on that one 32 x 32 tile, the rows of dead columns become leftover rows.
//   UPDATE c,j the same on column tile j.
// The panels end with the last pivot if there are few leftover rows and the parent can take them (SparqrTask.out.most),
// else with the last row, which leaves the rows of a front with fm >= fn nothing but right-hand sides.
// then END (is every pivot far from the tolerance?), and PACK k: row tile k to the output and to the parent.
//
// Tickets. Workers take these steps by number, in an order in which each step depends only on earlier ones, and wait
// for its dependencies: so any number of workers, even one, finishes, and the result of a step does not depend on the
// worker. PANEL c + 1 comes right after UPDATE c, c + 1 and runs concurrently with the other updates.
#pragma once
#include "drop_rows.cuh"
#include "drop_tile.cuh"

#ifdef SPARQR_HOST
#define SPARQR_COLD inline
#else
#define SPARQR_COLD __device__ __noinline__
#endif

// Separate functions, not inlined, because they fill the registers.
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

/** Marks the front as undecided. Called by one thread. */
__device__ __forceinline__ void drop_fail(const SparqrStage& stage, const SparqrTask& task, const SparqrFront& front,
                                          const Drop& drop) {
  stage.state[task.front] = SPARQR_STATE_FAILED;
  if (front.parent >= 0) {
    raise_state(stage.state + front.parent, SPARQR_STATE_PENDING);
  }
  add_release(drop.word + DROP_FAILED);
}

/** START: gathers the leftover rows of children and finds the first panel; false: no room. */
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

static_assert(SPARQR_FITS<DropTile, 4>, "");

/** PANEL c. False: no room for the rows of its dead columns. */
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
    // The triangle. Below it a panel by reflectors leaves zeros, but a front not yet processed here may have remains of
    // V.
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
  // Leftover rows start in this column tile if it has columns without a pivot in this panel, else in the next.
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

/** Shared memory of the second part of UPDATE, which removes dead columns. */
struct DropUpdateShared {
  double q[32][33];  // the orthogonal matrix of the panel's tile
  double x[32][33];  // the tile that it is applied to
};
static_assert(sizeof(DropUpdateShared) == 16896 && SPARQR_FITS<DropUpdateShared, 4>, "");

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
  DropUpdateShared& sh = *reinterpret_cast<DropUpdateShared*>(shared);
  double* home = row_tile(stage, front, c) + 32 * j;
  for (int i = threadIdx.x; i < 1024; i += SPARQR_THREADS) {
    sh.q[i >> 5][i & 31] = orthogonal[i];
    sh.x[i >> 5][i & 31] = home[static_cast<long long>(i >> 5) * front.ld + (i & 31)];
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
      sum = fma(sh.q[row][k], sh.x[k][column], sum);
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

/** Sum over the block's threads, in a fixed order, returned to all. scratch: 4 doubles. */
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

/** END: sets the state, and sums the residual of leftover rows or passes them to the parent. */
__device__ __forceinline__ void drop_end(double* shared, const SparqrStage& stage, const SparqrTask& task,
                                         const SparqrFront& front, const DropShape& shape, const Drop& drop) {
  const double* a = stage.arena + front.data;
  double squares = 0;
  bool near = false;
  for (int j = threadIdx.x; j < front.fp; j += SPARQR_THREADS) {
    const double pivot = fabs(a[j * (front.ld + 1ll)]);
    if (pivot <= stage.tolerance) {
      squares = fma(pivot, pivot, squares);
      near = near || pivot > stage.tolerance / SPARQR_DEAD_MARGIN;
    } else {
      near = near || !(pivot > SPARQR_MARGIN * stage.tolerance);
    }
  }
  squares = block_sum(squares, shared);
  near = __syncthreads_or(near) || !(sqrt(squares) <= stage.tolerance);
  const int left = drop.word[DROP_LEFT];
  if (near) {
    if (threadIdx.x == 0) {
      drop_fail(stage, task, front, drop);
    }
    return;
  }
  const bool pass = left > 0 && (front.fm < front.fn || drop.word[DROP_STOP] < shape.panels);
  if (task.out.slot >= 0 && !pass) {
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

/** PACK k: packs row tile k as the tasks of a sound front do. */
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

/** The step of a ticket. */
struct DropStep {
  enum Kind { PANEL, UPDATE, END, PACK, NONE, UNDECIDED } kind;
  int c, j;
};

/**
 * Finds a ticket's step; `c` and `base` hold the position of the previous one, since tickets ascend. stop: DROP_STOP, or
 * 0 if it is not known; UNDECIDED if the step depends on it.
 */
__device__ __forceinline__ DropStep drop_step(const DropShape& shape, int stop, int packs, int first, int ticket,
                                              int& c, int& base) {
  if (ticket == 1 && first < shape.panels) {
    return {DropStep::PANEL, first, 0};
  }
  if (c < 0) {
    c = first;
    base = first < shape.panels ? 2 : 1;
  }
  while (stop == 0 || c < stop) {
    if (stop == 0 && c >= shape.pivots - 1) {
      return {DropStep::UNDECIDED, 0, 0};
    }
    const int updates = shape.tiles - 1 - c;
    const bool panel = stop == 0 || c + 1 < stop;
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

/** Waits for a step's dependencies. Called by one thread. */
__device__ __forceinline__ bool drop_ready(const SparqrStage& stage, const DropShape& shape, const Drop& drop,
                                           const DropStep& step, int first, int stop) {
  switch (step.kind) {
    case DropStep::PANEL:
      // The VT slots were last used by the panel before the previous one.
      return drop_wait(stage, drop, drop.seen(step.c), step.c - first) &&
             (step.c < first + 2 || drop_wait(stage, drop, drop.done(step.c - 2), shape.tiles - 1 - (step.c - 2)));
    case DropStep::UPDATE:
      return drop_wait(stage, drop, drop.word + DROP_PANELS, step.c - first + 2) &&
             drop_wait(stage, drop, drop.seen(step.j), step.c - first);
    case DropStep::END:
      for (int j = stop; j < shape.tiles; j++) {
        if (!drop_wait(stage, drop, drop.seen(j), stop - first)) {
          return false;
        }
      }
      return drop_wait(stage, drop, drop.word + DROP_PANELS, stop - first + 1);
    default:
      return drop_wait(stage, drop, drop.word + DROP_ENDED, 1);
  }
}

/** A worker of a front's DROP tasks. Called by all threads of the block. */
template <int BUNDLE>
SPARQR_COLD void drop_task(double* shared, const SparqrStage& stage, const SparqrTask& task, const SparqrFront& front) {
  if (stage.state[task.front] != SPARQR_STATE_DEAD) {
    return;
  }
  __shared__ Bundle bundle;
  __shared__ int ticket, first, decided;
  __shared__ SparqrTask part;
  const DropShape shape(front);
  const Drop drop(stage, front);
  const int packs = (max(task.out.row_to, front.fp + front.cm) + 31) >> 5;
  int c = -1, base = 0, stop = 0;
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
        drop.word[DROP_STOP] = shape.panels;
        if (!room) {
          drop_fail(stage, task, front, drop);
        }
      }
      drop_signal(drop.word + DROP_PANELS);
      continue;
    }
    bool go = false;
    if (threadIdx.x == 0) {
      go = drop_wait(stage, drop, drop.word + DROP_PANELS, 1);
      first = drop.word[DROP_FIRST];
    }
    if (!__syncthreads_or(go)) {
      return;
    }
    if (first >= shape.pivots) {
      stop = shape.panels;
    }
    DropStep step = drop_step(shape, stop, packs, first, ticket, c, base);
    if (step.kind == DropStep::UNDECIDED) {
      if (threadIdx.x == 0) {
        go = drop_wait(stage, drop, drop.word + DROP_PANELS, shape.pivots - first + 1);
        decided = drop.word[DROP_STOP];
      }
      if (!__syncthreads_or(go)) {
        return;
      }
      stop = decided;
      step = drop_step(shape, stop, packs, first, ticket, c, base);
    }
    if (step.kind == DropStep::NONE) {
      return;
    }
    if (threadIdx.x == 0) {
      go = drop_ready(stage, shape, drop, step, first, stop);
    }
    if (!__syncthreads_or(go)) {
      return;
    }
    if (step.kind == DropStep::PANEL) {
      if (!drop_panel<BUNDLE>(shared, bundle, stage, task, front, shape, drop, step.c)) {
        if (threadIdx.x == 0) {
          drop_fail(stage, task, front, drop);
        }
        return;
      }
      if (threadIdx.x == 0 && step.c == shape.pivots - 1 && drop.word[DROP_LEFT] <= task.out.most) {
        drop.word[DROP_STOP] = shape.pivots;
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
