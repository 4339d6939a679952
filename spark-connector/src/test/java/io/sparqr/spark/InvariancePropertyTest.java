/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.error.NonFiniteSolutionException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.sparse.Permutation;
import io.sparqr.symbolic.Amalgamation;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The answer does not depend on how the problem is written or partitioned. */
@Tag("numbers")
class InvariancePropertyTest {

  private static final long SEED = Long.getLong("test.seed", 20260106L);
  private static final int ITERATIONS = Integer.getInteger("test.iters", 2);

  private final Random random = new Random(SEED);

  private record Case(CsrMatrix a, double[] b, LeastSquaresSolution reference, double tolerance) {
    double ofResidual() {
      double size = Tolerances.size(a, b, reference.x());
      return Tolerances.ofResidual(reference.residualNorm(), size);
    }
  }

  /** A random full-rank problem with singletons, and its solution with default options. */
  private Case draw() {
    int n = 20 + random.nextInt(60);
    CsrMatrix square = Problems.random(3 * n, n, 2 + random.nextInt(3), random.nextLong());
    CsrMatrix a = Problems.withSingletons(square, random.nextInt(5), random.nextLong());
    double[] b = Problems.rhs(a.rows(), random.nextLong());
    LeastSquaresSolution s = GpuSparseQR.solve(Problems.rdd(a, 2, b));
    // the condition of these problems is under 1e4 for the seeds that pass the rank test
    double tolerance = 1e4 * 20 * Math.ulp(1.0) * Problems.norm(s.x());
    return new Case(a, b, s, tolerance);
  }

  private static void same(Case c, LeastSquaresSolution s, String what) {
    assertThat(s.rank()).as("%s, seed %d", what, SEED).isEqualTo(c.reference.rank());
    assertThat(s.residualNorm())
        .as("%s, seed %d", what, SEED)
        .isCloseTo(c.reference.residualNorm(), within(c.ofResidual()));
    if (c.reference.rank() == c.a.columns()) {
      assertThat(s.x())
          .as("%s, seed %d", what, SEED)
          .containsExactly(c.reference.x(), within(c.tolerance));
    }
  }

  @Test
  void orderOfRowsAndNumberOfPartitions() {
    for (int i = 0; i < ITERATIONS; i++) {
      Case c = draw();
      List<SparseRow> rows = new ArrayList<>(Problems.rows(c.a, c.b));
      Collections.shuffle(rows, random);
      int partitions = 1 + random.nextInt(5);
      var rdd = LocalSpark.context().parallelize(rows, partitions);
      same(c, GpuSparseQR.builder().partitions(1 + random.nextInt(4)).solve(rdd), "rows");
    }
  }

  @Test
  void orderOfColumnsAndOfEntriesInARow() {
    for (int i = 0; i < ITERATIONS; i++) {
      Case c = draw();
      int n = c.a.columns();
      List<Integer> shuffled = new ArrayList<>(IntStream.range(0, n).boxed().toList());
      Collections.shuffle(shuffled, random);
      List<SparseRow> rows =
          Problems.rows(c.a, c.b).stream()
              .map(
                  r ->
                      new SparseRow(
                          IntStream.of(r.indices()).map(shuffled::get).toArray(),
                          r.values(),
                          r.labels(),
                          1,
                          n))
              .toList();
      LeastSquaresSolution s = GpuSparseQR.solve(LocalSpark.context().parallelize(rows, 3));
      double[][] back = {new double[n]};
      for (int j = 0; j < n; j++) {
        back[0][j] = s.x()[shuffled.get(j)];
      }
      same(
          c,
          new LeastSquaresSolution(back, s.residualNorms(), s.rank(), s.deadColumns(), s.report()),
          "columns");
    }
  }

