/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.choice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.DimensionMismatchException;
import io.sparqr.ordering.FillCounter;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.ordering.RandomPatterns;
import io.sparqr.ordering.degree.ApproximateMinimumDegree;
import io.sparqr.ordering.degree.Colamd;
import io.sparqr.ordering.dissection.NestedDissection;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.ToDoubleBiFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class OrderingsTest {

  private static final ToDoubleBiFunction<SparsityPattern, Permutation> FLOPS =
      (a, p) -> {
        FillCounter.Graph g = FillCounter.Graph.of(a);
        return FillCounter.cholesky(g.n(), g.ptr(), g.adj(), p.toArray());
      };

  /** Flops a second at which an adjacency is worth 20,000 flops. */
  private static final double RATE = 1e11 / 3;

  private static final BiFunction<SparsityPattern, Permutation, Orderings.Cost> COST =
      (a, p) -> new Orderings.Cost(FLOPS.applyAsDouble(a, p), RATE, 0.1);

  private static final SparsityPattern SMALL = RandomPatterns.of("gen:cells2d12");

  /** Large enough for dissections with other random choices to differ. */
  private static final SparsityPattern GRID = RandomPatterns.of("gen:cells2d40");

  private static Orderings.Result order(SparsityPattern a, OrderingMethod method) {
    return Orderings.order(a, method, Optional.empty(), COST);
  }

  private static Orderings.Result auto(
      BiFunction<SparsityPattern, Permutation, Orderings.Cost> cost) {
    return Orderings.order(SMALL, OrderingMethod.AUTO, Optional.empty(), cost);
  }

  @Test
  void aSingleMethodIsUsedAsAskedAndItsFlopsAreNotCounted() {
    for (OrderingMethod method :
        List.of(
            OrderingMethod.COLAMD,
            OrderingMethod.AMD,
            OrderingMethod.NESTED_DISSECTION,
            OrderingMethod.NATURAL)) {
      Orderings.Result r =
          Orderings.order(
              SMALL,
              method,
              Optional.empty(),
              (a, p) -> {
                throw new AssertionError("flops counted for " + method);
              });
      assertThat(r.method()).isEqualTo(method);
      assertThat(r.reason()).contains(method.label());
    }
    assertThat(order(SMALL, OrderingMethod.NATURAL).order().toArray())
        .isEqualTo(Permutation.identity(SMALL.columns()).toArray());
    assertThat(order(SMALL, OrderingMethod.COLAMD).order().toArray())
        .isEqualTo(new Colamd().order(SMALL).toArray());
  }

  @Test
  void bestTakesTheLeastFlopsOfTheThree() {
    for (SparsityPattern a : RandomPatterns.structuredAndRandom().subList(0, 8)) {
      double least =
          Math.min(
              FLOPS.applyAsDouble(a, new Colamd().order(a)),
              Math.min(
                  FLOPS.applyAsDouble(a, new ApproximateMinimumDegree().order(a)),
                  IntStream.range(0, 4)
                      .mapToDouble(
                          k -> FLOPS.applyAsDouble(a, NestedDissection.variant(k).order(a)))
                      .min()
                      .orElseThrow()));
      Orderings.Result r = order(a, OrderingMethod.BEST);
      assertThat(FLOPS.applyAsDouble(a, r.order())).isEqualTo(least);
      assertThat(r.method())
          .isIn(OrderingMethod.COLAMD, OrderingMethod.AMD, OrderingMethod.NESTED_DISSECTION);
      assertThat(r.reason()).startsWith("best: " + r.method().label()).contains("against");
    }
  }

  @Test
  void autoStopsAtTheCheapOrderWhereLittleIsLeftToSave() {
    AtomicInteger counted = new AtomicInteger();
    Orderings.Result r =
        auto(
            (a, p) -> {
              counted.incrementAndGet();
              return COST.apply(a, p);
            });
    assertThat(r.method()).isEqualTo(OrderingMethod.AMD);
    assertThat(r.reason()).startsWith("auto: amd").contains("would cost");
    assertThat(counted).hasValue(1);
  }

  @Test
  void autoTriesTheOthersWhereTheFlopsAreMany() {
    double[] flops = {1e15, 2e15, 6e14, 7e14, 8e14, 9e14};
    AtomicInteger counted = new AtomicInteger();
    Orderings.Result r =
        auto((a, p) -> new Orderings.Cost(flops[counted.getAndIncrement()], RATE, 0.1));
    assertThat(counted).hasValue(6);
    assertThat(r.method()).isEqualTo(OrderingMethod.NESTED_DISSECTION);
    assertThat(r.order().toArray()).isEqualTo(new NestedDissection().order(SMALL).toArray());
    assertThat(r.reason())
        .isEqualTo("auto: nd 6.000e+05 Gflop, against amd 1.000e+06 Gflop, colamd 2.000e+06 Gflop");
  }

  @Test
  void autoTakesColamdWhereItNeedsTheLeast() {
    double[] flops = {1e15, 5e14, 6e14, 7e14, 8e14, 9e14};
    AtomicInteger counted = new AtomicInteger();
    Orderings.Result r =
        auto((a, p) -> new Orderings.Cost(flops[counted.getAndIncrement()], RATE, 0.1));
    assertThat(r.method()).isEqualTo(OrderingMethod.COLAMD);
    assertThat(r.order().toArray()).isEqualTo(new Colamd().order(SMALL).toArray());
  }

  @Test
  void autoDoesNotRepeatADissectionThatIsFarBehind() {
    double[] flops = {1e15, 2e15, 1.4e15};
    AtomicInteger counted = new AtomicInteger();
    Orderings.Result r =
        auto((a, p) -> new Orderings.Cost(flops[counted.getAndIncrement()], RATE, 0.1));
    assertThat(counted).hasValue(3);
    assertThat(r.method()).isEqualTo(OrderingMethod.AMD);
  }

  @Test
  void autoSearchesLessTheFasterTheFactorizationWillBe() {
    for (double speedUp : new double[] {1, 1e5}) {
      AtomicInteger counted = new AtomicInteger();
      auto(
          (a, p) -> {
            counted.incrementAndGet();
            return new Orderings.Cost(1e11, speedUp * RATE, 0.1);
          });
      // AMD, COLAMD, then nested dissection four times
      assertThat(counted).hasValue(speedUp == 1 ? 6 : 1);
    }
  }

  @Test
  void workBegunAheadChangesNothing() {
    // taken at AMD; at COLAMD; all dissections; the first far behind; fewer dissections wanted than
    // begun
    double[][] flops = {
      {1},
      {1e15, 1e7},
      {1e15, 2e15, 6e14, 7e14, 5e14, 9e14},
      {1e15, 2e15, 1.4e15},
      {1e15, 2e15, 1e7}
    };
    for (double[] f : flops) {
      List<Orderings.Result> results = new ArrayList<>();
      for (int processors : new int[] {1, 4}) {
        AtomicInteger counted = new AtomicInteger();
        results.add(
            Orderings.automatic(
                SMALL,
                (a, p) -> new Orderings.Cost(f[counted.getAndIncrement()], RATE, 0.1),
                processors));
        assertThat(counted).hasValue(f.length);
      }
      assertThat(results.get(1).reason()).isEqualTo(results.get(0).reason());
      assertThat(results.get(1).method()).isEqualTo(results.get(0).method());
      assertThat(results.get(1).order().toArray()).isEqualTo(results.get(0).order().toArray());
    }
  }

  /** Who is late: nobody, AMD, or all that began beside it. */
  private enum Late {
    NOBODY,
    AMD,
    OTHERS
  }

  @ParameterizedTest
  @EnumSource
  void theChoiceIsTheSameOnAnyNumberOfThreadsAndWhoeverIsLate(Late late) throws Exception {
    int[] threads = {1, 2, 8, 16};
    Set<Integer> orders = new HashSet<>();
    for (int k = 0; k < threads.length; k++) {
      // dissection number k wins
      Orderings.Result expected = Orderings.automatic(GRID, leastAt(k + 2, () -> {}), 1);
      assertThat(expected.order().toArray())
          .isEqualTo(NestedDissection.variant(k).order(GRID).toArray());
      assertThat(orders.add(Arrays.hashCode(expected.order().toArray()))).isTrue();
      Orderings.Result r = automatic(threads[k], k + 2, late);
      assertThat(r.reason()).isEqualTo(expected.reason());
      assertThat(r.method()).isEqualTo(expected.method());
      assertThat(r.order().toArray()).isEqualTo(expected.order().toArray());
    }
  }

  /** Costs at which all orders are tried and the one counted as number {@code winner} is taken. */
  private static BiFunction<SparsityPattern, Permutation, Orderings.Cost> leastAt(
      int winner, Runnable amdCounted) {
    AtomicInteger counted = new AtomicInteger();
    return (a, p) -> {
      int k = counted.getAndIncrement();
      if (k == 0) {
        amdCounted.run();
      }
      return new Orderings.Cost(k == winner ? 1e14 : 1e15, RATE, 0.1);
    };
  }

  private static Orderings.Result automatic(int threads, int winner, Late late) throws Exception {
    CountDownLatch amdCounted = new CountDownLatch(1);
    int busy = late == Late.OTHERS ? ForkJoinPool.commonPool().getParallelism() : 0;
    for (int k = 0; k < busy; k++) {
      ForkJoinPool.commonPool().execute(() -> await(amdCounted));
    }
    BiFunction<SparsityPattern, Permutation, Orderings.Cost> cost =
        leastAt(
            winner,
            () -> {
              if (late == Late.AMD) {
                pause();
              }
              amdCounted.countDown();
            });
    ForkJoinPool pool = new ForkJoinPool(threads);
    try {
      return pool.submit(() -> Orderings.automatic(GRID, cost, 4)).get(2, TimeUnit.MINUTES);
    } finally {
      amdCounted.countDown();
      pool.shutdown();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Long enough for the dissections of a small graph. */
  private static void pause() {
    try {
      Thread.sleep(200);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @ParameterizedTest
  @EnumSource(value = OrderingMethod.class, names = "GIVEN", mode = EnumSource.Mode.EXCLUDE)
  void everyMethodTakesEmptyPatterns(OrderingMethod method) {
    for (int n : new int[] {0, 1, 5}) {
      assertThat(order(RandomPatterns.of(n, List.of()), method).order().size()).isEqualTo(n);
    }
  }

  @Test
  void givenIsGivenBackAndItsSizeChecked() {
    Permutation reversed = new Permutation(new int[] {2, 1, 0});
    SparsityPattern a = RandomPatterns.uniform(4, 3, 2, 1);
    Orderings.Result r = Orderings.order(a, OrderingMethod.GIVEN, Optional.of(reversed), COST);
    assertThat(r.order()).isSameAs(reversed);
    assertThat(r.method()).isEqualTo(OrderingMethod.GIVEN);
    assertThatThrownBy(
            () -> Orderings.order(SMALL, OrderingMethod.GIVEN, Optional.of(reversed), COST))
        .isInstanceOf(DimensionMismatchException.class)
        .hasMessageContaining("3 columns, the matrix 144");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> order(SMALL, OrderingMethod.GIVEN))
        .withMessageContaining("no order");
  }

  @Test
  void namesAreParsedAndAnUnknownOneListsTheLegal() {
    for (OrderingMethod method : OrderingMethod.values()) {
      assertThat(OrderingMethod.parse(method.label())).isEqualTo(method);
      assertThat(OrderingMethod.parse(method.name())).isEqualTo(method);
    }
    assertThat(OrderingMethod.parse("ND")).isEqualTo(OrderingMethod.NESTED_DISSECTION);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> OrderingMethod.parse("metis"))
        .withMessage(
            "unknown ordering 'metis': legal are auto, colamd, amd, nd, natural, given, best");
  }
}
