/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.Sampled;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The tree for a backend that takes fronts by their Gram matrix, on a panel. */
class GramMergeTest {

  private static final SparsityPattern PANEL =
      Panels.anywhere(40_000, 600, 8, new Random(1)).pattern();

  private static final SymbolicOptions OPTIONS =
      SymbolicOptions.defaults().withOrdering(OrderingMethod.COLAMD);

  private static final SymbolicAnalysis BEFORE = SymbolicAnalyzer.analyze(PANEL, OPTIONS);

  private static final SymbolicAnalysis AFTER = SymbolicAnalyzer.analyze(PANEL, OPTIONS.withGram());

  private static AnalysisPlan plan(SymbolicAnalysis order, boolean gram) {
    SymbolicOptions options = SymbolicOptions.defaults().withGiven(order.permutation());
    return new AnalysisPlan(
        PANEL, order.permutation(), gram ? options.withGram() : options, new PhaseTimes());
  }

  /** Fronts of more than a hundred columns below the last one. */
  private static long wide(SymbolicAnalysis a) {
    long count = 0;
    for (int f = 0; f < a.fronts(); f++) {
      count += a.fn(f) > 100 && a.parent(f) >= 0 ? 1 : 0;
    }
    return count;
  }

  @Test
  void frontsOfFewPivotsGoIntoTheirParents() {
    assertThat(wide(AFTER)).isLessThan(wide(BEFORE));
    int last = AFTER.fronts() - 1;
    assertThat(AFTER.fn(last)).isBetween(BEFORE.fn(BEFORE.fronts() - 1), 750);
    FrontTree fronts = plan(AFTER, true).fronts;
    double length = (double) PANEL.nonzeros() / PANEL.rows();
    GramTree tree =
        GramMerge.tree(fronts, plan(AFTER, true).structure.flops, length, 1, Long.MAX_VALUE);
    int members = 0;
    for (int f = 0; f < fronts.count; f++) {
      if (tree.isGram(f) && !tree.isRoot(f)) {
        members++;
        double p = fronts.pivots(f);
        double above = fronts.pivots(fronts.parent[f]) + (double) fronts.cn[fronts.parent[f]];
        double alone = GramWork.pivots(p, p + fronts.cn[f], 1) + GramWork.left(fronts.cn[f]);
        assertThat(GramWork.pivots(p, above + p, 1))
            .as("front %d", f)
            .isGreaterThanOrEqualTo(alone);
      }
    }
    assertThat(members).isPositive();
  }

  @Sampled(oneIn = 3)
  @Test
  void theTreeIsOne() {
    long rows = AFTER.emptyRows() + AFTER.singletons();
    assertThat(AFTER.firstPivot(AFTER.fronts())).isEqualTo(PANEL.columns());
    for (int f = 0; f < AFTER.fronts(); f++) {
      long below = 0;
      for (int k = 0; k < AFTER.childCount(f); k++) {
        below += AFTER.cm(AFTER.child(f, k));
      }
      rows += AFTER.fm(f) - below;
      Set<Integer> own = new HashSet<>();
      for (int k = 0; k < AFTER.fn(f); k++) {
        own.add(AFTER.column(f, k));
      }
      assertThat(own).hasSize(AFTER.fn(f));
      for (int k = 0; k < AFTER.childCount(f); k++) {
        int c = AFTER.child(f, k);
        for (int i = AFTER.fp(c); i < AFTER.fn(c); i++) {
          assertThat(own).as("front %d below %d", c, f).contains(AFTER.column(c, i));
        }
      }
    }
    assertThat(rows).isEqualTo(PANEL.rows());
  }

