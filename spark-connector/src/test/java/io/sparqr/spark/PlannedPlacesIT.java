/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampled;
import io.sparqr.backend.BackendChoice;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.partition.PartitionOptions;
import io.sparqr.spark.device.DeviceReport;
import io.sparqr.spark.metrics.SparqrPlugin;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/**
 * Tasks run on the executors that they are planned for, unless that would cost time; each executor
 * shows its own work.
 */
@Timeout(value = 170, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Sampled(oneIn = 4)
class PlannedPlacesIT {

  private static final long SEED = Long.getLong("test.seed", 20260103L);
  private static final CsrMatrix A = Problems.grid(60, SEED);
  private static final double[] B = Problems.rhs(A.rows(), SEED + 1);

  private static JavaSparkContext context;
  private static JavaRDD<SparseRow> rows;

  /** Executor by "stage's RDD, partition". */
  private static final Map<String, String> RAN = new ConcurrentHashMap<>();

  @BeforeAll
  static void start() throws Exception {
    context =
        LocalCluster.start(
            LocalCluster.conf("sparqr placement tests", 2, 2)
                .set("spark.plugins", SparqrPlugin.class.getName())
                .set("spark.sparqr.warmup", "0"),
            2);
    context.sc().addSparkListener(new WhereTasksRan());
    rows = context.parallelize(Problems.rows(A, B), 4);
    solver().solve(rows);
  }

  @AfterAll
  static void stop() {
    if (context != null) {
      context.stop();
    }
  }

  private static GpuSparseQR.Builder solver() {
    return GpuSparseQR.builder()
        .backend(BackendChoice.CPU)
        .ordering(OrderingMethod.NESTED_DISSECTION)
        .partitionOptions(new PartitionOptions(2, 4, 3, 0));
  }

  @Test
  void onIdleExecutorsEveryTaskRunsWhereItWasPlanned() throws TimeoutException {
    try (QRFactorization f = solver().factorize(rows)) {
      Map<String, List<String>> planned = hints();
      assertThat(f.summary().analysis().levels()).isGreaterThanOrEqualTo(3);
      assertThat(planned).hasSize(f.summary().analysis().subtreeTasks());
      Set<String> executors = new HashSet<>();
      // listeners are notified of tasks a little later
      context.sc().listenerBus().waitUntilEmpty();
      planned.forEach(
          (task, where) -> {
            assertThat(where).as(task).hasSize(1);
            assertThat(where.get(0)).matches("executor_127\\.0\\.0\\.1_[01]");
            executors.add(where.get(0));
            assertThat(where.get(0)).as(task).endsWith("_" + RAN.get(task));
          });
      assertThat(executors).hasSize(2);
    }
  }

  @Test
  void thePluginShowsWhatExecutorsDid() {
    SolveReport report = solver().solve(rows).report();
    Map<String, Long> fronts = new ConcurrentHashMap<>();
    context
        .parallelize(List.of(0, 1, 2, 3), 4)
        .map(i -> new Tuple2<>(SparkEnv.get().executorId(), frontsOfThisJvm()))
        .collect()
        .forEach(e -> fronts.put(e._1(), e._2()));
    // Four tasks on four idle slots: both executors take part.
    assertThat(fronts.keySet()).containsExactlyInAnyOrder("0", "1");
    assertThat(DeviceReport.of("0")).isPresent();
    assertThat(DeviceReport.of("1")).isPresent();
    assertThat(fronts.values().stream().mapToLong(Long::longValue).sum())
        .isGreaterThanOrEqualTo(report.analysis().fronts());
  }

  private static long frontsOfThisJvm() throws InterruptedException {
    Thread.sleep(200);
    String source = "plugin." + SparqrPlugin.class.getName();
    var sources =
        CollectionConverters.asJava(SparkEnv.get().metricsSystem().getSourcesByName(source));
    return (Long) sources.get(0).metricRegistry().getGauges().get("fronts").getValue();
  }

  @Test
  void aBusyExecutorIsNotWaitedFor() throws Exception {
    solver().solve(rows);
    double idle = seconds();
    List<Tuple2<Integer, scala.collection.immutable.Seq<String>>> two = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      two.add(new Tuple2<>(i, seq(List.of("executor_127.0.0.1_0"))));
    }
    RDD<Integer> pinned =
        context.sc().makeRDD(seq(two), ClassTag$.MODULE$.<Integer>apply(Integer.class));
    context.setLocalProperty("spark.job.interruptOnCancel", "true");
    var sleeper =
        new JavaRDD<>(pinned, ClassTag$.MODULE$.<Integer>apply(Integer.class))
            .foreachAsync(i -> Thread.sleep(30_000));
    context.setLocalProperty("spark.job.interruptOnCancel", null);
    waitForTasks(2);
    double busy = seconds();
    System.out.printf("levels on idle executors %.2f s, with one busy %.2f s%n", idle, busy);
    try (QRFactorization f = solver().factorize(rows)) {
      assertThat(f.summary().analysis().levels()).isGreaterThanOrEqualTo(3);
      hints()
          .forEach(
              (task, where) -> {
                assertThat(where).as(task).isNotEqualTo(List.of("executor_127.0.0.1_0"));
              });
      assertThat(sleeper.isDone()).isFalse();
    } finally {
      sleeper.cancel(true);
      waitForTasks(0);
    }
    // Waiting would take spark.locality.wait = 3 s for each level.
    assertThat(busy).isLessThan(idle + 2);
  }

  /** Seconds of the levels. */
  private static double seconds() {
    try (QRFactorization f = solver().factorize(rows)) {
      return f.summary().seconds().factorize();
    }
  }

  private static void waitForTasks(int count) throws InterruptedException {
    int running;
    do {
      Thread.sleep(50);
      running = 0;
      for (var e : context.sc().statusTracker().getExecutorInfos()) {
        running += e.numRunningTasks();
      }
    } while (running != count);
  }

  private static <T> scala.collection.immutable.Seq<T> seq(List<T> list) {
    return CollectionConverters.asScala(list).toSeq();
  }

  /** Hints by "level's RDD, partition" for tasks that would be started now. */
  private static Map<String, List<String>> hints() {
    Map<String, List<String>> hints = new ConcurrentHashMap<>();
    CollectionConverters.asJava(context.sc().getPersistentRDDs())
        .values()
        .forEach(
            rdd -> {
              for (int p = 0; p < rdd.getNumPartitions(); p++) {
                hints.put(
                    rdd.id() + ", " + p,
                    CollectionConverters.asJava(rdd.preferredLocations(rdd.partitions()[p])));
              }
            });
    return hints;
  }

  /** Which executor computed a partition of a level: the first task of a stage that has its RDD. */
  private static final class WhereTasksRan extends SparkListener {

    private final Map<Integer, Integer> levelOfStage = new ConcurrentHashMap<>();

    @Override
    public void onStageSubmitted(SparkListenerStageSubmitted stage) {
      CollectionConverters.asJava(stage.stageInfo().rddInfos()).stream()
          .filter(r -> r.name().startsWith("sparqr R, level"))
          .mapToInt(r -> r.id())
          .max()
          .ifPresent(id -> levelOfStage.put(stage.stageInfo().stageId(), id));
    }

    @Override
    public void onTaskEnd(SparkListenerTaskEnd task) {
      Integer level = levelOfStage.get(task.stageId());
      if (level != null) {
        RAN.putIfAbsent(level + ", " + task.taskInfo().partitionId(), task.taskInfo().executorId());
      }
    }
  }
}
