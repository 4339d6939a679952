/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.tall;

import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A triangle with dense rows below it as one front: the places of its values, the same for every
 * chunk. The triangle's rows are packed, as rows of R are.
 */
final class ChunkStructure {

  final int columns;
  final int rows;

  /** Values of the triangle; the rows' begin there. */
  final int triangle;

  private final SymbolicAnalysis analysis;
  private final int[] start;
  private final int[] position;

  /**
   * A chunk's.
   *
   * @param columns n
   * @param rows at most, below the triangle; n (n + 1) / 2 + rows n at most 2^31 - 9
   */
  ChunkStructure(int columns, int rows) {
    this.columns = columns;
    this.rows = rows;
    triangle = Math.toIntExact(columns * (columns + 1L) / 2);
    start = new int[columns + rows + 1];
    position = new int[Math.toIntExact(triangle + (long) rows * columns)];
    int at = 0;
    for (int i = 0; i < columns + rows; i++) {
      for (int k = i < columns ? i : 0; k < columns; k++) {
        position[at++] = k;
      }
      start[i + 1] = at;
    }
    // Rows of one pattern, all full: one front of all columns.
    int[] full = IntStream.range(0, columns).toArray();
    var options =
        SymbolicOptions.defaults()
            .withOrdering(OrderingMethod.NATURAL)
            .withSingletons(false)
            .withRhs(0);
    analysis =
        SymbolicAnalyzer.analyze(
            new SparsityPattern(
                columns, new long[] {0, columns}, full, new long[] {(long) columns + rows}),
            options);
  }

  /** Doubles of a chunk. */
  int values() {
    return position.length;
  }

  /** The problem of a chunk's values: those of the triangle, then the rows one after the other. */
  SubtreeProblem problem(double[] value) {
    var block = new RowBlock(new int[start.length - 1], start, position, value, new double[0], 0);
    return new SubtreeProblem(analysis, new int[] {0}, block, List.of());
  }
}
