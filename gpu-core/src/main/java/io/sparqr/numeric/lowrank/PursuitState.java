/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.lowrank;

import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.DenseKernels;
import io.sparqr.numeric.dense.DenseQr;
import io.sparqr.threads.Crew;
import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * S and the multiplier Y between two iterations, for the rows of M that a {@link PursuitRows} has,
 * in the same chunks. Of these W = M - S + Y / mu is made, whose singular values are thresholded
 * next. L is nowhere kept: it is a product with W.
 */
public final class PursuitState implements Serializable {

  private static final long serialVersionUID = 1;

  /** Values of a chunk that are looked at together; a multiple of {@link #SUMS}. */
  private static final int BLOCK = 1 << 11;

  private static final int SUMS = 4;

  private final double[][] s;
  private final double[][] y;

  /** Of M. */
  private final double scale;

  /** 1 / mu of the coming iteration. */
  private final double inverse;

  /** Of the iteration that made this. */
  private final PursuitTally tally;

  private PursuitState(
      double[][] s, double[][] y, double scale, double inverse, PursuitTally tally) {
    this.s = s;
    this.y = y;
    this.scale = scale;
    this.inverse = inverse;
    this.tally = tally;
  }

  /** Before the first iteration: L = 0. O(m n). */
  public static PursuitState started(PursuitRows m, PursuitStart start) {
    double[][] s = new double[m.count()][];
    double[][] y = new double[m.count()][];
    double inverse = 1 / start.mu;
    double threshold = start.lambda * inverse;
    for (int c = 0; c < s.length; c++) {
      double[] of = m.chunk(c);
      s[c] = new double[of.length];
      y[c] = new double[of.length];
      if (start.method == PursuitMethod.INEXACT_ALM) {
        for (int k = 0; k < of.length; k++) {
          double a = start.scale * of[k];
          double multiplier = start.multiplier * a;
          y[c][k] = multiplier;
          s[c][k] = shrunk(a + multiplier * inverse, threshold);
        }
      }
    }
    return new PursuitState(s, y, start.scale, inverse, PursuitTally.NONE);
  }

  /**
   * What an iteration began with elsewhere.
   *
   * @param first of the rows in the whole matrix
   * @param s of the whole matrix, row-major
   * @param y likewise
   */
  static PursuitState of(PursuitRows m, PursuitStep step, int first, double[] s, double[] y) {
    return new PursuitState(
        chunks(m, first, s), chunks(m, first, y), step.start.scale, 1 / step.mu, PursuitTally.NONE);
  }

  private static double[][] chunks(PursuitRows m, int first, double[] all) {
    double[][] chunks = new double[m.count()][];
    int n = m.columns();
    int at = first;
    for (int c = 0; c < chunks.length; c++) {
      int rows = m.rows(c);
      double[] chunk = new double[rows * n];
      for (int i = 0; i < rows; i++) {
        for (int j = 0; j < n; j++) {
          chunk[i + j * rows] = all[(at + i) * n + j];
        }
      }
      chunks[c] = chunk;
      at += rows;
    }
    return chunks;
  }

  /** The nearest to 0 of all numbers as close to x as the threshold. */
  private static double shrunk(double x, double threshold) {
    return x - Math.max(-threshold, Math.min(threshold, x));
  }

  /** What the iteration that made this found in these rows. */
  public PursuitTally tally() {
    return tally;
  }

  /** QR of W, without Q. 2 m n^2 flops. */
  public DenseQr lagrangian(PursuitRows m) {
    DenseQr.Builder builder = DenseQr.builder(BlasLoader.kernels(), m.columns(), Crew.ALONE);
    double[] w = new double[m.longest()];
    for (int c = 0; c < s.length; c++) {
      w(m, c, w);
      builder.rows(w, m.rows(c), m.rows(c));
    }
    return builder.factor();
  }

  private void w(PursuitRows m, int c, double[] w) {
    double[] of = m.chunk(c);
    double[] sc = s[c];
    double[] yc = y[c];
    for (int k = 0; k < of.length; k++) {
      w[k] = scale * of[k] - sc[k] + yc[k] * inverse;
    }
  }

