/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.reference.ReferenceSubtreeFactorizer;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.error.FatalCudaException;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.Residence;
import io.sparqr.numeric.ResidentFactor;
import io.sparqr.numeric.ResidentFactors;
import io.sparqr.numeric.RowMemory;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.integrity.IntegrityFailure;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.partition.ResourceModel;
import io.sparqr.partition.TreePartitioner;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.metrics.SubtreeMetrics;
import io.sparqr.spark.plan.DeviceVerdict;
import io.sparqr.spark.plan.Readings;
import io.sparqr.spark.plan.Ridge;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.solve.Substitution;
import io.sparqr.spark.solve.TaskSolve;
import io.sparqr.spark.stored.TaskOutput;
import io.sparqr.spark.wire.ObjectCodec;
import io.sparqr.spark.wire.RowBatchCodec;
import io.sparqr.spark.wire.VectorCodec;
import io.sparqr.spark.wire.VectorCodec.Sparse;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A later solve by one task: with R that stayed on a device, for which the plain executor stands
 * in, and with the stored rows when that R is wrong, gone, or nowhere.
 */
class TaskSolveTest {

  private static final String ID = "a factorization";
  private static final int N = 60;
  private static final int[] ALONE = {1};
  private static final long SEED = Long.getLong("test.seed", 20261125L);

  private final SolvePlan plan = plan();
  private final double[] c = new Random(SEED).doubles(N, -1, 1).toArray();

  @AfterEach
  void nothingIsLeft() {
    ResidentFactors.ofJvm().drop(ID);
    assertThat(ResidentFactors.ofJvm().find(ID, 0).factor()).isEmpty();
  }

  /** Rows (i, i + 1), (i), (i, i + 7) for every column i: full rank. */
  private static SolvePlan plan() {
    int[] index = new int[5 * N];
    long[] start = new long[3 * N + 1];
    long[] count = new long[3 * N];
    Arrays.fill(count, 1);
    int at = 0;
    for (int i = 0; i < 3 * N; i++) {
      int j = i / 3;
      int other = i % 3 == 0 ? (j + 1) % N : i % 3 == 1 ? j : (j + 7) % N;
      index[at++] = Math.min(j, other);
      if (other != j) {
        index[at++] = Math.max(j, other);
      }
      start[i + 1] = at;
    }
    var pattern = new SparsityPattern(N, start, index, count);
    SymbolicAnalysis analysis =
        SymbolicAnalyzer.analyze(pattern, SymbolicOptions.defaults().withSingletons(false));
    var numbers =
        new SolvePlan.Numbers(
            1,
            1e-10,
            Ridge.NONE,
            new DeviceVerdict.Refuse("asked for"),
            0,
            true,
            new SolvePlan.Fronts(false, false),
            false,
            0);
    double[] ones = new double[N];
    Arrays.fill(ones, 1);
    return new SolvePlan(
        analysis,
        TreePartitioner.partition(
            analysis, ResourceModel.uniform(1, 1e10, 1L << 30), PartitionOptions.defaults()),
        ones,
        new double[] {1},
        numbers,
        new Readings(List.of()));
  }

  private byte[] batch() {
    var random = new Random(SEED + 1);
    var batch = new RowBatchCodec.Builder(1);
    SymbolicAnalysis a = plan.analysis();
    for (int i = 0; i < 3 * N; i++) {
      int j = i / 3;
      int other = i % 3 == 0 ? (j + 1) % N : i % 3 == 1 ? j : (j + 7) % N;
      int[] at = {a.permutation().position(j), a.permutation().position(other)};
      Arrays.sort(at);
      int[] column = other == j ? new int[] {at[0]} : at;
      double[] value = random.doubles(column.length, 1, 2).toArray();
      batch.add(frontOf(column[0]), column, value, 0, column.length, new double[] {1}, 0);
    }
    return batch.take(0, 0);
  }

  private int frontOf(int position) {
    int f = 0;
    while (plan.analysis().firstPivot(f + 1) <= position) {
      f++;
    }
    return f;
  }

  private List<TaskOutput> kept() {
    var out = new ArrayList<TaskOutput>();
    var metrics = new SubtreeMetrics(Engine.of(LocalSpark.context()), false);
    new SubtreeRun(plan, 0, 1, new Keeping.OnHost(false), metrics)
        .run(new ArrayList<>(List.of(batch())), Collections.emptyIterator())
        .kept()
        .forEachRemaining(out::add);
    return out;
  }

  private Residence residence() {
    var problem =
        new SubtreeProblem(
            plan.analysis(),
            plan.partition().tasks().get(0).fronts(),
            RowBatchCodec.decode(List.of(batch()), 1),
            List.of());
    try (var plain = new ReferenceSubtreeFactorizer(SchedulerOptions.defaults())) {
      return plain.factor(problem, new FactorOptions(1e-10, 1, 0).staying(true)).residence();
    }
  }

  private record Found(double[] x, TaskSolve.Where where) {}

  private Found solve(String factorization) {
    int[] pivots = new int[N];
    Arrays.setAll(pivots, p -> p);
    List<byte[]> frames = run(Substitution.NORMAL, new Sparse(pivots, c, 1), factorization);
    Sparse x = VectorCodec.decodeSparse(frames.get(0));
    assertThat(x.position()).isEqualTo(pivots);
    return new Found(x.value(), ObjectCodec.decode(frames.get(1), TaskSolve.Where.class));
  }

