/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.ordering.OrderingMethod;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * An analysis in numbers, for reports and for {@code sparqr analyze}.
 *
 * @param histogram fronts by size, smallest first
 */
public record SymbolicSummary(
    Matrix matrix, Ordering order, Work work, Tree tree, List<Bin> histogram, Seconds seconds)
    implements Serializable {

  /**
   * What was analyzed.
   *
   * @param rows m
   * @param columns n
   * @param nonzeros entries of A
   * @param singletons column singletons
   */
  public record Matrix(long rows, int columns, long nonzeros, int singletons)
      implements Serializable {}

  /**
   * The order of the columns.
   *
   * @param method order used
   * @param reason the reason for it
   */
  public record Ordering(OrderingMethod method, String reason) implements Serializable {}

  /**
   * Arithmetic and its result.
   *
   * @param nonzerosOfR entries of R at full rank, with singleton rows and the fronts' explicit
   *     zeros
   * @param flops of the staircase factorizations of all fronts
   * @param tileFlops of a device with default settings for these in tiles, see {@link TileFlops}
   * @param criticalPathFlops the heaviest path from a leaf to a root: a lower bound for any
   *     parallelism between fronts
   * @param arithmeticIntensity flops per byte of the fronts, right-hand sides not counted
   */
  public record Work(
      double nonzerosOfR,
      double flops,
      double tileFlops,
      double criticalPathFlops,
      double arithmeticIntensity)
      implements Serializable {}

  /**
   * The tree of fronts.
   *
   * @param fronts nf
   * @param leaves fronts without children
   * @param height fronts on the longest path
   * @param largestRows fm of the front with most entries
   * @param largestColumns fn of that front
   * @param frontBytes bytes to hold all fronts at once
   * @param peakBytes peak bytes in postorder: a front and all waiting contribution blocks, its
   *     children's included; without R
   */
  public record Tree(
      int fronts,
      int leaves,
      int height,
      long largestRows,
      int largestColumns,
      long frontBytes,
      long peakBytes)
      implements Serializable {}

  /**
   * Wall times.
   *
   * @param order time of the ordering
   * @param analyze time of the rest
   */
  public record Seconds(double order, double analyze) implements Serializable {}

  /**
   * Fronts of about one size.
   *
   * @param fromColumns least fn
   * @param toColumns greatest fn
   * @param fronts their number
   * @param flops their total flops
   */
  public record Bin(int fromColumns, int toColumns, int fronts, double flops)
      implements Serializable {}

  /** Copies the list. */
  public SymbolicSummary {
    histogram = List.copyOf(histogram);
  }

  /** The summary of an analysis with rhs right-hand sides carried along. */
  public static SymbolicSummary of(SymbolicAnalysis s, int rhs) {
    int nf = s.fronts();
    double entriesOfR = s.singletonEntries();
    double[] path = new double[nf];
    int[] depth = new int[nf];
    double longest = 0;
    int height = 0;
    int leaves = 0;
    int largest = -1;
    long allBytes = 0;
    long live = 0;
    long peak = 0;
    int[] binFronts = new int[32];
    double[] binFlops = new double[32];
    for (int f = 0; f < nf; f++) {
      long pivots = Math.min(s.fm(f), s.fp(f));
      entriesOfR += pivots * (double) s.fn(f) - 0.5 * pivots * (pivots - 1);
      path[f] += s.frontFlops(f);
      depth[f]++;
      int p = s.parent(f);
      if (p >= 0) {
        path[p] = Math.max(path[p], path[f]);
        depth[p] = Math.max(depth[p], depth[f]);
      }
      longest = Math.max(longest, path[f]);
      height = Math.max(height, depth[f]);
      leaves += s.childCount(f) == 0 ? 1 : 0;
      if (largest < 0 || (double) s.fm(f) * s.fn(f) > (double) s.fm(largest) * s.fn(largest)) {
        largest = f;
      }
      long own = FrontMemory.frontBytes(s, f, rhs);
      allBytes = FrontMemory.add(allBytes, own);
      peak = Math.max(peak, FrontMemory.add(live, own));
      for (int k = 0; k < s.childCount(f); k++) {
        live -= FrontMemory.contributionBytes(s, s.child(f, k), rhs);
      }
      live = FrontMemory.add(live, FrontMemory.contributionBytes(s, f, rhs));
      int bin = 31 - Integer.numberOfLeadingZeros(Math.max(1, s.fn(f)));
      binFronts[bin]++;
      binFlops[bin] += s.frontFlops(f);
    }
    var bins = new java.util.ArrayList<Bin>();
    for (int b = 0; b < 31; b++) {
      if (binFronts[b] > 0) {
        bins.add(new Bin(1 << b, (1 << b) + ((1 << b) - 1), binFronts[b], binFlops[b]));
      }
    }
    double flops = s.flops();
    return new SymbolicSummary(
        new Matrix(s.rows(), s.columns(), s.nonzeros(), s.singletons()),
        new Ordering(s.orderingUsed(), s.orderingReason()),
        new Work(
            entriesOfR,
            flops,
            Arrays.stream(TileFlops.ofDevice(s, rhs)).sum(),
            longest,
            s.intensity()),
        new Tree(
            nf,
            leaves,
            height,
            largest < 0 ? 0 : s.fm(largest),
            largest < 0 ? 0 : s.fn(largest),
            allBytes,
            peak),
        bins,
        new Seconds(s.data().orderSeconds(), s.data().analyzeSeconds()));
  }

  /** {@link Matrix#rows}. */
  public long rows() {
    return matrix.rows;
  }

  /** {@link Matrix#columns}. */
  public int columns() {
    return matrix.columns;
  }

  /** {@link Matrix#nonzeros}. */
  public long nonzeros() {
    return matrix.nonzeros;
  }

  /** {@link Matrix#singletons}. */
  public int singletons() {
    return matrix.singletons;
  }

  /** {@link Ordering#method}. */
  public OrderingMethod ordering() {
    return order.method;
  }

  /** {@link Ordering#reason}. */
  public String orderingReason() {
    return order.reason;
  }

  /** {@link Work#nonzerosOfR}. */
  public double nonzerosOfR() {
    return work.nonzerosOfR;
  }

  /** {@link Work#flops}. */
  public double flops() {
    return work.flops;
  }

  /** {@link Work#tileFlops}. */
  public double tileFlops() {
    return work.tileFlops;
  }

  /** {@link Work#criticalPathFlops}. */
  public double criticalPathFlops() {
    return work.criticalPathFlops;
  }

  /** {@link Tree#fronts}. */
  public int fronts() {
    return tree.fronts;
  }

  /** {@link Tree#leaves}. */
  public int leaves() {
    return tree.leaves;
  }

  /** {@link Tree#height}. */
  public int height() {
    return tree.height;
  }

  /** {@link Tree#largestRows}. */
  public long largestRows() {
    return tree.largestRows;
  }

  /** {@link Tree#largestColumns}. */
  public int largestColumns() {
    return tree.largestColumns;
  }

  /** {@link Tree#frontBytes}. */
  public long frontBytes() {
    return tree.frontBytes;
  }

  /** {@link Tree#peakBytes}. */
  public long peakBytes() {
    return tree.peakBytes;
  }

  /** {@link Work#arithmeticIntensity}. */
  public double arithmeticIntensity() {
    return work.arithmeticIntensity;
  }

  /** {@link Seconds#order}. */
  public double orderSeconds() {
    return seconds.order;
  }

  /** {@link Seconds#analyze}. */
  public double analyzeSeconds() {
    return seconds.analyze;
  }

  /** The summary as a page of text. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    line(text, "matrix", "%,d x %,d, %,d nonzeros", matrix.rows, matrix.columns, matrix.nonzeros);
    line(text, "column singletons", "%,d", matrix.singletons);
    line(text, "ordering", "%s (%s), %.3f s", order.method, order.reason, seconds.order);
    line(text, "analysis", "%.3f s", seconds.analyze);
    line(text, "nonzeros of R", "%,.0f", work.nonzerosOfR);
    line(text, "work", "%s", flopsText(work.flops));
    double times = work.flops == 0 ? 1 : work.tileFlops / work.flops;
    line(text, "work in tiles", "%s (%.2f times)", flopsText(work.tileFlops), times);
    double share = work.flops == 0 ? 0 : 100 * work.criticalPathFlops / work.flops;
    line(text, "critical path", "%s (%.1f%%)", flopsText(work.criticalPathFlops), share);
    line(text, "tree", "%,d fronts, %,d leaves, height %,d", tree.fronts, tree.leaves, tree.height);
    line(text, "largest front", "%,d x %,d", tree.largestRows, tree.largestColumns);
    line(text, "memory, all fronts", "%s", bytesText(tree.frontBytes));
    line(text, "memory, postorder", "%s", bytesText(tree.peakBytes));
    line(text, "arithmetic intensity", "%.1f flop/byte", work.arithmeticIntensity);
    text.append("  columns of front      fronts    share of work\n");
    for (Bin bin : histogram) {
      double part = work.flops == 0 ? 0 : 100 * bin.flops / work.flops;
      text.append(
          String.format(
              Locale.ROOT,
              "  %,9d ..%,9d %,9d %8.1f%% %s%n",
              bin.fromColumns,
              bin.toColumns,
              bin.fronts,
              part,
              "#".repeat((int) Math.round(part / 2.5))));
    }
    return text.toString();
  }

  private static void line(StringBuilder text, String name, String format, Object... values) {
    text.append(String.format(Locale.ROOT, "%-21s ", name));
    text.append(String.format(Locale.ROOT, format, values)).append('\n');
  }

  /** Flops with a unit, such as "1.90 Tflop". */
  public static String flopsText(double flops) {
    String[] unit = {"flop", "kflop", "Mflop", "Gflop", "Tflop", "Pflop", "Eflop"};
    return scaled(flops, 1000, unit);
  }

  /** Bytes with a unit, such as "3.20 GiB". */
  public static String bytesText(double bytes) {
    String[] unit = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    return scaled(bytes, 1024, unit);
  }

  private static String scaled(double value, int step, String[] unit) {
    double v = value;
    int k = 0;
    while (v >= step && k + 1 < unit.length) {
      v /= step;
      k++;
    }
    return String.format(Locale.ROOT, k == 0 ? "%.0f %s" : "%.2f %s", v, unit[k]);
  }
}