  /** What a chunk becomes by an iteration. */
  private final class Work {
    private final DenseKernels kernels = BlasLoader.kernels();
    private final PursuitRows m;
    private final PursuitStep step;
    private final double[] w;

    private final double[] l;

    private final double[] between;
    private double residual;
    private double change;
    private long nonzeros;

    Work(PursuitRows m, PursuitStep step) {
      this.m = m;
      this.step = step;
      w = new double[m.longest()];
      l = new double[m.longest()];
      between = new double[m.longest()];
    }

    /**
     * S and Y of the next iteration. For inexact Lagrangians, where S is found before L, the S that
     * belongs to this iteration's L is the one that was there; for alternating directions it is the
     * new one.
     */
    void advance(int c, double[] nextS, double[] nextY) {
      w(m, c, w);
      step.threshold(kernels, w, m.rows(c), l, between);
      boolean inexact = step.start.method == PursuitMethod.INEXACT_ALM;
      double[] ofS = new double[SUMS];
      double[] ofY = new double[SUMS];
      double unit = step.start.unit / step.mu;
      int length = s[c].length;
      // So many values at a time that those which are just made are still in the caches.
      for (int from = 0; from < length; from += BLOCK) {
        int to = Math.min(length, from + BLOCK);
        if (inexact) {
          inexact(m.chunk(c), s[c], y[c], nextS, nextY, from, to);
        } else {
          alternating(m.chunk(c), y[c], nextS, nextY, from, to);
        }
        countNonzeros(inexact ? s[c] : nextS, from, to);
        squares(nextS, s[c], 1, from, to, ofS);
        squares(nextY, y[c], unit, from, to, ofY);
      }
      change += ofS[0] + ofS[1] + (ofS[2] + ofS[3]);
      residual += ofY[0] + ofY[1] + (ofY[2] + ofY[3]);
    }

    private void inexact(
        double[] of, double[] sc, double[] yc, double[] nextS, double[] nextY, int from, int to) {
      double mu = step.mu;
      double next = 1 / step.nextMu;
      double threshold = step.start.lambda * next;
      for (int k = from; k < to; k++) {
        double a = scale * of[k] - l[k];
        double multiplier = yc[k] + mu * (a - sc[k]);
        nextY[k] = multiplier;
        nextS[k] = shrunk(a + multiplier * next, threshold);
      }
    }

    private void alternating(
        double[] of, double[] yc, double[] nextS, double[] nextY, int from, int to) {
      double mu = step.mu;
      double threshold = step.start.lambda * inverse;
      for (int k = from; k < to; k++) {
        double a = scale * of[k] - l[k];
        double sparse = shrunk(a + yc[k] * inverse, threshold);
        nextS[k] = sparse;
        nextY[k] = yc[k] + mu * (a - sparse);
      }
    }

    private void countNonzeros(double[] sc, int from, int to) {
      long count = 0;
      for (int k = from; k < to; k++) {
        // 1 for all but the two zeros, without a branch
        long magnitude = Double.doubleToRawLongBits(sc[k]) << 1;
        count += (magnitude | -magnitude) >>> 63;
      }
      nonzeros += count;
    }

    /**
     * Adds the squares of (a - b) times a factor, each number to one of four sums: one after the
     * other would wait for each addition.
     */
    private void squares(double[] a, double[] b, double factor, int from, int to, double[] sum) {
      double s0 = sum[0];
      double s1 = sum[1];
      double s2 = sum[2];
      double s3 = sum[3];
      int k = from;
      for (; k + 3 < to; k += 4) {
        double d0 = (a[k] - b[k]) * factor;
        double d1 = (a[k + 1] - b[k + 1]) * factor;
        double d2 = (a[k + 2] - b[k + 2]) * factor;
        double d3 = (a[k + 3] - b[k + 3]) * factor;
        s0 += d0 * d0;
        s1 += d1 * d1;
        s2 += d2 * d2;
        s3 += d3 * d3;
      }
      for (; k < to; k++) {
        s0 += (a[k] - b[k]) * factor * ((a[k] - b[k]) * factor);
      }
      sum[0] = s0;
      sum[1] = s1;
      sum[2] = s2;
      sum[3] = s3;
    }
  }

