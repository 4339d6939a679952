/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.dependence;

import io.sparqr.spark.engine.JobScope;
import io.sparqr.spark.plan.SolvePlan;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Vectors of the null space of A (columns equilibrated) from R: each is given in the dead columns,
 * and otherwise determined by R x = 0. Computed by back substitutions in batches; only nonzeros are
 * stored, because in regression designs a vector seldom extends beyond a connected component.
 *
 * <p>|R x| is at most c eps |R| |x| whatever the condition of R. A combination of such vectors that
 * is much smaller than they are does not inherit that; it has to be computed again from its own
 * values in the dead columns.
 */
final class NullSpace {

  private static final int BATCH = 64;

  /** Maximum number of values in a batch, 64 MB. */
  private static final long BATCH_VALUES = 8 << 20;

  /** Bytes per nonzero. */
  static final long ENTRY_BYTES = 12;

  /**
   * Values below this fraction of a vector's largest can be left out. Where R is ill-conditioned,
   * larger ones may stand for zeros as well; but they belong together, and |R x| is larger without
   * them.
   */
  static final double NOISE = 16 * Math.ulp(1.0);

  /** The fraction where memory does not suffice. */
  private static final double COARSE = 1e-13;

  private final FactoredMatrix of;
  private final JobScope scope;
  private boolean cut;

  NullSpace(FactoredMatrix of, JobScope scope) {
    this.of = of;
    this.scope = scope;
  }

  /**
   * The basis in which each vector is 1 in one dead column and 0 in the others.
   *
   * @param most maximum bytes for the basis
   * @return none if it needs more
   */
  @Nullable List<SparseVector> basis(long most) {
    var unit = new ArrayList<SparseVector>();
    for (int j : of.dead()) {
      unit.add(new SparseVector(new int[] {j}, new double[] {1}));
    }
    return from(unit, most);
  }

  /**
   * The vectors with these values in the dead columns.
   *
   * @param given their values in the dead columns
   * @param most maximum bytes
   * @return none if they need more
   */
  @Nullable List<SparseVector> from(List<SparseVector> given, long most) {
    List<SparseVector> vectors = cut ? null : from(given, most, NOISE);
    if (vectors == null) {
      vectors = from(given, most, COARSE);
      cut = true;
    }
    return vectors;
  }

  private @Nullable List<SparseVector> from(List<SparseVector> given, long most, double drop) {
    SolvePlan plan = of.plan();
    int n = plan.analysis().columns();
    int batch = (int) Math.max(1, Math.min(BATCH, BATCH_VALUES / n));
    var vectors = new ArrayList<SparseVector>();
    long bytes = 0;
    for (int from = 0; from < given.size(); from += batch) {
      int width = Math.min(batch, given.size() - from);
      double[] z = plan.vector(width);
      for (int k = 0; k < width; k++) {
        SparseVector v = given.get(from + k);
        for (int i = 0; i < v.count(); i++) {
          z[plan.position(v.column()[i]) * width + k] = v.value()[i];
        }
      }
      double[] byColumn = of.homogeneous(z, width, scope);
      for (int k = 0; k < width; k++) {
        SparseVector v = SparseVector.of(byColumn, k, width, drop);
        bytes += ENTRY_BYTES * v.count();
        if (bytes > most) {
          return null;
        }
        vectors.add(v);
      }
    }
    return vectors;
  }

  /** Whether values were left out that matter. */
  boolean isCut() {
    return cut;
  }
}
