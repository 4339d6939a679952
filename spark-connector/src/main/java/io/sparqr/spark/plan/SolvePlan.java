/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.NonFiniteSolutionException;
import io.sparqr.partition.TreePartition;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.threads.Parallel;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * All the data an executor needs to route a row and to factor a subtree: broadcast once. Tables are
 * indexed by position in the analysis or by front, and are not modified. Sent to the tasks by the
 * exchange alone.
 *
 * <p>Bytes on the driver: those of the analysis ({@link SymbolicAnalysis.Data}), 8 per column for
 * the scales, 5 per front for the cut. Further tables for tasks are computed in their JVM: the
 * position of each column (4 bytes), the front of each position (4) and the number of rows of each
 * front (8).
 */
public final class SolvePlan {

  /**
   * The scalar parts.
   *
   * @param devices whether the problem runs on GPUs
   * @param fronts how fronts are factored
   * @param combineFlops maximum flops of the map-side combine per entry received
   */
  public record Numbers(
      int rhsCount,
      double tolerance,
      Ridge ridge,
      DeviceVerdict devices,
      long deviceMemoryBytes,
      boolean local,
      Fronts fronts,
      boolean equilibrated,
      double combineFlops) {

    /** {@link Fronts#keepQ}. */
    public boolean keepQ() {
      return fronts.keepQ;
    }

    /** A copy with another tuning of devices. */
    Numbers tuned(PlannedTuning tuned) {
      return new Numbers(
          rhsCount,
          tolerance,
          ridge,
          devices,
          deviceMemoryBytes,
          local,
          new Fronts(fronts.keepQ, fronts.gram, tuned),
          equilibrated,
          combineFlops);
    }
  }

  /**
   * How fronts are factored.
   *
   * @param keepQ whether Q is kept
   * @param gram whether a front may be factored by its Gram matrix
   * @param tuned how devices cut their work
   */
  public record Fronts(boolean keepQ, boolean gram, PlannedTuning tuned) {

    /** On CPUs. */
    public Fronts(boolean keepQ, boolean gram) {
      this(keepQ, gram, PlannedTuning.NONE);
    }
  }

  private final SymbolicAnalysis analysis;
  private final TreePartition partition;

  /** Positions for which starting another thread pays. */
  private static final int GRAIN = 1 << 15;

  private final double[] columnScale;
  private final double[] rhsScale;
  private final Numbers numbers;
  private final Readings readings;

  /** Computed on first use. */
  private volatile @Nullable Boolean anyExtraordinary;

  /** Computed on first use, because rows are routed on the executors. */
  private volatile @Nullable Routes routes;

  /**
   * The routes of the rows.
   *
   * @param frontOf size n, by position; -1 for singletons
   * @param rows size nf; number of rows of each front
   */
  private record Routes(int[] frontOf, long[] rows) {}

  /**
   * Shares the tables.
   *
   * @param columnScale size n, by original column: the factor that equilibrates the column, as
   *     {@link ColumnScales} stores it
   * @param rhsScale size rhsCount: the power of two that keeps squares in range
   * @param readings fingerprints of the rows from the reading of the pattern
   */
  public SolvePlan(
      SymbolicAnalysis analysis,
      TreePartition partition,
      double[] columnScale,
      double[] rhsScale,
      Numbers numbers,
      Readings readings) {
    this.analysis = analysis;
    this.partition = partition;
    this.columnScale = columnScale;
    this.rhsScale = rhsScale;
    this.numbers = numbers;
    this.readings = readings;
  }

  private Routes routes() {
    Routes r = routes;
    if (r == null) {
      synchronized (this) {
        r = routes == null ? makeRoutes() : routes;
        routes = r;
      }
    }
    return r;
  }

  private Routes makeRoutes() {
    var r = new Routes(new int[analysis.columns()], new long[analysis.fronts()]);
    Arrays.fill(r.frontOf, 0, analysis.singletons(), -1);
    for (int f = 0; f < analysis.fronts(); f++) {
      for (int p = analysis.firstPivot(f); p < analysis.firstPivot(f + 1); p++) {
        r.frontOf[p] = f;
        r.rows[f] += analysis.leftmostCount(p);
      }
    }
    return r;
  }

  public SymbolicAnalysis analysis() {
    return analysis;
  }

