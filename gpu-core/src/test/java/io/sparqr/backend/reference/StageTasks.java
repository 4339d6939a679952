/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.Task;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.executor.RoundExecutor.StageInput;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.error.InsufficientMemoryException;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.util.Arrays;

/**
 * What each task does to the arrays of one stage: the specification of every task. A kernel that
 * gives the same numbers up to rounding is correct. H = I - V T V', A := H' A; {@code
 * task_layout.cuh} gives the places of V, T and R.
 */
final class StageTasks {

  // Not private: the executor gives these out, and tests inject faults into the arrays, which stand
  // for a device's memory.
  final StageProgram program;
  final double[] arena;
  final double[] entry;
  final double[] input;
  final double[] vt;
  final double[] out;
  final double[] residual;
  final int[] state;

  /** Whether a block did not cross as it would have passed on one device. */
  boolean unsuited;

  private final FrontDescriptor[] front;
  private final RowsLeftOver leftOver;
  private final double tolerance;

  /** The places of the entries. */
  private final int[] index;

  /** Takes the stage's entries and blocks, before its first task. */
  StageTasks(StageProgram p, StageInput in, double tolerance) {
    this(p, tolerance, (StageTasks) null);
    in.writeS(0, p.fronts(), DoubleBuffer.wrap(entry));
    DoubleBuffer target = DoubleBuffer.wrap(input);
    for (int b = 0; b < p.blocks(); b++) {
      // in two pieces, as a device takes large ones in several
      long count = p.blockDoubles(b);
      in.writeBlock(b, 0, count / 3, target);
      in.writeBlock(b, count / 3, count, target);
    }
  }

  /** Another of several devices: what the stage reads and leaves is on the first. */
  StageTasks(StageProgram p, StageTasks first) {
    this(p, first.tolerance, first);
  }

  /** On memory that is there. */
  StageTasks(StageProgram p, double tolerance, Memory memory) {
    program = p;
    this.tolerance = tolerance;
    front = p.decoded();
    leftOver = new RowsLeftOver(p);
    arena = memory.arena;
    vt = memory.vt;
    entry = memory.entry;
    index = p.sIndex();
    input = memory.input;
    out = memory.out;
    residual = memory.residual;
    state = p.initialState().clone();
  }

  /** What {@link StageTasks} works on. */
  record Memory(
      double[] arena,
      double[] vt,
      double[] entry,
      double[] input,
      double[] out,
      double[] residual) {}

  private StageTasks(StageProgram p, double tolerance, StageTasks first) {
    this.program = p;
    this.tolerance = tolerance;
    this.front = p.decoded();
    this.arena = allocate(p.arenaDoubles());
    this.vt = allocate((long) p.schedule().vtSlots() * TaskLayout.VT_DOUBLES);
    this.state = p.initialState().clone();
    this.leftOver = new RowsLeftOver(p);
    this.index = first == null ? p.sIndex() : first.index;
    this.out = first == null ? allocate(p.outDoubles()) : first.out;
    this.residual = first == null ? allocate((long) p.residualSlots() * p.rhs()) : first.residual;
    this.entry = first == null ? allocate(p.sEntries()) : first.entry;
    this.input = first == null ? allocate(p.inputDoubles()) : first.input;
  }

  private static double[] allocate(long doubles) {
    if (doubles > Integer.MAX_VALUE - 8) {
      throw new InsufficientMemoryException(
          "a stage of " + doubles + " doubles exceeds an array", 8 * doubles, 8L << 31);
    }
    return new double[(int) doubles];
  }

  /**
   * Tasks of fronts above a dead pivot do nothing; a dead front passes its state on instead of its
   * block, unless it has DROP tasks, which handle both.
   */
  void run(Task task) {
    if (task instanceof Task.AssembleBlock t) {
      assembleBlock(t);
    } else if (task instanceof Task.PackAssemble t && t.crossing()) {
      arrived(t);
    } else if (task instanceof Task.PackAssemble t) {
      if (state[t.front()] == TaskLayout.STATE_SOUND) {
        packAssemble(t);
      } else if (state[t.front()] == TaskLayout.STATE_PENDING || front[t.front()].drop() == 0) {
        state[t.parent()] = TaskLayout.STATE_PENDING;
      }
    } else if (task instanceof Task.Drop t) {
      // The first task does all the work; later ones find it done.
      if (state[t.front()] == TaskLayout.STATE_DEAD) {
        drop(t);
      }
    } else if (task instanceof Task.SmallFront t) {
      if (state[t.front()] != TaskLayout.STATE_PENDING) {
        smallFront(t);
      }
      if (state[t.front()] != TaskLayout.STATE_SOUND && t.packAssemble()) {
        state[front[t.front()].parent()] = TaskLayout.STATE_PENDING;
      }
    } else if (state[task.front()] != TaskLayout.STATE_PENDING) {
      runSound(task);
    }
  }

