/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.SparsityPattern;
import java.util.Arrays;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reduction fronts change nothing except the way that blocks take. */
class ReductionFrontsTest {

  private static final Reduction EAGER = new Reduction(4, 1, 0, 1);

  /** Rows of a level and some shared columns each; every fifth row has shared columns alone. */
  private static SparsityPattern star(int levels, int shared, Random random) {
    int rows = levels * (2 + random.nextInt(shared));
    long[] start = new long[rows + 1];
    int[] index = new int[rows * (shared + 1)];
    int at = 0;
    for (int i = 0; i < rows; i++) {
      var columns = new TreeSet<Integer>();
      if (i % 5 != 4) {
        columns.add(random.nextInt(levels));
      }
      for (int k = 1 + random.nextInt(3); k > 0; k--) {
        columns.add(levels + random.nextInt(shared));
      }
      for (int c : columns) {
        index[at++] = c;
      }
      start[i + 1] = at;
    }
    return new SparsityPattern(levels + shared, start, Arrays.copyOf(index, at), ones(rows));
  }

  private static long[] ones(int count) {
    long[] ones = new long[count];
    Arrays.fill(ones, 1);
    return ones;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void blocksMeetInGroups(long seed) {
    var random = new Random(seed);
    SparsityPattern a = star(100 + random.nextInt(400), 3 + random.nextInt(12), random);
    var options =
        SymbolicOptions.defaults()
            .withOrdering(seed % 2 == 0 ? OrderingMethod.NATURAL : OrderingMethod.AMD);
    SymbolicAnalysis plain = SymbolicAnalyzer.analyze(a, options.withReduction(Reduction.none()));
    SymbolicAnalysis tree = SymbolicAnalyzer.analyze(a, options.withReduction(EAGER));
    assertThat(tree.fronts()).as("seed %d", seed).isGreaterThan(plain.fronts());
    for (int k = 0; k < tree.columns(); k++) {
      assertThat(tree.permutation().original(k)).isEqualTo(plain.permutation().original(k));
    }
    int[] given =
        IntStream.range(0, tree.fronts())
            .filter(f -> tree.fp(f) > 0 || tree.parent(f) < 0)
            .toArray();
    assertThat(given).hasSize(plain.fronts());
    for (int k = 0; k < given.length; k++) {
      assertThat(columns(tree, given[k])).containsExactly(columns(plain, k));
    }
    for (int f = 0; f < tree.fronts(); f++) {
      checkSizes(tree, f, seed);
    }
    for (int p = tree.singletons(); p < tree.columns(); p++) {
      int f = tree.frontOfPosition(p);
      assertThat(p).isBetween(tree.firstPivot(f), tree.firstPivot(f + 1) - 1);
    }
  }

  private static int[] columns(SymbolicAnalysis a, int f) {
    return IntStream.range(0, a.fn(f)).map(k -> a.column(f, k)).toArray();
  }

  private static void checkSizes(SymbolicAnalysis a, int f, long seed) {
    long rows = 0;
    for (int c = 0; c < a.childCount(f); c++) {
      int child = a.child(f, c);
      rows += a.cm(child);
      int fp = a.fp(child);
      int[] tail = Arrays.stream(columns(a, child)).skip(fp).toArray();
      assertThat(columns(a, f)).as("columns of front %d, seed %d", f, seed).contains(tail);
    }
    int above = f;
    while (a.fp(above) == 0 && a.parent(above) >= 0) {
      above = a.parent(above);
    }
    assertThat(rows).as("rows of front %d, seed %d", f, seed).isLessThanOrEqualTo(4L * a.fn(above));
    for (int p = a.firstPivot(f); p < a.firstPivot(f + 1); p++) {
      rows += a.leftmostCount(p);
    }
    assertThat(a.fm(f)).isEqualTo(rows);
    assertThat(a.cm(f)).isEqualTo(Math.min(Math.max(rows - a.fp(f), 0), a.cn(f)));
    long[] stair = Staircase.of(a, f);
    assertThat(a.frontFlops(f)).isEqualTo(Staircase.flops(stair, a.fn(f), a.fm(f)));
  }
}
