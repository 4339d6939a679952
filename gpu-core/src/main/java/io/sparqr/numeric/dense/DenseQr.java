/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.RankDeficientException;
import io.sparqr.threads.Crew;
import java.util.List;
import java.util.Objects;

/**
 * A = QR of a dense m x n matrix on the host, R with a diagonal of at least 0 and without rank
 * detection. Rows are taken in chunks under the triangle of those before ({@link TallQr}), so that
 * R alone needs the memory of a chunk and a triangle for any m; Q, if it is kept, is the reflectors
 * of each chunk, m n values in all. Q is applied, and made explicit, by these, never as A R^-1,
 * which is not orthogonal where columns are nearly dependent.
 *
 * <p>Flops: 2 m n^2 for R, as many again for the thin Q, 4 m n for each column that Q is applied
 * to. Immutable once made; a thread may call it beside others.
 */
public final class DenseQr {

  private final DenseKernels kernels;
  private final Crew crew;
  private final long rows;
  private final int columns;

  /** Rows of R: the smaller of m and n. */
  private final int height;

  /** height x n, column-major, diagonal >= 0. */
  private final double[] r;

  /** Size height: whether this row of R, and so this column of Q, has changed its sign. */
  private final boolean[] negated;

  private final List<ReflectorBlock> blocks;
  private final List<ChunkedProduct.Chunk> chunks;
  private final boolean kept;

  private DenseQr(Builder made) {
    kernels = made.kernels;
    crew = made.crew;
    rows = made.rows;
    columns = made.columns;
    TallQr tall = made.tall;
    height = tall.held();
    kept = made.kept;
    blocks = List.copyOf(tall.reflectors());
    chunks = List.copyOf(tall.chunks());
    negated = new boolean[height];
    r = new double[Math.toIntExact((long) height * columns)];
    int ld = tall.triangleLd();
    for (int i = 0; i < height; i++) {
      negated[i] = tall.triangle()[i + i * ld] < 0;
    }
    for (int k = 0; k < columns; k++) {
      for (int i = 0; i <= Math.min(k, height - 1); i++) {
        double x = tall.triangle()[i + k * ld];
        r[i + k * height] = negated[i] ? -x : x;
      }
    }
  }

  /**
   * Takes rows, then factors.
   *
   * @param kernels gemm
   * @param columns n, at least 1
   * @param crew threads that help within each call
   */
  public static Builder builder(DenseKernels kernels, int columns, Crew crew) {
    return new Builder(kernels, columns, crew);
  }

  /** The rows so far. For one thread. */
  public static final class Builder {
    private final DenseKernels kernels;
    private final Crew crew;
    private final int columns;
    private final TallQr tall;
    private long rows;
    private boolean kept;

    private Builder(DenseKernels kernels, int columns, Crew crew) {
      this(kernels, columns, crew, TallQr.cachedCapacity(columns));
    }

    Builder(DenseKernels kernels, int columns, Crew crew, int capacity) {
      this.kernels = kernels;
      this.crew = crew;
      this.columns = columns;
      tall = new TallQr(kernels, columns, 0, capacity);
    }

    /** Keeps Q: the reflectors, as many values as A has. To be called before the first row. */
    public Builder keepQ() {
      kept = true;
      tall.keepReflectors();
      return this;
    }

    /**
     * Adds a row.
     *
     * @throws DimensionMismatchException if it is not of size n
     */
    public Builder row(double[] row) {
      if (row.length != columns) {
        throw new DimensionMismatchException(
            "row %d has %d values, the matrix %d columns".formatted(rows, row.length, columns),
            "row",
            columns,
            row.length);
      }
      int at = open();
      int ld = tall.ld();
      double[] chunk = tall.chunk();
      for (int k = 0; k < columns; k++) {
        chunk[at + k * ld] = row[k];
      }
      return this;
    }

    /**
     * Adds a row of which only some entries are given.
     *
     * @param column of the entries [from, to), each once, 0 to n - 1
     * @param value of these entries; the row's others are 0
     */
    public Builder row(int[] column, double[] value, int from, int to) {
      int at = open();
      int ld = tall.ld();
      double[] chunk = tall.chunk();
      for (int e = from; e < to; e++) {
        chunk[at + Objects.checkIndex(column[e], columns) * ld] = value[e];
      }
      return this;
    }

    /** The place of a new row's first entry; the row is all zero. */
    private int open() {
      if (tall.isFull()) {
        tall.reduce(crew);
      }
      rows++;
      return tall.open(0);
    }

    /**
     * Adds rows of a column-major matrix.
     *
     * @param a column k begins at {@code a[k * ld]}
     * @param ld leading dimension
     * @param count rows
     */
    public Builder rows(double[] a, int ld, int count) {
      int from = 0;
      while (from < count) {
        if (tall.isFull()) {
          tall.reduce(crew);
        }
        int at = tall.open(0);
        int some = 1;
        while (from + some < count && !tall.isFull()) {
          tall.open(0);
          some++;
        }
        for (int k = 0; k < columns; k++) {
          System.arraycopy(a, from + k * ld, tall.chunk(), at + k * tall.ld(), some);
        }
        from += some;
      }
      rows += count;
      return this;
    }

    /** The factorization of the rows; the builder is of no further use. */
    public DenseQr factor() {
      tall.reduce(crew);
      tall.close();
      return new DenseQr(this);
    }
  }