  /** A block that may have come from another device: its front's DROP tasks pass nothing on. */
  private void arrived(Task.PackAssemble t) {
    int its = state[t.front()];
    if (its == TaskLayout.STATE_SOUND || its == TaskLayout.STATE_DROPPED) {
      packAssemble(t);
      return;
    }
    state[t.parent()] = TaskLayout.STATE_PENDING;
    // On one device its DROP tasks would pass leftover rows on.
    unsuited |= its == TaskLayout.STATE_DEAD && front[t.front()].drop() != 0;
  }

  private void runSound(Task task) {
    if (task instanceof Task.Factorize t) {
      factorize(t.front(), t.column(), t.bundle(), t.vtSlot(), t.last());
    } else if (task instanceof Task.Apply t) {
      apply(t.front(), t.column(), t.bundle(), t.vtSlot(), t.from(), t.to());
    } else if (task instanceof Task.ApplyFactorize t) {
      apply(t.front(), t.column(), t.bundle(), t.vtSlot(), t.column() + 1, t.column() + 2);
      factorize(t.front(), t.column() + 1, t.nextBundle(), t.nextVtSlot(), t.last());
    } else if (task instanceof Task.AssembleS t) {
      assembleS(t.front(), t.from(), t.to());
    } else if (task instanceof Task.PackRows t) {
      if (state[t.front()] == TaskLayout.STATE_SOUND) {
        packRows(t.front(), t.rowFrom(), t.rowTo(), out, t.out(), t.outRhs());
      }
    } else if (task instanceof Task.Residual t) {
      residual(t.front(), t.rowFrom(), t.rowTo(), t.slot());
    } else {
      throw new IllegalArgumentException("no such task: " + task);
    }
  }

  /**
   * Number of reflectors of a column tile: one for each column below fn; other columns are only
   * updated.
   */
  private int reflectors(int f, int column) {
    return Math.min(TaskLayout.TILE, front[f].fn() - column * TaskLayout.TILE);
  }

  /** Place in the arena of row r of a bundle (tile r / 32, row r % 32), column 0. */
  private int row(int f, int[] bundle, int r) {
    long i = (long) bundle[r / TaskLayout.TILE] * TaskLayout.TILE + r % TaskLayout.TILE;
    return (int) (front[f].data() + i * front[f].ld());
  }

  private void factorize(int f, int column, int[] bundle, int slot, boolean last) {
    int tile = TaskLayout.TILE;
    int m = bundle.length * tile;
    int w = reflectors(f, column);
    double[][] a = new double[m][];
    for (int r = 0; r < m; r++) {
      int from = row(f, bundle, r) + column * tile;
      a[r] = Arrays.copyOfRange(arena, from, from + tile);
    }
    double[] tau = Householder.factorize(a, w);
    double[][] t = Householder.blockT(a, tau);
    for (int r = 0; r < m; r++) {
      int to = row(f, bundle, r) + column * tile;
      for (int j = 0; j < tile; j++) {
        arena[to + j] = r < tile && j < w && r > j ? 0 : a[r][j];
      }
    }
    if (slot >= 0) {
      int v = slot * TaskLayout.VT_DOUBLES;
      for (int i = 0; i < tile; i++) {
        for (int j = 0; j < tile; j++) {
          boolean below = i > j && j < w;
          vt[v + i * tile + j] = i == j ? 1 : below ? a[i][j] : 0;
          vt[v + tile * tile + i * tile + j] = j < w && i <= j ? t[i][j] : 0;
        }
      }
    }
    for (int j = 0; last && j < tile && column * tile + j < front[f].fp(); j++) {
      if (dead(a[j][j])) {
        state[f] = TaskLayout.STATE_DEAD;
      }
    }
  }

