/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.metrics;

import io.sparqr.numeric.WorkListener;
import java.io.Serializable;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.DoubleAdder;
import org.apache.spark.SparkContext;
import org.apache.spark.util.DoubleAccumulator;

/**
 * The progress of the subtree tasks of one factorization, in flops as counted by the analysis. The
 * executors send it with their heartbeats ({@code spark.executor.heartbeatInterval}, 10 s) while
 * tasks run, and at the end of each task. Tasks in the driver's own JVM (local mode) add to the
 * driver's own sum as well, which can be read at any time. A repeated task counts again.
 *
 * <p>It uses an accumulator of Spark's own class, because Spark deserializes the updates of tasks
 * with the application's class loader, which does not see the classes of a jar that is an artifact
 * of a Spark Connect session.
 */
public final class WorkDone implements WorkListener, Serializable {

  private static final long serialVersionUID = 2;

  /** The sums of this JVM, by factorization. */
  private static final Map<String, DoubleAdder> HERE = new ConcurrentHashMap<>();

  private final String key = UUID.randomUUID().toString();
  private final DoubleAccumulator sum = new DoubleAccumulator();

  /** A registered counter; the driver must close it. */
  public static WorkDone register(SparkContext context) {
    WorkDone made = local();
    context.register(made.sum, "sparqr work");
    return made;
  }

  /** For tasks in this JVM, without Spark. */
  static WorkDone local() {
    var made = new WorkDone();
    HERE.put(made.key, new DoubleAdder());
    return made;
  }

  /** Flops done by tasks of this JVM so far; 0 on a cluster's driver. */
  public double here() {
    DoubleAdder found = HERE.get(key);
    return found == null ? 0 : found.sum();
  }

  /** The accumulator's id. */
  public long id() {
    return sum.id();
  }

  /** Ends the local sum on the driver, after which {@link #here()} must not be used. Idempotent. */
  public void close() {
    HERE.remove(key);
  }

  /** Adds flops; called within a task, from any of its threads. */
  @Override
  public void done(double flops) {
    synchronized (sum) {
      sum.add(flops);
    }
    DoubleAdder found = HERE.get(key);
    if (found != null) {
      found.add(flops);
    }
  }
}
