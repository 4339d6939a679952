/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.resource;

import io.sparqr.spark.SolveReport;
import java.io.Serializable;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;

/**
 * The engine that runs the tasks of a solve: Spark, or the threads of this JVM without Spark. The
 * work of the tasks, the partitions, the frames and the answer are the same; only Spark's engine
 * has executors, retries, shuffle files and settings.
 */
public final class Engine {

  /**
   * This JVM alone: as many concurrent partitions as it has processors, all settings at their
   * defaults.
   */
  public static final Engine LOCAL = new Engine(null);

  private final JavaSparkContext context;

  private Engine(JavaSparkContext context) {
    this.context = context;
  }

  /** The engine of a Spark context. */
  public static Engine of(JavaSparkContext context) {
    return new Engine(context);
  }

  /** A value sent to the tasks. */
  @FunctionalInterface
  public interface Sent<T> extends Serializable {
    T value();
  }

  /** The name used in reports. */
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
   * @throws IllegalStateException if this is not Spark's engine
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

  /** Number of concurrent tasks, as far as known. */
  public int parallelism() {
    return context == null
        ? Runtime.getRuntime().availableProcessors()
        : context.defaultParallelism();
  }

  /** A setting of the Spark configuration; null if it is not set. */
  public String setting(String key) {
    return context == null ? null : context.getConf().get(key, null);
  }

  /** Sends a value to the tasks, for them to use until {@code held} is closed. */
  public <T> Sent<T> send(T value, Held held) {
    if (context == null) {
      return () -> value;
    }
    if (Exchange.possible(this)) {
      @SuppressWarnings("unchecked")
      var type = (Class<T>) value.getClass();
      var exchange = new Exchange();
      held.onClose(exchange::close);
      exchange.put(0, value);
      return () -> exchange.get(0, type);
    }
    Broadcast<T> broadcast = held.keep(context.broadcast(value));
    return broadcast::value;
  }
}
