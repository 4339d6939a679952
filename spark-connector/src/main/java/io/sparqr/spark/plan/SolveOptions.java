/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.plan;

import io.sparqr.backend.BackendChoice;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.RankPolicy;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Objects;
import java.util.Optional;
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
 * @param refinement steps of iterative refinement after a solve; at least 0
 * @param keepQ whether a factorization keeps Q for further right-hand sides
 * @param analysis an analysis made before, used where the rows have its pattern
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
    long deviceMemoryBytes,
    int refinement,
    boolean keepQ,
    Optional<SymbolicAnalysis> analysis) {

  /** Checks the ranges; nothing is null. */
  public SolveOptions {
    Objects.requireNonNull(symbolic, "symbolic");
    Objects.requireNonNull(partition, "partition");
    Objects.requireNonNull(backend, "backend");
    Objects.requireNonNull(rankTolerance, "rankTolerance");
    Objects.requireNonNull(storageLevel, "storageLevel");
    Objects.requireNonNull(rankPolicy, "rankPolicy");
    Objects.requireNonNull(analysis, "analysis");
    if (!(ridge >= 0) || Double.isInfinite(ridge)) {
      throw new IllegalArgumentException("ridge = " + ridge + ": must be finite and at least 0");
    }
    if (rankTolerance.isPresent() && Double.isNaN(rankTolerance.getAsDouble())) {
      throw new IllegalArgumentException("rank tolerance is NaN");
    }
    if (!storageLevel.useMemory() && !storageLevel.useDisk()) {
      throw new IllegalArgumentException("R has to be kept: storage level NONE is none");
    }
    if (refinement < 0) {
      throw new IllegalArgumentException("refinement = " + refinement + ": at least 0 steps");
    }
    if (columns < -1 || workers < 0 || partitions < 0 || deviceMemoryBytes < 0) {
      throw new IllegalArgumentException(
          "columns, workers, partitions and bytes cannot be negative");
    }
  }

  /** AUTO everything. */
  public static SolveOptions defaults() {
    return new Builder().build();
  }

  /** A builder that starts from these options. */
  public Builder toBuilder() {
    var b = new Builder();
    b.symbolic = symbolic;
    b.partition = partition;
    b.backend = backend;
    b.ridge = ridge;
    b.rankTolerance = rankTolerance;
    b.equilibrate = equilibrate;
    b.columns = columns;
    b.workers = workers;
    b.partitions = partitions;
    b.storageLevel = storageLevel;
    b.rankPolicy = rankPolicy;
    b.check = check;
    b.minimumNorm = minimumNorm;
    b.deviceMemoryBytes = deviceMemoryBytes;
    b.refinement = refinement;
    b.keepQ = keepQ;
    b.analysis = analysis;
    return b;
  }

  /** The same for a matrix of n columns. */
  public SolveOptions withColumns(int n) {
    return toBuilder().columns(n).build();
  }

  /** The same with Q kept or not. */
  public SolveOptions withKeepQ(boolean on) {
    return toBuilder().keepQ(on).build();
  }

  /** Options while they are collected; a method for each component, all on their defaults. */
  public static final class Builder {
    private SymbolicOptions symbolic = SymbolicOptions.defaults();
    private PartitionOptions partition = PartitionOptions.defaults();
    private BackendChoice backend = BackendChoice.AUTO;
    private double ridge;
    private OptionalDouble rankTolerance = OptionalDouble.empty();
    private boolean equilibrate = true;
    private int columns = -1;
    private int workers;
    private int partitions;
    private StorageLevel storageLevel = StorageLevel.MEMORY_AND_DISK();
    private RankPolicy rankPolicy = RankPolicy.REPORT;
    private boolean check;
    private boolean minimumNorm;
    private long deviceMemoryBytes;
    private int refinement;
    private boolean keepQ;
    private Optional<SymbolicAnalysis> analysis = Optional.empty();

    /** AUTO everything. */
    public Builder() {}

    public Builder symbolic(SymbolicOptions value) {
      symbolic = value;
      return this;
    }

    public Builder partition(PartitionOptions value) {
      partition = value;
      return this;
    }

    public Builder backend(BackendChoice value) {
      backend = value;
      return this;
    }

    public Builder ridge(double value) {
      ridge = value;
      return this;
    }

    public Builder rankTolerance(OptionalDouble value) {
      rankTolerance = value;
      return this;
    }

    public Builder equilibrate(boolean value) {
      equilibrate = value;
      return this;
    }

    public Builder columns(int value) {
      columns = value;
      return this;
    }

    public Builder workers(int value) {
      workers = value;
      return this;
    }

    public Builder partitions(int value) {
      partitions = value;
      return this;
    }

    public Builder storageLevel(StorageLevel value) {
      storageLevel = value;
      return this;
    }

    public Builder rankPolicy(RankPolicy value) {
      rankPolicy = value;
      return this;
    }

    public Builder check(boolean value) {
      check = value;
      return this;
    }

    public Builder minimumNorm(boolean value) {
      minimumNorm = value;
      return this;
    }

    public Builder deviceMemoryBytes(long value) {
      deviceMemoryBytes = value;
      return this;
    }

    public Builder refinement(int value) {
      refinement = value;
      return this;
    }

    public Builder keepQ(boolean value) {
      keepQ = value;
      return this;
    }

    public Builder analysis(Optional<SymbolicAnalysis> value) {
      analysis = value;
      return this;
    }

    /** The symbolic options so far. */
    public SymbolicOptions symbolic() {
      return symbolic;
    }

    /**
     * Checks and freezes.
     *
     * @throws IllegalArgumentException for an option out of range
     */
    public SolveOptions build() {
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
          rankPolicy,
          check,
          minimumNorm,
          deviceMemoryBytes,
          refinement,
          keepQ,
          analysis);
    }
  }
}
