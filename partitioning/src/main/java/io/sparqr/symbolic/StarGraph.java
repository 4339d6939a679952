/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.util.stream.IntStream;

/**
 * The graph of A'A with each row's clique replaced by a star: edges from the row's leftmost column
 * (in the given order) to its other columns. Eliminating the leftmost column restores the clique,
 * so that the filled graph, the elimination tree and the counts are those of A'A, at O(nnz(A))
 * edges instead of the squares of the row lengths (Gilbert, Li, Ng and Peyton 2001, section 3).
 * Multiple edges are merged. Vertices are columns by their place in the order ("labels").
 */
final class StarGraph {

  /** Rows per piece of parallel work. */
  private static final int PIECE = 1 << 14;

  /** Number of columns. */
  final int n;

  /** Size n+1; {@code high[highStart[j] .. highStart[j+1])}: edges of j to larger labels. */
  int[] highStart;

  int[] high;

  /**
   * Size n+1; {@code low[lowStart[j] .. lowStart[j+1])}: edges of j to smaller labels, ascending.
   */
  final int[] lowStart;

  final int[] low;

  /** Size n; number of rows of A whose leftmost column has the label. */
  long[] leftmostCount;

  /** Builds the graph of a pattern under a column order. O(entries). */
  StarGraph(SparsityPattern a, Permutation order) {
    n = a.columns();
    int[] label = order.inverseArray();
    int patterns = a.patterns();
    long[] rowStart = a.rowStart();
    int[] columnIndex = a.columnIndex();
    int[] leftmost = leftmost(a, label);
    leftmostCount = new long[n];
    highStart = new int[n + 1];
    for (int r = 0; r < patterns; r++) {
      int least = leftmost[r];
      if (least < n) {
        leftmostCount[least] = Math.addExact(leftmostCount[least], a.multiplicity()[r]);
        highStart[least + 1] += (int) (rowStart[r + 1] - rowStart[r]) - 1;
      }
    }
    for (int j = 0; j < n; j++) {
      highStart[j + 1] += highStart[j];
    }
    high = new int[highStart[n]];
    int[] next = highStart.clone();
    for (int r = 0; r < patterns; r++) {
      int least = leftmost[r];
      for (int k = (int) rowStart[r]; k < rowStart[r + 1]; k++) {
        int j = label[columnIndex[k]];
        if (j != least) {
          high[next[least]++] = j;
        }
      }
    }
    lowStart = new int[n + 1];
    mergeEdges();
    low = new int[lowStart[n]];
    System.arraycopy(lowStart, 0, next, 0, n);
    for (int j = 0; j < n; j++) {
      for (int k = highStart[j]; k < highStart[j + 1]; k++) {
        low[next[high[k]]++] = j;
      }
    }
  }

  /**
   * Size patterns; least label of each row, n if it is empty. Parallel, because its reads are
   * scattered.
   */
  private int[] leftmost(SparsityPattern a, int[] label) {
    int patterns = a.patterns();
    long[] rowStart = a.rowStart();
    int[] columnIndex = a.columnIndex();
    int[] leftmost = new int[patterns];
    IntStream.range(0, (patterns + PIECE - 1) / PIECE)
        .parallel()
        .forEach(
            p -> {
              for (int r = p * PIECE; r < Math.min((p + 1L) * PIECE, patterns); r++) {
                int least = n;
                for (int k = (int) rowStart[r]; k < (int) rowStart[r + 1]; k++) {
                  least = Math.min(least, label[columnIndex[k]]);
                }
                leftmost[r] = least;
              }
            });
    return leftmost;
  }

  /** Releases the arrays needed for the counts only; keeps the edges to smaller labels. */
  void keepLow() {
    highStart = null;
    high = null;
    leftmostCount = null;
  }

  /** Compresses {@code high} in place and leaves in lowStart the offsets of the other direction. */
  private void mergeEdges() {
    int[] seen = new int[n];
    int kept = 0;
    int from = 0;
    for (int j = 0; j < n; j++) {
      int to = highStart[j + 1];
      highStart[j] = kept;
      for (int k = from; k < to; k++) {
        int c = high[k];
        if (seen[c] != j + 1) {
          seen[c] = j + 1;
          high[kept++] = c;
          lowStart[c + 1]++;
        }
      }
      from = to;
    }
    highStart[n] = kept;
    for (int j = 0; j < n; j++) {
      lowStart[j + 1] += lowStart[j];
    }
  }
}
