/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.exchange;

import io.sparqr.spark.cluster.Executor;
import io.sparqr.spark.engine.PlannedPlaces;
import io.sparqr.spark.engine.PlannedPlaces.Place;
import io.sparqr.spark.internals.StoredBlocks;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Where tasks prefer to run because earlier ones have left blocks there. An executor that has left
 * much more than its share of all, such as the first one of a cluster that has grown since, is
 * preferred for a part of it only: others would wait for it while they could do the work.
 */
final class DepotPlaces {

  /** Most of an executor's fair share of the tasks for which it is preferred. */
  private static final int MOST_SHARES = 2;

  private DepotPlaces() {}

  /** The places of the tasks for the blocks 0 .. count-1 of an RDD, as they are now. */
  static PlannedPlaces of(JavaSparkContext context, int rdd, int count) {
    int cpus = Math.max(1, context.getConf().getInt("spark.task.cpus", 1));
    Map<String, Place> executors = new HashMap<>();
    int slots = 0;
    for (Executor e : Executor.of(context)) {
      var place = new Place(e.id(), e.location(), Math.max(1, e.cores() / cpus));
      executors.put(e.id(), place);
      slots += place.slots();
    }
    List<Optional<Place>> places = new ArrayList<>();
    for (List<String> at : StoredBlocks.executors(rdd, count)) {
      places.add(at.stream().filter(executors::containsKey).map(executors::get).findFirst());
    }
    return PlannedPlaces.inTurn(context.sc(), fair(places, slots));
  }

  /**
   * These places, as far as an executor has no more than its share of them.
   *
   * @param slots of all executors
   */
  static List<Optional<Place>> fair(List<Optional<Place>> places, int slots) {
    Map<String, Integer> count = new HashMap<>();
    List<Optional<Place>> fair = new ArrayList<>();
    for (Optional<Place> place : places) {
      fair.add(
          place.filter(
              p -> {
                double share = Math.ceil((double) places.size() * p.slots() / slots);
                return count.merge(p.executor(), 1, Integer::sum) <= MOST_SHARES * share;
              }));
    }
    return fair;
  }
}
