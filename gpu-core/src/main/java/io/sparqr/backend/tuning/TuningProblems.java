/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.tuning;

import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** What tunings are measured on, the same values everywhere. */
public final class TuningProblems {

  private static final long SEED = 20261130;

  private TuningProblems() {}

  /** Random values of a dense m x n matrix, row-major. */
  public static double[] dense(int rows, int columns) {
    double[] a = new double[Math.multiplyExact(rows, columns)];
    fill(a, 0, rows, columns, SEED);
    return a;
  }

  /** The rows depend on their numbers alone, not on the threads. */
  private static void fill(double[] a, int from, int rows, int columns, long seed) {
    IntStream.range(0, rows)
        .parallel()
        .forEach(
            i -> {
              var random = new SplittableRandom(seed + i);
              for (int k = 0; k < columns; k++) {
                a[from + i * columns + k] = 2 * random.nextDouble() - 1;
              }
            });
  }

  /**
   * Dense blocks down a diagonal, each a front, as one task with a right-hand side.
   *
   * @param rows of the blocks
   * @param columns of the blocks, as many
   */
  public static SubtreeProblem blocks(int[] rows, int[] columns) {
    int m = Arrays.stream(rows).sum();
    int n = Arrays.stream(columns).sum();
    int[] start = new int[m + 1];
    int at = 0;
    int row = 0;
    for (int b = 0; b < rows.length; b++) {
      for (int i = 0; i < rows[b]; i++) {
        at += columns[b];
        start[++row] = at;
      }
    }
    int[] column = new int[at];
    double[] value = new double[at];
    int entry = 0;
    int left = 0;
    for (int b = 0; b < rows.length; b++) {
      fill(value, entry, rows[b], columns[b], SEED + b);
      for (int i = 0; i < rows[b]; i++) {
        for (int k = 0; k < columns[b]; k++) {
          column[entry++] = left + k;
        }
      }
      left += columns[b];
    }
    return task(new CsrMatrix(m, n, start, column, value), OrderingMethod.NATURAL);
  }

  /** Differences along a three-dimensional mesh, as one task with a right-hand side. */
  public static SubtreeProblem mesh(int size) {
    CsrMatrix a = Gallery.generate(Gallery.PREFIX + "grad3d" + size + ":rand");
    return task(a, OrderingMethod.NESTED_DISSECTION);
  }

  /** All fronts of a matrix as one task; its columns have any norm. */
  private static SubtreeProblem task(CsrMatrix a, OrderingMethod ordering) {
    var options = SymbolicOptions.defaults().withSingletons(false).withOrdering(ordering);
    SymbolicAnalysis analysis = SymbolicAnalyzer.analyze(a.pattern(), options);
    int[] front = new int[a.rows()];
    int[] position = new int[a.nonzeros()];
    double[] value = new double[a.nonzeros()];
    for (int i = 0; i < a.rows(); i++) {
      int from = a.rowStart()[i];
      int to = a.rowStart()[i + 1];
      long[] row = new long[to - from];
      for (int k = from; k < to; k++) {
        row[k - from] = (long) analysis.permutation().position(a.columnIndex()[k]) << 32 | k;
      }
      Arrays.sort(row);
      for (int k = from; k < to; k++) {
        position[k] = (int) (row[k - from] >>> 32);
        value[k] = a.values()[(int) row[k - from]];
      }
      front[i] = analysis.frontOfPosition(position[from]);
    }
    var random = new SplittableRandom(SEED);
    double[] b = random.doubles(a.rows(), -1, 1).toArray();
    var rows = new RowBlock(front, a.rowStart(), position, value, b, 1);
    int[] all = IntStream.range(0, analysis.fronts()).toArray();
    return new SubtreeProblem(analysis, all, rows, List.of());
  }
}
