/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.engine;

import io.sparqr.spark.internals.SparkCluster;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.spark.SparkContext;

/**
 * The planned places of the tasks of a level: hints for Spark's scheduler, on the driver.
 *
 * <p>If a task prefers an executor that is alive but busy, Spark waits {@code spark.locality.wait}
 * = 3 s per locality level before offering the task to another, which is longer than most levels
 * take. A task's planned executor is therefore named only as long as it is alive and has a free
 * slot, after accounting for tasks of other jobs and the executor's earlier tasks of the level. All
 * other tasks go to the first free slot.
 */
public final class PlannedPlaces {

  private final SparkContext context;
  private final List<Optional<Place>> places;

  /**
   * Size: number of places; for each, the number of earlier tasks of the level planned for its
   * executor.
   */
  private final int[] before;

  /**
   * A place to run tasks.
   *
   * @param executor Spark's id of it
   * @param location its location in the syntax of Spark's scheduler
   * @param slots number of concurrent tasks
   */
  public record Place(String executor, String location, int slots) {}

  /**
   * The places of a level's tasks.
   *
   * @param places empty for a task that may run anywhere
   */
  public PlannedPlaces(SparkContext context, List<Optional<Place>> places) {
    this(context, places, before(places));
  }

  private PlannedPlaces(SparkContext context, List<Optional<Place>> places, int[] before) {
    this.context = context;
    this.places = List.copyOf(places);
    this.before = before;
  }

  /**
   * As above, for short tasks that take less work at their places than elsewhere, so that they had
   * better wait for each other: only tasks of other jobs count.
   */
  public static PlannedPlaces inTurn(SparkContext context, List<Optional<Place>> places) {
    return new PlannedPlaces(context, places, new int[places.size()]);
  }

  private static int[] before(List<Optional<Place>> places) {
    int[] before = new int[places.size()];
    Map<String, Integer> count = new HashMap<>();
    for (int i = 0; i < before.length; i++) {
      if (places.get(i).isPresent()) {
        before[i] = count.merge(places.get(i).get().executor(), 1, Integer::sum) - 1;
      }
    }
    return before;
  }

  /** The current preferred locations of task i: one or none. */
  public List<String> of(int i) {
    if (places.get(i).isEmpty()) {
      return List.of();
    }
    Place p = places.get(i).get();
    OptionalInt running = SparkCluster.runningTasks(context, p.executor());
    boolean free = running.isPresent() && running.getAsInt() + before[i] < p.slots();
    return free ? List.of(p.location()) : List.of();
  }
}
