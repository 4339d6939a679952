/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.resource;

import io.sparqr.error.BackendUnavailableException;
import io.sparqr.partition.ResourceModel;
import java.util.ArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * What the tree is cut for: executors and their cores. In local mode the JVM is one worker with all
 * of its cores, since threads within a task cost less than blocks between tasks.
 *
 * @param workers executors, or what the caller said
 * @param cores of one worker
 * @param taskCpus spark.task.cpus
 * @param memoryBytes heap of one worker
 * @param local whether driver and executors are one JVM
 */
public record ClusterResources(
    int workers, int cores, int taskCpus, long memoryBytes, boolean local) {

  private static final double FLOPS_PER_CORE = 2e10;
  private static final Pattern LOCAL = Pattern.compile("local(?:\\[([0-9]+|\\*)(?:,.*)?])?");
  private static final Pattern LOCAL_CLUSTER =
      Pattern.compile("local-cluster\\[\\s*([0-9]+)\\s*,\\s*([0-9]+)\\s*,.*]");

  /**
   * Asks the context.
   *
   * @param workers a caller's number of workers, 0 for what is there
   * @throws BackendUnavailableException for a setting with which no task would ever start
   */
  public static ClusterResources probe(JavaSparkContext context, int workers) {
    SparkConf conf = context.getConf();
    int taskCpus = conf.getInt("spark.task.cpus", 1);
    Matcher local = LOCAL.matcher(context.master());
    if (local.matches()) {
      if (conf.contains("spark.task.resource.gpu.amount")) {
        throw new BackendUnavailableException(
            "spark.task.resource.gpu.amount is set with a local master, where Spark never starts a"
                + " task that wants a GPU: unset it, local tasks share the devices by themselves",
            "cuda");
      }
      int cores = local.group(1) == null ? 1 : cores(local.group(1));
      int count = Math.max(1, workers);
      long memory = Runtime.getRuntime().maxMemory() / count;
      return new ClusterResources(count, Math.max(1, cores / count), taskCpus, memory, true);
    }
    int executors = Math.max(1, context.sc().getExecutorMemoryStatus().size() - 1);
    int count = workers > 0 ? workers : executors;
    long memory = conf.getSizeAsBytes("spark.executor.memory", "1g");
    return new ClusterResources(count, executorCores(context, executors), taskCpus, memory, false);
  }

  private static int cores(String text) {
    return text.equals("*") ? Runtime.getRuntime().availableProcessors() : Integer.parseInt(text);
  }

  private static int executorCores(JavaSparkContext context, int executors) {
    Matcher m = LOCAL_CLUSTER.matcher(context.master());
    int all = m.matches() ? Integer.parseInt(m.group(2)) : 0;
    int configured = context.getConf().getInt("spark.executor.cores", all);
    return configured > 0 ? configured : Math.max(1, context.sc().defaultParallelism() / executors);
  }

  /** The model that the tree's cut is planned with. */
  public ResourceModel model() {
    var list = new ArrayList<ResourceModel.Worker>();
    for (int i = 0; i < workers; i++) {
      list.add(
          new ResourceModel.Worker("executor " + i, cores * FLOPS_PER_CORE, memoryBytes, false));
    }
    return new ResourceModel(list, 1e9, 0.1);
  }

  /**
   * Threads for each of {@code tasks} tasks that run at once: a worker's cores over the tasks that
   * it gets, at least spark.task.cpus.
   */
  public int threads(int tasks) {
    int each = (tasks + workers - 1) / workers;
    int atOnce = Math.max(1, Math.min(each, cores / Math.max(1, taskCpus)));
    return Math.max(taskCpus, cores / atOnce);
  }
}
