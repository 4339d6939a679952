/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.lowrank;

import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.DenseQr;
import io.sparqr.threads.Crew;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * Rows of M, column-major in chunks that stay in a core's second cache while an iteration works on
 * them. Immutable.
 */
public final class PursuitRows implements Serializable {

  private static final long serialVersionUID = 1;

  /** Values of a chunk, about: four of them at once are 1 MB. */
  private static final int CHUNK = 1 << 15;

  /** Rows for which a product runs well, whatever the number of columns. */
  private static final int LEAST = 48;

  private final int number;
  private final int columns;

  /** Each rows x n, column-major. */
  private final double[][] chunks;

  /** Of the bits of the rows and their places: a second reading must give the same. */
  private final long checksum;

  private PursuitRows(int number, int columns, double[][] chunks, long checksum) {
    this.number = number;
    this.columns = columns;
    this.chunks = chunks;
    this.checksum = checksum;
  }

  /** Takes rows; columns are those of the first row. For one thread. */
  public static final class Builder {
    private final List<double[]> chunks = new ArrayList<>();
    private double[] open = {};
    private int columns;
    private int capacity;
    private int rows;

    /** Adds a row, as long as those before it, finite; copied. */
    public Builder row(double[] row) {
      if (capacity == 0) {
        columns = row.length;
        capacity = Math.max(LEAST, CHUNK / columns);
        open = new double[Math.multiplyExact(capacity, columns)];
      }
      for (int k = 0; k < columns; k++) {
        open[rows + k * capacity] = row[k];
      }
      rows++;
      if (rows == capacity) {
        chunks.add(open);
        open = new double[capacity * columns];
        rows = 0;
      }
      return this;
    }

    /**
     * The rows so far; the builder is of no further use.
     *
     * @param number of these rows among the parts of M
     * @param checksum of their bits and places
     */
    public PursuitRows build(int number, long checksum) {
      if (rows > 0) {
        double[] last = new double[rows * columns];
        for (int k = 0; k < columns; k++) {
          System.arraycopy(open, k * capacity, last, k * rows, rows);
        }
        chunks.add(last);
      }
      open = new double[0];
      return new PursuitRows(number, columns, chunks.toArray(double[][]::new), checksum);
    }
  }

  /** The number of these rows among the parts of M. */
  public int number() {
    return number;
  }

  /** n; 0 without rows. */
  public int columns() {
    return columns;
  }

  /** Whether there are no rows. */
  public boolean isEmpty() {
    return chunks.length == 0;
  }

  /** As given to {@link Builder#build}. */
  public long checksum() {
    return checksum;
  }

  /** Number of chunks. */
  int count() {
    return chunks.length;
  }

  /** A chunk, rows x n, column-major. */
  double[] chunk(int k) {
    return chunks[k];
  }

  /** Rows of a chunk. */
  int rows(int k) {
    return chunks[k].length / columns;
  }

  /** Values of the longest chunk. */
  int longest() {
    return chunks.length == 0 ? 0 : chunks[0].length;
  }

  /** QR of the rows, without Q. 2 m n^2 flops. */
  public DenseQr qr() {
    DenseQr.Builder builder = DenseQr.builder(BlasLoader.kernels(), columns, Crew.ALONE);
    for (int k = 0; k < chunks.length; k++) {
      builder.rows(chunks[k], rows(k), rows(k));
    }
    return builder.factor();
  }

  /** The largest absolute value, and their sum. */
  public PursuitTally norms() {
    double most = 0;
    double sum = 0;
    for (double[] chunk : chunks) {
      for (double x : chunk) {
        most = Math.max(most, Math.abs(x));
        sum += Math.abs(x);
      }
    }
    return new PursuitTally(0, 0, 0, most, sum, 0);
  }
}
