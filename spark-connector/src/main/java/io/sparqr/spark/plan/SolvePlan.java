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
      double ridge,
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
  private final int[] position;
  private final int[] frontOf;
  private final long[] frontRows;

  /**
   * Derives the routing tables. O(n + fronts).
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
    this.position = analysis.permutation().inverseArray();
    this.frontOf = new int[analysis.columns()];
    this.frontRows = new long[analysis.fronts()];
    Arrays.fill(frontOf, 0, analysis.singletons(), -1);
    for (int f = 0; f < analysis.fronts(); f++) {
      for (int p = analysis.firstPivot(f); p < analysis.firstPivot(f + 1); p++) {
        frontOf[p] = f;
        frontRows[f] += analysis.leftmostCount(p);
      }
    }
  }

  public SymbolicAnalysis analysis() {
    return analysis;
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
    return position[column];
  }

  /** The front of a position, -1 for singletons. */
  public int frontOf(int p) {
    return frontOf[p];
  }

  /** Rows of A (ridge rows too) that belong to a front. */
  public long frontRows(int front) {
    return frontRows[front];
  }

  /** The task that owns a front. */
  public int taskOf(int front) {
    return partition.taskOfFront()[front];
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
    if (numbers.ridge == 0) {
      return norm;
    }
    double penalty = 0;
    for (double v : x) {
      penalty = Math.hypot(penalty, v);
    }
    penalty *= Math.sqrt(numbers.ridge);
    return Math.sqrt(Math.max(0, norm - penalty)) * Math.sqrt(norm + penalty);
  }
}
