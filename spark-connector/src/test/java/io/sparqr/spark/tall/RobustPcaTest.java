/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.tall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.Sampled;
import io.sparqr.error.DimensionMismatchException;
import io.sparqr.error.InputChangedException;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.matrix.gallery.LowRankPlusSparse;
import io.sparqr.numeric.Tolerances;
import io.sparqr.numeric.lowrank.DensePursuit;
import io.sparqr.numeric.lowrank.PursuitIteration;
import io.sparqr.numeric.lowrank.PursuitMethod;
import io.sparqr.numeric.lowrank.PursuitOptions;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.internals.StoredBlocks;
import io.sparqr.spark.model.SparseRow;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.ml.linalg.Vectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Known L and S from rows in partitions, and what the local way finds. */
class RobustPcaTest {

  private static final long SEED = Long.getLong("test.seed", 20261128L);

  private static final AtomicInteger READ = new AtomicInteger();

  /** Rows in partitions of these sizes. */
  private static JavaRDD<double[]> rows(double[][] a, int... sizes) {
    List<Integer> numbers = IntStream.range(0, sizes.length).boxed().toList();
    return LocalSpark.context()
        .parallelize(numbers, sizes.length)
        .mapPartitionsWithIndex(
            (p, it) -> {
              int from = IntStream.of(sizes).limit(p).sum();
              return Arrays.asList(a).subList(from, from + sizes[p]).iterator();
            },
            true);
  }

  private static double[] dense(SparseRow row) {
    double[] values = new double[row.columns()];
    for (int k = 0; k < row.indices().length; k++) {
      values[row.indices()[k]] = row.values()[k];
    }
    return values;
  }

  /** Partitions that are empty, or have fewer rows than columns, among them. */
  @Sampled(oneIn = 3)
  @ParameterizedTest
  @EnumSource(PursuitMethod.class)
  void aRandomModelIsRecoveredExactly(PursuitMethod method) {
    var model = new LowRankPlusSparse(240, 60, 3, 0.05, SEED);
    int[] sizes = {0, 100, 7, 0, 93, 40, 0};
    int before = LocalSpark.context().getPersistentRDDs().size();
    try (var found =
        RobustPca.builder().method(method).tolerance(1e-9).decompose(rows(model.matrix(), sizes))) {
      assertThat(found.converged()).isTrue();
      assertThat(found.warnings()).isEmpty();
      assertThat(found.rows()).isEqualTo(240);
      assertThat(found.columns()).isEqualTo(60);
      assertThat(found.rank()).as("seed %d", SEED).isEqualTo(3);
      List<double[]> l = found.lowRank().collect();
      List<double[]> u = found.u().collect();
      List<double[]> s = found.sparse().map(RobustPcaTest::dense).collect();
      assertThat(found.sparse().glom().map(List::size).collect())
          .containsExactly(Arrays.stream(sizes).boxed().toArray(Integer[]::new));
      assertThat(u).hasSize(240);
      for (int i = 0; i < 240; i++) {
        double[] expected = model.lowRank(i);
        double[] sparse = model.sparse(i);
        for (int j = 0; j < 60; j++) {
          double product = 0;
          for (int k = 0; k < 3; k++) {
            product += u.get(i)[k] * found.sigma()[k] * found.v().apply(j, k);
          }
          assertThat(l.get(i)[j])
              .as("seed %d", SEED)
              .isCloseTo(expected[j], within(Tolerances.RECOVERED));
          assertThat(product)
              .isCloseTo(l.get(i)[j], within(Tolerances.of(240, 60, found.sigma()[0])));
          assertThat(s.get(i)[j]).isCloseTo(sparse[j], within(Tolerances.RECOVERED));
        }
      }
      for (int a = 0; a < 3; a++) {
        for (int b = 0; b <= a; b++) {
          double sum = 0;
          for (double[] row : u) {
            sum = Math.fma(row[a], row[b], sum);
          }
          assertThat(sum).isCloseTo(a == b ? 1 : 0, within(Tolerances.of(240, 3, 1)));
        }
      }
      assertThat(found.optimality().dualNorm()).isCloseTo(1, within(Tolerances.RECOVERED));
      assertThat(found.optimality().gap()).isBetween(-Tolerances.CERTIFIED, Tolerances.CERTIFIED);
    }
    assertThat(LocalSpark.context().getPersistentRDDs()).hasSize(before);
  }

