/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.Sampled;
import io.sparqr.backend.BackendChoice;
import io.sparqr.error.MatrixFormatException;
import io.sparqr.error.NonFiniteValueException;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.MatrixMarketWriter;
import io.sparqr.numeric.LocalSolver;
import io.sparqr.numeric.Tolerances;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.InverseBlock;
import io.sparqr.spark.model.RFactor;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.Spreads;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two real executor JVMs: the same answer as one process, the same bits whatever happens. */
@Timeout(value = 170, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class LocalClusterIT {

  private static final long SEED = Long.getLong("test.seed", 20260102L);
  private static final CsrMatrix A = Problems.grid(60, SEED);
  private static final double[] B = Problems.rhs(A.rows(), SEED + 1);

  private static final int EXECUTORS = 2;
  private static final String SPLIT = "mapreduce.input.fileinputformat.split.maxsize";

  private static JavaSparkContext context;
  private static JavaRDD<SparseRow> rows;
  private static RFactor first;

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    context =
        LocalCluster.start(LocalCluster.conf("sparqr cluster tests", EXECUTORS, 1), EXECUTORS);
    rows = context.parallelize(Problems.rows(A, B), 4);
  }

  @AfterAll
  static void stop() {
    if (context != null) {
      context.stop();
    }
  }

  /** The cluster, for other tests on one of this shape. */
  static JavaSparkContext context() {
    return context;
  }

  @Nested
  class RowsAreReadOnce extends RowsReadOnce {}

  @Nested
  @Sampled(oneIn = 3)
  class TallMatrices extends TallOnExecutors {}

  private static GpuSparseQR.Builder solver() {
    return GpuSparseQR.builder()
        .backend(BackendChoice.CPU)
        .ordering(OrderingMethod.NESTED_DISSECTION)
        .partitionOptions(new PartitionOptions(2, 4, 3, 0));
  }

  @Test
  @Order(1)
  void theAnswerIsThatOfOneProcess() {
    LeastSquaresSolution s = solver().check(true).solve(rows);
    assertThat(s.report().analysis().levels()).isGreaterThanOrEqualTo(3);
    assertThat(s.report().analysis().subtreeTasks()).isGreaterThan(4);
    assertThat(s.report().residual().normalResidual()).isLessThan(Tolerances.NORMAL_RESIDUAL);
    try (var cpu = new io.sparqr.backend.cpu.CpuBackendProvider().create(0)) {
      LocalSolver.Solution one = new LocalSolver(cpu, SymbolicOptions.defaults(), 1).solve(A, B, 1);
      assertThat(s.x()).as("seed %d", SEED).containsExactly(one.x(), within(Tolerances.RESIDUAL));
      assertThat(s.residualNorm()).isCloseTo(one.residualNorm()[0], within(Tolerances.RESIDUAL));
    }
  }

  @Test
  @Order(2)
  void repeatedRunsGiveTheSameBits() {
    try (QRFactorization f = solver().factorize(rows);
        QRFactorization g = solver().factorize(rows)) {
      first = f.collectR();
      assertSameBits(first, g.collectR());
      assertThat(f.solve().x()).isEqualTo(g.solve().x());
      assertThat(context.sc().getPersistentRDDs().size()).isPositive();
    }
    assertThat(context.sc().getPersistentRDDs().size()).isZero();
  }

  @Test
  @Order(3)
  void aKilledExecutorChangesNothing() throws Exception {
    long victim =
        context
            .parallelize(List.of(1, 2, 3, 4), 4)
            .map(i -> ProcessHandle.current().pid())
            .collect()
            .get(0);
    var killed = new AtomicBoolean();
    ProgressListener killer =
        p -> {
          boolean middle = p.phase().equals("factorize") && p.detail().startsWith("level 2");
          if (middle && killed.compareAndSet(false, true)) {
            ProcessHandle.of(victim).orElseThrow().destroyForcibly();
          }
        };
    try (QRFactorization f = solver().listener(killer).factorize(rows)) {
      assertThat(killed).isTrue();
      assertSameBits(first, f.collectR());
      assertThat(Problems.normalResidual(A, f.solve().x(), B))
          .isLessThan(Tolerances.NORMAL_RESIDUAL);
    }
    assertThat(context.sc().getPersistentRDDs().size()).isZero();
    assertThat(SparkEnv.get().executorId()).isEqualTo("driver");
  }

  @Test
  @Order(4)
  void furtherRightHandSidesAndStandardErrorsWorkOnExecutors() throws InterruptedException {
    LocalCluster.awaitExecutors(context, EXECUTORS);
    double[] c = Problems.rhs(A.rows(), SEED + 2);
    try (QRFactorization f = solver().factorize(rows)) {
      LeastSquaresSolution s = f.solveRelabeled(context.parallelize(Problems.rows(A, c), 3));
      assertThat(Problems.normalResidual(A, s.x(), c)).isLessThan(10 * Tolerances.NORMAL_RESIDUAL);
      assertThat(java.util.Arrays.stream(f.standardErrors()))
          .hasSize(A.columns())
          .allMatch(e -> e > 0);
    }
  }

  /** Their blocks meet in fronts of their own: the same answer, and the same bits every time. */
  @Test
  @Order(5)
  void tallFrontsAreReducedByBothExecutors() throws InterruptedException {
    LocalCluster.awaitExecutors(context, EXECUTORS);
    LeastSquaresSolution plain = solver().solve(rows);
    SymbolicAnalysis spread;
    try (QRFactorization f = solver().factorize(rows)) {
      spread = Spreads.eager(f.analysis());
    }
    assertThat(Spreads.inserted(spread)).isPositive();
    GpuSparseQR.Builder given = solver().analysis(spread);
    try (QRFactorization f = given.factorize(rows);
        QRFactorization g = given.keepQ(true).factorize(rows)) {
      assertThat(f.analysis()).isSameAs(spread);
      LeastSquaresSolution s = f.solve();
      assertThat(s.rank()).isEqualTo(plain.rank());
      assertThat(s.x()).containsExactly(plain.x(), within(Tolerances.RESIDUAL));
      assertThat(s.residualNorm()).isCloseTo(plain.residualNorm(), within(Tolerances.RESIDUAL));
      assertThat(given.keepQ(false).solve(rows).x()).isEqualTo(s.x());
      assertThat(g.solve().x()).containsExactly(plain.x(), within(Tolerances.RESIDUAL));
    }
  }

  @Test
  @Order(6)
  void aBlockOfTheInverseIsMadeAgainWhenEveryExecutorIsLost() throws Exception {
    LocalCluster.awaitExecutors(context, EXECUTORS);
    int before = context.sc().getPersistentRDDs().size();
    try (QRFactorization f = solver().factorize(rows)) {
      int n = A.columns();
      // those of the top front
      int[] columns =
          java.util.stream.IntStream.range(n - 20, n).map(f.permutation()::original).toArray();
      try (InverseBlock z = f.inverseBlock(columns)) {
        double[][] strip = z.strip(0, 20);
        double[] errors = f.unscaledErrors();
        for (int k = 0; k < 20; k++) {
          double error = errors[columns[k]];
          assertThat(Math.sqrt(strip[k][k]))
              .as("seed %d", SEED)
              .isCloseTo(error, within(Tolerances.RANDOM * error));
        }
        context
            .parallelize(List.of(1, 2, 3, 4), 4)
            .map(i -> ProcessHandle.current().pid())
            .distinct()
            .collect()
            .forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
        assertThat(z.strip(0, 20)).as("from lineage").isDeepEqualTo(strip);
      }
    }
    assertThat(context.sc().getPersistentRDDs().size()).isEqualTo(before);
  }

  @Test
  @Order(6)
  void theKeptQSurvivesAKilledExecutor() throws Exception {
    LocalCluster.awaitExecutors(context, EXECUTORS);
    double[] c = Problems.rhs(A.rows(), SEED + 2);
    List<double[]> labels =
        java.util.stream.IntStream.range(0, c.length)
            .mapToObj(i -> new double[] {B[i], c[i]})
            .toList();
    JavaRDD<double[]> aligned = context.parallelize(labels, 4);
    int before = context.sc().getPersistentRDDs().size();
    try (QRFactorization f = solver().keepQ(true).factorize(rows)) {
      assertThat(f.summary().analysis().levels()).isGreaterThanOrEqualTo(3);
      LeastSquaresSolution s = f.solve(aligned);
      JavaRDD<double[]> columns = f.q(0, f.rank() - 1);
      List<double[]> q = columns.collect();
      assertThat(s.x(0))
          .as("seed %d", SEED)
          .containsExactly(f.solve().x(), within(Tolerances.SOLUTION));
      assertThat(s.residualNorms()[0])
          .isCloseTo(f.solve().residualNorm(), within(Tolerances.RESIDUAL));
      assertThat(Problems.normalResidual(A, s.x(1), c)).isLessThan(Tolerances.NORMAL_RESIDUAL);
      long victim =
          context
              .parallelize(List.of(1, 2, 3, 4), 4)
              .map(i -> ProcessHandle.current().pid())
              .collect()
              .get(0);
      ProcessHandle.of(victim).orElseThrow().destroyForcibly();
      List<double[]> later = columns.collect();
      List<double[]> anew = f.q(0, f.rank() - 1).collect();
      for (int i = 0; i < q.size(); i++) {
        assertThat(later.get(i)).as("recomputed from lineage").isEqualTo(q.get(i));
        assertThat(anew.get(i)).as("recomputed from lineage").isEqualTo(q.get(i));
      }
      LeastSquaresSolution again = f.solve(aligned);
      assertThat(again.x(1)).as("recomputed from lineage").isEqualTo(s.x(1));
      assertThat(again.residualNorms()).isEqualTo(s.residualNorms());
    }
    assertThat(context.sc().getPersistentRDDs().size()).isEqualTo(before);
  }

  @Test
  @Order(7)
  void filesAreReadByTheExecutors(@TempDir Path folder) throws Exception {
    LocalCluster.awaitExecutors(context, EXECUTORS);
    Path file = folder.resolve("a.mtx");
    MatrixMarketWriter.writeCoordinate(file, A);
    double[] b = new Random(SEED).doubles(2L * A.rows()).toArray();
    Path rhs = folder.resolve("b.mtx");
    MatrixMarketWriter.writeArray(rhs, new DenseMatrix(A.rows(), 2, b));
    context.hadoopConfiguration().set(SPLIT, "20000");
    JavaRDD<SparseRow> read =
        MatrixFiles.matrixMarket(context, file.toUri().toString(), rhs.toUri().toString());
    assertRowsOfA(read.collect(), b);
    ProcessHandle.of(anExecutor()).orElseThrow().destroyForcibly();
    assertRowsOfA(read.collect(), b);

    List<String> lines = new ArrayList<>(Files.readAllLines(file));
    int bad = lines.size() - 10;
    lines.set(bad - 1, "1 1 x");
    Files.write(file, lines);
    assertThatThrownBy(() -> MatrixFiles.matrixMarket(context, file.toUri().toString()))
        .isInstanceOf(MatrixFormatException.class)
        .hasMessageEndingWith("a.mtx:" + bad + ": 'x' is no number");
    lines.set(bad - 1, "1 1 NaN");
    Files.write(file, lines);
    assertThatThrownBy(() -> MatrixFiles.matrixMarket(context, file.toUri().toString()))
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessageContaining("a.mtx:" + bad + ": the value of row 1, column 1");

    Path svm = folder.resolve("a.svm");
    List<String> points = new ArrayList<>(java.util.Collections.nCopies(9000, "1 1:1 2:3"));
    points.set(8000, "1 1:1 2:nan");
    Files.write(svm, points);
    assertThatThrownBy(() -> MatrixFiles.libsvm(context, svm.toUri().toString()))
        .isInstanceOf(NonFiniteValueException.class)
        .hasMessageContaining("a.svm:8001: ")
        .hasMessageContaining("(row 8001)");
    context.hadoopConfiguration().unset(SPLIT);
  }

  private static long anExecutor() {
    return context
        .parallelize(List.of(1, 2, 3, 4), 4)
        .map(i -> ProcessHandle.current().pid())
        .collect()
        .get(0);
  }

  private static void assertRowsOfA(List<SparseRow> read, double[] b) {
    assertThat(read).hasSize(A.rows());
    for (int i = 0; i < A.rows(); i++) {
      int from = A.rowStart()[i];
      int to = A.rowStart()[i + 1];
      assertThat(read.get(i).indices()).isEqualTo(Arrays.copyOfRange(A.columnIndex(), from, to));
      assertThat(read.get(i).values()).isEqualTo(Arrays.copyOfRange(A.values(), from, to));
      assertThat(read.get(i).labels()).containsExactly(b[i], b[A.rows() + i]);
    }
  }

  private static void assertSameBits(RFactor a, RFactor b) {
    assertThat(b.permutation().toArray()).isEqualTo(a.permutation().toArray());
    assertThat(b.matrix().columnIndex()).isEqualTo(a.matrix().columnIndex());
    assertThat(b.matrix().values()).as("seed %d", SEED).isEqualTo(a.matrix().values());
    assertThat(b.rhs()).isEqualTo(a.rhs());
  }
}
