/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampled;
import io.sparqr.backend.BackendChoice;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.model.RFactor;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.sparse.CsrMatrix;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.ExecutorDecommissionInfo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.scheduler.cluster.CoarseGrainedSchedulerBackend;
import org.apache.spark.status.api.v1.ExecutorSummary;
import org.apache.spark.storage.RDDInfo;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Events in a job that runs every night: a slow task, a speculative copy, an executor lost with or
 * without notice. With executors on several hosts, all of them must give the same bits and count
 * nothing twice.
 */
@Timeout(value = 170, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("once")
@Sampled
class NightlyIT {

  private static final long SEED = Long.getLong("test.seed", 20261402L);
  private static final CsrMatrix A = Problems.grid(60, SEED);
  private static final double[] B = Problems.rhs(A.rows(), SEED + 1);
  private static final int WORKERS = 4;

  /** A task that takes longer than this gets a copy. */
  private static final int PATIENCE_MILLIS = 1500;

  /** How the jobs that factor level 1 are described; those that solve with it may have one task. */
  private static final String LEVEL_1 = "sparse QR: level 1 of";

  @TempDir static Path folder;

  private static StandaloneCluster cluster;
  private static JavaSparkContext context;
  private static JavaRDD<SparseRow> rows;
  private static Outcome undisturbed;

  private static final List<SparkListenerTaskStart> STARTED = new CopyOnWriteArrayList<>();
  private static final List<SparkListenerTaskEnd> ENDED = new CopyOnWriteArrayList<>();
  private static final List<String> REMOVED = new CopyOnWriteArrayList<>();

  /** Fronts that were factored, again or not, by the id of a factorization's accumulator. */
  private static final Map<Long, Long> FRONTS = new ConcurrentHashMap<>();

  /** R and x, and the report without times and places. */
  private record Outcome(RFactor r, double[] x, Map<String, Object> report) {

    static Outcome of(QRFactorization f) {
      LeastSquaresSolution s = f.solve();
      Map<String, Object> report = s.report().toMap();
      var ofThisRun =
          List.of(
              "seconds",
              "gflops",
              "boundSeconds",
              "boundShare",
              "executors",
              "waitedSeconds",
              "run");
      report.keySet().removeAll(ofThisRun);
      // arrays are equal only to themselves
      report.replace("deadColumns", s.deadColumns().length);
      report.replace("nearlyDependent", s.report().rankTest().nearlyDependent().length);
      return new Outcome(f.collectR(), s.x(), report);
    }

    void assertSame(Outcome other) {
      assertThat(other.r.matrix().columnIndex()).isEqualTo(r.matrix().columnIndex());
      assertThat(other.r.matrix().values()).as("seed %d", SEED).isEqualTo(r.matrix().values());
      assertThat(other.r.rhs()).isEqualTo(r.rhs());
      assertThat(other.x).isEqualTo(x);
      assertThat(other.report).as("nothing is counted twice").isEqualTo(report);
    }
  }

  @BeforeAll
  static void start() throws Exception {
    SparkConf conf =
        StandaloneCluster.conf("nights")
            .set("spark.plugins", SlowTask.class.getName())
            .set("spark.speculation", "true")
            .set("spark.speculation.interval", "100ms")
            .set("spark.speculation.minTaskRuntime", PATIENCE_MILLIS + "ms")
            .set("spark.speculation.quantile", "0.5")
            .set("spark.decommission.enabled", "true")
            .set("spark.storage.decommission.enabled", "true")
            .set("spark.storage.decommission.rddBlocks.enabled", "true")
            .set("spark.storage.decommission.shuffleBlocks.enabled", "true")
            .set("spark.storage.decommission.replicationReattemptInterval", "1s");
    cluster = new StandaloneCluster(WORKERS, 1, folder, conf);
    context = new JavaSparkContext(conf.setMaster(cluster.url()));
    context
        .sc()
        .addSparkListener(
            new SparkListener() {
              @Override
              public void onTaskStart(SparkListenerTaskStart task) {
                STARTED.add(task);
              }

              @Override
              public void onTaskEnd(SparkListenerTaskEnd task) {
                ENDED.add(task);
              }

              @Override
              public void onStageCompleted(SparkListenerStageCompleted stage) {
                CollectionConverters.asJava(stage.stageInfo().accumulables()).values().stream()
                    .filter(a -> a.name().contains("sparqr fronts") && a.value().isDefined())
                    .forEach(a -> FRONTS.merge(a.id(), (Long) a.value().get(), Math::max));
              }

              @Override
              public void onExecutorRemoved(SparkListenerExecutorRemoved executor) {
                REMOVED.add(executor.executorId());
              }
            });
    rows = context.parallelize(Problems.rows(A, B), 4);
    try (QRFactorization f = solver().minimumExecutors(WORKERS).executorWait(60).factorize(rows)) {
      assertThat(f.summary().cluster().executors()).isEqualTo(WORKERS);
      assertThat(f.summary().analysis().levels()).isGreaterThanOrEqualTo(3);
      undisturbed = Outcome.of(f);
    }
  }

  @AfterAll
  static void stop() {
    if (context != null) {
      context.stop();
    }
    if (cluster != null) {
      cluster.close();
    }
  }

  @BeforeEach
  void forget() throws Exception {
    context.sc().listenerBus().waitUntilEmpty();
    STARTED.clear();
    ENDED.clear();
    REMOVED.clear();
    FRONTS.clear();
  }

  @AfterEach
  void nothingIsLeftBehind() {
    SlowTask.in(context, null, 0);
    assertThat(context.sc().getPersistentRDDs().size()).isZero();
  }

  private static GpuSparseQR.Builder solver() {
    return GpuSparseQR.builder()
        .backend(BackendChoice.CPU)
        .ordering(OrderingMethod.NESTED_DISSECTION)
        // the same work, whichever executors are present
        .executors(WORKERS)
        .partitions(2)
        .partitionOptions(new PartitionOptions(2, 4, 3, 0));
  }

  private static long copies() throws Exception {
    context.sc().listenerBus().waitUntilEmpty();
    return STARTED.stream().filter(t -> t.taskInfo().speculative()).count();
  }

  @Test
  @Order(1)
  void aSlowTaskIsWaitedFor() throws Exception {
    SlowTask.in(context, LEVEL_1, PATIENCE_MILLIS / 3);
    try (QRFactorization f = solver().factorize(rows)) {
      undisturbed.assertSame(Outcome.of(f));
      assertThat(f.summary().seconds().factorize()).isGreaterThan(PATIENCE_MILLIS / 3 * 1e-3);
    }
    assertThat(copies()).isZero();
  }

  /** Rows, factor and pattern tasks: each kind has an attempt that sleeps, and a copy that ran. */
  @Test
  @Order(2)
  void aSpeculativeCopyChangesNothing() throws Exception {
    for (String job : List.of("pattern and column norms", "rows to the tasks", LEVEL_1)) {
      forget();
      SlowTask.in(context, job, 60_000);
      try (QRFactorization f = solver().factorize(rows)) {
        assertThat(copies()).as(job).isPositive();
        boolean slept =
            ENDED.stream()
                .anyMatch(t -> t.taskInfo().successful() && t.taskInfo().duration() > 50_000);
        assertThat(slept)
            .as("%s: an attempt that sleeps won; all ended:\n%s", job, ended())
            .isFalse();
        assertThat(f.summary().seconds().total()).as(job).isLessThan(50);
        SlowTask.in(context, null, 0);
        undisturbed.assertSame(Outcome.of(f));
      }
    }
  }

  private static String ended() {
    return ENDED.stream()
        .map(
            t -> {
              TaskInfo i = t.taskInfo();
              return "stage %d.%d task %s%s on %s: launched %d, %d ms, %s"
                  .formatted(
                      t.stageId(),
                      t.stageAttemptId(),
                      i.id(),
                      i.speculative() ? " (copy)" : "",
                      i.host(),
                      i.launchTime() % 1_000_000,
                      i.duration(),
                      t.reason());
            })
        .collect(Collectors.joining("\n"));
  }

  private static String anExecutor() {
    return CollectionConverters.asJava(context.sc().statusStore().executorList(true)).stream()
        .map(ExecutorSummary::id)
        .filter(id -> !id.equals("driver"))
        .findFirst()
        .orElseThrow();
  }

  /** Runs an action on an executor when level 2 begins. */
  private static ProgressListener inTheMiddle(
      AtomicReference<String> victim, Consumer<String> action) {
    return p -> {
      if (p.phase().equals("factorize") && p.detail().startsWith("level 2")) {
        String id = anExecutor();
        if (victim.compareAndSet(null, id)) {
          action.accept(id);
        }
      }
    };
  }

  private static void waitUntilRemoved(String executor) throws InterruptedException {
    while (!REMOVED.contains(executor)) {
      Thread.sleep(50);
    }
  }

  @Test
  @Order(3)
  void blocksSurviveADecommissionedExecutor() throws Exception {
    var victim = new AtomicReference<String>();
    var backend = (CoarseGrainedSchedulerBackend) context.sc().schedulerBackend();
    ProgressListener decommission =
        inTheMiddle(
            victim,
            id ->
                assertThat(
                        backend.decommissionExecutor(
                            id,
                            new ExecutorDecommissionInfo("a test", scala.Option.empty()),
                            false,
                            false))
                    .isTrue());
    try (QRFactorization f = solver().listener(decommission).factorize(rows)) {
      assertThat(victim.get()).isNotNull();
      waitUntilRemoved(victim.get());
      for (RDDInfo level : StoredRdds.of(context)) {
        assertThat(level.numCachedPartitions())
            .as("%s: what the executor held went to the others", level.name())
            .isEqualTo(level.numPartitions());
      }
      undisturbed.assertSame(Outcome.of(f));
      context.sc().listenerBus().waitUntilEmpty();
      assertThat(FRONTS.values())
          .as("nothing was factored again")
          .containsExactly((long) f.summary().analysis().fronts());
    }
  }

  @Test
  @Order(4)
  void aPreemptedExecutorChangesNothing() throws Exception {
    var victim = new AtomicReference<String>();
    ProgressListener preempt =
        inTheMiddle(victim, id -> assertThat(context.sc().killExecutor(id)).isTrue());
    try (QRFactorization f = solver().listener(preempt).factorize(rows)) {
      assertThat(victim.get()).isNotNull();
      waitUntilRemoved(victim.get());
      undisturbed.assertSame(Outcome.of(f));
    }
  }
}
