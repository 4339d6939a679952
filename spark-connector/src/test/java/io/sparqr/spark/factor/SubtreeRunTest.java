/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.backend.QrBackendProvider;
import io.sparqr.error.CudaException;
import io.sparqr.error.FatalCudaException;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.RowMemory;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.Tolerances;
import io.sparqr.numeric.WorkListener;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.partition.ResourceModel;
import io.sparqr.partition.TreePartitioner;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.device.Backends;
import io.sparqr.spark.device.DeviceLease;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.metrics.SubtreeMetrics;
import io.sparqr.spark.plan.DeviceVerdict;
import io.sparqr.spark.plan.PlannedTuning;
import io.sparqr.spark.plan.Ridge;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.solve.TriangularSolve;
import io.sparqr.spark.stored.TaskOutput;
import io.sparqr.spark.wire.RowBatchCodec;
import io.sparqr.spark.wire.VectorCodec;
import io.sparqr.spark.wire.VectorCodec.Sparse;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import io.sparqr.symbolic.Tuning;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A single task: its part of the triangular solves, and its reaction to the loss of its device. */
@Timeout(60)
class SubtreeRunTest {

  private static final int[] COLUMNS = {0, 1, 2, 3};

  /** One thread for the one task. */
  private static final int[] ALONE = {1};

  /** Row k of A; column 2 is twice column 0. */
  private static final double[][] A = {
    {1, 2, 2, 1}, {0.5, -1, 1, 3}, {2, 1, 4, -1}, {-1, 0.5, -2, 2}, {3, 1, 6, 0.25}
  };

  /** All columns in one front of one task. */
  private static SolvePlan plan() {
    return plan(PlannedTuning.NONE);
  }

  private static SolvePlan plan(PlannedTuning tuned) {
    var pattern = new SparsityPattern(4, new long[] {0, 4}, COLUMNS, new long[] {A.length});
    SymbolicAnalysis analysis = SymbolicAnalyzer.analyze(pattern, SymbolicOptions.defaults());
    var numbers =
        new SolvePlan.Numbers(
            1,
            1e-10,
            Ridge.NONE,
            new DeviceVerdict.Refuse("asked for"),
            0,
            true,
            new SolvePlan.Fronts(false, false, tuned),
            false,
            0);
    return new SolvePlan(
        analysis,
        TreePartitioner.partition(
            analysis, ResourceModel.uniform(1, 1e10, 1L << 30), PartitionOptions.defaults()),
        new double[] {1, 1, 1, 1},
        new double[] {1},
        numbers,
        new io.sparqr.spark.plan.Readings(java.util.List.of()));
  }

  /** The rows of A. */
  private static byte[] batch(SolvePlan plan) {
    var batch = new RowBatchCodec.Builder(1);
    for (double[] row : A) {
      double[] value = new double[4];
      for (int p = 0; p < 4; p++) {
        value[p] = row[plan.analysis().permutation().original(p)];
      }
      batch.add(0, COLUMNS, value, 0, 4, new double[] {1}, 0);
    }
    return batch.take(0, 0);
  }

  private static List<TaskOutput> kept(SolvePlan plan, boolean framed) {
    var rows = new ArrayList<byte[]>(List.of(batch(plan)));
    var metrics = new SubtreeMetrics(Engine.of(LocalSpark.context()), false);
    var out = new ArrayList<TaskOutput>();
    new SubtreeRun(plan, 0, 1, new Keeping.OnHost(framed), metrics)
        .run(rows, java.util.Collections.emptyIterator())
        .kept()
        .forEachRemaining(out::add);
    return out;
  }

  /** c'c of columns i and j of A by position. */
  private static double gram(SolvePlan plan, int i, int j) {
    var order = plan.analysis().permutation();
    return Arrays.stream(A).mapToDouble(r -> r[order.original(i)] * r[order.original(j)]).sum();
  }

