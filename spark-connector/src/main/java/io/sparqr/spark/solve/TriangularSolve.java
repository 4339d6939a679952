/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.factor.TaskReport;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.wire.FactorChunk;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.VectorCodec;
import io.sparqr.spark.wire.VectorCodec.Sparse;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

/**
 * Solves with one task's part of R on its executor, row by row where the packed rows lie: R x = c
 * from the last row up, R'y = c from the first row down. Dead columns keep the value 0. 2 flops an
 * entry of R and right-hand side; memory-bound.
 */
public final class TriangularSolve {

  private final SymbolicAnalysis analysis;
  private final SubtreeTask task;
  private final List<FactorChunk> chunks = new ArrayList<>();
  private final int base;
  private final int width;
  private final double[] x;

  private TriangularSolve(SolvePlan plan, Iterator<byte[]> frames, Sparse given) {
    this.analysis = plan.analysis();
    TaskReport report = TaskReport.decode(frames.next());
    this.task = plan.partition().tasks().get(report.task());
    while (frames.hasNext()) {
      byte[] frame = frames.next();
      if (Frame.kind(frame) == Frame.Kind.FACTOR) {
        chunks.add(FactorChunk.open(frame));
      }
    }
    this.base = analysis.firstPivot(task.fronts()[0]);
    this.width = given.width();
    long length = (long) (analysis.columns() - base) * width;
    if (length > Integer.MAX_VALUE - 8) {
      throw new IndexOverflowException(
          width + " right-hand sides of " + analysis.columns() + " columns", "solution", length);
    }
    this.x = new double[(int) length];
    for (int i = 0; i < given.position().length; i++) {
      System.arraycopy(given.value(), i * width, x, at(given.position()[i]), width);
    }
  }

  private int at(int position) {
    return (position - base) * width;
  }

  /**
   * Back substitution R x = c.
   *
   * @param frames of the task, as {@code SubtreeRun} made them
   * @param given x at the columns outside the task; also c at the task's pivots unless {@code
   *     stored}
   * @param stored whether c is the Q'b kept beside R
   * @return x at the task's pivots
   */
  public static byte[] back(SolvePlan plan, Iterator<byte[]> frames, Sparse given, boolean stored) {
    var solve = new TriangularSolve(plan, frames, given);
    solve.runBack(stored);
    return VectorCodec.encodeSparse(solve.pivots());
  }

  /**
   * R x = 0 with given x at the dead columns.
   *
   * @param given x at the columns outside the task and at the task's dead pivots, 0 at live ones
   * @return x at the task's pivots
   */
  static byte[] homogeneous(SolvePlan plan, Iterator<byte[]> frames, Sparse given) {
    var solve = new TriangularSolve(plan, frames, given);
    solve.substitute(false);
    return VectorCodec.encodeSparse(solve.pivots());
  }

  private void runBack(boolean stored) {
    boolean[] live = substitute(stored);
    if (!stored) {
      clearDead(live);
    }
  }

  /** Which columns are live, unless the right-hand side is the stored one. */
  private boolean[] substitute(boolean stored) {
    boolean[] live = new boolean[stored ? 0 : x.length / Math.max(1, width)];
    double[] row = new double[0];
    int[] column = new int[0];
    double[] sum = new double[width];
    for (int c = chunks.size() - 1; c >= 0; c--) {
      FactorChunk chunk = chunks.get(c);
      for (int s = chunk.segments() - 1; s >= 0; s--) {
        FactorChunk.Segment segment = chunk.segment(s);
        int fn = segment.fn();
        row = row.length < fn ? new double[fn] : row;
        column = columns(segment.front(), fn, column);
        for (int i = segment.rows() - 1; i >= 0; i--) {
          int pivot = segment.livePivot(i);
          segment.row(i, row);
          int to = column[pivot];
          for (int k = 0; k < width; k++) {
            sum[k] = stored ? segment.rhs(i, k) : x[to + k];
          }
          subtract(row, column, pivot + 1, fn, sum);
          for (int k = 0; k < width; k++) {
            x[to + k] = sum[k] / row[pivot];
          }
          if (!stored) {
            live[to / width] = true;
          }
        }
      }
    }
    return live;
  }

  private void subtract(double[] row, int[] column, int from, int to, double[] sum) {
    if (width == 1) {
      double s = sum[0];
      for (int j = from; j < to; j++) {
        s -= row[j] * x[column[j]];
      }
      sum[0] = s;
      return;
    }
    for (int j = from; j < to; j++) {
      for (int k = 0; k < width; k++) {
        sum[k] -= row[j] * x[column[j] + k];
      }
    }
  }

