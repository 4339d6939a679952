/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.BackendChoice;
import io.sparqr.configuration.Keys;
import io.sparqr.numeric.RowBlock;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.LocalSpark;
import io.sparqr.spark.Problems;
import io.sparqr.spark.QRFactorization;
import io.sparqr.spark.cluster.ClusterResources;
import io.sparqr.spark.condition.RankRequest;
import io.sparqr.spark.engine.Held;
import io.sparqr.spark.exchange.Exchange;
import io.sparqr.spark.exchange.PlanHandle;
import io.sparqr.spark.factorization.Earlier;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.pattern.PatternPass;
import io.sparqr.spark.plan.DeviceVerdict;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.rows.HeldRows;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.spark.wire.RowBatchCodec;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

/** Rows come to the tasks of their fronts by one of three ways, with the same bits. */
class RowStepTest {

  private static final long SEED = Long.getLong("test.seed", 20261125L);
  private static final int PARTITIONS = 3;
  private static final CsrMatrix A =
      Problems.withSingletons(Problems.random(4000, 300, 6, SEED), 4, SEED);
  private static final AtomicLong READ = new AtomicLong();

  private final AtomicLong written = new AtomicLong();
  private final AtomicInteger jobs = new AtomicInteger();
  private final SparkListener listener =
      new SparkListener() {
        @Override
        public void onJobStart(SparkListenerJobStart start) {
          jobs.incrementAndGet();
        }

        @Override
        public void onTaskEnd(SparkListenerTaskEnd end) {
          written.addAndGet(end.taskMetrics().shuffleWriteMetrics().bytesWritten());
        }
      };
  private int before;

  @BeforeEach
  void listen() {
    before = Exchange.open();
    LocalSpark.context().sc().addSparkListener(listener);
  }

  @AfterEach
  void nothingIsLeft() {
    LocalSpark.context().sc().removeSparkListener(listener);
    System.clearProperty(Keys.ROW_COPY_SHARE.name());
    assertThat(Exchange.open()).isEqualTo(before);
  }

  private static JavaRDD<SparseRow> counted() {
    return Problems.rdd(A, PARTITIONS, Problems.rhs(A.rows(), SEED))
        .map(
            r -> {
              READ.incrementAndGet();
              return r;
            });
  }

  /** What a solve has done: bytes written, jobs, and how often each row was read. */
  private long[] counts() throws InterruptedException, TimeoutException {
    LocalSpark.context().sc().listenerBus().waitUntilEmpty(10_000);
    return new long[] {written.getAndSet(0), jobs.getAndSet(0), READ.getAndSet(0) / A.rows()};
  }

  @Test
  void theSameBitsByEveryWay() throws InterruptedException, TimeoutException {
    counts();
    LeastSquaresSolution left = GpuSparseQR.solve(counted());
    assertThat(counts()).as("the first reading, the tasks of the fronts").containsExactly(0, 2, 1);
    System.setProperty(Keys.ROW_COPY_SHARE.name(), "0");
    LeastSquaresSolution again = GpuSparseQR.solve(counted());
    assertThat(counts()).as("and the second reading").containsExactly(0, 3, 2);
    assertThat(again.x()).as("seed %d", SEED).isEqualTo(left.x());
    assertThat(again.residualNorm()).isEqualTo(left.residualNorm());
    try (QRFactorization f = GpuSparseQR.builder().build().factorize(counted())) {
      assertThat(counts()[0]).as("where R is kept, rows are shuffled").isPositive();
      assertThat(f.solve().x()).isEqualTo(left.x());
    }
  }

  /** A plan of the rows, and the step with room for so many bytes. */
  private static final class Step {
    private final RowSource source = RowSource.of(counted());
    private final PatternPass.Result found;
    private final ClusterResources resources;
    private final PlanHandle plan;

