/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.spark.internals.SparkProcess;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.jspecify.annotations.Nullable;

/**
 * The Spark context of a command: an existing one (left running), or a new one (stopped at the
 * end). The master is that of the command line, otherwise spark-submit's, otherwise local[*]; other
 * settings of spark-submit take precedence over the command line.
 */
final class SparkHandle implements AutoCloseable {

  private final SparkContext context;
  private final boolean own;

  /** Not before it is needed, because Spark SQL takes as long to start as everything else. */
  private @Nullable SparkSession session;

  /**
   * Gets or starts Spark.
   *
   * @param master default: that of spark-submit, otherwise local[*]
   * @param executors 0: according to the cluster's configuration
   */
  SparkHandle(@Nullable String master, int executors) {
    Optional<SparkContext> running = SparkProcess.activeContext();
    own = running.isEmpty();
    context = own ? start(master, executors) : running.get();
  }

  private static SparkContext start(@Nullable String master, int executors) {
    SparkConf conf = new SparkConf();
    if (master != null) {
      conf.setMaster(master);
    } else {
      conf.setIfMissing("spark.master", "local[*]");
    }
    conf.setIfMissing("spark.app.name", "sparqr");
    conf.setIfMissing("spark.ui.showConsoleProgress", "false");
    if (executors > 0) {
      conf.setIfMissing("spark.executor.instances", Integer.toString(executors));
    }
    if (conf.get("spark.master").startsWith("local")) {
      conf.setIfMissing("spark.driver.host", "127.0.0.1");
      conf.setIfMissing("spark.driver.bindAddress", "127.0.0.1");
      conf.setIfMissing("spark.ui.enabled", "false");
    }
    return new SparkContext(conf);
  }

  /**
   * Whether the command's Spark runs in this JVM alone.
   *
   * @param master as for the constructor
   */
  static boolean local(@Nullable String master) {
    // spark-submit passes its settings as system properties; loading SparkConf instead would take a
    // second.
    String url = master != null ? master : System.getProperty("spark.master", "local[*]");
    return url.startsWith("local") && !url.startsWith("local-cluster");
  }

  /** A session with this context. */
  SparkSession session() {
    if (session == null) {
      session = SparkSession.builder().getOrCreate();
    }
    return session;
  }

  /** The context of the session, for programs in Java. */
  JavaSparkContext context() {
    return JavaSparkContext.fromSparkContext(context);
  }

  @Override
  public void close() {
    if (own) {
      context.stop();
    }
    if (own && session != null) {
      SparkSession.clearDefaultSession();
      SparkSession.clearActiveSession();
    }
  }
}
