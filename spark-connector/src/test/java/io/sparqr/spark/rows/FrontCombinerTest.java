/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.numeric.MapSideReducer;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.Tolerances;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.partition.ResourceModel;
import io.sparqr.partition.TreePartitioner;
import io.sparqr.spark.plan.DeviceVerdict;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.plan.Ridge;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FrontCombinerTest {

  private static final int COLUMNS = 6;
  private static final int ROWS = 1000;

  /** Full rows, one front. */
  private static SolvePlan plan(double combineFlops) {
    int[] all = {0, 1, 2, 3, 4, 5};
    var pattern = new SparsityPattern(COLUMNS, new long[] {0, COLUMNS}, all, new long[] {ROWS});
    SymbolicAnalysis analysis = SymbolicAnalyzer.analyze(pattern, SymbolicOptions.defaults());
    double[] ones = new double[COLUMNS];
    Arrays.fill(ones, 1);
    return new SolvePlan(
        analysis,
        TreePartitioner.partition(
            analysis, ResourceModel.uniform(1, 1e10, 1L << 30), PartitionOptions.defaults()),
        ones,
        new double[] {1},
        new SolvePlan.Numbers(
            1,
            0,
            Ridge.NONE,
            new DeviceVerdict.Refuse("asked for"),
            0,
            true,
            new SolvePlan.Fronts(false, false),
            true,
            combineFlops),
        new Readings(List.of()));
  }

  /** A full row of 6 entries takes 72 flops, 12 an entry; with the R of rows before it more. */
  @ParameterizedTest
  @CsvSource({"Infinity, true, 6", "16, true, 6", "11.9, false, 1000"})
  void rowsBecomeTheirRWhereThatIsWorthItsFlops(double flops, boolean worthwhile, int sent) {
    SolvePlan plan = plan(flops);
    assertThat(FrontCombiner.worthwhile(plan, 0)).isEqualTo(worthwhile);
    var count = new AtomicInteger();
    double[] gram = new double[COLUMNS];
    var combiner =
        new FrontCombiner(
            plan,
            new CombineChecks(),
            (front, position, value, from, n, b, bFrom) -> {
              count.incrementAndGet();
              for (int k = from; k < from + n; k++) {
                gram[position[k]] += value[k] * value[k];
              }
            });
    var random = new Random(5);
    double[] expected = new double[COLUMNS];
    for (int i = 0; i < ROWS; i++) {
      double[] value = random.doubles(COLUMNS, -1, 1).toArray();
      for (int j = 0; j < COLUMNS; j++) {
        expected[j] += value[j] * value[j];
      }
      combiner.add(0, new int[] {0, 1, 2, 3, 4, 5}, value, COLUMNS, new double[] {1});
    }
    combiner.flush();
    assertThat(count).hasValue(sent);
    // rows that were sent are not sent again
    combiner.flush();
    assertThat(count).hasValue(sent);
    double[] one = new double[COLUMNS];
    combiner.add(0, new int[] {0, 1, 2, 3, 4, 5}, one, COLUMNS, new double[] {1});
    combiner.flush();
    assertThat(count).hasValue(sent + 1);
    for (int j = 0; j < COLUMNS; j++) {
      assertThat(gram[j])
          .isCloseTo(
              expected[j], org.assertj.core.data.Offset.offset(Tolerances.REORDERED * expected[j]));
    }
  }

  /**
   * If a reduction changes one entry by 1e-10, its rows are sent unreduced, and this is counted.
   */
  @Test
  void rowsWhoseReductionIsWrongAreSentAsTheyAre() {
    SolvePlan plan = plan(Double.POSITIVE_INFINITY);
    var checks = new CombineChecks();
    var sent = new ArrayList<double[]>();
    var combiner =
        new FrontCombiner(
            plan,
            checks,
            (front, position, value, from, n, b, bFrom) ->
                sent.add(Arrays.copyOfRange(value, from, from + n)),
            (front, rows) -> {
              var reducer = new MapSideReducer(plan.analysis(), front, 1);
              reducer.add(rows);
              RowBlock r = reducer.finish();
              r.value()[1] *= 1 + 1e-10;
              return new FrontCombiner.Reduced(r, reducer.residualSquares());
            });
    var random = new Random(6);
    var expected = new ArrayList<double[]>();
    for (int i = 0; i < 50; i++) {
      double[] value = random.doubles(COLUMNS, -1, 1).toArray();
      expected.add(value);
      combiner.add(0, new int[] {0, 1, 2, 3, 4, 5}, value, COLUMNS, new double[] {1});
    }
    combiner.flush();
    assertThat(sent).containsExactlyElementsOf(expected);
    assertThat(checks.redone()).isEqualTo(1);
    assertThat(checks.departure()).isZero();
    assertThat(combiner.residual()).containsExactly(0);
  }
}
