/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.engine;

import io.sparqr.spark.internals.SparkProcess;
import io.sparqr.spark.report.SolveReport;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.util.AccumulatorV2;
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
  static final Pattern LOCAL_MASTER = Pattern.compile("local(?:\\[([0-9]+|\\*)(?:,.*)?])?");

  private final @Nullable JavaSparkContext context;

  private Engine(@Nullable JavaSparkContext context) {
    this.context = context;
  }

  /** The engine of a Spark context. */
  public static Engine of(JavaSparkContext context) {
    return new Engine(context);
  }

  /** What a report calls the engine: local, or spark. */
  public String name() {
    return context == null ? "local" : SolveReport.Cluster.SPARK;
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
    if (!oneJvm()) {
      return Reach.NETWORK;
    }
    return tasksShareClasses() ? Reach.OBJECTS : Reach.BYTES;
  }

  /** Whether all tasks run in this JVM. */
  public boolean oneJvm() {
    return context == null || LOCAL_MASTER.matcher(context.master()).matches();
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

  /** Cores of this JVM that run tasks at a time, if all tasks run in it. */
  public int cores() {
    if (context == null) {
      return Runtime.getRuntime().availableProcessors();
    }
    Matcher local = LOCAL_MASTER.matcher(context.master());
    String text = local.matches() && local.group(1) != null ? local.group(1) : "1";
    return text.equals("*") ? Runtime.getRuntime().availableProcessors() : Integer.parseInt(text);
  }

  /** The Spark configuration, if there is Spark. */
  public Optional<SparkConf> conf() {
    return Optional.ofNullable(context).map(JavaSparkContext::getConf);
  }

  /** A setting of the Spark configuration, if it is set. */
  public @Nullable String setting(String key) {
    return context == null ? null : context.getConf().get(key, null);
  }

  /** A property of the jobs of the calling thread; null if it is not set, and without Spark. */
  public @Nullable String property(String key) {
    return context == null ? null : context.getLocalProperty(key);
  }

  /**
   * Sets a property of the jobs of the calling thread; without Spark there are none.
   *
   * @param value null removes it
   */
  public void property(String key, @Nullable String value) {
    if (context != null) {
      context.setLocalProperty(key, value);
    }
  }

  /**
   * Shows a sum over the tasks on Spark's pages.
   *
   * @param name empty: on none of them
   * @return whether there is Spark; without it the sum counts all the same
   */
  public boolean register(AccumulatorV2<?, ?> sum, String name) {
    if (context == null) {
      return false;
    }
    if (name.isEmpty()) {
      context.sc().register(sum);
    } else {
      context.sc().register(sum, name);
    }
    return true;
  }

  /** Tells a listener of Spark's jobs, until {@link #forget}. */
  public void tell(SparkListener listener) {
    if (context != null) {
      context.sc().addSparkListener(listener);
    }
  }

  /** Ends {@link #tell}. */
  public void forget(SparkListener listener) {
    if (context != null) {
      context.sc().removeSparkListener(listener);
    }
  }
}
