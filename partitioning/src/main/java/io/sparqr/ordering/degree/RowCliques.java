/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.degree;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.ordering.StopRequest;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.threads.ParallelLoop;
import java.util.Arrays;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;

/**
 * The part of the graph of A'A that minimum degree works on, as a cover by the rows of A. Left out,
 * as COLAMD does (Davis, Gilbert, Larimore, Ng 2004, section 4.6): columns of more than max(16, 10
 * sqrt(min(m, n))) entries, then rows with more than max(16, 10 sqrt(n)) entries in other columns,
 * then columns with no entry in what remains. The columns left out go last.
 */
public final class RowCliques {

  /** A piece of rows or columns is worth a thread if it meets at least this many entries. */
  private static final int LEAST_OF_PIECE = 1 << 17;

  private static final int MOST_PIECES = 64;

  private int leastOfPiece = LEAST_OF_PIECE;

  /** A row or a column is dense beyond this multiple of the square root. */
  private static final double DENSE = 10;

  private static final int ADJACENCIES_PER_ENTRY = 40;

  private final SparsityPattern pattern;
  private final int n;

  /** size n; entries in the rows that take part, 0 for a column left out. */
  private final int[] count;

  /** size patterns; columns of a row that take part, 0 for a row left out. */
  private final int[] rowLength;

  /** The columns left out: dense ones by ascending count, then those without an entry. */
  private final int[] last;

  private double adjacencies;

  private RowCliques(SparsityPattern pattern, int[] count, int[] rowLength, int[] last) {
    this.pattern = pattern;
    this.n = pattern.columns();
    this.count = count;
    this.rowLength = rowLength;
    this.last = last;
  }

  private static int denseThreshold(int n) {
    return (int) Math.min(Integer.MAX_VALUE, Math.max(16, DENSE * Math.sqrt(n)));
  }

  /** Finds the rows and columns that take part. O(entries + n log n). */
  public static RowCliques of(SparsityPattern pattern) {
    int n = pattern.columns();
    int m = pattern.patterns();
    int pieces =
        (int) Math.min(MOST_PIECES, pattern.patternEntries() / Math.max(LEAST_OF_PIECE, 2L * n));
    return of(pattern, Math.max(1, Math.min(pieces, m)));
  }

  /** As above, with the rows in this many pieces, each with counts of its own. */
  static RowCliques of(SparsityPattern pattern, int pieces) {
    int n = pattern.columns();
    int m = pattern.patterns();
    int[][] counts = new int[pieces][n];
    ParallelLoop.onAll(pieces, p -> countAll(pattern, p, pieces, counts[p]));
    int[] full = sum(counts);
    int denseColumn = denseThreshold(Math.min(m, n));
    int[] rowLength = new int[m];
    ParallelLoop.onAll(
        pieces, p -> countLive(pattern, p, pieces, full, denseColumn, rowLength, counts[p]));
    int[] count = sum(counts);
    return new RowCliques(pattern, count, rowLength, leftOut(count, full, denseColumn));
  }

  private static void countAll(SparsityPattern pattern, int piece, int pieces, int[] count) {
    int[] index = pattern.columnIndex();
    long to = pattern.patternEntries() * (piece + 1) / pieces;
    for (int k = (int) (pattern.patternEntries() * piece / pieces); k < to; k++) {
      count[index[k]]++;
    }
  }

  /** The lengths of a piece's rows without dense columns, and the columns' counts in them. */
  private static void countLive(
      SparsityPattern pattern,
      int piece,
      int pieces,
      int[] full,
      int denseColumn,
      int[] rowLength,
      int[] count) {
    int[] index = pattern.columnIndex();
    long[] rowStart = pattern.rowStart();
    int denseRow = denseThreshold(pattern.columns());
    Arrays.fill(count, 0);
    int to = (int) ((long) rowLength.length * (piece + 1) / pieces);
    for (int r = (int) ((long) rowLength.length * piece / pieces); r < to; r++) {
      int live = 0;
      for (int p = (int) rowStart[r]; p < (int) rowStart[r + 1]; p++) {
        live += full[index[p]] <= denseColumn ? 1 : 0;
      }
      if (live > denseRow) {
        continue;
      }
      rowLength[r] = live;
      for (int p = (int) rowStart[r]; p < (int) rowStart[r + 1] && live > 0; p++) {
        if (full[index[p]] <= denseColumn) {
          count[index[p]]++;
          live--;
        }
      }
    }
  }

