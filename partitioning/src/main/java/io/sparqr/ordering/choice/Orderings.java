/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.choice;

import io.sparqr.ordering.ColumnOrdering;
import io.sparqr.ordering.Given;
import io.sparqr.ordering.Natural;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.ordering.degree.ApproximateMinimumDegree;
import io.sparqr.ordering.degree.Colamd;
import io.sparqr.ordering.dissection.LevelStructure;
import io.sparqr.ordering.dissection.NestedDissection;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiFunction;

/**
 * Column orders by {@link OrderingMethod}.
 *
 * <p>BEST tries COLAMD, AMD and nested dissection (several times) and takes the least flops.
 *
 * <p>AUTO takes dissection for a graph of A'A that looks like a solid ({@link LevelStructure}): on
 * three-dimensional meshes and their like minimum degree needs three to seven times the flops, and
 * would be waited for. Any other graph is first ordered by minimum degree, or by COLAMD where rows
 * are so long that the graph of A'A costs more than the order, and the flops of the factorization
 * are counted. In a graph of few columns the other of these two is tried as well if a seventh of
 * the factorization takes longer. If at its expected rate the better one's factorization takes less
 * time than a dissection is predicted to take ({@link SearchEffort}), or less than twice that where
 * the second is far below the first, less than three times that in a tall matrix, where orders
 * differ little, or less than seven times that where R is nearly a full triangle, no dissection can
 * save the cost of the search. Otherwise it is tried too. In a larger graph the third order, COLAMD
 * or minimum degree, is seldom far from the first; it is tried if dissection needs more than half
 * of the first's flops, and a seventh of the factorization takes longer. The order with the least
 * flops is taken. If the factorization takes very much more than a dissection and the first is not
 * far behind, dissection is repeated with other random choices, which moves its flops by 10 to 25%
 * on graphs without geometry. The choice follows sizes, flops and expected rates, not measured
 * seconds, so it is the same on any machine with the same expected rate.
 */
public final class Orderings {

  /** From this number of processors on, other orders begin before they are known to be wanted. */
  static final int SEVERAL = 4;

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
   * @param fullness entries of R over those of a full triangle, or the part of the flops that one
   *     full triangle has, from 0 to 1
   */
  public record Cost(double flops, double flopsPerSecond, double fullness) {}

  /** A candidate and its flops. */
  record Trial(Permutation order, OrderingMethod method, double flops) {

    /** Method and flops, as the report has them. */
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
      default -> throw new IllegalArgumentException(method + " is not a single ordering");
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
    return automatic(pattern, cost, Runtime.getRuntime().availableProcessors());
  }

  /**
   * AUTO's choice.
   *
   * @param processors that are idle: on two, minimum degree begins while the graph is looked at; on
   *     {@value #SEVERAL}, the other orders of a small graph begin beside minimum degree, and are
   *     given up if its order is taken; changes the time, never the result
   */
  static Result automatic(
      SparsityPattern pattern,
      BiFunction<SparsityPattern, Permutation, Cost> cost,
      int processors) {
    try (var choice = new AutomaticOrder(pattern, cost, processors)) {
      return choice.choose();
    }
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
          List.of(
              attempt(pattern, OrderingMethod.COLAMD, cost),
              attempt(pattern, OrderingMethod.AMD, cost),
              repeated(
                  pattern,
                  search,
                  cost,
                  dissection(pattern, search, cost, 0),
                  DissectionSearch.VARIANTS - 1)));
    }
  }

  /** The trial with the least flops; among equals the first. */
  static Result least(String who, List<Trial> trials) {
    int best = 0;
    for (int k = 1; k < trials.size(); k++) {
      if (trials.get(k).flops < trials.get(best).flops) {
        best = k;
      }
    }
    Trial winner = trials.get(best);
    StringBuilder reason = new StringBuilder(who).append(": ").append(winner.text());
    String separator = ", against ";
    for (int k = 0; k < trials.size(); k++) {
      if (k != best) {
        reason.append(separator).append(trials.get(k).text());
        separator = ", ";
      }
    }
    return new Result(winner.order, winner.method, reason.toString());
  }
}
