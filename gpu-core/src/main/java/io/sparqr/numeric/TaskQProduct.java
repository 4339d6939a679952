/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.numeric.dense.ReflectorBlock;
import io.sparqr.numeric.dense.ReflectorProduct;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Thin Q of one subtree task times some vectors: {@link TaskReflection} backwards. For each front,
 * parents before children, the values of its rows of R and of its contribution block, which its
 * parent has left, are placed where the factorization had these rows; the other rows, those of the
 * residual, are zero. The kept reflectors are applied from the last to the first. What is then in
 * the rows of A is the result, what is in the rows of the children's blocks goes to the children.
 *
 * <p>Cost and memory are those of {@link TaskReflection}. Not thread-safe.
 */
public final class TaskQProduct {

  private final int width;
  private final double[] pivotValues;
  private final FrontRows rowsOf;
  private final Map<Integer, double[]> passing = new HashMap<>();
  private final double[] rows;
  private final double[] ridge;

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
   * @param pivotValues the vectors at the task's pivots, fronts ascending: pivots x width,
   *     row-major; those at dependent columns are not read
   * @param width number of vectors
   * @param pivotRows whether each front had one ridge row per pivot column after its rows
   * @param outputs values of the blocks that the task passed on, from the tasks above
   */
  public TaskQProduct(
      SymbolicAnalysis analysis,
      int[] fronts,
      int[] rowFront,
      double[] pivotValues,
      int width,
      boolean pivotRows,
      List<ContributionRhs> outputs) {
    this.width = width;
    this.pivotValues = pivotValues;
    this.rowsOf = new FrontRows(analysis, fronts, rowFront, pivotRows);
    this.rows = new double[Math.multiplyExact(rowFront.length, width)];
    this.ridge = new double[pivotRows ? Math.multiplyExact(rowsOf.pivots(), width) : 0];
    if (pivotValues.length != (long) rowsOf.pivots() * width) {
      throw new DimensionMismatchException(
          "%d values for %d vectors at %d pivots"
              .formatted(pivotValues.length, width, rowsOf.pivots()),
          "values",
          (long) rowsOf.pivots() * width,
          pivotValues.length);
    }
    outputs.forEach(c -> passing.put(c.front(), c.values()));
  }

  /** Processes a whole front; parents before children. */
  public void run(FrontReflectors f) {
    begin(f);
    for (int k = f.blocks().size() - 1; k >= 0; k--) {
      apply(f.blocks().get(k));
    }
    end();
  }

  /**
   * Places the values of a front's rows of R and of its contribution block.
   *
   * @param f its blocks are not read
   * @throws DimensionMismatchException if the front's rows differ in number from those factored
   */
  public void begin(FrontReflectors f) {
    int at = rowsOf.at(f.front());
    rowsOf.require(f, at);
    front = f;
    long length = (long) f.rows() * width;
    if (length > Integer.MAX_VALUE - 8) {
      throw new IndexOverflowException(
          width + " vectors of " + f.rows() + " rows of front " + f.front(), "vectors", length);
    }
    if (y.length < length) {
      y = new double[(int) length];
    } else {
      Arrays.fill(y, 0, (int) length, 0);
    }
    int rank = f.rank();
    for (int i = 0; i < rank; i++) {
      put(pivotValues, rowsOf.pivot(at) + f.livePivot()[i], f.result()[i], f.negative()[i]);
    }
    double[] block = passing.remove(f.front());
    if ((block == null ? 0 : block.length) != (long) f.cm() * width) {
      throw new DimensionMismatchException(
          "front %d gets %d values of its parent, not %d rows"
              .formatted(f.front(), block == null ? 0 : block.length, f.cm()),
          "rows of a block",
          f.cm(),
          block == null ? 0 : block.length / Math.max(1, width));
    }
    for (int i = 0; block != null && i < f.cm(); i++) {
      put(block, i, f.result()[rank + i], false);
    }
  }

  private void put(double[] from, int row, int to, boolean negate) {
    for (int q = 0; q < width; q++) {
      double x = from[row * width + q];
      y[q * front.rows() + to] = negate ? -x : x;
    }
  }

  /** Applies the front's next block, the last one first. */
  public void apply(ReflectorBlock block) {
    if (block.end() > front.rows()) {
      throw new IllegalArgumentException(
          "a block of reflectors reaches beyond the rows of front " + front.front());
    }
    work = ReflectorProduct.apply(false, block, y, front.rows(), width, work);
  }

  /** Takes the front's rows of A, and passes those of its children's blocks on. */
  @SuppressWarnings("NullAway") // none is open then
  public void end() {
    int at = rowsOf.at(front.front());
    int given = rowsOf.rows(at);
    for (int k = 0; k < given; k++) {
      take(front.own()[k], rows, rowsOf.row(at, k));
    }
    for (int k = 0; k < rowsOf.pivotRows(at); k++) {
      take(front.own()[given + k], ridge, rowsOf.pivot(at) + k);
    }
    FrontReflectors.ChildRows children = front.children();
    for (int c = 0; c < children.child().length; c++) {
      int from = children.start()[c];
      double[] block = new double[Math.multiplyExact(children.start()[c + 1] - from, width)];
      for (int i = 0; from + i < children.start()[c + 1]; i++) {
        take(children.row()[from + i], block, i);
      }
      passing.put(children.child()[c], block);
    }
    front = null;
  }

  private void take(int row, double[] to, int at) {
    for (int q = 0; q < width; q++) {
      to[at * width + q] = y[q * front.rows() + row];
    }
  }

  /** Q times the vectors at the rows of A: rows x width, row-major; not a copy. */
  public double[] rows() {
    return rows;
  }

  /** The same at the ridge rows, pivots x width; empty without a ridge. Not a copy. */
  public double[] ridgeRows() {
    return ridge;
  }

  /** Values for blocks of fronts of other tasks, ascending by front. */
  public List<ContributionRhs> inputs() {
    var in = new ArrayList<ContributionRhs>();
    passing.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(e -> in.add(new ContributionRhs(e.getKey(), e.getValue())));
    return in;
  }
}
