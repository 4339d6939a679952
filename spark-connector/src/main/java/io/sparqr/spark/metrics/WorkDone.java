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
 * How far the subtree tasks of one factorization have come, in the flops that the analysis counts.
 * The executors send it with their heartbeats ({@code spark.executor.heartbeatInterval}, 10 s)
 * while tasks run, and with each task's end. Tasks in the driver's own JVM (local mode) add to the
 * driver's own sum as well, which can be read at any time. A task that is run again counts again.
 *
 * <p>It travels in an accumulator of Spark's own class: Spark reads what tasks send back with the
 * application's class loader, which does not know the classes of a jar that is a Spark Connect
 * session's artifact.
 */
public final class WorkDone implements WorkListener, Serializable {

  private static final long serialVersionUID = 2;

  /** The driver's sums. */
  private static final Map<String, DoubleAdder> HERE = new ConcurrentHashMap<>();

  private final String key = UUID.randomUUID().toString();
  private final DoubleAccumulator sum = new DoubleAccumulator();

  /** Registered, for a driver that closes it. */
  public static WorkDone register(SparkContext context) {
    WorkDone made = local();
    context.register(made.sum, "sparqr work");
    return made;
  }

  /** Of tasks in this JVM, without Spark. */
  static WorkDone local() {
    var made = new WorkDone();
    HERE.put(made.key, new DoubleAdder());
    return made;
  }

  /** What tasks of this JVM have done so far; 0 on a cluster's driver. */
  public double here() {
    DoubleAdder found = HERE.get(key);
    return found == null ? 0 : found.sum();
  }

  /** The accumulator's id. */
  public long id() {
    return sum.id();
  }

  /** What Spark has brought so far; on the driver. */
  public double value() {
    return sum.sum();
  }

  /** On the driver: nobody reads {@link #here()} any more. Idempotent. */
  public void close() {
    HERE.remove(key);
  }

  /** In a task, from any of its threads. */
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
