/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.FactorizationRate;
import io.sparqr.symbolic.FrontMemory;
import io.sparqr.symbolic.Reduction;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The refusal of what no order makes fit, on both sides of each limit. */
class FrontLimitTest {

  private static final long ROWS = 1000;
  private static final long COLUMNS = 500;
  private static final long NEED = FrontMemory.hostBytes(ROWS, COLUMNS, 0);

  private static FrontLimit limit(long bytes) {
    return new FrontLimit("worker 0", bytes, 1e10, false, "give the JVM more heap");
  }

  private static void count(FrontLimit limit, double fullness) {
    limit.requireSomeOrder(2.3e15, 1.25e9, fullness, ROWS, COLUMNS);
  }

  @Test
  void aFullTriangleIsRefusedAtOnceAndOthersWhenNoOrderHelps() {
    count(limit(NEED), 1);
    assertThatThrownBy(() -> count(limit(NEED - 1), FrontLimit.FULL))
        .isInstanceOf(InsufficientMemoryException.class);
    double less = Math.nextDown(FrontLimit.FULL);
    count(limit(NEED - 1), less);
    count(limit((long) (NEED / FrontLimit.OTHER_ORDER)), less);
    assertThatThrownBy(() -> count(limit((long) (NEED / FrontLimit.OTHER_ORDER) - 1), less))
        .isInstanceOf(InsufficientMemoryException.class);
    count(FrontLimit.none(), 1);
  }

  /** Where other workers reduce the rows of a tall front, its triangle is what surely comes. */
  @Test
  void workersThatSpreadNeedTheTriangleOnly() {
    long triangle = FrontMemory.hostBytes(COLUMNS, COLUMNS, 0);
    count(new FrontLimit("executor 1", triangle, 1e10, true, "set it"), 1);
    assertThatThrownBy(
            () -> count(new FrontLimit("executor 1", triangle - 1, 1e10, true, "set it"), 1))
        .isInstanceOf(InsufficientMemoryException.class);
  }

  /** The line has flops, time, memory and the way out, and the page is there. */
  @Test
  void theLineSaysFlopsMemoryAndWhatToTakeInstead() throws Exception {
    var e =
        catchThrowableOfType(InsufficientMemoryException.class, () -> count(limit(1L << 20), 1));
    assertThat(e)
        .hasMessageContaining("2.30 Pflop, about 3 days")
        .hasMessageContaining("R would take 9.31 GiB (nearly a full triangle in any column order)")
        .hasMessageContaining("1,000 x 500, needs 3 MB, and worker 0 has 1 MB")
        .hasMessageContaining("LSQR")
        .hasMessageEndingWith("(" + FrontLimit.PAGE + ")");
    assertThat(e.getMessage()).hasSizeLessThanOrEqualTo(350); // the command line shows 400
    assertThat(e.requiredBytes()).isEqualTo(NEED);
    assertThat(e.availableBytes()).isEqualTo(1L << 20);
    String[] page = FrontLimit.PAGE.split("#");
    String text = Files.readString(Path.of(System.getProperty("basedir", "."), "..", page[0]));
    assertThat(text.toLowerCase()).contains("\n## " + page[1].replace('-', ' ') + "\n");
  }

  @Test
  void timesInTheirUnits() {
    assertThat(FrontLimit.time(3)).isEqualTo("3.00 s");
    assertThat(FrontLimit.time(600)).isEqualTo("10 minutes");
    assertThat(FrontLimit.time(7200)).isEqualTo("2 hours");
    assertThat(FrontLimit.time(86400 * 30)).isEqualTo("30 days");
  }

  /** Rows of five random columns: R is nearly full. */
  private static SparsityPattern random(int rows, int columns, long seed) {
    var random = new Random(seed);
    long[] start = new long[rows + 1];
    long[] one = new long[rows];
    int[] index = new int[5 * rows];
    for (int i = 0; i < rows; i++) {
      int[] row = random.ints(0, columns).distinct().limit(5).sorted().toArray();
      System.arraycopy(row, 0, index, 5 * i, 5);
      start[i + 1] = 5L * (i + 1);
      one[i] = 1;
    }
    return new SparsityPattern(columns, start, index, one);
  }

  private static long largest(SymbolicAnalysis a) {
    long need = 0;
    for (int f = 0; f < a.fronts(); f++) {
      need = Math.max(need, FrontMemory.hostBytes(a.fm(f), a.fn(f), 0));
    }
    return need;
  }

  /** The analysis tells of the first order, and what is thrown then is all that happens. */
  @Test
  void aRandomMatrixIsRefusedBeforeASecondOrder() {
    SparsityPattern pattern = random(40_000, 4000, 7);
    var told = new AtomicInteger();
    // so slow that every order is worth a try
    SymbolicAnalysis whole =
        SymbolicAnalyzer.analyze(
            pattern, SymbolicOptions.defaults().withRate(new Counting(told, null)));
    assertThat(told.get()).as("orders").isGreaterThan(1);
    long need = largest(whole);
    told.set(0);
    FrontLimit small = limit(need / 2);
    assertThatThrownBy(
            () ->
                SymbolicAnalyzer.analyze(
                    pattern, SymbolicOptions.defaults().withRate(new Counting(told, small))))
        .isInstanceOf(InsufficientMemoryException.class)
        .hasMessageContaining("nearly a full triangle");
    assertThat(told.get()).as("orders").isEqualTo(1);
    long tall = Reduction.defaults().tall();
    limit(need).require(whole, 1, tall);
    assertThatThrownBy(() -> limit(need / 2).require(whole, 1, tall))
        .isInstanceOf(InsufficientMemoryException.class);
  }

  /** A mesh, whose R is sparse, is not refused for the memory that holds its largest front. */
  @Test
  void aMeshIsNotRefusedTooSoon() {
    SparsityPattern mesh = Gallery.generate("gen:cells2d60").pattern();
    SymbolicAnalysis a = SymbolicAnalyzer.analyze(mesh, SymbolicOptions.defaults());
    long need = largest(a);
    var told = new AtomicInteger();
    SymbolicAnalyzer.analyze(
        mesh, SymbolicOptions.defaults().withRate(new Counting(told, limit(need))));
    assertThat(told.get()).isPositive();
  }

  private record Counting(AtomicInteger told, @org.jspecify.annotations.Nullable FrontLimit limit)
      implements FactorizationRate {

    @Override
    public double flopsPerSecond(double flops, double intensity) {
      return 1;
    }

    @Override
    public void counted(double flops, double entriesOfR, double fullness, long rows, long columns) {
      told.incrementAndGet();
      if (limit != null) {
        limit.requireSomeOrder(flops, entriesOfR, fullness, rows, columns);
      }
    }
  }
}