    Step(Optional<HeldRows> left) {
      var options = SolveOptions.defaults();
      DeviceVerdict host =
          Pipeline.foretold(BackendChoice.CPU, true, analysis(new PatternPass(source, options)));
      found = new PatternPass(source, options).run(left.orElse(null));
      SymbolicAnalysis analysis =
          SymbolicAnalyzer.analyze(
              found.patterns().whole().orElseThrow(), SymbolicOptions.defaults().withRhs(1));
      resources = ClusterResources.probe(source.engine(), 0, host);
      var step = new PlanStep(source, options, Earlier.NONE, RankRequest.FIRST, new ArrayList<>());
      ClusterResources.Planned planned = step.cut(analysis, found, resources);
      plan = PlanHandle.of(source.engine(), step.of(found, planned, host));
    }

    private static SymbolicAnalysis analysis(PatternPass pass) {
      return SymbolicAnalyzer.analyze(
          pass.run().patterns().whole().orElseThrow(), SymbolicOptions.defaults());
    }

    RowStep.Sent send(Held held, Optional<HeldRows> left, long mostBytes) {
      return new RowStep(source, true, held, mostBytes).send(plan, resources, found, left);
    }

    /** The rows of every task, and the driver's. */
    List<RowBlock> blocks(RowStep.Sent sent) {
      var blocks = new ArrayList<RowBlock>();
      for (int task = 0; task <= plan.value().driverKey(); task++) {
        int each = task < plan.value().driverKey() ? sent.parts().each() : 1;
        var frames = new ArrayList<byte[]>();
        for (int k = 0; k < each; k++) {
          int part = task * sent.parts().each() + k;
          for (Tuple2<Integer, byte[]> t : sent.rows().collect(part).get(0)) {
            frames.add(t._2());
          }
        }
        blocks.add(RowBatchCodec.decode(frames, 1));
      }
      return blocks;
    }
  }

  private static void same(List<RowBlock> found, List<RowBlock> expected) {
    assertThat(found).hasSameSizeAs(expected);
    long rows = 0;
    for (int k = 0; k < found.size(); k++) {
      RowBlock f = found.get(k);
      RowBlock e = expected.get(k);
      assertThat(f.front()).as("task %d, seed %d", k, SEED).isEqualTo(e.front());
      assertThat(f.rowStart()).isEqualTo(e.rowStart());
      assertThat(f.position()).isEqualTo(e.position());
      assertThat(f.value()).isEqualTo(e.value());
      assertThat(f.rhs()).isEqualTo(e.rhs());
      rows += f.rows();
    }
    assertThat(rows).isGreaterThan(A.columns());
  }

  /** What the rows are foretold to take is not enough once a few bytes less are there. */
  @Test
  void withoutRoomForTheBatchesRowsAreShuffled() throws InterruptedException, TimeoutException {
    try (var held = new Held();
        HeldRows rows = HeldRows.of(RowSource.of(counted()).engine()).orElseThrow()) {
      var step = new Step(Optional.of(rows));
      long foretold = DiskNeed.ofRows(step.found);
      RowStep.Sent here = step.send(held, Optional.of(rows), Long.MAX_VALUE);
      List<RowBlock> expected = step.blocks(here);
      assertThat(counts()[0]).as("bytes written").isZero();
      for (long most : new long[] {foretold - 1, foretold}) {
        for (Optional<HeldRows> left : List.of(Optional.<HeldRows>empty(), Optional.of(rows))) {
          RowStep.Sent shuffled = step.send(held, left, most);
          long[] counts = counts();
          assertThat(counts[0]).as("bytes written").isPositive();
          // what is known not to fit is not tried
          boolean tried = most == foretold && left.isEmpty();
          // The shuffle's stage, and the driver's rows, of which there are some.
          assertThat(counts[1]).as("jobs").isEqualTo(tried ? 3 : 2);
          same(step.blocks(shuffled), expected);
          counts();
          assertThat(shuffled.driver().residualSquares())
              .isEqualTo(here.driver().residualSquares());
        }
      }
      RowStep.Sent read = step.send(held, Optional.empty(), Long.MAX_VALUE);
      same(step.blocks(read), expected);
      assertThat(counts()[0]).as("bytes written").isZero();
      step.plan.release();
    }
  }
}
