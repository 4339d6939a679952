/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.SolvePlan;
import java.util.Iterator;
import java.util.Optional;

/**
 * The map side of the row shuffle: weighted, equilibrated rows in positions, keyed by the owner
 * task of the front of their least position, in batches of about 1 MB. Singleton rows (front -1) go
 * to the driver's key; so does one row without entries whose right-hand side is the norm of all
 * rows without entries and of the residual parts of the combine.
 */
public final class RowRouter extends RowShuffle {

  private final FrontCombiner combiner;
  private final double[] empty;
  private final boolean[] combines;

  /**
   * Routes the rows of a partition.
   *
   * @param rows read only if the first reading left none
   * @param left where the first reading may have left them
   * @param checks receives the results of the combine's checks
   */
  public RowRouter(
      SolvePlan plan,
      int partition,
      Iterator<SparseRow> rows,
      Optional<HeldRows> left,
      CombineChecks checks) {
    super(plan, partition, rows, true, left.flatMap(h -> h.rows(partition, plan.readings())));
    this.combiner = new FrontCombiner(plan, checks, this::send);
    this.empty = new double[plan.numbers().rhsCount()];
    this.combines = new boolean[plan.analysis().fronts()];
    for (int f = 0; f < combines.length; f++) {
      combines[f] = !plan.numbers().keepQ() && FrontCombiner.worthwhile(plan, f);
    }
  }

  @Override
  int width() {
    return plan.numbers().rhsCount();
  }

  @Override
  void route() {
    int count = reader.count();
    int[] index = reader.index();
    double[] value = reader.value();
    double[] b = reader.rhs();
    for (int k = 0; k < b.length; k++) {
      b[k] *= plan.rhsScale(k);
    }
    if (count == 0) {
      for (int k = 0; k < b.length; k++) {
        empty[k] = Math.hypot(empty[k], b[k]);
      }
      return;
    }
    for (int k = 0; k < count; k++) {
      value[k] = plan.scaled(index[k], value[k]);
      index[k] = plan.position(index[k]);
    }
    SortedPairs.sort(index, value, count);
    int front = plan.frontOf(index[0]);
    if (front >= 0 && combines[front]) {
      combiner.add(front, index, value, count, b);
    } else {
      send(front, index, value, 0, count, b, 0);
    }
  }

  @Override
  void flush() {
    combiner.flush();
    boolean any = false;
    for (int k = 0; k < empty.length; k++) {
      empty[k] = Math.hypot(empty[k], combiner.residual()[k]);
      any |= empty[k] != 0;
    }
    if (any) {
      send(-1, new int[0], new double[0], 0, 0, empty, 0);
    }
  }
}
