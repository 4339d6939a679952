/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.threads.ParallelLoop;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

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
    leftmostCount = new long[n];
    highStart = new int[n + 1];
    lowStart = new int[n + 1];
    if (EdgeBits.fit(a)) {
      high = new EdgeBits(a, label).edges(highStart, leftmostCount);
      low = sortedLow();
      return;
    }
    int[] leftmost = leftmost(a, label);
    if (ParallelLoop.several()) {
      high = sortedEdges(a, label, leftmost);
      low = sortedLow();
    } else {
      high = listedEdges(a, label, leftmost);
      mergeEdges();
      low = listedLow();
    }
  }

  /** The edges of all rows, with duplicates, to the larger labels. Enters the counts. */
  private int[] listedEdges(SparsityPattern a, int[] label, int[] leftmost) {
    int patterns = a.patterns();
    long[] rowStart = a.rowStart();
    int[] columnIndex = a.columnIndex();
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
    int[] edges = new int[highStart[n]];
    int[] next = highStart.clone();
    for (int r = 0; r < patterns; r++) {
      int least = leftmost[r];
      for (int k = (int) rowStart[r]; k < rowStart[r + 1]; k++) {
        int j = label[columnIndex[k]];
        if (j != least) {
          edges[next[least]++] = j;
        }
      }
    }
    return edges;
  }

  private int[] listedLow() {
    int[] edges = new int[lowStart[n]];
    int[] next = lowStart.clone();
    for (int j = 0; j < n; j++) {
      for (int k = highStart[j]; k < highStart[j + 1]; k++) {
        edges[next[high[k]]++] = j;
      }
    }
    return edges;
  }

  /**
   * The edges to larger labels without duplicates, on all threads: the rows are sorted by their
   * leftmost labels, so that the edges of a label are found, and multiple ones merged, in one
   * place. Enters the counts and {@code highStart}.
   */
  private int[] sortedEdges(SparsityPattern a, int[] label, int[] leftmost) {
    KeyBuckets rows = new KeyBuckets(leftmost, null, n);
    int[][] found = new int[rows.count][];
    var idle = new ConcurrentLinkedQueue<int[]>();
    ParallelLoop.onAll(rows.count, b -> found[b] = new EdgeList(a, label, rows, b).edges(idle));
    for (int j = 0; j < n; j++) {
      highStart[j + 1] = Math.addExact(highStart[j + 1], highStart[j]);
    }
    int[] edges = new int[highStart[n]];
    ParallelLoop.onAll(
        rows.count,
        b -> {
          int from = highStart[rows.firstKey(b)];
          int to = highStart[rows.firstKey(b + 1)];
          System.arraycopy(found[b], 0, edges, from, to - from);
        });
    return edges;
  }

  /** The edges to smaller labels: those to larger ones, sorted by their ends. */
  private int[] sortedLow() {
    int[] smaller = new int[high.length];
    int pieces = 1 + n / PIECE;
    ParallelLoop.onAll(
        pieces,
        p -> {
          for (int j = p * PIECE; j < Math.min(n, (p + 1L) * PIECE); j++) {
            Arrays.fill(smaller, highStart[j], highStart[j + 1], j);
          }
        });
    int[] edges = new int[high.length];
    KeyBuckets ends = new KeyBuckets(high, smaller, n);
    ParallelLoop.onAll(
        ends.count,
        b -> {
          int base = ends.firstKey(b);
          int[] end = new int[ends.firstKey(b + 1) - base];
          ends.sort(b, end, edges, ends.start[b]);
          System.arraycopy(end, 0, lowStart, base + 1, end.length);
        });
    return edges;
  }

  /** The edges of one bucket of labels to larger ones. */
  private final class EdgeList {

    /** Up to this many edges of a label are compared with each other. */
    private static final int FEW = 24;

    private final SparsityPattern a;
    private final int[] label;
    private final KeyBuckets rows;
    private final int bucket;
    private int[] edge;
    private int size;

    EdgeList(SparsityPattern a, int[] label, KeyBuckets rows, int bucket) {
      this.a = a;
      this.label = label;
      this.rows = rows;
      this.bucket = bucket;
      edge = new int[Math.max(16, 2 * (rows.start[bucket + 1] - rows.start[bucket]))];
    }

    /**
     * The edges by label, no two the same. Enters their numbers into highStart[j+1] and the rows'
     * into leftmostCount[j].
     *
     * @param idle arrays of size n for any thread; no entry equals j + 1 for a label j of this
     *     bucket
     */
    int[] edges(Queue<int[]> idle) {
      int first = rows.firstKey(bucket);
      int[] end = new int[rows.firstKey(bucket + 1) - first];
      int[] row = new int[rows.start[bucket + 1] - rows.start[bucket]];
      rows.sort(bucket, end, row, 0);
      int[] seen = null;
      int at = 0;
      for (int k = 0; k < end.length; k++) {
        long most = 0;
        long count = 0;
        for (int i = at; i < end[k]; i++) {
          most += a.rowStart()[row[i] + 1] - a.rowStart()[row[i]] - 1;
          count = Math.addExact(count, a.multiplicity()[row[i]]);
        }
        leftmostCount[first + k] = count;
        int before = size;
        if (most > FEW && seen == null) {
          seen = idle.poll();
          seen = seen == null ? new int[n] : seen;
        }
        for (; at < end[k]; at++) {
          add(first + k, row[at], before, most > FEW ? seen : null);
        }
        highStart[first + k + 1] = size - before;
      }
      if (seen != null) {
        idle.add(seen);
      }
      return edge;
    }

    /** Adds the edges of label j through a row. */
    private void add(int j, int row, int before, int @Nullable [] seen) {
      int[] columnIndex = a.columnIndex();
      int from = (int) a.rowStart()[row];
      int to = (int) a.rowStart()[row + 1];
      if (size > edge.length - (to - from)) {
        edge = Arrays.copyOf(edge, Math.addExact(size + (size >> 1), to - from));
      }
      for (int k = from; k < to; k++) {
        int c = label[columnIndex[k]];
        if (c == j) {
          continue;
        }
        if (seen == null) {
          int i = before;
          while (i < size && edge[i] != c) {
            i++;
          }
          edge[size] = c;
          size = Math.max(size, i + 1);
        } else if (seen[c] != j + 1) {
          seen[c] = j + 1;
          edge[size++] = c;
        }
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
    ParallelLoop.onAll(
        (patterns + PIECE - 1) / PIECE,
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
    highStart = new int[0];
    high = new int[0];
    leftmostCount = new long[0];
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
