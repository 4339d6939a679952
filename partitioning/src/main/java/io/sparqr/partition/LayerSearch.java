/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;

/**
 * Chooses the layer of subtrees that the next level factors: from the roots down, the heaviest
 * subtree is replaced by its children (Geist and Ng 1989), and of all the layers met on the way the
 * one with the least estimate of
 *
 * <pre>
 *   LPT(layer) + max(path(above) / best rate, work(above) / rates that the levels left can use)
 * </pre>
 *
 * is taken, where {@code above} are the fronts split off.
 */
final class LayerSearch {

  private static final int MAX_SPLITS = 200_000;

  private final TreeCost cost;
  private final RemainingForest forest;
  private final ResourceModel resources;
  private final PartitionOptions options;

  /** The fastest worker of those that can hold anything, or else the largest. */
  private final ResourceModel.Worker best;

  private final double allRates;
  private final long mostMemory;
  private final int[] childStart;
  private final int[] child;

  LayerSearch(
      TreeCost cost, RemainingForest forest, ResourceModel resources, PartitionOptions options) {
    this.cost = cost;
    this.forest = forest;
    this.resources = resources;
    this.options = options;
    long most = 0;
    for (int f : forest.alive()) {
      most = Math.max(most, forest.peak[f]);
    }
    long peak = most;
    best =
        resources.workers().stream()
            .max(
                Comparator.<ResourceModel.Worker>comparingLong(w -> Math.min(w.memoryBytes(), peak))
                    .thenComparingDouble(ResourceModel.Worker::flopsPerSecond))
            .orElseThrow();
    mostMemory = Math.min(best.memoryBytes(), peak);
    allRates = resources.workers().stream().mapToDouble(ResourceModel.Worker::flopsPerSecond).sum();
    childStart = new int[cost.fronts + 1];
    child = new int[cost.fronts];
    listChildren();
  }

  private void listChildren() {
    for (int f : forest.alive()) {
      if (cost.parent[f] >= 0) {
        childStart[cost.parent[f] + 1]++;
      }
    }
    for (int f = 0; f < cost.fronts; f++) {
      childStart[f + 1] += childStart[f];
    }
    int[] next = childStart.clone();
    for (int f : forest.alive()) {
      if (cost.parent[f] >= 0) {
        child[next[cost.parent[f]]++] = f;
      }
    }
  }

  /** State of the descent; "above" are the fronts split off so far. */
  private final class Descent {
    final double[] path = new double[cost.fronts];
    final int[] depth = new int[cost.fronts];
    final int[] component = new int[cost.fronts];
    final double[] componentWork = new double[cost.fronts];
    double work;
    double longest;
    double largestComponent;
    int height;
    double layerFlops;

    void split(int f) {
      int p = cost.parent[f];
      double own = cost.seconds(f, best);
      path[f] = own + (p < 0 ? 0 : path[p]);
      depth[f] = 1 + (p < 0 ? 0 : depth[p]);
      component[f] = p < 0 ? f : component[p];
      componentWork[component[f]] += own;
      largestComponent = Math.max(largestComponent, componentWork[component[f]]);
      layerFlops -= cost.flops[f];
      work += own;
      longest = Math.max(longest, path[f]);
      height = Math.max(height, depth[f]);
    }
  }

  /**
   * The layer for the next level.
   *
   * @param levelsLeft levels after this one, at least 1
   * @param forced whether something must remain above that is levelsLeft fronts high
   * @return roots of the subtrees, ascending; all roots of the forest if no cut is worth it
   */
  int[] choose(int levelsLeft, boolean forced) {
    PriorityQueue<Integer> layer =
        new PriorityQueue<>(
            Comparator.<Integer>comparingDouble(f -> -seconds(f)).thenComparing(f -> f));
    for (int f : forest.roots()) {
      layer.add(f);
    }
    Descent above = new Descent();
    for (int f : layer) {
      above.layerFlops += forest.flops[f];
    }
    int[] chosen = snapshot(layer);
    double least = forced ? Double.POSITIVE_INFINITY : estimate(chosen, above, levelsLeft);
    int evaluatedAt = layer.size();
    for (int splits = 0; splits < MAX_SPLITS && !layer.isEmpty(); splits++) {
      int f = layer.peek();
      if (childStart[f] == childStart[f + 1]) {
        if (!forced) {
          break;
        }
        f = tallest(layer);
        if (f < 0) {
          break;
        }
        layer.remove(f);
      } else {
        layer.poll();
      }
      above.split(f);
      for (int k = childStart[f]; k < childStart[f + 1]; k++) {
        layer.add(child[k]);
      }
      boolean tried = layer.size() > evaluatedAt * 1.05 || (forced && splits < 2000);
      if (tried && above.height >= (forced ? levelsLeft : 1)) {
        evaluatedAt = layer.size();
        int[] candidate = snapshot(layer);
        double value = estimate(candidate, above, levelsLeft);
        if (value < least) {
          least = value;
          chosen = candidate;
        }
      }
      if (!forced && fineEnough(layer, above.layerFlops)) {
        break;
      }
    }
    return chosen;
  }

  private double seconds(int f) {
    return TreeCost.seconds(forest.flops[f], forest.bytes[f], forest.fronts[f], best);
  }

  /** Whether the heaviest subtree is so light that further splits cannot balance better. */
  private boolean fineEnough(PriorityQueue<Integer> layer, double flops) {
    double heaviest = forest.flops[layer.peek()];
    double share = flops / (8.0 * resources.workers().size() * options.tasksPerWorker());
    return heaviest < options.minTaskFlops() || heaviest < share;
  }

  /** A splittable subtree of the greatest height, or -1. */
  private int tallest(Iterable<Integer> layer) {
    int found = -1;
    for (int f : layer) {
      if (childStart[f] < childStart[f + 1]
          && (found < 0 || forest.height[f] > forest.height[found])) {
        found = f;
      }
    }
    return found;
  }

  private static int[] snapshot(PriorityQueue<Integer> layer) {
    return layer.stream().mapToInt(Integer::intValue).sorted().toArray();
  }

  private double estimate(int[] layer, Descent above, int levelsLeft) {
    // With one level left each connected part of what is above runs on one worker.
    double serial = levelsLeft == 1 ? above.largestComponent : above.longest;
    double rest = Math.max(serial, above.work * best.flopsPerSecond() / allRates);
    double[] load = new double[resources.workers().size()];
    Integer[] heaviestFirst = Arrays.stream(layer).boxed().toArray(Integer[]::new);
    Arrays.sort(
        heaviestFirst, Comparator.<Integer>comparingDouble(f -> -seconds(f)).thenComparing(f -> f));
    double makespan = 0;
    for (int f : heaviestFirst) {
      int to = 0;
      double end = Double.POSITIVE_INFINITY;
      for (int w = 0; w < load.length; w++) {
        ResourceModel.Worker worker = resources.workers().get(w);
        double finish =
            load[w] + TreeCost.seconds(forest.flops[f], forest.bytes[f], forest.fronts[f], worker);
        boolean holds = worker.memoryBytes() >= Math.min(mostMemory, forest.peak[f]);
        if (holds && finish < end) {
          end = finish;
          to = w;
        }
      }
      load[to] = end;
      makespan = Math.max(makespan, end);
    }
    return makespan + rest;
  }
}
