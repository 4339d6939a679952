/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import io.sparqr.spark.engine.JobScope;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * The largest leave-one-out connected set of workers and firms (Kline, Saggio, Soelvsten 2020,
 * Econometrica 88, doi:10.3982/ECTA16410): the largest set of firms that stays connected when any
 * one worker is left out, with their workers of at least two observations. Within it every leverage
 * is below 1.
 *
 * <p>Computed on the driver, on the graph of the matches (20 bytes each). Starting with the
 * component with the most firms, all workers that are articulation points of it (Hopcroft and
 * Tarjan 1973) are left out together and the component with the most firms is taken again, until
 * there are none. Finally, workers with a single observation, which connect nothing, are left out.
 * Each step is linear in the matches.
 */
public final class LeaveOneOutSet {

  private final BitSet workers;
  private final BitSet firms;
  private final long observations;

  private LeaveOneOutSet(BitSet workers, BitSet firms, long observations) {
    this.workers = workers;
    this.firms = firms;
    this.observations = observations;
  }

  /**
   * The set for these observations.
   *
   * @param pairs worker and firm of each observation, numbered from 0
   * @throws IllegalArgumentException if an element is not a pair of such numbers
   */
  public static LeaveOneOutSet of(JavaRDD<int[]> pairs) {
    var context = JavaSparkContext.fromSparkContext(pairs.context());
    try (var scope = new JobScope(context)) {
      scope.describe("leave-one-out connected set, matches");
      JavaRDD<long[]> distinct = pairs.mapPartitions(LeaveOneOutSet::matches);
      return of(JobScope.run(context, "leave-one-out connected set, matches", distinct::collect));
    }
  }

  /**
   * Sorted matches with the worker in the upper half and the firm in the lower, followed by their
   * counts.
   */
  static Iterator<long[]> matches(Iterator<int[]> pairs) {
    long[] keys = new long[16];
    int count = 0;
    while (pairs.hasNext()) {
      int[] p = pairs.next();
      if (p.length != 2 || p[0] < 0 || p[1] < 0) {
        throw new IllegalArgumentException(
            "no pair of a worker and a firm from 0 on: " + Arrays.toString(p));
      }
      keys = count == keys.length ? Arrays.copyOf(keys, 2 * count) : keys;
      keys[count++] = (long) p[0] << 32 | p[1];
    }
    Arrays.sort(keys, 0, count);
    long[] times = new long[count];
    int kept = 0;
    for (int i = 0; i < count; i++) {
      if (i > 0 && keys[i] == keys[kept - 1]) {
        times[kept - 1]++;
      } else {
        keys[kept] = keys[i];
        times[kept++] = 1;
      }
    }
    long[] all = Arrays.copyOf(keys, 2 * kept);
    System.arraycopy(times, 0, all, kept, kept);
    return List.of(all).iterator();
  }

  /** The set for the matches of some partitions. */
  static LeaveOneOutSet of(List<long[]> parts) {
    var graph = new MatchGraph(parts);
    graph.keepMostFirms();
    while (graph.dropArticulationWorkers()) {
      graph.keepMostFirms();
    }
    graph.dropSingleObservations();
    return new LeaveOneOutSet(graph.workers(), graph.firms(), graph.observations());
  }

  /** Numbers of the workers. */
  public BitSet workers() {
    return (BitSet) workers.clone();
  }

  /** Numbers of the firms. */
  public BitSet firms() {
    return (BitSet) firms.clone();
  }

  /** Number of observations of these workers at these firms. */
  public long observations() {
    return observations;
  }

  /** Whether an observation is in the set. */
  public boolean contains(int worker, int firm) {
    return workers.get(worker) && firms.get(firm);
  }
}