  private boolean dead(double diagonal) {
    return tolerance >= 0 && !(Math.abs(diagonal) > tolerance);
  }

  /** A := A - V T' (V' A) on column tiles [from, to): C = V'A, D = T'C, A -= V D. */
  private void apply(int f, int column, int[] bundle, int slot, int from, int to) {
    int tile = TaskLayout.TILE;
    int m = bundle.length * tile;
    int w = reflectors(f, column);
    int width = (to - from) * tile;
    double[][] c = new double[w][width];
    for (int r = 0; r < m; r++) {
      int at = row(f, bundle, r);
      for (int k = 0; k < w; k++) {
        double v = reflector(slot, column, at, r, k);
        double[] product = c[k];
        double[] of = arena;
        int first = at + from * tile;
        for (int j = 0; j < product.length; j++) {
          product[j] += v * of[first + j];
        }
      }
    }
    int t = slot * TaskLayout.VT_DOUBLES + tile * tile;
    double[][] d = new double[w][width];
    for (int k = 0; k < w; k++) {
      for (int i = 0; i <= k; i++) {
        double factor = vt[t + i * tile + k];
        for (int j = 0; j < width; j++) {
          d[k][j] += factor * c[i][j];
        }
      }
    }
    for (int r = 0; r < m; r++) {
      int at = row(f, bundle, r);
      for (int k = 0; k < w; k++) {
        double v = reflector(slot, column, at, r, k);
        double[] product = d[k];
        double[] of = arena;
        int first = at + from * tile;
        for (int j = 0; j < product.length; j++) {
          of[first + j] -= v * product[j];
        }
      }
    }
  }

  /** Entry (r, k) of V: the first row tile's from the VT slot, the others' in place. */
  private double reflector(int slot, int column, int at, int r, int k) {
    int tile = TaskLayout.TILE;
    return r < tile
        ? vt[slot * TaskLayout.VT_DOUBLES + r * tile + k]
        : arena[at + column * tile + k];
  }

  private void assembleS(int f, long from, long to) {
    for (long e = from; e < to; e++) {
      long place = front[f].data() + Integer.toUnsignedLong(index[(int) e]);
      arena[(int) place] = entry[(int) e];
    }
  }

  private void packAssemble(Task.PackAssemble t) {
    FrontDescriptor d = front[t.front()];
    for (int i = t.rowFrom(); i < t.rowTo(); i++) {
      long from = d.data() + (long) (d.fp() + i) * d.ld() + d.fp();
      for (int j = Math.max(i, t.columnFrom()); j < t.columnTo(); j++) {
        assemble(d, i, j, arena[(int) (from + j)]);
      }
    }
  }

  private void assembleBlock(Task.AssembleBlock t) {
    FrontDescriptor d = front[t.block()];
    for (int i = t.rowFrom(); i < t.rowTo(); i++) {
      long from = d.data() + (long) i * d.fn() - (long) i * (i - 1) / 2 - i;
      long right = d.dataRhs() + (long) i * d.rhs() - d.fn();
      for (int j = Math.max(i, t.columnFrom()); j < t.columnTo(); j++) {
        assemble(d, i, j, input[(int) (j < d.fn() ? from + j : right + j)]);
      }
    }
  }

  /** Adds entry (i, j) of the block with descriptor d at its place in the parent. */
  private void assemble(FrontDescriptor d, int i, int j, double value) {
    FrontDescriptor p = front[d.parent()];
    long row = program.maps()[(int) d.rowMap() + i];
    int column = program.maps()[(int) d.columnMap() + j];
    arena[(int) (p.data() + row * p.ld() + column)] = value;
  }

