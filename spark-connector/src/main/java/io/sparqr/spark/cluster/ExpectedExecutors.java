/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cluster;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;

/**
 * The executors that the application starts with according to Spark's configuration.
 *
 * @param registered number of executors required by {@code
 *     spark.scheduler.minRegisteredResourcesRatio}
 * @param dynamic whether dynamic allocation is on
 * @param most maximum number of executors that it may start
 * @param slots concurrent tasks per executor, as far as the configuration says
 * @param taskCpus spark.task.cpus
 * @param allocationRatio spark.dynamicAllocation.executorAllocationRatio
 */
record ExpectedExecutors(
    int registered, boolean dynamic, int most, int slots, int taskCpus, double allocationRatio) {

  private static final String DYNAMIC = "spark.dynamicAllocation.";
  private static final Pattern LOCAL_CLUSTER =
      Pattern.compile("local-cluster\\[\\s*([0-9]+)\\s*,.*]");

  /** Default of the ratio on YARN and Kubernetes; elsewhere it is 0. */
  private static final double MANAGED = 0.8;

  /** Default of spark.executor.instances on YARN and Kubernetes. */
  private static final int INSTANCES = 2;

  static ExpectedExecutors of(SparkConf conf) {
    String master = conf.get("spark.master", "");
    boolean managed = master.startsWith("yarn") || master.startsWith("k8s");
    double ratio =
        conf.getDouble("spark.scheduler.minRegisteredResourcesRatio", managed ? MANAGED : 0);
    boolean dynamic = conf.getBoolean(DYNAMIC + "enabled", false);
    int taskCpus = Math.max(1, conf.getInt("spark.task.cpus", 1));
    int cores = conf.getInt("spark.executor.cores", 1);
    int started = dynamic ? initial(conf) : instances(conf, master, managed);
    return new ExpectedExecutors(
        (int) Math.ceil(Math.min(1, ratio) * started),
        dynamic,
        dynamic ? conf.getInt(DYNAMIC + "maxExecutors", Integer.MAX_VALUE) : Integer.MAX_VALUE,
        Math.max(1, cores / taskCpus),
        taskCpus,
        dynamic ? conf.getDouble(DYNAMIC + "executorAllocationRatio", 1) : 1);
  }

  /** What Spark's {@code Utils.getDynamicAllocationInitialExecutors} returns. */
  private static int initial(SparkConf conf) {
    int least = conf.getInt(DYNAMIC + "minExecutors", 0);
    int first = conf.getInt(DYNAMIC + "initialExecutors", least);
    return Math.max(Math.max(least, first), conf.getInt("spark.executor.instances", 0));
  }

  private static int instances(SparkConf conf, String master, boolean managed) {
    Matcher cluster = LOCAL_CLUSTER.matcher(master);
    if (conf.contains("spark.executor.instances")) {
      return conf.getInt("spark.executor.instances", 0);
    }
    if (cluster.matches()) {
      return Integer.parseInt(cluster.group(1));
    }
    // The standalone manager defines the number through cores.
    int cores = conf.getInt("spark.executor.cores", 0);
    int all = conf.getInt("spark.cores.max", 0);
    return managed ? INSTANCES : cores > 0 ? all / cores : 0;
  }
}
