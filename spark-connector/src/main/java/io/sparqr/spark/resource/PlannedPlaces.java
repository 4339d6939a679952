/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.resource;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.TaskSchedulerImpl;

/**
 * Where the tasks of a level should run: hints for Spark's scheduler, on the driver.
 *
 * <p>For a task with a preferred executor that is alive and busy Spark waits, {@code
 * spark.locality.wait} = 3 s for each step down in locality, before it lets another have it: longer
 * than most levels take. So a task's planned executor is named only while it is alive and has a
 * free slot for it, other jobs' tasks and the executor's earlier tasks of the level counted. All
 * others go wherever a slot is free first.
 */
public final class PlannedPlaces {

  private final SparkContext context;
  private final List<Optional<Place>> places;

  /** size places; how many tasks of the level before each one are planned for its executor. */
  private final int[] before;

  /**
   * A place to run tasks.
   *
   * @param executor Spark's id of it
   * @param location of it as Spark's scheduler reads it
   * @param slots tasks that it runs at once
   */
  record Place(String executor, String location, int slots) {}

  /**
   * The places of a level's tasks.
   *
   * @param places empty for a task that may run anywhere
   */
  PlannedPlaces(SparkContext context, List<Optional<Place>> places) {
    this.context = context;
    this.places = List.copyOf(places);
    before = new int[places.size()];
    Map<String, Integer> count = new HashMap<>();
    for (int i = 0; i < before.length; i++) {
      if (places.get(i).isPresent()) {
        before[i] = count.merge(places.get(i).get().executor(), 1, Integer::sum) - 1;
      }
    }
  }

  /** The preferred locations of task i at this moment: one or none. */
  public List<String> of(int i) {
    if (places.get(i).isEmpty()
        || !(context.taskScheduler() instanceof TaskSchedulerImpl scheduler)) {
      return List.of();
    }
    Place p = places.get(i).get();
    var running = scheduler.runningTasksByExecutors().get(p.executor());
    boolean free = running.isDefined() && (Integer) running.get() + before[i] < p.slots();
    return free ? List.of(p.location()) : List.of();
  }
}
