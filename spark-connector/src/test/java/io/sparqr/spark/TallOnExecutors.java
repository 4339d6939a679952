/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.Contents;
import io.sparqr.SampledCases;
import io.sparqr.error.InputChangedException;
import io.sparqr.matrix.gallery.LowRankPlusSparse;
import io.sparqr.numeric.lowrank.PursuitIteration;
import io.sparqr.numeric.lowrank.PursuitMethod;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.tall.QStorage;
import io.sparqr.spark.tall.RobustPca;
import io.sparqr.spark.tall.TallSkinnyQR;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * QR of a tall matrix on two executor JVMs: the same bits of R and Q whatever executor is lost, and
 * no Q of other rows than R's. On the cluster of {@link LocalClusterIT}.
 */
@Timeout(value = 170, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class TallOnExecutors {

  private static final long SEED = Long.getLong("test.seed", 20261128L);
  private static final int EXECUTORS = 2;
  private static final int PARTITIONS = 5;
  private static final int ROWS = 150;
  private static final int COLUMNS = 8;

  @TempDir Path folder;

  @BeforeEach
  void bothExecutorsAreThere() throws InterruptedException {
    LocalCluster.awaitExecutors(context(), EXECUTORS);
  }

  private static JavaSparkContext context() {
    return LocalClusterIT.context();
  }

  /** Rows by partition; with the marker there, one bit of partition 3 is another. */
  private JavaRDD<double[]> rows(int columns) {
    String marker = folder.resolve("changed").toString();
    return context()
        .parallelize(IntStream.range(0, PARTITIONS).boxed().toList(), PARTITIONS)
        .flatMap(p -> rows(p, columns, p == 3 && Files.exists(Path.of(marker))));
  }

  private static Iterator<double[]> rows(int partition, int columns, boolean changed) {
    var random = new Random(SEED + partition);
    double[][] rows = new double[ROWS][];
    for (int i = 0; i < ROWS; i++) {
      rows[i] = random.doubles(columns).toArray();
    }
    if (changed) {
      rows[ROWS - 1][0] = Math.nextUp(rows[ROWS - 1][0]);
    }
    return List.of(rows).iterator();
  }

  private static List<Long> executors() {
    return context()
        .parallelize(List.of(1, 2, 3, 4), 4)
        .map(i -> ProcessHandle.current().pid())
        .distinct()
        .collect();
  }

  private static void kill(long victim) {
    ProcessHandle.of(victim).orElseThrow().destroyForcibly();
  }

  private static double[] flat(List<double[]> rows) {
    return rows.stream().flatMapToDouble(java.util.Arrays::stream).toArray();
  }

  @ParameterizedTest
  @EnumSource(
      value = QStorage.class,
      names = {"STORED", "RECOMPUTED"})
  void anExecutorLostBetweenRAndQChangesNoBit(QStorage storage) {
    JavaRDD<double[]> rows = rows(COLUMNS);
    JavaRDD<double[]> labels = rows(3);
    double[] r;
    double[] q;
    double[] x;
    try (var qr = TallSkinnyQR.builder().factorize(rows)) {
      r = qr.r().toArray();
      q = flat(qr.q().collect());
      x = qr.solve(labels).toArray();
    }
    assertThat(q).hasSize(PARTITIONS * ROWS * COLUMNS);
    try (var qr = TallSkinnyQR.builder().keepQ(storage).factorize(rows)) {
      assertThat(qr.r().toArray()).as("seed %d", SEED).isEqualTo(r);
      kill(executors().get(0));
      assertThat(flat(qr.q().collect())).as("seed %d", SEED).isEqualTo(q);
      assertThat(qr.solve(labels).toArray()).isEqualTo(x);
    }
    assertThat(context().sc().getPersistentRDDs().size()).isZero();
  }

  /** The executor that has just read a partition of Q ends before it can send it. */
  @Test
  void anExecutorLostWhileQIsReadChangesNoBit() {
    String marker = folder.resolve("ended").toString();
    try (var qr = TallSkinnyQR.builder().keepQ(QStorage.STORED).factorize(rows(COLUMNS))) {
      double[] q = flat(qr.q().collect());
      JavaRDD<double[]> ending =
          qr.q()
              .mapPartitionsWithIndex(
                  (p, part) -> {
                    var all = new java.util.ArrayList<double[]>();
                    part.forEachRemaining(all::add);
                    if (p == 2 && Path.of(marker).toFile().createNewFile()) {
                      Runtime.getRuntime().halt(1);
                    }
                    return all.iterator();
                  },
                  true);
      assertThat(flat(ending.collect())).as("seed %d", SEED).isEqualTo(q);
      assertThat(Path.of(marker)).exists();
    }
  }

  /** Rows of a known L + S; each reading of a partition leaves a file. */
  private JavaRDD<double[]> film() {
    String readings = folder.toString();
    return context()
        .parallelize(IntStream.range(0, PARTITIONS).boxed().toList(), PARTITIONS)
        .flatMap(
            p -> {
              Files.createTempFile(Path.of(readings), "reading" + p, "");
              double[][] all = new LowRankPlusSparse(PARTITIONS * 40, 20, 2, 0.05, SEED).matrix();
              return List.of(all).subList(40 * p, 40 * (p + 1)).iterator();
            });
  }

  private long readings() throws IOException {
    try (var files = Files.list(folder)) {
      return files.filter(f -> f.getFileName().toString().startsWith("reading")).count();
    }
  }

  /** Ends an executor when this many jobs have ended; counts the jobs that start afterwards. */
  private static final class Killer extends SparkListener {
    private final long victim;
    private final int after;
    private int ended;
    private int startedLater;

    Killer(long victim, int after) {
      this.victim = victim;
      this.after = after;
    }

    @Override
    public synchronized void onJobEnd(SparkListenerJobEnd job) {
      if (++ended == after) {
        kill(victim);
      }
    }

    @Override
    public synchronized void onJobStart(SparkListenerJobStart job) {
      startedLater += ended >= after ? 1 : 0;
    }

    synchronized int startedLater() {
      return startedLater;
    }
  }

  /** What is left of M, S and Y on the lost executor is made again from the rows. */
  @SampledCases(oneIn = 2)
  @ParameterizedTest
  @EnumSource(PursuitMethod.class)
  void anExecutorLostBetweenTwoIterationsChangesNoBit(PursuitMethod method) throws IOException {
    RobustPca.Builder builder = RobustPca.builder().method(method).maxIterations(40);
    List<PursuitIteration> history;
    double[] sigma;
    double[] lowRank;
    List<SparseRow> sparse;
    try (RobustPca found = builder.decompose(film())) {
      history = found.history();
      sigma = found.sigma();
      lowRank = flat(found.lowRank().collect());
      sparse = found.sparse().collect();
    }
    assertThat(history).hasSizeGreaterThan(15);
    assertThat(readings()).isEqualTo(PARTITIONS);
    // the rows are read by the first job; the tenth iteration or so ends with the tenth
    var killer = new Killer(executors().get(0), 10);
    context().sc().addSparkListener(killer);
    try (RobustPca found = builder.decompose(film())) {
      assertThat(killer.startedLater()).isGreaterThan(3);
      assertThat(readings()).as("rows read again").isGreaterThan(2 * PARTITIONS);
      assertThat(found.history()).as("seed %d", SEED).isEqualTo(history);
      assertThat(found.sigma()).isEqualTo(sigma);
      assertThat(flat(found.lowRank().collect())).isEqualTo(lowRank);
      Contents.requireSame(found.sparse().collect(), sparse, "S");
    } finally {
      context().sc().removeSparkListener(killer);
    }
    assertThat(context().sc().getPersistentRDDs().size()).isZero();
  }

  @Test
  void otherRowsInTheSecondReadingAreRefused() throws Exception {
    try (var qr = TallSkinnyQR.builder().factorize(rows(COLUMNS))) {
      Files.createFile(folder.resolve("changed"));
      assertThatThrownBy(() -> qr.q().count())
          .hasStackTraceContaining(InputChangedException.class.getName())
          .hasStackTraceContaining("partition 3 had other rows when it was read again");
    }
  }

  /** All that was kept is lost with the executors, and made again of other rows. */
  @SampledCases(oneIn = 2)
  @ParameterizedTest
  @EnumSource(
      value = QStorage.class,
      names = {"STORED", "RECOMPUTED"})
  void otherRowsAfterALossAreRefused(QStorage storage) throws Exception {
    JavaRDD<double[]> labels = rows(2);
    try (var qr = TallSkinnyQR.builder().keepQ(storage).factorize(rows(COLUMNS))) {
      double[] x = qr.solve(labels).toArray();
      executors().forEach(TallOnExecutors::kill);
      LocalCluster.awaitExecutors(context(), EXECUTORS);
      assertThat(qr.solve(labels).toArray()).as("seed %d", SEED).isEqualTo(x);
      Files.createFile(folder.resolve("changed"));
      executors().forEach(TallOnExecutors::kill);
      LocalCluster.awaitExecutors(context(), EXECUTORS);
      String message = "rows below node 0 of the tree were others when they were read again";
      assertThatThrownBy(() -> qr.q().count())
          .hasStackTraceContaining(InputChangedException.class.getName())
          .hasStackTraceContaining(message);
      assertThatThrownBy(() -> qr.qTransposed(rows(2)))
          .hasStackTraceContaining(InputChangedException.class.getName());
    }
  }
}
