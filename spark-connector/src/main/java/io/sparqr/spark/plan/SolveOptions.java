/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import io.sparqr.backend.BackendChoice;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.RankPolicy;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.OptionalDouble;
import org.apache.spark.storage.StorageLevel;

/**
 * Everything that a solve can be told, checked; made by {@code GpuSparseQR.builder()}.
 *
 * @param symbolic ordering, amalgamation, singletons
 * @param partition how the tree is cut
 * @param backend CPU or CUDA
 * @param ridge lambda of the penalty lambda ||x||^2; at least 0
 * @param rankTolerance empty = the default of {@code FactorOptions}; negative = no detection
 * @param equilibrate columns scaled to unit 2-norm first
 * @param columns n, or -1 to take it from the rows
 * @param workers workers that the tree is cut for; 0 = the cluster's executors
 * @param partitions partitions of the pattern's shuffle; 0 = by the cluster's cores
 * @param storageLevel where R is kept
 * @param rankPolicy what happens to a rank-deficient problem
 * @param check whether a solve ends with a pass that measures ||A'(b-Ax)||
 * @param minimumNorm whether a rank-deficient or wide problem gets its solution of least norm
 *     instead of a basic one
 * @param deviceMemoryBytes device memory that a task may use; 0 = what is free
 */
public record SolveOptions(
    SymbolicOptions symbolic,
    PartitionOptions partition,
    BackendChoice backend,
    double ridge,
    OptionalDouble rankTolerance,
    boolean equilibrate,
    int columns,
    int workers,
    int partitions,
    StorageLevel storageLevel,
    RankPolicy rankPolicy,
    boolean check,
    boolean minimumNorm,
    long deviceMemoryBytes) {

  /** Checks the ranges. */
  public SolveOptions {
    if (!(ridge >= 0) || Double.isInfinite(ridge)) {
      throw new IllegalArgumentException("ridge = " + ridge + ": must be finite and at least 0");
    }
    if (rankTolerance.isPresent() && Double.isNaN(rankTolerance.getAsDouble())) {
      throw new IllegalArgumentException("rank tolerance is NaN");
    }
    if (!storageLevel.useMemory() && !storageLevel.useDisk()) {
      throw new IllegalArgumentException("R has to be kept: storage level NONE is none");
    }
    if (columns < -1 || workers < 0 || partitions < 0 || deviceMemoryBytes < 0) {
      throw new IllegalArgumentException(
          "columns, workers, partitions and bytes cannot be negative");
    }
  }

  /** AUTO everything. */
  public static SolveOptions defaults() {
    return new SolveOptions(
        SymbolicOptions.defaults(),
        PartitionOptions.defaults(),
        BackendChoice.AUTO,
        0,
        OptionalDouble.empty(),
        true,
        -1,
        0,
        0,
        StorageLevel.MEMORY_AND_DISK(),
        RankPolicy.REPORT,
        false,
        false,
        0);
  }

  /** The same with other symbolic options. */
  public SolveOptions withSymbolic(SymbolicOptions other) {
    return new SolveOptions(
        other,
        partition,
        backend,
        ridge,
        rankTolerance,
        equilibrate,
        columns,
        workers,
        partitions,
        storageLevel,
        rankPolicy,
        check,
        minimumNorm,
        deviceMemoryBytes);
  }

  /** The same for a matrix of n columns. */
  public SolveOptions withColumns(int n) {
    return new SolveOptions(
        symbolic,
        partition,
        backend,
        ridge,
        rankTolerance,
        equilibrate,
        n,
        workers,
        partitions,
        storageLevel,
        rankPolicy,
        check,
        minimumNorm,
        deviceMemoryBytes);
  }

  /** The same with another rank tolerance. */
  public SolveOptions withRankTolerance(OptionalDouble other) {
    return new SolveOptions(
        symbolic,
        partition,
        backend,
        ridge,
        other,
        equilibrate,
        columns,
        workers,
        partitions,
        storageLevel,
        rankPolicy,
        check,
        minimumNorm,
        deviceMemoryBytes);
  }

  /** The same with columns scaled or not. */
  public SolveOptions withEquilibrate(boolean on) {
    return new SolveOptions(
        symbolic,
        partition,
        backend,
        ridge,
        rankTolerance,
        on,
        columns,
        workers,
        partitions,
        storageLevel,
        rankPolicy,
        check,
        minimumNorm,
        deviceMemoryBytes);
  }

  /** The same with another rule for rank-deficient problems. */
  public SolveOptions withRankPolicy(RankPolicy other) {
    return new SolveOptions(
        symbolic,
        partition,
        backend,
        ridge,
        rankTolerance,
        equilibrate,
        columns,
        workers,
        partitions,
        storageLevel,
        other,
        check,
        minimumNorm,
        deviceMemoryBytes);
  }
}
