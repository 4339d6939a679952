/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.resource;

import io.sparqr.spark.SolveReport;
import java.io.Serializable;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;

/**
 * Where the tasks of a solve run: on Spark, or on the threads of this JVM alone, without Spark.
 * What a task does is the same, and so are its partitions, its frames and the answer; only Spark's
 * engine knows of executors, retries, shuffle files and settings.
 */
public final class Engine {

  /** This JVM alone: as many partitions at once as it has processors, all settings on default. */
  public static final Engine LOCAL = new Engine(null);

  private final JavaSparkContext context;

  private Engine(JavaSparkContext context) {
    this.context = context;
  }

  /** Spark's. */
  public static Engine of(JavaSparkContext context) {
    return new Engine(context);
  }

  /** A value that tasks read. */
  @FunctionalInterface
  public interface Sent<T> extends Serializable {
    T value();
  }

  /** As reports have it. */
  public String name() {
    return context == null ? "local" : SolveReport.Cluster.SPARK;
  }

  /** Whether it is Spark. */
  public boolean spark() {
    return context != null;
  }

  /**
   * Spark's context.
   *
   * @throws IllegalStateException if this is not Spark
   */
  public JavaSparkContext context() {
    if (context == null) {
      throw new IllegalStateException("what was asked for takes Spark, and this JVM runs alone");
    }
    return context;
  }

  /** Whether all tasks run in this JVM. */
  public boolean oneJvm() {
    return context == null || ClusterResources.isLocal(context);
  }

  /** Tasks that run at once, as far as that is known. */
  public int parallelism() {
    return context == null
        ? Runtime.getRuntime().availableProcessors()
        : context.defaultParallelism();
  }

  /** A key of the Spark configuration; null where it is not set. */
  public String setting(String key) {
    return context == null ? null : context.getConf().get(key, null);
  }

  /** Brings a value to the tasks, until that is closed. */
  public <T> Sent<T> send(T value, Held held) {
    if (context == null) {
      return () -> value;
    }
    Broadcast<T> broadcast = held.keep(context.broadcast(value));
    return broadcast::value;
  }
}
