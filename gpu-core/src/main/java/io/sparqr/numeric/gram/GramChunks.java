/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The fronts of a tree in chunks of whole subtrees, which threads work on side by side, and the top
 * above them, whose fronts are shared by the threads one after the other. Depends on the tree
 * alone, so that bits do not depend on the number of threads.
 */
final class GramChunks {

  private static final int SHARES = 16;

  /** Work below which a tree is one chunk, in flops. */
  private static final double LEAST_WORK = 1e4;

  /** The time for an entry that is set, added and read, in flops. */
  private static final double MEMORY = 40;

  /** The fronts of each chunk, ascending. */
  final int[][] chunk;

  /** The fronts above them, ascending. */
  final int[] top;

  /** Size n; number among the columns of the top, -1: a pivot of a chunk. */
  final int[] topOf;

  final int topColumns;

  GramChunks(GramShape shape) {
    int count = shape.fronts();
    double[] work = new double[count];
    double all = 0;
    for (int k = 0; k < count; k++) {
      double p = shape.pivots(k);
      double n = p + shape.tail(k);
      double own = (p + MEMORY) * n * n;
      work[k] += own;
      all += own;
      if (shape.parent()[k] >= 0) {
        work[shape.parent()[k]] += work[k];
      }
    }
    double share = Math.max(LEAST_WORK, all / SHARES);
    boolean[] isTop = new boolean[count];
    for (int k = count - 1; k >= 0; k--) {
      int parent = shape.parent()[k];
      isTop[k] = (parent < 0 || isTop[parent]) && (work[k] > share || parent < 0);
    }
    List<int[]> chunks = new ArrayList<>();
    int[] fronts = new int[count];
    int length = 0;
    double sum = 0;
    int above = 0;
    for (int k = 0; k < count; k++) {
      if (isTop[k]) {
        above++;
        continue;
      }
      fronts[length++] = k;
      int parent = shape.parent()[k];
      if (isTop[parent]) {
        sum += work[k];
        if (sum >= share) {
          chunks.add(Arrays.copyOf(fronts, length));
          length = 0;
          sum = 0;
        }
      }
    }
    if (length > 0) {
      chunks.add(Arrays.copyOf(fronts, length));
    }
    chunk = chunks.toArray(int[][]::new);
    top = new int[above];
    topOf = new int[shape.size()];
    Arrays.fill(topOf, -1);
    int columns = 0;
    int next = 0;
    for (int k = 0; k < count; k++) {
      if (isTop[k]) {
        top[next++] = k;
        for (int j = shape.pivotStart()[k]; j < shape.pivotStart()[k + 1]; j++) {
          topOf[j] = columns++;
        }
      }
    }
    for (int j = shape.tested(); j < shape.size(); j++) {
      topOf[j] = columns++;
    }
    topColumns = columns;
  }
}
