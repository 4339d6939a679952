/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Makes the first attempt of the first task of a stage slow, as on an ailing host. A local property
 * of the driver's thread selects the jobs.
 */
public final class SlowTask implements SparkPlugin {

  private static final String JOB = "sparqr.test.slow.job";
  private static final String MILLIS = "sparqr.test.slow.millis";

  /** Tasks of jobs whose description contains this text sleep; null: none does. */
  static void in(JavaSparkContext context, String job, int millis) {
    context.setLocalProperty(JOB, job);
    context.setLocalProperty(MILLIS, Integer.toString(millis));
  }

  @Override
  public DriverPlugin driverPlugin() {
    return null;
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new ExecutorPlugin() {
      @Override
      public void init(PluginContext context, Map<String, String> configuration) {
        // nothing to do before a task comes
      }

      @Override
      public void onTaskStart() {
        TaskContext task = TaskContext.get();
        String slow = task.getLocalProperty(JOB);
        String job = String.valueOf(task.getLocalProperty("spark.job.description"));
        boolean first = task.partitionId() == 0 && task.attemptNumber() == 0;
        if (slow != null && job.contains(slow) && first) {
          try {
            Thread.sleep(Integer.parseInt(task.getLocalProperty(MILLIS)));
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        }
      }
    };
  }
}
