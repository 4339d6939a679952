/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.sparqr.Sampled;
import io.sparqr.configuration.Keys;
import io.sparqr.error.DimensionMismatchException;
import io.sparqr.spark.exchange.Exchange;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.rows.ParsedRows;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.apache.spark.api.java.JavaRDD;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Later right-hand sides with the rows that an earlier pass has copied, and without. */
class CopiedRowsTest {

  private static final long SEED = Long.getLong("test.seed", 20261125L);
  private static final int M = 240;
  private static final int N = 60;
  private static final int PARTITIONS = 4;
  private static final AtomicInteger READ = new AtomicInteger();

  private long left;
  private int open;

  @BeforeEach
  void room() {
    left = ParsedRows.room().left();
    open = Exchange.open();
  }

  @AfterEach
  void roomAgain() {
    System.clearProperty(Keys.ROW_COPY_SHARE.name());
    assertThat(ParsedRows.room().left()).isEqualTo(left);
    assertThat(Exchange.open()).isEqualTo(open);
  }

  private static List<List<SparseRow>> parts(double zeroWeights, boolean weights) {
    CsrMatrix a = Problems.random(M, N, 4, SEED);
    double[] b = Problems.rhs(M, SEED);
    var random = new Random(SEED);
    var parts = new ArrayList<List<SparseRow>>();
    for (int p = 0; p < PARTITIONS; p++) {
      parts.add(new ArrayList<>());
    }
    // partition 2 stays empty, and partition 3 ends with a row of weight 0
    int[] used = {0, 1, 3};
    for (SparseRow r : Problems.rows(a, b)) {
      double weight =
          random.nextDouble() < zeroWeights ? 0 : weights ? 0.5 + random.nextDouble() : 1;
      parts
          .get(used[random.nextInt(used.length)])
          .add(new SparseRow(r.indices(), r.values(), r.labels(), weight, N));
    }
    if (zeroWeights > 0) {
      parts.get(3).add(new SparseRow(new int[] {1}, new double[] {1}, new double[] {1}, 0, N));
    }
    return parts;
  }

  private static JavaRDD<SparseRow> rdd(List<List<SparseRow>> parts) {
    return LocalSpark.context()
        .parallelize(List.of(0, 1, 2, 3), PARTITIONS)
        .mapPartitionsWithIndex(
            (p, it) -> {
              READ.incrementAndGet();
              return parts.get(p).iterator();
            },
            true);
  }

  private static JavaRDD<double[]> labels(List<List<SparseRow>> parts, int width, long seed) {
    return LocalSpark.context()
        .parallelize(List.of(0, 1, 2, 3), PARTITIONS)
        .mapPartitionsWithIndex(
            (p, it) -> {
              var random = new Random(seed + p);
              return parts.get(p).stream()
                  .map(r -> random.doubles(width, -1, 1).toArray())
                  .toList()
                  .iterator();
            },
            true);
  }

  private static List<LeastSquaresSolution> threeSolves(
      List<List<SparseRow>> parts, int width, UnaryOperator<GpuSparseQR.Builder> options) {
    var found = new ArrayList<LeastSquaresSolution>();
    try (QRFactorization f = options.apply(GpuSparseQR.builder()).factorize(rdd(parts))) {
      for (int k = 0; k < 3; k++) {
        found.add(f.solve(labels(parts, width, SEED + k)));
      }
    }
    return found;
  }

  private static void assertSameBits(
      String what,
      List<List<SparseRow>> parts,
      int width,
      UnaryOperator<GpuSparseQR.Builder> options) {
    List<LeastSquaresSolution> copied = threeSolves(parts, width, options);
    System.setProperty(Keys.ROW_COPY_SHARE.name(), "0");
    List<LeastSquaresSolution> read = threeSolves(parts, width, options);
    System.clearProperty(Keys.ROW_COPY_SHARE.name());
    for (int s = 0; s < 3; s++) {
      assertThat(copied.get(s).residualNorms())
          .as("%s, seed %d", what, SEED)
          .containsExactly(read.get(s).residualNorms());
      assertThat(copied.get(s).rhsCount()).isEqualTo(width);
      for (int k = 0; k < width; k++) {
        assertThat(copied.get(s).x(k))
            .as("%s, seed %d", what, SEED)
            .containsExactly(read.get(s).x(k));
      }
    }
  }

