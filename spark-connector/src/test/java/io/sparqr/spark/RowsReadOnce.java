/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.backend.BackendChoice;
import io.sparqr.configuration.Keys;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.rows.ParsedRows;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.util.LongAccumulator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import scala.Tuple2;

/**
 * With a given analysis two executor JVMs compute each partition of the rows once, with the bits of
 * rows that are read twice, and keep nothing of them. On the cluster of {@link LocalClusterIT}.
 */
@Timeout(value = 170, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class RowsReadOnce {

  private static final long SEED = Long.getLong("test.seed", 20261127L);
  private static final CsrMatrix A = Problems.withSingletons(Problems.grid(40, SEED), 5, SEED);
  private static final int EXECUTORS = 2;
  private static final int PARTITIONS = 6;

  private static JavaSparkContext context;
  private static LongAccumulator computed;
  private static JavaRDD<SparseRow> rows;
  private static SymbolicAnalysis known;

  @BeforeAll
  static void begin() throws Exception {
    context = LocalClusterIT.context();
    LocalCluster.awaitExecutors(context, EXECUTORS);
    computed = context.sc().longAccumulator("partitions computed");
    rows = counted(weighted());
    try (QRFactorization f = solver().factorize(rows)) {
      known = f.analysis();
    }
  }

  @BeforeEach
  void executorsAreThere() throws InterruptedException {
    LocalCluster.awaitExecutors(context, EXECUTORS);
    computed.reset();
  }

  @AfterEach
  void nothingIsLeft() throws InterruptedException {
    LocalCluster.awaitExecutors(context, EXECUTORS);
    Map<Long, Long> left = held();
    // The driver does not wait for executors to drop what they hold.
    for (int k = 0;
        k < 200 && (left.size() < EXECUTORS || left.values().stream().anyMatch(b -> b > 0));
        k++) {
      Thread.sleep(50);
      left = held();
    }
    assertThat(left.values()).as("bytes of rows").containsExactly(0L, 0L);
    assertThat(context.sc().getPersistentRDDs().size()).isZero();
  }

  private static List<SparseRow> weighted() {
    double[] b = Problems.rhs(A.rows(), SEED + 1);
    double[] c = Problems.rhs(A.rows(), SEED + 2);
    List<SparseRow> list = new ArrayList<>();
    for (SparseRow r : Problems.rows(A, b)) {
      int i = list.size();
      double weight = i % 11 == 0 && i > 100 ? 0 : 1 + i % 3;
      double[] labels = {b[i], c[i]};
      list.add(new SparseRow(r.indices(), r.values(), labels, weight, r.columns()));
    }
    return list;
  }

  /** Counts a partition once it is asked for, whether or not its rows are. */
  private static JavaRDD<SparseRow> counted(List<SparseRow> list) {
    LongAccumulator count = computed;
    return context
        .parallelize(list, PARTITIONS)
        .mapPartitions(
            it -> {
              count.add(1);
              // So that both executors get some of them, even if one is the first to ask again.
              Thread.sleep(20);
              return it;
            });
  }

  private static GpuSparseQR.Builder solver() {
    return GpuSparseQR.builder()
        .backend(BackendChoice.CPU)
        .ordering(OrderingMethod.NESTED_DISSECTION)
        .partitionOptions(new PartitionOptions(2, 4, 3, 0));
  }

  private static GpuSparseQR.Builder given() {
    return solver().analysis(known);
  }

  /** Bytes of rows that executors hold, by process. */
  private static Map<Long, Long> held() {
    return context
        .parallelize(IntStream.range(0, 8).boxed().toList(), 8)
        .mapToPair(
            i -> {
              // So that both executors get some of them.
              Thread.sleep(20);
              return new Tuple2<>(
                  ProcessHandle.current().pid(),
                  ParsedRows.room().most() - ParsedRows.room().left());
            })
        .reduceByKey((a, b) -> b)
        .collectAsMap();
  }

  /** Sets the share in both executors, however many times one of them takes all tasks. */
  private static void share(String share) {
    var told = new HashSet<Long>();
    for (int k = 0; k < 100 && told.size() < EXECUTORS; k++) {
      told.addAll(
          context
              .parallelize(IntStream.range(0, 8).boxed().toList(), 8)
              .map(
                  i -> {
                    Thread.sleep(20);
                    System.setProperty(Keys.ROW_COPY_SHARE.name(), share);
                    return ProcessHandle.current().pid();
                  })
              .collect());
    }
    assertThat(told).hasSize(EXECUTORS);
  }

  private static LeastSquaresSolution readTwice(GpuSparseQR.Builder solver) {
    share("0");
    try {
      computed.reset();
      LeastSquaresSolution x = solver.solve(rows);
      assertThat(computed.value()).isEqualTo(2 * PARTITIONS);
      computed.reset();
      return x;
    } finally {
      share("0.0625");
    }
  }

  private static void sameBits(LeastSquaresSolution x, LeastSquaresSolution y) {
    for (int k = 0; k < 2; k++) {
      assertThat(x.x(k)).as("right-hand side %d, seed %d", k, SEED).isEqualTo(y.x(k));
    }
    assertThat(x.residualNorms()).isEqualTo(y.residualNorms());
    assertThat(x.report().warnings()).isEqualTo(y.report().warnings());
  }

  @Test
  void eachPartitionIsComputedOnce() {
    LeastSquaresSolution twice = readTwice(given());
    var between = new AtomicReference<Map<Long, Long>>();
    ProgressListener look =
        p -> {
          if (p.phase().equals("plan")) {
            between.set(held());
          }
        };
    sameBits(given().listener(look).solve(rows), twice);
    assertThat(computed.value()).isEqualTo(PARTITIONS);
    assertThat(between.get().values()).hasSize(2).allMatch(b -> b > 0);
    computed.reset();
    try (QRFactorization f = given().factorize(rows)) {
      assertThat(computed.value()).isEqualTo(PARTITIONS);
      sameBits(f.solve(), twice);
    }
  }

  @Test
  void withRidge() {
    GpuSparseQR.Builder ridge = solver().ridge(0.25);
    try (QRFactorization f = ridge.factorize(rows)) {
      ridge.analysis(f.analysis());
    }
    LeastSquaresSolution twice = readTwice(ridge);
    sameBits(ridge.solve(rows), twice);
    assertThat(computed.value()).isEqualTo(PARTITIONS);
  }

  @Test
  void whatAnExecutorHeldIsReadAgainWhenItIsLost() {
    LeastSquaresSolution twice = readTwice(given());
    var lost = new AtomicReference<Long>();
    ProgressListener killer =
        p -> {
          if (p.phase().equals("plan") && lost.get() == null) {
            lost.set(held().keySet().iterator().next());
            ProcessHandle.of(lost.get()).orElseThrow().destroyForcibly();
          }
        };
    sameBits(given().listener(killer).solve(rows), twice);
    assertThat(lost.get()).isNotNull();
    assertThat(computed.value()).isGreaterThan(PARTITIONS);
  }

  @Test
  void anAnalysisOfAnotherPattern() {
    SymbolicAnalysis other;
    try (QRFactorization f =
        solver()
            .factorize(
                context.parallelize(Problems.rows(Problems.grid(6, SEED), new double[100]), 2))) {
      other = f.analysis();
    }
    LeastSquaresSolution x = solver().analysis(other).solve(rows);
    assertThat(x.report().warnings())
        .contains("the given analysis is of another pattern: analyzed again");
    assertThat(computed.value()).isEqualTo(3 * PARTITIONS);
    assertThat(x.x()).isEqualTo(solver().solve(rows).x());
  }

  @Test
  void aSolveThatFailsInBetweenLeavesNothing() {
    var failed = new AtomicBoolean();
    ProgressListener failing =
        p -> {
          if (p.phase().equals("plan") && failed.compareAndSet(false, true)) {
            assertThat(held().values()).anyMatch(b -> b > 0);
            throw new IllegalStateException("in between");
          }
        };
    assertThatThrownBy(() -> given().listener(failing).solve(rows)).hasMessage("in between");
  }

  @Test
  void aSolveThatIsCancelledInTheFirstReadingLeavesNothing() throws Exception {
    JavaRDD<SparseRow> endless =
        rows.mapPartitionsWithIndex(
            (p, it) -> {
              if (p == PARTITIONS - 1) {
                Thread.sleep(60_000);
              }
              return it;
            },
            true);
    var solving = CompletableFuture.runAsync(() -> given().solve(endless));
    while (computed.value() < PARTITIONS - 1) {
      Thread.sleep(20);
    }
    context.cancelAllJobs();
    assertThatThrownBy(solving::join).hasMessageContaining("cancelled");
  }
}