  @Test
  void rThatStayedGivesTheStoredRowsSolution() {
    assertThat(plan.partition().levels()).isEqualTo(1);
    double[] stored = solve(null).x();
    ResidentFactors.ofJvm().put(ID, 0, residence());
    Found there = solve(ID);
    assertThat(there.where().resident()).isTrue();
    double scale = Arrays.stream(stored).map(Math::abs).max().orElseThrow();
    for (int j = 0; j < N; j++) {
      assertThat(Math.abs(there.x()[j] - stored[j]))
          .as("seed %d, x %d", SEED, j)
          .isLessThanOrEqualTo(1e6 * N * Math.ulp(1.0) * scale);
    }
    assertThat(solve(ID).x()).containsExactly(there.x());
    // the same R from another attempt takes its place
    Residence before = ResidentFactors.ofJvm().find(ID, 0);
    ResidentFactors.ofJvm().put(ID, 0, residence());
    assertThat(before.factor().orElseThrow().solve(c, 1)).as("freed").isEmpty();
    assertThat(solve(ID).x()).containsExactly(there.x());
  }

  /** R whose solves do this instead. */
  private record Planted(Supplier<Optional<double[]>> solve, AtomicInteger closed)
      implements ResidentFactor {
    @Override
    public Optional<double[]> solve(double[] c, int width) {
      return solve.get();
    }

    @Override
    public Optional<double[]> forward(double[] c, int width) {
      return solve.get();
    }

    @Override
    public Optional<double[]> back(double[] given, int width) {
      return solve.get();
    }

    @Override
    public Optional<double[]> solveStored(double[] outside) {
      return solve.get();
    }

    @Override
    public Optional<List<FrontFactor>> fetch(RowMemory memory, int threads) {
      return Optional.empty();
    }

    @Override
    public void claimed(Claim claim) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long entries() {
      return 0;
    }

    @Override
    public long bytes() {
      return 0;
    }

    @Override
    public void close() {
      closed.incrementAndGet();
    }
  }

  private static Supplier<Optional<double[]>> failing(RuntimeException e) {
    return () -> {
      throw e;
    };
  }

  /** R x = Q'b, with the right-hand side that was factored with the matrix. */
  @Test
  void theStoredRightHandSideIsSolvedWhereRStayed() {
    double[] stored = solveStored(null);
    ResidentFactors.ofJvm().put(ID, 0, residence());
    double[] there =
        ResidentFactors.ofJvm().find(ID, 0).factor().get().solveStored(new double[0]).get();
    double[] x = solveStored(ID);
    assertThat(x).containsExactly(there);
    double scale = Arrays.stream(stored).map(Math::abs).max().orElseThrow();
    assertThat(stored).as("x and the probe's solution").hasSize(2 * N);
    for (int j = 0; j < 2 * N; j++) {
      assertThat(Math.abs(x[j] - stored[j]))
          .as("seed %d, x %d", SEED, j)
          .isLessThanOrEqualTo(1e6 * N * Math.ulp(1.0) * scale);
    }
    var closed = new AtomicInteger();
    Supplier<Optional<double[]>> changed = failing(new IntegrityFailure("R has changed"));
    ResidentFactors.ofJvm().put(ID, 0, Residence.of(new Planted(changed, closed)));
    assertThat(solveStored(ID)).containsExactly(stored);
    assertThat(closed).as("not used again").hasValue(1);
  }

  private double[] solveStored(String factorization) {
    var given = new Sparse(new int[0], new double[0], 2);
    List<byte[]> frames = run(Substitution.STORED, given, factorization);
    return VectorCodec.decodeSparse(frames.get(0)).value();
  }

  private List<byte[]> run(Substitution what, Sparse given, String factorization) {
    return TaskSolve.run(what, plan, kept().iterator(), given, factorization, ALONE);
  }

  @Test
  void whateverIsWrongWithItTheStoredRowsAreUsed() {
    double[] stored = solve(null).x();
    List<Supplier<Optional<double[]>>> wrong =
        List.of(
            failing(new IntegrityFailure("R has changed")),
            failing(new FatalCudaException("the context is poisoned", "cuLaunchKernel", 700)),
            Optional::empty);
    for (int k = 0; k < wrong.size(); k++) {
      var closed = new AtomicInteger();
      var residence = Residence.of(new Planted(wrong.get(k), closed));
      ResidentFactors.ofJvm().put(ID, 0, residence);
      Found found = solve(ID);
      assertThat(found.x()).as("case %d", k).containsExactly(stored);
      assertThat(found.where().resident()).isFalse();
      assertThat(found.where().reason()).isNotEmpty();
      assertThat(closed).as("case %d: not used again", k).hasValue(1);
      assertThat(solve(ID).where().reason()).isEqualTo(found.where().reason());
    }
  }

  @Test
  void tooLittleRoomForTheVectorsIsNoReasonToDropR() {
    var closed = new AtomicInteger();
    var none = failing(new InsufficientMemoryException("no room", 2, 1));
    ResidentFactors.ofJvm().put(ID, 0, Residence.of(new Planted(none, closed)));
    assertThat(solve(ID).where().resident()).isFalse();
    assertThat(closed).hasValue(0);
    assertThat(solve("another factorization").where().reason()).contains("another process");
  }
}