  private static int[] sum(int[][] counts) {
    int[] sum = counts[0].clone();
    for (int p = 1; p < counts.length; p++) {
      for (int j = 0; j < sum.length; j++) {
        sum[j] += counts[p][j];
      }
    }
    return sum;
  }

  private static int[] leftOut(int[] count, int[] full, int denseColumn) {
    int n = count.length;
    long[] dense = new long[n];
    int denseCount = 0;
    int[] empty = new int[n];
    int emptyCount = 0;
    for (int j = 0; j < n; j++) {
      if (full[j] > denseColumn) {
        dense[denseCount++] = ((long) full[j] << 32) | j;
      } else if (count[j] == 0) {
        empty[emptyCount++] = j;
      }
    }
    Arrays.sort(dense, 0, denseCount);
    int[] last = new int[denseCount + emptyCount];
    for (int k = 0; k < denseCount; k++) {
      last[k] = (int) dense[k];
    }
    System.arraycopy(empty, 0, last, denseCount, emptyCount);
    return last;
  }

  /** This object, which writes out edges in pieces of this many row entries. */
  RowCliques inPiecesOf(int entries) {
    leastOfPiece = entries;
    return this;
  }

  /**
   * The number of adjacencies for an algorithm on the graph of A'A: those of the edges in the last
   * {@link #order}, and about {@value #ADJACENCIES_PER_ENTRY} per entry of a longer row.
   */
  public double adjacencies() {
    return adjacencies;
  }

  /**
   * The longest row that may be written out as edges: the sum of the squared lengths of all rows up
   * to it stays within {@code budget}. 0 if there is none.
   */
  int longestRowWithin(long budget) {
    int longest = 0;
    for (int length : rowLength) {
      longest = Math.max(longest, length);
    }
    long[] rowsOfLength = new long[longest + 1];
    for (int length : rowLength) {
      rowsOfLength[length]++;
    }
    long sum = 0;
    for (int length = 0; length <= longest; length++) {
      sum += rowsOfLength[length] * length * length;
      if (sum > budget) {
        return length - 1;
      }
    }
    return longest;
  }

  /**
   * Orders by minimum degree.
   *
   * @param edgeLimit rows of up to this many columns are written out as edges, longer ones are
   *     elements; 0 makes every row an element
   * @param firstGoesFirst the order of ties, see {@link QuotientGraph}
   * @throws IndexOverflowException if the lists are longer than an array can be
   */
  Permutation order(int edgeLimit, boolean firstGoesFirst) {
    return order(edgeLimit, firstGoesFirst, () -> {}, new StopRequest());
  }

  /**
   * As above, but may be given up.
   *
   * @param serial run when the graph is there, which several threads make; one does the rest
   * @throws java.util.concurrent.CancellationException if that is requested
   */
  Permutation order(int edgeLimit, boolean firstGoesFirst, Runnable serial, StopRequest stop) {
    QuotientGraph graph = quotientGraph(edgeLimit, firstGoesFirst);
    serial.run();
    int[] order = new int[n];
    int ordered = graph.eliminate(order, stop);
    System.arraycopy(last, 0, order, ordered, last.length);
    return new Permutation(order);
  }

  private QuotientGraph quotientGraph(int edgeLimit, boolean firstGoesFirst) {
    int[] rows = elementRows(edgeLimit);
    long elementEntries = 0;
    for (int r : rows) {
      elementEntries += rowLength[r];
    }
    int[] edgeCount = new int[n];
    int[] edges = edgeLimit == 0 ? new int[0] : edges(edgeLimit, edgeCount);
    long used = 2 * elementEntries + edges.length;
    adjacencies = edges.length + (double) ADJACENCIES_PER_ENTRY * elementEntries;
    int[] lists = new int[checkedSize(used + used / 5 + n + 1)];
    int[] start = new int[n + rows.length];
    int[] length = new int[n + rows.length];
    int[] elements = new int[n];
    int offset = addElements(rows, lists, start, length, elements);
    for (int j = 0; j < n; j++) {
      start[j] = offset;
      offset += elements[j] + edgeCount[j];
    }
    placeElements(n, rows.length, lists, start, length);
    placeEdges(edges, edgeCount, lists, start, length);
    int[] weight = new int[n];
    for (int j = 0; j < n; j++) {
      weight[j] = count[j] > 0 ? 1 : 0;
    }
    return new QuotientGraph(n, lists, offset, start, length, elements, weight, firstGoesFirst);
  }

