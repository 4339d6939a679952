/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import org.apache.spark.SparkConf;

/** Spark's settings for benchmarks: no pages, and no name service, which some hosts do without. */
public final class BenchmarkSpark {

  private BenchmarkSpark() {}

  /** The settings of every benchmark, in this JVM. */
  public static SparkConf conf(String master, String application) {
    return new SparkConf()
        .setMaster(master)
        .setAppName(application)
        .set("spark.ui.enabled", "false")
        .set("spark.driver.host", "127.0.0.1")
        .set("spark.driver.bindAddress", "127.0.0.1");
  }

  /**
   * The same with executors in JVMs of their own, which have this one's class path, and {@code
   * -Dexecutor.memory} or this much.
   */
  public static SparkConf cluster(String master, String application, String executorMemory) {
    return conf(master, application)
        .set("spark.executor.memory", System.getProperty("executor.memory", executorMemory))
        .set("spark.executor.extraClassPath", System.getProperty("java.class.path"));
  }
}
