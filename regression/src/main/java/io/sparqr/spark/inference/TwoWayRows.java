/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import io.sparqr.spark.parts.OfPartition;
import io.sparqr.spark.pattern.ColumnChunks;
import io.sparqr.spark.wire.RowBatchCodec;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import scala.Tuple2;

/** The sums of {@link LeaveOutVariance} over the rows of a partition, in their order. */
final class TwoWayRows {

  /** A column that belongs to neither way. */
  static final byte OTHER = 0;

  private static final int BATCH_BYTES = 4 << 20;

  static final byte WORKER = 1;
  static final byte FIRM = 2;

  private TwoWayRows() {}

  /**
   * The columns' roles.
   *
   * @param way size n
   * @param place size n: index among the columns of neither way
   * @param others number of these columns
   */
  record Roles(byte[] way, int[] place, int others) implements Serializable {}

  /**
   * Sums over the rows of a partition.
   *
   * @param values their meaning depends on the method that computes them
   */
  record Sums(int partition, double[] values) implements OfPartition {}

  private static int columnOf(Observations row, Roles roles, byte way) {
    int found = -1;
    for (int k = 0; k < row.count(); k++) {
      if (roles.way[row.index()[k]] == way) {
        boolean one = Math.abs(row.value()[k] / Math.sqrt(row.weight()) - 1) < 1e-12;
        if (found >= 0 || !one) {
          throw new IllegalArgumentException(
              ("partition %d: a row with %s in column %d of the %s: variance decompositions need"
                      + " dummies, one of each way at most")
                  .formatted(
                      row.partition(),
                      one ? "a second one" : "a value other than 1",
                      row.index()[k],
                      way == WORKER ? "workers" : "firms"));
        }
        found = k;
      }
    }
    return found;
  }

  /**
   * Columns (1 + others) j: sum of the weights of the rows with j's dummy, then their weighted sums
   * of the other columns.
   *
   * @return a frame of {@link Sums} (sum of weights, of weights times labels), then chunks
   */
  static double[] columns(Observations row, Roles roles, ColumnChunks chunks) {
    double weights = 0;
    double labels = 0;
    long width = 1L + roles.others;
    while (row.nextThatCounts()) {
      weights += row.weight();
      labels += Math.sqrt(row.weight()) * row.weightedLabel();
      for (byte way : new byte[] {WORKER, FIRM}) {
        int at = columnOf(row, roles, way);
        if (at < 0) {
          continue;
        }
        long j = row.index()[at];
        chunks.add(j * width, row.weight());
        for (int k = 0; k < row.count(); k++) {
          int c = row.index()[k];
          if (roles.way[c] == OTHER) {
            chunks.add(j * width + 1 + roles.place[c], row.value()[k] * row.value()[at]);
          }
        }
      }
    }
    return new double[] {weights, labels};
  }

  /**
   * The data of a fit for the corrections.
   *
   * @param x coefficients
   * @param meanWorker mean of the workers' effects over the rows
   * @param meanFirm mean of the firms' effects over the rows
   * @param meanLabel mean of the labels
   */
  record Fit(double[] x, double meanWorker, double meanFirm, double meanLabel)
      implements Serializable {}

  /**
   * First values of {@link #moments}: three plug-in moments, number of rows of leverage 1, sum of
   * leverages.
   */
  static final int HEAD = 5;

  /** Then, for each of two weights, this number of terms, in order. */
  static final int TERMS = 7;

