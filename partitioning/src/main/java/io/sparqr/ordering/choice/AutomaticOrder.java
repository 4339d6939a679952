/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.choice;

import io.sparqr.ordering.OrderingMethod;
import io.sparqr.ordering.StopRequest;
import io.sparqr.ordering.choice.Orderings.Cost;
import io.sparqr.ordering.choice.Orderings.Result;
import io.sparqr.ordering.choice.Orderings.Trial;
import io.sparqr.ordering.degree.ApproximateMinimumDegree;
import io.sparqr.ordering.degree.ApproximateMinimumDegree.Counted;
import io.sparqr.ordering.dissection.LevelStructure;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.threads.Later;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BiFunction;

/**
 * AUTO: which orders of a pattern are worth their time, and the best of these. See {@link
 * Orderings} for the rule. All decisions follow from sizes, flops and the expected rate, never from
 * a clock or the number of processors; processors decide only what begins before it is wanted.
 */
final class AutomaticOrder implements AutoCloseable {

  /** Graphs of fewer columns are ordered by minimum degree before one could look at them. */
  private static final int LEAST_SOLID = 1 << 14;

  /** To look at a graph, it is made: only if that takes about the memory that dissection may. */
  private static final long CLIQUE_ENTRIES = 1L << 24;

  private static final int CLIQUE_ENTRIES_PER_ENTRY = 40;

  /** A further dissection may cost at most one part in this many of the factorization. */
  private static final double VARIANT_SHARE = 30;

  /** Nested dissection is repeated only if its flops are at most this multiple of the first's. */
  private static final double VARIANT_WORTH = 1.3;

  /** A third order is tried only if dissection needs more than this multiple of the first's. */
  private static final double THIRD_WORTH = 0.5;

  /** What a third order is expected to save of the factorization where there is no telling. */
  private static final double THIRD_SAVES = 0.15;

  /** The most that another order can be expected to save in a tall pattern. */
  private static final double TALL_SAVES = 1 / 3.0;

  /** The second cheap order is far below the first if it needs at most this part of its flops. */
  private static final double FAR_BELOW = 0.8;

  /** The most that a dissection can be expected to save where the second is far below the first. */
  private static final double IRREGULAR_SAVES = 0.5;

  /**
   * From this part of a full triangle on, R is nearly full, and every order needs about as much.
   */
  private static final double FULL = 0.75;

  /** The most that another order can be expected to save where R is nearly full. */
  private static final double FULL_SAVES = 0.15;

  /** In a solid, minimum degree is tried if it costs less than this part of the factorization. */
  private static final double INSURANCE = 0.005;

  private final SparsityPattern pattern;
  private final BiFunction<SparsityPattern, Permutation, Cost> cost;
  private final int processors;
  private final SearchEffort effort;
  private final DissectionSearch search;
  private final StopRequest degreeStop = new StopRequest();
  private final Later<Counted> minimumDegree;

  /** Whether the graph is looked at, so that the first dissection does not begin by itself. */
  private final boolean looked;

  /**
   * Begins nothing.
   *
   * @param processors that are idle; changes the time, never the result
   */
  AutomaticOrder(
      SparsityPattern pattern,
      BiFunction<SparsityPattern, Permutation, Cost> cost,
      int processors) {
    this.pattern = pattern;
    this.cost = cost;
    this.processors = processors;
    effort = SearchEffort.of(pattern);
    search = new DissectionSearch(pattern, effort.cliqueEntries());
    looked =
        pattern.columns() >= LEAST_SOLID
            && effort.cliqueEntries()
                <= Math.max(CLIQUE_ENTRIES, CLIQUE_ENTRIES_PER_ENTRY * effort.entries());
    Runnable beside = () -> {};
    if (!looked && processors > 1) {
      beside = ahead() ? search::beginIfSmall : search::beginColamdIfSmall;
    }
    Runnable others = beside;
    minimumDegree =
        new Later<>(() -> ApproximateMinimumDegree.counted(pattern, others, degreeStop));
  }

  private boolean ahead() {
    return processors >= Orderings.SEVERAL;
  }

  /** Chooses the order; may be called once. */
  Result choose() {
    if (looked) {
      if (processors > 1) {
        beginCheap();
      }
      if (ahead()) {
        search.beginDissectionIfSmall();
      }
      if (LevelStructure.solid(pattern)) {
        degreeStop.request();
        return ofSolid();
      }
      if (ahead()) {
        search.beginIfSmall();
      }
    }
    return ofOther();
  }

  private void beginCheap() {
    if (effort.longRows()) {
      search.beginColamd();
    } else {
      minimumDegree.begin();
    }
  }

