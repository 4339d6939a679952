/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.InputChangedException;
import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.Problems;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.parts.TaskInput;
import io.sparqr.spark.plan.Fingerprint;
import io.sparqr.spark.plan.Ridge;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The first pass over the rows, and inputs of single tasks. */
class PatternPassTest {

  private static final CsrMatrix A = Problems.random(400, 10, 3, 20260108L);

  private static PatternPass.Result pass(int partitions, long eagerBytes, long batchBytes) {
    double[] b = Problems.rhs(400, 1);
    RowSource source = RowSource.of(Problems.rdd(A, partitions, b));
    return new PatternPass(source, SolveOptions.defaults(), 0, eagerBytes, batchBytes).run();
  }

  /** Within this JVM, without a shuffle unless the tables exceed the limit. */
  private static PatternPass.Result handed(int partitions, long bytes) {
    RowSource source = RowSource.of(Problems.rdd(A, partitions, Problems.rhs(400, 1)));
    return new PatternPass(source, SolveOptions.defaults(), bytes, 1 << 20, 0).run();
  }

  @Test
  void thePatternIsTheSameHoweverItIsFetchedAndPartitioned() {
    PatternPass.Result all = pass(2, 1 << 20, 0);
    for (PatternPass.Result other :
        List.of(
            handed(1, 1 << 20),
            handed(2, 1 << 20),
            handed(7, 1 << 20),
            pass(2, 0, 1 << 20),
            pass(2, 0, 1),
            pass(5, 1 << 20, 0),
            pass(5, 0, 5000),
            pass(1, 0, 0))) {
      assertThat(other.patterns().whole().orElseThrow().rowStart())
          .isEqualTo(all.patterns().whole().orElseThrow().rowStart());
      assertThat(other.patterns().whole().orElseThrow().columnIndex())
          .isEqualTo(all.patterns().whole().orElseThrow().columnIndex());
      assertThat(other.patterns().whole().orElseThrow().multiplicity())
          .isEqualTo(all.patterns().whole().orElseThrow().multiplicity());
      assertThat(other.nonzeros()).isEqualTo(A.nonzeros());
      assertThat(other.rows()).isEqualTo(400);
    }
    assertThat(all.patterns().whole().orElseThrow().patterns()).isLessThan(250);
    double[] norm = new double[10];
    for (int k = 0; k < A.nonzeros(); k++) {
      norm[A.columnIndex()[k]] = Math.hypot(norm[A.columnIndex()[k]], A.values()[k]);
    }
    for (int j = 0; j < 10; j++) {
      assertThat(all.norm()[j])
          .isCloseTo(norm[j], org.assertj.core.data.Offset.offset(Tolerances.REORDERED));
    }
  }

  /** Without telling patterns apart: the same fingerprint, figures, readings and bits of norms. */
  @Test
  void figuresAreThoseOfTheWholePass() {
    double[] b = Problems.rhs(400, 1);
    SolveOptions plain = SolveOptions.defaults();
    SolveOptions ridge = plain.with(plain.problem().withRidge(Ridge.of(0.25)));
    for (SolveOptions options : List.of(plain, ridge)) {
      for (long[] limit : new long[][] {{0, 0}, {0, 1 << 20}, {1 << 20, 0}, {100, 0}}) {
        RowSource source = RowSource.of(Problems.rdd(A, 3, b));
        PatternPass.Result all = new PatternPass(source, options, 0, limit[1], 1).run();
        var pass = new PatternPass(source, options, limit[0], limit[1], 1);
        PatternPass.Result figures = pass.figures(null);
        assertThat(figures.shuffleBytes() == 0).isEqualTo(limit[0] == 1 << 20);
        assertThat(figures.patterns().whole()).isEmpty();
        assertThat(figures.patterns().print())
            .contains(all.patterns().whole().orElseThrow().fingerprint());
        assertThat(figures.norm()).isEqualTo(all.norm());
        assertThat(figures.rows()).isEqualTo(all.rows());
        assertThat(figures.nonzeros()).isEqualTo(all.nonzeros());
        assertThat(figures.rhs().max()).isEqualTo(all.rhs().max());
        assertThat(figures.readings().change(1, all.readings().of(1), true)).isEmpty();
      }
    }
  }

  @Test
  void patternsOfAnotherReadingThanTheCountsAreRefused() {
    var table = new PatternTable();
    table.add(new int[] {0, 3, 5}, 0, 3, 7);
    table.add(new int[] {1, 2}, 0, 2, 1);
    var all = new Fingerprint(8, 23, 0, 0, 0, 0);
    PatternPass.requireOneReading(all, table.sum(), merged(table));
    var other = new PatternTable();
    other.add(new int[] {0, 3, 4}, 0, 3, 7);
    other.add(new int[] {1, 2}, 0, 2, 1);
    assertThatThrownBy(() -> PatternPass.requireOneReading(all, table.sum(), merged(other)))
        .isInstanceOf(InputChangedException.class)
        .hasMessageContaining("the input changed between its two readings");
  }

  private static long merged(PatternTable table) {
    var frames = new ArrayList<>(PatternOrder.frames(0, table.sorted()));
    return new PatternOrder(DistinctPatterns.decoded(frames, 1), 6, false, 1).merged().sum();
  }

  @Test
  void largeInputsOfATaskTravelApart() {
    try (var held = new Held()) {
      byte[] small = {1, 2, 3, 4, 5};
      byte[] large = new byte[1 << 20];
      large[77] = 5;
      var input = new TaskInput(LocalSpark.context(), held, List.of(small, large));
      List<byte[]> elements = input.rdd().collect();
      assertThat(elements.get(0)).isEqualTo(small);
      assertThat(elements.get(1)).hasSize(4);
      List<byte[]> back = input.rdd().map(input::frame).collect();
      assertThat(back.get(0)).isEqualTo(small);
      assertThat(back.get(1)).isEqualTo(large);
    }
  }

  /** Seven million cells of 2,350 columns are analyzed by their graph, a panel's rows are not. */
  @Test
  void theGraphTakesThePlaceOfPatternsThatAreManyBesideIt() {
    long quarterOfAGigabyte = 256 << 20;
    var cells = new RowTables.Sizes(7_000_000, 21_000_000, 63e6);
    assertThat(PatternPass.tooMany(cells, 2_350, quarterOfAGigabyte)).isTrue();
    assertThat(PatternPass.tooMany(cells, 400_000, quarterOfAGigabyte)).isFalse();
    assertThat(PatternPass.tooMany(cells, 400_000, quarterOfAGigabyte / 2)).isTrue();
    var few = new RowTables.Sizes(2_000_000, 6_000_000, 18e6);
    assertThat(PatternPass.tooMany(few, 2_350, quarterOfAGigabyte)).isFalse();
  }
}
