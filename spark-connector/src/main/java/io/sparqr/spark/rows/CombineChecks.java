/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import java.io.Serializable;
import org.apache.spark.SparkContext;
import org.apache.spark.util.CollectionAccumulator;

/**
 * What the checks of combined rows saw: the largest departure that was accepted, and how many
 * batches were sent as they were instead. A task that runs again counts again.
 *
 * <p>It travels in an accumulator of Spark's own class, a pair of numbers a task: Spark reads what
 * tasks send back with the application's class loader, which does not know the classes of a jar
 * that is a Spark Connect session's artifact.
 */
public final class CombineChecks implements Serializable {

  private static final long serialVersionUID = 2;
  private static final int DEPARTURE = 0;
  private static final int REDONE = 1;

  private final CollectionAccumulator<double[]> seen = new CollectionAccumulator<>();

  /** This task's pair, which the accumulator has, too. */
  private transient double[] mine;

  /** For a problem, by a name for Spark's pages. */
  public CombineChecks register(SparkContext context, String name) {
    context.register(seen, name);
    return this;
  }

  /** Of tasks in this JVM, without Spark: those of one partition. */
  public CombineChecks ofPart() {
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

  /** A batch was combined. */
  void accepted(double departure) {
    double[] here = mine();
    here[DEPARTURE] = Math.max(here[DEPARTURE], departure);
  }

  /** A batch was not. */
  void sentAsTheyWere() {
    mine()[REDONE]++;
  }

  /** The largest departure that was accepted; on the driver. */
  public double departure() {
    return seen.value().stream().mapToDouble(pair -> pair[DEPARTURE]).max().orElse(0);
  }

  /** Batches that were sent as they were; on the driver. */
  public long redone() {
    return (long) seen.value().stream().mapToDouble(pair -> pair[REDONE]).sum();
  }
}