  /**
   * Plug-in moments, and those terms of the corrections that need only a few columns of (A'A)^-1,
   * each with sigma_i^2 and with 1, without the wider way's own effect.
   *
   * @param g n x (2 + 3 others), row-major: (A'A)^-1 times the workers' means, the firms' means,
   *     the unit vectors of the other columns, their sums over workers, their sums over firms
   */
  static double[] moments(Observations row, Roles roles, Fit fit, double[] g) {
    int p = roles.others;
    int q = 2 + 3 * p;
    double[] sums = new double[HEAD + 2 * TERMS];
    double[] t = new double[q];
    while (row.nextThatCounts()) {
      int w = columnOf(row, roles, WORKER);
      int f = columnOf(row, roles, FIRM);
      double worker = (w < 0 ? 0 : fit.x[row.index()[w]]) - fit.meanWorker;
      double firm = (f < 0 ? 0 : fit.x[row.index()[f]]) - fit.meanFirm;
      sums[0] += row.weight() * worker * worker;
      sums[1] += row.weight() * firm * firm;
      sums[2] += row.weight() * worker * firm;
      double h = row.leverage();
      sums[3] += 1 - h < Influence.LEVERAGE_ONE ? 1 : 0;
      sums[4] += h;
      product(row, g, q, t);
      double own = 0;
      double byWorker = 0;
      double byFirm = 0;
      for (int k = 0; k < row.count(); k++) {
        int c = row.index()[k];
        own += roles.way[c] == OTHER ? row.value()[k] * t[2 + roles.place[c]] : 0;
      }
      for (int k = 0; k < p; k++) {
        byWorker += t[2 + k] * t[2 + p + k];
        byFirm += t[2 + k] * t[2 + 2 * p + k];
      }
      double[] terms = {t[0] * t[0], t[1] * t[1], t[0] * t[1], h, own, byWorker, byFirm};
      double variance = variance(row, fit.meanLabel);
      for (int k = 0; k < TERMS; k++) {
        sums[HEAD + k] += variance * terms[k];
        sums[HEAD + TERMS + k] += terms[k];
      }
    }
    return sums;
  }

  /** The leave-out estimate of a weighted row's error variance. */
  private static double variance(Observations row, double meanLabel) {
    double y = row.weightedLabel() - Math.sqrt(row.weight()) * meanLabel;
    return y * row.weightedResidual() / (1 - row.leverage());
  }

  /**
   * The rows on their way to the {@link Matches} of their workers, each with its sigma_i^2 and the
   * root of its weight; rows without a worker stay together by partition. Dependent columns are
   * left out.
   *
   * @param wide the way with more columns, that of the workers
   * @param dead dependent columns
   * @param reducers number of groups of workers
   */
  static Iterator<Tuple2<Integer, byte[]>> routed(
      Observations row, Roles roles, byte wide, BitSet dead, double meanLabel, int reducers) {
    var frames = new ArrayList<Tuple2<Integer, byte[]>>();
    var batch = new RowBatchCodec.Builder[reducers];
    int[] sent = new int[reducers];
    int[] index = new int[0];
    double[] value = new double[0];
    double[] rhs = new double[Matches.WIDTH];
    while (row.nextThatCounts()) {
      if (index.length < row.count()) {
        index = new int[2 * row.count()];
        value = new double[2 * row.count()];
      }
      int worker = -1;
      int count = 0;
      for (int k = 0; k < row.count(); k++) {
        int j = row.index()[k];
        if (dead.get(j)) {
          continue;
        }
        if (roles.way[j] == wide) {
          worker = j;
        } else {
          index[count] = j;
          value[count++] = row.value()[k];
        }
      }
      rhs[0] = variance(row, meanLabel);
      rhs[1] = Math.sqrt(row.weight());
      int to = (worker < 0 ? row.partition() : worker) % reducers;
      if (batch[to] == null) {
        batch[to] = new RowBatchCodec.Builder(Matches.WIDTH);
      }
      batch[to].add(worker, index, value, 0, count, rhs, 0);
      if (batch[to].bytes() > BATCH_BYTES) {
        frames.add(new Tuple2<>(to, batch[to].take(row.partition(), sent[to]++)));
      }
    }
    for (int to = 0; to < reducers; to++) {
      if (batch[to] != null && batch[to].rows() > 0) {
        frames.add(new Tuple2<>(to, batch[to].take(row.partition(), sent[to])));
      }
    }
    return frames.iterator();
  }

  private static void product(Observations row, double[] g, int q, double[] t) {
    Arrays.fill(t, 0);
    for (int e = 0; e < row.count(); e++) {
      add(row.value()[e], g, row.index()[e] * q, t);
    }
  }

  private static void add(double v, double[] g, int at, double[] t) {
    for (int c = 0; c < t.length; c++) {
      t[c] += v * g[at + c];
    }
  }

  /** The sums over partitions, in their order. */
  static double[] total(List<Sums> parts) {
    var sorted = new ArrayList<>(parts);
    sorted.sort(java.util.Comparator.comparingInt(Sums::partition));
    double[] total = new double[sorted.get(0).values.length];
    for (Sums s : sorted) {
      for (int i = 0; i < total.length; i++) {
        total[i] += s.values[i];
      }
    }
    return total;
  }
}
