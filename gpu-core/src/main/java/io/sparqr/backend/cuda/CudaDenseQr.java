/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.cuda.resident.DeviceSession;
import io.sparqr.backend.cuda.resident.MatrixSums;
import io.sparqr.backend.cuda.resident.MatrixSums.Sums;
import io.sparqr.backend.cuda.transfer.DenseRows;
import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.FatalCudaException;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.numeric.integrity.DenseSums;
import io.sparqr.numeric.integrity.IntegrityFailure;
import io.sparqr.numeric.tall.DenseFactorization;
import io.sparqr.symbolic.Tuning;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A = QR of dense m x n matrices, m at least n, on one device; R with a diagonal of at least 0 and
 * without rank detection. The rows go straight to their places, 8 bytes an entry; V and T stay on
 * the device, where they are applied and made explicit by lists of the bundles. All matrices of one
 * object have one size, so that lists are made and sent once.
 *
 * <p>Arrays are row-major, as NumPy's. Flops: 2 m n^2 for R, as many again for the thin Q, 4 m n
 * for each column that Q is applied to. Memory of the device: A, a third more for V and T if Q is
 * kept, and the matrix of a product. Not thread-safe.
 *
 * <p>R of a tall matrix whose Q is not wanted is made by its Gram matrix ({@link TallFactor}), if
 * that is measured to be as good; its last bits are others then.
 *
 * <p>Everything is checked. R, and products with Q, by sums over the columns before and after
 * ({@link DenseSums}), an explicit Q by those of the identity and by Q (R u) = A u for a vector u
 * of random signs; and the bits of what travels are added up at both ends.
 */
final class CudaDenseQr implements DenseFactorization {

  private final DeviceSessions.Lease lease;
  private final DenseFront front;
  private final DenseProducts products;
  private final @Nullable TallFactor tall;
  private final int rows;
  private final int columns;
  private final boolean keepsQ;

  /** n x n; null: nothing is factored. */
  private double @Nullable [] r;

  /** A u, size m, and R u, of the columns as they were sent; of size 0 if Q is not kept. */
  private double[] probe = new double[0];

  private double[] image = new double[0];

  private boolean closed;

  /**
   * Without a matrix yet.
   *
   * @param keepQ whether Q will be asked for
   * @param threads of the host, for transfers
   * @throws DimensionMismatchException if m is less than n, or n less than 1
   */
  CudaDenseQr(
      DeviceSessions sessions, int ordinal, int rows, int columns, boolean keepQ, int threads) {
    this(sessions, ordinal, rows, columns, keepQ, threads, Tuning.constants());
  }

  /** As above, with its work cut by a tuning. */
  CudaDenseQr(
      DeviceSessions sessions,
      int ordinal,
      int rows,
      int columns,
      boolean keepQ,
      int threads,
      Tuning tuning) {
    if (columns < 1 || rows < columns) {
      throw new DimensionMismatchException(
          "%d x %d: a device takes matrices of at least as many rows as columns"
              .formatted(rows, columns),
          "rows",
          columns,
          rows);
    }
    this.rows = rows;
    this.columns = columns;
    keepsQ = keepQ;
    lease = sessions.acquire(ordinal);
    boolean done = false;
    try {
      DeviceSession session = lease.session();
      session.device().bind();
      front = new DenseFront(session, rows, columns, keepQ, threads, tuning);
      products = new DenseProducts(front);
      boolean tries = !keepQ && TallFactor.takes(front.lane(), rows, columns);
      tall = tries ? new TallFactor(front) : null;
      done = true;
    } finally {
      if (!done) {
        lease.close();
      }
    }
  }

  /** Tries the Gram matrix of small matrices, too, for which it does not pay. */
  void takeSmallToo() {
    if (tall != null) {
      tall.takeSmallToo();
    }
  }

  DeviceLane lane() {
    return front.lane();
  }

  /** Room for the sums of a matrix of this width. */
  MatrixSums sums(int width) {
    return front.sums(width);
  }

  /** R of the last matrix on the device, its rows one after the other. */
  DeviceBuffer packedR() {
    return front.packedR();
  }

  /** Distance of the rows of A on the device, in doubles. */
  int leadingDimension() {
    return front.descriptor().ld();
  }

  /** Milliseconds of the last factorization's kernels, or product's tasks, on the device. */
  double kernelMillis() {
    return front.kernelMillis() + (tall == null ? 0 : tall.refusedMillis());
  }

  /** Whether the last R was made by its Gram matrix. */
  boolean byGram() {
    return tall != null && tall.isAccepted();
  }

  @Override
  public void factor(double[] a) {
    require(a, columns);
    guarded(() -> sendAndFactor(a));
  }

