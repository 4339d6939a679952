/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factorization;

import io.sparqr.spark.dependence.BasicColumns;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.inverse.InverseDescent;
import io.sparqr.spark.inverse.InverseNorms;
import io.sparqr.spark.inverse.KeptFront;
import io.sparqr.spark.model.HalfSolve;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.rows.RowSource;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.apache.spark.api.java.JavaRDD;
import org.jspecify.annotations.Nullable;

/**
 * Statistics from a factorization: norms of the rows of R^-1, leverages and products with (A'A)^-1,
 * all for the basic solution in the columns kept by the user's rule. Results that need a descent of
 * the tree are computed once.
 */
final class FactorStatistics {

  /** Vectors of n values on the driver at a time, and their values, 64 MB. */
  private static final int BATCH = 64;

  private static final int BATCH_VALUES = 8 << 20;

  private final Engine engine;
  private final FactorRun made;
  private final NormalInverse inverse;
  private final Held held;
  private double @Nullable [] norms;
  private @Nullable JavaRDD<double[]> leverages;

  /**
   * @param inverse products with the inverse from its R
   * @param held resources with the lifetime of the factorization
   */
  FactorStatistics(Engine engine, FactorRun made, NormalInverse inverse, Held held) {
    this.engine = engine;
    this.made = made;
    this.inverse = inverse;
    this.held = held;
  }

  /** Standard errors for sigma = 1; a copy. */
  double[] unscaledErrors(BasicColumns basic, JobScope scope) {
    if (norms == null) {
      descend(Optional.empty(), Optional.empty(), basic, scope);
    }
    return Objects.requireNonNull(norms).clone();
  }

  /** Leverages of the factorized rows. */
  JavaRDD<double[]> leverages(RowSource source, BasicColumns basic, JobScope scope) {
    if (leverages == null) {
      var rows = Optional.of(new InverseDescent.Observations(source, held));
      leverages = descend(rows, Optional.empty(), basic, scope).leverages();
    }
    return leverages;
  }

  /**
   * (A'A)^-1 on some columns.
   *
   * @param source of rows whose leverages are made in the same descent, if there is one
   * @param kept receives what executors keep
   */
  FactorInverseBlock block(
      int[] columns, Optional<RowSource> source, Held kept, BasicColumns basic, JobScope scope) {
    SolvePlan plan = inverse.plan();
    for (int j : columns) {
      Objects.checkIndex(j, plan.analysis().columns());
    }
    FactorInverseBlock.Solves solves = (u, at, s) -> inverseTimes(u, at, basic, s);
    Optional<KeptFront> front =
        basic.moves() || !inverse.isSelective()
            ? Optional.empty()
            : FactorInverseBlock.front(plan, columns);
    if (front.isEmpty()) {
      return new FactorInverseBlock(plan, solves, columns);
    }
    Optional<InverseDescent.Observations> rows =
        leverages == null
            ? source.map(r -> new InverseDescent.Observations(r, held))
            : Optional.empty();
    var wanted = Optional.of(new InverseDescent.Wanted(front.get(), kept));
    InverseDescent tree = descend(rows, wanted, basic, scope);
    if (rows.isPresent()) {
      leverages = tree.leverages();
    }
    return new FactorInverseBlock(plan, solves, columns, front.get(), tree.strips(), scope);
  }

  private InverseDescent descend(
      Optional<InverseDescent.Observations> rows,
      Optional<InverseDescent.Wanted> wanted,
      BasicColumns basic,
      JobScope scope) {
    var tree =
        new InverseDescent(engine.context(), made.plan(), made.levels(), rows, wanted, scope);
    double[] ofR =
        new InverseNorms(inverse.plan(), inverse.singletons(), inverse.dead(), tree).run();
    norms = basic.errors(inverse.plan(), ofR, inverse.solves(scope));
    return tree;
  }

  /** (A'A)^-1 u for each u. */
  double[][] inverseTimes(List<SparseRow> vectors, BasicColumns basic, JobScope scope) {
    double[][] times = inverse.times(basic.projected(inverse.plan(), vectors), scope);
    basic.move(inverse.plan(), times, scope);
    return times;
  }

  /** (A'A)^-1 u at some columns, for each u. */
  double[][] inverseTimes(
      List<SparseRow> vectors, int[] columns, BasicColumns basic, JobScope scope) {
    for (int j : columns) {
      Objects.checkIndex(j, inverse.plan().analysis().columns());
    }
    if (!basic.moves() && inverse.isSelective()) {
      return inverse.times(vectors, columns, scope);
    }
    double[][] at = new double[vectors.size()][];
    int batch = Math.max(1, Math.min(BATCH, BATCH_VALUES / inverse.plan().analysis().columns()));
    for (int from = 0; from < at.length; from += batch) {
      double[][] some =
          inverseTimes(vectors.subList(from, Math.min(at.length, from + batch)), basic, scope);
      for (int k = 0; k < some.length; k++) {
        double[] z = some[k];
        at[from + k] = Arrays.stream(columns).mapToDouble(j -> z[j]).toArray();
      }
    }
    return at;
  }

  /** R^-T u for each u. */
  HalfSolve halfSolve(List<SparseRow> vectors, BasicColumns basic, JobScope scope) {
    HalfSolve half = inverse.half(vectors, scope);
    if (!basic.moves()) {
      return half;
    }
    // Estimability does not depend on the choice of the dependent columns; the values do.
    HalfSolve moved = inverse.half(basic.projected(inverse.plan(), vectors), scope);
    return new HalfSolve(half.width(), moved.values(), half.estimable());
  }
}