  private static int dead(SolvePlan plan) {
    var order = plan.analysis().permutation();
    // the later one of the two parallel columns
    return Math.max(order.position(0), order.position(2));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void deadEntriesAreZeroWhateverStandsThereBefore(boolean framed) {
    SolvePlan plan = plan();
    List<TaskOutput> kept = kept(plan, framed);
    int dead = dead(plan);
    double[] c = {1, 2, 3, 4};
    double[] y =
        VectorCodec.decodeSparse(
                TriangularSolve.forward(
                    plan, kept.iterator(), new Sparse(COLUMNS, c, 1), false, ALONE))
            .value();
    assertThat(y[dead]).isZero();
    // the dead column has a value again, as in a caller's vector
    y[dead] = 1e3;
    double[] x =
        VectorCodec.decodeSparse(
                TriangularSolve.back(
                    plan, kept.iterator(), new Sparse(COLUMNS, y, 1), false, ALONE))
            .value();
    assertThat(x[dead]).isZero();
    // R'R x = c in the live columns, although back substitution meets the dead one's in each row
    double[] stored =
        VectorCodec.decodeSparse(
                TriangularSolve.back(
                    plan, kept.iterator(), new Sparse(new int[0], new double[0], 2), true, ALONE))
            .value();
    assertThat(stored[2 * dead]).isZero();
    assertThat(stored[2 * dead + 1]).as("the probe's").isZero();
    y[dead] = 0;
    double[] clean =
        VectorCodec.decodeSparse(
                TriangularSolve.back(
                    plan, kept.iterator(), new Sparse(COLUMNS, y, 1), false, ALONE))
            .value();
    for (int i = 0; i < 4; i++) {
      double sum = 0;
      for (int j = 0; j < 4; j++) {
        sum += gram(plan, i, j) * clean[j];
      }
      if (i != dead) {
        assertThat(sum).as("equation %d", i).isCloseTo(c[i], within(Tolerances.REORDERED));
      }
    }
  }

  /** A task takes the tuning of its plan: it looks for no file. */
  @Test
  void theDeviceGetsThePlansTuning() {
    Tuning tuning = Tuning.constants().withApply(7, 3).withPipelining(false);
    SolvePlan plan = plan(new PlannedTuning(tuning, "file of another host"));
    var metrics = new SubtreeMetrics(Engine.of(LocalSpark.context()), false);
    var run = new SubtreeRun(plan, 0, 1, new Keeping.OnHost(false), metrics);
    var problem =
        new SubtreeProblem(
            plan.analysis(),
            plan.partition().tasks().get(0).fronts(),
            RowBatchCodec.decode(List.of(batch(plan)), 1),
            List.of());
    var error = new IllegalStateException("planted");
    var device = new Failing(error, new AtomicInteger(), new ArrayList<>());
    var chosen = new Backends.Chosen(device, List.of(81), "planted");
    assertThatThrownBy(() -> run.factor(chosen, problem, RowMemory.HEAP, WorkListener.NONE))
        .isSameAs(error);
    assertThat(device.asked).extracting(FactorOptions::tuning).containsExactly(tuning);
  }

  /** A device that fails. */
  private record Failing(RuntimeException error, AtomicInteger closed, List<FactorOptions> asked)
      implements QrBackendProvider, SubtreeFactorizer {
    @Override
    public String name() {
      return "failing";
    }

    @Override
    public Optional<String> unavailable() {
      return Optional.empty();
    }

    @Override
    public SubtreeFactorizer create(int device) {
      return this;
    }

    @Override
    public int devices() {
      return 1;
    }

    @Override
    public double minimumIntensity() {
      return 0;
    }

    @Override
    public SubtreeFactor factor(SubtreeProblem problem, FactorOptions options) {
      asked.add(options);
      throw error;
    }

    @Override
    public String description() {
      return "failing";
    }

    @Override
    public void close() {
      closed.incrementAndGet();
    }
  }

  @Test
  void anExecutorWhoseDeviceIsLostHasToDieAndNoOther() throws InterruptedException {
    int device = 80;
    var fatal = new FatalCudaException("the context is poisoned", "cuLaunchKernel", 700);
    var memory = new CudaException("out of memory", "cuMemAlloc", 2);
    for (RuntimeException error : List.of(fatal, memory, new IllegalStateException("ours"))) {
      var lost = new ArrayList<RuntimeException>();
      var metrics = new SubtreeMetrics(Engine.of(LocalSpark.context()), false);
      SolvePlan plan = plan();
      var run = new SubtreeRun(plan, 0, 1, new Keeping.OnHost(false), metrics, lost::add);
      var problem =
          new SubtreeProblem(
              plan.analysis(),
              plan.partition().tasks().get(0).fronts(),
              RowBatchCodec.decode(List.of(batch(plan)), 1),
              List.of());
      var closed = new AtomicInteger();
      var chosen =
          new Backends.Chosen(
              new Failing(error, closed, new ArrayList<>()), List.of(device), "planted");
      assertThatThrownBy(() -> run.factor(chosen, problem, RowMemory.HEAP, WorkListener.NONE))
          .isSameAs(error);
      assertThat(lost).isEqualTo(error == fatal ? List.of(fatal) : List.of());
      assertThat(closed).hasValue(1);
      // another task has the device
      var got = new CountDownLatch(1);
      var other =
          new Thread(
              () -> {
                DeviceLease.acquire(null, List.of(device)).close();
                got.countDown();
              });
      other.setDaemon(true);
      other.start();
      assertThat(got.await(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void theDyingExecutorDiesAndTheDriverDoesNot() throws InterruptedException {
    var code = new AtomicInteger(-1);
    var left = new CountDownLatch(1);
    var why = new FatalCudaException("the context is poisoned", "cuLaunchKernel", 700);
    DyingExecutor.leave(
        why,
        "driver",
        c -> {
          code.set(99);
          left.countDown();
        });
    assertThat(left.await(1, TimeUnit.SECONDS)).isFalse();
    DyingExecutor.leave(
        why,
        "3",
        c -> {
          code.set(c);
          left.countDown();
        });
    assertThat(left.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(code.get()).isPositive().isNotEqualTo(99);
    // here it is the driver
    DyingExecutor.leave(why);
  }
}
