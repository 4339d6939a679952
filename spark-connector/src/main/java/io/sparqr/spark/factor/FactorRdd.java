/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.spark.engine.PlannedPlaces;
import io.sparqr.spark.stored.TaskOutput;
import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * What the tasks of a level keep: R with their reports. The blocks that they pass on are left in
 * the level's {@link PassedRdd} by the same run.
 */
final class FactorRdd extends LevelRdd<TaskOutput> {

  private static final long serialVersionUID = 1;

  private final Keeping keeping;
  private final PassedRdd passed;

  /**
   * @param keeping what the tasks keep
   * @param passed takes their blocks
   */
  FactorRdd(
      SparkContext context,
      Tasks tasks,
      Inputs inputs,
      PlannedPlaces places,
      Keeping keeping,
      PassedRdd passed) {
    super(context, tasks, inputs, places, TaskOutput.class);
    this.keeping = keeping;
    this.passed = passed;
  }

  @Override
  public Iterator<TaskOutput> compute(Partition split, TaskContext context) {
    TaskResult result = run(split, context, keeping);
    passed.leave(result.passed(), split, context);
    return CollectionConverters.asScala(result.kept());
  }
}
