/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiFunction;

/**
 * Column orders by {@link OrderingMethod}.
 *
 * <p>BEST tries COLAMD, AMD and nested dissection (several times) and takes the least flops.
 *
 * <p>AUTO first orders by AMD, which is the cheapest and is seldom and only slightly worse than
 * COLAMD, and counts the flops of the factorization. Nested dissection, the most expensive, needs
 * about {@value #SECONDS_PER_ADJACENCY} seconds per adjacency of the graph of A'A (the measured
 * range is 4e-7 to 9e-7) and {@value #SECONDS_PER_ENTRY} per entry of A. If the factorization, at
 * its expected rate, takes less time than that, no other order can save the cost of the search, and
 * AMD's is taken; if it takes more, nested dissection and COLAMD are tried too, and the order with
 * the least flops is taken. COLAMD, whose flops are seldom far from AMD's, is left out if the first
 * dissection needs at most half of AMD's. If the factorization takes very much more and the first
 * dissection is not far behind AMD, dissection is repeated with other random choices, which moves
 * its flops by 10 to 25% on graphs without geometry. The choice follows expected rates, not
 * measured seconds, so it is the same on any machine with the same expected rate.
 */
public final class Orderings {

  /** Time of the search for a better order, per adjacency of the graph of A'A. */
  static final double SECONDS_PER_ADJACENCY = 6e-7;

  /** The same per entry of A's distinct rows, which dominates where the rows are dense. */
  static final double SECONDS_PER_ENTRY = 5e-8;

  /** A further run may cost at most one part in this many of the factorization. */
  private static final double VARIANT_SHARE = 30;

  /** Nested dissection is repeated only if its flops are at most this multiple of AMD's. */
  private static final double VARIANT_WORTH = 1.3;

  /** COLAMD is tried only if the first dissection needs more than this multiple of AMD's flops. */
  private static final double COLAMD_WORTH = 0.5;

  /** From this number of processors on, other orders begin before they are known to be wanted. */
  private static final int SEVERAL = 4;

  private Orderings() {}

  /**
   * An order and its origin.
   *
   * @param order P
   * @param method the method used, never AUTO or BEST
   * @param reason one line for the report, such as the grounds of AUTO's choice
   */
  public record Result(Permutation order, OrderingMethod method, String reason) {}

  /**
   * The cost of the factorization under an order.
   *
   * @param flops of all fronts
   * @param flopsPerSecond the expected rate, positive unless there are no flops
   */
  public record Cost(double flops, double flopsPerSecond) {}

  /** A candidate and its flops. */
  private record Trial(Permutation order, OrderingMethod method, double flops) {

    String text() {
      return String.format(Locale.ROOT, "%s %.4g Gflop", method.label(), flops * 1e-9);
    }
  }

  /**
   * Orders the columns of a pattern.
   *
   * @param pattern m x n; singletons already removed
   * @param given the order for GIVEN; otherwise ignored
   * @param cost of the factorization under an order; called by AUTO and BEST only, one at a time
   * @throws IllegalArgumentException if GIVEN has no order
   * @throws io.sparqr.error.DimensionMismatchException if the given order is not of size n
   * @throws io.sparqr.error.IndexOverflowException if the pattern is too large for the method
   */
  public static Result order(
      SparsityPattern pattern,
      OrderingMethod method,
      Optional<Permutation> given,
      BiFunction<SparsityPattern, Permutation, Cost> cost) {
    Objects.requireNonNull(cost, "cost");
    return switch (method) {
      case AUTO -> automatic(pattern, cost);
      case BEST -> best(pattern, cost);
      case GIVEN -> {
        Permutation order =
            given.orElseThrow(() -> new IllegalArgumentException("ordering given, but no order"));
        yield new Result(new Given(order).order(pattern), method, "given by the caller");
      }
      default -> new Result(ordering(method).order(pattern), method, "asked for " + method.label());
    };
  }

  private static ColumnOrdering ordering(OrderingMethod method) {
    return switch (method) {
      case COLAMD -> new Colamd();
      case AMD -> new ApproximateMinimumDegree();
      case NESTED_DISSECTION -> new NestedDissection();
      case NATURAL -> new Natural();
      default -> throw new IllegalArgumentException(method + " is no single ordering");
    };
  }

  private static Trial attempt(
      SparsityPattern pattern,
      OrderingMethod method,
      BiFunction<SparsityPattern, Permutation, Cost> cost) {
    Permutation order = ordering(method).order(pattern);
    return new Trial(order, method, cost.apply(pattern, order).flops);
  }

  private static Result automatic(
      SparsityPattern pattern, BiFunction<SparsityPattern, Permutation, Cost> cost) {
    return automatic(pattern, cost, Runtime.getRuntime().availableProcessors() >= SEVERAL);
  }

