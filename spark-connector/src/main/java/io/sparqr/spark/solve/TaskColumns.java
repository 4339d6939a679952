/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.partition.SubtreeTask;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;
import java.util.function.IntPredicate;

/** The columns of a task's rows of R. */
public final class TaskColumns {

  private TaskColumns() {}

  /** Pivot positions of a task, ascending. */
  public static int[] pivots(SymbolicAnalysis analysis, SubtreeTask task) {
    return pivots(analysis, task, f -> true);
  }

  /** Those of some of its fronts. */
  static int[] pivots(SymbolicAnalysis analysis, SubtreeTask task, IntPredicate has) {
    int[] fronts = Arrays.stream(task.fronts()).filter(has).toArray();
    int count = 0;
    for (int f : fronts) {
      count += analysis.fp(f);
    }
    int[] position = new int[count];
    int k = 0;
    for (int f : fronts) {
      for (int p = analysis.firstPivot(f); p < analysis.firstPivot(f + 1); p++) {
        position[k++] = p;
      }
    }
    return position;
  }

  /**
   * Positions outside a task with entries in its rows of R, ascending: the tails of its outputs.
   */
  public static int[] outside(SymbolicAnalysis analysis, SubtreeTask task) {
    return outside(analysis, task, f -> true);
  }

  /** Those in rows of some of its fronts. */
  static int[] outside(SymbolicAnalysis analysis, SubtreeTask task, IntPredicate has) {
    int[] outputs = Arrays.stream(task.outputs()).filter(has).toArray();
    int count = 0;
    for (int f : outputs) {
      count += analysis.cn(f);
    }
    int[] position = new int[count];
    int k = 0;
    for (int f : outputs) {
      for (int c = analysis.fp(f); c < analysis.fn(f); c++) {
        position[k++] = analysis.column(f, c);
      }
    }
    // A tail may include pivots of another front of this task, if one of its subtrees lies above
    // another.
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
