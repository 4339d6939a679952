/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.choice;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.ordering.OrderingMethod;
import io.sparqr.ordering.RandomPatterns;
import io.sparqr.ordering.StopRequest;
import io.sparqr.ordering.degree.ApproximateMinimumDegree;
import io.sparqr.ordering.degree.Colamd;
import io.sparqr.ordering.degree.RowCliques;
import io.sparqr.ordering.dissection.NestedDissection;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

/** Which orders AUTO makes, in which sequence, for the kinds of patterns that it distinguishes. */
class AutomaticOrderTest {

  private static final double RATE = 1e11 / 3;

  /** 17576 columns: large enough to be looked at. */
  private static final SparsityPattern SOLID = RandomPatterns.of("gen:cells3d26");

  private static final SparsityPattern PLANE = RandomPatterns.of("gen:cells2d150");

  /** Rows of 30 entries: nearly half a million entries of cliques. */
  private static final SparsityPattern LONG_ROWS = RandomPatterns.uniform(500, 2000, 30, 7);

  /** The orders whose flops were counted, and their flops in turn; the last for all further. */
  private static final class Costs
      implements BiFunction<SparsityPattern, Permutation, Orderings.Cost> {
    private final double[] flops;
    private double fullness = 0.1;
    final List<int[]> orders = new ArrayList<>();

    Costs(double... flops) {
      this.flops = flops;
    }

    @Override
    public Orderings.Cost apply(SparsityPattern pattern, Permutation order) {
      orders.add(order.toArray());
      return new Orderings.Cost(flops[Math.min(orders.size(), flops.length) - 1], RATE, fullness);
    }
  }

  private static int[] amd(SparsityPattern a) {
    return new ApproximateMinimumDegree().order(a).toArray();
  }

  private static int[] colamd(SparsityPattern a) {
    return new Colamd().order(a).toArray();
  }

  private static int[] dissection(SparsityPattern a) {
    return new NestedDissection().order(a).toArray();
  }

  @Test
  void aSolidIsDissectedAndNothingElseIsWaitedFor() {
    int[] expected = dissection(SOLID);
    for (int processors : new int[] {1, 2, 4, 16}) {
      var costs = new Costs(4e9);
      Orderings.Result r = Orderings.automatic(SOLID, costs, processors);
      assertThat(costs.orders.size()).isEqualTo(1);
      assertThat(r.order().toArray()).isEqualTo(expected);
      assertThat(r.method()).isEqualTo(OrderingMethod.NESTED_DISSECTION);
      assertThat(r.reason()).startsWith("auto: nd 4.000 Gflop").contains("like a solid's");
    }
  }

  @Test
  void inASolidOfVeryManyFlopsMinimumDegreeMayStillWin() {
    // 1e15 flops: four dissections and minimum degree cost less than a thousandth
    for (int processors : new int[] {1, 4}) {
      var costs = new Costs(1e15, 2e15, 2e15, 2e15, 9e14);
      Orderings.Result r = Orderings.automatic(SOLID, costs, processors);
      assertThat(costs.orders.size()).isEqualTo(5);
      assertThat(r.method()).isEqualTo(OrderingMethod.AMD);
      assertThat(r.order().toArray()).isEqualTo(amd(SOLID));
    }
  }

  @Test
  void aPlaneIsOrderedByMinimumDegreeAsLongAsItHasFewFlops() {
    for (int processors : new int[] {1, 2, 4, 16}) {
      var costs = new Costs(1e9);
      Orderings.Result r = Orderings.automatic(PLANE, costs, processors);
      assertThat(costs.orders.size()).isEqualTo(1);
      assertThat(r.order().toArray()).isEqualTo(amd(PLANE));
    }
    var many = new Costs(1e11, 9e10);
    Orderings.Result r = Orderings.automatic(PLANE, many, 2);
    assertThat(r.order().toArray()).isEqualTo(dissection(PLANE));
    assertThat(many.orders.get(0)).isEqualTo(amd(PLANE));
  }

  @Test
  void longRowsAreOrderedByColamdFirst() {
    var few = new Costs(1e8);
    Orderings.Result r = Orderings.automatic(LONG_ROWS, few, 2);
    assertThat(few.orders.size()).isEqualTo(1);
    assertThat(r.order().toArray()).isEqualTo(colamd(LONG_ROWS));
    assertThat(r.method()).isEqualTo(OrderingMethod.COLAMD);
    for (int processors : new int[] {1, 4}) {
      // COLAMD, minimum degree, one dissection
      var many = new Costs(4e10, 3.8e10, 5e10);
      r = Orderings.automatic(LONG_ROWS, many, processors);
      assertThat(many.orders.size()).isEqualTo(3);
      assertThat(many.orders.get(2)).isEqualTo(dissection(LONG_ROWS));
      assertThat(r.order().toArray()).isEqualTo(amd(LONG_ROWS));
      assertThat(r.method()).isEqualTo(OrderingMethod.AMD);
    }
  }

