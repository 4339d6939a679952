/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import io.sparqr.symbolic.SymbolicSummary;
import org.junit.jupiter.api.Test;

/** What is advised, on both sides of each threshold. */
class AdviceTest {

  private static final long HEAP = 1L << 30;

  private static SymbolicSummary summary(String problem) {
    return SymbolicSummary.of(
        SymbolicAnalyzer.analyze(Gallery.generate(problem).pattern(), SymbolicOptions.defaults()),
        1);
  }

  /** 4900 columns, too many for the normal equations of MLlib. */
  private static final SymbolicSummary MESH = summary("gen:cells2d70");

  private static final SymbolicSummary FEW = summary("gen:cells2d12");

  private static String take(SymbolicSummary s, double seconds, long task, int effects) {
    return Advice.of(s, seconds, task, HEAP, effects).take();
  }

  @Test
  void whatFitsAndIsFastIsFactored() {
    assertThat(take(MESH, 1, 100, 0)).isEqualTo("qr");
    assertThat(take(MESH, 1, (long) (0.85 * HEAP), 0)).isEqualTo("qr");
    assertThat(take(MESH, 1, (long) (0.85 * HEAP) + 1, 0)).isEqualTo("lsqr");
  }

  @Test
  void whatTakesLongAndMuchLongerThanLsqrIsNotFactored() {
    double lsqr = Advice.STEPS * Advice.STEP_SECONDS_PER_NONZERO * MESH.nonzeros();
    assertThat(lsqr * Advice.FACTOR).isLessThan(Advice.PATIENCE);
    assertThat(take(MESH, Advice.PATIENCE, 100, 0)).isEqualTo("qr");
    assertThat(take(MESH, Math.nextUp(Advice.PATIENCE), 100, 0)).isEqualTo("lsqr");
  }

  @Test
  void fewColumnsAreForTheNormalEquationsIfThatPays() {
    assertThat(take(FEW, 59, 100, 0)).isEqualTo("qr");
    assertThat(take(FEW, 61, 100, 0)).isEqualTo("normal");
    assertThat(take(MESH, 61, 100, 0)).isEqualTo("qr");
    Advice advice = Advice.of(FEW, 61, 100, HEAP, 0);
    assertThat(advice.ways())
        .extracting(Advice.Way::method)
        .containsExactly("qr", "lsqr", "normal");
    assertThat(advice.toMap().toString()).contains("take=normal", "method=lsqr");
  }

  @Test
  void effectsAreAbsorbedIfSomethingElseIsLeft() {
    int n = MESH.columns();
    int most = (int) Math.ceil(Advice.EFFECT_SHARE * n);
    assertThat(take(MESH, 61, 100, most)).isEqualTo("absorb");
    assertThat(take(MESH, 61, 100, most - 1)).isEqualTo("qr");
    assertThat(take(MESH, 59, 100, most)).isEqualTo("qr");
    assertThat(take(MESH, 61, 100, n)).isEqualTo("qr");
  }

  private static SparsityPattern rows(int columns, int[]... rows) {
    long[] start = new long[rows.length + 1];
    long[] one = new long[rows.length];
    var all = new java.util.ArrayList<Integer>();
    for (int i = 0; i < rows.length; i++) {
      for (int j : rows[i]) {
        all.add(j);
      }
      start[i + 1] = all.size();
      one[i] = 1;
    }
    return new SparsityPattern(
        columns, start, all.stream().mapToInt(Integer::intValue).toArray(), one);
  }

  @Test
  void effectsAreRangesOfWhichEachRowHasOneColumn() {
    int[][] two = {{0, 3, 5}, {1, 4, 5}, {2, 3, 5}};
    assertThat(Advice.effectColumns(rows(6, two))).isEqualTo(5);
    // the second entries reach into the first ones' range
    int[][] mixed = {{0, 3, 5}, {1, 2, 5}, {2, 3, 5}};
    assertThat(Advice.effectColumns(rows(6, mixed))).isZero();
    // a row with one more: the last entries are no effect, the first ones are
    int[][] more = {{0, 3}, {1, 4}, {2, 3, 4}};
    assertThat(Advice.effectColumns(rows(5, more))).isEqualTo(3);
    assertThat(Advice.effectColumns(rows(2, new int[][] {{}, {1}}))).isZero();
    assertThat(Advice.effectColumns(Gallery.generate("gen:cells2d12").pattern())).isZero();
  }

  @Test
  void aPanelHasEffects() {
    SparsityPattern panel = Gallery.generate("gen:panel300x20x4").pattern();
    assertThat(Advice.effectColumns(panel)).isGreaterThan(panel.columns() / 2);
  }
}
