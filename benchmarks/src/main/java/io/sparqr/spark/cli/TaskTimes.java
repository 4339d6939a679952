/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.StageInfo;

/**
 * Where the seconds of a solve go between its jobs, stages and tasks, as Spark tells them: when a
 * job, a stage and each task began and ended, and of a task the milliseconds in which it was sent
 * and unpacked, ran, waited for blocks of the shuffle, and handed in its result.
 */
final class TaskTimes extends SparkListener {

  private final List<SparkListenerTaskEnd> tasks = new ArrayList<>();
  private final Map<Integer, StageInfo> stages = new TreeMap<>();
  private final Map<Integer, long[]> jobs = new TreeMap<>();

  @Override
  public synchronized void onJobStart(SparkListenerJobStart e) {
    jobs.put(e.jobId(), new long[] {e.time(), e.time()});
  }

  @Override
  public synchronized void onJobEnd(SparkListenerJobEnd e) {
    jobs.computeIfPresent(e.jobId(), (id, times) -> new long[] {times[0], e.time()});
  }

  @Override
  public synchronized void onStageSubmitted(SparkListenerStageSubmitted e) {
    stages.put(e.stageInfo().stageId(), e.stageInfo());
  }

  @Override
  public synchronized void onStageCompleted(SparkListenerStageCompleted e) {
    stages.put(e.stageInfo().stageId(), e.stageInfo());
  }

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd e) {
    if (e.taskMetrics() != null) {
      tasks.add(e);
    }
  }

  synchronized void clear() {
    tasks.clear();
    stages.clear();
    jobs.clear();
  }

  /** CPU seconds of the tasks: of each stage's busiest executor, of all. */
  private double[] cpu(int stage) {
    var byExecutor = new TreeMap<String, Double>();
    double sum = 0;
    for (SparkListenerTaskEnd e : tasks) {
      if (e.stageId() == stage) {
        TaskMetrics m = e.taskMetrics();
        double s = (m.executorCpuTime() + m.executorDeserializeCpuTime()) * 1e-9;
        byExecutor.merge(e.taskInfo().executorId(), s, Double::sum);
        sum += s;
      }
    }
    return new double[] {byExecutor.values().stream().mapToDouble(v -> v).max().orElse(0), sum};
  }

  /**
   * Prints the CPU seconds of the stages.
   *
   * @param driver CPU seconds of the driver
   */
  synchronized void print(double driver) {
    double most = 0;
    double all = 0;
    for (int stage : stages.keySet()) {
      double[] cpu = cpu(stage);
      most += cpu[0];
      all += cpu[1];
    }
    System.out.printf(
        Locale.ROOT,
        "  CPU s: driver %.3f, stages of the busiest executors %.3f, of all %.3f%n",
        driver,
        most,
        all);
  }

  /**
   * Prints jobs, stages and tasks by the millisecond.
   *
   * @param begin when the solve began, as {@link System#currentTimeMillis()}
   */
  synchronized void printTimes(long begin) {
    jobs.forEach(
        (id, t) ->
            System.out.printf(
                Locale.ROOT, "  job %d: %d .. %d ms%n", id, t[0] - begin, t[1] - begin));
    for (StageInfo s : stages.values()) {
      double[] cpu = cpu(s.stageId());
      System.out.printf(
          Locale.ROOT,
          "  stage %d: %d .. %d ms, CPU s of the busiest %.3f, of all %.3f, %s%n",
          s.stageId(),
          (long) s.submissionTime().get() - begin,
          (long) s.completionTime().getOrElse(() -> begin) - begin,
          cpu[0],
          cpu[1],
          s.name());
      tasks.stream()
          .filter(e -> e.stageId() == s.stageId())
          .sorted(Comparator.comparingInt(e -> e.taskInfo().index()))
          .forEach(e -> print(e, begin));
    }
  }

  private static void print(SparkListenerTaskEnd e, long begin) {
    TaskMetrics m = e.taskMetrics();
    System.out.printf(
        Locale.ROOT,
        "    task %d on %s: %d .. %d ms, unpacked in %d, ran %d (CPU %.0f, collector %d), read %d"
            + " (waited %d, %d kB), wrote %d (%d kB), result %d (%d kB, fetched %s)%n",
        e.taskInfo().index(),
        e.taskInfo().executorId(),
        e.taskInfo().launchTime() - begin,
        e.taskInfo().finishTime() - begin,
        m.executorDeserializeTime(),
        m.executorRunTime(),
        m.executorCpuTime() * 1e-6,
        m.jvmGCTime(),
        m.shuffleReadMetrics().recordsRead(),
        m.shuffleReadMetrics().fetchWaitTime(),
        m.shuffleReadMetrics().totalBytesRead() >> 10,
        m.shuffleWriteMetrics().writeTime() / 1_000_000,
        m.shuffleWriteMetrics().bytesWritten() >> 10,
        m.resultSerializationTime(),
        m.resultSize() >> 10,
        e.taskInfo().gettingResult());
  }
}