  private void clearDead(boolean[] live) {
    for (int f : task.fronts()) {
      for (int p = analysis.firstPivot(f); p < analysis.firstPivot(f + 1); p++) {
        if (!live[p - base]) {
          Arrays.fill(x, at(p), at(p) + width, 0);
        }
      }
    }
  }

  /**
   * Forward substitution R'y = c.
   *
   * @param given c at the task's pivots, lower tasks' updates already subtracted
   * @param rest whether dead columns have what is left of c there, which is 0 up to rounding if c
   *     is a combination of R's rows; they are 0 otherwise
   * @return y at the task's pivots, and at the columns outside the task what is to be added to c
   */
  public static byte[] forward(
      SolvePlan plan, Iterator<byte[]> frames, Sparse given, boolean rest) {
    var solve = new TriangularSolve(plan, frames, given);
    solve.runForward(rest);
    Sparse own = solve.pivots();
    Sparse out = solve.at(outside(plan.analysis(), solve.task));
    int n = own.position().length;
    int[] position = Arrays.copyOf(own.position(), n + out.position().length);
    double[] value = Arrays.copyOf(own.value(), position.length * solve.width);
    System.arraycopy(out.position(), 0, position, n, out.position().length);
    System.arraycopy(out.value(), 0, value, n * solve.width, out.value().length);
    return VectorCodec.encodeSparse(new Sparse(position, value, solve.width));
  }

  private void runForward(boolean rest) {
    double[] row = new double[0];
    int[] column = new int[0];
    double[] y = new double[width];
    boolean[] live = new boolean[x.length / Math.max(1, width)];
    for (FactorChunk chunk : chunks) {
      for (int s = 0; s < chunk.segments(); s++) {
        FactorChunk.Segment segment = chunk.segment(s);
        int fn = segment.fn();
        row = row.length < fn ? new double[fn] : row;
        column = columns(segment.front(), fn, column);
        for (int i = 0; i < segment.rows(); i++) {
          int pivot = segment.livePivot(i);
          int to = column[pivot];
          live[to / width] = true;
          if (zero(to)) {
            continue;
          }
          segment.row(i, row);
          for (int k = 0; k < width; k++) {
            y[k] = x[to + k] / row[pivot];
            x[to + k] = y[k];
          }
          for (int j = pivot + 1; j < fn; j++) {
            for (int k = 0; k < width; k++) {
              x[column[j] + k] -= row[j] * y[k];
            }
          }
        }
      }
    }
    if (!rest) {
      clearDead(live);
    }
  }

  /** A sparse c reaches few rows. */
  private boolean zero(int at) {
    for (int k = 0; k < width; k++) {
      if (x[at + k] != 0) {
        return false;
      }
    }
    return true;
  }

  /** Offsets in x of the front's columns. */
  private int[] columns(int front, int fn, int[] into) {
    int[] column = into.length < fn ? new int[fn] : into;
    for (int k = 0; k < fn; k++) {
      column[k] = at(analysis.column(front, k));
    }
    return column;
  }

  private Sparse pivots() {
    return at(pivots(analysis, task));
  }

  private Sparse at(int[] position) {
    double[] value = new double[position.length * width];
    for (int i = 0; i < position.length; i++) {
      System.arraycopy(x, at(position[i]), value, i * width, width);
    }
    return new Sparse(position, value, width);
  }

  /** Pivot positions of a task, ascending. */
  public static int[] pivots(SymbolicAnalysis analysis, SubtreeTask task) {
    int count = 0;
    for (int f : task.fronts()) {
      count += analysis.fp(f);
    }
    int[] position = new int[count];
    int k = 0;
    for (int f : task.fronts()) {
      for (int p = analysis.firstPivot(f); p < analysis.firstPivot(f + 1); p++) {
        position[k++] = p;
      }
    }
    return position;
  }

  /** Positions outside a task that its rows of R reach, ascending: the tails of its outputs. */
  public static int[] outside(SymbolicAnalysis analysis, SubtreeTask task) {
    int count = 0;
    for (int f : task.outputs()) {
      count += analysis.cn(f);
    }
    int[] position = new int[count];
    int k = 0;
    for (int f : task.outputs()) {
      for (int c = analysis.fp(f); c < analysis.fn(f); c++) {
        position[k++] = analysis.column(f, c);
      }
    }
    // a tail may reach pivots of a front of this task again where two of its subtrees are stacked
    Arrays.sort(position);
    int[] own = pivots(analysis, task);
    int kept = 0;
    for (int i = 0; i < count; i++) {
      boolean twice = i > 0 && position[i] == position[i - 1];
      if (!twice && Arrays.binarySearch(own, position[i]) < 0) {
        position[kept++] = position[i];
      }
    }
    return Arrays.copyOf(position, kept);
  }
}
