/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.numeric.SingletonRows;
import io.sparqr.spark.exchange.PlanHandle;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.rows.SortedPairs;
import io.sparqr.spark.stored.FactorSegment;
import io.sparqr.spark.stored.KeptFronts;
import io.sparqr.spark.stored.Reading;
import io.sparqr.spark.stored.TaskOutput;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * R as rows of a least-squares problem in the caller's columns and units: row i is row i of R D^-1
 * P', with row i of Q'b as its labels. Rank x n, of full row rank; every solution of these
 * equations minimizes ||b - A x||. The rows stay on the executors that hold R.
 */
public final class FactorRows {

  private FactorRows() {}

  /** Rows of the levels' fronts from the lowest level up, then the singletons'. */
  public static RowSource of(
      JavaSparkContext context,
      PlanHandle broadcast,
      SingletonRows singletons,
      FactorLevels levels) {
    JavaRDD<SparseRow> all = null;
    for (int l = 0; l < levels.count(); l++) {
      JavaRDD<SparseRow> level =
          levels.level(l).mapPartitions(kept -> new Rows(broadcast.value(), kept));
      all = all == null ? level : all.union(level);
    }
    if (singletons.count() > 0) {
      JavaRDD<SparseRow> first = context.parallelize(rows(broadcast.value(), singletons));
      all = all == null ? first : all.union(first);
    }
    return RowSource.of(all == null ? context.<SparseRow>emptyRDD() : all);
  }

  private static List<SparseRow> rows(SolvePlan plan, SingletonRows r) {
    var rows = new ArrayList<SparseRow>(r.count());
    for (int p = 0; p < r.count(); p++) {
      int from = r.rowStart()[p];
      int count = r.rowStart()[p + 1] - from;
      int width = r.rhsCount();
      double[] rhs = new double[width];
      System.arraycopy(r.rhs(), p * width, rhs, 0, width);
      rows.add(row(plan, r.position(), r.value(), from, count, rhs));
    }
    return rows;
  }

  /** Converts a row by position into an unscaled row by original column. */
  private static SparseRow row(
      SolvePlan plan, int[] position, double[] value, int from, int count, double[] rhs) {
    int[] index = new int[count];
    double[] unscaled = new double[count];
    for (int k = 0; k < count; k++) {
      index[k] = plan.analysis().permutation().original(position[from + k]);
      unscaled[k] = plan.unscaled(index[k], value[from + k]);
    }
    SortedPairs.sort(index, unscaled, count);
    for (int k = 0; k < rhs.length; k++) {
      rhs[k] /= plan.rhsScale(k);
    }
    return new SparseRow(index, unscaled, rhs, 1, plan.analysis().columns());
  }

  /** The rows of R in a task's stored content. */
  private static final class Rows implements Iterator<SparseRow> {
    private final SolvePlan plan;
    private final Iterator<TaskOutput> kept;
    private final Reading reading = new Reading();
    private Iterator<FactorSegment> segments = Collections.emptyIterator();
    private Iterator<SparseRow> segment = Collections.emptyIterator();

    Rows(SolvePlan plan, Iterator<TaskOutput> kept) {
      this.plan = plan;
      this.kept = kept;
    }

    @Override
    public boolean hasNext() {
      while (!segment.hasNext()) {
        if (segments.hasNext()) {
          segment = rows(segments.next());
        } else if (kept.hasNext()) {
          reading.close();
          segments = KeptFronts.rows(List.of(kept.next()).iterator(), 1, reading).iterator();
        } else {
          reading.close();
          return false;
        }
      }
      return true;
    }

    @Override
    public SparseRow next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      return segment.next();
    }

    private Iterator<SparseRow> rows(FactorSegment s) {
      SymbolicAnalysis a = plan.analysis();
      int[] position = new int[s.fn()];
      for (int k = 0; k < position.length; k++) {
        position[k] = a.column(s.front(), k);
      }
      double[] row = new double[s.fn()];
      int width = plan.numbers().rhsCount();
      return IntStream.range(0, s.rows())
          .mapToObj(
              i -> {
                s.row(i, row);
                double[] rhs = new double[width];
                for (int k = 0; k < width; k++) {
                  rhs[k] = s.rhs(i, k);
                }
                int pivot = s.livePivot(i);
                return row(plan, position, row, pivot, s.fn() - pivot, rhs);
              })
          .iterator();
    }
  }
}