  @Test
  void orderingAmalgamationAndCut() {
    for (int i = 0; i < ITERATIONS; i++) {
      Case c = draw();
      var rdd = Problems.rdd(c.a, 2, c.b);
      OrderingMethod[] methods = {
        OrderingMethod.COLAMD,
        OrderingMethod.AMD,
        OrderingMethod.NESTED_DISSECTION,
        OrderingMethod.NATURAL
      };
      for (int levels = 1; levels <= 4; levels++) {
        var cut = new PartitionOptions(1 + random.nextInt(3), 4, levels, 0);
        LeastSquaresSolution s =
            GpuSparseQR.builder()
                .ordering(methods[(i + levels) % methods.length])
                .amalgamation(random.nextBoolean() ? Amalgamation.none() : Amalgamation.defaults())
                .singletons(random.nextBoolean())
                .equilibrate(random.nextBoolean())
                .executors(1 + random.nextInt(3))
                .partitionOptions(cut)
                .solve(rdd);
        same(c, s, "ordering " + s.report().analysis().ordering() + ", " + cut);
      }
      List<Integer> order = new ArrayList<>(IntStream.range(0, c.a.columns()).boxed().toList());
      Collections.shuffle(order, random);
      var given = new Permutation(order.stream().mapToInt(Integer::intValue).toArray());
      same(c, GpuSparseQR.builder().permutation(given).solve(rdd), "given order");
    }
  }

  @Test
  void scaleOfColumnsAndRightHandSides() {
    for (int i = 0; i < ITERATIONS; i++) {
      Case c = draw();
      int n = c.a.columns();
      int[] power = random.ints(n, -400, 400).toArray();
      int rhsPower = random.nextBoolean() ? 900 : -900;
      List<SparseRow> rows =
          Problems.rows(c.a, c.b).stream()
              .map(
                  r -> {
                    double[] v = r.values().clone();
                    for (int k = 0; k < v.length; k++) {
                      v[k] = Math.scalb(v[k], power[r.indices()[k]]);
                    }
                    double label = Math.scalb(r.labels()[0], rhsPower);
                    return new SparseRow(r.indices(), v, label);
                  })
              .toList();
      GpuSparseQR.Builder builder = GpuSparseQR.builder().columns(n);
      JavaRDD<SparseRow> rdd = LocalSpark.context().parallelize(rows, 2);
      if (leavesTheRange(c.reference.x(), power, rhsPower)) {
        assertThatThrownBy(() -> builder.solve(rdd))
            .as("seed %d", SEED)
            .isInstanceOf(NonFiniteSolutionException.class);
        // R and its rank are there all the same
        try (QRFactorization f = builder.factorize(rdd)) {
          assertThat(f.summary().rankTest().rank())
              .as("seed %d", SEED)
              .isEqualTo(c.reference.rank());
        }
        continue;
      }
      LeastSquaresSolution s = builder.solve(rdd);
      assertThat(s.rank()).as("seed %d", SEED).isEqualTo(c.reference.rank());
      assertThat(Math.scalb(s.residualNorm(), -rhsPower))
          .as("seed %d", SEED)
          .isCloseTo(c.reference.residualNorm(), within(c.ofResidual()));
    }
  }

  /** Whether some x_j 2^(rhsPower - power_j) exceeds the range of doubles. */
  private static boolean leavesTheRange(double[] x, int[] power, int rhsPower) {
    return IntStream.range(0, x.length)
        .anyMatch(j -> Double.isInfinite(Math.scalb(x[j], rhsPower - power[j])));
  }

  @Test
  void aWeightIsAsGoodAsThatManyCopiesOfTheRow() {
    Case c = draw();
    List<SparseRow> weighted = new ArrayList<>();
    List<SparseRow> copied = new ArrayList<>();
    for (SparseRow r : Problems.rows(c.a, c.b)) {
      int w = random.nextInt(4);
      w = r.indices()[r.indices().length - 1] >= c.a.columns() - 5 ? w + 1 : w;
      weighted.add(new SparseRow(r.indices(), r.values(), r.labels(), w, r.columns()));
      copied.addAll(Collections.nCopies(w, r));
    }
    var context = LocalSpark.context();
    LeastSquaresSolution s = GpuSparseQR.solve(context.parallelize(weighted, 2));
    LeastSquaresSolution t = GpuSparseQR.solve(context.parallelize(copied, 2));
    assertThat(s.rank()).as("seed %d", SEED).isEqualTo(t.rank());
    assertThat(s.residualNorm())
        .as("seed %d", SEED)
        .isCloseTo(t.residualNorm(), within(c.tolerance));
    if (s.rank() == c.a.columns()) {
      assertThat(s.x()).as("seed %d", SEED).containsExactly(t.x(), within(1e2 * c.tolerance));
    }
  }
}
