/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.partition.SubtreeTask;
import io.sparqr.spark.wire.VectorCodec.Sparse;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;
import java.util.BitSet;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Where a task has the values of a vector: all from its first pivot on, or, where it solves on some
 * of its fronts only ({@link Support}), theirs.
 */
final class Places {

  private final SymbolicAnalysis analysis;
  private final SubtreeTask task;
  private final IntPredicate has;
  private final int base;
  private final int count;

  /** From the first pivot on; null: one after the other. */
  private final int @Nullable [] index;

  private Places(SymbolicAnalysis analysis, SubtreeTask task, IntPredicate has, boolean all) {
    this.analysis = analysis;
    this.task = task;
    this.has = has;
    this.base = analysis.firstPivot(task.fronts()[0]);
    if (all) {
      this.count = analysis.columns() - base;
      this.index = null;
      return;
    }
    int[] pivots = pivots();
    int[] outside = outside();
    this.count = pivots.length + outside.length;
    this.index = new int[analysis.columns() - base];
    for (int k = 0; k < pivots.length; k++) {
      index[pivots[k] - base] = k;
    }
    for (int k = 0; k < outside.length; k++) {
      index[outside[k] - base] = pivots.length + k;
    }
  }

  /** On all fronts of a task. */
  static Places all(SymbolicAnalysis analysis, SubtreeTask task) {
    return new Places(analysis, task, f -> true, true);
  }

  /** On the fronts whose pivots are given. */
  static Places of(SymbolicAnalysis analysis, SubtreeTask task, Sparse given) {
    var pivots = new BitSet(analysis.columns());
    for (int p : given.position()) {
      pivots.set(p);
    }
    IntPredicate has = f -> pivots.get(analysis.firstPivot(f));
    if (Arrays.stream(task.fronts()).allMatch(has)) {
      return all(analysis, task);
    }
    return new Places(analysis, task, has, false);
  }

  /** Whether a front takes part. */
  boolean has(int front) {
    return has.test(front);
  }

  /** The pivots of the fronts that take part, ascending. */
  int[] pivots() {
    return TaskColumns.pivots(analysis, task, has);
  }

  /** Other columns of their rows of R, ascending. */
  int[] outside() {
    return TaskColumns.outside(analysis, task, has);
  }

  /** Number of values per vector. */
  int count() {
    return count;
  }

  /** Where the value at a position is. */
  int of(int position) {
    return index == null ? position - base : index[position - base];
  }
}
