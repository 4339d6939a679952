/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.metrics;

import java.util.ServiceLoader;
import java.util.function.Consumer;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.slf4j.LoggerFactory;

/**
 * What {@link SparqrPlugin} starts with an application: a service, because it is made of the
 * solver's parts, which the plugin's package may not use.
 */
public interface AtStart {

  /** The driver's context is there, and its executor too with a local master. */
  void driver(JavaSparkContext context);

  /**
   * An executor of its own JVM starts.
   *
   * @param gpu whether Spark has given it a GPU
   */
  void executor(SparkConf settings, boolean gpu);

  /** The application or the executor ends. */
  void end();

  /** Tells all services of this JVM; what one of them throws is a line in the log. */
  static void tell(Consumer<AtStart> what) {
    try {
      ServiceLoader.load(AtStart.class, AtStart.class.getClassLoader()).forEach(what);
    } catch (RuntimeException | java.util.ServiceConfigurationError | LinkageError e) {
      LoggerFactory.getLogger(SparqrPlugin.class).warn("nothing is done at the start", e);
    }
  }
}
