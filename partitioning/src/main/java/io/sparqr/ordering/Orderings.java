/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.ToDoubleBiFunction;

/**
 * Column orders by {@link OrderingMethod}.
 *
 * <p>BEST tries COLAMD, AMD and nested dissection (several times) and takes the least flops.
 *
 * <p>AUTO orders by AMD first, which is the cheapest and loses to COLAMD seldom and by little, and
 * counts the flops that the factorization would take. Nested dissection, the most expensive, needs
 * some 0.6 microseconds for each adjacency of the graph of A'A (the measured range is 0.4 to 0.9),
 * the time of some {@value #FLOPS_PER_ADJACENCY} flops on the processor that orders. Where the
 * flops are fewer than that for each adjacency, no other order can save what the search for it
 * costs, and AMD's is taken; where they are more, nested dissection and COLAMD are tried too, and
 * the least flops are taken. Where the flops are very many, nested dissection is repeated with
 * other random choices, which moves its flops by 10 to 25% on graphs without geometry. Flops, not
 * seconds, decide: the choice is the same on any machine.
 */
public final class Orderings {

  /** Flops of a factorization that the search for a better order costs, for each adjacency. */
  static final double FLOPS_PER_ADJACENCY = 20_000;

  /** Most runs of nested dissection, each with other random choices. */
  private static final int VARIANTS = 4;

  /** A further run may cost this part of the factorization at most, as 1 / share. */
  private static final double VARIANT_SHARE = 30;

  private Orderings() {}

  /**
   * An order and where it is from.
   *
   * @param order P
   * @param method what made it: never AUTO nor BEST
   * @param reason one line for the report, such as why AUTO chose the method
   */
  public record Result(Permutation order, OrderingMethod method, String reason) {}

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
   * @param flops counts the flops of the factorization under an order; called by AUTO and BEST only
   * @throws IllegalArgumentException if GIVEN has no order
   * @throws io.sparqr.error.DimensionMismatchException if the given order is not of size n
   * @throws io.sparqr.error.IndexOverflowException if the pattern is too large for the method
   */
  public static Result order(
      SparsityPattern pattern,
      OrderingMethod method,
      Optional<Permutation> given,
      ToDoubleBiFunction<SparsityPattern, Permutation> flops) {
    Objects.requireNonNull(flops, "flops");
    return switch (method) {
      case AUTO -> automatic(pattern, flops);
      case BEST -> best(pattern, flops);
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
      ToDoubleBiFunction<SparsityPattern, Permutation> flops) {
    Permutation order = ordering(method).order(pattern);
    return new Trial(order, method, flops.applyAsDouble(pattern, order));
  }

  private static Result automatic(
      SparsityPattern pattern, ToDoubleBiFunction<SparsityPattern, Permutation> flops) {
    RowCliques rows = RowCliques.of(pattern);
    Permutation order = ApproximateMinimumDegree.order(rows, pattern.patternEntries());
    Trial cheap = new Trial(order, OrderingMethod.AMD, flops.applyAsDouble(pattern, order));
    double limit = FLOPS_PER_ADJACENCY * rows.adjacencies();
    if (cheap.flops <= limit) {
      String reason =
          String.format(
              Locale.ROOT,
              "auto: %s; trying other orders would cost as much as %.4g Gflop",
              cheap.text(),
              limit * 1e-9);
      return new Result(cheap.order, cheap.method, reason);
    }
    // COLAMD runs on one thread and nested dissection mostly on one: together they cost the longer
    var colamd = CompletableFuture.supplyAsync(() -> new Colamd().order(pattern));
    Trial dissected = dissected(pattern, flops, limit);
    Permutation other = colamd.join();
    double count = flops.applyAsDouble(pattern, other);
    return least("auto", cheap, dissected, new Trial(other, OrderingMethod.COLAMD, count));
  }

  /** Nested dissection, repeated with other random choices while that costs next to nothing. */
  private static Trial dissected(
      SparsityPattern pattern,
      ToDoubleBiFunction<SparsityPattern, Permutation> flops,
      double flopsOfATry) {
    Trial best = attempt(pattern, OrderingMethod.NESTED_DISSECTION, flops);
    for (int k = 1; k < VARIANTS && k * VARIANT_SHARE * flopsOfATry < best.flops; k++) {
      Permutation order = NestedDissection.variant(k).order(pattern);
      double count = flops.applyAsDouble(pattern, order);
      best = count < best.flops ? new Trial(order, best.method, count) : best;
    }
    return best;
  }

  private static Result best(
      SparsityPattern pattern, ToDoubleBiFunction<SparsityPattern, Permutation> flops) {
    return least(
        "best",
        attempt(pattern, OrderingMethod.COLAMD, flops),
        attempt(pattern, OrderingMethod.AMD, flops),
        dissected(pattern, flops, 0));
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
