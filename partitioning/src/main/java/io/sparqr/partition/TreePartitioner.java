/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.threads.Parallel;
import java.util.ArrayList;
import java.util.List;

/**
 * Cuts an assembly tree into subtree tasks, by levels.
 *
 * <p>Objective. With K levels, T_l the tasks of level l, w(t) the worker of task t, levels
 * separated by barriers (Spark stages) of cost L, the estimated makespan is
 *
 * <pre>
 *   sum over l &lt; K of  L + max over workers w of  sum over t in T_l, w(t) = w of
 *       ( flops(t) / rate(w) + bytes(t) / byte rate(w) + fronts(t) x 1 us (0.2 on a device)
 *         + blocks of t's inputs / block rate
 *         + those from other workers / network rate ),
 * </pre>
 *
 * minimised over the cuts tried: for each K between the minimum and the maximum of the options, one
 * layer of subtrees per level by repeated splitting of the heaviest subtree (Geist and Ng 1989; the
 * layer L0 of MUMPS), placed by earliest finish (LPT; HEFT for mixed workers), the tree above it
 * left to the later levels: proportional mapping (Pothen and Sun 1993) in few steps. Subject to: a
 * task's peak bytes are at most its worker's memory if another worker, fewer subtrees per task or
 * another number of levels can achieve that. (No cut helps if one front with its children's blocks
 * is too large: they must be in one place.)
 *
 * <p>Lower bound: max(total flops / sum of rates, flops of the heaviest path / best rate); no cut
 * at fronts can beat it.
 */
public final class TreePartitioner {

  private static final double[] ONCE = {1};

  /** Weights of the bound on the later levels, tried in turn: see {@link LayerSearch#choose}. */
  private static final double[] CAUTIONS = {1, 1.5, 2.5};

  /** Bytes of a cut while it is tried, for each front. */
  private static final long BYTES_OF_ATTEMPT = 128;

  private TreePartitioner() {}

  /** Cuts the tree for the resources, one right-hand side carried along. */
  public static TreePartition partition(
      SymbolicAnalysis analysis, ResourceModel resources, PartitionOptions options) {
    return partition(analysis, resources, options, 1);
  }

  /**
   * Cuts the tree for the resources. O(nf log nf) for each number of levels tried.
   *
   * @param rhs right-hand sides carried along, for the byte counts
   */
  public static TreePartition partition(
      SymbolicAnalysis analysis, ResourceModel resources, PartitionOptions options, int rhs) {
    boolean host = resources.workers().stream().anyMatch(w -> !w.device());
    TreeCost cost = new TreeCost(analysis, rhs, host, options.combinedParts());
    double bound = lowerBound(cost, resources);
    boolean alone = resources.workers().size() == 1;
    List<Attempt> attempts = attempts(options);
    if (alone) {
      List<Attempt> few = attempts.stream().filter(t -> t.levels == options.minLevels()).toList();
      TreePartition cut = best(few, cost, resources, options, bound);
      if (overMemory(cut, resources) == 0) {
        // More levels would only add barriers.
        return cut;
      }
    }
    TreePartition cut = best(attempts, cost, resources, options, bound);
    return PathCut.orBetter(cut, cost, resources, options, bound);
  }

  private static TreePartition best(
      List<Attempt> attempts,
      TreeCost cost,
      ResourceModel resources,
      PartitionOptions options,
      double bound) {
    var cuts = new TreePartition[attempts.size()];
    Parallel.loop(
        cuts.length,
        1,
        threads(cost.fronts),
        (from, to, thread) -> {
          for (int k = from; k < to; k++) {
            Attempt a = attempts.get(k);
            cuts[k] = TreeCut.of(cost, resources, options, a.levels, a.caution, bound);
          }
        });
    TreePartition best = cuts[0];
    for (TreePartition cut : cuts) {
      if (better(cut, best, resources, options)) {
        best = cut;
      }
    }
    return best;
  }

  /**
   * As many as there are processors, but no more than half of the free heap has room for: a driver
   * with just enough memory for the plan tries one cut after the other, with the same result.
   */
  private static int threads(int fronts) {
    Runtime r = Runtime.getRuntime();
    long free = r.maxMemory() - (r.totalMemory() - r.freeMemory());
    long fit = free / 2 / (BYTES_OF_ATTEMPT * fronts + 1);
    return (int) Math.max(1, Math.min(r.availableProcessors(), fit));
  }

  /** A number of levels and a weight of the bound on the later ones. */
  private record Attempt(int levels, double caution) {}

  private static List<Attempt> attempts(PartitionOptions options) {
    var list = new ArrayList<Attempt>();
    for (int levels = options.minLevels(); levels <= options.maxLevels(); levels++) {
      for (double caution : levels < 3 ? ONCE : CAUTIONS) {
        list.add(new Attempt(levels, caution));
      }
    }
    return list;
  }

  /**
   * Compares first by the minimum number of levels, then by tasks beyond their worker's memory,
   * then by time.
   */
  private static boolean better(
      TreePartition a, TreePartition b, ResourceModel resources, PartitionOptions options) {
    int levelsA = Math.min(a.levels(), options.minLevels());
    int levelsB = Math.min(b.levels(), options.minLevels());
    if (levelsA != levelsB) {
      return levelsA > levelsB;
    }
    long overA = overMemory(a, resources);
    long overB = overMemory(b, resources);
    return overA != overB ? overA < overB : a.estimatedSeconds() < b.estimatedSeconds();
  }

  /** Number of tasks whose peak exceeds the memory of their planned worker. */
  static long overMemory(TreePartition partition, ResourceModel resources) {
    return partition.tasks().stream()
        .filter(t -> t.peakBytes() > resources.workers().get(t.worker()).memoryBytes())
        .count();
  }

  private static double lowerBound(TreeCost cost, ResourceModel resources) {
    double rates = 0;
    double best = 0;
    for (ResourceModel.Worker w : resources.workers()) {
      rates += w.flopsPerSecond();
      best = Math.max(best, w.flopsPerSecond());
    }
    double work = 0;
    double longest = 0;
    double[] path = new double[cost.fronts];
    for (int f = 0; f < cost.fronts; f++) {
      work += cost.flops[f];
      path[f] += cost.flops[f];
      longest = Math.max(longest, path[f]);
      int p = cost.parent[f];
      if (p >= 0) {
        path[p] = Math.max(path[p], path[f]);
      }
    }
    return Math.max(work / rates, longest / best);
  }
}
