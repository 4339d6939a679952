/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.partition.TreePartition;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;

/**
 * What every executor has to know to route a row and to factor a subtree: broadcast once. Tables
 * are by position of the analysis or by front; nobody writes to them. Travels as a {@link
 * PlanHandle} and no other way.
 *
 * <p>Bytes on the driver: those of the analysis ({@link SymbolicAnalysis.Data}), 8 a column for the
 * scales, 5 a front for the cut. What tasks need besides, the position of each column (4), the
 * front of each position (4) and the rows of each front (8), is made in the JVM of a task.
 */
public final class SolvePlan {

  /**
   * Numbers that are no tables.
   *
   * @param devices whether this is a problem for GPUs
   * @param combineFlops most flops that the map-side combine may take for an entry that it gets
   */
  public record Numbers(
      int rhsCount,
      double tolerance,
      Ridge ridge,
      DeviceVerdict devices,
      long deviceMemoryBytes,
      boolean local,
      boolean keepQ,
      boolean equilibrated,
      double combineFlops) {}

  private final SymbolicAnalysis analysis;
  private final TreePartition partition;
  private final double[] columnScale;
  private final double[] rhsScale;
  private final Numbers numbers;
  private final Readings readings;

  /** Made when first asked for: rows are routed on the executors. */
  private volatile Routes routes;

  /**
   * Where rows go.
   *
   * @param frontOf size n, by position; -1 for singletons
   * @param rows size nf
   */
  private record Routes(int[] frontOf, long[] rows) {}

  /**
   * Takes the tables as they are.
   *
   * @param columnScale size n, by original column: the factor that equilibrates it
   * @param rhsScale size rhsCount: power of two that keeps squares in range
   * @param readings what the rows were when the pattern was read
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
   * The same with another ridge: where the rows of one are among the rows of the input. For what is
   * solved with R, not for making it.
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
            numbers.keepQ,
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

  /** What the rows have to be at every reading. */
  public Readings readings() {
    return readings;
  }

  /** Size n, by original column; not to be written to. */
  double[] columnScales() {
    return columnScale;
  }

  /** Size rhsCount; not to be written to. */
  double[] rhsScales() {
    return rhsScale;
  }

  /** The factor of an original column. */
  public double columnScale(int column) {
    return columnScale[column];
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

  /** Rows of A (ridge rows too) that belong to a front. */
  public long frontRows(int front) {
    return routes().rows[front];
  }

  /** The task that owns a front. */
  public int taskOf(int front) {
    return partition.taskOf(front);
  }

  /** The shuffle partition of what goes to the driver: singleton rows, rows without entries. */
  public int driverKey() {
    return partition.tasks().size();
  }

  /**
   * Zeros for so many right-hand sides, n x width.
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
   * One right-hand side's solution by original column, in the caller's units.
   *
   * @param z n x width by position, of the equilibrated columns
   * @param k which of them
   * @param rhsScale the factor that the right-hand side was given
   */
  public double[] unscale(double[] z, int k, int width, double rhsScale) {
    double[] x = new double[analysis.columns()];
    for (int p = 0; p < x.length; p++) {
      int j = analysis.permutation().original(p);
      x[j] = z[p * width + k] * columnScale[j] / rhsScale;
    }
    return x;
  }

  /** A residual norm without the ridge rows' part, lambda ||x||^2. */
  public double withoutRidge(double norm, double[] x) {
    if (!numbers.ridge.any()) {
      return norm;
    }
    double penalty = numbers.ridge.norm(x);
    return Math.sqrt(Math.max(0, norm - penalty)) * Math.sqrt(norm + penalty);
  }
}
