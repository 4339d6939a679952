/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.tall;

import io.sparqr.error.NonFiniteValueException;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.DenseQr;
import io.sparqr.threads.Crew;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * {@link DenseQr} by row-major arrays, as a device has them; of matrices with more columns than
 * rows, too, whose R has m rows, and Q m columns.
 */
public final class HostFactorization implements DenseFactorization {

  private final int rows;
  private final int columns;
  private final boolean keepsQ;
  private final Crew crew;
  private @Nullable DenseQr qr;

  /**
   * Without a matrix yet.
   *
   * @param rows m, at least 1
   * @param columns n, at least 1
   * @param keepQ whether Q will be asked for
   * @param crew threads that help
   */
  public HostFactorization(int rows, int columns, boolean keepQ, Crew crew) {
    this.rows = rows;
    this.columns = columns;
    keepsQ = keepQ;
    this.crew = crew;
  }

  @Override
  public void factor(double[] a) {
    DenseFactorization.requireSize(a, rows, columns);
    qr = null;
    DenseQr.Builder builder = DenseQr.builder(BlasLoader.kernels(), columns, crew);
    if (keepsQ) {
      builder.keepQ();
    }
    double[] row = new double[columns];
    for (int i = 0; i < rows; i++) {
      System.arraycopy(a, i * columns, row, 0, columns);
      for (int j = 0; j < columns; j++) {
        if (!Double.isFinite(row[j])) {
          throw new NonFiniteValueException(
              "row %d, column %d is %s".formatted(i, j, row[j]), i, j);
        }
      }
      builder.row(row);
    }
    qr = builder.factor();
  }

  @Override
  public double[] r() {
    return turned(factored().r(), columns, factored().height());
  }

  @Override
  public double[] thinQ() {
    return turned(factored().thinQ(), factored().height(), rows);
  }

  @Override
  public double[] fullQ() {
    double[] q = factored().fullQ();
    // In place: a full Q is what fills a heap.
    for (int i = 0; i < rows; i++) {
      for (int j = 0; j < i; j++) {
        double x = q[i * rows + j];
        q[i * rows + j] = q[j * rows + i];
        q[j * rows + i] = x;
      }
    }
    return q;
  }

  @Override
  public void applyQTransposed(double[] b, int width) {
    apply(b, width, factored()::applyQTransposed);
  }

  @Override
  public void applyQ(double[] c, int width) {
    apply(c, width, factored()::applyQ);
  }

  private void apply(double[] b, int width, BiConsumer<double[], Integer> product) {
    DenseFactorization.requireSize(b, rows, width);
    double[] byColumns = turned(b, rows, width);
    product.accept(byColumns, width);
    System.arraycopy(turned(byColumns, width, rows), 0, b, 0, b.length);
  }

  /** Lines of some length, one after the other, become columns of the result, row-major. */
  private static double[] turned(double[] lines, int count, int length) {
    double[] turned = new double[lines.length];
    for (int i = 0; i < count; i++) {
      for (int j = 0; j < length; j++) {
        turned[j * count + i] = lines[i * length + j];
      }
    }
    return turned;
  }

  private DenseQr factored() {
    if (qr == null) {
      throw new IllegalStateException("nothing has been factored");
    }
    return qr;
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
    return "cores of the host";
  }

  @Override
  public void close() {
    qr = null;
  }
}
