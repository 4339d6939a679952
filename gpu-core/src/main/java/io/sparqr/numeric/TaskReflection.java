/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.numeric.dense.ReflectorBlock;
import io.sparqr.numeric.dense.ReflectorProduct;
import io.sparqr.numeric.dense.Reflectors;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Q' of one subtree task on further right-hand sides: for each front in postorder, the right-hand
 * sides of its rows and of its children are placed as the factorization placed the rows, the kept
 * reflectors are applied, and the rows of Q'b are passed on like those of R and of the contribution
 * block. Backward stable like the factorization itself: Q'b as if b had been carried along.
 *
 * <p>Cost: 4 flops per kept value and right-hand side; V is read once. From {@link
 * ReflectorProduct#BLOCKED} right-hand sides on the flops are those of matrix products. Memory:
 * rows of the largest front x width. Not thread-safe.
 */
public final class TaskReflection {

  private final SymbolicAnalysis analysis;
  private final int width;
  private final double[] rhs;
  private final FrontRows rowsOf;

  /** Right-hand sides of the ridge rows, by pivot of the task; none if they are zero. */
  private double[] pivotRhs = new double[0];

  private final Map<Integer, double[]> passing = new HashMap<>();
  private final double[] residual;

  /** The result so far: width values for each of {@code count} positions. */
  private int[] position = new int[64];

  private double[] value;
  private int count;

  /** Open, from begin to end. */
  @SuppressWarnings("NullAway.Init")
  private FrontReflectors front;

  private double[] y = new double[0];
  private double[] work = new double[0];

  /**
   * Starts a task.
   *
   * @param fronts the task's, ascending
   * @param rowFront front of each row, in the order of the factorization
   * @param rhs rowFront.length x width, row-major
   * @param width right-hand sides
   * @param zeroPivotRows whether each front had one further row per pivot column after these, with
   *     right-hand side zero: the ridge rows
   * @param inputs right-hand sides of children in other tasks
   */
  public TaskReflection(
      SymbolicAnalysis analysis,
      int[] fronts,
      int[] rowFront,
      double[] rhs,
      int width,
      boolean zeroPivotRows,
      List<ContributionRhs> inputs) {
    this.analysis = analysis;
    this.rhs = rhs;
    this.width = width;
    this.residual = new double[width];
    this.value = new double[Math.multiplyExact(position.length, width)];
    this.rowsOf = new FrontRows(analysis, fronts, rowFront, zeroPivotRows);
    inputs.forEach(c -> passing.put(c.front(), c.values()));
  }

  /**
   * Gives the ridge rows right-hand sides other than zero.
   *
   * @param values width for each pivot of the task, fronts ascending
   */
  public void ridgeRows(double[] values) {
    if (values.length != (long) rowsOf.pivots() * width) {
      throw new DimensionMismatchException(
          "%d values for the ridge rows of %d pivots".formatted(values.length, rowsOf.pivots()),
          "ridge rows",
          (long) rowsOf.pivots() * width,
          values.length);
    }
    pivotRhs = values;
  }

  /** Processes a whole front; children before parents. */
  public void run(FrontReflectors f) {
    begin(f);
    for (ReflectorBlock b : f.blocks()) {
      apply(b);
    }
    end();
  }

  /**
   * Gathers the right-hand sides of a front's rows.
   *
   * @param f its blocks are not read
   * @throws DimensionMismatchException if the front's rows differ in number from those factored
   */
  public void begin(FrontReflectors f) {
    int at = rowsOf.at(f.front());
    front = f;
    long length = (long) f.rows() * width;
    if (length > Integer.MAX_VALUE - 8) {
      throw new IndexOverflowException(
          width + " right-hand sides of " + f.rows() + " rows of front " + f.front(),
          "right-hand sides",
          length);
    }
    if (y.length < length) {
      y = new double[(int) length];
    } else {
      Arrays.fill(y, 0, (int) length, 0);
    }
    rowsOf.require(f, at);
    int given = rowsOf.rows(at);
    for (int k = 0; k < given; k++) {
      put(rhs, rowsOf.row(at, k), f.own()[k]);
    }
    for (int k = 0; pivotRhs.length > 0 && k < rowsOf.pivotRows(at); k++) {
      put(pivotRhs, rowsOf.pivot(at) + k, f.own()[given + k]);
    }
    FrontReflectors.ChildRows children = f.children();
    for (int c = 0; c < children.child().length; c++) {
      double[] from = passing.remove(children.child()[c]);
      int rows = children.start()[c + 1] - children.start()[c];
      if (from == null || from.length != rows * width) {
        throw new DimensionMismatchException(
            "front %d gets %d values of its child %d, not %d rows"
                .formatted(f.front(), from == null ? 0 : from.length, children.child()[c], rows),
            "rows of a child",
            rows,
            from == null ? 0 : from.length / Math.max(1, width));
      }
      for (int i = 0; i < rows; i++) {
        put(from, i, children.row()[children.start()[c] + i]);
      }
    }
  }

  private void put(double[] from, int row, int to) {
    for (int q = 0; q < width; q++) {
      y[q * front.rows() + to] = from[row * width + q];
    }
  }

  /** Applies the front's next block. */
  public void apply(ReflectorBlock block) {
    if (block.end() > front.rows()) {
      throw new IllegalArgumentException(
          "a block of reflectors reaches beyond the rows of front " + front.front());
    }
    work = ReflectorProduct.apply(true, block, y, front.rows(), width, work);
  }

  /** Passes the front's rows on. */
  @SuppressWarnings("NullAway") // none is open then
  public void end() {
    int rank = front.rank();
    int first = analysis.firstPivot(front.front());
    reserve(rank);
    for (int i = 0; i < rank; i++) {
      position[count] = first + front.livePivot()[i];
      take(front.result()[i], front.negative()[i], value, count++);
    }
    int cm = front.cm();
    if (cm > 0) {
      double[] block = new double[Math.multiplyExact(cm, width)];
      for (int i = 0; i < cm; i++) {
        take(front.result()[rank + i], false, block, i);
      }
      passing.put(front.front(), block);
    }
    for (int q = 0; q < width; q++) {
      double norm = Reflectors.norm(y, q * front.rows(), front.rows());
      residual[q] = Math.hypot(residual[q], norm);
    }
    front = null;
  }

  /** Moves a row out of y, which in the end holds the residual's rows. */
  private void take(int row, boolean negate, double[] to, int at) {
    for (int q = 0; q < width; q++) {
      double x = y[q * front.rows() + row];
      to[at * width + q] = negate ? -x : x;
      y[q * front.rows() + row] = 0;
    }
  }

  private void reserve(int more) {
    if (count + more > position.length) {
      int size = Math.max(2 * position.length, count + more);
      position = Arrays.copyOf(position, size);
      value = Arrays.copyOf(value, Math.multiplyExact(size, width));
    }
  }

  /** Positions of the live pivots so far, in the order of the rows of R. */
  public int[] positions() {
    return Arrays.copyOf(position, count);
  }

  /** Q'b at these positions: positions x width, row-major. */
  public double[] values() {
    return Arrays.copyOf(value, count * width);
  }

  /** Right-hand sides for fronts of other tasks, ascending by front. */
  public List<ContributionRhs> outputs() {
    var out = new ArrayList<ContributionRhs>();
    passing.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(e -> out.add(new ContributionRhs(e.getKey(), e.getValue())));
    return out;
  }

  /** Size width: norms of the entries of Q'b that end in this task. */
  public double[] residual() {
    return residual.clone();
  }
}