  /** The rows of more than {@code edgeLimit} columns, without duplicates, in canonical order. */
  private int[] elementRows(int edgeLimit) {
    int[] rows = rowsOfLength(edgeLimit + 1, Integer.MAX_VALUE);
    if (rows.length == 0) {
      return rows;
    }
    int[] columnStart = new int[n + 1];
    int[] columnRow = rowsOfColumns(new LiveRows(rows), columnStart);
    int[] order = RowOrder.distinct(rows.length, columnStart, columnRow);
    for (int k = 0; k < order.length; k++) {
      order[k] = rows[order[k]];
    }
    return order;
  }

  private int[] rowsOfLength(int least, int most) {
    int[] rows = new int[rowLength.length];
    int k = 0;
    for (int r = 0; r < rowLength.length; r++) {
      if (rowLength[r] >= least && rowLength[r] <= most) {
        rows[k++] = r;
      }
    }
    return Arrays.copyOf(rows, k);
  }

  /** Lists of the element rows, from 0 on; counts each column's elements. Returns the end. */
  private int addElements(int[] rows, int[] lists, int[] start, int[] length, int[] elements) {
    int[] index = pattern.columnIndex();
    long[] rowStart = pattern.rowStart();
    int out = 0;
    for (int k = 0; k < rows.length; k++) {
      start[n + k] = out;
      for (int p = (int) rowStart[rows[k]]; p < (int) rowStart[rows[k] + 1]; p++) {
        int j = index[p];
        if (count[j] > 0) {
          lists[out++] = j;
          elements[j]++;
        }
      }
      length[n + k] = out - start[n + k];
    }
    return out;
  }

  private static void placeElements(int n, int rows, int[] lists, int[] start, int[] length) {
    for (int e = n; e < n + rows; e++) {
      for (int p = start[e]; p < start[e] + length[e]; p++) {
        int j = lists[p];
        lists[start[j] + length[j]++] = e;
      }
    }
  }

  /**
   * The graph is symmetric, so that reading the lists in order and writing each edge to its other
   * end sorts them, which fixes the tie-breaking. Each thread reads all edges, and writes those of
   * its own columns.
   */
  private void placeEdges(int[] edges, int[] edgeCount, int[] lists, int[] start, int[] length) {
    int most = Math.min(MOST_PIECES, Runtime.getRuntime().availableProcessors());
    int pieces = Math.max(1, Math.min(most, edges.length / leastOfPiece));
    int[] bound = new int[pieces + 1];
    Arrays.fill(bound, n);
    bound[0] = 0;
    long sum = 0;
    for (int j = 0, piece = 1; j < n; j++) {
      for (; piece < pieces && sum >= (long) piece * edges.length / pieces; piece++) {
        bound[piece] = j;
      }
      sum += edgeCount[j];
    }
    ParallelLoop.onAll(
        pieces,
        piece -> {
          int first = bound[piece];
          int end = bound[piece + 1];
          int p = 0;
          for (int j = 0; j < n; j++) {
            for (int to = p + edgeCount[j]; p < to; p++) {
              int i = edges[p];
              if (i >= first && i < end) {
                lists[start[i] + length[i]++] = j;
              }
            }
          }
        });
  }

  /** Neighbours of each column through the rows of up to {@code limit} columns, each once. */
  private int[] edges(int limit, int[] edgeCount) {
    int[] columnStart = new int[n + 1];
    LiveRows rows = new LiveRows(rowsOfLength(2, limit));
    int[] columnRow = rowsOfColumns(rows, columnStart);
    int pieces = (int) Math.max(1, Math.min(MOST_PIECES, rows.squares() / leastOfPiece));
    int[] bound = new int[pieces + 1];
    for (int p = 1; p < pieces; p++) {
      int at = Arrays.binarySearch(columnStart, (int) ((long) p * columnRow.length / pieces));
      bound[p] = Math.max(bound[p - 1], at < 0 ? -at - 1 : at);
    }
    bound[pieces] = n;
    var marks = new ConcurrentLinkedQueue<int[]>();
    int[][] found =
        IntStream.range(0, pieces)
            .parallel()
            .mapToObj(
                p -> {
                  int[] idle = marks.poll();
                  int[] seen = idle == null ? new int[n] : idle;
                  int[] some =
                      edges(bound[p], bound[p + 1], rows, columnStart, columnRow, seen, edgeCount);
                  marks.add(seen);
                  return some;
                })
            .toArray(int[][]::new);
    long size = 0;
    for (int[] some : found) {
      size += some.length;
    }
    int[] edges = new int[checkedSize(size)];
    int out = 0;
    for (int[] some : found) {
      System.arraycopy(some, 0, edges, out, some.length);
      out += some.length;
    }
    return edges;
  }

