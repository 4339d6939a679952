/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.numeric.MapSideReducer;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.integrity.IntegrityFailure;
import io.sparqr.numeric.integrity.TaskCheck;
import io.sparqr.partition.CombinedRows;
import io.sparqr.spark.plan.SolvePlan;
import java.util.Arrays;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The map-side combine: rows of one partition for the same front are replaced by the R of their QR
 * factorization (TSQR; Demmel, Grigori, Hoemmen, Langou 2012, doi:10.1137/080731992) once it is at
 * most a quarter as large, or at the end if it is at most half as large. The amount of data that a
 * partition sends for a front is thus bounded by the front's size, whatever its number of rows. The
 * caller bypasses this for fronts that can never have this many rows. A reduction is skipped if it
 * takes more flops than its entries are worth ({@link SolvePlan.Numbers#combineFlops}). Every
 * reduction must preserve the column sums of its rows ({@link TaskCheck#verifyRows}); otherwise the
 * rows are sent uncombined.
 */
final class FrontCombiner {

  private static final Logger LOG = LoggerFactory.getLogger(FrontCombiner.class);

  /**
   * Maximum number of entries, of 12 bytes each, held for all fronts together; beyond it all are
   * sent.
   */
  private static final long BUDGET = Math.max(8L << 20, Runtime.getRuntime().maxMemory() / 16 / 12);

  private final SolvePlan plan;
  private final int rhsCount;
  private final CombineChecks checks;
  private final Sink sink;
  private final Reduction reduction;
  private final double[] residual;
  private final TreeMap<Integer, Pending> open = new TreeMap<>();
  private long entries;

  /** The receiver of the rows. */
  interface Sink {
    void add(int front, int[] position, double[] value, int from, int count, double[] b, int bFrom);
  }

  /**
   * The replacement for some rows.
   *
   * @param rows the R of their QR factorization
   * @param residualSquares squares of the right-hand sides eliminated with the other rows
   */
  record Reduced(RowBlock rows, double[] residualSquares) {}

  /** The method that reduces the rows of one front. */
  interface Reduction {
    Reduced of(int front, RowBlock rows);
  }

  private static Reduced reduce(SolvePlan plan, int front, RowBlock rows) {
    var reducer = new MapSideReducer(plan.analysis(), front, rows.rhsCount());
    reducer.add(rows);
    RowBlock r = reducer.finish();
    return new Reduced(r, reducer.residualSquares());
  }

  /** A combiner for one partition. */
  FrontCombiner(SolvePlan plan, CombineChecks checks, Sink sink) {
    this(plan, checks, sink, (front, rows) -> reduce(plan, front, rows));
  }

  /** A combiner with another reduction. */
  FrontCombiner(SolvePlan plan, CombineChecks checks, Sink sink, Reduction reduction) {
    this.reduction = reduction;
    this.plan = plan;
    this.checks = checks;
    this.rhsCount = plan.numbers().rhsCount();
    this.sink = sink;
    this.residual = new double[rhsCount];
  }

  /**
   * Whether combining rows of a front can pay: there can be enough of them, and full rows are worth
   * the flops. Not where the front is taken by its Gram matrix, for which sparse rows cost less.
   */
  static boolean worthwhile(SolvePlan plan, int front) {
    long fn = plan.analysis().fn(front);
    return !plan.analysis().isGram(front)
        && CombinedRows.enough(plan.frontRows(front), fn)
        && flops(1, fn) <= plan.numbers().combineFlops() * fn;
  }

  /** Flops of a QR of this many rows. */
  private static double flops(long rows, long fn) {
    return 2.0 * rows * fn * fn;
  }

  /** Adds a row: count entries, positions ascending. */
  void add(int front, int[] position, double[] value, int count, double[] b) {
    Pending p = open.get(front);
    if (p == null) {
      p = new Pending(plan.analysis().fn(front));
      open.put(front, p);
    }
    p.add(position, value, 0, count, b);
    entries += count;
    if (p.rows >= 2L * p.fn && p.entries >= 4 * p.triangle() && p.isWorthItsFlops()) {
      entries -= p.entries;
      combine(front, p);
      entries += p.entries;
    }
    if (entries > BUDGET) {
      flush();
    }
  }

  /** Sends all rows, reduced where that pays. */
  void flush() {
    // Front by front, so that a front's memory is released once its rows are in batches.
    for (var e = open.pollFirstEntry(); e != null; e = open.pollFirstEntry()) {
      int front = e.getKey();
      Pending p = e.getValue();
      if (CombinedRows.pays(p.rows, p.entries, p.fn) && p.isWorthItsFlops()) {
        combine(front, p);
      }
      for (int i = 0; i < p.rows; i++) {
        int count = p.start[i + 1] - p.start[i];
        sink.add(front, p.position, p.value, p.start[i], count, p.rhs, i * rhsCount);
      }
    }
    entries = 0;
  }

  /** 2-norms of the right-hand sides eliminated by the reductions: parts of the residual. */
  double[] residual() {
    return residual;
  }

  private void combine(int front, Pending p) {
    RowBlock rows = p.block(front);
    Reduced reduced = reduction.of(front, rows);
    RowBlock r = reduced.rows;
    try {
      checks.accepted(
          TaskCheck.verifyRows(plan.analysis(), front, rows, r, reduced.residualSquares));
    } catch (IntegrityFailure e) {
      LOG.warn("front {}: {} combined rows go as they are: {}", front, p.rows, e.getMessage());
      checks.sentAsTheyWere();
      p.stays = true;
      return;
    }
    p.clear();
    double[] b = new double[rhsCount];
    for (int i = 0; i < r.rows(); i++) {
      int from = r.rowStart()[i];
      System.arraycopy(r.rhs(), i * rhsCount, b, 0, rhsCount);
      if (r.rowStart()[i + 1] > from) {
        p.add(r.position(), r.value(), from, r.rowStart()[i + 1] - from, b);
      } else {
        toResidual(b);
      }
    }
    double[] tail = reduced.residualSquares;
    for (int k = 0; k < rhsCount; k++) {
      b[k] = Math.sqrt(tail[k]);
    }
    toResidual(b);
  }

  private void toResidual(double[] b) {
    for (int k = 0; k < rhsCount; k++) {
      residual[k] = Math.hypot(residual[k], b[k]);
    }
  }

  /** Rows held for one front. */
  private final class Pending {
    private final int fn;
    private int rows;
    private long entries;

    /** Whether a reduction of these rows has failed, so that no other is tried. */
    private boolean stays;

    private int[] start = new int[17];
    private int[] position = new int[64];
    private double[] value = new double[64];
    private double[] rhs = new double[16 * rhsCount];

    Pending(int fn) {
      this.fn = fn;
    }

    long triangle() {
      return (long) fn * (fn + 1) / 2;
    }

    boolean isWorthItsFlops() {
      return !stays && flops(rows, fn) <= plan.numbers().combineFlops() * entries;
    }

    RowBlock block(int front) {
      int[] fronts = new int[rows];
      Arrays.fill(fronts, front);
      return new RowBlock(fronts, Arrays.copyOf(start, rows + 1), position, value, rhs, rhsCount);
    }

    void clear() {
      rows = 0;
      entries = 0;
    }

    void add(int[] positions, double[] values, int from, int count, double[] b) {
      if (rows + 1 == start.length) {
        start = Arrays.copyOf(start, 2 * start.length);
        rhs = Arrays.copyOf(rhs, start.length * rhsCount);
      }
      int end = start[rows] + count;
      if (end > position.length) {
        int size = Math.max(end, 2 * position.length);
        position = Arrays.copyOf(position, size);
        value = Arrays.copyOf(value, size);
      }
      System.arraycopy(positions, from, position, start[rows], count);
      System.arraycopy(values, from, value, start[rows], count);
      System.arraycopy(b, 0, rhs, rows * rhsCount, rhsCount);
      start[++rows] = end;
      entries += count;
    }
  }
}
