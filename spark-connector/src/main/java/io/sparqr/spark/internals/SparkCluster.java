/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.internals;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.TimeoutException;
import org.apache.spark.SparkContext;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.scheduler.TaskSchedulerImpl;
import org.apache.spark.status.api.v1.ExecutorSummary;
import org.apache.spark.status.api.v1.StageData;
import org.apache.spark.status.api.v1.StageStatus;
import scala.jdk.javaapi.CollectionConverters;

/** What Spark's driver knows of its executors and of the stages that they ran. */
public final class SparkCluster {

  private SparkCluster() {}

  /**
   * An executor in Spark's status store.
   *
   * @param id Spark's, such as "3"
   * @param hostPort where it is reached
   * @param cores task slots times spark.task.cpus
   * @param gpus GPUs known to Spark
   */
  public record LiveExecutor(String id, String hostPort, int cores, int gpus) {}

  /**
   * The live executors of the application's own resource profile, because others never receive our
   * tasks; in no order, and possibly none yet.
   */
  public static List<LiveExecutor> executors(SparkContext context) {
    var list = new ArrayList<LiveExecutor>();
    for (ExecutorSummary e :
        CollectionConverters.asJava(context.statusStore().executorList(true))) {
      // An executor known only through its block manager has no cores yet.
      boolean ready = !e.id().equals("driver") && !e.isExcluded() && e.totalCores() > 0;
      if (ready && e.resourceProfileId() == ResourceProfile.DEFAULT_RESOURCE_PROFILE_ID()) {
        var gpu = e.resources().get("gpu");
        int gpus = gpu.isEmpty() ? 0 : gpu.get().addresses().length;
        list.add(new LiveExecutor(e.id(), e.hostPort(), e.totalCores(), gpus));
      }
    }
    return list;
  }

  /** Number of tasks that run on an executor now; empty if Spark knows no such executor. */
  public static OptionalInt runningTasks(SparkContext context, String executor) {
    if (!(context.taskScheduler() instanceof TaskSchedulerImpl scheduler)) {
      return OptionalInt.empty();
    }
    var running = scheduler.runningTasksByExecutors().get(executor);
    return running.isDefined() ? OptionalInt.of((Integer) running.get()) : OptionalInt.empty();
  }

  /** A location for a task, in the syntax of Spark's scheduler: an executor on its host. */
  public static String location(String host, String executor) {
    return "executor_" + host + "_" + executor;
  }

  /**
   * Waits until the status store has heard of all that has happened so far; it learns of a failed
   * task slightly later than the caller of the job.
   *
   * @throws TimeoutException if that takes longer
   */
  public static void awaitStatus(SparkContext context, long millis) throws TimeoutException {
    context.listenerBus().waitUntilEmpty(millis);
  }

  /**
   * Bytes that the tasks of the last failed stage have written to disks, including the failed
   * tasks; 0 if no stage has failed.
   */
  public static long bytesWrittenByFailedStage(SparkContext context) {
    return CollectionConverters.asJava(
            context
                .statusStore()
                .stageList(List.of(StageStatus.FAILED), false, false, new double[0], List.of()))
        .stream()
        .max(Comparator.comparingInt(StageData::stageId))
        .map(s -> s.shuffleWriteBytes() + s.diskBytesSpilled())
        .orElse(0L);
  }
}
