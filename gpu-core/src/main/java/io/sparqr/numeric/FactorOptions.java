/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import java.util.Objects;

/**
 * Options of the numeric factorization of a subtree.
 *
 * @param rankTolerance a pivot column with a remaining 2-norm of at most this is dead (Heath 1982);
 *     negative: no detection, every column with a row left is live
 * @param threads host threads for the task, at least 1
 * @param deviceMemoryBytes device memory the task may use; 0 = all free memory
 * @param keepQ whether the reflectors of every front are kept ({@link SubtreeFactor#reflectors})
 * @param safe whether a backend must use reflectors even if it has faster methods: for a repeated
 *     task
 * @param unitColumns whether every column of the whole matrix has a 2-norm of about 1 at most
 *     (equilibrated): the check of the task then need not compute norms
 * @param solutionOnly whether only x is needed of R, for a task whose fronts are whole trees: a
 *     backend may leave R where it is and return {@link SubtreeFactor#solution} instead
 * @param resident whether R should also stay where the backend makes it, for later solves ({@link
 *     SubtreeFactor#residence}); for a task whose fronts are whole trees
 * @param work listener to the task's progress
 * @param memory where rows of R are put
 */
public record FactorOptions(
    double rankTolerance,
    int threads,
    long deviceMemoryBytes,
    boolean keepQ,
    boolean safe,
    boolean unitColumns,
    boolean solutionOnly,
    boolean resident,
    WorkListener work,
    RowMemory memory) {

  /** Checks the ranges. */
  public FactorOptions {
    Objects.requireNonNull(work, "work");
    Objects.requireNonNull(memory, "memory");
    if (threads < 1 || deviceMemoryBytes < 0 || Double.isNaN(rankTolerance)) {
      throw new IllegalArgumentException("factor options out of range");
    }
  }

  /** {@link #defaultTolerance} in words, for reports. */
  public static final String DEFAULT_TOLERANCE_RULE = "default: 20 (m+n) eps max ||a_j||";

  /** Without keeping Q. */
  public FactorOptions(double rankTolerance, int threads, long deviceMemoryBytes) {
    this(rankTolerance, threads, deviceMemoryBytes, false);
  }

  /** With every method of the backend. */
  public FactorOptions(double rankTolerance, int threads, long deviceMemoryBytes, boolean keepQ) {
    this(
        rankTolerance,
        threads,
        deviceMemoryBytes,
        keepQ,
        false,
        false,
        false,
        false,
        WorkListener.NONE,
        RowMemory.HEAP);
  }

  /** The same with the safe method only. */
  public FactorOptions safely() {
    return new FactorOptions(
        rankTolerance,
        threads,
        deviceMemoryBytes,
        keepQ,
        true,
        unitColumns,
        solutionOnly,
        resident,
        work,
        memory);
  }

  /** The same for columns of norm 1 or not. */
  public FactorOptions ofUnitColumns(boolean unit) {
    return new FactorOptions(
        rankTolerance,
        threads,
        deviceMemoryBytes,
        keepQ,
        safe,
        unit,
        solutionOnly,
        resident,
        work,
        memory);
  }

  /** The same with another listener. */
  public FactorOptions heardBy(WorkListener listener) {
    return new FactorOptions(
        rankTolerance,
        threads,
        deviceMemoryBytes,
        keepQ,
        safe,
        unitColumns,
        solutionOnly,
        resident,
        listener,
        memory);
  }

  /** The same with rows of R put elsewhere. */
  public FactorOptions in(RowMemory rows) {
    return new FactorOptions(
        rankTolerance,
        threads,
        deviceMemoryBytes,
        keepQ,
        safe,
        unitColumns,
        solutionOnly,
        resident,
        work,
        rows);
  }

  /** The same for a task of which only x is needed, or R as well. */
  public FactorOptions forSolution(boolean only) {
    return new FactorOptions(
        rankTolerance,
        threads,
        deviceMemoryBytes,
        keepQ,
        safe,
        unitColumns,
        only,
        resident,
        work,
        memory);
  }

  /** The same with R staying where it is made as well, or not. */
  public FactorOptions staying(boolean there) {
    return new FactorOptions(
        rankTolerance,
        threads,
        deviceMemoryBytes,
        keepQ,
        safe,
        unitColumns,
        solutionOnly,
        there,
        work,
        memory);
  }

  /**
   * SuiteSparseQR's default tolerance, 20 (m + n) eps max_j ||a_j||, a_j the columns as factored.
   */
  public static double defaultTolerance(long rows, int columns, double maxColumnNorm) {
    return 20.0 * ((double) rows + columns) * Math.ulp(1.0) * maxColumnNorm;
  }
}
