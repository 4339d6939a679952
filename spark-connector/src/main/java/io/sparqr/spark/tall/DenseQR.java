/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.tall;

import io.sparqr.backend.BackendChoice;
import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.RankDeficientException;
import io.sparqr.numeric.tall.DenseFactorization;
import io.sparqr.numeric.tall.HostFactorization;
import io.sparqr.spark.device.LocalDevice;
import io.sparqr.spark.device.TuningChoice;
import io.sparqr.threads.Crew;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A = QR of a dense m x n matrix in this JVM, without Spark: on a device, where there is one and it
 * pays, or by the host's cores. R has a diagonal of at least 0; there is no rank detection. What is
 * spread over executors is for {@link TallSkinnyQR}.
 *
 * <p>Arrays are row-major. Flops: 2 m n^2 for R, as many again for the thin Q, 4 m n for each
 * column that Q is applied to. On a device R is checked by sums over the columns, and so is every
 * product with Q. R and Q are of one place; another one gives other bits. Not thread-safe; closed,
 * it frees what it has on a device.
 *
 * <pre>{@code
 * try (var qr = DenseQR.builder().keepQ().factorize(a, m, n)) {
 *   double[] r = qr.r();
 *   double[] q = qr.thinQ();
 * }
 * }</pre>
 */
public final class DenseQR implements AutoCloseable {

  private final DenseFactorization its;
  private final LocalDevice.Turns turns;
  private boolean closed;

  private DenseQR(DenseFactorization its, LocalDevice.Turns turns) {
    this.its = its;
    this.turns = turns;
  }

  /** With the defaults: AUTO, R alone. */
  public static Builder builder() {
    return new Builder();
  }

  /** The options. */
  public static final class Builder {
    private BackendChoice backend = BackendChoice.AUTO;
    private boolean keepQ;

    private Builder() {}

    /**
     * Where it is done; default AUTO: on a device from 20 Gflop on, if there is one. A device takes
     * matrices of at least as many rows as columns.
     */
    public Builder backend(BackendChoice choice) {
      backend = choice;
      return this;
    }

    /** Keeps Q: as much memory as A, and a third more on a device. */
    public Builder keepQ() {
      keepQ = true;
      return this;
    }

    /**
     * Factors a matrix.
     *
     * @param a m x n, row-major
     * @param rows m, at least 1
     * @param columns n, at least 1
     * @throws DimensionMismatchException if {@code a} is not of that size, or one of m and n is 0
     * @throws io.sparqr.error.NonFiniteValueException if a value is, naming row and column
     * @throws io.sparqr.error.BackendUnavailableException if a device is required and there is
     *     none, or m is less than n
     * @throws io.sparqr.error.InsufficientMemoryException if a required device has not the memory
     */
    public DenseQR factorize(double[] a, int rows, int columns) {
      if (rows < 1 || columns < 1 || a.length != (long) rows * columns) {
        throw new DimensionMismatchException(
            "%d values are no matrix of %d x %d".formatted(a.length, rows, columns),
            "values",
            (long) rows * columns,
            a.length);
      }
      int threads = Runtime.getRuntime().availableProcessors();
      return LocalDevice.run(
          backend,
          (keepQ ? 4.0 : 2.0) * rows * columns * columns,
          "QR of %d x %d".formatted(rows, columns),
          (provider, device) ->
              rows < columns
                  ? Optional.empty()
                  : provider
                      .dense(
                          device, rows, columns, keepQ, threads, TuningChoice.logged(true).tuning())
                      .map(opened -> of(opened, LocalDevice.turns(device), a)),
          () ->
              of(new HostFactorization(rows, columns, keepQ, Crew.ALONE), LocalDevice.turns(), a));
    }

    /** The device is this call's already. */
    private static DenseQR of(DenseFactorization opened, LocalDevice.Turns turns, double[] a) {
      boolean done = false;
      try {
        opened.factor(a);
        done = true;
        return new DenseQR(opened, turns);
      } finally {
        if (!done) {
          opened.close();
        }
      }
    }
  }

  /**
   * Where it was done: the device's name, and whether R was made there by its Gram matrix or why it
   * was not, or that it was the host's cores.
   */
  public String place() {
    return its.description();
  }

  /** R, zero below the diagonal, which is at least 0: n x n, or m x n if m is less than n. */
  public double[] r() {
    return call(its::r);
  }

  /**
   * The first columns of Q, as many as R has rows: orthonormal to rounding, whatever the condition
   * of A.
   *
   * @throws IllegalStateException if Q was not kept
   * @throws IndexOverflowException if it does not fit into an array
   */
  public double[] thinQ() {
    return call(its::thinQ);
  }

  /** All m columns of Q, m x m; as {@link #thinQ}. */
  public double[] fullQ() {
    return call(its::fullQ);
  }

  /**
   * B := Q'B in place: the first rows, as many as R has, belong to R, the others to the residual.
   *
   * @param b m x width
   * @throws IllegalStateException if Q was not kept
   * @throws DimensionMismatchException if b is not of that size
   */
  public void applyQTransposed(double[] b, int width) {
    call(
        () -> {
          its.applyQTransposed(b, width);
          return b;
        });
  }

  /** C := Q C in place; as {@link #applyQTransposed}. */
  public void applyQ(double[] c, int width) {
    call(
        () -> {
          its.applyQ(c, width);
          return c;
        });
  }

  /**
   * X of least ||A X - B||, column by column; Q has to be kept.
   *
   * @param b m x width; overwritten by Q'B
   * @return n x width
   * @throws RankDeficientException if R has a zero on its diagonal, or m is less than n
   */
  public double[] solve(double[] b, int width) {
    return call(() -> its.solve(b, width));
  }

  private double[] call(Supplier<double[]> work) {
    if (closed) {
      throw new IllegalStateException("the factorization is closed");
    }
    return turns.of(work);
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      its.close();
    }
  }
}
