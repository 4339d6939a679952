/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.SolvePlan;
import java.util.Iterator;

/**
 * The rows that were factorized, weighted and with equilibrated columns, times some vectors: width
 * values for each row of a partition, zeros for one of weight 0.
 */
public final class RowProduct implements Iterator<double[]> {

  private final SolvePlan plan;
  private final RowReader reader;
  private final Iterator<SparseRow> rows;
  private final double[] x;
  private final int width;

  /**
   * A partition's rows times vectors.
   *
   * @param x n x width by position
   */
  public RowProduct(
      SolvePlan plan, int partition, Iterator<SparseRow> rows, double[] x, int width) {
    this.plan = plan;
    this.reader = new RowReader(partition, plan.analysis().columns());
    this.rows = rows;
    this.x = x;
    this.width = width;
  }

  /** The norm of a partition's rows, of positive weight. */
  public static double norm(SolvePlan plan, int partition, Iterator<SparseRow> rows) {
    var reader = new RowReader(partition, plan.analysis().columns());
    double norm = 0;
    while (rows.hasNext()) {
      boolean counts = reader.read(rows.next());
      for (int k = 0; counts && k < reader.count(); k++) {
        norm = Math.hypot(norm, plan.scaled(reader.index()[k], reader.value()[k]));
      }
    }
    return norm;
  }

  @Override
  public boolean hasNext() {
    return rows.hasNext();
  }

  @Override
  public double[] next() {
    double[] y = new double[width];
    boolean counts = reader.read(rows.next());
    for (int k = 0; counts && k < reader.count(); k++) {
      double v = plan.scaled(reader.index()[k], reader.value()[k]);
      int from = plan.position(reader.index()[k]) * width;
      for (int q = 0; q < width; q++) {
        y[q] = Math.fma(v, x[from + q], y[q]);
      }
    }
    return y;
  }
}
