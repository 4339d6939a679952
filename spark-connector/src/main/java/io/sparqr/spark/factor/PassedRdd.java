/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.spark.engine.PlannedPlaces;
import org.apache.spark.OneToOneDependency;
import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The contribution blocks that the tasks of a level pass on. The run that makes them for the
 * shuffle also makes R, and leaves it in the level's {@link FactorRdd}. If a file of the shuffle is
 * lost later, its task is run again for the blocks alone, and R stays as it is.
 */
final class PassedRdd extends LevelRdd<byte[]> {

  private static final long serialVersionUID = 1;

  private final FactorRdd factor;
  private final StoredLevel stored;

  /**
   * @param factor takes what the tasks keep
   * @param stored where that is stored
   */
  PassedRdd(
      SparkContext context,
      Tasks tasks,
      Inputs inputs,
      PlannedPlaces places,
      FactorRdd factor,
      StoredLevel stored) {
    // Spark shows only those stored RDDs that it meets on the way from a stage's last one.
    super(context, tasks, inputs, places, byte[].class, new OneToOneDependency<>(stored.rdd()));
    this.factor = factor;
    this.stored = stored;
  }

  @Override
  public Iterator<byte[]> compute(Partition split, TaskContext context) {
    boolean there = !isFirstRun(context) && stored.has(split.index());
    Keeping keeping = there ? new Keeping.Nothing() : factor.keeping();
    TaskResult result = run(split, context, keeping);
    if (!there) {
      factor.leave(result.kept(), () -> stored.fill(split, context));
    }
    return CollectionConverters.asScala(result.passed().iterator());
  }
}