  /** Dissection; minimum degree only as an insurance that costs next to nothing. */
  private Result ofSolid() {
    double adjacencies = search.graph().entries();
    Permutation order = search.order(0);
    Cost counted = cost.apply(pattern, order);
    Trial first = new Trial(order, OrderingMethod.NESTED_DISSECTION, counted.flops());
    double second = counted.flopsPerSecond();
    Trial best = repeated(first, variants(effort.dissection(adjacencies) * second, first.flops()));
    if (effort.minimumDegree(adjacencies) * second < INSURANCE * best.flops()) {
      Permutation degree = new ApproximateMinimumDegree().order(pattern);
      double flops = cost.apply(pattern, degree).flops();
      return Orderings.least("auto", List.of(best, new Trial(degree, OrderingMethod.AMD, flops)));
    }
    String reason =
        "auto: %s; the graph has separators like a solid's, in which amd is far behind"
            .formatted(best.text());
    return new Result(best.order(), best.method(), reason);
  }

  /**
   * Minimum degree, or COLAMD where rows are long; the other of the two, and dissection, where the
   * flops promise to pay for them.
   */
  private Result ofOther() {
    boolean longRows = effort.longRows();
    double adjacencies;
    Permutation order;
    if (longRows) {
      order = search.colamd();
      adjacencies = effort.mostAdjacencies();
    } else {
      Counted counted = minimumDegree.get();
      order = counted.order();
      adjacencies = counted.adjacencies();
    }
    Cost counted = cost.apply(pattern, order);
    double rate = counted.flopsPerSecond();
    Trial cheap =
        new Trial(order, longRows ? OrderingMethod.COLAMD : OrderingMethod.AMD, counted.flops());
    double effortOfOther = longRows ? effort.minimumDegree(adjacencies) : effort.colamd();
    List<Trial> trials = new ArrayList<>(List.of(cheap));
    // A dissection of a small graph takes several times as long as both cheap orders.
    if (!looked && effortOfOther * rate < THIRD_SAVES * cheap.flops()) {
      trials.add(otherThan(cheap));
    }
    double least = trials.stream().mapToDouble(Trial::flops).min().orElseThrow();
    boolean irregular = trials.size() > 1 && trials.get(1).flops() <= FAR_BELOW * cheap.flops();
    double aTry = effort.dissection(adjacencies) * rate;
    double limit = aTry / saves(counted.fullness(), irregular);
    if (least <= limit) {
      Result r = Orderings.least("auto", trials);
      String reason =
          String.format(
              Locale.ROOT,
              "%s; trying other orders would cost as much as %.4g Gflop at %.3g Gflop/s",
              r.reason(),
              limit * 1e-9,
              rate * 1e-9);
      return new Result(r.order(), r.method(), reason);
    }
    if (ahead()) {
      search.begin(variants(aTry, least));
    }
    Trial dissection = dissection(0);
    boolean again = dissection.flops() <= VARIANT_WORTH * least;
    Trial dissected = repeated(dissection, again ? variants(aTry, dissection.flops()) : 0);
    trials.add(1, dissected);
    if (trials.size() == 2) {
      double saved = THIRD_SAVES * Math.min(least, dissected.flops());
      boolean farAhead = dissection.flops() <= THIRD_WORTH * least;
      if (farAhead || saved <= effortOfOther * rate) {
        Result r = Orderings.least("auto", trials);
        String left =
            "%s; %s, seldom far from %s, was not tried"
                .formatted(r.reason(), other(cheap.method()).label(), cheap.method().label());
        return new Result(r.order(), r.method(), left);
      }
      trials.add(otherThan(cheap));
    }
    return Orderings.least("auto", trials);
  }

  private static OrderingMethod other(OrderingMethod cheap) {
    return cheap == OrderingMethod.AMD ? OrderingMethod.COLAMD : OrderingMethod.AMD;
  }

  /** COLAMD if the first was minimum degree, and the other way round. */
  private Trial otherThan(Trial first) {
    OrderingMethod method = other(first.method());
    Permutation order =
        method == OrderingMethod.AMD ? minimumDegree.get().order() : search.colamd();
    return new Trial(order, method, cost.apply(pattern, order).flops());
  }

  /**
   * The most that a dissection can be expected to save of the factorization.
   *
   * @param irregular whether the second cheap order is far below the first
   */
  private double saves(double fullness, boolean irregular) {
    if (fullness >= FULL && effort.rows() >= effort.columns()) {
      return FULL_SAVES;
    }
    return effort.tall() ? TALL_SAVES : irregular ? IRREGULAR_SAVES : 1;
  }

  /** How many further dissections cost next to nothing beside a factorization of these flops. */
  private static int variants(double flopsOfATry, double flops) {
    int k = 0;
    while (k + 1 < DissectionSearch.VARIANTS && (k + 1) * VARIANT_SHARE * flopsOfATry < flops) {
      k++;
    }
    return k;
  }

  private Trial dissection(int k) {
    Permutation order = search.order(k);
    return new Trial(order, OrderingMethod.NESTED_DISSECTION, cost.apply(pattern, order).flops());
  }

  /** The best of the first dissection and the next ones, with other random choices. */
  private Trial repeated(Trial first, int further) {
    search.begin(further);
    Trial best = first;
    for (int k = 1; k <= further; k++) {
      Trial next = dissection(k);
      if (next.flops() < best.flops()) {
        best = next;
      }
    }
    return best;
  }

  /** Gives up what is under way, without waiting for it. */
  @Override
  public void close() {
    degreeStop.request();
    search.close();
  }
}
