/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;

/**
 * Column orders by {@link OrderingMethod}.
 *
 * <p>BEST tries COLAMD, AMD and nested dissection (several times) and takes the least flops.
 *
 * <p>AUTO orders by AMD first, which is the cheapest and loses to COLAMD seldom and by little, and
 * counts the flops that the factorization would take. Nested dissection, the most expensive, needs
 * some {@value #SECONDS_PER_ADJACENCY} seconds for each adjacency of the graph of A'A (the measured
 * range is 4e-7 to 9e-7) and {@value #SECONDS_PER_ENTRY} for each entry of A. Where the
 * factorization takes less than that at the rate that it is expected to go at, no other order can
 * save what the search for it costs, and AMD's is taken; where it takes more, nested dissection and
 * COLAMD are tried too, and the least flops are taken. Where it takes very much more and the first
 * dissection is not far behind AMD, it is repeated with other random choices, which moves its flops
 * by 10 to 25% on graphs without geometry. Expected rates decide, not measured seconds: the choice
 * is the same on any machine that is told the same rate.
 */
public final class Orderings {

  /** What the search for a better order takes, for each adjacency of the graph of A'A. */
  static final double SECONDS_PER_ADJACENCY = 6e-7;

  /** And for each entry of A's distinct rows: all that counts where these are dense. */
  static final double SECONDS_PER_ENTRY = 5e-8;

  /** Most runs of nested dissection, each with other random choices. */
  private static final int VARIANTS = 4;

  /** A further run may cost this part of the factorization at most, as 1 / share. */
  private static final double VARIANT_SHARE = 30;

  /** Nested dissection is repeated only if it takes at most so many times AMD's flops. */
  private static final double VARIANT_WORTH = 1.3;

  private Orderings() {}

  /**
   * An order and where it is from.
   *
   * @param order P
   * @param method what made it: never AUTO nor BEST
   * @param reason one line for the report, such as why AUTO chose the method
   */
  public record Result(Permutation order, OrderingMethod method, String reason) {}

  /**
   * What a factorization costs under an order.
   *
   * @param flops of all fronts
   * @param flopsPerSecond at which they are expected to go, greater than 0 unless there are none
   */
  public record Cost(double flops, double flopsPerSecond) {}

  /** A candidate and the flops it leads to. */
  private record Trial(Permutation order, OrderingMethod method, double flops) {

    String text() {
      return String.format(Locale.ROOT, "%s %.4g Gflop", method.label(), flops * 1e-9);
    }
  }

  /**
   * Orders the columns of a pattern.
   *
   * @param pattern m x n; singletons already taken out
   * @param given the order for GIVEN; not looked at otherwise
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
    ApproximateMinimumDegree.Counted first = ApproximateMinimumDegree.counted(pattern);
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
    // COLAMD runs on one thread, beside a dissection that seldom keeps all of them busy
    var colamd = CompletableFuture.supplyAsync(() -> new Colamd().order(pattern));
    Trial dissected = attempt(pattern, OrderingMethod.NESTED_DISSECTION, cost);
    if (dissected.flops <= VARIANT_WORTH * cheap.flops) {
      dissected = repeated(pattern, dissected, cost, limit);
    }
    Permutation other = colamd.join();
    double count = cost.apply(pattern, other).flops;
    return least("auto", cheap, dissected, new Trial(other, OrderingMethod.COLAMD, count));
  }

  /** Nested dissection with other random choices while that costs next to nothing. */
  private static Trial repeated(
      SparsityPattern pattern,
      Trial first,
      BiFunction<SparsityPattern, Permutation, Cost> cost,
      double flopsOfATry) {
    List<CompletableFuture<Permutation>> variants = new ArrayList<>();
    for (int k = 1; k < VARIANTS && k * VARIANT_SHARE * flopsOfATry < first.flops; k++) {
      NestedDissection variant = NestedDissection.variant(k);
      variants.add(CompletableFuture.supplyAsync(() -> variant.order(pattern)));
    }
    Trial best = first;
    for (var variant : variants) {
      Permutation order = variant.join();
      double count = cost.apply(pattern, order).flops;
      best = count < best.flops ? new Trial(order, best.method, count) : best;
    }
    return best;
  }

  private static Result best(
      SparsityPattern pattern, BiFunction<SparsityPattern, Permutation, Cost> cost) {
    Trial dissected = attempt(pattern, OrderingMethod.NESTED_DISSECTION, cost);
    return least(
        "best",
        attempt(pattern, OrderingMethod.COLAMD, cost),
        attempt(pattern, OrderingMethod.AMD, cost),
        repeated(pattern, dissected, cost, 0));
  }

  /** The least flops; of equals the first. */
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
