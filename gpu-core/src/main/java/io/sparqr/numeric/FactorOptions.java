/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.symbolic.Tuning;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;

/**
 * Options of the numeric factorization of a subtree.
 *
 * @param rankTolerance a pivot column with a remaining 2-norm of at most this is dead (Heath 1982);
 *     negative: no detection, every column with a row left is live
 * @param threads host threads for the task, at least 1
 * @param deviceMemoryBytes device memory the task may use; 0 = all free memory
 * @param demands what else holds for the task
 * @param work listener to the task's progress
 * @param memory where rows of R are put
 * @param tuning how a device's work is cut
 */
public record FactorOptions(
    double rankTolerance,
    int threads,
    long deviceMemoryBytes,
    Set<Demand> demands,
    WorkListener work,
    RowMemory memory,
    Tuning tuning) {

  /** What may hold for a task. */
  public enum Demand {
    /** The reflectors of every front are kept ({@link SubtreeFactor#reflectors}). */
    KEEP_Q,

    /** A backend must use reflectors even if it has faster methods: for a repeated task. */
    SAFE,

    /**
     * A front of many sparse rows may be factored by its Gram matrix where that is measured to be
     * as good ({@link io.sparqr.numeric.gram.GramQr}); not with {@link #KEEP_Q} or {@link #SAFE}.
     */
    GRAM,

    /**
     * Every column of the whole matrix has a 2-norm of about 1 at most (equilibrated): the check of
     * the task then need not compute norms.
     */
    UNIT_COLUMNS,

    /**
     * Only x is needed of R, for a task whose fronts are whole trees: a backend may leave R where
     * it is and return {@link SubtreeFactor#solution} instead.
     */
    SOLUTION_ONLY,

    /**
     * R should also stay where the backend makes it, for later solves ({@link
     * SubtreeFactor#residence}).
     */
    RESIDENT,

    /**
     * With {@code RESIDENT}: R may stay there alone ({@link Residence#alone}); its rows are fetched
     * when they are needed.
     */
    ALONE
  }

  /** Checks the ranges; copies the set. */
  public FactorOptions {
    Objects.requireNonNull(work, "work");
    Objects.requireNonNull(memory, "memory");
    Objects.requireNonNull(tuning, "tuning");
    if (threads < 1 || deviceMemoryBytes < 0 || Double.isNaN(rankTolerance)) {
      throw new IllegalArgumentException("factor options out of range");
    }
    var copy = EnumSet.noneOf(Demand.class);
    copy.addAll(demands);
    demands = Collections.unmodifiableSet(copy);
  }

  /** {@link #defaultTolerance} in words, for reports. */
  public static final String DEFAULT_TOLERANCE_RULE = "default: 20 (m+n) eps max ||a_j||";

  /** With every method of the backend, without keeping Q. */
  public FactorOptions(double rankTolerance, int threads, long deviceMemoryBytes) {
    this(rankTolerance, threads, deviceMemoryBytes, false);
  }

  /** With every method of the backend. */
  public FactorOptions(double rankTolerance, int threads, long deviceMemoryBytes, boolean keepQ) {
    this(
        rankTolerance,
        threads,
        deviceMemoryBytes,
        keepQ ? Set.of(Demand.KEEP_Q) : Set.of(),
        WorkListener.NONE,
        RowMemory.HEAP,
        Tuning.constants());
  }

  /** {@link Demand#KEEP_Q}. */
  public boolean keepQ() {
    return demands.contains(Demand.KEEP_Q);
  }

  /** {@link Demand#SAFE}. */
  public boolean safe() {
    return demands.contains(Demand.SAFE);
  }

  /** {@link Demand#GRAM}, unless Q is kept or the task is repeated. */
  public boolean gram() {
    return demands.contains(Demand.GRAM) && !keepQ() && !safe();
  }

  /** {@link Demand#UNIT_COLUMNS}. */
  public boolean unitColumns() {
    return demands.contains(Demand.UNIT_COLUMNS);
  }

  /** {@link Demand#SOLUTION_ONLY}. */
  public boolean solutionOnly() {
    return demands.contains(Demand.SOLUTION_ONLY);
  }

  /** {@link Demand#RESIDENT}. */
  public boolean resident() {
    return demands.contains(Demand.RESIDENT);
  }

  /** {@link Demand#RESIDENT} and {@link Demand#ALONE}. */
  public boolean alone() {
    return resident() && demands.contains(Demand.ALONE);
  }

  /** A copy with the safe method only. */
  public FactorOptions safely() {
    return with(Demand.SAFE, true);
  }

  /** A copy with fronts by their Gram matrix, or without. */
  public FactorOptions gram(boolean on) {
    return with(Demand.GRAM, on);
  }

  /** A copy for columns of norm 1, or for others. */
  public FactorOptions ofUnitColumns(boolean unit) {
    return with(Demand.UNIT_COLUMNS, unit);
  }

  /** A copy for a task of which only x is needed, or R as well. */
  public FactorOptions forSolution(boolean only) {
    return with(Demand.SOLUTION_ONLY, only);
  }

  /** A copy with R staying where it is made as well, or not. */
  public FactorOptions staying(boolean there) {
    return with(Demand.RESIDENT, there);
  }

  /** A copy with R, if it stays, nowhere else, or also in the result. */
  public FactorOptions alone(boolean nowhereElse) {
    return with(Demand.ALONE, nowhereElse);
  }

  /** A copy with another listener. */
  public FactorOptions heardBy(WorkListener listener) {
    return new FactorOptions(
        rankTolerance, threads, deviceMemoryBytes, demands, listener, memory, tuning);
  }

  /** A copy with rows of R put elsewhere. */
  public FactorOptions in(RowMemory rows) {
    return new FactorOptions(
        rankTolerance, threads, deviceMemoryBytes, demands, work, rows, tuning);
  }

  /** A copy with a device's work cut in another way. */
  public FactorOptions tunedBy(Tuning other) {
    return new FactorOptions(
        rankTolerance, threads, deviceMemoryBytes, demands, work, memory, other);
  }

  private FactorOptions with(Demand demand, boolean on) {
    var changed = EnumSet.of(demand);
    changed.addAll(demands);
    if (!on) {
      changed.remove(demand);
    }
    return new FactorOptions(
        rankTolerance, threads, deviceMemoryBytes, changed, work, memory, tuning);
  }

  /**
   * SuiteSparseQR's default tolerance, 20 (m + n) eps max_j ||a_j||, a_j the columns as factored.
   */
  public static double defaultTolerance(long rows, int columns, double maxColumnNorm) {
    return 20.0 * ((double) rows + columns) * Math.ulp(1.0) * maxColumnNorm;
  }
}
