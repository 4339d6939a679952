/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cluster;

import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.symbolic.FrontMemory;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicSummary;
import java.util.Locale;

/**
 * The largest front that any worker can hold. No cut of the tree divides a front, so a problem with
 * a larger one is refused as soon as its fronts are counted.
 *
 * <p>While orders are still being tried, another one might have smaller fronts. Two cases leave no
 * hope of that: R is nearly full ({@link #FULL}), or the front is {@link #OTHER_ORDER} times too
 * large. Minimum degree needs up to seven times the flops of dissection on solids; the largest
 * front's flops go with the 3/2th power of its bytes, so that it can be 3.7 times as large, and the
 * limit is twice that.
 *
 * @param worker the one with the most memory, as reports name it
 * @param bytes that the front may take there; Long.MAX_VALUE where fronts are divided into stages
 * @param flopsPerSecond of all workers together, as the plan assumes them
 * @param spreads whether rows of a tall front may be reduced by other workers before it
 * @param setting what to set for more memory
 */
public record FrontLimit(
    String worker, long bytes, double flopsPerSecond, boolean spreads, String setting) {

  /** From this part of a full triangle on, every order needs about as much; as for AUTO. */
  static final double FULL = 0.75;

  /** No other order has a largest front that many times smaller. */
  static final double OTHER_ORDER = 8;

  /** Where the guide says what to take instead. */
  static final String PAGE = "docs/guide/which.md#when-r-is-too-large";

  /** Nothing is too large. */
  static FrontLimit none() {
    return new FrontLimit("", Long.MAX_VALUE, 1, false, "");
  }

  /**
   * Refuses what no order of the columns would make fit.
   *
   * @param flops of the factorization under the order at hand
   * @param entriesOfR at full rank
   * @param fullness entries of R over those of a full triangle
   * @param rows of the largest front, as {@link FrontMemory#certainRows} counts them
   * @param columns of that front
   * @throws InsufficientMemoryException with the flops, the bytes needed and there, and a way out
   */
  public void requireSomeOrder(
      double flops, double entriesOfR, double fullness, long rows, long columns) {
    long need = need(rows, columns);
    boolean full = fullness >= FULL;
    if (full ? need > bytes : need / OTHER_ORDER > bytes) {
      String order = full ? " (nearly a full triangle in any column order)" : "";
      throw refusal(flops, entriesOfR, order, rows, columns);
    }
  }

  /**
   * Refuses an analysis with a front that is too large.
   *
   * @param rhs right-hand sides carried along
   * @param tall {@link io.sparqr.symbolic.Reduction#tall} of the analysis
   * @throws InsufficientMemoryException as above
   */
  public void require(SymbolicAnalysis analysis, int rhs, long tall) {
    long most = -1;
    long rows = 0;
    long columns = 0;
    for (int f = 0; f < analysis.fronts(); f++) {
      long fn = analysis.fn(f);
      long fm = FrontMemory.certainRows(analysis.fm(f), fn, tall);
      long need = need(fm, fn);
      if (need > most) {
        most = need;
        rows = fm;
        columns = fn;
      }
    }
    if (most > bytes) {
      double entries = SymbolicSummary.of(analysis, rhs).nonzerosOfR();
      throw refusal(analysis.flops(), entries, "", rows, columns);
    }
  }

  private long need(long rows, long columns) {
    return FrontMemory.hostBytes(spreads ? Math.min(rows, columns) : rows, columns, 0);
  }

  private InsufficientMemoryException refusal(
      double flops, double entriesOfR, String order, long rows, long columns) {
    long need = need(rows, columns);
    String message =
        String.format(
            Locale.ROOT,
            "R would take %s%s and the factorization %s, about %s; its largest front, %,d x %,d,"
                + " needs %,d MB, and %s has %,d MB: %s, or take an iterative method such as LSQR,"
                + " which needs no R (%s)",
            SymbolicSummary.bytesText(Double.BYTES * entriesOfR),
            order,
            SymbolicSummary.flopsText(flops),
            time(flops / flopsPerSecond),
            rows,
            columns,
            need >> 20,
            worker,
            bytes >> 20,
            setting,
            PAGE);
    return new InsufficientMemoryException(message, need, bytes);
  }

  /** Seconds, minutes, hours or days. */
  static String time(double seconds) {
    if (seconds < 120) {
      return String.format(Locale.ROOT, "%.3g s", seconds);
    }
    if (seconds < 7200) {
      return String.format(Locale.ROOT, "%.0f minutes", seconds / 60);
    }
    double hours = seconds / 3600;
    return hours < 48
        ? String.format(Locale.ROOT, "%.0f hours", hours)
        : String.format(Locale.ROOT, "%,.0f days", hours / 24);
  }
}
