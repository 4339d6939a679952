/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.Permutation;
import java.io.Serializable;
import java.util.Objects;
import java.util.Optional;

/**
 * Options of ordering and symbolic analysis.
 *
 * @param ordering the column ordering; default AUTO
 * @param given the order for {@link OrderingMethod#GIVEN}; empty otherwise
 * @param singletons whether column singletons are removed first; default true
 * @param amalgamation rules of relaxed amalgamation
 * @param notSingletons original indices of columns that must not be taken as singletons although
 *     the pattern allows it (their pivot turned out to be numerically zero); ascending, usually
 *     empty
 * @param rhs number of right-hand sides carried along, for the byte counts; at least 0
 * @param rate expected speed of the factorization, against which AUTO weighs the time of further
 *     orderings; empty, the default: set by the caller's backend if known, else {@link
 *     FactorizationRate#processor()}
 * @param reduction rule for reducing contribution blocks in a tree before a front is assembled
 * @param gramBytes memory that a tree of fronts may take which the backend factors by its Gram
 *     matrix ({@link GramTree}); default 0: it factors none so
 */
public record SymbolicOptions(
    OrderingMethod ordering,
    Optional<Permutation> given,
    boolean singletons,
    Amalgamation amalgamation,
    int[] notSingletons,
    int rhs,
    Optional<FactorizationRate> rate,
    Reduction reduction,
    long gramBytes)
    implements Serializable {

  /** Checks that there is a given order exactly for GIVEN; copies the array. */
  public SymbolicOptions {
    Objects.requireNonNull(ordering, "ordering");
    Objects.requireNonNull(amalgamation, "amalgamation");
    Objects.requireNonNull(rate, "rate");
    Objects.requireNonNull(reduction, "reduction");
    if ((ordering == OrderingMethod.GIVEN) != given.isPresent()) {
      throw new IllegalArgumentException("a given order goes with ordering GIVEN and only with it");
    }
    if (rhs < 0) {
      throw new IllegalArgumentException("rhs = " + rhs);
    }
    notSingletons = notSingletons.clone();
  }

  /** A copy. */
  @Override
  public int[] notSingletons() {
    return notSingletons.clone();
  }

  /** AUTO ordering, singletons, default amalgamation, one right-hand side. */
  public static SymbolicOptions defaults() {
    return new SymbolicOptions(
        OrderingMethod.AUTO,
        Optional.empty(),
        true,
        Amalgamation.defaults(),
        new int[0],
        1,
        Optional.empty(),
        Reduction.defaults(),
        0);
  }

  /** A copy with another ordering (not GIVEN). */
  public SymbolicOptions withOrdering(OrderingMethod method) {
    return new SymbolicOptions(
        method,
        Optional.empty(),
        singletons,
        amalgamation,
        notSingletons,
        rhs,
        rate,
        reduction,
        gramBytes);
  }

  /** A copy with the caller's order. */
  public SymbolicOptions withGiven(Permutation order) {
    return new SymbolicOptions(
        OrderingMethod.GIVEN,
        Optional.of(order),
        singletons,
        amalgamation,
        notSingletons,
        rhs,
        rate,
        reduction,
        gramBytes);
  }

  /** A copy with singletons on or off. */
  public SymbolicOptions withSingletons(boolean on) {
    return new SymbolicOptions(
        ordering, given, on, amalgamation, notSingletons, rhs, rate, reduction, gramBytes);
  }

  /** A copy with other amalgamation rules. */
  public SymbolicOptions withAmalgamation(Amalgamation rules) {
    return new SymbolicOptions(
        ordering, given, singletons, rules, notSingletons, rhs, rate, reduction, gramBytes);
  }

  /** A copy with columns excluded from the singletons. */
  public SymbolicOptions withNotSingletons(int[] columns) {
    return new SymbolicOptions(
        ordering, given, singletons, amalgamation, columns, rhs, rate, reduction, gramBytes);
  }

  /** A copy with another number of right-hand sides. */
  public SymbolicOptions withRhs(int count) {
    return new SymbolicOptions(
        ordering,
        given,
        singletons,
        amalgamation,
        notSingletons,
        count,
        rate,
        reduction,
        gramBytes);
  }

  /** A copy with another expected speed. */
  public SymbolicOptions withRate(FactorizationRate expected) {
    return new SymbolicOptions(
        ordering,
        given,
        singletons,
        amalgamation,
        notSingletons,
        rhs,
        Optional.of(expected),
        reduction,
        gramBytes);
  }

  /** A copy with another rule for the reduction of contribution blocks. */
  public SymbolicOptions withReduction(Reduction rule) {
    return new SymbolicOptions(
        ordering, given, singletons, amalgamation, notSingletons, rhs, rate, rule, gramBytes);
  }

  /** Whether the backend may take fronts by their Gram matrix. */
  public boolean gram() {
    return gramBytes > 0;
  }

  /** As {@link #withGram(long)}, whatever memory it takes. */
  public SymbolicOptions withGram() {
    return withGram(Long.MAX_VALUE);
  }

  /**
   * A copy for a backend that may take a front by its Gram matrix: columns go into such a front
   * where that costs less, and its blocks need no room together, so the limit of a front's entries
   * does not hold.
   *
   * @param bytes that a tree may take; 0: none is taken so
   */
  public SymbolicOptions withGram(long bytes) {
    return new SymbolicOptions(
        ordering,
        given,
        singletons,
        amalgamation,
        notSingletons,
        rhs,
        rate,
        bytes > 0 ? reduction.withoutEntryLimit() : reduction,
        bytes);
  }
}
