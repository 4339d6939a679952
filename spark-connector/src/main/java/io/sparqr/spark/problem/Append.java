/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.problem;

import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.factorization.Earlier;
import io.sparqr.spark.factorization.FactorState;
import io.sparqr.spark.factorization.StartingFactor;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.pipeline.Pipeline;
import io.sparqr.spark.plan.Ridge;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.sparse.Permutation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Adds new rows to a factorization by QR of [A2; R; t]. A2 are the new rows; R and Q'b, as its
 * labels, the earlier factor; t is a row without entries whose labels are the norms of the parts of
 * the right-hand sides outside the range of R, so that the residual norms come out right without
 * further work. Columns new to R start with their ridge rows if there is a ridge; those of the
 * other columns are already in R.
 */
public final class Append {

  private final RowSource added;
  private final StartingFactor factor;

  /**
   * @param added new rows, with as many right-hand sides
   * @param factor the earlier factorization
   */
  public Append(RowSource added, StartingFactor factor) {
    this.added = added;
    this.factor = factor;
  }

  /**
   * The factorization of all rows.
   *
   * @throws IllegalArgumentException if there are new columns and a ridge with one lambda per
   *     column
   */
  public FactorState run() {
    int columns = factor.columns();
    double[] tail = factor.tail();
    Earlier before = factor.before();
    JavaSparkContext context = added.context();
    int n =
        Math.max(columns, Math.max(factor.options().input().columns().orElse(-1), width(context)));
    Ridge ridge = before.ridge();
    if (n > columns && ridge.any() && !ridge.uniform()) {
      throw new IllegalArgumentException(
          "%d new columns, and a ridge of one lambda a column that has none for them"
              .formatted(n - columns));
    }
    List<SparseRow> further = new ArrayList<>();
    further.add(new SparseRow(new int[0], new double[0], tail.clone(), 1, n));
    for (int j = columns; j < n && ridge.any(); j++) {
      double[] root = {Math.sqrt(ridge.of(j))};
      further.add(new SparseRow(new int[] {j}, root, new double[tail.length], 1, n));
    }
    JavaRDD<SparseRow> known =
        factor.rows().rows().map(r -> new SparseRow(r.indices(), r.values(), r.labels(), 1, n));
    // New rows first, so that an error names the caller's partition.
    JavaRDD<SparseRow> all =
        added.rows().union(known).union(context.parallelize(further, 1)).setName("sparqr [A2; R]");
    Earlier earlier =
        new Earlier(added.rows().getNumPartitions(), before.rows(), before.nonzeros(), ridge);
    return Pipeline.factorize(RowSource.of(all), options(n), factor.listener(), earlier);
  }

  /** n as shown by the new rows; invalid rows are rejected later, when they are read. */
  private int width(JavaSparkContext context) {
    return JobScope.run(
        context,
        "columns of the new rows",
        () -> added.rows().map(Append::width).fold(0, Math::max));
  }

  private static int width(SparseRow row) {
    int width = row == null ? 0 : row.columns();
    for (int k = 0; row != null && k < row.indices().length; k++) {
      int j = row.indices()[k];
      width = row.values()[k] == 0 || j == Integer.MAX_VALUE ? width : Math.max(width, j + 1);
    }
    return width;
  }

  /** The earlier options, without those specific to the earlier rows. */
  private SolveOptions options(int n) {
    SolveOptions o =
        factor
            .options()
            .with(factor.options().input().withColumns(n))
            .with(factor.options().analysis().withKnown(Optional.empty()))
            .with(factor.options().problem().withRidge(Ridge.NONE))
            .with(factor.options().factorization().withKeepQ(false));
    Optional<Permutation> given = o.analysis().symbolic().given();
    if (given.isEmpty() || given.get().size() >= n) {
      return o;
    }
    int[] order = Arrays.copyOf(given.get().toArray(), n);
    for (int p = given.get().size(); p < n; p++) {
      order[p] = p;
    }
    return o.with(
        o.analysis().withSymbolic(o.analysis().symbolic().withGiven(new Permutation(order))));
  }
}