  /** m. */
  public long rows() {
    return rows;
  }

  /** n. */
  public int columns() {
    return columns;
  }

  /** Rows of R and columns of the thin Q: the smaller of m and n. */
  public int height() {
    return height;
  }

  /** R, height x n, column-major, zero below the diagonal, which is at least 0. A copy. */
  public double[] r() {
    return r.clone();
  }

  /**
   * B := Q'B in place: the first {@link #height} rows belong to R, the others to the residual.
   *
   * @param b m x width, column-major without gaps
   * @throws IllegalStateException if Q was not kept
   * @throws DimensionMismatchException if b is not of that size
   */
  public void applyQTransposed(double[] b, int width) {
    int ld = require(b, width);
    for (ReflectorBlock block : blocks) {
      new CompactWy(kernels, block, crew).apply(true, b, ld, width, crew);
    }
    flip(b, ld, width);
  }

  /**
   * Q'B of rows that arrive one after the other, for any number of columns with the memory of a
   * chunk's rows.
   *
   * @throws IllegalStateException if Q was not kept
   * @throws IndexOverflowException if a chunk's rows of B do not fit into an array
   */
  public ChunkedProduct product(int width) {
    requireQ();
    long values = ChunkedProduct.values(chunks, height, width);
    if (values > Integer.MAX_VALUE - 8L) {
      throw new IndexOverflowException(
          "%d columns of a chunk's rows do not fit into an array".formatted(width),
          "right-hand sides",
          values);
    }
    return new ChunkedProduct(kernels, crew, blocks, chunks, negated, width);
  }

  /** C := Q C in place; as {@link #applyQTransposed}. */
  public void applyQ(double[] c, int width) {
    int ld = require(c, width);
    flip(c, ld, width);
    for (int k = blocks.size() - 1; k >= 0; k--) {
      new CompactWy(kernels, blocks.get(k), crew).apply(false, c, ld, width, crew);
    }
  }

  /**
   * The first {@link #height} columns of Q, m x height, column-major: orthonormal to rounding,
   * whatever the condition of A.
   *
   * @throws IllegalStateException if Q was not kept
   * @throws IndexOverflowException if it does not fit into an array
   */
  public double[] thinQ() {
    return explicitQ(height);
  }

  /** All m columns of Q, m x m; as {@link #thinQ}. */
  public double[] fullQ() {
    return explicitQ(rows);
  }

  /**
   * Identity, then the blocks backwards. Where a block's reflectors begin the matrix is still upper
   * triangular, so that columns before their first pivot do not change: half of the flops (as in
   * LAPACK's dorgqr).
   */
  private double[] explicitQ(long width) {
    int ld = requireQ();
    if (ld * width > Integer.MAX_VALUE - 8L) {
      throw new IndexOverflowException(
          "Q of %d x %d values does not fit into an array".formatted(rows, width), "Q", ld * width);
    }
    double[] q = new double[(int) (ld * width)];
    for (int j = 0; j < width; j++) {
      q[j + j * ld] = j < height && negated[j] ? -1 : 1;
    }
    for (int k = blocks.size() - 1; k >= 0; k--) {
      new CompactWy(kernels, blocks.get(k), crew).applyToTriangle(q, ld, (int) width, crew);
    }
    return q;
  }

  /**
   * X of least ||A X - B||, column by column.
   *
   * @param b m x width, column-major; overwritten by Q'B
   * @return n x width, column-major
   * @throws RankDeficientException if R has a zero on its diagonal, or m < n
   */
  public double[] solve(double[] b, int width) {
    if (height < columns) {
      throw new RankDeficientException(
          "%d rows cannot determine %d columns".formatted(rows, columns), height, columns);
    }
    int zero = -1;
    int rank = columns;
    for (int j = columns - 1; j >= 0; j--) {
      if (r[j + j * height] == 0) {
        zero = j;
        rank--;
      }
    }
    if (zero >= 0) {
      throw new RankDeficientException(
          "column %d is a combination of those before it".formatted(zero), rank, columns);
    }
    applyQTransposed(b, width);
    int ld = (int) rows;
    double[] x = new double[Math.multiplyExact(columns, width)];
    for (int k = 0; k < width; k++) {
      System.arraycopy(b, k * ld, x, k * columns, columns);
      for (int j = columns - 1; j >= 0; j--) {
        double value = x[j + k * columns] / r[j + j * height];
        x[j + k * columns] = value;
        for (int i = 0; i < j; i++) {
          x[i + k * columns] = Math.fma(-value, r[i + j * height], x[i + k * columns]);
        }
      }
    }
    return x;
  }

  private void flip(double[] b, int ld, int width) {
    for (int i = 0; i < height; i++) {
      if (negated[i]) {
        for (int k = 0; k < width; k++) {
          b[i + k * ld] = -b[i + k * ld];
        }
      }
    }
  }

  private int requireQ() {
    if (!kept) {
      throw new IllegalStateException("Q was not kept: call keepQ() before the first row");
    }
    return Math.toIntExact(rows);
  }

  private int require(double[] b, int width) {
    int ld = requireQ();
    if (b.length != (long) ld * width) {
      throw new DimensionMismatchException(
          "%d values, where %d x %d are needed".formatted(b.length, rows, width),
          "right-hand sides",
          (long) ld * width,
          b.length);
    }
    return ld;
  }
}
