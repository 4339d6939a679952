/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.engine;

import io.sparqr.spark.internals.SparkProcess;
import io.sparqr.spark.report.SolveReport;
import java.util.regex.Pattern;
import org.apache.spark.api.java.JavaSparkContext;
import org.jspecify.annotations.Nullable;

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

  /** Masters whose driver and executors are one JVM; group 1: threads. */
  public static final Pattern LOCAL_MASTER = Pattern.compile("local(?:\\[([0-9]+|\\*)(?:,.*)?])?");

  private final @Nullable JavaSparkContext context;

  private Engine(@Nullable JavaSparkContext context) {
    this.context = context;
  }

  /** The engine of a Spark context. */
  public static Engine of(JavaSparkContext context) {
    return new Engine(context);
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

  /** How the driver's values reach the tasks. */
  public enum Reach {
    /** As they are: the tasks run in this JVM, with the very classes of the driver. */
    OBJECTS,
    /** In this JVM, but with classes of their own ({@link #tasksShareClasses}). */
    BYTES,
    /** Over the network. */
    NETWORK
  }

  /** How the driver's values reach the tasks. */
  public Reach reach() {
    if (context == null) {
      return Reach.OBJECTS;
    }
    if (!isLocal(context)) {
      return Reach.NETWORK;
    }
    return tasksShareClasses() ? Reach.OBJECTS : Reach.BYTES;
  }

  /** Whether all tasks run in this JVM. */
  public boolean oneJvm() {
    return context == null || isLocal(context);
  }

  /** Whether driver and executors of a context are one JVM. */
  public static boolean isLocal(JavaSparkContext context) {
    return LOCAL_MASTER.matcher(context.master()).matches();
  }

  /** Whether all tasks run in this JVM, with the very classes of the driver. */
  public boolean sharesObjects() {
    return reach() == Reach.OBJECTS;
  }

  /**
   * Whether a local master's tasks share this very class, because its loader is an ancestor of
   * theirs.
   */
  public static boolean tasksShareClasses() {
    ClassLoader own = Engine.class.getClassLoader();
    ClassLoader loader = SparkProcess.taskClassLoader().orElse(own);
    while (loader != null && loader != own) {
      loader = loader.getParent();
    }
    return loader == own;
  }

  /** Number of concurrent tasks, as far as known. */
  public int parallelism() {
    return context == null
        ? Runtime.getRuntime().availableProcessors()
        : context.defaultParallelism();
  }

  /** A setting of the Spark configuration, if it is set. */
  public @Nullable String setting(String key) {
    return context == null ? null : context.getConf().get(key, null);
  }
}