  /**
   * AUTO's choice.
   *
   * @param ahead whether threads are idle: in a small graph the other orders then begin beside AMD
   *     and are given up if AMD's is taken, and the repeats of dissection that AMD's flops promise
   *     begin with the first; changes the time, never the result
   */
  static Result automatic(
      SparsityPattern pattern, BiFunction<SparsityPattern, Permutation, Cost> cost, boolean ahead) {
    try (var search = new DissectionSearch(pattern)) {
      return automatic(pattern, cost, ahead, search);
    }
  }

  private static Result automatic(
      SparsityPattern pattern,
      BiFunction<SparsityPattern, Permutation, Cost> cost,
      boolean ahead,
      DissectionSearch search) {
    ApproximateMinimumDegree.Counted first =
        ApproximateMinimumDegree.counted(pattern, ahead ? search::beginIfSmall : () -> {});
    Permutation order = first.order();
    Cost amd = cost.apply(pattern, order);
    Trial cheap = new Trial(order, OrderingMethod.AMD, amd.flops);
    double seconds =
        SECONDS_PER_ADJACENCY * first.adjacencies() + SECONDS_PER_ENTRY * pattern.patternEntries();
    double limit = seconds * amd.flopsPerSecond;
    if (cheap.flops <= limit) {
      String reason =
          String.format(
              Locale.ROOT,
              "auto: %s; trying other orders would cost as much as %.4g Gflop at %.3g Gflop/s",
              cheap.text(),
              limit * 1e-9,
              amd.flopsPerSecond * 1e-9);
      return new Result(cheap.order, cheap.method, reason);
    }
    if (ahead) {
      search.beginColamd();
      search.begin(variants(limit, cheap.flops));
    }
    Trial dissection = dissection(pattern, search, cost, 0);
    boolean farAhead = dissection.flops <= COLAMD_WORTH * cheap.flops;
    if (!farAhead) {
      // on one thread, beside further dissections and the counting of flops
      search.beginColamd();
    }
    boolean again = dissection.flops <= VARIANT_WORTH * cheap.flops;
    int further = again ? variants(limit, dissection.flops) : 0;
    Trial dissected = repeated(pattern, search, cost, dissection, further);
    if (farAhead) {
      Result r = least("auto", cheap, dissected);
      return new Result(
          r.order, r.method, r.reason + "; colamd, seldom far from amd, was not tried");
    }
    Permutation other = search.colamd();
    double count = cost.apply(pattern, other).flops;
    return least("auto", cheap, dissected, new Trial(other, OrderingMethod.COLAMD, count));
  }

  /** How many further dissections cost next to nothing beside a factorization of these flops. */
  private static int variants(double flopsOfATry, double flops) {
    int k = 0;
    while (k + 1 < DissectionSearch.VARIANTS && (k + 1) * VARIANT_SHARE * flopsOfATry < flops) {
      k++;
    }
    return k;
  }

  private static Trial dissection(
      SparsityPattern pattern,
      DissectionSearch search,
      BiFunction<SparsityPattern, Permutation, Cost> cost,
      int k) {
    Permutation order = search.order(k);
    return new Trial(order, OrderingMethod.NESTED_DISSECTION, cost.apply(pattern, order).flops);
  }

  /** The best of the first dissection and the next ones, with other random choices. */
  private static Trial repeated(
      SparsityPattern pattern,
      DissectionSearch search,
      BiFunction<SparsityPattern, Permutation, Cost> cost,
      Trial first,
      int further) {
    search.begin(further);
    Trial best = first;
    for (int k = 1; k <= further; k++) {
      Trial next = dissection(pattern, search, cost, k);
      if (next.flops < best.flops) {
        best = next;
      }
    }
    return best;
  }

  private static Result best(
      SparsityPattern pattern, BiFunction<SparsityPattern, Permutation, Cost> cost) {
    try (var search = new DissectionSearch(pattern)) {
      return least(
          "best",
          attempt(pattern, OrderingMethod.COLAMD, cost),
          attempt(pattern, OrderingMethod.AMD, cost),
          repeated(
              pattern,
              search,
              cost,
              dissection(pattern, search, cost, 0),
              DissectionSearch.VARIANTS - 1));
    }
  }

  /** The trial with the least flops; among equals the first. */
  private static Result least(String who, Trial... trials) {
    Trial winner = trials[0];
    for (Trial t : trials) {
      if (t.flops < winner.flops) {
        winner = t;
      }
    }
    StringBuilder reason = new StringBuilder(who).append(": ").append(winner.text());
    String separator = ", against ";
    for (Trial t : trials) {
      if (t != winner) {
        reason.append(separator).append(t.text());
        separator = ", ";
      }
    }
    return new Result(winner.order, winner.method, reason.toString());
  }
}