  /** Their sums are in another order, and nothing else differs: iteration by iteration. */
  @ParameterizedTest
  @CsvSource({"INEXACT_ALM, 1", "INEXACT_ALM, 5", "ADM, 5"})
  void theLocalWayAndSparksGiveTheSame(PursuitMethod method, int partitions) {
    double[][] matrix = new LowRankPlusSparse(300, 24, 2, 0.05, SEED + 1).matrix();
    int[] sizes = new int[partitions];
    Arrays.fill(sizes, 300 / partitions);
    var builder = RobustPca.builder().method(method).maxIterations(15);
    DensePursuit local = builder.decompose(matrix);
    try (var spark = builder.decompose(rows(matrix, sizes))) {
      assertThat(spark.history()).hasSameSizeAs(local.history());
      for (int k = 0; k < local.history().size(); k++) {
        PursuitIteration here = local.history().get(k);
        PursuitIteration there = spark.history().get(k);
        assertThat(there.rank()).isEqualTo(here.rank());
        assertThat(there.nonzeros()).isEqualTo(here.nonzeros());
        assertThat(there.residual()).isCloseTo(here.residual(), within(Tolerances.of(300, 24, 1)));
        assertThat(there.mu()).isCloseTo(here.mu(), within(Tolerances.of(300, 24, here.mu())));
      }
      double tolerance = Tolerances.of(300, 24, local.sigma()[0]);
      Tolerances.requireClose(spark.sigma(), local.sigma(), tolerance, "sigma");
      List<double[]> l = spark.lowRank().collect();
      for (int i = 0; i < 300; i++) {
        Tolerances.requireClose(l.get(i), local.lowRankRow(i), tolerance, "row " + i);
      }
      double[] values =
          spark.sparse().collect().stream()
              .flatMapToDouble(r -> Arrays.stream(r.values()))
              .toArray();
      Tolerances.requireClose(values, local.s().values(), tolerance, "S");
      assertThat(spark.lambda()).isEqualTo(local.lambda());
    }
  }

  /** Twice, and where all that was stored of an iteration is lost on the way. */
  @Test
  void runsAndLossesChangeNoBit() {
    double[][] matrix = new LowRankPlusSparse(200, 20, 2, 0.05, SEED + 2).matrix();
    int[] sizes = {70, 60, 70};
    double[] expected;
    try (var found = RobustPca.builder().maxIterations(6).decompose(rows(matrix, sizes))) {
      expected = flat(found);
    }
    try (var again = RobustPca.builder().maxIterations(6).decompose(rows(matrix, sizes))) {
      assertThat(flat(again)).isEqualTo(expected);
      for (int rdd : LocalSpark.context().getPersistentRDDs().keySet()) {
        IntStream.range(0, 3).forEach(p -> StoredBlocks.removeEverywhere(rdd, p));
      }
      assertThat(flat(again)).isEqualTo(expected);
    }
  }

  private static double[] flat(RobustPca found) {
    return java.util.stream.Stream.of(
            found.u().collect().stream().flatMapToDouble(Arrays::stream),
            found.lowRank().collect().stream().flatMapToDouble(Arrays::stream),
            found.sparse().collect().stream().flatMapToDouble(r -> Arrays.stream(r.values())),
            Arrays.stream(found.sigma()),
            Arrays.stream(found.v().toArray()),
            found.history().stream().mapToDouble(PursuitIteration::residual))
        .flatMapToDouble(s -> s)
        .toArray();
  }

  @Test
  void vectorsAndSparseRowsAreTaken() {
    double[][] matrix = new LowRankPlusSparse(50, 5, 1, 0.1, SEED + 3).matrix();
    JavaRDD<double[]> rows = rows(matrix, 20, 30);
    var builder = RobustPca.builder().maxIterations(4);
    int[] all = {0, 1, 2, 3, 4};
    double[] expected;
    try (var found = builder.decompose(rows)) {
      expected = flat(found);
    }
    for (JavaRDD<?> form :
        List.of(
            rows.map(Vectors::dense),
            rows.map(row -> new SparseRow(all, row, new double[0], 1, 5)))) {
      try (var found = builder.decompose(form)) {
        assertThat(flat(found)).isEqualTo(expected);
      }
    }
  }

  @Test
  void anEmptyLowRankPartHasRowsWithoutValues() {
    double[][] matrix = new LowRankPlusSparse(40, 4, 1, 0.1, SEED).matrix();
    try (var found = RobustPca.builder().lambda(1e-3).decompose(rows(matrix, 10, 30))) {
      assertThat(found.rank()).isZero();
      assertThat(found.sigma()).isEmpty();
      assertThat(found.v().numRows()).isEqualTo(4);
      assertThat(found.u().collect()).hasSize(40).allMatch(row -> row.length == 0);
      assertThat(found.lowRank().collect()).allMatch(row -> Arrays.equals(row, new double[4]));
    }
  }