  /**
   * The neighbours of columns [from, to).
   *
   * @param seen size n; no entry equals j + 1 for a column j of this range
   */
  private int[] edges(
      int from,
      int to,
      LiveRows rows,
      int[] columnStart,
      int[] columnRow,
      int[] seen,
      int[] edgeCount) {
    int[] index = rows.column;
    int[] rowStart = rows.start;
    int[] edges = new int[Math.max(16, columnStart[to] - columnStart[from])];
    int out = 0;
    for (int j = from; j < to; j++) {
      int first = out;
      seen[j] = j + 1;
      for (int q = columnStart[j]; q < columnStart[j + 1]; q++) {
        int r = columnRow[q];
        int end = rowStart[r + 1];
        int p = rowStart[r];
        if (out > edges.length - (end - p)) {
          edges = Arrays.copyOf(edges, checkedSize(2L * edges.length + end - p));
        }
        for (; p < end; p++) {
          int i = index[p];
          if (seen[i] != j + 1) {
            seen[i] = j + 1;
            edges[out++] = i;
          }
        }
      }
      edgeCount[j] = out - first;
    }
    return Arrays.copyOf(edges, out);
  }

  /** Some rows' columns that take part, without the others in between. */
  private final class LiveRows {
    final int count;

    /** Size count+1. */
    final int[] start;

    final int[] column;

    LiveRows(int[] rows) {
      count = rows.length;
      start = new int[count + 1];
      long entries = 0;
      for (int k = 0; k < count; k++) {
        entries += rowLength[rows[k]];
        start[k + 1] = checkedSize(entries);
      }
      column = new int[start[count]];
      int pieces = Math.max(1, column.length / leastOfPiece);
      ParallelLoop.onAll(
          pieces,
          p -> {
            int to = (int) ((long) count * (p + 1) / pieces);
            for (int k = (int) ((long) count * p / pieces); k < to; k++) {
              copy(rows[k], start[k]);
            }
          });
    }

    /** The sum of the squared lengths: entries met in all rows of all columns. */
    long squares() {
      long sum = 0;
      for (int k = 0; k < count; k++) {
        long length = start[k + 1] - start[k];
        sum += length * length;
      }
      return sum;
    }

    private void copy(int row, int to) {
      int[] index = pattern.columnIndex();
      int[] entries = RowCliques.this.count;
      int end = (int) pattern.rowStart()[row + 1];
      int at = to;
      for (int p = (int) pattern.rowStart()[row]; p < end; p++) {
        if (entries[index[p]] > 0) {
          column[at++] = index[p];
        }
      }
    }
  }

  /**
   * The transpose.
   *
   * @param columnStart size n+1, receives the offsets
   * @return for each column, which of the rows have it, ascending
   */
  private int[] rowsOfColumns(LiveRows rows, int[] columnStart) {
    int[] column = rows.column;
    for (int j : column) {
      columnStart[j + 1]++;
    }
    for (int j = 0; j < n; j++) {
      columnStart[j + 1] += columnStart[j];
    }
    int[] next = Arrays.copyOf(columnStart, n);
    int[] columnRow = new int[columnStart[n]];
    for (int k = 0; k < rows.count; k++) {
      for (int p = rows.start[k]; p < rows.start[k + 1]; p++) {
        columnRow[next[column[p]]++] = k;
      }
    }
    return columnRow;
  }

  /** The size of an array, or an error that says what is too large. */
  static int checkedSize(long size) {
    if (size > Integer.MAX_VALUE - 8) {
      throw new IndexOverflowException(
          "minimum degree: lists of " + size + " entries pass what an array can index",
          "entries of the quotient graph",
          size);
    }
    return (int) size;
  }
}
