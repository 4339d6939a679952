/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.ml;

import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.rows.RowReader;
import io.sparqr.spark.wire.ObjectCodec;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;

/**
 * Minimum, quartiles and maximum of the weighted residuals sqrt(w) (y - yhat), exactly: the
 * quantiles by linear interpolation of order statistics (type 7 of Hyndman and Fan 1996, Am. Stat.
 * 50). Up to 2^20 residuals are collected. For more, each pass over the rows counts the residuals
 * below 4,096 limits, which narrow down the order statistics until few enough are left to collect.
 *
 * <p>Spark SQL has no such thing: {@code percentile} keeps a table of all distinct values, which
 * residuals all are, in the memory of one task, {@code percentile_approx} is not exact, and neither
 * proves that the rows are still those of the fit.
 */
final class ResidualQuartiles {

  /** Maximum number of residuals collected at a time. */
  static final long COLLECTED = 1 << 20;

  private static final int BINS = 1 << 12;

  private final JavaRDD<SparseRow> rows;
  private final Fingerprint fitted;
  private final long instances;
  private final long collected;
  private final Broadcast<double[]> x;

  private ResidualQuartiles(
      JavaRDD<SparseRow> rows, Fingerprint fitted, long instances, long collected, double[] x) {
    this.rows = rows;
    this.fitted = fitted;
    this.instances = instances;
    this.collected = collected;
    this.x = JavaSparkContext.fromSparkContext(rows.context()).broadcast(x);
  }

  /**
   * The quartiles for the rows of a design.
   *
   * @param x the fitted coefficients
   * @param collected maximum number of residuals collected at a time, at least 1
   * @return five numbers, ascending
   * @throws io.sparqr.error.InputChangedException if the rows differ from those of the fit
   */
  static double[] of(
      JavaRDD<SparseRow> rows, double[] x, Fingerprint fitted, long instances, long collected) {
    var pass = new ResidualQuartiles(rows, fitted, instances, collected, x);
    try {
      return pass.run();
    } finally {
      pass.x.destroy();
    }
  }

  private double[] run() {
    // Positions of the order statistics that enclose the quartiles, from 0.
    double[] at = {0, 0.25 * (instances - 1), 0.5 * (instances - 1), 0.75 * (instances - 1), 0};
    at[4] = instances - 1;
    long[] ranks =
        Arrays.stream(at)
            .flatMap(a -> Arrays.stream(new double[] {Math.floor(a), Math.ceil(a)}))
            .mapToLong(a -> (long) a)
            .distinct()
            .toArray();
    var values = new double[ranks.length];
    if (instances <= collected) {
      double[] all = collect(new long[] {Long.MIN_VALUE}, new long[] {Long.MAX_VALUE})[0];
      for (int k = 0; k < ranks.length; k++) {
        values[k] = all[(int) ranks[k]];
      }
    } else {
      select(ranks, values);
    }
    var quartiles = new double[at.length];
    for (int q = 0; q < at.length; q++) {
      double low = value(ranks, values, (long) Math.floor(at[q]));
      double high = value(ranks, values, (long) Math.ceil(at[q]));
      quartiles[q] = low + (at[q] - Math.floor(at[q])) * (high - low);
    }
    return quartiles;
  }

  private static double value(long[] ranks, double[] values, long rank) {
    for (int k = 0; k < ranks.length; k++) {
      if (ranks[k] == rank) {
        return values[k];
      }
    }
    throw new IllegalStateException("order statistic " + rank + " was not asked for");
  }

  /** Narrows down each order statistic by counting in bins between two keys. */
  private void select(long[] ranks, double[] values) {
    int n = ranks.length;
    var low = new long[n];
    var high = new long[n];
    var before = new long[n];
    Arrays.fill(low, key(Double.NEGATIVE_INFINITY));
    Arrays.fill(high, key(Double.POSITIVE_INFINITY));
    var inside = new long[n];
    Arrays.fill(inside, instances);
    while (sum(inside) > collected && !single(low, high)) {
      long[][] counts = count(low, high);
      for (int k = 0; k < n; k++) {
        int bin = 0;
        long below = before[k];
        while (below + counts[k][bin] <= ranks[k]) {
          below += counts[k][bin++];
        }
        long from = edge(low[k], high[k], bin);
        high[k] = edge(low[k], high[k], bin + 1) - 1;
        low[k] = from;
        before[k] = below;
        inside[k] = counts[k][bin];
      }
    }
    double[][] left = single(low, high) ? null : collect(low, high);
    for (int k = 0; k < n; k++) {
      values[k] = left == null ? number(low[k]) : left[k][(int) (ranks[k] - before[k])];
    }
  }