  @Test
  void fewerIterationsThanNeededAreAWarning() {
    double[][] matrix = new LowRankPlusSparse(60, 6, 1, 0.1, SEED).matrix();
    try (var found = RobustPca.builder().maxIterations(2).decompose(rows(matrix, 60))) {
      assertThat(found.converged()).isFalse();
      assertThat(found.history()).hasSize(2);
      assertThat(found.warnings()).hasSize(1);
      assertThat(found.warnings().get(0)).startsWith("not converged: after 2 iterations ");
    }
  }

  @Test
  void badInputIsOneError() {
    double[][] a = new LowRankPlusSparse(20, 3, 1, 0.1, SEED).matrix();
    int before = LocalSpark.context().getPersistentRDDs().size();
    requireError(rows(a, 0, 0), MatrixFormatException.class, "the input has no rows");
    requireError(
        rows(new double[6][2], 3, 3),
        MatrixFormatException.class,
        "all values are zero: there is nothing to find");
    requireError(
        rows(new LowRankPlusSparse(4, 9, 1, 0.1, SEED).matrix(), 2, 2),
        DimensionMismatchException.class,
        "4 rows, 9 columns: a tall matrix has at least as many rows as columns");
    double[][] ragged = a.clone();
    ragged[7] = new double[4];
    requireError(
        rows(ragged, 5, 15),
        DimensionMismatchException.class,
        "row 2 of partition 1 has 4 values, those before it 3");
    double[][] others = a.clone();
    Arrays.fill(others, 0, 5, new double[] {1, 2});
    requireError(
        rows(others, 5, 15),
        DimensionMismatchException.class,
        "rows below node 1 of the tree have 3 columns, others 2");
    a[6][1] = Double.NEGATIVE_INFINITY;
    requireError(
        rows(a, 5, 15),
        NonFiniteValueException.class,
        "row 1 of partition 1 has -Infinity in column 1");
    assertThatThrownBy(() -> RobustPca.builder().lambda(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("lambda 0.0: a finite number above 0");
    assertThatThrownBy(() -> RobustPca.builder().tolerance(1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> RobustPca.builder().maxIterations(0))
        .isInstanceOf(IllegalArgumentException.class);
    double[][] good = new LowRankPlusSparse(20, 3, 1, 0.1, SEED).matrix();
    RobustPca closed = RobustPca.builder().maxIterations(2).decompose(rows(good, 20));
    closed.close();
    assertThatThrownBy(closed::u)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the decomposition is closed");
    assertThatThrownBy(closed::sparse).isInstanceOf(IllegalStateException.class);
    assertThat(LocalSpark.context().getPersistentRDDs()).hasSize(before);
  }

  private static void requireError(JavaRDD<double[]> rows, Class<?> type, String message) {
    assertThatThrownBy(() -> RobustPca.builder().decompose(rows))
        .isInstanceOf(type)
        .hasMessage(message);
  }

  /** The rows are read again after a loss, and one value is another. */
  @Test
  void rowsThatChangeAreSeen() {
    double[][] a = new LowRankPlusSparse(40, 3, 1, 0.1, SEED).matrix();
    READ.set(0);
    JavaRDD<double[]> changing =
        LocalSpark.context()
            .parallelize(List.of(0, 1), 2)
            .mapPartitionsWithIndex(
                (p, it) -> {
                  double[][] rows = a.clone();
                  if (p == 1 && READ.getAndIncrement() > 0) {
                    rows[39] = new double[] {1, 2, Math.nextUp(a[39][2])};
                  }
                  return Arrays.asList(rows).subList(20 * p, 20 * p + 20).iterator();
                },
                true);
    PursuitOptions options = PursuitOptions.DEFAULTS.withMaxIterations(2);
    try (var jobs = PursuitJobs.run(changing, options)) {
      assertThat(jobs.dual().height).isEqualTo(3);
      for (int rdd : LocalSpark.context().getPersistentRDDs().keySet()) {
        IntStream.range(0, 2).forEach(p -> StoredBlocks.removeEverywhere(rdd, p));
      }
      assertThatThrownBy(jobs::dual)
          .isInstanceOf(InputChangedException.class)
          .hasMessage("rows below node 0 of the tree were others when they were read again");
    }
  }
}