  /**
   * The next state. 4 m n r or 2 m n^2 flops.
   *
   * @param m the rows that this is of
   */
  public PursuitState advanced(PursuitRows m, PursuitStep step) {
    var work = new Work(m, step);
    PursuitState next = next(step, null);
    for (int c = 0; c < s.length; c++) {
      work.advance(c, next.s[c], next.y[c]);
    }
    return next.with(work);
  }

  /** A state and the QR of its W, without Q. */
  record Advanced(PursuitState state, DenseQr qr) {}

  /**
   * The next state and its {@link #lagrangian}, a chunk at a time, so that each is read once.
   *
   * @param m the rows that this is of
   * @param spare a state of these rows that is of no further use: its arrays are taken; or null
   */
  Advanced advanced(PursuitRows m, PursuitStep step, @Nullable PursuitState spare) {
    var work = new Work(m, step);
    PursuitState next = next(step, spare);
    DenseQr.Builder builder = DenseQr.builder(work.kernels, m.columns(), Crew.ALONE);
    for (int c = 0; c < s.length; c++) {
      work.advance(c, next.s[c], next.y[c]);
      next.w(m, c, work.w);
      builder.rows(work.w, m.rows(c), m.rows(c));
    }
    return new Advanced(next.with(work), builder.factor());
  }

  /** Room for the next state, or that of another one. */
  private PursuitState next(PursuitStep step, @Nullable PursuitState spare) {
    double[][] nextS = spare == null ? new double[s.length][] : spare.s;
    double[][] nextY = spare == null ? new double[y.length][] : spare.y;
    for (int c = 0; spare == null && c < s.length; c++) {
      nextS[c] = new double[s[c].length];
      nextY[c] = new double[y[c].length];
    }
    return new PursuitState(nextS, nextY, scale, 1 / step.nextMu, PursuitTally.NONE);
  }

  /** This state, with what was found while it was made. */
  private PursuitState with(Work work) {
    var found = new PursuitTally(work.residual, work.change, work.nonzeros, 0, 0, 0);
    return new PursuitState(s, y, scale, inverse, found);
  }

  /** L and S of the last iteration, in the units of M. As {@link #advanced}. */
  public PursuitPart finished(PursuitRows m, PursuitStep step) {
    var work = new Work(m, step);
    var part = new PursuitPart(m.columns(), step.rank, s.length);
    for (int c = 0; c < s.length; c++) {
      double[] nextS = new double[s[c].length];
      work.advance(c, nextS, new double[s[c].length]);
      double[] sparse = step.start.method == PursuitMethod.INEXACT_ALM ? s[c] : nextS;
      part.set(c, m.rows(c), step.factor(work.kernels, work.w, m.rows(c)), sparse, scale);
    }
    return part;
  }

  /** QR of the last iteration's multiplier Y, and what the optimum is judged by. */
  public PursuitDual dual(PursuitRows m, PursuitStep step) {
    var work = new Work(m, step);
    DenseQr.Builder builder = DenseQr.builder(work.kernels, m.columns(), Crew.ALONE);
    double most = 0;
    double inner = 0;
    double absolute = 0;
    for (int c = 0; c < s.length; c++) {
      double[] of = m.chunk(c);
      double[] nextS = new double[of.length];
      double[] nextY = new double[of.length];
      work.advance(c, nextS, nextY);
      double[] sparse = step.start.method == PursuitMethod.INEXACT_ALM ? s[c] : nextS;
      for (int k = 0; k < of.length; k++) {
        most = Math.max(most, Math.abs(nextY[k]));
        inner += scale * of[k] * nextY[k];
        absolute += Math.abs(sparse[k]);
      }
      builder.rows(nextY, m.rows(c), m.rows(c));
    }
    return new PursuitDual(
        builder.factor(),
        new PursuitTally(work.residual, work.change, work.nonzeros, most, absolute, inner));
  }
}
