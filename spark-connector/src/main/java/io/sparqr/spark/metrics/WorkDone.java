/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.metrics;

import io.sparqr.numeric.WorkListener;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.DoubleAdder;
import org.apache.spark.SparkContext;
import org.apache.spark.util.AccumulatorV2;

/**
 * How far the subtree tasks of one factorization have come, in the flops that the analysis counts.
 * An accumulator, whose value the executors send with their heartbeats ({@code
 * spark.executor.heartbeatInterval}, 10 s) while tasks run, and with each task's end. Tasks in the
 * driver's own JVM (local mode) add to the driver's own sum as well, which can be read at any time.
 * A task that is run again counts again.
 */
public final class WorkDone extends AccumulatorV2<Double, Double> implements WorkListener {

  private static final long serialVersionUID = 1;

  /** The driver's sums, by the accumulators' ids. */
  private static final Map<Long, DoubleAdder> HERE = new ConcurrentHashMap<>();

  private final DoubleAdder sum = new DoubleAdder();

  /** The sum in the driver's JVM; null in other JVMs, and until it was looked for. */
  private transient volatile DoubleAdder here;

  /** Registered, for a driver that closes it. */
  public static WorkDone register(SparkContext context) {
    var made = new WorkDone();
    context.register(made, "sparqr work");
    HERE.put(made.id(), new DoubleAdder());
    return made;
  }

  /** What tasks of this JVM have done so far; 0 on a cluster's driver. */
  public double here() {
    DoubleAdder found = HERE.get(id());
    return found == null ? 0 : found.sum();
  }

  /** On the driver: nobody reads {@link #here()} any more. Idempotent. */
  public void close() {
    HERE.remove(id());
  }

  /** In a task, from any of its threads. */
  @Override
  public void done(double flops) {
    sum.add(flops);
    DoubleAdder found = here;
    if (found == null) {
      found = HERE.getOrDefault(id(), sum);
      here = found;
    }
    if (found != sum) {
      found.add(flops);
    }
  }

  @Override
  public boolean isZero() {
    return sum.sum() == 0;
  }

  @Override
  public WorkDone copy() {
    var other = new WorkDone();
    other.merge(this);
    return other;
  }

  @Override
  public void reset() {
    sum.reset();
  }

  @Override
  public void add(Double flops) {
    done(flops);
  }

  @Override
  public void merge(AccumulatorV2<Double, Double> other) {
    sum.add(other.value());
  }

  @Override
  public Double value() {
    return sum.sum();
  }
}
