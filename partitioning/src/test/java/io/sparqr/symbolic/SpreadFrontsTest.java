/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.matrix.gallery.Gallery;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Spread tall fronts lose work, and nothing else changes. */
class SpreadFrontsTest {

  private static SymbolicAnalysis analysis(String problem) {
    return SymbolicAnalyzer.analyze(
        Gallery.generate(problem).pattern(), SymbolicOptions.defaults());
  }

  @ParameterizedTest
  @ValueSource(strings = {"gen:nug5:rand", "gen:nug6:rand", "gen:cells3d9", "gen:ch5-6-b3"})
  void onlyTheWayOfTheBlocksChanges(String problem) {
    SymbolicAnalysis plain = analysis(problem);
    SymbolicAnalysis spread = Spreads.eager(plain);
    assertThat(Spreads.inserted(spread)).isGreaterThan(Spreads.inserted(plain));
    assertThat(spread.permutation()).isSameAs(plain.permutation());
    assertThat(Spreads.eager(spread)).as("spread again").isSameAs(spread);
    int[] given = IntStream.range(0, spread.fronts()).filter(f -> spread.fp(f) > 0).toArray();
    int[] before = IntStream.range(0, plain.fronts()).filter(f -> plain.fp(f) > 0).toArray();
    assertThat(given).hasSameSizeAs(before);
    for (int k = 0; k < given.length; k++) {
      assertThat(columns(spread, given[k])).isEqualTo(columns(plain, before[k]));
    }
    for (int f = 0; f < spread.fronts(); f++) {
      checkSizes(spread, f);
    }
  }

  @Test
  void theHeaviestPathOfALargeProblemLosesWork() {
    SymbolicAnalysis plain = analysis("gen:nug15:rand");
    SymbolicAnalysis spread = SymbolicAnalyzer.spread(plain).orElseThrow();
    assertThat(Spreads.inserted(spread)).isBetween(1, 10);
    assertThat(spread.flops()).isLessThan(1.05 * plain.flops());
    assertThat(path(spread)).isLessThan(0.8 * path(plain));
    assertThat(SymbolicAnalyzer.spread(spread)).isEmpty();
  }

  @Test
  void smallProblemsStayAsTheyAre() {
    SymbolicAnalysis small = analysis("gen:cells3d12");
    assertThat(SymbolicAnalyzer.spread(small)).isEmpty();
  }

  @Test
  void aFrontIsRelievedOrLeftAlone() {
    var rule = new Spread(100, 0.01, 0.2, 1.5);
    assertThat(rule.leastFlops(1000)).isEqualTo(100);
    assertThat(rule.leastFlops(20_000)).isEqualTo(200);
    assertThat(rule.relieves(1000, 700, 400)).isTrue();
    assertThat(rule.relieves(1000, 850, 100)).as("a sixth of the work").isFalse();
    assertThat(rule.relieves(1000, 700, 500)).as("much more work in all").isFalse();
  }

  private static double path(SymbolicAnalysis a) {
    double[] path = new double[a.fronts()];
    double most = 0;
    for (int f = 0; f < path.length; f++) {
      path[f] += a.frontFlops(f);
      most = Math.max(most, path[f]);
      if (a.parent(f) >= 0) {
        path[a.parent(f)] = Math.max(path[a.parent(f)], path[f]);
      }
    }
    return most;
  }

  private static int[] columns(SymbolicAnalysis a, int f) {
    return IntStream.range(0, a.fn(f)).map(k -> a.column(f, k)).toArray();
  }

  private static void checkSizes(SymbolicAnalysis a, int f) {
    long rows = 0;
    int[] all = columns(a, f);
    for (int c = 0; c < a.childCount(f); c++) {
      int child = a.child(f, c);
      rows += a.cm(child);
      int[] tail = Arrays.stream(columns(a, child)).skip(a.fp(child)).toArray();
      assertThat(all).as("columns of front %d", f).contains(tail);
    }
    for (int p = a.firstPivot(f); p < a.firstPivot(f + 1); p++) {
      rows += a.leftmostCount(p);
    }
    assertThat(a.fm(f)).as("front %d", f).isEqualTo(rows);
    assertThat(a.cm(f)).isEqualTo(Math.min(Math.max(rows - a.fp(f), 0), a.cn(f)));
    long[] stair = Staircase.of(a, f);
    assertThat(a.frontFlops(f)).isEqualTo(Staircase.flops(stair, a.fn(f), a.fm(f)));
  }
}
