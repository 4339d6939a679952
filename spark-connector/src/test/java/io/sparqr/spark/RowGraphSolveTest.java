/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.BackendChoice;
import io.sparqr.configuration.Keys;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.spark.model.RFactor;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.sparse.Permutation;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * If the driver has no room for the distinct rows, the graph of A'A replaces them and gives the
 * same answers.
 */
@Tag("once")
class RowGraphSolveTest {

  private static final long SEED = Long.getLong("test.seed", 20260202L);
  private static final String SAID = "on the graph of A'A, without column singletons";

  private static <T> T graphed(long bytes, Supplier<T> action) {
    SparkConf conf = LocalSpark.context().sc().conf();
    conf.set(Keys.ROW_PATTERNS.name(), "" + bytes);
    try {
      return action.get();
    } finally {
      conf.remove(Keys.ROW_PATTERNS.name());
    }
  }

  private static CsrMatrix of(int n, List<int[]> rows, Random random) {
    int[] start = new int[rows.size() + 1];
    for (int r = 0; r < rows.size(); r++) {
      start[r + 1] = start[r] + rows.get(r).length;
    }
    int[] index = rows.stream().flatMapToInt(Arrays::stream).toArray();
    double[] value = random.doubles(index.length, 0.5, 1.5).toArray();
    return new CsrMatrix(rows.size(), n, start, index, value);
  }

  /** Rows of one entry, none, a few, and more than are written as edges; each occurs twice. */
  private static CsrMatrix mixed(Random random) {
    int n = 300;
    var rows = new ArrayList<int[]>();
    for (int r = 0; r < 450; r++) {
      int length = r < 40 ? r % 2 : r > 440 ? 150 + r % 7 : 2 + random.nextInt(4);
      int[] row = random.ints(2000, 0, n - 3).distinct().limit(length).sorted().toArray();
      rows.add(row);
      rows.add(row);
    }
    Collections.shuffle(rows, random);
    return of(n, rows, random);
  }

  /** Hardly any fill, so that a missing edge would be noticed. */
  private static CsrMatrix few(Random random) {
    var rows = new ArrayList<int[]>();
    for (int r = 0; r < 80; r++) {
      rows.add(random.ints(100, 0, 300).distinct().limit(1 + r % 7).sorted().toArray());
    }
    return of(300, rows, random);
  }

  private static Map<String, CsrMatrix> problems() {
    var random = new Random(SEED);
    var all = new LinkedHashMap<String, CsrMatrix>();
    all.put("grid", Problems.grid(15, SEED));
    all.put("singletons", Problems.withSingletons(Problems.grid(12, SEED), 20, SEED));
    all.put("mixed: dense and empty rows, columns without entries", mixed(random));
    all.put("few rows of up to seven", few(random));
    all.put("panel, rank-deficient", Gallery.generate("gen:panel300x40x4"));
    all.put("diagonal", of(9, IntStream.range(0, 9).mapToObj(j -> new int[] {j}).toList(), random));
    return all;
  }

  private static GpuSparseQR.Builder solver() {
    return GpuSparseQR.builder().backend(BackendChoice.CPU);
  }

  /** Same order, no singletons: nothing differs. */
  @Test
  void underTheSameOrderEveryBitIsTheSame() {
    problems()
        .forEach(
            (name, a) -> {
              double[] b = Problems.rhs(a.rows(), SEED + 1);
              var columns = new ArrayList<>(IntStream.range(0, a.columns()).boxed().toList());
              Collections.shuffle(columns, new Random(SEED + 2));
              var order = new Permutation(columns.stream().mapToInt(j -> j).toArray());
              for (double ridge :
                  name.startsWith("mixed") ? new double[] {0, 0.25} : new double[] {0}) {
                SparseQRSolver qr =
                    solver().permutation(order).singletons(false).ridge(ridge).build();
                JavaRDD<SparseRow> rows = Problems.rdd(a, 3, b);
                try (QRFactorization expected = qr.factorize(rows);
                    QRFactorization found = graphed(0, () -> qr.factorize(rows))) {
                  String as = "%s, ridge %s, seed %d".formatted(name, ridge, SEED);
                  assertThat(found.analysis().orderingReason()).as(as).startsWith(SAID);
                  assertThat(found.rank()).as(as).isEqualTo(expected.rank());
                  assertThat(found.solve().x()).as(as).isEqualTo(expected.solve().x());
                  assertSame(found.collectR(), expected.collectR());
                  assertSame(found.analysis().data(), expected.analysis().data());
                }
              }
            });
  }

