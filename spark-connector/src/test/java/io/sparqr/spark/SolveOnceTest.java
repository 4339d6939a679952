/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A solve keeps no R: its tasks solve at once. It gives the bits of a factorization that keeps R.
 */
@Tag("numbers")
class SolveOnceTest {

  private static final long SEED = Long.getLong("test.seed", 20261124L);

  private static void assertSameAsKept(
      CsrMatrix a, UnaryOperator<GpuSparseQR.Builder> options, String what, double[]... b) {
    SparseQRSolver solver = options.apply(GpuSparseQR.builder()).build();
    LeastSquaresSolution once = solver.solve(Problems.rdd(a, 3, b));
    assertThat(LocalSpark.context().getPersistentRDDs()).as(what).isEmpty();
    try (QRFactorization f = solver.factorize(Problems.rdd(a, 3, b))) {
      LeastSquaresSolution kept = f.solve();
      assertThat(once.rank()).as(what).isEqualTo(kept.rank());
      assertThat(once.deadColumns()).as(what).containsExactly(kept.deadColumns());
      assertThat(once.residualNorms()).as(what).containsExactly(kept.residualNorms());
      assertThat(once.rhsCount()).isEqualTo(b.length);
      for (int k = 0; k < b.length; k++) {
        assertThat(once.x(k)).as("%s, seed %d", what, SEED).containsExactly(kept.x(k));
      }
      assertThat(once.report().analysis()).as(what).isEqualTo(kept.report().analysis());
    }
  }

  @Test
  void theBitsOfAKeptFactorization() {
    for (int seed = 0; seed < 4; seed++) {
      CsrMatrix a = Problems.random(300 + 40 * seed, 90, 3 + seed, SEED + seed);
      double[] b = Problems.rhs(a.rows(), SEED + seed);
      double[] c = Problems.rhs(a.rows(), SEED - 1 - seed);
      assertSameAsKept(a, o -> o, "as it is", b);
      assertSameAsKept(a, o -> o, "two right-hand sides", b, c);
      assertSameAsKept(a, o -> o.ridge(0.1), "ridge", b);
      assertSameAsKept(a, o -> o.refinement(1), "refined, so that R is kept", b);
      assertSameAsKept(a, o -> o.check(true), "checked", b);
    }
  }

  @Test
  void dependentColumns() {
    CsrMatrix wide = Problems.random(60, 90, 4, SEED);
    double[] b = Problems.rhs(60, SEED);
    assertSameAsKept(wide, o -> o, "more columns than rows", b);
    assertSameAsKept(wide, o -> o.dropLater(true), "with a choice, so that R is kept", b);
  }

  /** Nothing of R's size is stored: only the reports and x. */
  @Test
  void storesNoR() {
    var stored = new AtomicLong();
    CsrMatrix a = Problems.random(3000, 400, 4, SEED);
    try (var listening = new StoredBytes(LocalSpark.context(), stored)) {
      GpuSparseQR.solve(Problems.rdd(a, 3, Problems.rhs(3000, SEED)));
      listening.settle();
    }
    // x, the dense vector of 400 columns, and reports; R has 400 x 401 / 2 entries
    assertThat(stored.get()).isBetween(400L * 8, 40_000L);
  }
}
