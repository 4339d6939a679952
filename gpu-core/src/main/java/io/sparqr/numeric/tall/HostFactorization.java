/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.tall;

import io.sparqr.error.DimensionMismatchException;
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
    require(a, columns);
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
    return turned(factored().fullQ(), rows, rows);
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
    require(b, width);
    double[] byColumns = turned(b, rows, width);
    product.accept(byColumns, width);
    System.arraycopy(turned(byColumns, width, rows), 0, b, 0, b.length);
  }

  @Override
  public double[] solve(double[] b, int width) {
    DenseQr its = factored();
    require(b, width);
    double[] byColumns = turned(b, rows, width);
    double[] x = its.solve(byColumns, width);
    System.arraycopy(turned(byColumns, width, rows), 0, b, 0, b.length);
    return turned(x, width, columns);
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

  private void require(double[] b, int width) {
    if (b.length != (long) rows * width) {
      throw new DimensionMismatchException(
          "%d values, where %d x %d are needed".formatted(b.length, rows, width),
          "values",
          (long) rows * width,
          b.length);
    }
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