  /**
   * A copy with another ridge, for a ridge whose rows are among the rows of the input. To be used
   * for solves with R, not for computing R.
   */
  public SolvePlan withRidge(Ridge ridge) {
    var n =
        new Numbers(
            numbers.rhsCount,
            numbers.tolerance,
            ridge,
            numbers.devices,
            numbers.deviceMemoryBytes,
            numbers.local,
            numbers.fronts,
            numbers.equilibrated,
            numbers.combineFlops);
    return new SolvePlan(analysis, partition, columnScale, rhsScale, n, readings);
  }

  public TreePartition partition() {
    return partition;
  }

  public Numbers numbers() {
    return numbers;
  }

  /** The fingerprints that every reading of the rows must match. */
  public Readings readings() {
    return readings;
  }

  /** Size n, by original column, as {@link ColumnScales} stores them; must not be modified. */
  double[] columnScales() {
    return columnScale;
  }

  /** Size rhsCount; must not be modified. */
  double[] rhsScales() {
    return rhsScale;
  }

  /**
   * The factor of an original column; infinite, or with fewer digits, where the column's norm is
   * near the ends of the range of doubles. Products are safer by {@link #scaled}.
   */
  public double columnScale(int column) {
    return ColumnScales.value(columnScale[column]);
  }

  /** v times the factor of an original column; out of range only if the product itself is. */
  public double scaled(int column, double v) {
    double s = columnScale[column];
    return s > 0 ? v * s : ColumnScales.times(v, s, 0);
  }

  /** The inverse of {@link #scaled}: v over the factor of an original column. */
  public double unscaled(int column, double v) {
    double s = columnScale[column];
    return s > 0 ? v / s : ColumnScales.over(v, s, 0);
  }

  /** v times the factor of one column over that of another, in this sequence: v / D_b D_a. */
  public double ratio(int a, int b, double v) {
    double over = unscaled(b, v);
    return columnScale[a] > 0 && columnScale[b] > 0
        ? over * columnScale[a]
        : ColumnScales.ratio(v, columnScale[a], columnScale[b]);
  }

  /**
   * Size n, the stored factors ({@link ColumnScales}), if the product with any needs more than a
   * multiplication, otherwise none: A'r is summed for the equilibrated column wherever the factor
   * is negative, since it could leave the range of doubles in the caller's units. Must not be
   * modified. O(n) the first time.
   */
  public double @Nullable [] extraordinary() {
    Boolean any = anyExtraordinary;
    if (any == null) {
      any = Arrays.stream(columnScale).anyMatch(s -> s < 0);
      anyExtraordinary = any;
    }
    return any ? columnScale : null;
  }

  /** Whether an element of A'r is summed in the caller's units; see {@link #extraordinary}. */
  public boolean ordinary(int column) {
    return columnScale[column] > 0;
  }

  /** An element of A'r, summed as {@link #extraordinary} says, in the caller's units. */
  public double gradient(int column, double g) {
    return ordinary(column) ? g : ColumnScales.over(g, columnScale[column], 0);
  }

  /** The factor of a right-hand side. */
  public double rhsScale(int k) {
    return rhsScale[k];
  }

  /** The position of an original column. */
  public int position(int column) {
    return analysis.permutation().position(column);
  }

  /** The front of a position, -1 for singletons. */
  public int frontOf(int p) {
    return routes().frontOf[p];
  }

  /** Number of rows of A (ridge rows included) that belong to a front. */
  public long frontRows(int front) {
    return routes().rows[front];
  }

  /** The task that owns a front. */
  public int taskOf(int front) {
    return partition.taskOf(front);
  }

  /** The shuffle partition for the driver: singleton rows, rows without entries. */
  public int driverKey() {
    return partition.tasks().size();
  }

  /**
   * Zeros for the given number of right-hand sides, n x width.
   *
   * @throws IndexOverflowException if that exceeds an array
   */
  public double[] vector(int width) {
    long length = (long) analysis.columns() * width;
    if (length > Integer.MAX_VALUE - 8) {
      throw new IndexOverflowException(
          width + " right-hand sides of " + analysis.columns() + " columns at once",
          "solution",
          length);
    }
    return new double[(int) length];
  }