  private static void assertSame(RFactor found, RFactor expected) {
    assertThat(found.matrix().rowStart()).isEqualTo(expected.matrix().rowStart());
    assertThat(found.matrix().columnIndex()).isEqualTo(expected.matrix().columnIndex());
    assertThat(found.matrix().values()).isEqualTo(expected.matrix().values());
    assertThat(found.rhs()).isEqualTo(expected.rhs());
  }

  private static void assertSame(SymbolicAnalysis.Data found, SymbolicAnalysis.Data expected) {
    assertThat(found.input()).isEqualTo(expected.input());
    assertThat(found.firstPivot()).isEqualTo(expected.firstPivot());
    assertThat(found.parent()).isEqualTo(expected.parent());
    assertThat(found.tailColumns()).isEqualTo(expected.tailColumns());
    for (int p = 0; p < expected.leftmostCount().size(); p++) {
      assertThat(found.leftmostCount().get(p)).isEqualTo(expected.leftmostCount().get(p));
    }
  }

  /** With every order: the same rank and residual, and the same x if it is unique. */
  @Test
  void theAnswerIsThatOfTheOrdinaryWay() {
    problems()
        .forEach(
            (name, a) -> {
              double[] b = Problems.rhs(a.rows(), SEED + 1);
              JavaRDD<SparseRow> rows = Problems.rdd(a, 3, b);
              LeastSquaresSolution expected = solver().solve(rows);
              for (OrderingMethod method :
                  List.of(OrderingMethod.AUTO, OrderingMethod.NESTED_DISSECTION)) {
                LeastSquaresSolution found =
                    graphed(0, () -> solver().ordering(method).solve(rows));
                String as = "%s, %s, seed %d".formatted(name, method, SEED);
                assertThat(found.rank()).as(as).isEqualTo(expected.rank());
                double eps = Tolerances.SOLUTION * (1 + Problems.norm(b));
                assertThat(found.residualNorm())
                    .as(as)
                    .isCloseTo(expected.residualNorm(), org.assertj.core.data.Offset.offset(eps));
                if (found.rank() == a.columns()) {
                  double[] difference = found.x().clone();
                  Arrays.setAll(difference, j -> difference[j] - expected.x()[j]);
                  assertThat(Problems.norm(difference))
                      .as(as)
                      .isLessThan(Tolerances.SOLUTION * (1 + Problems.norm(expected.x())));
                }
                assertThat(found.report().analysis().orderingReason()).as(as).startsWith(SAID);
                assertThat(found.report().warnings())
                    .anyMatch(w -> w.contains("distinct row patterns") && w.contains(SAID_WHY));
              }
            });
  }

  private static final String SAID_WHY = Keys.ROW_PATTERNS.name();

  @Test
  void theBoundIsWhereItIsSaidToBe() {
    CsrMatrix a = Problems.grid(10, SEED);
    double[] b = Problems.rhs(a.rows(), SEED);
    JavaRDD<SparseRow> rows = Problems.rdd(a, 2, b);
    var distinct = new java.util.HashSet<List<Integer>>();
    for (int r = 0; r < a.rows(); r++) {
      int[] row = Arrays.copyOfRange(a.columnIndex(), a.rowStart()[r], a.rowStart()[r + 1]);
      distinct.add(Arrays.stream(row).boxed().toList());
    }
    long bytes = distinct.stream().mapToLong(r -> 16 + 4L * r.size()).sum();
    String at = graphed(bytes, () -> solver().solve(rows)).report().analysis().orderingReason();
    String under =
        graphed(bytes - 1, () -> solver().solve(rows)).report().analysis().orderingReason();
    assertThat(at).doesNotContain("graph of A'A");
    assertThat(under).startsWith(SAID);
  }

  /** The graph's size, too, is counted before it is collected. */
  @Test
  void aGraphTooLargeForTheDriverIsRefused() {
    CsrMatrix a = Problems.grid(40, SEED);
    JavaRDD<SparseRow> rows = Problems.rdd(a, 2, Problems.rhs(a.rows(), SEED));
    SparkConf conf = LocalSpark.context().sc().conf();
    conf.set(Keys.PATTERN_MEMORY.name(), "100000");
    try {
      assertThatThrownBy(() -> graphed(0, () -> solver().solve(rows)))
          .isInstanceOf(InsufficientMemoryException.class)
          .hasMessageContaining("spark.driver.memory");
    } finally {
      conf.remove(Keys.PATTERN_MEMORY.name());
    }
  }
}
