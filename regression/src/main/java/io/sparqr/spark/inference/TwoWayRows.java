/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import io.sparqr.numeric.RowBlock;
import io.sparqr.spark.parts.OfPartition;
import io.sparqr.spark.pattern.ColumnChunks;
import io.sparqr.spark.wire.RowBatchCodec;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

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
   * The rows once more, each with its sigma_i^2, for {@link #effects}, which can then read them
   * repeatedly without checks and weighting. Consecutive equal rows, such as those of a worker who
   * stays, are combined.
   */
  static List<byte[]> compact(Observations row, double meanLabel) {
    var frames = new ArrayList<byte[]>();
    var batch = new RowBatchCodec.Builder(1);
    int[] index = new int[0];
    double[] value = new double[0];
    double[] variance = new double[1];
    boolean any = false;
    while (row.nextThatCounts()) {
      int count = row.count();
      boolean same =
          any
              && Arrays.equals(index, 0, index.length, row.index(), 0, count)
              && Arrays.equals(value, 0, value.length, row.value(), 0, count);
      if (any && !same) {
        batch.add(0, index, value, 0, index.length, variance, 0);
        variance[0] = 0;
      }
      if (!same) {
        index = Arrays.copyOf(row.index(), count);
        value = Arrays.copyOf(row.value(), count);
      }
      any = true;
      variance[0] += variance(row, meanLabel);
      if (batch.bytes() > BATCH_BYTES) {
        frames.add(batch.take(row.partition(), frames.size()));
      }
    }
    if (any) {
      batch.add(0, index, value, 0, index.length, variance, 0);
    }
    frames.add(batch.take(row.partition(), frames.size()));
    return frames;
  }

  /**
   * Two sums over the rows i, weighted by sigma_i^2: the sum over some columns j of n_j (a_i'Z
   * e_j)^2, and the row's own effect, a_ij a_i'Z e_j.
   *
   * @param frames results of {@link #compact}
   * @param z n x k, row-major: columns [from, from + k) of a way, in the order of the list
   * @param number size n: index in the list, or -1
   * @param weight n_j by index
   */
  static double[] effects(
      Iterator<byte[]> frames, double[] z, int[] number, double[] weight, int from) {
    int k = z.length / number.length;
    double[] sums = new double[2];
    double[] t = new double[k];
    while (frames.hasNext()) {
      RowBlock rows = RowBatchCodec.decode(List.of(frames.next()), 1);
      for (int i = 0; i < rows.rows(); i++) {
        Arrays.fill(t, 0);
        for (int e = rows.rowStart()[i]; e < rows.rowStart()[i + 1]; e++) {
          add(rows.value()[e], z, rows.position()[e] * k, t);
        }
        double square = 0;
        for (int c = 0; c < k; c++) {
          square += weight[from + c] * t[c] * t[c];
        }
        double own = 0;
        for (int e = rows.rowStart()[i]; e < rows.rowStart()[i + 1]; e++) {
          int c = number[rows.position()[e]] - from;
          own += c >= 0 && c < k ? rows.value()[e] * t[c] : 0;
        }
        sums[0] += rows.rhs()[i] * square;
        sums[1] += rows.rhs()[i] * own;
      }
    }
    return sums;
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
