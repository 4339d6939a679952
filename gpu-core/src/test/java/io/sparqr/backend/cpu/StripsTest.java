/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.RowMemory;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.numeric.dense.ColumnStrips;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.FrontMemory;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import io.sparqr.threads.Crew;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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

  /** All pieces at the same time, each on a thread of its own. */
  private static final Crew AT_ONCE =
      (count, task) -> {
        var ready = new CountDownLatch(count);
        var threads = new Thread[count];
        for (int i = 0; i < count; i++) {
          int piece = i;
          threads[i] =
              new Thread(
                  () -> {
                    ready.countDown();
                    while (ready.getCount() > 0) {
                      Thread.yield();
                    }
                    task.accept(piece);
                  });
          threads[i].start();
        }
        for (Thread thread : threads) {
          assertThatCode(thread::join).doesNotThrowAnyException();
        }
      };

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

  /** From one array, and from several of which each is as high as its last column asks. */
  @ParameterizedTest
  @CsvSource({"280, 830, 250, 800, false", "280, 1330, 250, 1290, true"})
  void packsEachEntryRightOfItsPivot(int fp, int fn, int rank, int live, boolean inStrips) {
    int ld = live + 3;
    var random = new Random(5);
    double[] matrix = random.doubles((long) ld * (fn + 2), -1, 1).toArray();
    int[] pivot = IntStream.range(0, live).map(i -> i < rank ? i + 7 : i + 30).toArray();
    var crew = new Backwards();
    var columns = new ColumnStrips(matrix, ld, live, fn + 1);
    if (inStrips) {
      columns = new ColumnStrips(live, fn + 1);
      for (int j = 0; j <= fn; j++) {
        System.arraycopy(matrix, j * ld, columns.array(j), columns.at(j), columns.height(j));
      }
      assertThat(columns.array(0)).isNotSameAs(columns.array(fn));
    }
    var packer = new FrontPacker(3, fp, fn, 1, columns, pivot, crew);
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
  void placesLargeBlocksAlikeInAnyOrderAndAtOnce() {
    CsrMatrix a = Gallery.generate("cells3d22");
    SymbolicAnalysis analysis =
        SymbolicAnalyzer.analyze(
            a.pattern(), SymbolicOptions.defaults().withOrdering(OrderingMethod.NESTED_DISSECTION));
    int child =
        IntStream.range(0, analysis.fronts())
            .filter(f -> sharedBlock(analysis, f))
            .findFirst()
            .orElseThrow();
    int front = analysis.parent(child);
    FrontAssembly assembly = assembled(a, analysis, front);
    int fn = analysis.fn(front);
    int ld = assembly.layout().count();
    double[] alone = new double[ld * (fn + 1)];
    assembly.scatter(alone, ld, fn, Crew.ALONE);
    for (Crew crew : new Crew[] {new Backwards(), AT_ONCE, AT_ONCE, AT_ONCE}) {
      double[] matrix = new double[alone.length];
      assembly.scatter(matrix, ld, fn, crew);
      assertThat(matrix).isEqualTo(alone);
    }
  }

  /** A front's own rows, and random blocks of all its children. */
  private static FrontAssembly assembled(CsrMatrix a, SymbolicAnalysis analysis, int front) {
    var random = new Random(6);
    double[] unscaled = new double[a.columns()];
    Arrays.fill(unscaled, 1);
    int[] fronts = IntStream.range(0, analysis.fronts()).toArray();
    double[] b = TestMatrices.vector(a.rows(), random);
    var rows = RowSplit.of(a, b, 1, analysis, unscaled).rows();
    var problem = new SubtreeProblem(analysis, fronts, rows, List.of());
    var assembly = new FrontAssembly(analysis, new RowsByFront(problem));
    assembly.begin(front);
    for (int c = 0; c < analysis.childCount(front); c++) {
      int child = analysis.child(front, c);
      int cm = Math.toIntExact(analysis.cm(child));
      int cn = analysis.cn(child);
      int length = Math.toIntExact(ContributionBlock.packedLength(cm, cn));
      double[] values = TestMatrices.vector(length, random);
      double[] rhs = TestMatrices.vector(cm, random);
      assembly.addChild(new ContributionBlock(child, cm, cn, values, rhs, 1));
    }
    assembly.sort();
    return assembly;
  }

  private static boolean sharedBlock(SymbolicAnalysis analysis, int f) {
    return FrontMemory.contributionBytes(analysis, f, 0) >= 8 * Strips.SHARED_ENTRIES;
  }
}
