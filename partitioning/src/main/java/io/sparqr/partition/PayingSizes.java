/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicSummary;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Locale;

/**
 * From which size of problem on each number of executors pays: for problems with the tree of one
 * that is known, all of whose fronts are wider and taller by the same factor. A number pays where
 * it is predicted to be faster than all smaller ones by {@link PayingWorkers#LEAST_GAIN}. Memory is
 * another question, and is not asked here.
 *
 * @param executors size: counts; ascending
 * @param work for each what the work of the problem at hand has to be multiplied by, a power of
 *     two; infinite if that is beyond {@link #MOST}
 * @param flops of the problem at hand
 */
public record PayingSizes(int[] executors, double[] work, double flops) {

  /** Work is tried from 1 / LEAST of the problem's on. */
  static final int LEAST = 1 << 12;

  /** And up to this many times it. */
  static final int MOST = 1 << 20;

  /** What work grows by from one try to the next. */
  private static final int STEP = 4;

  /** The numbers 1, 2, 4, ... and the last. */
  public static int[] counts(int last) {
    var counts = new ArrayList<Integer>();
    for (int k = 1; k < last; k *= 2) {
      counts.add(k);
    }
    counts.add(last);
    return counts.stream().mapToInt(Integer::intValue).toArray();
  }

  /**
   * Tries sizes from small to large. A cut of the tree for each number and size, some ten of them a
   * number.
   *
   * @param counts ascending, from 1 on
   */
  static PayingSizes of(
      EqualExecutors like, SymbolicAnalysis analysis, PartitionOptions options, int... counts) {
    double[] work = new double[counts.length];
    Arrays.fill(work, Double.POSITIVE_INFINITY);
    int paying = 0;
    double most = analysis.fronts() == 0 ? 0 : MOST;
    for (double w = 1.0 / LEAST; w <= most && paying < counts.length; w *= STEP) {
      double best = Double.POSITIVE_INFINITY;
      for (int i = 0; i < counts.length; i++) {
        double seconds = like.forecast(analysis, options, counts[i], w).seconds();
        if (seconds * PayingWorkers.LEAST_GAIN <= best || i == 0) {
          best = seconds;
          while (paying <= i) {
            work[paying++] = w;
          }
        }
      }
    }
    return new PayingSizes(counts, work, analysis.flops());
  }

  /** A line for each number but 1. */
  @Override
  public String toString() {
    var text = new StringBuilder();
    text.append(
        String.format(Locale.ROOT, "%9s %12s %14s%n", "executors", "pay from", "times this"));
    for (int i = 1; i < executors.length; i++) {
      text.append(
          Double.isInfinite(work[i])
              ? String.format(
                  Locale.ROOT,
                  "%9d %12s %14s%n",
                  executors[i],
                  "never",
                  String.format(Locale.ROOT, "up to %,d", MOST))
              : String.format(
                  Locale.ROOT,
                  "%9d %12s %14s%n",
                  executors[i],
                  SymbolicSummary.flopsText(work[i] * flops),
                  work[i] < 1
                      ? String.format(Locale.ROOT, "1 / %,.0f", 1 / work[i])
                      : String.format(Locale.ROOT, "%,.0f", work[i])));
    }
    return text.toString();
  }
}