  /**
   * The solution for one right-hand side by original column, in the caller's units.
   *
   * @param z n x width by position, of the equilibrated columns
   * @param k index of the right-hand side
   * @param rhsScale the factor by which the right-hand side was scaled
   * @throws io.sparqr.error.NonFiniteSolutionException that names the column, if a value is beyond
   *     the range of doubles, or was divided by a pivot of zero
   */
  public double[] unscale(double[] z, int k, int width, double rhsScale) {
    int shift = -Math.getExponent(rhsScale);
    double[] x = inCallersUnits(z, k, width, shift);
    for (int j = 0; j < x.length; j++) {
      if (!Double.isFinite(x[j])) {
        throw notFinite(z, k, width, j, shift);
      }
    }
    return x;
  }

  /**
   * One of several vectors by original column, in the caller's units; infinite where a value is
   * beyond the range of doubles.
   *
   * @param z n x width by position, of the equilibrated columns
   */
  public double[] inCallersUnits(double[] z, int k, int width) {
    return inCallersUnits(z, k, width, 0);
  }

  private double[] inCallersUnits(double[] z, int k, int width, int shift) {
    double[] x = new double[analysis.columns()];
    overPositions(
        (from, to, thread) -> {
          for (int p = from; p < to; p++) {
            int j = analysis.permutation().original(p);
            double v = z[p * width + k];
            double s = columnScale[j];
            x[j] = shift == 0 && s > 0 ? v * s : ColumnScales.times(v, s, shift);
          }
        });
    return x;
  }

  /**
   * The error for a value of a column beyond the range of doubles.
   *
   * @param what such as "the standard error"
   * @param v the value of the equilibrated column
   */
  public NonFiniteSolutionException overflow(String what, int column, double v) {
    return Double.isFinite(v) && v != 0
        ? ColumnScales.overflow(what, column, -1, ColumnScales.log10(v, columnScale[column], 0))
        : new NonFiniteSolutionException(
            ("%s of column %d is not finite: R has a pivot of zero or too small to divide by, there"
                    + " or in a column that it goes with; rank detection, off with a negative"
                    + " tolerance, drops such columns")
                .formatted(what, column),
            column,
            -1);
  }

  /** The error for a coefficient that is not finite, the first one by original column. */
  private NonFiniteSolutionException notFinite(double[] z, int k, int width, int j, int shift) {
    // back substitution passes it on to columns before, so that the last one is where it began
    for (int p = analysis.columns() - 1; p >= 0; p--) {
      if (!Double.isFinite(z[p * width + k])) {
        int column = analysis.permutation().original(p);
        return new NonFiniteSolutionException(
            ("x is not finite from column %d on, whose pivot in R is zero or too small to divide"
                    + " by; rank detection, off with a negative tolerance, drops such a column")
                .formatted(column),
            column,
            k);
      }
    }
    double v = z[analysis.permutation().position(j) * width + k];
    return ColumnScales.overflow("x", j, k, ColumnScales.log10(v, columnScale[j], shift));
  }

  /**
   * The inverse with the factors on the other side, as A'b needs them.
   *
   * @param g n x width by original column, of A's columns
   * @param c out: n x width by position, of the equilibrated columns
   */
  public void scale(double[] g, double[] c, int width) {
    overPositions(
        (from, to, thread) -> {
          for (int p = from; p < to; p++) {
            int j = analysis.permutation().original(p);
            for (int k = 0; k < width; k++) {
              c[p * width + k] = scaled(j, g[j * width + k]);
            }
          }
        });
  }

  /** As above, for A'r summed as {@link #extraordinary} says. */
  public void scaleGradient(double[] g, double[] c, int width) {
    overPositions(
        (from, to, thread) -> {
          for (int p = from; p < to; p++) {
            int j = analysis.permutation().original(p);
            double s = ordinary(j) ? columnScale[j] : 1;
            for (int k = 0; k < width; k++) {
              c[p * width + k] = g[j * width + k] * s;
            }
          }
        });
  }

  /** A loop over all positions, on several threads if there are many. */
  private void overPositions(Parallel.Body body) {
    Parallel.loop(analysis.columns(), GRAIN, Runtime.getRuntime().availableProcessors(), body);
  }

  /** A residual norm without the contribution of the ridge rows, lambda ||x||^2. */
  public double withoutRidge(double norm, double[] x) {
    if (!numbers.ridge.any()) {
      return norm;
    }
    double penalty = numbers.ridge.norm(x);
    return Math.sqrt(Math.max(0, norm - penalty)) * Math.sqrt(norm + penalty);
  }
}