  @Sampled(oneIn = 3)
  @Test
  void theBitsOfPassesThatReadTheRows() {
    assertSameBits("plain", parts(0, false), 1, o -> o);
    assertSameBits("three right-hand sides", parts(0, false), 3, o -> o);
    assertSameBits("weights", parts(0, true), 2, o -> o);
    assertSameBits("some weights 0", parts(0.2, true), 1, o -> o.ridge(0.1));
    assertSameBits("most weights 0", parts(0.7, false), 1, o -> o.ridge(1));
    assertSameBits("nearly all weights 0", parts(0.97, false), 2, o -> o.ridge(1));
    assertSameBits("refined and checked", parts(0.1, true), 1, o -> o.refinement(3).check(true));
  }

  /** Reading: pattern, the first pass of the first solve; then nothing. */
  @Test
  void rowsAreReadAgainOnlyOnce() {
    List<List<SparseRow>> parts = parts(0.1, true);
    READ.set(0);
    threeSolves(parts, 1, o -> o);
    assertThat(READ.get()).isEqualTo(2 * PARTITIONS);
    READ.set(0);
    System.setProperty(Keys.ROW_COPY_SHARE.name(), "0");
    threeSolves(parts, 1, o -> o);
    assertThat(READ.get()).isEqualTo((2 + 3 * 2) * PARTITIONS);
  }

  private static JavaRDD<double[]> changed(
      List<List<SparseRow>> parts, int partition, int row, Supplier<double[]> label) {
    List<List<double[]>> all = new ArrayList<>();
    for (List<SparseRow> part : parts) {
      all.add(new ArrayList<>(part.stream().map(r -> new double[] {1}).toList()));
    }
    double[] to = label.get();
    if (to == null) {
      all.get(partition).remove(row);
    } else if (row < all.get(partition).size()) {
      all.get(partition).set(row, to);
    } else {
      all.get(partition).add(to);
    }
    return LocalSpark.context()
        .parallelize(List.of(0, 1, 2, 3), PARTITIONS)
        .mapPartitionsWithIndex((p, it) -> all.get(p).iterator(), true);
  }

  /** Wrong right-hand sides are refused in the same words, whether the rows are read or not. */
  @Test
  void wrongRightHandSidesAreRefusedInTheSameWords() {
    List<List<SparseRow>> parts = parts(0.2, true);
    List<JavaRDD<double[]>> wrong =
        List.of(
            changed(parts, 3, 2, () -> new double[] {Double.NaN}),
            changed(parts, 0, 4, () -> new double[] {1, 2}),
            changed(parts, 1, 3, () -> null),
            changed(parts, 3, 1000, () -> new double[] {1}),
            changed(parts, 2, 0, () -> new double[] {1}));
    for (JavaRDD<double[]> labels : wrong) {
      try (QRFactorization f = GpuSparseQR.builder().ridge(0.1).factorize(rdd(parts))) {
        Throwable first = catchThrowable(() -> f.solve(labels));
        f.solve(labels(parts, 1, SEED));
        Throwable later = catchThrowable(() -> f.solve(labels));
        assertThat(later).isNotNull().hasSameClassAs(first).hasMessage(first.getMessage());
        // and the factorization is as before
        assertThat(f.solve(labels(parts, 1, SEED)).x(0)).hasSize(N);
      }
    }
    try (QRFactorization f = GpuSparseQR.builder().ridge(0.1).factorize(rdd(parts))) {
      f.solve(labels(parts, 1, SEED));
      JavaRDD<double[]> other =
          LocalSpark.context()
              .parallelize(List.of(0, 1, 2, 3), PARTITIONS)
              .mapPartitionsWithIndex(
                  (p, it) -> parts.get(p).stream().map(r -> new double[p == 3 ? 2 : 1]).iterator(),
                  true);
      assertThatThrownBy(() -> f.solve(other))
          .isInstanceOf(DimensionMismatchException.class)
          .hasMessageContaining("partition 3 have 2 right-hand sides, expected 1");
    }
  }

