/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.SparseRow;
import java.util.Arrays;
import java.util.function.Function;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;

/** Robust covariances of some columns, batch by batch: two triangular solves and a pass each. */
final class Sandwich {

  /** Most columns of one question. */
  static final int MOST_COLUMNS = 10_000;

  private final QRFactorization factorization;
  private final JavaRDD<SparseRow> rows;
  private final int n;
  private final int[] columns;
  private final HcType type;

  /**
   * Sums over all batches.
   *
   * @param covariance one a way, k x k; null if there was more than one batch
   * @param variances one a way, size k
   */
  record Found(double[][][] covariance, double[][] variances, long[] clusters, long ones) {}

  Sandwich(
      QRFactorization factorization, JavaRDD<SparseRow> rows, int n, int[] columns, HcType type) {
    this.factorization = factorization;
    this.rows = rows;
    this.n = n;
    this.columns = columns;
    this.type = type;
    if (columns.length == 0) {
      throw new IllegalArgumentException("robust errors of no columns");
    }
    if (columns.length > MOST_COLUMNS) {
      int batch = Batches.width(n);
      throw new IllegalArgumentException(
          ("robust errors of %,d columns, %,d at most: each costs two triangular solves with R, and"
                  + " every %d of them a pass over the rows, %,d passes here; ask for the"
                  + " coefficients that you need, such as all but the fixed effects")
              .formatted(
                  columns.length, MOST_COLUMNS, batch, (columns.length + batch - 1) / batch));
    }
  }

  /** Sums up with a pass a batch. */
  Found run(Function<ScorePass.Columns, ScorePass.Sums> pass) {
    int k = columns.length;
    int batch = Batches.width(n);
    boolean full = k <= batch;
    Found found = null;
    for (int from = 0; from < k; from += batch) {
      int[] some = Arrays.copyOfRange(columns, from, Math.min(k, from + batch));
      Broadcast<double[]> z =
          JavaSparkContext.fromSparkContext(rows.context()).broadcast(inverse(some));
      try {
        ScorePass.Sums sums = pass.apply(new ScorePass.Columns(z, some.length, full, type));
        found = add(found, sums, from, some.length, full);
      } finally {
        z.destroy();
      }
    }
    return found;
  }

  /** Columns of (A'A)^-1, n x k, row-major. */
  private double[] inverse(int[] some) {
    double[][] z = factorization.inverseTimes(Batches.units(some));
    double[] all = new double[Math.multiplyExact(n, some.length)];
    for (int c = 0; c < some.length; c++) {
      for (int j = 0; j < n; j++) {
        all[j * some.length + c] = z[c][j];
      }
    }
    return all;
  }

  private Found add(Found before, ScorePass.Sums sums, int from, int count, boolean full) {
    int ways = sums.sums().length;
    Found found =
        before != null
            ? before
            : new Found(
                full ? new double[ways][count][count] : null,
                new double[ways][columns.length],
                sums.clusters(),
                sums.ones());
    for (int way = 0; way < ways; way++) {
      int at = 0;
      for (int i = 0; i < count; i++) {
        found.variances[way][from + i] = sums.sums()[way][at];
        for (int j = i; full && j < count; j++) {
          found.covariance[way][i][j] = sums.sums()[way][at + j - i];
          found.covariance[way][j][i] = sums.sums()[way][at + j - i];
        }
        at += full ? count - i : 1;
      }
    }
    return found;
  }
}
