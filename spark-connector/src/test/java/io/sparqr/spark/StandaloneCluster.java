/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.master.Master$;
import org.apache.spark.deploy.worker.Worker$;
import org.apache.spark.rpc.RpcEnv;

/**
 * A standalone cluster whose master and workers are in this JVM, its executors in JVMs of their own
 * under several addresses of this machine: unlike {@code local-cluster}, it has several hosts, and
 * Spark runs no speculative copy on the host of the first attempt.
 */
final class StandaloneCluster implements AutoCloseable {

  private static final int MEMORY = 2048;

  private final List<RpcEnv> parts = new ArrayList<>();
  private final String url;

  /**
   * Starts it.
   *
   * @param cores of each worker
   * @param folder where workers write
   */
  StandaloneCluster(int workers, int cores, Path folder, SparkConf conf) throws IOException {
    Files.createDirectories(Path.of(System.getenv("SPARK_HOME"), "jars"));
    SparkConf own = conf.clone().set("spark.master.rest.enabled", "false");
    var master = Master$.MODULE$.startRpcEnvAndEndpoint("127.0.0.1", 0, 0, own);
    parts.add(master._1());
    url = "spark://127.0.0.1:" + master._1().address().port();
    for (int w = 1; w <= workers; w++) {
      parts.add(
          Worker$.MODULE$.startRpcEnvAndEndpoint(
              "127.0.0." + w,
              0,
              0,
              cores,
              MEMORY,
              new String[] {url},
              folder.toString(),
              scala.Some.apply(w),
              own,
              scala.Option.empty()));
    }
  }

  /** The master's. */
  String url() {
    return url;
  }

  /** The settings of a test's driver. */
  static SparkConf conf(String name) {
    return new SparkConf()
        .setAppName(name)
        .set("spark.ui.enabled", "false")
        .set("spark.executor.memory", "512m")
        .set("spark.driver.host", "127.0.0.1")
        .set("spark.driver.bindAddress", "127.0.0.1")
        // Spark puts these before a test's own spark.executor.extraJavaOptions.
        .set("spark.executor.defaultJavaOptions", System.getProperty("sparqr.executor.args", ""))
        .set("spark.executor.extraClassPath", System.getProperty("java.class.path"));
  }

  @Override
  public void close() {
    for (RpcEnv part : parts) {
      part.shutdown();
      part.awaitTermination();
    }
  }
}
