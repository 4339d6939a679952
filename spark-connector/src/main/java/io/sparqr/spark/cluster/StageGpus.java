/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cluster;

import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.plan.DeviceVerdict;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.resource.ResourceProfileBuilder;
import org.apache.spark.resource.TaskResourceRequests;

/**
 * Stage-level scheduling: if executors have GPUs but tasks do not request them by default, the
 * factoring stages request one GPU per task, while the row passes before them can still use every
 * core. Spark supports such a profile without dynamic allocation on standalone, YARN and
 * Kubernetes.
 */
public final class StageGpus {

  static final String TASK = "spark.task.resource.gpu.amount";

  private static final String EXECUTOR = "spark.executor.resource.gpu.amount";
  private static final String VISIBLE = "spark.executorEnv.CUDA_VISIBLE_DEVICES";

  private StageGpus() {}

  /**
   * The profile of the factoring stages; empty if the application's own suffices.
   *
   * @param verdict the decision on GPUs
   */
  public static Optional<ResourceProfile> profile(
      Engine engine, ClusterResources resources, DeviceVerdict verdict) {
    if (resources.local() || !verdict.use() || !asks(engine.context().getConf())) {
      return Optional.empty();
    }
    var task = new TaskResourceRequests().cpus(resources.taskCpus()).resource("gpu", 1);
    return Optional.of(new ResourceProfileBuilder().require(task).build());
  }

  private static boolean asks(SparkConf conf) {
    return conf.getInt(EXECUTOR, 0) >= 1
        && !conf.contains(TASK)
        && !conf.getBoolean("spark.dynamicAllocation.enabled", false);
  }

  /** Whether Spark will assign a GPU to the tasks of the factoring stages. */
  static boolean granted(SparkConf conf) {
    return conf.contains(TASK) || asks(conf);
  }

  /** GPUs that Spark assigns to one task; at least 1. */
  static int perTask(SparkConf conf) {
    return Math.max(1, (int) conf.getDouble(TASK, 1));
  }

  /** Number of GPUs that the configuration assigns to the tasks of each executor. */
  static int promised(SparkConf conf) {
    String visible = conf.get(VISIBLE, "").trim();
    int free = visible.isEmpty() ? 0 : visible.split(",").length;
    return granted(conf) ? conf.getInt(EXECUTOR, 0) : free;
  }
}
