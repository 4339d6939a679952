/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

import io.sparqr.spark.rows.RowReader;
import java.util.Arrays;

/**
 * The rows of a partition as a reading has left them: ascending indices, weighted values, no zeros.
 *
 * @param start size rows + 1; row i has the entries [start[i], start[i+1]), none if its weight is 0
 * @param index original columns
 * @param value values times sqrt(weight)
 * @param scale size rows: sqrt(weight); null if all are 1
 * @param frobenius norm of the values
 */
record RowCopy(int[] start, int[] index, double[] value, double[] scale, double frobenius) {

  /** Number of rows, those of weight 0 included. */
  int rows() {
    return start.length - 1;
  }

  /** sqrt(weight) of a row. */
  double scale(int i) {
    return scale == null ? 1 : scale[i];
  }

  /** Number of rows of positive weight. O(rows) if there are weights. */
  long counted() {
    return scale == null ? rows() : Arrays.stream(scale).filter(s -> s > 0).count();
  }

  /**
   * Collects a reading. Gives up where rows of weight 0, which nobody has planned for, take more
   * memory than the others. Not thread-safe.
   */
  static final class Builder {

    /** So many rows of weight 0 matter to nobody. */
    private static final int FEW = 1000;

    private int[] start;
    private int[] index;
    private double[] value;
    private double[] scale;
    private double[] rhs = new double[0];
    private int rows;
    private int counted;
    private boolean tooMany;

    /** Expects about so many rows and entries. */
    Builder(long rows, long entries) {
      start = new int[(int) Math.min(rows + 1, Integer.MAX_VALUE / 4)];
      index = new int[(int) Math.min(entries, Integer.MAX_VALUE / 4)];
      value = new double[index.length];
      rhs = new double[start.length - 1];
    }

    /** Adds the reader's row; rows between it and the last one have weight 0. */
    void add(RowReader reader) {
      long position = reader.position();
      long left = position - counted;
      int end = start[rows];
      tooMany |= left > counted + FEW || (long) end + reader.count() > Integer.MAX_VALUE / 2;
      if (tooMany) {
        return;
      }
      while (rows < position) {
        close(0, end);
      }
      if (end + reader.count() > index.length) {
        int larger = end + Math.max(reader.count(), 16 + end / 2);
        index = Arrays.copyOf(index, larger);
        value = Arrays.copyOf(value, larger);
      }
      System.arraycopy(reader.index(), 0, index, end, reader.count());
      System.arraycopy(reader.value(), 0, value, end, reader.count());
      double[] b = reader.rhs();
      int at = Math.multiplyExact(rows, b.length);
      if (at + b.length > rhs.length) {
        rhs = Arrays.copyOf(rhs, at + Math.max(16 + at / 2, b.length));
      }
      System.arraycopy(b, 0, rhs, at, b.length);
      close(reader.scale(), end + reader.count());
      counted++;
    }

    private void close(double s, int end) {
      if (s != 1 && scale == null) {
        scale = new double[Math.max(16, start.length)];
        Arrays.fill(scale, 0, rows, 1);
      }
      if (rows + 2 > start.length) {
        start = Arrays.copyOf(start, 16 + rows + rows / 2);
      }
      if (scale != null) {
        if (rows >= scale.length) {
          scale = Arrays.copyOf(scale, 16 + rows + rows / 2);
        }
        scale[rows] = s;
      }
      start[++rows] = end;
    }

    /** Whether there is a copy. */
    boolean complete() {
      return !tooMany;
    }

    /**
     * The rows.
     *
     * @param read number of rows read, those of weight 0 after the last one included
     */
    RowCopy rows(long read, double frobenius) {
      int end = start[rows];
      while (rows < read) {
        close(0, end);
      }
      return new RowCopy(
          exactly(start, rows + 1),
          exactly(index, end),
          value.length == end ? value : Arrays.copyOf(value, end),
          scale == null ? null : Arrays.copyOf(scale, rows),
          frobenius);
    }

    /** Their right-hand sides times sqrt(weight), width for each. */
    double[] rhs(int width) {
      int size = Math.multiplyExact(rows, width);
      return rhs.length == size ? rhs : Arrays.copyOf(rhs, size);
    }

    private static int[] exactly(int[] array, int length) {
      return array.length == length ? array : Arrays.copyOf(array, length);
    }
  }
}