  private static void limitRoom(long bytes) {
    double share = (bytes + 0.5) / Runtime.getRuntime().maxMemory();
    System.setProperty(Keys.ROW_COPY_SHARE.name(), String.valueOf(share));
  }

  private static int readingsOfASolve(QRFactorization f, List<List<SparseRow>> parts) {
    READ.set(0);
    f.solve(labels(parts, 1, SEED));
    return READ.get() / PARTITIONS;
  }

  /** There is one room for the copies of all factorizations. */
  @Test
  void twoFactorizationsShareTheRoom() {
    List<List<SparseRow>> parts = parts(0, true);
    long taken;
    try (QRFactorization f = GpuSparseQR.builder().factorize(rdd(parts))) {
      f.solve(labels(parts, 1, SEED));
      taken = left - ParsedRows.room().left();
    }
    assertThat(taken).isPositive();
    limitRoom(2 * taken - 1);
    try (QRFactorization second = GpuSparseQR.builder().factorize(rdd(parts))) {
      try (QRFactorization first = GpuSparseQR.builder().factorize(rdd(parts))) {
        assertThat(readingsOfASolve(first, parts)).isOne();
        assertThat(readingsOfASolve(first, parts)).isZero();
        assertThat(readingsOfASolve(second, parts)).isEqualTo(2);
        assertThat(ParsedRows.room().left()).isBetween(0L, taken - 1);
      }
      assertThat(ParsedRows.room().left()).isEqualTo(2 * taken - 1);
    }
    System.clearProperty(Keys.ROW_COPY_SHARE.name());
  }

  /** Rows of weight 0, which the plan does not count, may leave no room: then there is no copy. */
  @Test
  void withoutRoomForAllPartitionsNoneIsCopied() {
    List<List<SparseRow>> parts = parts(0.9, false);
    limitRoom(2500);
    try (QRFactorization f = GpuSparseQR.builder().ridge(1).factorize(rdd(parts))) {
      for (int k = 0; k < 2; k++) {
        assertThat(readingsOfASolve(f, parts)).isEqualTo(2);
        assertThat(ParsedRows.room().left()).isEqualTo(2500);
      }
    }
    System.clearProperty(Keys.ROW_COPY_SHARE.name());
  }

  /** Copies of a pass that fails take no room, and a later one leaves its own. */
  @Test
  void aFailedPassLeavesNothingBehind() {
    List<List<SparseRow>> parts = parts(0.1, true);
    try (QRFactorization f = GpuSparseQR.builder().factorize(rdd(parts))) {
      JavaRDD<double[]> wrong = changed(parts, 3, 2, () -> new double[] {Double.NaN});
      assertThatThrownBy(() -> f.solve(wrong)).hasMessageContaining("NaN");
      assertThat(ParsedRows.room().left()).isEqualTo(left);
      assertThat(readingsOfASolve(f, parts)).isOne();
      assertThat(ParsedRows.room().left()).isLessThan(left);
    }
  }

  /** Rows in any order are copied for one solve. */
  @Test
  void copiesOfOtherRowsEndWithTheirSolve() {
    List<List<SparseRow>> parts = parts(0.1, true);
    try (QRFactorization f = GpuSparseQR.builder().factorize(rdd(parts))) {
      READ.set(0);
      f.solveRelabeled(rdd(parts));
      assertThat(READ.get()).isEqualTo(PARTITIONS);
      assertThat(ParsedRows.room().left()).isEqualTo(left);
    }
  }
}
