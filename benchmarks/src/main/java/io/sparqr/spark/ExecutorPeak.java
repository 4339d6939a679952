/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import io.sparqr.backend.BackendChoice;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.LeastSquaresSolution;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.status.api.v1.ExecutorSummary;
import org.apache.spark.status.api.v1.StageData;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Measures executors while a regression on factors is solved whose rows are generated on the
 * executors: wall clock, peak heap of each executor as Spark measures it, bytes shuffled.
 * Arguments: master, rows, levels of the factors as {@code 2000x300x50}, partitions. The heaps are
 * those of the JVM and of {@code -Dexecutor.memory}.
 *
 * <p>Each row has five numbers and a level of each factor, low levels more often. Effects are exact
 * and there is no noise, so that every prediction is known.
 */
public final class ExecutorPeak {

  private static final int NUMBERS = 5;

  private ExecutorPeak() {}

  private static double effect(int column) {
    return ((column * 0x9e3779b97f4a7c15L) >>> 11) * 0x1p-53 - 0.5;
  }

  private static SparseRow row(long number, int[] levels) {
    var random = new SplittableRandom(number);
    int[] index = new int[NUMBERS + levels.length];
    double[] value = new double[index.length];
    int first = 0;
    int used = 0;
    for (int k = 0; k < NUMBERS; k++) {
      index[used] = first++;
      value[used++] = 2 * random.nextDouble() - 1;
    }
    for (int f = 0; f < levels.length; f++) {
      double u = random.nextDouble();
      int level = (int) (levels[f] * u * u);
      // The first level of every factor but the first is the reference.
      if (f == 0 || level > 0) {
        index[used] = first + level - (f == 0 ? 0 : 1);
        value[used++] = 1;
      }
      first += f == 0 ? levels[f] : levels[f] - 1;
    }
    double label = 0;
    for (int k = 0; k < used; k++) {
      label += value[k] * effect(index[k]);
    }
    return new SparseRow(Arrays.copyOf(index, used), Arrays.copyOf(value, used), label);
  }

  private static Iterator<SparseRow> rows(long all, int part, int parts, int[] levels) {
    return LongStream.range(all * part / parts, all * (part + 1) / parts)
        .mapToObj(i -> row(i, levels))
        .iterator();
  }

  /** See the class. */
  public static void main(String[] args) throws InterruptedException {
    SparkConf conf =
        BenchmarkSpark.cluster(args[0], "sparqr executors", "1500m")
            .set("spark.executor.metrics.pollingInterval", "100ms")
            .set("spark.executor.heartbeatInterval", "1s");
    long count = Long.parseLong(args[1]);
    int[] levels = Arrays.stream(args[2].split("x")).mapToInt(Integer::parseInt).toArray();
    int parts = Integer.parseInt(args[3]);
    boolean good;
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      context.setLogLevel(System.getProperty("log.level", "ERROR"));
      int executors = Integer.parseInt(args[0].replaceAll("\\D+(\\d+),.*", "$1"));
      while (context.sc().statusTracker().getExecutorInfos().length < executors + 1) {
        Thread.sleep(100);
      }
      JavaRDD<SparseRow> rows =
          context
              .parallelize(IntStream.range(0, parts).boxed().toList(), parts)
              .mapPartitionsWithIndex((p, it) -> rows(count, p, parts, levels), true);
      long begin = System.nanoTime();
      LeastSquaresSolution solution = GpuSparseQR.builder().backend(BackendChoice.CPU).solve(rows);
      double seconds = (System.nanoTime() - begin) * 1e-9;
      // Heartbeats come once a second.
      Thread.sleep(2500);
      System.out.println(solution.report());
      stages(context);
      double worst = 0;
      for (long i = 0; i < count; i += Math.max(1, count / 10_000)) {
        SparseRow r = row(i, levels);
        double predicted = 0;
        for (int k = 0; k < r.indices().length; k++) {
          predicted += r.values()[k] * solution.x()[r.indices()[k]];
        }
        worst = Math.max(worst, Math.abs(predicted - r.labels()[0]));
      }
      System.out.printf(
          Locale.ROOT,
          "%,d rows: %.1f s; executor peak heap MB %s; shuffled MB %.1f; worst prediction %.1e%n",
          count,
          seconds,
          peaks(context),
          shuffled(context),
          worst);
      good = worst < 1e-9;
    }
    System.exit(good ? 0 : 1);
  }

  /** Stages that shuffled, in their order. */
  private static void stages(JavaSparkContext context) {
    var all = new ArrayList<StageData>();
    for (Object s :
        CollectionConverters.asJava(
            context.sc().statusStore().stageList(null, false, false, new double[0], null))) {
      all.add((StageData) s);
    }
    all.sort(Comparator.comparingInt(StageData::stageId));
    for (StageData s : all) {
      System.out.printf(
          Locale.ROOT,
          "stage %d, %s: %d tasks, %.1f s, %.1f MB shuffled%n",
          s.stageId(),
          s.name(),
          s.numTasks(),
          s.executorRunTime() * 1e-3,
          s.shuffleWriteBytes() / 1e6);
    }
  }

  private static List<ExecutorSummary> executors(JavaSparkContext context) {
    var all = new ArrayList<ExecutorSummary>();
    for (Object e : CollectionConverters.asJava(context.sc().statusStore().executorList(true))) {
      all.add((ExecutorSummary) e);
    }
    all.removeIf(e -> e.id().equals("driver"));
    return all;
  }

  private static List<Long> peaks(JavaSparkContext context) {
    return executors(context).stream()
        .map(
            e ->
                e.peakMemoryMetrics().isEmpty()
                    ? -1
                    : e.peakMemoryMetrics().get().getMetricValue("JVMHeapMemory") / 1_000_000)
        .toList();
  }

  private static double shuffled(JavaSparkContext context) {
    return executors(context).stream().mapToLong(ExecutorSummary::totalShuffleWrite).sum() / 1e6;
  }
}