  @Test
  void itsWorkIsLessAndWhatWasForeseen() {
    AnalysisPlan before = plan(AFTER, false);
    AnalysisPlan after = plan(AFTER, true);
    assertThat(after.work).isLessThan(before.work / 4);
    assertThat(after.gramShare).isBetween(0.5, 1.0);
    double length = (double) PANEL.nonzeros() / PANEL.rows();
    GramTree again = GramMerge.tree(after.fronts, after.structure.flops, length, 1, Long.MAX_VALUE);
    // Sums of as many terms as there are fronts, in another order.
    double summed = Math.ulp(1.0) * after.fronts.count;
    assertThat(again.work()).isCloseTo(after.work, within(summed * after.work));
  }

  /** Rows of two columns, many of them a few times and some often. */
  private static SparsityPattern pairs(int columns, Random random) {
    int rows = columns;
    long[] start = new long[rows + 1];
    int[] index = new int[2 * rows];
    long[] times = new long[rows];
    for (int i = 0; i < rows; i++) {
      int first = i < columns - 1 ? i : random.nextInt(columns - 1);
      index[2 * i] = first;
      index[2 * i + 1] = Math.min(columns - 1, first + 1 + random.nextInt(60));
      start[i + 1] = 2L * i + 2;
      times[i] = random.nextInt(40) == 0 ? 9 : 1;
    }
    return new SparsityPattern(columns, start, index, times);
  }

  /**
   * What is carried over from the fronts before is what the merged tree has by itself, whatever is
   * merged. Among pairs some blocks have fewer rows than columns, and more after it.
   */
  @Test
  void tailsAndFlopsOfMergedFrontsAreThoseOfTheirTree() {
    for (int seed = 1; seed <= 6; seed++) {
      Random random = new Random(seed);
      SparsityPattern a =
          switch (seed % 3) {
            case 0 -> Panels.anywhere(2_000 * seed, 100, 8, random).pattern();
            case 1 -> Gallery.generate("gen:cells2d" + (20 + 4 * seed)).pattern();
            default -> pairs(400, random);
          };
      SymbolicOptions options = OPTIONS.withSingletons(false).withAmalgamation(Amalgamation.none());
      Permutation order = SymbolicAnalyzer.analyze(a, options).permutation();
      var before = new AnalysisPlan(a, order, options, new PhaseTimes());
      FrontTree old = before.fronts;
      int[] into = new int[old.count];
      for (int f = old.count - 1; f >= 0; f--) {
        boolean merged = old.parent[f] >= 0 && random.nextInt(4) == 0;
        into[f] = merged ? into[old.parent[f]] : f;
      }
      long[] byPost = new long[old.place.length];
      Arrays.setAll(byPost, j -> before.leftmostCount[old.place[j]]);
      var fronts = new FrontTree(GramMerge.merged(old, into), byPost, 1);
      assertThat(fronts.count).as("seed %d", seed).isLessThan(old.count);
      long[] leftmost = new long[byPost.length];
      for (int j = 0; j < leftmost.length; j++) {
        leftmost[fronts.place[j]] = byPost[j];
      }
      var graph = new StarGraph(a, order);
      var tree = new ColumnEliminationTree(graph);
      graph.keepLow();
      var alone = new FrontStructure(graph, tree, fronts, leftmost);
      var carried = new FrontStructure(before.structure, old, fronts, leftmost);
      assertThat(carried.tailStart).isEqualTo(alone.tailStart);
      assertThat(carried.tailColumns).isEqualTo(alone.tailColumns);
      assertThat(carried.flops).isEqualTo(alone.flops);
    }
  }

  @Test
  void withoutSuchAFrontNothingChanges() {
    SparsityPattern grid = Gallery.generate("gen:cells2d40").pattern();
    SymbolicAnalysis plain = SymbolicAnalyzer.analyze(grid, OPTIONS);
    SymbolicAnalysis gram = SymbolicAnalyzer.analyze(grid, OPTIONS.withGram());
    assertThat(gram.data().tree()).usingRecursiveComparison().isEqualTo(plain.data().tree());
    assertThat(gram.fronts()).isEqualTo(plain.fronts());
  }
}