  private static long sum(long[] counts) {
    return Arrays.stream(counts).sum();
  }

  private static boolean single(long[] low, long[] high) {
    for (int k = 0; k < low.length; k++) {
      if (low[k] != high[k]) {
        return false;
      }
    }
    return true;
  }

  /** Start of a bin of [low, high]. */
  private static long edge(long low, long high, int bin) {
    // Unsigned, because keys may differ by up to 2^64 - 1; the last edge is beyond high.
    long width = Long.divideUnsigned(high - low, BINS) + 1;
    long offset = width * bin;
    return bin == BINS || Long.compareUnsigned(offset, high - low) > 0 ? high + 1 : low + offset;
  }

  private static int bin(long key, long low, long high) {
    long width = Long.divideUnsigned(high - low, BINS) + 1;
    return (int) Long.divideUnsigned(key - low, width);
  }

  /** Bits in the same order as the numbers. */
  private static long key(double number) {
    long bits = Double.doubleToLongBits(number + 0.0);
    return bits < 0 ? bits ^ Long.MAX_VALUE : bits;
  }

  private static double number(long key) {
    return Double.longBitsToDouble(key < 0 ? key ^ Long.MAX_VALUE : key);
  }

  /**
   * The result of a partition: for each interval the counts in bins, or the residuals themselves.
   */
  private record Part(Fingerprint rows, long[][] counts, double[][] residuals)
      implements Serializable {}

  private long[][] count(long[] low, long[] high) {
    var counts = new long[low.length][BINS];
    for (Part part : run("residuals counted", low, high, true)) {
      for (int k = 0; k < counts.length; k++) {
        for (int b = 0; b < BINS; b++) {
          counts[k][b] += part.counts[k][b];
        }
      }
    }
    return counts;
  }

  private double[][] collect(long[] low, long[] high) {
    List<Part> parts = run("residuals collected", low, high, false);
    var all = new double[low.length][];
    for (int k = 0; k < all.length; k++) {
      int interval = k;
      all[k] = parts.stream().flatMapToDouble(p -> Arrays.stream(p.residuals[interval])).toArray();
      Arrays.sort(all[k]);
    }
    return all;
  }

  private List<Part> run(String what, long[] low, long[] high, boolean counting) {
    Broadcast<double[]> at = x;
    List<byte[]> frames =
        JobScope.run(
            JavaSparkContext.fromSparkContext(rows.context()),
            what,
            rows.mapPartitionsWithIndex(
                    (p, it) -> ofPartition(p, it, at.value(), new long[][] {low, high}, counting),
                    false)
                ::collect);
    var parts = new ArrayList<Part>();
    Fingerprint found = Fingerprint.ofNothing();
    for (byte[] frame : frames) {
      Part part = ObjectCodec.decode(frame, Part.class);
      parts.add(part);
      found = found.plus(part.rows);
    }
    Readings.requireSame(fitted, found);
    return parts;
  }

  /** Encoded, because Kryo cannot read records. */
  private static Iterator<byte[]> ofPartition(
      int partition, Iterator<SparseRow> rows, double[] x, long[][] limits, boolean counting) {
    int n = limits[0].length;
    var reader = new RowReader(partition, -1);
    var counts = new long[counting ? n : 0][BINS];
    var residuals = new double[counting ? 0 : n][16];
    var sizes = new int[n];
    while (rows.hasNext()) {
      if (!reader.read(rows.next())) {
        continue;
      }
      // Values and labels are multiplied by sqrt(w).
      double residual = reader.rhs()[0];
      for (int k = 0; k < reader.count(); k++) {
        int j = reader.index()[k];
        residual -= j < x.length ? reader.value()[k] * x[j] : 0;
      }
      long key = key(residual);
      for (int k = 0; k < n; k++) {
        if (key < limits[0][k] || key > limits[1][k]) {
          continue;
        }
        if (counting) {
          counts[k][bin(key, limits[0][k], limits[1][k])]++;
        } else {
          if (sizes[k] == residuals[k].length) {
            residuals[k] = Arrays.copyOf(residuals[k], 2 * sizes[k]);
          }
          residuals[k][sizes[k]++] = residual;
        }
      }
    }
    for (int k = 0; k < residuals.length; k++) {
      residuals[k] = Arrays.copyOf(residuals[k], sizes[k]);
    }
    return List.of(ObjectCodec.encode(new Part(reader.fingerprint(), counts, residuals)))
        .iterator();
  }
}
