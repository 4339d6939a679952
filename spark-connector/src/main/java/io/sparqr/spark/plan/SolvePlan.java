/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import io.sparqr.backend.BackendChoice;
import io.sparqr.partition.TreePartition;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.io.Serializable;
import java.util.Arrays;

/**
 * What every executor has to know to route a row and to factor a subtree: broadcast once. Tables
 * are by position of the analysis or by front; nobody writes to them.
 */
public final class SolvePlan implements Serializable {

  private static final long serialVersionUID = 1;

  /** Numbers that are no tables. */
  public record Numbers(
      int rhsCount,
      double tolerance,
      double ridge,
      BackendChoice backend,
      double intensity,
      long deviceMemoryBytes,
      boolean local,
      boolean keepQ)
      implements Serializable {}

  private final SymbolicAnalysis analysis;
  private final TreePartition partition;
  private final double[] columnScale;
  private final double[] rhsScale;
  private final Numbers numbers;
  private final int[] position;
  private final int[] frontOf;
  private final long[] frontRows;

  /**
   * Derives the routing tables. O(n + fronts).
   *
   * @param columnScale size n, by original column: the factor that equilibrates it
   * @param rhsScale size rhsCount: power of two that keeps squares in range
   */
  public SolvePlan(
      SymbolicAnalysis analysis,
      TreePartition partition,
      double[] columnScale,
      double[] rhsScale,
      Numbers numbers) {
    this.analysis = analysis;
    this.partition = partition;
    this.columnScale = columnScale;
    this.rhsScale = rhsScale;
    this.numbers = numbers;
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
}
