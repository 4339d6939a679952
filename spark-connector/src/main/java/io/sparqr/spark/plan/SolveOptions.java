/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import io.sparqr.backend.BackendChoice;
import io.sparqr.backend.FrontMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.RankPolicy;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.apache.spark.storage.StorageLevel;

/**
 * The values of all options of a solve, by phase and validated; built by {@code
 * GpuSparseQR.builder()}. The range, default and meaning of each option and its names on the
 * command line and in Python are declared in {@link SolveOption}.
 *
 * @param input how the rows are read
 * @param analysis column order and tree
 * @param cut of the tree over workers
 * @param problem the penalty, and the treatment of dependent columns
 * @param factorization the computation and storage of R
 * @param solution the computation of a solution
 */
public record SolveOptions(
    Input input,
    Analysis analysis,
    Cut cut,
    Problem problem,
    Factorization factorization,
    Solution solution) {

  /** Rejects null. */
  public SolveOptions {
    Objects.requireNonNull(input, "input");
    Objects.requireNonNull(analysis, "analysis");
    Objects.requireNonNull(cut, "cut");
    Objects.requireNonNull(problem, "problem");
    Objects.requireNonNull(factorization, "factorization");
    Objects.requireNonNull(solution, "solution");
  }

  /** A number, 0 for the default. */
  private static OptionalInt given(int count) {
    return count == 0 ? OptionalInt.empty() : OptionalInt.of(count);
  }

  /** The defaults: AUTO wherever there is a choice. */
  public static SolveOptions defaults() {
    return new SolveOptions(
        Input.DEFAULT,
        Analysis.DEFAULT,
        Cut.DEFAULT,
        Problem.DEFAULT,
        Factorization.DEFAULT,
        Solution.DEFAULT);
  }

  /** A copy with another input. */
  public SolveOptions with(Input other) {
    return new SolveOptions(other, analysis, cut, problem, factorization, solution);
  }

  /** A copy with another analysis. */
  public SolveOptions with(Analysis other) {
    return new SolveOptions(input, other, cut, problem, factorization, solution);
  }

  /** A copy with another cut. */
  public SolveOptions with(Cut other) {
    return new SolveOptions(input, analysis, other, problem, factorization, solution);
  }

  /** A copy with another problem. */
  public SolveOptions with(Problem other) {
    return new SolveOptions(input, analysis, cut, other, factorization, solution);
  }

  /** A copy with another factorization. */
  public SolveOptions with(Factorization other) {
    return new SolveOptions(input, analysis, cut, problem, other, solution);
  }

  /** A copy with another solution. */
  public SolveOptions with(Solution other) {
    return new SolveOptions(input, analysis, cut, problem, factorization, other);
  }

  /**
   * The reading of the rows.
   *
   * @param columns n; empty: taken from the rows
   * @param partitions of the pattern's shuffle, at least 1; empty: as many as the rows have, at
   *     most 8 per core
   */
  public record Input(OptionalInt columns, OptionalInt partitions) {
    static final Input DEFAULT = new Input(OptionalInt.empty(), OptionalInt.empty());

    /** Checks the ranges. */
    public Input {
      columns.ifPresent(SolveOption.COLUMNS::require);
      partitions.ifPresent(SolveOption.PARTITIONS::require);
    }

    /** A copy for a matrix of n columns. */
    public Input withColumns(int n) {
      return new Input(OptionalInt.of(n), partitions);
    }

    /** A copy with this number of partitions of the shuffle; 0: the default. */
    public Input withPartitions(int count) {
      return new Input(columns, given(count));
    }
  }

  /**
   * Column order and tree.
   *
   * @param symbolic ordering, amalgamation, singletons
   * @param known an earlier analysis, used if the rows have its pattern
   */
  public record Analysis(SymbolicOptions symbolic, Optional<SymbolicAnalysis> known) {
    static final Analysis DEFAULT = new Analysis(SymbolicOptions.defaults(), Optional.empty());

    /** Rejects null. */
    public Analysis {
      Objects.requireNonNull(symbolic, "symbolic");
      Objects.requireNonNull(known, "analysis");
    }

    /** A copy with other symbolic options. */
    public Analysis withSymbolic(SymbolicOptions rules) {
      return new Analysis(rules, known);
    }

    /** A copy with an earlier analysis, or none. */
    public Analysis withKnown(Optional<SymbolicAnalysis> made) {
      return new Analysis(symbolic, made);
    }
  }

  /**
   * The cut of the tree.
   *
   * @param partition options for the cut
   * @param workers number of workers for which it is cut, at least 1; empty: the cluster's
   *     executors
   * @param minimumExecutors number to wait for before the cut, at least 1; empty: those that Spark
   *     itself waits for
   * @param executorWait maximum seconds to wait for them; empty: Spark's own setting
   */
  public record Cut(
      PartitionOptions partition,
      OptionalInt workers,
      OptionalInt minimumExecutors,
      OptionalDouble executorWait) {
    static final Cut DEFAULT =
        new Cut(
            PartitionOptions.defaults(),
            OptionalInt.empty(),
            OptionalInt.empty(),
            OptionalDouble.empty());

    /** Checks the ranges; rejects null. */
    public Cut {
      Objects.requireNonNull(partition, "partition");
      workers.ifPresent(SolveOption.EXECUTORS::require);
      minimumExecutors.ifPresent(SolveOption.MINIMUM_EXECUTORS::require);
      executorWait.ifPresent(SolveOption.EXECUTOR_WAIT::require);
    }

    /** A copy with other options for the cut. */
    public Cut withPartition(PartitionOptions how) {
      return new Cut(how, workers, minimumExecutors, executorWait);
    }

    /** A copy for this number of workers; 0: the default. */
    public Cut withWorkers(int count) {
      return new Cut(partition, given(count), minimumExecutors, executorWait);
    }

    /** A copy with another number of executors to wait for; 0: the default. */
    public Cut withMinimumExecutors(int count) {
      return new Cut(partition, workers, given(count), executorWait);
    }

    /** A copy with another maximum wait, in seconds. */
    public Cut withExecutorWait(double seconds) {
      return new Cut(partition, workers, minimumExecutors, OptionalDouble.of(seconds));
    }
  }

  /**
   * The penalty, and the treatment of dependent columns.
   *
   * @param ridge the penalty lambda ||x||^2, or one with a lambda per column
   * @param equilibrate whether columns are scaled to unit 2-norm first
   * @param rankTolerance empty: the default of {@code FactorOptions}; negative: no detection
   * @param rankPolicy the treatment of a rank-deficient problem
   * @param dropping the choice of the dependent columns to drop
   */
  public record Problem(
      Ridge ridge,
      boolean equilibrate,
      OptionalDouble rankTolerance,
      RankPolicy rankPolicy,
      Dropping dropping) {
    static final Problem DEFAULT =
        new Problem(
            Ridge.of(SolveOption.RIDGE.constant()),
            SolveOption.EQUILIBRATE.constant(),
            OptionalDouble.empty(),
            SolveOption.RANK_POLICY.constant(),
            Dropping.ANY);

    /** Checks the ranges; rejects null. */
    public Problem {
      Objects.requireNonNull(ridge, "ridge");
      Objects.requireNonNull(rankPolicy, "rankPolicy");
      Objects.requireNonNull(dropping, "dropping");
      rankTolerance.ifPresent(SolveOption.RANK_TOLERANCE::require);
    }

    /** A copy with another penalty. */
    public Problem withRidge(Ridge penalty) {
      return new Problem(penalty, equilibrate, rankTolerance, rankPolicy, dropping);
    }

    /** A copy with columns scaled or not. */
    public Problem withEquilibrate(boolean on) {
      return new Problem(ridge, on, rankTolerance, rankPolicy, dropping);
    }

    /** A copy with another tolerance; negative: no detection. */
    public Problem withRankTolerance(double tolerance) {
      return new Problem(ridge, equilibrate, OptionalDouble.of(tolerance), rankPolicy, dropping);
    }

    /** A copy with another policy. */
    public Problem withRankPolicy(RankPolicy policy) {
      return new Problem(ridge, equilibrate, rankTolerance, policy, dropping);
    }

    /** A copy with another choice. */
    public Problem withDropping(Dropping choice) {
      return new Problem(ridge, equilibrate, rankTolerance, rankPolicy, choice);
    }
  }

  /**
   * The choice of the dependent columns that are zero in a basic solution.
   *
   * @param by whether the user's order decides, so that later columns are dropped; otherwise the
   *     fill-reducing order decides
   * @param keep columns to keep if possible, the first with the highest priority; -1 is the last
   *     column
   * @param drop columns to drop first
   * @param keepFrom if present, columns from this one on are kept before those to keep, except
   *     those to drop
   */
  public record Dropping(boolean by, int[] keep, int[] drop, OptionalInt keepFrom) {
    /** The choice made by the fill-reducing order. */
    public static final Dropping ANY =
        new Dropping(false, new int[0], new int[0], OptionalInt.empty());

    /** Copies the arrays. */
    public Dropping {
      keep = keep.clone();
      drop = drop.clone();
    }

    /** A copy with later columns dropped, or with the choice of the fill-reducing order. */
    public Dropping later(boolean on) {
      return new Dropping(on, keep, drop, keepFrom);
    }

    /** A copy with later columns dropped, but these kept if possible. */
    public Dropping keeping(int[] columns) {
      return new Dropping(true, columns, drop, keepFrom);
    }

    /** A copy with later columns dropped, but these first. */
    public Dropping first(int[] columns) {
      return new Dropping(true, keep, columns, keepFrom);
    }

    /** A copy with later columns dropped, but those from this one on kept before all others. */
    public Dropping keepingFrom(int column) {
      return new Dropping(true, keep, drop, OptionalInt.of(column));
    }

    @Override
    public int[] keep() {
      return keep.clone();
    }

    @Override
    public int[] drop() {
      return drop.clone();
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Dropping d
          && by == d.by
          && Arrays.equals(keep, d.keep)
          && Arrays.equals(drop, d.drop)
          && keepFrom.equals(d.keepFrom);
    }

    @Override
    public int hashCode() {
      return Objects.hash(by, Arrays.hashCode(keep), Arrays.hashCode(drop), keepFrom);
    }

    @Override
    public String toString() {
      return "Dropping[by=%s, keep=%s, drop=%s, keepFrom=%s]"
          .formatted(by, Arrays.toString(keep), Arrays.toString(drop), keepFrom);
    }
  }

  /**
   * The computation and storage of R.
   *
   * @param backend CPU or CUDA
   * @param method how fronts may be factored
   * @param deviceMemoryBytes device memory that a task may use, at least 1; empty: all free memory
   * @param storageLevel storage level of R
   * @param keepQ whether a factorization keeps Q for further right-hand sides
   * @param profile whether the time and place of the work are recorded for the report's page
   */
  public record Factorization(
      BackendChoice backend,
      FrontMethod method,
      OptionalLong deviceMemoryBytes,
      StorageLevel storageLevel,
      boolean keepQ,
      boolean profile) {
    static final Factorization DEFAULT =
        new Factorization(
            SolveOption.BACKEND.constant(),
            SolveOption.METHOD.constant(),
            OptionalLong.empty(),
            SolveOption.STORAGE_LEVEL.constant(),
            SolveOption.KEEP_Q.constant(),
            SolveOption.PROFILE.constant());

    /** Checks the ranges; rejects null. */
    public Factorization {
      Objects.requireNonNull(backend, "backend");
      Objects.requireNonNull(method, "method");
      SolveOption.STORAGE_LEVEL.require(Objects.requireNonNull(storageLevel, "storageLevel"));
      deviceMemoryBytes.ifPresent(SolveOption.DEVICE_MEMORY_BYTES::require);
    }

    /** A copy on another backend. */
    public Factorization withBackend(BackendChoice choice) {
      return new Factorization(choice, method, deviceMemoryBytes, storageLevel, keepQ, profile);
    }

    /** A copy with another way to factor fronts. */
    public Factorization withMethod(FrontMethod other) {
      return new Factorization(backend, other, deviceMemoryBytes, storageLevel, keepQ, profile);
    }

    /** A copy with another limit of device memory; 0: the default. */
    public Factorization withDeviceMemoryBytes(long bytes) {
      OptionalLong limit = bytes == 0 ? OptionalLong.empty() : OptionalLong.of(bytes);
      return new Factorization(backend, method, limit, storageLevel, keepQ, profile);
    }

    /** A copy with another storage level. */
    public Factorization withStorageLevel(StorageLevel level) {
      return new Factorization(backend, method, deviceMemoryBytes, level, keepQ, profile);
    }

    /** A copy with Q kept or not. */
    public Factorization withKeepQ(boolean on) {
      return new Factorization(backend, method, deviceMemoryBytes, storageLevel, on, profile);
    }

    /** A copy with a profile or none. */
    public Factorization withProfile(boolean on) {
      return new Factorization(backend, method, deviceMemoryBytes, storageLevel, keepQ, on);
    }
  }

  /**
   * The computation of a solution.
   *
   * @param refinement steps of iterative refinement; at least 0
   * @param minimumNorm whether a rank-deficient or wide problem gets its minimum-norm solution
   *     instead of a basic one
   * @param check whether a solve ends with two passes that measure the backward error
   * @param minRcond an error if the reciprocal of the condition estimate is below; 0: never
   */
  public record Solution(int refinement, boolean minimumNorm, boolean check, double minRcond) {
    static final Solution DEFAULT =
        new Solution(
            SolveOption.REFINEMENT.constant(),
            SolveOption.MINIMUM_NORM.constant(),
            SolveOption.CHECK.constant(),
            SolveOption.MIN_RCOND.constant());

    /** Checks the ranges. */
    public Solution {
      SolveOption.REFINEMENT.require(refinement);
      SolveOption.MIN_RCOND.require(minRcond);
    }

    /** A copy with this number of refinement steps. */
    public Solution withRefinement(int steps) {
      return new Solution(steps, minimumNorm, check, minRcond);
    }

    /** A copy with a minimum-norm solution, or a basic one. */
    public Solution withMinimumNorm(boolean on) {
      return new Solution(refinement, on, check, minRcond);
    }

    /** A copy with or without the check. */
    public Solution withCheck(boolean on) {
      return new Solution(refinement, minimumNorm, on, minRcond);
    }

    /** A copy with another bound of the condition. */
    public Solution withMinRcond(double least) {
      return new Solution(refinement, minimumNorm, check, least);
    }
  }
}
