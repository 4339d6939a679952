/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.spark.model.SparseRow;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Function;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.jspecify.annotations.Nullable;

/**
 * Robust covariances of some columns, batch by batch: two triangular solves and a pass over the
 * rows for each.
 */
final class Sandwich {

  /** Maximum number of columns per call. */
  static final int MOST_COLUMNS = 10_000;

  private final Inference inference;
  private final int n;
  private final int[] columns;
  private final HcType type;

  /**
   * Sums over all batches.
   *
   * @param covariance one per way, k x k, unless there was more than one batch
   * @param variances one per way, size k
   * @param moved by column the share of its error that a row of leverage 1 may have, from 0 to 1
   */
  record Found(
      double @Nullable [][][] covariance,
      double[][] variances,
      long[] clusters,
      long ones,
      double[] moved) {}

  /** A smaller share is a rounding error. */
  private static final double MOVED = 1e-6;

  /**
   * @param columns may be empty, for a model with absorbed effects only
   * @throws IllegalArgumentException if there are too many, with the cost in the message
   */
  Sandwich(Inference inference, int[] columns, HcType type) {
    this.inference = inference;
    this.n = inference.columns();
    this.columns = columns.clone();
    this.type = type;
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

  /** {@link Inference#robust}. */
  RobustCovariance ofRows() {
    var pass = new ScorePass(inference.rows(), inference.fit());
    Found found =
        columns.length == 0 ? nothing() : inference.scoped("robust errors", () -> run(of(pass)));
    long freedom = inference.degreesOfFreedom();
    double factor = type == HcType.HC1 ? inference.observations() / (double) freedom : 1;
    return covariance(type.name(), found, new double[] {factor}, new long[0], freedom);
  }

  private Function<ScorePass.Columns, ScorePass.Sums> of(ScorePass pass) {
    JavaRDD<Observations.Leverages> h = type.needsLeverages() ? inference.leverages() : null;
    return c -> pass.ofRows(c, h);
  }

  /** The result for no columns, without a pass over the rows. */
  private static Found nothing() {
    return new Found(new double[1][0][0], new double[1][0], new long[0], 0, new double[0]);
  }

  /**
   * {@link Inference#clustered}.
   *
   * @param keys texts, one per way
   * @param ways 1, or 3: two ways and their intersections
   * @throws DimensionMismatchException if keys and rows are not aligned
   */
  RobustCovariance ofClusters(ClusterCorrection correction, JavaRDD<String[]> keys, int ways) {
    JavaRDD<SparseRow> rows = inference.rows();
    if (keys.getNumPartitions() != rows.getNumPartitions()) {
      throw new DimensionMismatchException(
          "cluster keys come in %d partitions, the rows in %d"
              .formatted(keys.getNumPartitions(), rows.getNumPartitions()),
          "partitions",
          rows.getNumPartitions(),
          keys.getNumPartitions());
    }
    var pass = new ScorePass(rows, inference.fit());
    Found found =
        inference.scoped("cluster-robust errors", () -> run(c -> pass.ofClusters(c, keys, ways)));
    long[] clusters = found.clusters;
    for (int way = 0; way < Math.min(2, ways); way++) {
      if (clusters[way] < 2) {
        throw new IllegalArgumentException(
            clusters[way] + " cluster: clustered errors need at least two");
      }
    }
    long fewest = ways == 1 ? clusters[0] : Math.min(clusters[0], clusters[1]);
    double[] factor = new double[ways];
    for (int way = 0; way < ways; way++) {
      factor[way] =
          (way == 2 ? -1 : 1)
              * correction.factor(
                  clusters[way], fewest, inference.observations(), inference.rank());
    }
    return covariance(
        (ways == 1 ? "clustered, " : "two-way clustered, ") + correction.name(),
        found,
        factor,
        clusters,
        correction.degreesOfFreedom(fewest, inference.degreesOfFreedom()));
  }

  private RobustCovariance covariance(
      String estimator, Found found, double[] factor, long[] clusters, double freedom) {
    int k = columns.length;
    double[] variances = new double[k];
    double[][] v = found.covariance == null ? null : new double[k][k];
    double[] x = inference.coefficients();
    int[] dead = inference.factorization().deadColumns();
    boolean[] out = new boolean[k];
    for (int i = 0; i < k; i++) {
      out[i] =
          inference.degreesOfFreedom() <= 0
              || Arrays.binarySearch(dead, columns[i]) >= 0
              || found.moved[i] > MOVED;
    }
    for (int i = 0; i < k; i++) {
      for (int way = 0; way < factor.length; way++) {
        variances[i] += out[i] ? Double.NaN : factor[way] * found.variances[way][i];
        for (int j = 0; v != null && found.covariance != null && j < k; j++) {
          v[i][j] += out[i] || out[j] ? Double.NaN : factor[way] * found.covariance[way][i][j];
        }
      }
    }
    double[] coefficients = Arrays.stream(columns).mapToDouble(j -> x[j]).toArray();
    return new RobustCovariance(
        new RobustCovariance.Made(
            estimator, columns, coefficients, variances, v, clusters, freedom, found.ones, false));
  }

  /** Sums over one pass per batch; without columns over a single one, which counts clusters. */
  private Found run(Function<ScorePass.Columns, ScorePass.Sums> pass) {
    int k = columns.length;
    int batch = Batches.width(n);
    boolean full = k <= batch;
    Found found = null;
    for (int from = 0; from == 0 || from < k; from += batch) {
      int[] some = Arrays.copyOfRange(columns, from, Math.min(k, from + batch));
      double[] inverse = inverse(some);
      Broadcast<double[]> z =
          JavaSparkContext.fromSparkContext(inference.rows().context()).broadcast(inverse);
      try {
        ScorePass.Sums sums = pass.apply(new ScorePass.Columns(z, some.length, full, type));
        found = add(found, sums, from, some.length, full);
        for (int c = 0; c < some.length; c++) {
          double most = Math.sqrt(inverse[some[c] * some.length + c]);
          found.moved[from + c] = most > 0 ? sums.moved()[c] / most : 0;
        }
      } finally {
        z.destroy();
      }
    }
    return Objects.requireNonNull(found);
  }

  /** Columns of (A'A)^-1, n x k, row-major. */
  private double[] inverse(int[] some) {
    double[][] z = inference.factorization().inverseTimes(Batches.units(some));
    double[] all = new double[Math.multiplyExact(n, some.length)];
    for (int c = 0; c < some.length; c++) {
      for (int j = 0; j < n; j++) {
        all[j * some.length + c] = z[c][j];
      }
    }
    return all;
  }

  private Found add(
      @Nullable Found before, ScorePass.Sums sums, int from, int count, boolean full) {
    int ways = sums.sums().length;
    Found found =
        before != null
            ? before
            : new Found(
                full ? new double[ways][count][count] : null,
                new double[ways][columns.length],
                sums.clusters(),
                sums.ones(),
                new double[columns.length]);
    for (int way = 0; way < ways; way++) {
      int at = 0;
      for (int i = 0; i < count; i++) {
        found.variances[way][from + i] = sums.sums()[way][at];
        for (int j = i; found.covariance != null && j < count; j++) {
          found.covariance[way][i][j] = sums.sums()[way][at + j - i];
          found.covariance[way][j][i] = sums.sums()[way][at + j - i];
        }
        at += full ? count - i : 1;
      }
    }
    return found;
  }
}