  @Test
  void aThirdOrderIsMadeOnlyIfItsTimeIsForetoldToPay() {
    double aTry = SearchEffort.of(PLANE).dissection(RowCliques.of(PLANE).adjacencies()) * RATE;
    var costs = new Costs(1.5 * aTry, 1.4 * aTry);
    Orderings.Result r = Orderings.automatic(PLANE, costs, 2);
    assertThat(costs.orders.size()).isEqualTo(2);
    assertThat(r.reason()).endsWith("; colamd, seldom far from amd, was not tried");
  }

  @Test
  void aDissectionFarAheadOfMinimumDegreeLeavesColamdOut() {
    // as far as the first dissection, whatever its repeats need
    var costs = new Costs(1e15, 5e14, 4e14, 7e14, 8e14);
    Orderings.Result r = Orderings.automatic(PLANE, costs, 1);
    assertThat(costs.orders.size()).isEqualTo(5);
    assertThat(r.order().toArray()).isEqualTo(NestedDissection.variant(1).order(PLANE).toArray());
    assertThat(r.reason())
        .isEqualTo(
            "auto: nd 4.000e+05 Gflop, against amd 1.000e+06 Gflop; colamd, seldom far from amd,"
                + " was not tried");
  }

  @Test
  void inASmallGraphColamdIsTriedBeforeDissection() {
    SparsityPattern small = RandomPatterns.uniform(1200, 400, 3, 5);
    double colamd = SearchEffort.of(small).colamd() * RATE;
    for (int processors : new int[] {1, 2, 4}) {
      // a seventh of the factorization is less than COLAMD takes
      var few = new Costs(6.5 * colamd, 1);
      few.fullness = 0.9; // so that no dissection pays
      assertThat(Orderings.automatic(small, few, processors).method())
          .isEqualTo(OrderingMethod.AMD);
      assertThat(few.orders.size()).isEqualTo(1);
      var more = new Costs(6.8 * colamd, 1);
      more.fullness = 0.9;
      Orderings.Result r = Orderings.automatic(small, more, processors);
      assertThat(r.method()).isEqualTo(OrderingMethod.COLAMD);
      assertThat(r.order().toArray()).isEqualTo(colamd(small));
      assertThat(more.orders.size()).isEqualTo(2);
    }
  }

  @Test
  void whereTheCheapOrdersAreFarApartADissectionHasToPayTwice() {
    SparsityPattern small = RandomPatterns.uniform(1200, 400, 3, 5);
    double adjacencies =
        ApproximateMinimumDegree.counted(small, () -> {}, new StopRequest()).adjacencies();
    double aTry = SearchEffort.of(small).dissection(adjacencies) * RATE;
    for (double apart : new double[] {0.79, 0.81}) {
      for (double times : new double[] {1.6, 1.9, 2.1}) {
        var costs = new Costs(times * aTry / apart, times * aTry);
        Orderings.automatic(small, costs, 2);
        assertThat(costs.orders.size() > 2).isEqualTo(apart > 0.8 || times > 2);
      }
    }
  }

  @Test
  void inATallPatternAnotherOrderHasToPayThreeTimes() {
    SparsityPattern tall = RandomPatterns.uniform(100_000, 300, 3, 5);
    SearchEffort effort = SearchEffort.of(tall);
    assertThat(effort.tall()).isTrue();
    double adjacencies =
        ApproximateMinimumDegree.counted(tall, () -> {}, new StopRequest()).adjacencies();
    double aTry = effort.dissection(adjacencies) * RATE;
    for (double times : new double[] {2.9, 3.1}) {
      var costs = new Costs(times * aTry);
      Orderings.automatic(tall, costs, 2);
      assertThat(dissected(costs, tall)).isEqualTo(times > 3);
    }
  }

  @Test
  void whereRIsNearlyFullAnotherOrderHasToPaySevenTimes() {
    SparsityPattern dense = RandomPatterns.uniform(3000, 500, 3, 5);
    SearchEffort effort = SearchEffort.of(dense);
    assertThat(effort.tall()).isFalse();
    double adjacencies =
        ApproximateMinimumDegree.counted(dense, () -> {}, new StopRequest()).adjacencies();
    double aTry = effort.dissection(adjacencies) * RATE;
    for (double fullness : new double[] {0.74, 0.76}) {
      for (double times : new double[] {1.1, 6.5, 6.8}) {
        var costs = new Costs(times * aTry);
        costs.fullness = fullness;
        Orderings.automatic(dense, costs, 2);
        assertThat(dissected(costs, dense)).isEqualTo(fullness < 0.75 || times > 6.7);
      }
    }
  }

  @Test
  void ofAWidePatternAFullTriangleSaysNothing() {
    SparsityPattern wide = RandomPatterns.uniform(400, 500, 3, 5);
    double adjacencies =
        ApproximateMinimumDegree.counted(wide, () -> {}, new StopRequest()).adjacencies();
    var costs = new Costs(2 * SearchEffort.of(wide).dissection(adjacencies) * RATE);
    costs.fullness = 0.9;
    Orderings.automatic(wide, costs, 2);
    assertThat(dissected(costs, wide)).isTrue();
  }

  private static boolean dissected(Costs costs, SparsityPattern a) {
    int[] dissection = dissection(a);
    return costs.orders.stream().anyMatch(order -> Arrays.equals(order, dissection));
  }
}