  /** Factors a whole small front. */
  private void smallFront(Task.SmallFront t) {
    FrontDescriptor d = front[t.front()];
    if (t.assembleS()) {
      assembleS(t.front(), d.sFrom(), d.sTo());
    }
    int width = d.fn() + d.rhs();
    double[][] a = new double[d.fm()][];
    for (int i = 0; i < d.fm(); i++) {
      int from = (int) d.data() + i * d.ld();
      a[i] = Arrays.copyOfRange(arena, from, from + width);
    }
    Householder.factorize(a, Math.min(d.fm(), d.fn()));
    for (int i = 0; i < d.fm(); i++) {
      int to = (int) d.data() + i * d.ld();
      for (int j = 0; j < width; j++) {
        arena[to + j] = j < i && j < d.fn() ? 0 : a[i][j];
      }
    }
    for (int j = 0; j < Math.min(d.fm(), d.fp()); j++) {
      if (dead(a[j][j])) {
        state[t.front()] = TaskLayout.STATE_DEAD;
      }
    }
    if (t.packAssemble() && state[t.front()] == TaskLayout.STATE_SOUND) {
      int columns = d.cn() + d.rhs();
      packAssemble(new Task.PackAssemble(t.front(), d.parent(), 0, d.cm(), 0, columns, false));
    }
    if (t.packRows()) {
      packRows(t.front(), 0, t.rows(), out, t.out(), t.outRhs());
    }
    if (t.residual()) {
      residual(t.front(), Math.min(d.fm(), d.fn()), d.fm(), t.slot());
    }
  }

  /** Packs rows of R with a positive diagonal; contribution rows are unchanged. */
  private void packRows(int f, int from, int to, double[] target, long valuesAt, long rhsAt) {
    FrontDescriptor d = front[f];
    int values = (int) valuesAt;
    int right = (int) rhsAt;
    for (int i = from; i < to; i++) {
      int row = (int) (d.data() + (long) i * d.ld());
      boolean negate = i < d.fp() && arena[row + i] < 0;
      for (int j = i; j < d.fn(); j++) {
        target[values++] = negate ? -arena[row + j] : arena[row + j];
      }
      for (int j = d.fn(); j < d.fn() + d.rhs(); j++) {
        target[right++] = negate ? -arena[row + j] : arena[row + j];
      }
    }
  }

  private void drop(Task.Drop t) {
    FrontDescriptor d = front[t.front()];
    var given = leftOver.of(t.front(), state);
    var columns = new DroppedColumns(d, arena, tolerance, t.most(), given);
    if (!columns.run()) {
      state[t.front()] = TaskLayout.STATE_FAILED;
      if (t.parent() >= 0) {
        state[t.parent()] = TaskLayout.STATE_PENDING;
      }
      return;
    }
    state[t.front()] = TaskLayout.STATE_DROPPED;
    if (columns.ended) {
      for (int j = 0; t.slot() >= 0 && j < d.rhs(); j++) {
        for (double[] r : columns.left) {
          residual[t.slot() * d.rhs() + j] += r[d.fn() + j] * r[d.fn() + j];
        }
      }
    } else if (!columns.left.isEmpty()) {
      state[t.front()] = TaskLayout.STATE_PASSED;
      leftOver.pass(t.front(), columns.left);
      // A pending parent stays pending.
      state[t.parent()] = Math.max(state[t.parent()], TaskLayout.STATE_DEAD);
    }
    packRows(t.front(), 0, t.rows(), out, t.out(), t.outRhs());
    if (t.parent() >= 0) {
      int width = d.cn() + d.rhs();
      packAssemble(new Task.PackAssemble(t.front(), t.parent(), 0, d.cm(), 0, width, false));
    }
  }

  private void residual(int f, int from, int to, int slot) {
    FrontDescriptor d = front[f];
    for (int j = 0; j < d.rhs(); j++) {
      double sum = 0;
      for (int i = from; i < to; i++) {
        double x = arena[(int) (d.data() + (long) i * d.ld()) + d.fn() + j];
        sum += x * x;
      }
      residual[slot * d.rhs() + j] = sum;
    }
  }

  /** Packs rows, whatever the front's state. */
  void packed(Task.PackRows t) {
    packRows(t.front(), t.rowFrom(), t.rowTo(), out, t.out(), t.outRhs());
  }

  /** Packs the rows of PACK_ROWS tasks into an array of its own. */
  double[] fetched(ByteBuffer tasks, int count, int outDoubles) {
    double[] fetched = new double[outDoubles];
    for (int k = 0; k < count; k++) {
      Task task = TaskLayout.decode(tasks, k * TaskLayout.TASK_BYTES);
      if (!(task instanceof Task.PackRows t)) {
        throw new IllegalArgumentException("only PACK_ROWS tasks can be fetched, not " + task);
      }
      packRows(t.front(), t.rowFrom(), t.rowTo(), fetched, t.out(), t.outRhs());
    }
    return fetched;
  }
}
