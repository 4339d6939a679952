/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/** Clusters whose executors are JVMs of their own on this machine, one in each worker. */
public final class LocalCluster {

  /** Megabytes of each worker. */
  private static final int MEMORY = 1024;

  private LocalCluster() {}

  /** Settings of a cluster; also makes the folder without which its workers do not start. */
  public static SparkConf conf(String name, int executors, int cores) throws IOException {
    Files.createDirectories(Path.of(System.getenv("SPARK_HOME"), "jars"));
    return StandaloneCluster.conf(name)
        .setMaster("local-cluster[%d,%d,%d]".formatted(executors, cores, MEMORY));
  }

  /** A context with so many executors. */
  public static JavaSparkContext start(SparkConf conf, int executors) throws InterruptedException {
    var context = new JavaSparkContext(conf);
    awaitExecutors(context, executors);
    return context;
  }

  /** Waits until so many executors are there, also after the loss of some. */
  static void awaitExecutors(JavaSparkContext context, int executors) throws InterruptedException {
    // The driver counts as one.
    while (context.sc().statusTracker().getExecutorInfos().length < executors + 1) {
      Thread.sleep(100);
    }
  }
}
