/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import io.sparqr.spark.engine.Engine;
import java.io.Serializable;
import org.apache.spark.TaskContext;
import org.apache.spark.util.CollectionAccumulator;
import org.jspecify.annotations.Nullable;

/**
 * Results of the checks of combined rows: the largest accepted departure, and the number of batches
 * sent uncombined instead. A repeated task counts again.
 *
 * <p>It uses an accumulator of Spark's own class with a pair of numbers per task, because Spark
 * deserializes the updates of tasks with the application's class loader, which does not see the
 * classes of a jar that is an artifact of a Spark Connect session.
 */
public final class CombineChecks implements Serializable {

  private static final long serialVersionUID = 2;
  private static final int DEPARTURE = 0;
  private static final int REDONE = 1;

  private final CollectionAccumulator<double[]> seen = new CollectionAccumulator<>();

  /** This task's pair, shared with the accumulator. */
  private transient double @Nullable [] mine;

  /** Registers this for a problem, under a name for Spark's pages. */
  public CombineChecks register(Engine engine, String name) {
    engine.register(seen, name);
    return this;
  }

  /** The checks of one partition: a task of Spark's has its own already, a thread does not. */
  public CombineChecks ofPart() {
    if (TaskContext.get() != null) {
      return this;
    }
    var part = new CombineChecks();
    synchronized (this) {
      part.mine = new double[2];
      seen.add(part.mine);
    }
    return part;
  }

  private double[] mine() {
    if (mine == null) {
      mine = new double[2];
      seen.add(mine);
    }
    return mine;
  }

  /** Counts a combined batch. */
  void accepted(double departure) {
    double[] here = mine();
    here[DEPARTURE] = Math.max(here[DEPARTURE], departure);
  }

  /** Counts a batch sent uncombined. */
  void sentAsTheyWere() {
    mine()[REDONE]++;
  }

  /** The largest accepted departure; on the driver. */
  public double departure() {
    return seen.value().stream().mapToDouble(pair -> pair[DEPARTURE]).max().orElse(0);
  }

  /** Number of batches sent uncombined; on the driver. */
  public long redone() {
    return (long) seen.value().stream().mapToDouble(pair -> pair[REDONE]).sum();
  }
}
