/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.matrix.Gallery;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.RowMemory;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.FrontMemory;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import io.sparqr.threads.Crew;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Large fronts are assembled and packed by several threads, with the same result. */
class StripsTest {

  /** Counts its calls, and runs the pieces of each in reverse. */
  private static final class Backwards implements Crew {
    private int calls;

    @Override
    public void run(int count, IntConsumer task) {
      calls++;
      for (int i = count - 1; i >= 0; i--) {
        task.accept(i);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 31, 32, 33, 100})
  void everyColumnIsInOneStrip(int columns) {
    var crew = new Backwards();
    int[] copied = new int[columns];
    Strips.run(columns, Strips.SHARED_ENTRIES, crew, (from, to) -> count(copied, from, to));
    assertThat(copied).isEqualTo(IntStream.generate(() -> 1).limit(columns).toArray());
    assertThat(crew.calls).isEqualTo(1);
  }

  private static void count(int[] copied, int from, int to) {
    for (int k = from; k < to; k++) {
      copied[k]++;
    }
  }

  @Test
  void aSmallCopyWakesNobody() {
    var crew = new Backwards();
    Strips.run(100, Strips.SHARED_ENTRIES - 1, crew, (from, to) -> {});
    assertThat(crew.calls).isZero();
  }

  @Test
  void packsEachEntryRightOfItsPivot() {
    int fp = 280;
    int fn = 830;
    int live = 800;
    int rank = 250;
    int ld = 803;
    var random = new Random(5);
    double[] matrix = random.doubles((long) ld * (fn + 2), -1, 1).toArray();
    int[] pivot = IntStream.range(0, live).map(i -> i < rank ? i + 7 : i + 30).toArray();
    var crew = new Backwards();
    var packer = new FrontPacker(3, fp, fn, 1, matrix, ld, pivot, crew);
    FrontFactor factor = packer.factor(rank, RowMemory.HEAP);
    ContributionBlock block = packer.block(rank, live);
    assertThat(crew.calls).isEqualTo(2);
    int at = 0;
    for (int i = 0; i < rank; i++) {
      double sign = Math.signum(matrix[i + pivot[i] * ld]);
      for (int k = pivot[i]; k < fn; k++) {
        assertThat(factor.values().get(at++)).isEqualTo(sign * matrix[i + k * ld]);
      }
      assertThat(factor.rhs()[i]).isEqualTo(sign * matrix[i + fn * ld]);
    }
    at = 0;
    for (int i = 0; i < live - rank; i++) {
      int row = rank + i;
      for (int k = i; k < fn - fp; k++) {
        double expected = fp + k < pivot[row] ? 0 : matrix[row + (fp + k) * ld];
        assertThat(block.values()[at++]).isEqualTo(expected);
      }
      assertThat(block.rhs()[i]).isEqualTo(matrix[row + fn * ld]);
    }
  }

  @Test
  void sameBitsWithHoweverManyThreadsAtTheTop() {
    CsrMatrix a = Gallery.generate("cells3d22");
    double[] b = TestMatrices.vector(a.rows(), new Random(6));
    SymbolicAnalysis analysis =
        SymbolicAnalyzer.analyze(
            a.pattern(), SymbolicOptions.defaults().withOrdering(OrderingMethod.NESTED_DISSECTION));
    int[] fronts = IntStream.range(0, analysis.fronts()).toArray();
    assertThat(Arrays.stream(fronts).filter(f -> sharedBlock(analysis, f))).isNotEmpty();
    double[] unscaled = new double[a.columns()];
    Arrays.fill(unscaled, 1);
    var rows = RowSplit.of(a, b, 1, analysis, unscaled).rows();
    var problem = new SubtreeProblem(analysis, fronts, rows, List.of());
    var results = new ArrayList<SubtreeFactor>();
    for (int threads : new int[] {1, 2, 3, 5}) {
      try (var cpu = new CpuSubtreeFactorizer()) {
        results.add(cpu.factor(problem, new FactorOptions(-1, threads, 0)));
      }
    }
    for (SubtreeFactor again : results) {
      for (int f : fronts) {
        FrontFactor first = results.get(0).fronts().get(f);
        assertThat(TestMatrices.rowsOfR(again.fronts().get(f)))
            .containsExactly(TestMatrices.rowsOfR(first));
        assertThat(again.fronts().get(f).rhs()).containsExactly(first.rhs());
      }
    }
  }

  private static boolean sharedBlock(SymbolicAnalysis analysis, int f) {
    return FrontMemory.contributionBytes(analysis, f, 0) >= 8 * Strips.SHARED_ENTRIES;
  }
}
