/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import io.sparqr.spark.pattern.PatternOrder.Piece;
import io.sparqr.sparse.IndexRanges;
import java.util.Arrays;

/**
 * A bucket of {@link PatternOrder}: consecutive patterns of its order, equal ones merged, and the
 * ridge rows among them.
 */
final class PatternBucket {

  /** Rows with the ridge's; end of each in {@code column}. */
  private final int[] end;

  private final int[] column;
  private final long[] multiplicity;
  private int patterns;
  private long entries;
  private double squares;
  private long sum;

  /** Working arrays of a thread for one bucket after the other. */
  static final class Scratch {
    /** Size ranks+1; end of each rank's patterns in {@code item}. */
    private final int[] end;

    /** Number of the piece << 32 | place in the piece; -1 - j for the ridge row of column j. */
    private long[] item = new long[0];

    private long[] times = new long[0];

    Scratch(int ranks) {
      end = new int[ranks + 1];
    }

    private void reserve(int size) {
      if (item.length < size) {
        item = new long[size + (size >>> 2)];
        times = new long[item.length];
      }
    }
  }

  /**
   * Sorts the patterns of a bucket.
   *
   * @param ridge its ridge rows that are no pattern: column, rank in the bucket, ..., by rank; no
   *     other row has a rank of these
   * @param ridgeToo added to the multiplicity of patterns of one column: 1 with a ridge, otherwise
   *     0
   */
  PatternBucket(int b, Piece[] pieces, int[] ridge, int ridgeToo, Scratch scratch) {
    int all = place(b, pieces, ridge, scratch);
    int size = merge(all, pieces, scratch);
    int length = 0;
    for (int k = 0; k < size; k++) {
      length = Math.addExact(length, length(scratch.item[k], pieces));
    }
    end = new int[size];
    column = new int[length];
    multiplicity = new long[size];
    fill(size, pieces, ridgeToo, scratch);
  }

  /** Sorts by rank: a counting sort. */
  private static int place(int b, Piece[] pieces, int[] ridge, Scratch scratch) {
    int[] end = scratch.end;
    Arrays.fill(end, 0);
    int all = ridge.length / 2;
    for (Piece piece : pieces) {
      int to = piece.start()[b + 1];
      all = Math.addExact(all, to - piece.start()[b]);
      for (int q = piece.start()[b]; q < to; q++) {
        end[piece.cell()[q] + 1]++;
      }
    }
    for (int k = 0; k < ridge.length; k += 2) {
      end[ridge[k + 1] + 1]++;
    }
    for (int c = 1; c < end.length; c++) {
      end[c] += end[c - 1];
    }
    scratch.reserve(all);
    for (int s = 0; s < pieces.length; s++) {
      int to = pieces[s].start()[b + 1];
      for (int q = pieces[s].start()[b]; q < to; q++) {
        scratch.item[end[pieces[s].cell()[q]]++] = (long) s << 32 | q;
      }
    }
    for (int k = 0; k < ridge.length; k += 2) {
      scratch.item[end[ridge[k + 1]]++] = -1L - ridge[k];
    }
    return all;
  }

  /** Sorts the few patterns of each rank by insertion, and merges equal ones. */
  private static int merge(int all, Piece[] pieces, Scratch scratch) {
    int size = 0;
    int from = 0;
    for (int c = 0; from < all; c++) {
      int to = scratch.end[c];
      int first = size;
      for (int k = from; k < to; k++) {
        size = insert(scratch.item[k], first, size, pieces, scratch);
      }
      from = to;
    }
    return size;
  }

  /** Inserts an item into the sorted items [first, size); returns the new size. */
  private static int insert(long item, int first, int size, Piece[] pieces, Scratch scratch) {
    long times = item < 0 ? 1 : times(item, pieces);
    int at = size;
    while (at > first) {
      int c = compare(item, scratch.item[at - 1], pieces);
      if (c == 0) {
        scratch.times[at - 1] += times;
        return size;
      }
      if (c > 0) {
        break;
      }
      at--;
    }
    if (at < size) {
      System.arraycopy(scratch.item, at, scratch.item, at + 1, size - at);
      System.arraycopy(scratch.times, at, scratch.times, at + 1, size - at);
    }
    scratch.item[at] = item;
    scratch.times[at] = times;
    return size + 1;
  }

  private static long times(long item, Piece[] pieces) {
    return pieces[(int) (item >>> 32)].multiplicity()[(int) item];
  }

  private static int length(long item, Piece[] pieces) {
    return item < 0 ? 1 : pieces[(int) (item >>> 32)].length()[(int) item];
  }

  /** Patterns of the same rank have the same least column. */
  private static int compare(long x, long y, Piece[] pieces) {
    Piece px = pieces[(int) (x >>> 32)];
    Piece py = pieces[(int) (y >>> 32)];
    int c = Long.compare(px.hash()[(int) x], py.hash()[(int) y]);
    if (c != 0) {
      return c;
    }
    int i = px.from()[(int) x];
    int j = py.from()[(int) y];
    return IndexRanges.compare(
        px.column(), i, i + px.length()[(int) x], py.column(), j, j + py.length()[(int) y]);
  }

  private void fill(int size, Piece[] pieces, int ridgeToo, Scratch scratch) {
    int to = 0;
    for (int k = 0; k < size; k++) {
      long item = scratch.item[k];
      multiplicity[k] = scratch.times[k];
      if (item < 0) {
        column[to++] = (int) (-1 - item);
        end[k] = to;
        continue;
      }
      Piece piece = pieces[(int) (item >>> 32)];
      int from = piece.from()[(int) item];
      int length = piece.length()[(int) item];
      for (int e = 0; e < length; e++) {
        column[to + e] = piece.column()[from + e];
      }
      to += length;
      end[k] = to;
      patterns++;
      entries += length;
      squares += (double) length * length;
      sum += multiplicity[k] * piece.hash()[(int) item];
      multiplicity[k] += length == 1 ? ridgeToo : 0;
    }
  }

  /** Number of distinct patterns, without the ridge's. */
  int patterns() {
    return patterns;
  }

  /** Number of their entries. */
  long entries() {
    return entries;
  }

  /** Sum of their squared lengths. */
  double squares() {
    return squares;
  }

  /** Sum of their hashes times multiplicity. */
  long sum() {
    return sum;
  }

  /** Number of rows with the ridge's. */
  int rows() {
    return end.length;
  }

  /** Number of their entries. */
  int rowEntries() {
    return column.length;
  }

  /** Copies the rows to row {@code row}, entry {@code entry} of a whole pattern. */
  void copy(long[] start, long[] times, int[] columns, int row, int entry) {
    System.arraycopy(multiplicity, 0, times, row, multiplicity.length);
    System.arraycopy(column, 0, columns, entry, column.length);
    for (int k = 0; k < end.length; k++) {
      start[row + k + 1] = (long) entry + end[k];
    }
  }
}
