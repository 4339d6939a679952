/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.metrics;

import io.sparqr.jvm.NamedObjects;
import io.sparqr.numeric.WorkListener;
import io.sparqr.spark.engine.Engine;
import java.io.Serializable;
import java.util.UUID;
import java.util.concurrent.atomic.DoubleAdder;
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

  private final String key = UUID.randomUUID().toString();
  private final DoubleAccumulator sum = new DoubleAccumulator();

  /** A counter of an engine's tasks; the driver must close it. */
  public static WorkDone of(Engine engine) {
    var made = new WorkDone();
    NamedObjects.ofJvm().hold(made.name(), new DoubleAdder());
    engine.register(made.sum, "sparqr work");
    return made;
  }

  /** Of the sum of this JVM. */
  private NamedObjects.Name<DoubleAdder> name() {
    return new NamedObjects.Name<>(DoubleAdder.class, key);
  }

  /** Flops done by tasks of this JVM so far; 0 on a cluster's driver. */
  public double here() {
    return NamedObjects.ofJvm().find(name()).map(DoubleAdder::sum).orElse(0.0);
  }

  /** The accumulator's id. */
  public long id() {
    return sum.id();
  }

  /** Ends the local sum on the driver, after which {@link #here()} must not be used. Idempotent. */
  public void close() {
    NamedObjects.ofJvm().drop(name());
  }

  /** Adds flops; called within a task, from any of its threads. */
  @Override
  public void done(double flops) {
    synchronized (sum) {
      sum.add(flops);
    }
    NamedObjects.ofJvm().find(name()).ifPresent(found -> found.add(flops));
  }
}
