/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/** One local session for all tests of a JVM; Spark stops it when the JVM ends. */
public final class LocalSpark {

  private static SparkSession session;

  private LocalSpark() {}

  /** local[2], no UI. */
  public static synchronized SparkSession session() {
    // another test of this JVM may have stopped the context that it shared with us
    if (session == null || session.sparkContext().isStopped()) {
      session =
          SparkSession.builder()
              .master("local[2]")
              .appName("sparqr tests")
              .config("spark.ui.enabled", "false")
              .config("spark.driver.host", "127.0.0.1")
              .config("spark.driver.bindAddress", "127.0.0.1")
              .config("spark.sql.shuffle.partitions", "2")
              .getOrCreate();
      session.sparkContext().setLogLevel("WARN");
    }
    return session;
  }

  /** Its context. */
  public static JavaSparkContext context() {
    return JavaSparkContext.fromSparkContext(session().sparkContext());
  }
}