  private void guarded(Runnable work) {
    guarded(
        () -> {
          work.run();
          return true;
        });
  }

  /** After a sticky error nothing can be released properly: the process has to end. */
  <T> T guarded(Supplier<T> work) {
    try {
      return work.get();
    } catch (FatalCudaException e) {
      closed = true;
      lease.lost(e);
      throw e;
    }
  }

  private void sendAndFactor(double[] a) {
    r = null;
    front.prepare();
    // before the rows, which another stream sends
    lane().compute().synchronize();
    Sums sent = front.send(a, DenseRows.unscaled());
    double[] scale = ColumnScale.of(a, rows, sent.sums());
    if (scale.length > 0) {
      sent = front.send(a, scale);
    }
    double[] full = tall == null ? null : tall.factor(sent);
    keep(full == null ? front.factor(sent) : full, sent, scale);
  }

  /**
   * Factors a matrix that is made on the device, by lists.
   *
   * @param fill enqueues on the lane's stream what writes its rows to the buffer, {@link
   *     #leadingDimension} doubles apart; all else there is 0
   * @return R, n x n, row-major
   */
  double[] factorInPlace(Consumer<DeviceBuffer> fill) {
    guarded(
        () -> {
          r = null;
          front.prepare();
          fill.accept(front.arena());
          Sums there = front.sumsOfRows();
          for (double square : there.sums().square()) {
            if (!ColumnScale.isBelow(square)) {
              throw new IntegrityFailure(
                  "a matrix made on a device has norms of " + Math.sqrt(square));
            }
          }
          keep(front.factor(there), there, DenseRows.unscaled());
        });
    return factored();
  }

  private void keep(double[] full, Sums sent, double[] scale) {
    probe = sent.t();
    image = keepsQ ? times(full, DenseSums.signs(columns)) : probe;
    for (int i = 0; scale.length > 0 && i < columns; i++) {
      for (int k = i; k < columns; k++) {
        full[i * columns + k] /= scale[k];
      }
    }
    r = full;
  }

  private static double[] times(double[] upper, double[] u) {
    int n = u.length;
    double[] z = new double[n];
    for (int i = 0; i < n; i++) {
      for (int k = i; k < n; k++) {
        z[i] += upper[i * n + k] * u[k];
      }
    }
    return z;
  }

  @Override
  public double[] r() {
    return factored().clone();
  }

  @Override
  public void applyQTransposed(double[] b, int width) {
    apply(b, width, true);
  }

  @Override
  public void applyQ(double[] c, int width) {
    apply(c, width, false);
  }

  private void apply(double[] b, int width, boolean transposed) {
    requireQ();
    require(b, width);
    if (width > 0) {
      guarded(() -> products.multiply(b, width, transposed));
    }
  }

  @Override
  public double[] thinQ() {
    return explicitQ(columns);
  }

  @Override
  public double[] fullQ() {
    return explicitQ(rows);
  }

  private double[] explicitQ(int width) {
    requireQ();
    long values = (long) rows * width;
    if (values > Integer.MAX_VALUE - 8L) {
      throw new IndexOverflowException(
          "Q of %d x %d values does not fit into an array".formatted(rows, width), "Q", values);
    }
    double[] q = new double[(int) values];
    guarded(() -> products.makeAndFetch(q, width, image, probe));
    return q;
  }

  /** Makes the first columns of Q and leaves them on the device. */
  void make(int width) {
    requireQ();
    guarded(() -> products.make(width));
  }

  /** Whether it is closed, or was lost with its device. */
  boolean isClosed() {
    return closed;
  }

  private double[] factored() {
    if (closed || r == null) {
      throw new IllegalStateException(
          closed ? "the factorization is closed" : "nothing has been factored");
    }
    return r;
  }

  private void requireQ() {
    factored();
    if (!keepsQ) {
      throw new IllegalStateException("Q was not kept");
    }
  }

  private void require(double[] b, int width) {
    if (closed) {
      throw new IllegalStateException("the factorization is closed");
    }
    DenseFactorization.requireSize(b, rows, width);
  }

  @Override
  public int rows() {
    return rows;
  }

  @Override
  public int columns() {
    return columns;
  }

  @Override
  public String description() {
    String way = "";
    if (byGram()) {
      way = ", by its Gram matrix";
    } else if (tall != null && !tall.refused().isEmpty()) {
      way = ", not by its Gram matrix: " + tall.refused();
    }
    return lane().device().name() + way;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      lane().device().bind();
      try {
        products.close();
        if (tall != null) {
          tall.close();
        }
        front.close();
      } finally {
        lease.close();
      }
    }
  }
}
